//! The JSON contract, version 1. Keys are only ever added; `schema/` describes it.

mod check;
mod cost;
mod inspect;
mod wire;

pub(super) use check::{Finding, check, finding};
pub(super) use cost::cost;
pub use inspect::inspect;
pub(super) use wire::{Bounds, Number};

use serde::Serialize;

pub(in crate::report) const VERSION: u32 = 1;

pub(super) fn print(value: &impl Serialize) -> String {
    // Writing plain data to memory cannot fail; should it ever, an empty report must not pass for a clean one.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    text.push('\n');
    text
}
