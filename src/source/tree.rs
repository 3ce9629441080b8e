//! A tree of files as readers see it, wherever it comes from.

use std::collections::BTreeMap;
use std::fmt;

/// A tree of files as the readers see it: paths are relative to its root, with `/` between parts and no `.` or `..`.
/// The command line brings one that reads a disk, another reads git objects, tests and rule pages keep theirs in memory.
pub trait Tree: Send + Sync {
    /// The bytes of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError>;
    /// The first bytes of a file, however long it is.
    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, ReadError> {
        self.read(path).map(|mut text| {
            text.truncate(bytes);
            text
        })
    }
    /// Whether a file that is too large to be read holds these bytes; asked only where `read` says so.
    fn mentions(&self, _path: &str, _wanted: &[u8]) -> bool {
        true
    }
    /// The entries of a directory, sorted by name; empty where there is no such directory.
    fn list(&self, directory: &str) -> Vec<Entry>;
    /// Where the link at a path leads, as it is written; nothing if no link is there.
    fn link(&self, _path: &str) -> Option<String> {
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: String,
    pub is_directory: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    Missing,
    /// The path leads out of the tree, and nobody named it on the command line.
    Outside,
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    /// The text is kept elsewhere, and what stands here only names it, so.
    Pointer(String),
    Other(String),
}

/// How a pointer of Git LFS begins, as its specification has it, and how long one may be.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
const LONGEST_POINTER_BYTES: usize = 1024;

/// What was read, if it is the text itself.
pub fn demand_text(bytes: Vec<u8>) -> Result<Vec<u8>, ReadError> {
    let is_pointer = bytes.len() < LONGEST_POINTER_BYTES && bytes.starts_with(POINTER);
    if is_pointer { Err(ReadError::Pointer(String::from_utf8_lossy(&bytes).into_owned())) } else { Ok(bytes) }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Missing => write!(f, "the file does not exist"),
            ReadError::Outside => write!(f, "the path is outside the checkout"),
            ReadError::TooLarge { bytes, limit } => {
                write!(f, "the file has {bytes} bytes, and the limit is {limit} (`bounds.file-mib`)")
            }
            ReadError::Pointer(_) => write!(f, "the file is a Git LFS pointer, and its content is not downloaded"),
            ReadError::Other(why) => write!(f, "{why}"),
        }
    }
}

/// A tree that lives in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryTree {
    files: BTreeMap<String, Vec<u8>>,
}

impl MemoryTree {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn with(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.to_owned(), text.into());
        self
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

impl Tree for MemoryTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.files.get(path).cloned().ok_or(ReadError::Missing)
    }

    fn list(&self, directory: &str) -> Vec<Entry> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let mut entries: Vec<Entry> = Vec::new();
        for path in self.files.keys() {
            let Some(rest) = path.strip_prefix(&prefix) else { continue };
            let (name, is_directory) = match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            };
            let entry = Entry { name: name.to_owned(), is_directory };
            if entries.last() != Some(&entry) {
                entries.push(entry);
            }
        }
        entries.sort();
        entries.dedup();
        entries
    }
}

/// Begins the paths of a second tree that lies beside the first. No file has a name with it, and `join` and `normalize` take
/// none from text: what lies there is named by the program only.
pub const BESIDE: char = '\0';

/// `directory` and a relative path joined and freed of `.` and `..`; `None` where it leads out of the tree.
pub fn join(directory: &str, relative: &str) -> Option<String> {
    match directory.strip_prefix(BESIDE) {
        Some(inside) => joined(inside, relative).map(|path| format!("{BESIDE}{path}")),
        None => joined(directory, relative),
    }
}

fn joined(directory: &str, relative: &str) -> Option<String> {
    normalize(&format!("{directory}/{relative}"))
}

/// More links one after the other lead nowhere.
const MOST_LINKS: usize = 16;

/// A path of a tree with links followed; `None` if a link leads out of the tree or in a circle.
pub fn real_path(tree: &dyn Tree, path: &str) -> Option<String> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let link = ends.filter_map(|end| Some((end, tree.link(path.get(..end)?)?))).next();
        let Some((end, target)) = link else { return Some(path) };
        let (link, rest) = path.split_at(end);
        path = join(parent(link), &format!("{target}{rest}")).filter(|_| !target.starts_with('/'))?;
    }
    None
}

/// A path freed of `.`, `..` and doubled slashes; `None` where it leads out of the tree.
pub fn normalize(path: &str) -> Option<String> {
    if path.contains(BESIDE) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Folders that hold what shows or tests something, by their names.
const EXAMPLES: [&str; 24] = [
    "example",
    "examples",
    "sample",
    "samples",
    "demos",
    "tutorial",
    "tutorials",
    "quickstart",
    "quickstarts",
    "tests",
    "__tests__",
    "e2e",
    "testdata",
    "fixture",
    "fixtures",
    "test-fixtures",
    "e2e_tests",
    "e2e-tests",
    "test_cases",
    "test-cases",
    "integration_tests",
    "integration-tests",
    "spec",
    "specs",
];

/// A folder of this name holds what shows or tests something, whoever deploys what else there is.
pub fn is_example(name: &str) -> bool {
    EXAMPLES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a path lies below a directory; everything lies below the root.
pub fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The directory that holds a path; the root is the empty string.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_tree() {
        assert_eq!(join("a/b", "../c").as_deref(), Some("a/c"));
        assert_eq!(join("a", "../../c"), None);
        assert_eq!(join("", "./x//y").as_deref(), Some("x/y"));
        assert_eq!(parent("a/b.tf"), "a");
        assert_eq!(join("\0x:/a", "../b").as_deref(), Some("\0x:/b"));
        for text in ["\0x:/b", "a\0", "../\0x:/b", "/\0x:/b"] {
            assert_eq!((join("", text), join("a", text), normalize(text)), (None, None, None), "{text:?}");
        }
        assert_eq!(parent("b.tf"), "");
    }

    #[test]
    fn a_memory_tree_lists_directories_once() {
        let tree = MemoryTree::new().with("a/x", "").with("a/y", "").with("b", "");
        let names: Vec<_> = tree.list("").into_iter().map(|e| (e.name, e.is_directory)).collect();
        assert_eq!(names, [("a".to_owned(), true), ("b".to_owned(), false)]);
    }
}
