//! Defines the input of a comparison: two states of a tree, and the changed files.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::analysis::Analysis;
use crate::catalog::Money;
use crate::decide;
use crate::pricing::Side;
use crate::source::{ReadError, SourceFiles};
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
        self.stored_text(path).ok().map(Into::into)
    }

    /// Returns the content of a file as the tree stores it.
    pub(super) fn stored_text(&self, path: &str) -> Result<String, ReadError> {
        self.sources.tree().read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns true if a string names accelerators, or a machine with some.
    pub(super) fn names_accelerators(&self, text: &str) -> bool {
        decide::names_accelerators(text, &self.settings.catalog)
    }
}

/// Both states of a tree with their analyses, and the paths that may differ.
pub(super) struct ComparedStates<'a> {
    pub(super) base: &'a TreeState<'a>,
    pub(super) before: &'a Analysis,
    pub(super) head: &'a TreeState<'a>,
    pub(super) after: &'a mut Analysis,
    pub(super) touched: &'a Touched,
}

impl<'a> ComparedStates<'a> {
    /// Returns the costs of the earlier state.
    pub(super) fn earlier(&self) -> Side<'a> {
        self.before.side(self.base.sources)
    }

    /// Returns the costs of the later state.
    pub(super) fn later(&self) -> Side<'_> {
        self.after.side(self.head.sources)
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
