//! Quotes and unquotes strings as Go does.

use std::fmt::Write;

/// Returns the content of a double-quoted string; `None` if Go would refuse it.
pub(crate) fn unquoted(inner: &str) -> Option<String> {
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(rest.get(..at)?.as_bytes());
        rest = rest.get(at + 1..)?;
        let letter = rest.chars().next()?;
        rest = rest.get(letter.len_utf8()..)?;
        let simple = match letter {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '"' | '\'' => letter as u8,
            'x' => {
                let code = u8::from_str_radix(rest.get(..2)?, 16).ok()?;
                rest = rest.get(2..)?;
                code
            }
            'u' | 'U' => {
                let length = if letter == 'u' { 4 } else { 8 };
                let code = char::from_u32(u32::from_str_radix(rest.get(..length)?, 16).ok()?)?;
                rest = rest.get(length..)?;
                bytes.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            '0'..='7' => {
                let code = u8::from_str_radix(&format!("{letter}{}", rest.get(..2)?), 8).ok()?;
                rest = rest.get(2..)?;
                code
            }
            _ => return None,
        };
        bytes.push(simple);
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns how `%q` escapes a character between such quotes; `None` if it needs no escape.
pub(crate) fn escape(letter: char, quote: char) -> Option<String> {
    Some(match letter {
        '\\' => "\\\\".to_owned(),
        '\u{7}' => "\\a".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{b}' => "\\v".to_owned(),
        _ if letter == quote => format!("\\{quote}"),
        _ if is_shown(letter) => return None,
        _ => {
            let code = u32::from(letter);
            match code {
                0..=0x7f => format!("\\x{code:02x}"),
                0x80..=0xffff => format!("\\u{code:04x}"),
                _ => format!("\\U{code:08x}"),
            }
        }
    })
}

/// Returns true if Go calls a character printable, approximately: no control characters, and no spaces except the
/// plain one.
fn is_shown(letter: char) -> bool {
    let hidden = letter.is_control()
        || (letter.is_whitespace() && letter != ' ')
        || matches!(u32::from(letter), 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff | 0xe000..=0xf8ff | 0xfff9..=0xfffb);
    !hidden
}

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match escape(letter, '"') {
            Some(escaped) => out.push_str(&escaped),
            None => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Writes a JSON string. Go escapes characters that could end a script.
pub(crate) fn json(text: &str, for_pages: bool, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' if for_pages => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            '\u{2028}' | '\u{2029}' => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            letter if u32::from(letter) < 0x20 => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
}
