//! A place in a text of Bicep, and what stands there.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// What does not parse, and where.
pub(super) struct Unparsed {
    pub(super) why: String,
    pub(super) at: usize,
}

pub(super) type BicepParsed<T> = Result<T, Unparsed>;

pub(super) struct Cursor<'t> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// Where the last thing ended that was no space.
    pub(super) end: usize,
    /// Brackets around this place.
    pub(super) depth: usize,
    pub(super) comments: Vec<Span>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Brackets inside each other.
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

    /// Goes over space and comments, also over ends of lines where these mean nothing.
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
                // Words to the compiler.
                () if rest.starts_with('#') && begins_line() => rest.find('\n').unwrap_or(rest.len()),
                () => return,
            };
            // What is read twice has its comments once.
            if self.comments.last().is_none_or(|it| it.end as usize <= self.at) {
                self.comments.push(Span::new(self.file, self.at, self.at + length));
            }
            self.at += length;
        }
    }

    /// Takes a mark that stands here, on this line.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        self.skip(false);
        self.take(mark)
    }

    /// Takes a mark that stands here or on a later line.
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
        if self.eat_below(mark) { Ok(()) } else { self.broken(&format!("`{mark}` is missing")) }
    }

    /// A name that stands here; empty where none does.
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

    /// Takes a word that stands here and is no part of a longer one.
    pub(super) fn word(&mut self, word: &str) -> bool {
        self.skip(false);
        let is_there = self.peek_name() == word;
        if is_there {
            self.at += word.len();
            self.end = self.at;
        }
        is_there
    }

    /// Reads something that stands in brackets, of which there are only so many inside each other.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> BicepParsed<T>) -> BicepParsed<T> {
        if self.depth >= DEEPEST {
            return self.broken(&format!("there are more than {DEEPEST} brackets inside each other"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
