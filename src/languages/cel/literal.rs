//! Parses string and bytes literals: quotes, prefixes and escapes.

use super::Problem;
use super::lexer::TokenKind;

/// Parses a literal with a prefix: `r"…"`, `b'…'`, `rb"""…"""`. `None` if the letters begin a plain name.
pub(super) fn prefixed(text: &str, start: usize) -> Result<Option<(TokenKind, usize)>, Problem> {
    const LONGEST: usize = 2;
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
    let letters = text.as_bytes()[start..].iter().take(LONGEST + 1).position(is_quote).unwrap_or(0);
    let (raw, bytes) = match &text.as_bytes()[start..start + letters] {
        [b'r' | b'R'] => (true, false),
        [b'b' | b'B'] => (false, true),
        [b'r' | b'R', b'b' | b'B'] | [b'b' | b'B', b'r' | b'R'] => (true, true),
        _ => return Ok(None),
    };
    literal(text, start, letters, raw, bytes).map(Some)
}

pub(super) fn quoted(text: &str, start: usize) -> Result<(TokenKind, usize), Problem> {
    literal(text, start, 0, false, false)
}

fn literal(text: &str, start: usize, prefix: usize, raw: bool, bytes: bool) -> Result<(TokenKind, usize), Problem> {
    let open = start + prefix;
    let quote = &text[open..open + 1];
    let triple = quote.repeat(3);
    let (fence, multiline) = match text[open..].starts_with(&triple) {
        true => (&triple[..], true),
        false => (quote, false),
    };
    let mut reader = Reader { text, at: open + fence.len(), out: Vec::new(), bytes };
    loop {
        let rest = &text[reader.at..];
        if rest.starts_with(fence) {
            break;
        }
        let Some(next) = rest.chars().next().filter(|c| multiline || !matches!(c, '\n' | '\r')) else {
            let problem = Problem::new(start..reader.at, "the string has no closing quote");
            return Err(problem.with_help(format!("close it with {fence}")));
        };
        if next == '\\' && !raw {
            reader.escape()?;
        } else {
            reader.push(next);
            reader.at += next.len_utf8();
        }
    }
    let end = reader.at + fence.len();
    let kind = match bytes {
        true => TokenKind::Bytes(reader.out.into()),
        false => TokenKind::Text(String::from_utf8_lossy(&reader.out).into()),
    };
    Ok((kind, end))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: Vec<u8>,
    bytes: bool,
}

impl Reader<'_> {
    fn push(&mut self, c: char) {
        self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn escape(&mut self) -> Result<(), Problem> {
        let start = self.at;
        let rest = &self.text[start + 1..];
        let Some(letter) = rest.chars().next() else {
            return Err(Problem::new(start..start + 1, "the string has no closing quote"));
        };
        let simple = match letter {
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            '\\' | '?' | '"' | '\'' | '`' => Some(letter),
            _ => None,
        };
        if let Some(simple) = simple {
            self.push(simple);
            self.at = start + 2;
            return Ok(());
        }
        let (digits_at, length, radix) = match letter {
            'x' | 'X' => (1, 2, 16),
            'u' if !self.bytes => (1, 4, 16),
            'U' if !self.bytes => (1, 8, 16),
            '0'..='3' => (0, 3, 8),
            _ => {
                return Err(Problem::new(
                    start..start + 1 + letter.len_utf8(),
                    format!("`\\{letter}` is not a valid escape"),
                ));
            }
        };
        // Rust also parses a sign, which must not be in an escape.
        let digits = rest.get(digits_at..digits_at + length).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, radix).ok());
        let end = start + 1 + digits_at + length;
        let wrong = || {
            let end = (start..=end.min(self.text.len())).rev().find(|end| self.text.is_char_boundary(*end));
            Problem::new(start..end.unwrap_or(start), "the escape does not name a character")
        };
        let number = number.ok_or_else(wrong)?;
        if self.bytes {
            self.out.push(u8::try_from(number).map_err(|_| wrong())?);
        } else {
            let c = char::from_u32(number).ok_or_else(wrong)?;
            self.push(c);
        }
        self.at = end;
        Ok(())
    }
}
