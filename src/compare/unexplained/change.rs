//! Describes a changed file: its role in a deployment, and its added and removed lines.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::compare::state::TreeState;
use crate::front_ends::files;
use crate::source::{LineHunk, around, changes, file_name, lines_with_offsets};

/// The role of a file for Terraform, kubectl, helm, kustomize and their callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileRole {
    /// A file that a reader parses.
    Read,
    /// A script, a pipeline or a settings file, which may call a deploy tool or be passed to one.
    Script,
    /// A program. It may describe machines, but usually does not.
    Code,
    /// Documentation and images.
    Beside,
}

/// The endings of documents, images, styles, fonts, translations, lock files and licenses: no deployment tool uses them.
const HARMLESS: [&str; 36] = [
    ".md",
    ".mdx",
    ".markdown",
    ".rst",
    ".adoc",
    ".css",
    ".scss",
    ".svg",
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".ico",
    ".pdf",
    ".drawio",
    ".lock",
    ".lock.hcl",
    ".sum",
    ".woff",
    ".woff2",
    ".ttf",
    ".mp4",
    ".po",
    ".puml",
    ".mmd",
    ".tex",
    ".bib",
    ".crt",
    ".pub",
    ".asc",
    "package-lock.json",
    "pnpm-lock.yaml",
    ".gitattributes",
    ".editorconfig",
    ".less",
];
/// The names of such files, with or without `.txt`.
const HARMLESS_NAMES: [&str; 7] = ["LICENSE", "NOTICE", "CODEOWNERS", "OWNERS", "AUTHORS", "README", "CHANGELOG"];
/// The endings of further files that deployment tools do not use, although they can contain anything.
const DOCUMENTS: [&str; 16] = [
    ".txt",
    ".html",
    ".csv",
    ".tsv",
    ".ipynb",
    ".patch",
    ".diff",
    ".pem",
    ".example",
    ".sample",
    ".dist",
    ".rego",
    "/.gitignore",
    "/.dockerignore",
    "/go.mod",
    ".log",
];
const CODE: [&str; 24] = [
    ".py", ".go", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".rs", ".java", ".kt", ".scala", ".rb", ".php", ".cs",
    ".c", ".cc", ".cpp", ".h", ".hpp", ".swift", ".lua", ".r", ".sql",
];

/// Returns the directory of the chart that contains a path.
pub(in crate::compare) fn chart_around<'p>(head: &TreeState, path: &'p str) -> Option<&'p str> {
    let has_chart = |directory: &&str| head.sources.tree().list(directory).iter().any(|it| it.name == "Chart.yaml");
    around(path).find(has_chart)
}

/// Returns true for documentation, images, styles, fonts, translations, lock files and licenses.
pub(in crate::compare) fn is_harmless(path: &str) -> bool {
    let name = file_name(path);
    let is_named =
        |it: &&str| name.strip_prefix(*it).is_some_and(|rest| ["", ".txt", "-MIT", "-APACHE"].contains(&rest));
    HARMLESS_NAMES.iter().any(is_named) || HARMLESS.iter().any(|ending| name.ends_with(ending))
}

impl FileRole {
    pub(super) fn of(path: &str) -> FileRole {
        let name = file_name(path);
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if is_harmless(path) || DOCUMENTS.iter().any(|ending| format!("/{name}").ends_with(ending)) {
            FileRole::Beside
        } else if ends(&CODE) {
            FileRole::Code
        } else if files::is_candidate(std::path::Path::new(path)) && !files::is_script_alone(path) {
            FileRole::Read
        } else {
            FileRole::Script
        }
    }
}

/// A file that is text in both states.
pub(super) struct ChangedText<'p> {
    pub(super) path: &'p str,
    pub(super) role: FileRole,
    pub(super) was: String,
    pub(super) is: String,
    hunks: Vec<LineHunk>,
}

/// A line without its line ending.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangedLine<'t> {
    /// The line number, from 0.
    pub(super) number: usize,
    pub(super) start: usize,
    pub(super) text: &'t str,
}

impl ChangedLine<'_> {
    /// Returns the number of blanks before the first character.
    pub(super) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }
}

impl<'p> ChangedText<'p> {
    /// Compares a file with its earlier path. Returns None if both states are equal, or if one is not text.
    pub(super) fn of(path: &'p str, was: &str, base: &TreeState, head: &TreeState) -> Option<ChangedText<'p>> {
        let role = FileRole::of(path);
        let read = |state: &TreeState, path: &str| state.sources.tree().read(path);
        let links = [base.sources.tree().link(was), head.sources.tree().link(path)];
        let (was, is) = (read(base, was), read(head, path));
        // Trees differ in what they read through a link to a directory.
        let is_same_link = (was.is_err() || is.is_err()) && matches!(links, [Some(was), Some(is)] if was == is);
        if was == is || is_same_link {
            return None;
        }
        let (was, is) = (was.unwrap_or_default(), is.unwrap_or_default());
        if role != FileRole::Read && [&was, &is].into_iter().any(|bytes| memchr::memchr(0, bytes).is_some()) {
            return None;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (was, is) = (text(&was), text(&is));
        let hunks = if role == FileRole::Beside { Vec::new() } else { hunks(&was, &is) };
        Some(ChangedText { path, role, was, is, hunks })
    }

    #[cfg(test)]
    pub(super) fn changed_lines(path: &'p str, was: &str, is: &str) -> ChangedText<'p> {
        ChangedText { path, role: FileRole::of(path), was: was.to_owned(), is: is.to_owned(), hunks: hunks(was, is) }
    }

    pub(super) fn is_yaml(&self) -> bool {
        [".yaml", ".yml"].iter().any(|ending| self.path.ends_with(ending))
    }

    pub(super) fn new_lines(&self) -> impl Iterator<Item = ChangedLine<'_>> {
        of_hunks(&self.is, self.hunks.iter().map(|(_, new)| new.clone()).collect())
    }

    /// Returns the new lines whose words were not on another line that is gone: a line that moves is not new.
    pub(super) fn added_lines(&self) -> impl Iterator<Item = ChangedLine<'_>> {
        let gone: BTreeSet<&str> = self.gone_lines().map(|line| line.text.trim()).collect();
        self.new_lines().filter(move |line| !gone.contains(line.text.trim()))
    }

    pub(super) fn gone_lines(&self) -> impl Iterator<Item = ChangedLine<'_>> {
        of_hunks(&self.was, self.hunks.iter().map(|(gone, _)| gone.clone()).collect())
    }
}

fn hunks(was: &str, is: &str) -> Vec<LineHunk> {
    let (was, is): (Vec<&str>, Vec<&str>) = (was.split_inclusive('\n').collect(), is.split_inclusive('\n').collect());
    changes(&was, &is)
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = ChangedLine<'_>> {
    let lines = lines_with_offsets(text).enumerate();
    lines.map(|(number, (start, line))| ChangedLine { number, start, text: line.trim_end_matches(['\n', '\r']) })
}

fn of_hunks(text: &str, hunks: Vec<Range<usize>>) -> impl Iterator<Item = ChangedLine<'_>> {
    let mut hunks = hunks.into_iter().peekable();
    lines(text).filter(move |line| {
        while hunks.next_if(|hunk| hunk.end <= line.number).is_some() {}
        hunks.peek().is_some_and(|hunk| hunk.contains(&line.number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_names() {
        for (path, role) in [
            ("docs/a.md", FileRole::Beside),
            ("a/b.png", FileRole::Beside),
            ("main.tf", FileRole::Read),
            ("x/deployment.yaml", FileRole::Read),
            ("deploy.sh", FileRole::Script),
            ("Makefile", FileRole::Script),
            ("Dockerfile", FileRole::Script),
            (".env", FileRole::Script),
            ("bin/scale", FileRole::Script),
            ("package.json", FileRole::Script),
            ("src/main.py", FileRole::Code),
        ] {
            assert_eq!(FileRole::of(path), role, "{path}");
        }
    }
}
