//! Changes, and what they are about.

use std::collections::BTreeSet;

use super::changes::Changes;

/// Changes of some resources.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    /// The addresses of those that are changed.
    pub about: BTreeSet<String>,
    pub changes: Changes,
}

impl Scenario {
    pub(super) fn is_about(&self, address: &str) -> bool {
        self.about.contains(address)
    }
}
