//! The checksum of a pack's content, which this command reproduces:
//!
//! ```sh
//! find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum
//! ```

use std::collections::BTreeMap;

use crate::source::{Tree, sha256, to_hex};

/// The most files of a pack: rule files, settings and prices.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: usize = 32 << 20;
const DEEPEST: usize = 16;

/// The SHA-256 of each file, by its path from the pack.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sums(pub(super) BTreeMap<String, String>);

impl Sums {
    /// Calculates the checksums of files in memory.
    pub(super) fn from_files(files: &BTreeMap<String, Vec<u8>>) -> Sums {
        Sums(files.iter().map(|(path, bytes)| (path.clone(), to_hex(&sha256(bytes)))).collect())
    }

    /// Calculates the checksums of a directory in the tree. Returns `None` if the directory does not exist.
    pub(super) fn read(tree: &dyn Tree, directory: &str) -> Result<Sums, String> {
        let mut sums = BTreeMap::new();
        let mut bytes = 0;
        let mut open = vec![String::new()];
        while let Some(inside) = open.pop() {
            for entry in tree.list(&below(directory, &inside)) {
                let path = below(&inside, &entry.name);
                if entry.is_directory {
                    if path.matches('/').count() + 1 >= DEEPEST {
                        return Err(format!("`{}` is deeper than {DEEPEST} directories", shown(&path)));
                    }
                    open.push(path);
                    if open.len() > MOST_FILES {
                        return Err(format!("it has more than {MOST_FILES} directories"));
                    }
                    continue;
                }
                // A file name with a line break would look like two files in the checksum.
                demand_plain(&path)?;
                let content = tree
                    .read(&below(directory, &path))
                    .map_err(|error| format!("`{}` cannot be read: {error}", shown(&path)))?;
                bytes += content.len();
                sums.insert(path, to_hex(&sha256(&content)));
                limit(sums.len(), bytes)?;
            }
        }
        Ok(Sums(sums))
    }

    /// Returns the checksum of the lines that `sha256sum` prints for the files, sorted by the bytes of their paths.
    pub(super) fn total(&self) -> String {
        let lines: String = self.0.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect();
        to_hex(&sha256(lines.as_bytes()))
    }

    /// Returns the first file that differs.
    pub(super) fn first_difference(&self, before: &Sums) -> Option<String> {
        let paths = self.0.keys().chain(before.0.keys());
        let path = paths.filter(|path| self.0.get(*path) != before.0.get(*path)).min()?;
        Some(match (before.0.contains_key(path), self.0.contains_key(path)) {
            (true, true) => format!("`{}` was changed", shown(path)),
            (true, false) => format!("`{}` is missing", shown(path)),
            _ => format!("`{}` was added", shown(path)),
        })
    }
}

/// Refuses files that exceed the limits of a pack.
pub(super) fn limit(files: usize, bytes: usize) -> Result<(), String> {
    if files > MOST_FILES {
        return Err(format!("it has more than {MOST_FILES} files"));
    }
    if bytes > MOST_BYTES {
        return Err(format!("its files have more than {} MiB", MOST_BYTES >> 20));
    }
    Ok(())
}

/// Refuses a file name that is not valid on every system.
pub(super) fn demand_plain(path: &str) -> Result<(), String> {
    let is_plain = |part: &str| {
        let odd = |c: char| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
        !part.is_empty() && !part.ends_with(['.', ' ']) && !part.contains(odd) && !part.eq_ignore_ascii_case(".git")
    };
    if path.split('/').all(is_plain) && path.split('/').count() < DEEPEST && path.len() <= 1_000 {
        return Ok(());
    }
    Err(format!("the file name `{}` is not valid on every system", shown(path)))
}

/// Escapes control characters in a foreign name.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(200).flat_map(char::escape_debug).collect()
}

fn below(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", name) => name.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, name) => format!("{directory}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    #[test]
    fn a_total_is_over_sorted_paths_and_contents() {
        let tree = MemoryTree::new().with("p/b.md", "b\n").with("p/a/c.md", "c\n").with("p/B.md", "").with("q", "q");
        let sums = Sums::read(&tree, "p").unwrap();
        assert_eq!(sums.0.keys().collect::<Vec<_>>(), ["B.md", "a/c.md", "b.md"]);
        // The expected value is the output of `sha256sum B.md a/c.md b.md | sha256sum`.
        assert_eq!(sums.total(), "db5178d6e6318e968b703394d1c2aa7a36da4a1089f0e527c922a02b9edbc233");
        let other = Sums::read(&tree.with("p/a/d.md", ""), "p").unwrap();
        assert_eq!(other.first_difference(&sums).as_deref(), Some("`a/d.md` was added"));
        assert_eq!(sums.first_difference(&other).as_deref(), Some("`a/d.md` is missing"));
    }

    #[test]
    fn names_that_mean_something_elsewhere_are_refused() {
        for good in ["a.md", "a/b/c.md", ".hidden", "ä.md"] {
            assert_eq!(demand_plain(good), Ok(()));
        }
        for bad in ["../a", "a/../b", "a//b", ".git/hooks/x", "a/.GIT/x", "a\\b", "c:x", "a\nb", "a.", "\u{1b}[2J"] {
            assert!(demand_plain(bad).is_err(), "{bad:?}");
        }
    }
}
