//! Defines a position in the parsed text, and the errors so far.

use std::sync::Arc;

use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;

use crate::source::{FileId, Span};

use super::{HclName, NESTING_LIMIT, SyntaxError};

/// The limit on messages, because a hostile file may contain millions of errors.
const KEPT_MESSAGES: usize = 50;

/// Maps the parsed text to its place in a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum CursorPlace {
    /// Each byte corresponds to a byte of a file, from this offset on.
    Linear { file: FileId, base: usize },
    /// The whole text corresponds to one span: a text with resolved escapes.
    Whole(Span),
}

impl CursorPlace {
    pub(super) fn file(file: FileId, base: usize) -> Self {
        CursorPlace::Linear { file, base }
    }

    pub(super) fn span(self, start: usize, end: usize) -> Span {
        match self {
            CursorPlace::Linear { file, base } => Span::new(file, base + start, base + end),
            CursorPlace::Whole(span) => span,
        }
    }
}

/// Marks a syntax error; the parser has the message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failed;

pub(super) type Parse<T> = Result<T, Failed>;

/// Reads text from left to right. `newlines` is true if line breaks have a meaning.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) place: CursorPlace,
    pub(super) newlines: bool,
    pub(super) depth: u32,
    /// The limit on nesting.
    pub(super) deepest: u32,
    /// The position with balanced brackets, from which the next item is searched after an error.
    pub(super) resume: usize,
    /// Whether the current item is in a block on one line.
    pub(super) one_line: bool,
    /// The number of blocks, labels, arguments and expressions so far.
    pub(super) nodes: u32,
    /// The number of heredocs without an end.
    pub(super) lost_heredocs: u32,
    pub(super) errors: Vec<SyntaxError>,
    pub(super) notes: Vec<SyntaxError>,
    pub(super) comments: Vec<Span>,
}

/// The limit on nodes. A tree needs about twenty times the memory of its text. The largest of 5,709 public files uses
/// 2% of this limit.
pub(super) const MOST_NODES: u32 = 1_000_000;

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, place: CursorPlace) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Parser {
            text,
            bytes: text.as_bytes(),
            at,
            place,
            newlines: true,
            depth: 0,
            deepest: NESTING_LIMIT,
            resume: 0,
            one_line: false,
            nodes: 0,
            lost_heredocs: 0,
            errors: Vec::new(),
            notes: Vec::new(),
            comments: Vec::new(),
        }
    }

    pub(super) fn peek(&self) -> u8 {
        self.byte(0)
    }

    /// Returns the byte at this distance; 0 at the end, because no valid text contains it.
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn starts_with(&self, prefix: &str) -> bool {
        self.rest().starts_with(prefix.as_bytes())
    }

    pub(super) fn span(&self, start: usize) -> Span {
        self.place.span(start, self.at)
    }

    /// Reports an error at the next character.
    pub(super) fn fail<T>(&mut self, message: impl Into<String>) -> Parse<T> {
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.fail_at(message, self.at, self.at + width)
    }

    pub(super) fn fail_at<T>(&mut self, message: impl Into<String>, start: usize, end: usize) -> Parse<T> {
        self.report(message, self.place.span(start, end));
        Err(Failed)
    }

    /// Reports an error and continues.
    pub(super) fn report(&mut self, message: impl Into<String>, span: Span) {
        if self.errors.len() < KEPT_MESSAGES {
            self.errors.push(SyntaxError { message: message.into(), span });
        }
    }

    /// Reports something that Terraform accepts but that is probably a mistake.
    pub(super) fn note(&mut self, message: impl Into<String>, span: Span) {
        if self.notes.len() < KEPT_MESSAGES {
            self.notes.push(SyntaxError { message: message.into(), span });
        }
    }

    /// Describes the next token for a message.
    pub(super) fn seen(&self) -> String {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end of the file".into(),
            Some('\n' | '\r') => "the end of the line".into(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let word: String = self.slice(self.at, self.bytes.len()).chars().take(24).collect();
                let end = word.find(|c: char| !continues(c)).unwrap_or(word.len());
                format!("`{}`", &word[..end])
            }
            Some(c) if c.is_control() => format!("the character U+{:04X}", u32::from(c)),
            Some(c) => format!("`{c}`"),
        }
    }

    /// Skips spaces and comments, and line breaks if they have no meaning.
    pub(super) fn skip_blank(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.at += 1,
                b'\r' if self.byte(1) == b'\n' && !self.newlines => self.at += 2,
                b'\n' if !self.newlines => self.at += 1,
                b'#' => self.skip_line_comment(),
                b'/' if self.byte(1) == b'/' => self.skip_line_comment(),
                b'/' if self.byte(1) == b'*' => self.skip_block_comment(),
                _ => return,
            }
        }
    }

    fn skip_line_comment(&mut self) {
        let start = self.at;
        let length = memchr::memchr(b'\n', self.rest()).unwrap_or(self.bytes.len() - self.at);
        self.at += length;
        let end = if length > 0 && self.bytes[self.at - 1] == b'\r' { self.at - 1 } else { self.at };
        self.note_comment(start, end);
        if end < self.at && self.newlines {
            self.at = end;
        }
    }

    fn skip_block_comment(&mut self) {
        let start = self.at;
        match memchr::memmem::find(self.rest(), b"*/") {
            Some(length) => self.at += length + 2,
            None => {
                self.at = self.bytes.len();
                let span = self.place.span(start, start + 2);
                self.report("this comment has no end", span);
            }
        }
        self.note_comment(start, self.at);
    }

    fn note_comment(&mut self, start: usize, end: usize) {
        if self.comments.len() < MOST_NODES as usize {
            self.comments.push(self.place.span(start, end));
        }
    }

    /// Skips spaces, comments and line breaks.
    pub(super) fn skip_lines(&mut self) {
        let newlines = std::mem::replace(&mut self.newlines, false);
        self.skip_blank();
        self.newlines = newlines;
    }

    pub(super) fn eat_newline(&mut self) -> bool {
        match self.peek() {
            b'\n' => self.at += 1,
            b'\r' if self.byte(1) == b'\n' => self.at += 2,
            _ => return false,
        }
        true
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Runs `parse` with line breaks that have a meaning (`true`) or none.
    pub(super) fn with_newlines<T>(&mut self, newlines: bool, parse: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.newlines, newlines);
        let result = parse(self);
        self.newlines = before;
        result
    }

    /// Runs `parse` one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= self.deepest {
            return self.fail(too_deep(self.deepest));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts a node of the tree, and gives up on a file with too many.
    pub(super) fn count(&mut self) -> Parse<()> {
        self.nodes += 1;
        if self.nodes <= MOST_NODES {
            return Ok(());
        }
        if self.nodes == MOST_NODES + 1 {
            let message = format!("this file contains more than {MOST_NODES} blocks, arguments and expressions");
            // This error comes first, because the first error of a file is reported.
            self.errors.insert(0, SyntaxError { message, span: self.span(self.at) });
        }
        self.at = self.bytes.len();
        Err(Failed)
    }

    /// Returns the identifier at this position.
    pub(super) fn identifier(&mut self) -> Option<HclName> {
        let length = identifier_length(self.rest(), self.text, self.at)?;
        let start = self.at;
        self.at += length;
        Some(HclName { text: Arc::from(self.slice(start, self.at)), span: self.span(start) })
    }

    /// Returns true if this whole word is at this position.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.starts_with(word) && identifier_length(self.rest(), self.text, self.at) == Some(word.len())
    }
}

pub(super) fn too_deep(deepest: u32) -> String {
    format!("this is nested more than {deepest} levels deep (`bounds.nesting`)")
}

/// Returns the length of the identifier at the start of `rest`.
fn identifier_length(rest: &[u8], text: &str, at: usize) -> Option<usize> {
    let first = *rest.first()?;
    if !(first.is_ascii_alphabetic() || first == b'_' || first >= 0x80) {
        return None;
    }
    let ascii = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || **b == b'-').count();
    if rest.get(ascii).is_none_or(|b| *b < 0x80) {
        return Some(ascii);
    }
    let mut chars = text.get(at..)?.char_indices();
    if !chars.next().is_some_and(|(_, c)| c.is_alphabetic() || c == '_') {
        return None;
    }
    let rest_length = text.len() - at;
    Some(chars.find(|(_, c)| !continues(*c)).map_or(rest_length, |(i, _)| i))
}

/// Returns true if an identifier may contain the character after its first letter. Combining accents are allowed.
fn continues(c: char) -> bool {
    let is_accent = || CanonicalCombiningClassMapBorrowed::new().get_u8(c) != 0;
    c.is_alphanumeric() || matches!(c, '_' | '-') || (!c.is_ascii() && is_accent())
}
