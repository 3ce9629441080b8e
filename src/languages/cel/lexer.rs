//! Splits an expression into tokens.

use std::ops::Range;
use std::sync::Arc;

use super::Problem;
use super::literal;

/// A token with its byte range.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Name(Arc<str>),
    /// The name in backticks, allowed only as a field.
    Quoted(Arc<str>),
    /// Unsigned digits; the sign decides whether they fit.
    Integer(u64),
    Unsigned(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    Sign(&'static str),
    End,
}

/// The longest marks come first, so that `<=` is not read as `<`.
const SIGNS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", ".?", "[?", "{", "}", "(", ")", "[", "]", ".", ",", ":", "?", "<", ">", "+",
    "-", "*", "/", "%",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    let mut all = Vec::with_capacity(text.len() / 3 + 1);
    let mut at = 0;
    loop {
        at = skip_blank(text, at);
        let Some(first) = text[at..].chars().next() else {
            all.push(Token { kind: TokenKind::End, at: at..at });
            return Ok(all);
        };
        let (kind, end) = match first {
            '0'..='9' => number(text, at)?,
            '.' if text[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => number(text, at)?,
            '"' | '\'' => literal::quoted(text, at)?,
            '`' => backticked(text, at)?,
            'a'..='z' | 'A'..='Z' | '_' => match literal::prefixed(text, at)? {
                Some(found) => found,
                None => name(text, at),
            },
            _ => sign(text, at, first)?,
        };
        all.push(Token { kind, at: at..end });
        at = end;
    }
}

fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}').len();
        at += blank;
        if !text[at..].starts_with("//") {
            return at;
        }
        at += text[at..].find('\n').unwrap_or(text.len() - at);
    }
}

fn name(text: &str, start: usize) -> (TokenKind, usize) {
    let end = start + run(&text[start..], |c| c.is_ascii_alphanumeric() || c == '_');
    (TokenKind::Name(text[start..end].into()), end)
}

fn backticked(text: &str, start: usize) -> Result<(TokenKind, usize), Problem> {
    let inner = &text[start + 1..];
    let length = run(inner, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' '));
    if length == 0 || !inner[length..].starts_with('`') {
        return Err(Problem::new(start..start + 1 + length, "the name in backticks has no closing backtick"));
    }
    Ok((TokenKind::Quoted(inner[..length].into()), start + length + 2))
}

fn sign(text: &str, at: usize, first: char) -> Result<(TokenKind, usize), Problem> {
    let rest = &text[at..];
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok((TokenKind::Sign(sign), at + sign.len()));
    }
    if rest.starts_with('!') {
        return Ok((TokenKind::Sign("!"), at + 1));
    }
    let problem = Problem::new(
        at..at + first.len_utf8(),
        format!("`{}` has no meaning in an expression", first.escape_default()),
    );
    Err(match first {
        '=' => problem.with_help("write `==` to compare"),
        '&' => problem.with_help("write `&&`"),
        '|' => problem.with_help("write `||`"),
        _ => problem,
    })
}

fn number(text: &str, start: usize) -> Result<(TokenKind, usize), Problem> {
    let rest = &text[start..];
    if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
        let end = start + 2 + run(digits, |c| c.is_ascii_hexdigit());
        return integer(text, start, end, u64::from_str_radix(&text[start + 2..end], 16).ok());
    }
    let mut end = start + run(rest, |c| c.is_ascii_digit());
    let mut is_double = false;
    if text[end..].starts_with('.') && text[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        is_double = true;
        end += 1 + run(&text[end + 1..], |c| c.is_ascii_digit());
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let digits = run(&text[end + 1 + sign..], |c| c.is_ascii_digit());
        if digits > 0 {
            is_double = true;
            end += 1 + sign + digits;
        }
    }
    if !is_double {
        return integer(text, start, end, text[start..end].parse().ok());
    }
    match text[start..end].parse::<f64>() {
        Ok(value) => finish(text, start, end, TokenKind::Double(value)),
        Err(_) => Err(Problem::new(start..end, "this is not a number")),
    }
}

fn integer(text: &str, start: usize, end: usize, value: Option<u64>) -> Result<(TokenKind, usize), Problem> {
    let Some(value) = value else {
        return Err(Problem::new(start..end, "the number does not fit 64 bits"));
    };
    match text[end..].starts_with(['u', 'U']) {
        true => finish(text, start, end + 1, TokenKind::Unsigned(value)),
        false => finish(text, start, end, TokenKind::Integer(value)),
    }
}

/// Refuses a name directly after a number: `1a`.
fn finish(text: &str, start: usize, end: usize, kind: TokenKind) -> Result<(TokenKind, usize), Problem> {
    let stray = run(&text[end..], |c| c.is_ascii_alphanumeric() || c == '_');
    match stray {
        0 => Ok((kind, end)),
        _ => Err(Problem::new(start..end + stray, format!("`{}` is not a number", &text[start..end + stray]))),
    }
}

fn run(text: &str, accepts: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accepts(c)).unwrap_or(text.len())
}
