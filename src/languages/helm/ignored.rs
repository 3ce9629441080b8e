//! Handles `.helmignore`: patterns for files that do not belong to the chart.

use globset::{GlobBuilder, GlobMatcher};

use crate::source::{SourceFiles, join};

/// The limit on rules, above any real file.
const MOST: usize = 500;

pub(super) struct Ignored {
    rules: Vec<Rule>,
}

struct Rule {
    pattern: Pattern,
    /// Whether the rule matches the whole path rather than its last part.
    whole: bool,
    directories_only: bool,
    negated: bool,
}

/// A pattern of a rule. Almost all real ones are names or endings, and compiling a glob costs as much as reading a file.
enum Pattern {
    Name(String),
    /// A `*` with this ending, without a slash before the ending.
    Ending(String),
    Glob(GlobMatcher),
}

impl Pattern {
    fn new(line: &str) -> Option<Pattern> {
        const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
        let is_plain = |text: &str| !text.contains(SPECIAL);
        match line.strip_prefix('*') {
            _ if is_plain(line) => Some(Pattern::Name(line.to_owned())),
            Some(ending) if is_plain(ending) => Some(Pattern::Ending(ending.to_owned())),
            _ => {
                let glob = GlobBuilder::new(line).literal_separator(true).backslash_escape(true).build().ok()?;
                Some(Pattern::Glob(glob.compile_matcher()))
            }
        }
    }

    fn is_match(&self, name: &str) -> bool {
        match self {
            Pattern::Name(whole) => name == whole,
            Pattern::Ending(ending) => name.strip_suffix(ending.as_str()).is_some_and(|start| !start.contains('/')),
            Pattern::Glob(glob) => glob.is_match(name),
        }
    }
}

impl Ignored {
    pub(super) fn of(sources: &SourceFiles, directory: &str) -> Ignored {
        let path = join(directory, ".helmignore").unwrap_or_default();
        let bytes = sources.tree().read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // Helm adds the rule `templates/.?*` itself.
        Ignored { rules: text.lines().chain(["templates/.?*"]).filter_map(rule).take(MOST).collect() }
    }

    pub(super) fn ignores(&self, name: &str, is_directory: bool) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        for rule in &self.rules {
            let fits = rule.pattern.is_match(if rule.whole { name } else { last });
            // A file that does not match a rule with `!` is ignored.
            if rule.negated {
                if rule.directories_only && !is_directory {
                    return true;
                }
                if !fits {
                    return true;
                }
            } else if fits && (is_directory || !rule.directories_only) {
                return true;
            }
        }
        false
    }
}

fn rule(line: &str) -> Option<Rule> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') || line.contains("**") {
        return None;
    }
    let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (directories_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    let (whole, line) = match line.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (line.contains('/'), line),
    };
    Some(Rule { pattern: Pattern::new(line)?, whole, directories_only, negated })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and endings that need no glob match what a glob matches.
    #[test]
    fn patterns_without_a_glob_match_the_same() {
        let lines = ["*.md", "*", "*~", ".git", "docs/a.txt", "*.orig.yaml", "*s/x", "README", "*é"];
        let names = [
            "a.md",
            ".md",
            "d/a.md",
            "",
            "a~",
            ".git",
            "docs/a.txt",
            "b.orig.yaml",
            "docs/x",
            "README",
            "caf\u{e9}",
            "x",
        ];
        for line in lines {
            let pattern = Pattern::new(line).unwrap();
            assert!(!matches!(pattern, Pattern::Glob(_)), "{line}");
            let glob = GlobBuilder::new(line).literal_separator(true).backslash_escape(true).build().unwrap();
            let glob = glob.compile_matcher();
            for name in names {
                assert_eq!(pattern.is_match(name), glob.is_match(name), "{line} {name}");
            }
        }
        assert!(matches!(Pattern::new("a?c"), Some(Pattern::Glob(_))));
    }
}
