//! Handles line breaks of Go's YAML library for a parser with those of YAML 1.2. For kubectl, helm, kustomize and
//! Terraform, NEL, LS and PS end a line, which an editor may not show.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle};

const NEL: char = '\u{85}';
const OTHERS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// A text with such line breaks, and their places.
pub(crate) struct GoLines<'t> {
    text: &'t str,
    places: Vec<usize>,
}

/// A text for the parser, with the same length as the original.
pub(crate) struct ParserText {
    pub(crate) text: String,
    /// Unchanged line breaks, which must be in quotes. If the parser finds them elsewhere, the parse is invalid.
    kept: Vec<usize>,
}

/// Returns the places of such line breaks.
pub(crate) fn places(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(0xC2, 0xE2, text).filter(|&at| {
        let rest = text.get(at..).unwrap_or_default();
        rest.starts_with("\u{85}".as_bytes())
            || rest.starts_with(&[0xE2, 0x80, 0xA8])
            || rest.starts_with(&[0xE2, 0x80, 0xA9])
    })
}

/// Returns the bytes with usual line breaks, for searches.
pub(crate) fn broken(text: &[u8]) -> Option<Vec<u8>> {
    let places: Vec<usize> = places(text).collect();
    if places.is_empty() {
        return None;
    }
    let mut bytes = text.to_vec();
    places.into_iter().for_each(|at| break_at(&mut bytes, at));
    Some(bytes)
}

/// Replaces a line break by one with as many bytes, so that offsets stay.
fn break_at(bytes: &mut [u8], at: usize) {
    let length = if bytes.get(at) == Some(&0xC2) { 2 } else { 3 };
    let line_break = &b" \r\n"[3 - length..];
    if let Some(place) = bytes.get_mut(at..at + length) {
        place.copy_from_slice(line_break);
    }
}

impl<'t> GoLines<'t> {
    /// Finds the line breaks that only Go's library recognizes; returns `None` if the text has none.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let places: Vec<usize> = places(text.as_bytes()).collect();
        (!places.is_empty()).then_some(GoLines { text, places })
    }

    /// Returns the texts that the parser tries in order. The parser requires indented lines in quoted strings, and
    /// Go's library does not. Therefore the first text leaves line breaks in quotes unchanged.
    pub(crate) fn readings(&self) -> impl Iterator<Item = ParserText> {
        let all = self.reading(Vec::new());
        let quoted = [quoted(self.text), quoted(&all.text)];
        let is_quoted = |at: &usize| quoted.iter().any(|ranges| is_within(ranges, *at));
        let kept: Vec<usize> = self.places.iter().copied().filter(is_quoted).collect();
        let first = (!kept.is_empty()).then(|| self.reading(kept));
        first.into_iter().chain([all])
    }

    fn reading(&self, kept: Vec<usize>) -> ParserText {
        let mut bytes = self.text.as_bytes().to_vec();
        for at in self.places.iter().filter(|at| kept.binary_search(at).is_err()) {
            break_at(&mut bytes, *at);
        }
        ParserText { text: String::from_utf8_lossy(&bytes).into_owned(), kept }
    }

    /// Returns the value of a scalar: NEL is a normal line break, and LS and PS stay when lines are joined.
    pub(crate) fn meant<'s>(&self, text: Cow<'s, str>, style: ScalarStyle, start: usize, end: usize) -> Cow<'s, str> {
        let raw = self.text.get(start..end).unwrap_or_default();
        if places(raw.as_bytes()).next().is_none() {
            return text;
        }
        Cow::Owned(match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => unquoted(&text),
            ScalarStyle::Plain => joined(raw),
            ScalarStyle::Literal => literal(raw, &text),
            ScalarStyle::Folded => return text,
        })
    }
}

impl ParserText {
    /// Returns the number of unchanged line breaks in a scalar.
    pub(crate) fn kept_in(&self, start: usize, end: usize) -> usize {
        let first = self.kept.partition_point(|at| *at < start);
        self.kept.get(first..).unwrap_or_default().iter().take_while(|at| **at < end).count()
    }

    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }
}

/// Returns the quoted scalars, as far as the text can be parsed.
fn quoted(text: &str) -> Vec<std::ops::Range<usize>> {
    let scalars = Parser::new_from_str(text).map_while(Result::ok).filter_map(|(event, at)| match event {
        Event::Scalar(_, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, ..) => at.byte_range(),
        _ => None,
    });
    scalars.collect()
}

fn is_within(ranges: &[std::ops::Range<usize>], at: usize) -> bool {
    let behind = ranges.partition_point(|range| range.start <= at);
    behind.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| range.contains(&at))
}

/// Removes spaces around a line break within quotes.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find([NEL, OTHERS[0], OTHERS[1]]) {
        let (before, behind) = rest.split_at(at);
        let mut chars = behind.chars();
        out.push_str(before.trim_end_matches([' ', '\t']));
        out.push(chars.next().filter(|it| *it != NEL).unwrap_or(' '));
        rest = chars.as_str().trim_start_matches([' ', '\t']);
    }
    out.push_str(rest);
    out
}

/// Joins the lines of a plain scalar. A single line break becomes a space. If there are several, all but the first
/// stay. LS and PS always stay.
fn joined(raw: &str) -> String {
    let is_break = |c: char| matches!(c, '\n' | '\r' | NEL) || OTHERS.contains(&c);
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find(is_break) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before.trim_end_matches([' ', '\t']));
        let next = behind.trim_start_matches(|c: char| is_break(c) || matches!(c, ' ' | '\t'));
        let gap = behind.get(..behind.len() - next.len()).unwrap_or_default().replace("\r\n", "\n");
        let breaks: String =
            gap.chars().filter(|c| is_break(*c)).map(|c| if OTHERS.contains(&c) { c } else { '\n' }).collect();
        out.push_str(match breaks.strip_prefix('\n') {
            Some("") => " ",
            Some(more) => more,
            None => &breaks,
        });
        rest = next;
    }
    out.push_str(rest);
    out
}

/// Returns the value of a literal block, with each of its line breaks.
fn literal(raw: &str, text: &str) -> String {
    let mut breaks = raw.char_indices().filter_map(|(at, c)| match c {
        '\r' if raw.get(at + 1..).is_some_and(|rest| rest.starts_with('\n')) => None,
        '\n' | '\r' | NEL => Some('\n'),
        _ => OTHERS.contains(&c).then_some(c),
    });
    let body = text.trim_start_matches('\n');
    let mut out = text.get(..text.len() - body.len()).unwrap_or_default().to_owned();
    for line in body.split_inclusive('\n') {
        match line.strip_suffix('\n').map(|bare| (bare, breaks.next())) {
            Some((bare, Some(found))) if found != '\n' => {
                out.push_str(bare.strip_suffix(' ').unwrap_or(bare));
                out.push(found);
            }
            _ => out.push_str(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_lengths_stay_what_they_are() {
        for text in ["a: 1 # x\u{85}b: 2\n", "a: 1 # x\u{2028}b: 2\n", "a:\u{2029}  b: \u{e9}\u{20ac}\u{a0}\n"] {
            let lines = GoLines::of(text).unwrap();
            let all: Vec<ParserText> = lines.readings().collect();
            assert_eq!(all.len(), 1, "{text:?}");
            assert_eq!(all[0].text.len(), text.len());
            assert_eq!(all[0].text.lines().count(), 2, "{text:?}");
        }
        assert!(GoLines::of("a: \u{e9}\u{a0}\u{20ac}\u{2026}\n").is_none());
    }

    /// The expected values are those of kustomize and `yamldecode`.
    #[test]
    fn lines_are_joined_as_go_joins_them() {
        assert_eq!(joined("a\u{85}  b"), "a b");
        assert_eq!(joined("a \u{2028}  b\n  c"), "a\u{2028}b c");
        assert_eq!(joined("a\n\u{85}\r\n  b"), "a\n\nb");
        assert_eq!(unquoted("a \u{85} b\u{2029}c"), "a b\u{2029}c");
        assert_eq!(literal("one\u{2028}    two\n", "one \ntwo\n"), "one\u{2028}two\n");
    }
}
