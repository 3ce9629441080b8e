//! The JSON contract, version 1. Keys are only ever added; `schema/` describes it.

mod check;
mod cost;
mod inspect;
mod lost_work;
mod wire;

pub(in crate::report) use check::*;
pub(in crate::report) use cost::{Work, cost, unit_work};
pub use inspect::inspect;
pub(in crate::report) use wire::*;

use serde::Serialize;

use crate::report::escape;

pub(in crate::report) const VERSION: u32 = 1;

/// Returns a JSON document for programs, formatted so that people can read it.
pub fn print(value: &impl Serialize) -> String {
    // Writing plain data to memory cannot fail. If it did, an empty report must not look clean.
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    let mut text = plain(text);
    text.push('\n');
    text
}

/// Returns a JSON document on one line, for programs that read JSON lines.
pub(in crate::report) fn line(value: &impl Serialize) -> String {
    let mut text = compact(value);
    text.push('\n');
    text
}

/// Returns a JSON document without line breaks.
pub(in crate::report) fn compact(value: &impl Serialize) -> String {
    plain(serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}")))
}

/// Escapes control characters in JSON, so that it is safe to show anywhere. Only strings can contain such characters.
fn plain(text: String) -> String {
    if !text.chars().any(|c| c != '\n' && escape::is_hostile(c)) {
        return text;
    }
    let mut plain = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if c != '\n' && escape::is_hostile(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                plain.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_and_nothing_can_be_obeyed() {
        let hostile = "\u{1b}[2J\u{9b}\u{202e}\u{7f}\u{feff}\u{e0041}é\n";
        let text = print(&hostile);
        assert!(!text.trim_end().chars().any(escape::is_hostile), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).ok().as_deref(), Some(hostile));
    }
}
