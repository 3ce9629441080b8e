//! Defines the input of a comparison: two states of a tree, and the changed files.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::catalog::Money;
use crate::source::SourceFiles;
use crate::{AnalysisCache, AnalysisSettings};

/// One state of a tree.
pub(crate) struct TreeState<'a> {
    pub(crate) sources: &'a SourceFiles,
    /// The paths of all files, sorted and unique.
    pub(crate) files: &'a [String],
    pub(crate) settings: &'a AnalysisSettings,
    pub(crate) cache: &'a AnalysisCache,
    /// Files of an earlier state that are unchanged in the later one.
    pub(crate) same: &'a HashSet<String>,
    /// Formats a path for people.
    pub(crate) show: Box<dyn Fn(&str) -> String + 'a>,
    /// Formats an amount for people.
    pub(crate) amount: Box<dyn Fn(Money) -> String + 'a>,
}

impl TreeState<'_> {
    /// Returns the content of a file, from the cache if it was read before.
    pub(super) fn text(&self, path: &str) -> Option<Arc<str>> {
        if self.sources.has(path) {
            return self.sources.open(path).ok().map(|file| self.sources.text(file));
        }
        let bytes = self.sources.tree().read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into())
    }
}

/// The paths that may differ between both states.
#[derive(Default)]
pub(crate) struct Touched {
    /// Files that may differ, or that only one state has.
    pub(crate) files: BTreeSet<String>,
    /// Submodules at another commit.
    pub(crate) submodules: BTreeSet<String>,
}
