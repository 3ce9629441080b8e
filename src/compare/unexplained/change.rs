//! Describes a changed file: its role in a deployment, and its added and removed lines.

use std::ops::Range;

use crate::compare::state::State;
use crate::front_ends::files;
use crate::source::{Hunk, changes, file_name, lines_with_offsets};

/// The role of a file for Terraform, kubectl, helm, kustomize and their callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A file that a reader parses.
    Read,
    /// A script, a pipeline or a settings file, which may call a deploy tool or be passed to one.
    Script,
    /// A program. It may describe machines, but usually does not.
    Code,
    /// Documentation and images.
    Beside,
}

const DOCUMENTS: [&str; 42] = [
    ".md",
    ".mdx",
    ".markdown",
    ".rst",
    ".adoc",
    ".txt",
    ".html",
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
    ".csv",
    ".tsv",
    ".lock",
    ".sum",
    ".ipynb",
    ".woff",
    ".woff2",
    ".ttf",
    ".mp4",
    ".patch",
    ".diff",
    ".po",
    ".puml",
    ".mmd",
    ".tex",
    ".bib",
    ".pem",
    ".crt",
    ".pub",
    ".lock.hcl",
    ".asc",
    ".example",
    ".sample",
    ".dist",
];
const NAMES_OF_DOCUMENTS: [&str; 15] = [
    "LICENSE",
    "NOTICE",
    "CODEOWNERS",
    "OWNERS",
    "AUTHORS",
    "README",
    "CHANGELOG",
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".editorconfig",
    ".dockerignore",
    "package-lock.json",
    "go.mod",
    "pnpm-lock.yaml",
];
const CODE: [&str; 24] = [
    ".py", ".go", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".rs", ".java", ".kt", ".scala", ".rb", ".php", ".cs",
    ".c", ".cc", ".cpp", ".h", ".hpp", ".swift", ".lua", ".r", ".sql",
];

impl Role {
    pub(super) fn of(path: &str) -> Role {
        let name = file_name(path);
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if NAMES_OF_DOCUMENTS.contains(&name) || ends(&DOCUMENTS) {
            Role::Beside
        } else if ends(&CODE) {
            Role::Code
        } else if files::is_candidate(std::path::Path::new(path)) && !files::is_script_alone(path) {
            Role::Read
        } else {
            Role::Script
        }
    }
}

/// A file that is text in both states.
pub(super) struct Changed<'p> {
    pub(super) path: &'p str,
    pub(super) role: Role,
    pub(super) was: String,
    pub(super) is: String,
    hunks: Vec<Hunk>,
}

/// A line without its line ending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// The line number, from 0.
    pub(super) number: usize,
    pub(super) start: usize,
    pub(super) text: &'t str,
}

impl<'p> Changed<'p> {
    /// Returns None if both states are equal, or if one is not text.
    pub(super) fn of(path: &'p str, base: &State, head: &State) -> Option<Changed<'p>> {
        let role = Role::of(path);
        let read = |state: &State| state.sources.tree().read(path);
        let (was, is) = (read(base), read(head));
        if was == is {
            return None;
        }
        let (was, is) = (was.unwrap_or_default(), is.unwrap_or_default());
        if role != Role::Read && [&was, &is].into_iter().any(|bytes| memchr::memchr(0, bytes).is_some()) {
            return None;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (was, is) = (text(&was), text(&is));
        let hunks = if role == Role::Beside { Vec::new() } else { hunks(&was, &is) };
        Some(Changed { path, role, was, is, hunks })
    }

    #[cfg(test)]
    pub(super) fn made(path: &'p str, was: &str, is: &str) -> Changed<'p> {
        Changed { path, role: Role::of(path), was: was.to_owned(), is: is.to_owned(), hunks: hunks(was, is) }
    }

    pub(super) fn is_yaml(&self) -> bool {
        [".yaml", ".yml"].iter().any(|ending| self.path.ends_with(ending))
    }

    pub(super) fn new_lines(&self) -> impl Iterator<Item = Line<'_>> {
        of_hunks(&self.is, self.hunks.iter().map(|(_, new)| new.clone()).collect())
    }

    pub(super) fn gone_lines(&self) -> impl Iterator<Item = Line<'_>> {
        of_hunks(&self.was, self.hunks.iter().map(|(gone, _)| gone.clone()).collect())
    }
}

fn hunks(was: &str, is: &str) -> Vec<Hunk> {
    let (was, is): (Vec<&str>, Vec<&str>) = (was.split_inclusive('\n').collect(), is.split_inclusive('\n').collect());
    changes(&was, &is)
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let lines = lines_with_offsets(text).enumerate();
    lines.map(|(number, (start, line))| Line { number, start, text: line.trim_end_matches(['\n', '\r']) })
}

fn of_hunks(text: &str, hunks: Vec<Range<usize>>) -> impl Iterator<Item = Line<'_>> {
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
            ("docs/a.md", Role::Beside),
            ("a/b.png", Role::Beside),
            ("main.tf", Role::Read),
            ("x/deployment.yaml", Role::Read),
            ("deploy.sh", Role::Script),
            ("Makefile", Role::Script),
            ("Dockerfile", Role::Script),
            (".env", Role::Script),
            ("bin/scale", Role::Script),
            ("package.json", Role::Script),
            ("src/main.py", Role::Code),
        ] {
            assert_eq!(Role::of(path), role, "{path}");
        }
    }
}
