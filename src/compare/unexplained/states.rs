//! Defines both states of a tree, with their analyses.

use crate::analysis::Analysis;
use crate::compare::state::TreeState;

/// Both states of a comparison.
pub(in crate::compare) struct ChangedStates<'a> {
    pub(in crate::compare) base: &'a TreeState<'a>,
    pub(in crate::compare) before: &'a Analysis,
    pub(in crate::compare) head: &'a TreeState<'a>,
    pub(in crate::compare) after: &'a Analysis,
}
