//! Files of other programs that are written in Terraform's language, and that know more names and functions.

use crate::languages::hcl::value::Value;
use crate::source::{Sources, Span, parent};

/// What the names and functions of another program mean in one of its files.
pub(in crate::terraform) trait Dialect {
    /// What a name and the labels after it refer to, and how many of these it used up; none where Terraform knows.
    fn reference(&self, name: &str, labels: &[&str], span: Span) -> Option<(Value, usize)>;
    fn has_function(&self, name: &str) -> bool;
    fn call(&self, name: &str, arguments: &[Value], span: Span) -> Value;
}

/// How absolute paths of the tree begin: where it lies on a disk is nobody's business, and differs.
const PREFIX: &str = "/<repository>";

/// A path of the tree as an absolute one.
pub(in crate::terraform) fn absolute(path: &str) -> String {
    if path.is_empty() { PREFIX.to_owned() } else { format!("{PREFIX}/{path}") }
}

/// The path in the tree of an absolute one that `absolute` made, perhaps with more behind it.
pub(in crate::terraform) fn outside_of_prefix(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(PREFIX)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Directories whose files lie elsewhere: those that a program would write, and those that it would copy over others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(in crate::terraform) struct Shadows(Vec<(String, String)>);

impl Shadows {
    /// What is looked for below `at` is looked for below `from` first.
    pub(in crate::terraform) fn add(&mut self, at: &str, from: &str) {
        self.0.push((at.to_owned(), from.to_owned()));
    }

    /// Where a path may lie, the likeliest first.
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

    /// The place of a file, where it is there.
    pub(in crate::terraform) fn file(&self, sources: &Sources, path: String) -> String {
        if self.0.is_empty() {
            return path;
        }
        let is_there = |it: &String| {
            let name = it.rsplit('/').next().unwrap_or(it);
            sources.tree().list(parent(it)).iter().any(|entry| entry.name == name)
        };
        self.candidates(&path).into_iter().find(is_there).unwrap_or(path)
    }

    /// The same for a directory.
    pub(in crate::terraform) fn directory(&self, sources: &Sources, path: String) -> String {
        if self.0.is_empty() {
            return path;
        }
        self.candidates(&path).into_iter().find(|it| !sources.tree().list(it).is_empty()).unwrap_or(path)
    }
}
