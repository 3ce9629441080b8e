//! Parses templates: quoted strings and heredocs with `${ }` and `%{ }`.

use std::sync::Arc;

use crate::source::Span;

use super::cursor::{Failed, Parse, Parser};
use super::directives::{remove_indentation, template};
use super::{Expression, HclKind, HclName, SyntaxError};

/// The limit on heredocs without an end, each of which costs a scan of the rest of the file. Only a hostile file has
/// several.
const LOST_HEREDOCS: u32 = 16;

/// Parts of a template before `%{ if }` and `%{ for }` are matched with their ends. Literals are split at line breaks
/// as in Terraform: `~` trims only to the end of a line, and `<<-` counts spaces per line.
pub(super) enum HclToken {
    Literal(String),
    Interpolation(Expression),
    If(Expression, Span),
    Else(Span),
    EndIf(Span),
    For { key_name: Option<HclName>, value_name: HclName, collection: Expression, span: Span },
    EndFor(Span),
}

#[derive(Clone, Copy, PartialEq)]
enum End<'m> {
    Quote,
    /// A line that contains only this word.
    Marker(&'m str),
    Text,
}

/// Extent of a heredoc.
pub(super) struct Heredoc {
    marker: (usize, usize),
    indented: bool,
    body: usize,
    /// The first byte after the closing word.
    pub(super) after: usize,
}

impl Parser<'_> {
    pub(super) fn parse_whole_template(mut self) -> Result<Expression, SyntaxError> {
        let start = self.at;
        let parsed = self.parse_template_until(End::Text, start, false);
        match (parsed, self.errors.into_iter().next()) {
            (Ok(expression), None) => Ok(expression),
            (_, Some(error)) => Err(error),
            (Err(_), None) => {
                Err(SyntaxError { message: "this is not a template".into(), span: self.place.span(0, 0) })
            }
        }
    }

    /// Parses a quoted string.
    pub(super) fn parse_quoted(&mut self) -> Parse<Expression> {
        let start = self.at;
        let plain = self.rest().iter().skip(1).position(|b| matches!(b, b'"' | b'\\' | b'$' | b'%' | b'\n'));
        if let Some(length) = plain
            && self.bytes[start + 1 + length] == b'"'
        {
            self.at = start + length + 2;
            let text = Arc::from(self.slice(start + 1, start + 1 + length));
            return Ok(Expression { kind: HclKind::Text(text), span: self.span(start) });
        }
        self.at += 1;
        self.nested(|parser| parser.parse_template_until(End::Quote, start, false))
    }

    /// Parses a quoted string without templates, for labels.
    pub(super) fn parse_plain_string(&mut self) -> Parse<Arc<str>> {
        let start = self.at;
        let expression = self.parse_quoted()?;
        match expression.kind {
            HclKind::Text(text) => Ok(text),
            _ => self.fail_at("a template is not allowed here", start, self.at),
        }
    }

    pub(super) fn parse_heredoc(&mut self) -> Parse<Expression> {
        let start = self.at;
        let Some(heredoc) = self.heredoc() else {
            let end = self.at + 2;
            return self.fail_at("expected a heredoc: a word after `<<`, and a line that closes it", start, end);
        };
        let marker = self.slice(heredoc.marker.0, heredoc.marker.1);
        self.at = heredoc.body;
        self.nested(|parser| parser.parse_template_until(End::Marker(marker), start, heredoc.indented))
    }

    /// Finds the end of the heredoc that begins here; `None` without an end.
    pub(super) fn heredoc(&mut self) -> Option<Heredoc> {
        if self.lost_heredocs > LOST_HEREDOCS {
            return None;
        }
        let found = self.find_heredoc();
        self.lost_heredocs += u32::from(found.is_none());
        found
    }

    fn find_heredoc(&self) -> Option<Heredoc> {
        let indented = self.byte(2) == b'-';
        let word = self.at + 2 + usize::from(indented);
        let rest = self.bytes.get(word..)?;
        let line_length = memchr::memchr(b'\n', rest)?;
        let marker = rest[..line_length].trim_ascii_end();
        if marker.is_empty() || !marker.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | 0x80..)) {
            return None;
        }
        let body = word + line_length + 1;
        let mut line = body;
        while line < self.bytes.len() {
            let end = memchr::memchr(b'\n', &self.bytes[line..]).map_or(self.bytes.len(), |n| line + n);
            let text = &self.bytes[line..end];
            if text.trim_ascii() == marker {
                let after = line + text.trim_ascii_end().len();
                return Some(Heredoc { marker: (word, word + marker.len()), indented, body, after });
            }
            line = end + 1;
        }
        None
    }

    fn parse_template_until(&mut self, end: End<'_>, start: usize, indented: bool) -> Parse<Expression> {
        let mut tokens = self.parse_tokens(end, start)?;
        let span = self.span(start);
        if indented {
            remove_indentation(&mut tokens);
        }
        let parts = self.assemble(tokens)?;
        Ok(Expression { kind: template(parts), span })
    }

    fn parse_tokens(&mut self, end: End<'_>, start: usize) -> Parse<Vec<HclToken>> {
        let mut tokens = Vec::new();
        let mut trim_next = false;
        loop {
            self.count()?;
            let literal_at = self.at;
            let (mut literal, done) = self.parse_literal(end, start)?;
            if std::mem::take(&mut trim_next) && self.at > literal_at {
                literal.drain(..literal.len() - literal.trim_start().len());
            }
            if done {
                if !literal.is_empty() {
                    tokens.push(HclToken::Literal(literal));
                }
                return Ok(tokens);
            }
            let opens = self.starts_with("${") || self.starts_with("%{");
            if !opens {
                tokens.push(HclToken::Literal(literal));
                continue;
            }
            let opened = self.at;
            let control = self.peek() == b'%';
            self.at += 2;
            if self.eat("~") {
                literal.truncate(literal.trim_end().len());
            }
            if !literal.is_empty() {
                tokens.push(HclToken::Literal(literal));
            }
            let token = self.with_newlines(false, |parser| {
                let token = if control {
                    parser.parse_control(opened)?
                } else {
                    HclToken::Interpolation(parser.parse_expression()?)
                };
                parser.skip_blank();
                trim_next = parser.eat("~");
                if !parser.eat("}") {
                    return parser.fail(format!("expected `}}` at the end of a template, found {}", parser.seen()));
                }
                Ok(token)
            })?;
            tokens.push(token);
        }
    }

    /// Parses literal text up to a template, to the end of a line (inclusive), or to the end of the template (then
    /// `true`).
    fn parse_literal(&mut self, end: End<'_>, start: usize) -> Parse<(String, bool)> {
        let mut text = String::new();
        if let End::Marker(marker) = end
            && self.at > 0
            && self.bytes[self.at - 1] == b'\n'
            && self.eat_marker(marker)
        {
            return Ok((text, true));
        }
        let mut copied = self.at;
        loop {
            if self.at_end() {
                text.push_str(self.slice(copied, self.at));
                if end == End::Text {
                    return Ok((text, true));
                }
                return self.fail_at("this string has no closing quote", start, start + 1);
            }
            match self.peek() {
                b'"' if end == End::Quote => {
                    text.push_str(self.slice(copied, self.at));
                    self.at += 1;
                    return Ok((text, true));
                }
                b'\n' if end == End::Quote => {
                    return self.fail_at("this string has no closing quote on its line", start, self.at);
                }
                b'\n' => {
                    self.at += 1;
                    text.push_str(self.slice(copied, self.at));
                    return Ok((text, false));
                }
                b'\\' if end == End::Quote => {
                    text.push_str(self.slice(copied, self.at));
                    text.push(self.parse_escape()?);
                    copied = self.at;
                }
                sign @ (b'$' | b'%') if self.byte(1) == sign && self.byte(2) == b'{' => {
                    text.push_str(self.slice(copied, self.at + 1));
                    text.push('{');
                    self.at += 3;
                    copied = self.at;
                }
                b'$' | b'%' if self.byte(1) == b'{' => {
                    text.push_str(self.slice(copied, self.at));
                    return Ok((text, false));
                }
                _ => self.at += 1,
            }
        }
    }

    /// Returns true if this line closes the heredoc; if so, it consumes the word.
    fn eat_marker(&mut self, marker: &str) -> bool {
        let blanks = self.rest().iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        let rest = self.rest().get(blanks..).unwrap_or_default();
        if !rest.starts_with(marker.as_bytes()) {
            return false;
        }
        let after = &rest[marker.len()..];
        let line = &after[..memchr::memchr(b'\n', after).unwrap_or(after.len())];
        if !line.trim_ascii().is_empty() {
            return false;
        }
        self.at += blanks + marker.len();
        true
    }

    fn parse_escape(&mut self) -> Parse<char> {
        let start = self.at;
        self.at += 2;
        let digits = match self.bytes.get(start + 1) {
            Some(b'n') => return Ok('\n'),
            Some(b'r') => return Ok('\r'),
            Some(b't') => return Ok('\t'),
            Some(b'"') => return Ok('"'),
            Some(b'\\') => return Ok('\\'),
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => {
                return self.fail_at("invalid escape: use \\n \\r \\t \\\" \\\\ \\uNNNN \\UNNNNNNNN", start, start + 1);
            }
        };
        let hex = self.slice(self.at, self.at + digits);
        let read = hex.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(hex, 16).ok()).flatten();
        match read.and_then(char::from_u32) {
            Some(c) => {
                self.at += digits;
                Ok(c)
            }
            None => self.fail_at("this escape does not name a character", start, start + 2),
        }
    }

    fn parse_control(&mut self, opened: usize) -> Parse<HclToken> {
        self.skip_blank();
        let Some(keyword) = self.identifier() else {
            return self.fail(format!("expected `if`, `else`, `endif`, `for` or `endfor`, found {}", self.seen()));
        };
        Ok(match &*keyword.text {
            "if" => HclToken::If(self.parse_expression()?, self.span(opened)),
            "else" => HclToken::Else(self.span(opened)),
            "endif" => HclToken::EndIf(self.span(opened)),
            "endfor" => HclToken::EndFor(self.span(opened)),
            "for" => {
                let first = self.parse_for_name()?;
                self.skip_blank();
                let (key_name, value_name) =
                    if self.eat(",") { (Some(first), self.parse_for_name()?) } else { (None, first) };
                self.skip_blank();
                if !self.at_word("in") {
                    return self.fail(format!("expected `in` after the names of `for`, found {}", self.seen()));
                }
                self.at += "in".len();
                let collection = self.parse_expression()?;
                HclToken::For { key_name, value_name, collection, span: self.span(opened) }
            }
            other => {
                let message = format!("`{other}` is not a directive: use `if`, `else`, `endif`, `for` or `endfor`");
                return self.fail_in(message, keyword.span);
            }
        })
    }

    pub(super) fn fail_in<T>(&mut self, message: impl Into<String>, span: Span) -> Parse<T> {
        self.report(message, span);
        Err(Failed)
    }
}
