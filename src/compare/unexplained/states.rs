//! Defines both states of a tree, with their analyses.

use crate::analysis::Analysis;
use crate::compare::state::State;

/// Both states of a comparison.
pub(in crate::compare) struct States<'a> {
    pub(in crate::compare) base: &'a State<'a>,
    pub(in crate::compare) before: &'a Analysis,
    pub(in crate::compare) head: &'a State<'a>,
    pub(in crate::compare) after: &'a Analysis,
}
