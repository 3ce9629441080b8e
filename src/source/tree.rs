//! Defines a tree of files, from any source.

use std::collections::BTreeMap;
use std::fmt;

/// A tree of files: paths are relative to its root, with `/` between parts and without `.` or `..`. The command line
/// reads a disk, another tree reads git objects, and tests and rule files use one in memory.
pub trait Tree: Send + Sync {
    /// Returns the bytes of a file.
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError>;
    /// Returns the first bytes of a file, regardless of its size.
    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, ReadError> {
        self.read(path).map(|mut text| {
            text.truncate(bytes);
            text
        })
    }
    /// Returns true if a file contains these bytes, although it is too large for `read`.
    fn mentions(&self, _path: &str, _wanted: &[u8]) -> bool {
        true
    }
    /// Returns the entries of a directory, sorted by name; empty if it does not exist.
    fn list(&self, directory: &str) -> Vec<TreeEntry>;
    /// Returns the target of a link as written; `None` if the path is not a link.
    fn link(&self, _path: &str) -> Option<String> {
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    pub name: String,
    pub is_directory: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    Missing,
    /// The path leads out of the tree, and the command line does not name it.
    Outside,
    TooLarge {
        bytes: u64,
        limit: u64,
    },
    /// The content is stored elsewhere, and the file only points to it in this way.
    Pointer(String),
    Other(String),
}

/// First bytes and maximum size of a Git LFS pointer, by its specification.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
const LONGEST_POINTER_BYTES: usize = 1024;

/// Returns the bytes unless they are a Git LFS pointer.
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

/// A tree in memory.
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

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let mut entries: Vec<TreeEntry> = Vec::new();
        for path in self.files.keys() {
            let Some(rest) = path.strip_prefix(&prefix) else { continue };
            let (name, is_directory) = match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            };
            let entry = TreeEntry { name: name.to_owned(), is_directory };
            if entries.last() != Some(&entry) {
                entries.push(entry);
            }
        }
        entries.sort();
        entries.dedup();
        entries
    }
}

/// The prefix of the paths of a second tree next to the first. No file name contains it, and `join` and `normalize`
/// refuse it, so only the program can name such a path.
pub const BESIDE: char = '\0';

/// Joins `directory` and a relative path and removes `.` and `..`; `None` if the path leads out of the tree.
pub fn join(directory: &str, relative: &str) -> Option<String> {
    match directory.strip_prefix(BESIDE) {
        Some(inside) => joined(inside, relative).map(|path| format!("{BESIDE}{path}")),
        None => joined(directory, relative),
    }
}

fn joined(directory: &str, relative: &str) -> Option<String> {
    let mut path = String::with_capacity(directory.len() + 1 + relative.len());
    path.push_str(directory);
    if !directory.is_empty() {
        path.push('/');
    }
    path.push_str(relative);
    if is_normal(&path) { Some(path) } else { normalize(&path) }
}

/// Returns whether a path has only names as its parts, so that nothing needs to be removed.
fn is_normal(path: &str) -> bool {
    let bytes = path.as_bytes();
    let mut start = 0;
    memchr::memchr(BESIDE as u8, bytes).is_none()
        && memchr::memchr_iter(b'/', bytes).chain([bytes.len()]).all(|end| {
            let part = bytes.get(start..end).unwrap_or_default();
            start = end + 1;
            !matches!(part, b"" | b"." | b"..")
        })
}

/// The limit on consecutive links.
const MOST_LINKS: usize = 16;

/// Returns a path with links resolved; `None` if a link leaves the tree or is part of a cycle.
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

/// Removes `.`, `..` and double slashes from a path; `None` if it leads out of the tree.
pub fn normalize(path: &str) -> Option<String> {
    if path.contains(BESIDE) {
        return None;
    }
    if is_normal(path) {
        return Some(path.to_owned());
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

/// Names of folders with examples or tests.
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

/// Returns true if a folder of this name contains examples or tests, regardless of the deployments around it.
pub fn is_example(name: &str) -> bool {
    EXAMPLES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns true if a path is below a directory; every path is below the root.
pub fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the directory of a path; the root is the empty string.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Iterates over a directory and all directories above it; the root of the tree comes last.
pub fn around(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |it| (!it.is_empty()).then(|| parent(it)))
}

/// Returns true if bytes of a file contain one of these marks.
pub(crate) fn has_mark(text: &[u8], marks: &[&[u8]]) -> bool {
    marks.iter().any(|mark| memchr::memmem::find(text, mark).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_tree() {
        assert_eq!(join("a/b", "../c").as_deref(), Some("a/c"));
        assert_eq!(join("a", "../../c"), None);
        assert_eq!(join("", "./x//y").as_deref(), Some("x/y"));
        assert_eq!(join("a", "..b/.c").as_deref(), Some("a/..b/.c"));
        assert_eq!((join("", "/").as_deref(), join("a", "").as_deref()), (Some(""), Some("a")));
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
