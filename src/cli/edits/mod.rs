//! Edits of files that a check verifies first: fixes, and suppression comments.

pub(super) mod fixes;
pub(super) mod ignores;
mod proof;
