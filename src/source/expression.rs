//! Defines regular expressions of tables and rule files, compiled at their first match.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

/// A regular expression of a table or a rule file, compiled at its first match. Short texts, which are the most common,
/// use a small engine. Long texts use the fast engine, which takes a hundred times longer to compile. On ASCII both
/// have the same results.
#[derive(Debug)]
pub struct AdaptiveRegex {
    text: String,
    small: OnceLock<Option<regex_lite::Regex>>,
    whole: OnceLock<Option<Regex>>,
}

/// Maximum length of a text for the small engine.
const SHORT: usize = 512;

/// The syntax that the small engine lacks or interprets differently.
const BEYOND_SMALL: [&str; 9] = ["&&", "--", "~~", "[[", "\\p", "\\P", "\\b{", "(?u", "(?x"];

impl AdaptiveRegex {
    pub fn new(text: impl Into<String>) -> Self {
        AdaptiveRegex { text: text.into(), small: OnceLock::new(), whole: OnceLock::new() }
    }

    /// Returns true if it compiles and has a group.
    pub fn has_group(&self) -> bool {
        self.whole().is_some_and(|whole| whole.captures_len() > 1)
    }

    pub fn is_match(&self, text: &str) -> bool {
        match self.small(text) {
            Some(small) => small.is_match(text),
            None => self.whole().is_some_and(|whole| whole.is_match(text)),
        }
    }

    /// Returns the match of its first group.
    pub fn first_group(&self, text: &str) -> Option<String> {
        match self.small(text) {
            Some(small) => Some(small.captures(text)?.get(1)?.as_str().to_owned()),
            None => Some(self.whole()?.captures(text)?.get(1)?.as_str().to_owned()),
        }
    }

    /// Returns the matches of its groups in a form that names them: `{1}.{2}`.
    pub fn formed(&self, text: &str, form: &str) -> Option<String> {
        let groups: Vec<&str> = match self.small(text) {
            Some(small) => small.captures(text)?.iter().map(|it| it.map_or("", |it| it.as_str())).collect(),
            None => self.whole()?.captures(text)?.iter().map(|it| it.map_or("", |it| it.as_str())).collect(),
        };
        let fill = |form: String, (at, group): (usize, &&str)| form.replace(&format!("{{{at}}}"), group);
        Some(groups.iter().enumerate().skip(1).fold(form.to_owned(), fill))
    }

    fn small(&self, text: &str) -> Option<&regex_lite::Regex> {
        if text.len() > SHORT || !text.is_ascii() {
            return None;
        }
        let compile = || {
            let suits = self.text.is_ascii() && !BEYOND_SMALL.iter().any(|it| self.text.contains(it));
            suits.then(|| regex_lite::RegexBuilder::new(&self.text).size_limit(SIZE_LIMIT).build().ok()).flatten()
        };
        self.small.get_or_init(compile).as_ref()
    }

    fn whole(&self) -> Option<&Regex> {
        let compile = || RegexBuilder::new(&self.text).size_limit(SIZE_LIMIT).build().ok();
        self.whole.get_or_init(compile).as_ref()
    }
}

/// The size limit for compiled patterns; matching takes linear time.
const SIZE_LIMIT: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_say_the_same() {
        let texts =
            ["", "us-east-1a", "europe-west4-b", "a/b/c", "a/b/", "Shutdown -h now", "TEAM", "\u{212a}", "line\nend"];
        for pattern in [
            "([^/]+)$",
            r"^([a-z]{2}(?:-[a-z]+)+-\d+)",
            r"^([a-z]+-[a-z]+\d+)(?:-[a-z])?$",
            r"(?i)(auto-?_?stop|shutdown -h)",
            r"(?i)\b(team|k)\b",
            r"(\w+)\s(.*)",
            r"([\p{L}]+)",
            "(x?)",
        ] {
            let expression = AdaptiveRegex::new(pattern);
            let whole = Regex::new(pattern).unwrap();
            for text in texts {
                let group = whole.captures(text).and_then(|it| Some(it.get(1)?.as_str().to_owned()));
                let formed = whole.captures(text).map(|it| format!("<{}>", it.get(1).map_or("", |it| it.as_str())));
                assert_eq!(expression.formed(text, "<{1}>"), formed, "{pattern} {text:?}");
                assert_eq!(expression.first_group(text), group, "{pattern} {text:?}");
                assert_eq!(expression.is_match(text), whole.is_match(text), "{pattern} {text:?}");
                let long = text.repeat(SHORT);
                assert_eq!(expression.is_match(&long), whole.is_match(&long), "{pattern} {text:?} many times");
            }
        }
    }
}
