//! Decides which directories are roots and modules, and evaluates them in order.

pub(super) mod links;
pub(super) mod options;
pub(super) mod parallel;
pub(super) mod passed;
pub(super) mod plans;
pub(super) mod reader;
pub(super) mod root;
pub(super) mod roots;
pub(super) mod rounds;
pub(super) mod shared;
pub(super) mod variant;
pub(super) mod variants;
mod workspaces;
