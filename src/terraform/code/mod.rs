//! The code at hand: directories of files, read and parsed once for all who call them, and where a call leads.

pub(super) mod library;
pub(super) mod module;
pub(super) mod modules;
pub(super) mod outline;
mod variable_file;
