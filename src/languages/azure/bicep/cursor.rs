//! Defines a position in a Bicep file, with functions that read from it.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// A syntax error and its place.
pub(super) struct Unparsed {
    pub(super) why: String,
    pub(super) at: usize,
}

pub(super) type BicepParsed<T> = Result<T, Unparsed>;

pub(super) struct Cursor<'t> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The end of the last token before spaces.
    pub(super) end: usize,
    /// The number of open brackets at this position.
    pub(super) depth: usize,
    pub(super) comments: Vec<Span>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The limit on nested brackets.
const DEEPEST: usize = 64;

impl<'t> Cursor<'t> {
    pub(super) fn new(file: FileId, text: &'t str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Cursor { file, text, at, end: 0, depth: 0, comments: Vec::new(), diagnostics: Vec::new() }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.end)
    }

    pub(super) fn broken<T>(&self, why: &str) -> BicepParsed<T> {
        Err(Unparsed { why: why.to_owned(), at: self.at })
    }

    /// Skips spaces and comments, and also ends of lines where they have no meaning.
    pub(super) fn skip(&mut self, lines: bool) {
        loop {
            let rest = self.rest();
            let is_space = |it: char| it.is_whitespace() && (lines || it != '\n');
            self.at += rest.len() - rest.trim_start_matches(is_space).len();
            let rest = self.rest();
            let begins_line = || {
                self.text
                    .get(..self.at)
                    .is_none_or(|it| it.trim_end_matches([' ', '\t']).ends_with('\n') || it.trim().is_empty())
            };
            let length = match () {
                () if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                () if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |it| it + 2),
                // Skips compiler directives.
                () if rest.starts_with('#') && begins_line() => rest.find('\n').unwrap_or(rest.len()),
                () => return,
            };
            // If a part is parsed twice, its comments must be recorded only once.
            if self.comments.last().is_none_or(|it| it.end as usize <= self.at) {
                self.comments.push(Span::new(self.file, self.at, self.at + length));
            }
            self.at += length;
        }
    }

    /// Consumes a mark at this position, on this line.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        self.skip(false);
        self.take(mark)
    }

    /// Consumes a mark at this position or on a later line.
    pub(super) fn eat_below(&mut self, mark: &str) -> bool {
        let before = self.at;
        self.skip(true);
        let taken = self.take(mark);
        if !taken {
            self.at = before;
        }
        taken
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_there = self.rest().starts_with(mark);
        if is_there {
            self.at += mark.len();
            self.end = self.at;
        }
        is_there
    }

    pub(super) fn expect(&mut self, mark: &str) -> BicepParsed<()> {
        if self.eat_below(mark) { Ok(()) } else { self.broken(&format!("expected `{mark}`")) }
    }

    /// Returns the name at this position, or an empty string.
    pub(super) fn name(&mut self) -> &'t str {
        self.skip(false);
        let name = self.peek_name();
        self.at += name.len();
        if !name.is_empty() {
            self.end = self.at;
        }
        name
    }

    pub(super) fn peek_name(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        if name.starts_with(|it: char| it.is_ascii_digit()) { "" } else { name }
    }

    /// Consumes a word at this position that is not part of a longer one.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.skip(false);
        let is_there = self.peek_name() == word;
        if is_there {
            self.at += word.len();
            self.end = self.at;
        }
        is_there
    }

    /// Reads a part in brackets, up to the limit on nesting.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> BicepParsed<T>) -> BicepParsed<T> {
        if self.depth >= DEEPEST {
            return self.broken(&format!("brackets are nested more than {DEEPEST} levels deep"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
