//! Which directories are roots and modules, and their files: read and parsed once for all who call them.

pub(super) mod library;
pub(super) mod module;
pub(super) mod modules;
pub(super) mod outline;
pub(super) mod parallel;
pub(super) mod plans;
pub(super) mod root;
pub(super) mod roots;
pub(super) mod rounds;
