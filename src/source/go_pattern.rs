//! Converts Go regular expressions to Rust ones with the same meaning.
//!
//! Both have the same origin, with three differences. Only ASCII characters count as digits and word characters in Go.
//! Other characters need a backslash in brackets. Braces that repeat nothing are literals in Go.

use std::iter::Peekable;
use std::str::Chars;

/// Returns `None` if Go refuses a pattern that Rust would accept.
pub(crate) fn in_rust(pattern: &str) -> Option<String> {
    let mut translation = Translation { rest: pattern.chars().peekable(), into: String::with_capacity(pattern.len()) };
    translation.pattern()?;
    Some(translation.into)
}

const DIGITS: &str = "0-9";
const WORDS: &str = "0-9A-Za-z_";
const BLANKS: &str = "\\t\\n\\f\\r\\x20";
/// The limit on repetitions in Go.
const MOST_REPETITIONS: u32 = 1_000;

struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    into: String,
}

impl Translation<'_> {
    fn pattern(&mut self) -> Option<()> {
        // Go refuses to repeat a repetition.
        let mut repeated = false;
        while let Some(c) = self.rest.next() {
            let repeats = match c {
                '*' | '+' | '?' => {
                    self.into.push(c);
                    true
                }
                '{' => self.braces()?,
                _ => {
                    self.one(c)?;
                    false
                }
            };
            if repeats && repeated {
                return None;
            }
            if repeats && self.rest.next_if_eq(&'?').is_some() {
                self.into.push('?');
            }
            repeated = repeats;
        }
        Some(())
    }

    fn one(&mut self, c: char) -> Option<()> {
        match c {
            '\\' => self.escape()?,
            '[' => self.brackets()?,
            '(' => {
                self.into.push('(');
                if self.rest.next_if_eq(&'?').is_some() {
                    self.into.push('?');
                    self.flags()?;
                }
            }
            c => self.into.push(c),
        }
        Some(())
    }

    /// Parses flags or a group name after `(?`.
    fn flags(&mut self) -> Option<()> {
        while let Some(c) = self.rest.next_if(|c| !matches!(c, ':' | ')' | '<' | 'P')) {
            if !matches!(c, 'i' | 'm' | 's' | 'U' | '-') {
                return None;
            }
            self.into.push(c);
        }
        Some(())
    }

    /// Parses a repetition after `{`, and returns whether it is one; else the brace is a literal.
    fn braces(&mut self) -> Option<bool> {
        let ahead: String = self.rest.clone().take_while(|c| *c != '}').take(12).collect();
        let closed = self.rest.clone().nth(ahead.chars().count()) == Some('}');
        let (least, most) = ahead.split_once(',').unwrap_or((&ahead, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !closed || least.is_empty() || !digits(least) || !digits(most) {
            self.into.push_str("\\{");
            return Some(false);
        }
        for bound in [least, most].into_iter().filter(|bound| !bound.is_empty()) {
            bound.parse().ok().filter(|n: &u32| *n <= MOST_REPETITIONS)?;
        }
        self.into.push('{');
        self.into.push_str(&ahead);
        self.into.push('}');
        self.rest.nth(ahead.chars().count());
        Some(true)
    }

    /// Parses an escape outside of brackets.
    fn escape(&mut self) -> Option<()> {
        let c = self.rest.next()?;
        match c {
            'd' | 'w' | 's' => self.class("[", c),
            'D' | 'W' | 'S' => self.class("[^", c.to_ascii_lowercase()),
            'b' | 'B' => {
                self.into.push_str("(?-u:\\");
                self.into.push(c);
                self.into.push(')');
            }
            'Q' => self.quoted(),
            _ => self.escaped_letter(c)?,
        }
        Some(())
    }

    fn class(&mut self, open: &str, letter: char) {
        self.into.push_str(open);
        self.into.push_str(match letter {
            'd' => DIGITS,
            'w' => WORDS,
            _ => BLANKS,
        });
        self.into.push(']');
    }

    /// Parses `\Q`: literal characters up to `\E`.
    fn quoted(&mut self) {
        let mut text = String::new();
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                break;
            }
            text.push(c);
        }
        self.into.push_str(&regex::escape(&text));
    }

    fn escaped_letter(&mut self, c: char) -> Option<()> {
        match c {
            'a' | 'f' | 't' | 'n' | 'r' | 'v' | 'A' | 'z' | 'p' | 'P' | 'x' => {
                self.into.push('\\');
                self.into.push(c);
                if matches!(c, 'p' | 'P' | 'x') && self.rest.peek() == Some(&'{') {
                    self.into.extend(self.rest.by_ref().take_while(|c| *c != '}'));
                    self.into.push('}');
                }
            }
            c if c.is_ascii_alphanumeric() => return None,
            c => self.into.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
        Some(())
    }

    /// Parses a class after `[` up to its closing bracket.
    fn brackets(&mut self) -> Option<()> {
        self.into.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.into.push('^');
        }
        let mut first = true;
        loop {
            let c = self.rest.next()?;
            match c {
                ']' if !first => break,
                '[' if self.rest.peek() == Some(&':') => {
                    let name: String = self.rest.by_ref().take_while(|c| *c != ']').collect();
                    self.into.push('[');
                    self.into.push_str(&name);
                    self.into.push(']');
                }
                '\\' => self.escape_in_brackets()?,
                '-' if first => self.into.push_str("\\-"),
                // A range that ends with `-` itself.
                '-' if self.rest.next_if_eq(&'-').is_some() => self.into.push_str("-\\-"),
                '[' | ']' | '&' | '~' => {
                    self.into.push('\\');
                    self.into.push(c);
                }
                c => self.into.push(c),
            }
            first = false;
        }
        self.into.push(']');
        Some(())
    }

    fn escape_in_brackets(&mut self) -> Option<()> {
        let c = self.rest.next()?;
        match c {
            'd' => self.into.push_str(DIGITS),
            'w' => self.into.push_str(WORDS),
            's' => self.into.push_str(BLANKS),
            'D' | 'W' | 'S' => self.class("[^", c.to_ascii_lowercase()),
            'A' | 'z' => return None,
            '-' => self.into.push_str("\\-"),
            _ => self.escaped_letter(c)?,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::in_rust;

    #[test]
    fn letters_of_ascii_count() {
        assert_eq!(in_rust(r"^\d+\.\w$").as_deref(), Some(r"^[0-9]+\.[0-9A-Za-z_]$"));
        assert_eq!(in_rust(r"[\d.-]\b").as_deref(), Some(r"[0-9.-](?-u:\b)"));
    }

    #[test]
    fn braces_and_brackets_stand_for_themselves_where_they_mean_nothing() {
        assert_eq!(in_rust("a{2,3}{x}").as_deref(), Some(r"a{2,3}\{x}"));
        assert_eq!(in_rust("[+--]").as_deref(), Some(r"[+-\-]"));
        assert_eq!(in_rust(r"\p{Greek}{2}").as_deref(), Some(r"\p{Greek}{2}"));
        assert_eq!(in_rust("[]a[]").as_deref(), Some(r"[\]a\[]"));
        assert_eq!(in_rust("[[:alpha:]&]").as_deref(), Some(r"[[:alpha:]\&]"));
        assert_eq!(in_rust(r"\Qa.b\E.").as_deref(), Some(r"a\.b."));
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for pattern in ["a**", "a{1001}", r"\1", "(?x)a", r"a\", "[a", "a+{2}"] {
            assert_eq!(in_rust(pattern), None, "{pattern}");
        }
    }
}
