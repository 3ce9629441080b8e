//! The definitions of `kinds.toml` and `devices.toml`, and the code that reads facts from objects with them.

pub(super) mod amount;
pub(super) mod count;
pub(super) mod devices;
pub(super) mod entries;
pub(super) mod facts;
mod line;
pub(super) mod path;
pub(super) mod quantity;
pub(super) mod settings;
pub(super) mod sources;
pub(super) mod table;
pub(super) mod words;
pub(super) mod writing;
