//! Splits one action of a template into tokens.

use std::ops::Range;

use crate::languages::go;
use crate::languages::yaml::scalar;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TemplateToken {
    Word(String),
    /// Field: `.name`
    Field(String),
    Dot,
    /// Variable: `$name`
    Variable(String),
    Text(String),
    Int(i64),
    Float(f64),
    Open,
    Close,
    Pipe,
    Declare,
    Assign,
    Comma,
}

#[derive(Debug, Clone)]
pub(super) struct PlacedToken {
    pub(super) token: TemplateToken,
    pub(super) range: Range<usize>,
    /// Whether spaces precede it.
    pub(super) spaced: bool,
}

/// The tokens of an action, and its end. `text` is the whole template.
pub(super) struct Lexed {
    pub(super) tokens: Vec<PlacedToken>,
    /// The end of the closing braces.
    pub(super) end: usize,
    pub(super) trims: bool,
}

pub(super) fn action(text: &str, start: usize) -> Result<Lexed, (usize, String)> {
    let mut lexer = Lexer { text, at: start, tokens: Vec::new() };
    loop {
        let before = lexer.at;
        lexer.blanks();
        let spaced = lexer.at > before;
        let rest = lexer.rest();
        if rest.starts_with("}}") {
            return Ok(Lexed { tokens: lexer.tokens, end: lexer.at + 2, trims: false });
        }
        if spaced && rest.starts_with("-}}") {
            return Ok(Lexed { tokens: lexer.tokens, end: lexer.at + 3, trims: true });
        }
        let from = lexer.at;
        let token = lexer.token().map_err(|why| (from, why))?;
        lexer.tokens.push(PlacedToken { token, range: from..lexer.at, spaced });
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<PlacedToken>,
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default().to_owned()
    }

    fn take(&mut self, length: usize, token: TemplateToken) -> TemplateToken {
        self.at += length;
        token
    }

    fn token(&mut self) -> Result<TemplateToken, String> {
        let rest = self.rest();
        let mut letters = rest.chars();
        let Some(first) = letters.next() else { return Err("unclosed action".to_owned()) };
        let second = letters.next().unwrap_or(' ');
        Ok(match first {
            '(' => self.take(1, TemplateToken::Open),
            ')' => self.take(1, TemplateToken::Close),
            '|' => self.take(1, TemplateToken::Pipe),
            ',' => self.take(1, TemplateToken::Comma),
            '=' => self.take(1, TemplateToken::Assign),
            ':' if second == '=' => self.take(2, TemplateToken::Declare),
            '"' | '`' | '\'' => return self.quoted(first),
            '.' if second.is_ascii_digit() => return self.number(),
            '.' => {
                self.at += 1;
                let name = self.word();
                if name.is_empty() { TemplateToken::Dot } else { TemplateToken::Field(name) }
            }
            '$' => {
                self.at += 1;
                TemplateToken::Variable(self.word())
            }
            '+' | '-' | '0'..='9' => return self.number(),
            letter if is_word(letter) => TemplateToken::Word(self.word()),
            other => return Err(format!("unexpected {other:?} in an action")),
        })
    }

    fn quoted(&mut self, quote: char) -> Result<TemplateToken, String> {
        let rest = self.rest().get(1..).unwrap_or_default();
        let mut end = None;
        let mut escaped = false;
        for (at, letter) in rest.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if quote != '`' => escaped = true,
                '\n' if quote != '`' => break,
                _ if letter == quote => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else { return Err("unterminated quoted string".to_owned()) };
        let inner = rest.get(..end).unwrap_or_default();
        self.at += end + 2;
        match quote {
            '`' => Ok(TemplateToken::Text(inner.replace('\r', ""))),
            '"' => go::unquoted(inner).map(TemplateToken::Text).ok_or_else(|| "a string cannot be read".to_owned()),
            _ => {
                let text = go::unquoted(inner).ok_or("a character cannot be read")?;
                text.chars()
                    .next()
                    .map(|letter| TemplateToken::Int(i64::from(u32::from(letter))))
                    .ok_or_else(|| "no character".into())
            }
        }
    }

    fn number(&mut self) -> Result<TemplateToken, String> {
        let rest = self.rest();
        let is_hex = rest.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("0x");
        let mut end = 0;
        let mut before = ' ';
        for letter in rest.chars() {
            let sign = matches!(letter, '+' | '-') && (end == 0 || !is_hex && matches!(before, 'e' | 'E'));
            if !(sign || letter == '.' || is_word(letter)) {
                break;
            }
            before = letter;
            end += letter.len_utf8();
        }
        let text = rest.get(..end).unwrap_or_default();
        self.at += end;
        number(text).ok_or_else(|| format!("bad number syntax: {text:?}"))
    }
}

/// Parses a number in Go's syntax.
fn number(text: &str) -> Option<TemplateToken> {
    if let Some(number) = super::numbers::parse_int(text) {
        return Some(TemplateToken::Int(number));
    }
    // `1e3` is a whole number, but its syntax makes it a float.
    scalar::number(text).map(TemplateToken::Float)
}
