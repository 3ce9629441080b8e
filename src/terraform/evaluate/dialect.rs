//! Defines additional names and functions for files of other programs in Terraform's language.

use crate::languages::hcl::value::HclValue;
use crate::source::{SourceFiles, Span, parent};

/// The additional names and functions of another program.
pub(in crate::terraform) trait Dialect {
    /// Returns the value of a name with its labels, and the number of labels used; `None` if Terraform defines the
    /// name.
    fn reference(&self, name: &str, labels: &[&str], span: Span) -> Option<(HclValue, usize)>;
    fn has_function(&self, name: &str) -> bool;
    fn call(&self, name: &str, arguments: &[HclValue], span: Span) -> HclValue;
}

/// The start of absolute paths of the tree. The real path on disk is private, and differs between machines.
const PREFIX: &str = "/<repository>";

/// Returns a path of the tree as an absolute path.
pub(in crate::terraform) fn absolute(path: &str) -> String {
    if path.is_empty() { PREFIX.to_owned() } else { format!("{PREFIX}/{path}") }
}

/// Returns the path in the tree for an absolute path that `absolute` created, possibly with a suffix.
pub(in crate::terraform) fn outside_of_prefix(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(PREFIX)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Directories whose files are stored in other places, because a program would generate them or copy them over others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(in crate::terraform) struct Shadows(Vec<(String, String)>);

impl Shadows {
    /// Adds a directory `from` whose files replace those below `at`.
    pub(in crate::terraform) fn add(&mut self, at: &str, from: &str) {
        self.0.push((at.to_owned(), from.to_owned()));
    }

    /// Returns the possible places of a path, the most likely first.
    pub(in crate::terraform) fn candidates(&self, path: &str) -> Vec<String> {
        let below = |at: &str| match path.strip_prefix(at) {
            Some("") => Some(""),
            Some(rest) if at.is_empty() || rest.starts_with('/') => Some(rest),
            _ => None,
        };
        let found = self.0.iter().rev().filter_map(|(at, from)| {
            let rest = below(at)?;
            Some(if from.is_empty() { rest.trim_start_matches('/').to_owned() } else { format!("{from}{rest}") })
        });
        found.chain([path.to_owned()]).collect()
    }

    /// Returns the real place of a file, if it exists.
    pub(in crate::terraform) fn file(&self, sources: &SourceFiles, path: String) -> String {
        if self.0.is_empty() {
            return path;
        }
        let is_there = |it: &String| {
            let name = it.rsplit('/').next().unwrap_or(it);
            sources.tree().list(parent(it)).iter().any(|entry| entry.name == name)
        };
        self.candidates(&path).into_iter().find(is_there).unwrap_or(path)
    }

    /// Returns the real place of a directory, if it exists.
    pub(in crate::terraform) fn directory(&self, sources: &SourceFiles, path: String) -> String {
        if self.0.is_empty() {
            return path;
        }
        self.candidates(&path).into_iter().find(|it| !sources.tree().list(it).is_empty()).unwrap_or(path)
    }
}
