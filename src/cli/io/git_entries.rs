//! The paths of a tree with their entries: of a commit, of the index, or of either after a change.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::git_changes::ChangedPath;
use super::git_program::{first_line, index_of_hook, is_commit, run, run_on};
use crate::cli::Failure;
use crate::source::{Differing, named, parent};

/// The paths of a tree with their entries.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct TreeEntries(pub(super) Arc<BTreeMap<String, GitEntry>>);

impl TreeEntries {
    /// Returns the entries of a commit or a tree.
    pub(in crate::cli) fn of(repository: &Path, tree: &str) -> Result<TreeEntries, Failure> {
        let listed = run(repository, &["ls-tree", "-r", "-z", "--full-tree", tree])?;
        if !listed.status.success() {
            return Err(Failure::new(format!("git cannot list the base: {}", first_line(&listed.stderr))));
        }
        Self::listed(&listed.stdout)
    }

    /// Parses the output of `git ls-tree -r -z`.
    pub(super) fn listed(lines: &[u8]) -> Result<TreeEntries, Failure> {
        let mut entries = BTreeMap::new();
        for line in lines.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let line = named(line);
            let (path, object) = entry(&line).ok_or_else(|| not_understood(&line))?;
            entries.insert(path, object);
        }
        Ok(TreeEntries(Arc::new(entries)))
    }

    /// Returns the entries of the index, which the next commit will contain.
    pub(in crate::cli) fn of_index(repository: &Path) -> Result<TreeEntries, Failure> {
        let listed = run_on(repository, &["ls-files", "--stage", "-z", "--full-name"], index_of_hook(repository))?;
        if !listed.status.success() {
            return Err(Failure::new(format!("git cannot list the index: {}", first_line(&listed.stderr))));
        }
        let mut entries = BTreeMap::new();
        for line in listed.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let line = named(line);
            let (path, object) = staged_entry(&line).ok_or_else(|| not_understood(&line))?;
            entries.insert(path, object);
        }
        Ok(TreeEntries(Arc::new(entries)))
    }

    /// Applies a change to the entries.
    pub(in crate::cli) fn apply(&mut self, changes: &[ChangedPath]) {
        let entries = Arc::make_mut(&mut self.0);
        for change in changes {
            match &change.now {
                Some((mode, id)) => {
                    entries.insert(change.path.clone(), GitEntry { kind: kind_of(mode), id: id.clone() });
                }
                None => drop(entries.remove(&change.path)),
            }
        }
    }

    /// Returns the object id of a path.
    pub(in crate::cli) fn id(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(|object| object.id.as_str())
    }

    /// Returns each path with its object id.
    pub(in crate::cli) fn ids(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, object)| (path.as_str(), object.id.as_str()))
    }

    /// Whether the directory contains an entry.
    pub(in crate::cli) fn has_directory(&self, directory: &str) -> bool {
        let prefix = format!("{directory}/");
        self.0.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    /// Returns the paths that differ in another state, or `None` if links could lead from unchanged to changed files.
    pub(super) fn differing(&self, other: &TreeEntries) -> Option<Differing> {
        (!self.has_links() && !other.has_links()).then(|| self.differing_entries(other))
    }

    /// Returns the paths that differ in another state, without those that lead through links.
    pub(super) fn differing_entries(&self, other: &TreeEntries) -> Differing {
        let mut differing = Differing::default();
        let mut compare = |one: &TreeEntries, another: &TreeEntries| {
            for (path, entry) in one.0.iter().filter(|(path, entry)| another.0.get(*path) != Some(*entry)) {
                differing.files.insert(path.clone());
                // A path can be a file in one state and a submodule in the other.
                if another.0.get(path).is_none_or(|it| it.kind != entry.kind) {
                    differing.lists.extend(lists_of(path, one, another));
                }
            }
        };
        compare(self, other);
        compare(other, self);
        differing
    }

    pub(super) fn links(&self) -> impl Iterator<Item = (&String, &GitEntry)> {
        self.0.iter().filter(|(_, entry)| entry.kind == GitEntryKind::Link)
    }

    pub(in crate::cli) fn has_links(&self) -> bool {
        self.0.values().any(|it| it.kind == GitEntryKind::Link)
    }
}

/// Returns the directories whose lists differ between the states, because a path was added or removed.
fn lists_of(path: &str, one: &TreeEntries, another: &TreeEntries) -> Vec<String> {
    let mut lists = Vec::new();
    let mut directory = parent(path);
    loop {
        lists.push(directory.to_owned());
        if directory.is_empty() || one.has_directory(directory) && another.has_directory(directory) {
            return lists;
        }
        directory = parent(directory);
    }
}

/// An entry: its kind and its object id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitEntry {
    pub(super) kind: GitEntryKind,
    pub(super) id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitEntryKind {
    File,
    Link,
    Submodule,
}

/// Fails on output that cannot be parsed, because an empty base would make everything look new.
pub(super) fn not_understood(line: &str) -> Failure {
    let line: String = line.chars().take(80).collect();
    Failure::new(format!("git did not print a list of files: `{}`", line.escape_debug()))
}

/// Parses a line of `git ls-tree`: mode, type, id, a tab, the path.
fn entry(line: &str) -> Option<(String, GitEntry)> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split(' ');
    let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
    Some((path.to_owned(), GitEntry { kind: kind_of(mode), id: id.to_owned() }))
}

/// Parses a line of `git ls-files --stage`: mode, id, stage, a tab, the path. In a conflict, the last version counts.
fn staged_entry(line: &str) -> Option<(String, GitEntry)> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split(' ');
    let (mode, id) = (words.next()?, words.next()?);
    is_commit(id).then(|| (path.to_owned(), GitEntry { kind: kind_of(mode), id: id.to_owned() }))
}

fn kind_of(mode: &str) -> GitEntryKind {
    match mode {
        "120000" => GitEntryKind::Link,
        "160000" => GitEntryKind::Submodule,
        _ => GitEntryKind::File,
    }
}
