//! Paths as shown in reports.

use crate::report::escape::begins_command;
use crate::source::{BESIDE, FilePosition, SourceFiles, Span};

/// Formats paths of the tree relative to the current directory.
#[derive(Debug, Clone, Default)]
pub struct ShownPaths {
    /// The parts of the current directory below the root of the tree.
    below: Vec<String>,
    /// The path from the current directory to the root, with a final `/`, if the current directory is not below the
    /// root.
    way: Option<String>,
}

impl ShownPaths {
    /// Creates the format for a current directory that is a path of the tree.
    pub fn seen_from(directory: &str) -> Self {
        ShownPaths {
            below: directory.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
            way: None,
        }
    }

    /// Creates the format for a current directory outside of the tree. `way` leads from it to the root, as in
    /// `../other/`.
    pub fn through(way: &str) -> Self {
        ShownPaths { below: Vec::new(), way: Some(way.to_owned()) }
    }

    /// Returns a path as reports show it. A path that a CI runner would read as a command gets the prefix `./`.
    pub fn show(&self, path: &str) -> String {
        let shown = self.shown(path);
        if begins_command(&shown) { format!("./{shown}") } else { shown }
    }

    fn shown(&self, path: &str) -> String {
        if let Some(beside) = path.strip_prefix(BESIDE) {
            return beside.to_owned();
        }
        if let Some(way) = &self.way {
            return format!("{way}{path}");
        }
        let mut rest = path;
        let mut shared = 0;
        for part in &self.below {
            let Some(after) = rest.strip_prefix(part.as_str()).and_then(|after| after.strip_prefix('/')) else { break };
            rest = after;
            shared += 1;
        }
        format!("{}{rest}", "../".repeat(self.below.len() - shared))
    }

    /// Returns a directory as reports show it; the current one is `.`.
    pub fn show_directory(&self, directory: &str) -> String {
        let inside = if directory.is_empty() { "*".to_owned() } else { format!("{directory}/*") };
        match self.show(&inside).strip_suffix('*').map(|shown| shown.trim_end_matches('/')) {
            None | Some("") => ".".to_owned(),
            Some(shown) => shown.to_owned(),
        }
    }

    pub fn locate(&self, sources: &SourceFiles, span: Span) -> FilePosition {
        let mut location = sources.locate(span);
        location.path = self.show(&location.path);
        location
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_from_the_running_directory() {
        assert_eq!(ShownPaths::seen_from("").show("a/main.tf"), "a/main.tf");
        assert_eq!(ShownPaths::seen_from("a").show("a/main.tf"), "main.tf");
        assert_eq!(ShownPaths::seen_from("a/b").show("a/main.tf"), "../main.tf");
        assert_eq!(ShownPaths::seen_from("a/b").show("ab/main.tf"), "../../ab/main.tf");
        assert_eq!(ShownPaths::through("../x/").show("main.tf"), "../x/main.tf");
        assert_eq!(ShownPaths::seen_from("").show("::error::a/main.tf"), "./::error::a/main.tf");
        assert_eq!(ShownPaths::seen_from("").show_directory("##[error]a"), "./##[error]a");
    }

    #[test]
    fn directories_are_shown_from_there_too() {
        let shown = |from: &str, directory: &str| ShownPaths::seen_from(from).show_directory(directory);
        let shown =
            [shown("", ""), shown("", "a/b"), shown("a", "a"), shown("a", "a/b"), shown("a/b", ""), shown("a", "b")];
        assert_eq!(shown, [".", "a/b", ".", "b", "../..", "../b"]);
        assert_eq!(ShownPaths::through("../x/").show_directory(""), "../x");
    }
}
