//! Defines suppression comments: `# gpulint: ignore[on-demand-batch] until=2027-01-31 -- cannot be interrupted`.

use super::date::Date;
use super::files::Span;

/// The suppressed rules, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// Whether the suppression applies to the whole file, not only to the place of the comment.
    pub whole_file: bool,
    pub rules: Vec<(String, Span)>,
    /// The last day on which it applies.
    pub until: Option<Date>,
    pub reason: Option<String>,
    pub span: Span,
}

/// A comment for gpulint that is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentMistake {
    /// Message in lower case and without a period.
    pub message: String,
    pub span: Span,
}

/// An example for messages.
pub const EXAMPLE: &str = "# gpulint: ignore[on-demand-batch] until=2027-01-31 -- why";

const ADDRESSEE: &str = "gpulint:";

/// Parses a comment; `None` if it is not for gpulint. `text` includes the comment marks.
pub fn directive(text: &str, span: Span) -> Option<Result<Directive, CommentMistake>> {
    let line = text.lines().next().unwrap_or_default();
    let inner = line.trim_start_matches(['#', '/', '*']).trim_start();
    if !inner.starts_with(ADDRESSEE) {
        return None;
    }
    let start = line.len() - inner.len() + ADDRESSEE.len();
    let end = line.trim_end().trim_end_matches("*/").trim_end().len().max(start);
    let body = line.get(start..end).unwrap_or_default();
    Some(Reader { line, span, at: start }.read(body))
}

struct Reader<'t> {
    line: &'t str,
    span: Span,
    at: usize,
}

impl Reader<'_> {
    fn read(&self, body: &str) -> Result<Directive, CommentMistake> {
        let (orders, reason) = match body.split_once("--") {
            Some((orders, reason)) => (orders, Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty())),
            None => (body, None),
        };
        let trimmed = orders.trim_start();
        let (whole_file, rest) = match trimmed.strip_prefix("ignore-file") {
            Some(rest) => (true, rest),
            None => match trimmed.strip_prefix("ignore") {
                Some(rest) => (false, rest),
                None => {
                    return Err(
                        self.mistake(format!("gpulint knows `ignore` and `ignore-file`, not `{}`", first(trimmed)))
                    );
                }
            },
        };
        let Some((names, rest)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return Err(self.mistake("name the rules in brackets: `# gpulint: ignore[RULE]`".to_owned()));
        };
        let rules = self.rules(names)?;
        let mut until = None;
        for word in rest.split_whitespace() {
            match word.strip_prefix("until=") {
                Some(date) if until.is_none() => until = Some(date.parse().map_err(|why| self.mistake(why))?),
                _ => {
                    return Err(self.mistake(format!("`{}` is not valid here; write a reason after `--`", first(word))));
                }
            }
        }
        Ok(Directive { whole_file, rules, until, reason, span: self.span })
    }

    fn rules(&self, names: &str) -> Result<Vec<(String, Span)>, CommentMistake> {
        let mut rules = Vec::new();
        for name in names.split(',').map(str::trim) {
            let is_name =
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            if !is_name {
                return Err(self.mistake(format!("`{}` is not a valid rule name", first(name))));
            }
            rules.push((name.to_owned(), self.place(name)));
        }
        Ok(rules)
    }

    /// Returns the place of a part of the line.
    fn place(&self, part: &str) -> Span {
        let start = part.as_ptr() as usize - self.line.as_ptr() as usize;
        let base = self.span.start as usize;
        Span::new(self.span.file, base + start, base + start + part.len())
    }

    fn mistake(&self, message: String) -> CommentMistake {
        let base = self.span.start as usize;
        CommentMistake {
            message,
            span: Span::new(self.span.file, base + self.at - ADDRESSEE.len(), base + self.line.trim_end().len()),
        }
    }
}

/// Returns the first word, shortened.
fn first(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    /// Whole file, rules, date, reason.
    type Said = (bool, Vec<String>, Option<String>, Option<String>);

    fn read(text: &str) -> Option<Result<Said, String>> {
        let sources = SourceFiles::new(MemoryTree::new().with("a", text));
        let file = sources.open("a").unwrap();
        let found = directive(text, Span::new(file, 0, text.len()))?;
        Some(match found {
            Ok(it) => {
                for (name, span) in &it.rules {
                    assert_eq!(sources.snippet(*span), *name);
                }
                let names = it.rules.into_iter().map(|(name, _)| name).collect();
                Ok((it.whole_file, names, it.until.map(|date| date.to_string()), it.reason))
            }
            Err(mistake) => {
                assert!(sources.snippet(mistake.span).starts_with("gpulint:"));
                Err(mistake.message)
            }
        })
    }

    #[test]
    fn directives_are_read_in_every_style_of_comment() {
        let all = "# gpulint: ignore[a-b, c] until=2027-01-31 -- because -- really";
        let expected =
            (false, vec!["a-b".into(), "c".into()], Some("2027-01-31".into()), Some("because -- really".into()));
        assert_eq!(read(all), Some(Ok(expected)));
        for text in ["//gpulint: ignore[x]", "/* gpulint: ignore[x] */", "## gpulint:ignore[ x ]\r"] {
            assert_eq!(read(text), Some(Ok((false, vec!["x".into()], None, None))), "{text}");
        }
        assert_eq!(
            read("# gpulint: ignore-file[x] -- old"),
            Some(Ok((true, vec!["x".into()], None, Some("old".into()))))
        );
        assert_eq!(read("# see gpulint: nothing"), None);
        assert_eq!(read("# GPU"), None);
    }

    #[test]
    fn mistakes_are_told_and_suppress_nothing() {
        for (text, part) in [
            ("# gpulint: ignore", "brackets"),
            ("# gpulint: ignore[]", "not a valid rule name"),
            ("# gpulint: ignore[*]", "not a valid rule name"),
            ("# gpulint: ignore[x] until=2027-13-01", "not a date"),
            ("# gpulint: ignore[x] because", "after `--`"),
            ("# gpulint: ignore[x] until=2027-01-01 until=2027-01-02", "not valid here"),
            ("# gpulint: disable[x]", "not `disable[x]`"),
            ("# gpulint: ignore[x", "brackets"),
            ("# gpulint:", "not ``"),
        ] {
            let message = read(text).unwrap().unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
