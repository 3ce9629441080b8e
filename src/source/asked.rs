//! Records which files and directories a computation reads. If none of them changes, its result stays valid.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use super::tree::{ReadError, Tree, TreeEntry};

/// The files that a computation requested, existing or not, and the directories that it listed.
#[derive(Debug, Default)]
pub(crate) struct AskedOfTree {
    files: HashSet<String>,
    lists: HashSet<String>,
    /// Shared computations that were used, with their names if they have one.
    parts: Vec<(Option<String>, Arc<AskedOfTree>)>,
}

/// Differences between two states of a tree without links.
#[derive(Debug, Clone, Default)]
pub struct Differing {
    /// Paths whose content differs.
    pub files: HashSet<String>,
    /// Directories whose entries differ.
    pub lists: HashSet<String>,
}

thread_local! {
    /// The computations in progress on this thread, the innermost last.
    static NOTED: RefCell<Vec<AskedOfTree>> = const { RefCell::new(Vec::new()) };
}

/// Runs a computation on this thread, and returns what it read.
pub(crate) fn noting<T>(work: impl FnOnce() -> T) -> (T, AskedOfTree) {
    NOTED.with_borrow_mut(|noted| noted.push(AskedOfTree::default()));
    let result = work();
    let asked = NOTED.with_borrow_mut(Vec::pop).unwrap_or_default();
    (result, asked)
}

/// Records that the current computation uses the result of an earlier one.
pub(crate) fn uses(name: Option<&str>, part: &Arc<AskedOfTree>) {
    note(|asked| asked.parts.push((name.map(str::to_owned), part.clone())));
}

pub(super) fn file(path: &str) {
    note(|asked| asked.files.extend([path.to_owned()]));
}

fn note(add: impl FnOnce(&mut AskedOfTree)) {
    NOTED.with_borrow_mut(|noted| noted.last_mut().map(add));
}

impl AskedOfTree {
    /// Returns true if no file or directory that the computation read differs.
    pub(crate) fn misses(&self, differing: &Differing) -> bool {
        self.files.is_disjoint(&differing.files)
            && self.lists.is_disjoint(&differing.lists)
            && self.parts.iter().all(|(_, part)| part.misses(differing))
    }

    /// Returns the names of the shared computations.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|(name, _)| name.as_deref())
    }
}

/// A tree that records reads.
pub(super) struct NotedTree(pub(super) Arc<dyn Tree>);

impl Tree for NotedTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        file(path);
        self.0.read(path)
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, ReadError> {
        file(path);
        self.0.head(path, bytes)
    }

    fn mentions(&self, path: &str, wanted: &[u8]) -> bool {
        file(path);
        self.0.mentions(path, wanted)
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        note(|asked| asked.lists.extend([directory.to_owned()]));
        self.0.list(directory)
    }

    fn link(&self, path: &str) -> Option<String> {
        file(path);
        self.0.link(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    #[test]
    fn what_is_asked_for_is_noted_whether_or_not_it_is_there() {
        let sources = SourceFiles::new(MemoryTree::new().with("a/x", "1").with("b", "2").with("c", "3"));
        let _ = sources.open("c");
        let (_, part) = noting(|| sources.open("b").is_ok());
        let part = Arc::new(part);
        let (_, asked) = noting(|| {
            uses(Some("part"), &part);
            uses(None, &Arc::default());
            let inner = noting(|| sources.open("inner").is_ok());
            let looked = sources.glance("looked", |_| ()).is_ok() || sources.has("had");
            (inner, looked, sources.open("c").is_ok(), sources.tree().read("gone").is_ok(), sources.tree().list("a"))
        });
        let differing = |files: &[&str], lists: &[&str]| Differing {
            files: files.iter().map(|it| (*it).to_owned()).collect(),
            lists: lists.iter().map(|it| (*it).to_owned()).collect(),
        };
        for seen in ["b", "looked", "had", "c", "gone"] {
            assert!(!asked.misses(&differing(&[seen], &[])), "{seen}");
        }
        assert!(!asked.misses(&differing(&[], &["a"])));
        assert!(asked.misses(&differing(&["inner", "a", "a/x", "other"], &["", "b"])));
        assert_eq!(asked.parts().collect::<Vec<_>>(), ["part"]);
    }
}
