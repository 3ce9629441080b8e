//! Records which files and directories an analysis reads. While these stay the same, its result stays the same.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::io::git::{GitTree, TreeEntries};
use crate::cli::io::git_changes::ChangedPath;
use crate::front_ends::files;
use crate::source::{ReadError, Tree, TreeEntry, parent};

/// The files that were requested, existing or not, and the directories that were listed.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    files: HashSet<String>,
    directories: HashSet<String>,
}

impl Trace {
    /// Adds what an earlier analysis read, whose results this one may have reused.
    pub(super) fn add(&mut self, earlier: Trace) {
        self.files.extend(earlier.files);
        self.directories.extend(earlier.directories);
    }

    /// Whether none of these changes affects what the analysis read.
    pub(super) fn misses(&self, changes: &[ChangedPath], before: &TreeEntries, after: &TreeEntries) -> bool {
        let has_links = before.has_links() || after.has_links();
        changes.iter().all(|change| {
            let comes_or_goes = !change.was_there || change.now.is_none();
            // The meaning of a link depends on its target.
            let may_turn = has_links && (change.is_link || comes_or_goes);
            let is_listed = comes_or_goes
                && (change.is_submodule
                    || files::is_candidate(Path::new(&change.path))
                    || self.is_listed(&change.path, before, after));
            !may_turn && !is_listed && !self.files.contains(&change.path)
        })
    }

    /// Whether a listed directory changes if this path appears or disappears.
    fn is_listed(&self, path: &str, before: &TreeEntries, after: &TreeEntries) -> bool {
        let mut directory = parent(path);
        loop {
            if self.directories.contains(directory) {
                return true;
            }
            let is_in_both = || before.has_directory(directory) && after.has_directory(directory);
            if directory.is_empty() || is_in_both() {
                return false;
            }
            directory = parent(directory);
        }
    }
}

/// A tree that records each access.
pub(super) struct TracedTree {
    pub(super) tree: GitTree,
    pub(super) trace: Arc<Mutex<Trace>>,
}

impl TracedTree {
    fn note(&self, add: impl FnOnce(&mut Trace)) {
        add(&mut self.trace.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the target of a path, if it leads elsewhere.
    fn elsewhere(&self, path: &str) -> Option<String> {
        self.tree.resolve(path).ok().filter(|end| end != path)
    }
}

impl Tree for TracedTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let elsewhere = self.elsewhere(path);
        self.note(|trace| trace.files.extend([path.to_owned()].into_iter().chain(elsewhere)));
        self.tree.read(path)
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let elsewhere = self.elsewhere(directory);
        self.note(|trace| trace.directories.extend([directory.to_owned()].into_iter().chain(elsewhere)));
        self.tree.list(directory)
    }

    fn link(&self, path: &str) -> Option<String> {
        self.note(|trace| trace.files.extend([path.to_owned()]));
        self.tree.link(path)
    }
}
