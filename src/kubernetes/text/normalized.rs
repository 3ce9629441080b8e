//! Handles constructs that hide words of YAML from a byte search: escapes, tags, and unusual forms of keys and values.

use std::borrow::Cow;

/// A text in the form for a byte search.
pub(super) enum NormalizedText<'t> {
    /// The text with escapes replaced by their letters.
    Text(Cow<'t, [u8]>),
    /// The file has tags that change its scalars, so only a parser can read it.
    Nothing,
}

/// Replaces escapes by their letters in any place, because additional letters do not harm the search.
pub(super) fn unveil(text: &[u8]) -> NormalizedText<'_> {
    let mut letters: Vec<u8> = Vec::new();
    let mut done = 0;
    for at in memchr::memchr3_iter(b'\\', b'!', b'%', text) {
        let rest = text.get(at..).unwrap_or_default();
        match rest.first() {
            Some(b'\\') if at >= done => {
                if let Some((letter, length)) = escape(rest) {
                    letters.extend_from_slice(text.get(done..at).unwrap_or_default());
                    letters.extend(letter);
                    done = at + length;
                }
            }
            Some(b'!') if is_telling_tag(rest) => return NormalizedText::Nothing,
            // A `%TAG` line lets the file use any name for that tag.
            Some(b'%') if rest.starts_with(b"%TAG") && starts_line(text, at) => return NormalizedText::Nothing,
            _ => {}
        }
    }
    if done == 0 {
        return NormalizedText::Text(Cow::Borrowed(text));
    }
    letters.extend_from_slice(text.get(done..).unwrap_or_default());
    NormalizedText::Text(Cow::Owned(letters))
}

fn starts_line(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| text.get(before).is_none_or(|byte| !matches!(byte, b' '..=b'~')))
}

/// Returns the letter of an escape, or none for an escaped line break, with the length of the escape.
fn escape(rest: &[u8]) -> Option<(Option<u8>, usize)> {
    let digits = match rest.get(1)? {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        b'/' => return Some((Some(b'/'), 2)),
        b'\n' | b'\r' => {
            let blanks = rest.iter().skip(1).take_while(|byte| byte.is_ascii_whitespace()).count();
            return Some((None, 1 + blanks));
        }
        _ => return None,
    };
    let written = rest.get(2..2 + digits).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    let number = u32::from_str_radix(std::str::from_utf8(written).ok()?, 16).ok()?;
    let letter = u8::try_from(number).ok()?;
    (letter.is_ascii_alphanumeric() || b"-._/".contains(&letter)).then_some((Some(letter), 2 + digits))
}

/// Returns whether the tag is `!!binary`, or may be it under another name.
fn is_telling_tag(rest: &[u8]) -> bool {
    if rest.starts_with(b"!<") {
        return true;
    }
    let Some(named) = rest.strip_prefix(b"!!") else { return false };
    let end = named.iter().position(|byte| !byte.is_ascii_graphic()).unwrap_or(named.len());
    let name = named.get(..end).unwrap_or_default();
    name.starts_with(b"binary") || name.contains(&b'%')
}

/// Describes whether a word is a key in YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EscapedKey<'t> {
    /// The word is not a key.
    No,
    /// The word is a separate value, and an alias may make it a key.
    Alone,
    /// The word is a key, with the text after its colon.
    Of(&'t [u8]),
}

/// Reads the text after a word. A quote, blanks, line breaks and comments may precede the colon of a key.
pub(super) fn key(behind: &[u8]) -> EscapedKey<'_> {
    let rest = without_quote(behind);
    match rest.first() {
        Some(b':') => return EscapedKey::Of(rest.get(1..).unwrap_or_default()),
        Some(byte) if !byte.is_ascii_whitespace() && !b",]}".contains(byte) => return EscapedKey::No,
        _ => {}
    }
    match without_gap(rest).0.strip_prefix(b":") {
        Some(value) => EscapedKey::Of(value),
        None => EscapedKey::Alone,
    }
}

/// The value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenValue<'t> {
    /// A collection, or nothing.
    Other,
    /// A scalar that starts with this word.
    Word(&'t [u8]),
    /// The value is in another place, through an alias.
    Elsewhere,
}

/// Returns the first word of a value, for any quotes, anchors, tags and line breaks.
pub(super) fn given(value: &[u8]) -> GivenValue<'_> {
    let (mut rest, mut below) = without_gap(value);
    // A value with more than four of these prefixes is not one word.
    for _ in 0..4 {
        match rest.first() {
            Some(b'*') => return GivenValue::Elsewhere,
            Some(b'{') if rest.starts_with(b"{{") => return GivenValue::Elsewhere,
            Some(b'&' | b'!' | b'|' | b'>') => {
                let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
                let gap = without_gap(rest.get(end..).unwrap_or_default());
                (rest, below) = (gap.0, below || gap.1);
            }
            _ => break,
        }
    }
    let bare = without_quote(rest);
    let end = bare.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bare.len());
    let (word, behind) = bare.split_at_checked(end).unwrap_or((bare, &[]));
    // This is the first key of a nested mapping.
    let is_key = || without_blanks(without_quote(behind)).strip_prefix(b":").is_some_and(|it| !starts_word(it));
    if word.is_empty() || (below && is_key()) { GivenValue::Other } else { GivenValue::Word(word) }
}

fn starts_word(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| !byte.is_ascii_whitespace())
}

/// Returns whether an alias is used as a key in any place.
pub(super) fn has_key_alias(text: &[u8]) -> bool {
    memchr::memchr_iter(b'*', text).any(|at| {
        let name = text.get(at + 1..).unwrap_or_default();
        let end = name.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b',').unwrap_or(name.len());
        let behind = name.get(end..).unwrap_or_default();
        end > 0 && without_gap(behind).0.starts_with(b":")
    })
}

fn without_quote(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").or(text.strip_prefix(b"'")).unwrap_or(text)
}

pub(super) fn without_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.get(blanks..).unwrap_or_default()
}

/// Skips blanks, line breaks and comments, and returns whether a line ended among them.
fn without_gap(text: &[u8]) -> (&[u8], bool) {
    let (mut rest, mut below) = (text, false);
    loop {
        rest = without_blanks(rest);
        match rest.first() {
            Some(b'\n' | b'\r') => {
                rest = rest.get(1..).unwrap_or_default();
                below = true;
            }
            Some(b'#') => {
                let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
            }
            _ => return (rest, below),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_the_letters_that_they_stand_for() {
        let seen = |text: &str| match unveil(text.as_bytes()) {
            NormalizedText::Text(text) => Some(String::from_utf8(text.into_owned()).unwrap()),
            NormalizedText::Nothing => None,
        };
        for (text, letters) in [
            (r#""nvidia.com\x2fgpu""#, "\"nvidia.com/gpu\""),
            (r#""\u006evidia.com\/\U00000067pu""#, "\"nvidia.com/gpu\""),
            ("\"ki\\\n  nd\"", "\"kind\""),
            (r#""a \"b\" \u003c \x2 \uD83D""#, r#""a \"b\" \u003c \x2 \uD83D""#),
            ("C:\\users\\xavier", "C:\\users\\xavier"),
            ("a: !Sub x!! !!python/name:y 5%TAG", "a: !Sub x!! !!python/name:y 5%TAG"),
        ] {
            assert_eq!(seen(text).as_deref(), Some(letters), "{text}");
        }
        for text in ["a: !!binary eA==", "a: !<tag:yaml.org,2002:binary> eA==", "%TAG !e! tag:yaml.org,2002:bin\n---\n"]
        {
            assert_eq!(seen(text), None, "{text}");
        }
        assert_eq!(seen("a: !!%62inary eA=="), None);
    }

    #[test]
    fn a_key_is_one_however_it_is_written() {
        for text in [": Pod", "\": Pod", "' : Pod", "\n: Pod", "\": # why\n  Pod", " # why\n  # still\n: &a !!str Pod"]
        {
            let EscapedKey::Of(value) = key(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(given(value), GivenValue::Word(b"Pod"), "{text}");
        }
        assert_eq!(
            [key(b"s: x"), key(b"-a"), key(b" of"), key(b"")],
            [EscapedKey::No, EscapedKey::No, EscapedKey::Alone, EscapedKey::Alone]
        );
        let value = |text: &'static str| given(text.as_bytes());
        assert_eq!(value(" >-\n  NodePool\n"), GivenValue::Word(b"NodePool"));
        assert_eq!(value(" |2 # c\n  NodePool\n"), GivenValue::Word(b"NodePool"));
        assert_eq!(value("\n  description: Kind is\n"), GivenValue::Other);
        assert_eq!([value(" *k\n"), value(" {{ .x }}")], [GivenValue::Elsewhere, GivenValue::Elsewhere]);
        assert_eq!(
            [value(" {a: b}"), value(" [a]"), value("")],
            [GivenValue::Other, GivenValue::Other, GivenValue::Other]
        );
        assert!(has_key_alias(b"a: &k kind\n*k : Pod") && has_key_alias(b"? *k\n: Pod"));
        assert!(!has_key_alias(b"a: *k\nb: 1 * 2\n* item: x"));
    }
}
