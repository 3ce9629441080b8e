//! The rows of `kinds.toml` and `devices.toml`, and what reads facts out of an object by them.

pub(super) mod count;
pub(super) mod devices;
pub(super) mod path;
pub(super) mod settings;
pub(super) mod sources;
pub(super) mod table;
