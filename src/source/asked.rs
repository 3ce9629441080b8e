//! What is asked of a tree while something is worked out: as long as none of it changes, neither does the result.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use super::tree::{Entry, ReadError, Tree};

/// The files that were asked for, there or not, and the directories that were listed.
#[derive(Debug, Default)]
pub(crate) struct AskedOfTree {
    files: HashSet<String>,
    lists: HashSet<String>,
    /// What was worked out once for several, with its name where it has one there.
    parts: Vec<(Option<String>, Arc<AskedOfTree>)>,
}

/// What differs between two states of a tree that has no links.
#[derive(Debug, Default)]
pub struct Differing {
    /// What stands at these paths.
    pub files: HashSet<String>,
    /// What these directories hold.
    pub lists: HashSet<String>,
}

thread_local! {
    /// What is worked out on this thread just now, the innermost last.
    static NOTED: RefCell<Vec<AskedOfTree>> = const { RefCell::new(Vec::new()) };
}

/// Works something out, on this thread, with what it asked for.
pub(crate) fn noting<T>(work: impl FnOnce() -> T) -> (T, AskedOfTree) {
    NOTED.with_borrow_mut(|noted| noted.push(AskedOfTree::default()));
    let result = work();
    let asked = NOTED.with_borrow_mut(Vec::pop).unwrap_or_default();
    (result, asked)
}

/// Something that was worked out before is used for what is worked out now.
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
    /// None of it differs.
    pub(crate) fn misses(&self, differing: &Differing) -> bool {
        self.files.is_disjoint(&differing.files)
            && self.lists.is_disjoint(&differing.lists)
            && self.parts.iter().all(|(_, part)| part.misses(differing))
    }

    /// The names of what was used.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|(name, _)| name.as_deref())
    }
}

/// A tree that notes what is asked of it.
pub(super) struct NotedTree(pub(super) Box<dyn Tree>);

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

    fn list(&self, directory: &str) -> Vec<Entry> {
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
    use crate::source::{MemoryTree, Sources};

    #[test]
    fn what_is_asked_for_is_noted_whether_or_not_it_is_there() {
        let sources = Sources::new(MemoryTree::new().with("a/x", "1").with("b", "2").with("c", "3"));
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
