//! Defines a tree that has some files of another tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::tree::{ReadError, Tree, TreeEntry, is_below, join};

/// A tree in which some files are as in another tree, present or not.
pub struct MixedTree {
    pub usual: Arc<dyn Tree>,
    pub other: Arc<dyn Tree>,
    /// The paths of the files that are as in `other`.
    pub files: BTreeSet<String>,
}

impl MixedTree {
    fn tree_of(&self, path: &str) -> &dyn Tree {
        if self.files.contains(path) { &*self.other } else { &*self.usual }
    }
}

impl Tree for MixedTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.tree_of(path).read(path)
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, ReadError> {
        self.tree_of(path).head(path, bytes)
    }

    fn mentions(&self, path: &str, wanted: &[u8]) -> bool {
        self.tree_of(path).mentions(path, wanted)
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let path_of = |entry: &TreeEntry| join(directory, &entry.name).unwrap_or_default();
        let holds_other = |path: &str| self.files.iter().any(|file| file == path || is_below(file, path));
        let mut entries = self.usual.list(directory);
        entries.retain(|entry| entry.is_directory || !self.files.contains(&path_of(entry)));
        let others = self.other.list(directory).into_iter().filter(|entry| holds_other(&path_of(entry)));
        entries.extend(others);
        entries.sort();
        entries.dedup();
        entries
    }

    fn link(&self, path: &str) -> Option<String> {
        self.tree_of(path).link(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    #[test]
    fn some_files_are_as_in_the_other_tree() {
        let usual = MemoryTree::new().with("a/x", "1").with("a/y", "1").with("b", "1");
        let other = MemoryTree::new().with("a/x", "2").with("c/d/z", "2").with("e", "2");
        let files = ["a/x", "a/y", "c/d/z"].map(str::to_owned).into();
        let tree = MixedTree { usual: Arc::new(usual), other: Arc::new(other), files };
        let names = |directory: &str| tree.list(directory).into_iter().map(|it| it.name).collect::<Vec<_>>().join(" ");
        assert_eq!([names(""), names("a"), names("c"), names("c/d")], ["a b c", "x", "d", "z"]);
        assert_eq!(tree.read("a/x").unwrap(), b"2");
        assert_eq!(tree.read("b").unwrap(), b"1");
        assert!(tree.read("a/y").is_err() && tree.read("e").is_err());
    }
}
