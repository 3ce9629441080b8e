//! A place in the text that is parsed, and the errors met so far.

use std::sync::Arc;

use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;

use crate::source::{FileId, Span};

use super::{HclName, NESTING_LIMIT, SyntaxError};

/// A hostile file may hold millions of errors; nobody reads more than a few.
const KEPT_MESSAGES: usize = 50;

/// Where the text stands that a parser reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum CursorPlace {
    /// Each byte is the byte of a file, from this offset on.
    Linear { file: FileId, base: usize },
    /// All of it stands for one span: text with escapes that were resolved.
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

/// Something did not parse; the parser holds the message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failed;

pub(super) type Parse<T> = Result<T, Failed>;

/// Reads text from left to right. `newlines` says whether a line break means something here.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) place: CursorPlace,
    pub(super) newlines: bool,
    pub(super) depth: u32,
    /// How deep it may get.
    pub(super) deepest: u32,
    /// Where brackets are balanced for sure: from here on the next item is looked for after an error.
    pub(super) resume: usize,
    /// The item that is read stands in a block on one line.
    pub(super) one_line: bool,
    /// Blocks, labels, arguments and expressions so far.
    pub(super) nodes: u32,
    /// Heredocs whose end was looked for in vain.
    pub(super) lost_heredocs: u32,
    pub(super) errors: Vec<SyntaxError>,
    pub(super) notes: Vec<SyntaxError>,
    pub(super) comments: Vec<Span>,
}

/// A tree takes about twenty times the memory of its text; the largest of 5,709 public files has a fiftieth of this.
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

    /// The byte so far ahead; 0 at the end, which no valid text contains.
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

    /// Notes an error at the next character.
    pub(super) fn fail<T>(&mut self, message: impl Into<String>) -> Parse<T> {
        let width = self.text.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.fail_at(message, self.at, self.at + width)
    }

    pub(super) fn fail_at<T>(&mut self, message: impl Into<String>, start: usize, end: usize) -> Parse<T> {
        self.report(message, self.place.span(start, end));
        Err(Failed)
    }

    /// Notes an error and goes on.
    pub(super) fn report(&mut self, message: impl Into<String>, span: Span) {
        if self.errors.len() < KEPT_MESSAGES {
            self.errors.push(SyntaxError { message: message.into(), span });
        }
    }

    /// Notes something that is accepted but not meant.
    pub(super) fn note(&mut self, message: impl Into<String>, span: Span) {
        if self.notes.len() < KEPT_MESSAGES {
            self.notes.push(SyntaxError { message: message.into(), span });
        }
    }

    /// What stands here, for a message.
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

    /// Skips blanks and comments, and line breaks where they mean nothing.
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

    /// Skips blanks, comments and line breaks.
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

    /// Runs `parse` where line breaks mean something (`true`) or nothing.
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

    /// One more node of the tree; gives the file up where there are too many.
    pub(super) fn count(&mut self) -> Parse<()> {
        self.nodes += 1;
        if self.nodes <= MOST_NODES {
            return Ok(());
        }
        if self.nodes == MOST_NODES + 1 {
            let message = format!("this file contains more than {MOST_NODES} blocks, arguments and expressions");
            // The first error of a file is the one to tell.
            self.errors.insert(0, SyntaxError { message, span: self.span(self.at) });
        }
        self.at = self.bytes.len();
        Err(Failed)
    }

    /// The identifier here, if there is one.
    pub(super) fn identifier(&mut self) -> Option<HclName> {
        let length = identifier_length(self.rest(), self.text, self.at)?;
        let start = self.at;
        self.at += length;
        Some(HclName { text: Arc::from(self.slice(start, self.at)), span: self.span(start) })
    }

    /// Whether this word stands here, as a whole.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.starts_with(word) && identifier_length(self.rest(), self.text, self.at) == Some(word.len())
    }
}

pub(super) fn too_deep(deepest: u32) -> String {
    format!("this is nested more than {deepest} levels deep (`bounds.nesting`)")
}

/// How long the identifier at the start of `rest` is.
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

/// Whether it may stand in an identifier behind its first letter; accents may stand apart from their letters.
fn continues(c: char) -> bool {
    let is_accent = || CanonicalCombiningClassMapBorrowed::new().get_u8(c) != 0;
    c.is_alphanumeric() || matches!(c, '_' | '-') || (!c.is_ascii() && is_accent())
}
