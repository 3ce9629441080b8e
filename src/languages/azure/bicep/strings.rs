//! Parses Bicep strings: `'vm-${name}'`, and multi-line strings.

use crate::languages::azure::syntax::{AzureExpr, AzureKind};
use crate::source::Span;

use super::cursor::{BicepParsed, Cursor};

impl Cursor<'_> {
    /// Parses the string that begins here.
    pub(super) fn string(&mut self) -> BicepParsed<AzureExpr> {
        let start = self.at;
        let marks = self.rest().bytes().take_while(|it| *it == b'$').count();
        self.at += marks;
        match self.rest().starts_with("'''") {
            true => self.long_string(start, marks),
            false => self.short_string(start),
        }
    }

    fn short_string(&mut self, start: usize) -> BicepParsed<AzureExpr> {
        self.at += 1;
        let (mut parts, mut text, mut from) = (Vec::new(), String::new(), self.at);
        loop {
            let rest = self.rest();
            let Some(letter) = rest.chars().next().filter(|it| *it != '\n') else {
                return self.broken("the string has no closing quote");
            };
            match letter {
                '\'' => {
                    self.at += 1;
                    self.end = self.at;
                    break;
                }
                '\\' => self.escape(&mut text)?,
                '$' if rest.starts_with("${") => {
                    self.hole(&mut parts, &mut text, from, 2)?;
                    from = self.at;
                }
                _ => {
                    text.push(letter);
                    self.at += letter.len_utf8();
                }
            }
        }
        let tail = Span::new(self.file, from, self.at.saturating_sub(1));
        Ok(whole(parts, text, tail, self.span(start)))
    }

    /// Parses a string from `'''` to `'''`, without escapes. With marks in front, as many marks open an interpolation.
    fn long_string(&mut self, start: usize, marks: usize) -> BicepParsed<AzureExpr> {
        self.at += 3;
        if let Some(rest) = self.rest().strip_prefix('\r').or(Some(self.rest())).and_then(|it| it.strip_prefix('\n')) {
            self.at = self.text.len() - rest.len();
        }
        let (mut parts, mut text, mut from) = (Vec::new(), String::new(), self.at);
        let opening = format!("{}{{", "$".repeat(marks));
        loop {
            let rest = self.rest();
            let Some(letter) = rest.chars().next() else { return self.broken("the string has no closing quote") };
            if rest.starts_with("'''") {
                // Quotes before the last three belong to the string.
                let quotes = rest.bytes().take_while(|it| *it == b'\'').count();
                text.extend(std::iter::repeat_n('\'', quotes - 3));
                self.at += quotes;
                self.end = self.at;
                break;
            }
            if marks > 0 && rest.starts_with(&opening) {
                self.hole(&mut parts, &mut text, from, opening.len())?;
                from = self.at;
                continue;
            }
            text.push(letter);
            self.at += letter.len_utf8();
        }
        let tail = Span::new(self.file, from, self.at.saturating_sub(3));
        Ok(whole(parts, text, tail, self.span(start)))
    }

    /// Parses an interpolation.
    fn hole(&mut self, parts: &mut Vec<AzureExpr>, text: &mut String, from: usize, opening: usize) -> BicepParsed<()> {
        let before = Span::new(self.file, from, self.at);
        parts.push(AzureExpr::text(before, std::mem::take(text)));
        self.at += opening;
        let inside = self.deeper(|it| {
            it.skip(true);
            it.expression()
        })?;
        parts.push(inside);
        self.expect("}")
    }

    fn escape(&mut self, text: &mut String) -> BicepParsed<()> {
        let mut letters = self.rest().chars().skip(1);
        let (letter, length) = match letters.next() {
            Some('n') => ('\n', 2),
            Some('r') => ('\r', 2),
            Some('t') => ('\t', 2),
            Some(plain @ ('\\' | '\'' | '$')) => (plain, 2),
            Some('u') => {
                let rest = self.rest();
                let code = rest.strip_prefix("\\u{").and_then(|it| it.split_once('}')).map(|(code, _)| code);
                let letter = code.and_then(|it| u32::from_str_radix(it, 16).ok()).and_then(char::from_u32);
                match letter.zip(code) {
                    Some((letter, code)) => (letter, code.len() + 4),
                    None => return self.broken("this escape is malformed"),
                }
            }
            _ => return self.broken("this escape is malformed"),
        };
        text.push(letter);
        self.at += length;
        Ok(())
    }
}

fn whole(mut parts: Vec<AzureExpr>, text: String, tail: Span, span: Span) -> AzureExpr {
    if parts.is_empty() {
        return AzureExpr::text(span, text);
    }
    parts.push(AzureExpr::text(tail, text));
    AzureExpr::new(span, AzureKind::Filled(parts))
}
