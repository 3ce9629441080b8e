//! Changes of text that are proved by a run before anybody sees them: fixes, and comments that suppress.

pub(super) mod fixes;
pub(super) mod ignores;
