//! `gpulint.lock`: the commit of each copied pack, and the checksum of each of its files. It serves reviewers and
//! messages. Only the checksum in `gpulint.toml` decides.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

use super::content::Sums;
use crate::source::{ReadError, Tree};

/// The name of the lock file. It is next to the `gpulint.toml` that names the packs.
pub(super) const NAME: &str = "gpulint.lock";

const VERSION: u32 = 1;
/// The largest lock file that is read: 2,000 files with long names.
const MOST_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lock {
    version: u32,
    #[serde(default)]
    pub(super) packs: Vec<Locked>,
}

/// A copied pack.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Locked {
    /// The pack's directory, relative to the lock file.
    pub(super) path: String,
    pub(super) git: String,
    pub(super) commit: String,
    pub(super) directory: Option<String>,
    files: BTreeMap<String, String>,
}

impl Locked {
    pub(super) fn new(path: String, git: &str, commit: &str, directory: Option<&str>, sums: Sums) -> Self {
        let directory = directory.map(str::to_owned);
        Locked { path, git: git.to_owned(), commit: commit.to_owned(), directory, files: sums.0 }
    }

    pub(super) fn sums(&self) -> Sums {
        Sums(self.files.clone())
    }
}

impl Lock {
    pub(super) fn new(packs: Vec<Locked>) -> Self {
        Lock { version: VERSION, packs }
    }

    /// Returns `None` if there is no lock file.
    pub(super) fn read(tree: &dyn Tree, path: &str) -> Result<Option<Lock>, String> {
        let bytes = match tree.read(path) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if bytes.len() > MOST_BYTES {
            return Err(format!("it has more than {} MiB", MOST_BYTES >> 20));
        }
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
        let lock: Lock =
            toml::from_str(&text).map_err(|error| format!("it is not a valid lock file: {}", error.message()))?;
        if lock.version != VERSION {
            return Err(format!("its version is {}, and this gpulint reads version {VERSION}", lock.version));
        }
        Ok(Some(lock))
    }

    pub(super) fn find(&self, path: &str) -> Option<&Locked> {
        self.packs.iter().find(|locked| locked.path == path)
    }

    pub(super) fn written(&self) -> String {
        let mut text = format!("# Written by `gpulint rules vendor`. Do not edit.\nversion = {}\n", self.version);
        for pack in &self.packs {
            let line = |name: &str, value: &str| format!("{name} = {}\n", quoted(value));
            let _ = write!(text, "\n[[packs]]\n{}{}", line("path", &pack.path), line("git", &pack.git));
            text.push_str(&line("commit", &pack.commit));
            if let Some(directory) = &pack.directory {
                text.push_str(&line("directory", directory));
            }
            text.push_str("\n[packs.files]\n");
            for (path, sum) in &pack.files {
                let _ = writeln!(text, "{} = {}", quoted(path), quoted(sum));
            }
        }
        text
    }
}

/// Quotes a string as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    #[test]
    fn what_is_written_is_read_again() {
        let sums = Sums([("a \"b\"\\c.md".to_owned(), "00".to_owned())].into());
        let lock = Lock::new(vec![Locked::new("p".to_owned(), "file:///x", "c", Some("d"), sums.clone())]);
        let tree = MemoryTree::new().with(NAME, lock.written());
        let again = Lock::read(&tree, NAME).unwrap().unwrap();
        assert_eq!(again.written(), lock.written());
        assert_eq!(again.find("p").unwrap().sums(), sums);
        assert!(Lock::read(&tree, "other").unwrap().is_none());
    }

    #[test]
    fn a_lock_that_is_none_is_told() {
        let deep = format!("version = 1\npacks = {}", "[".repeat(100_000));
        for (text, why) in [
            ("version = 2", "version is 2"),
            ("", "not a valid lock file"),
            ("version = 1\nextra = 1", "not a valid lock file"),
            ("<<<<<<< HEAD\nversion = 1", "not a valid lock file"),
            (deep.as_str(), "not a valid lock file"),
        ] {
            let told = Lock::read(&MemoryTree::new().with(NAME, text), NAME).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
