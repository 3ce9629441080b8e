//! Converts file names that are not UTF-8 to paths: each invalid byte gets its own character.

use std::borrow::Cow;

/// The first of the 128 last private-use characters, one for each byte from 0x80 on. If a name already contains such a
/// character, its bytes are converted too, so that two names never give one path.
const FIRST: u32 = 0x0010_FF00;
/// First UTF-8 byte of these characters.
const BEGINNING: u8 = 0xF4;

/// Returns a name or path as text.
pub fn named(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !may_be_escaped(bytes) => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(bytes)),
    }
}

/// Returns the bytes of a name or path.
pub fn bytes_of(text: &str) -> Cow<'_, [u8]> {
    if !may_be_escaped(text.as_bytes()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match byte_of(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

fn byte_of(letter: char) -> Option<u8> {
    u32::from(letter).checked_sub(FIRST).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| *byte >= 0x80)
}

fn may_be_escaped(bytes: &[u8]) -> bool {
    let mut from = bytes;
    while let Some(at) = memchr::memchr(BEGINNING, from) {
        let rest = from.get(at..).unwrap_or_default();
        // These characters are encoded as F4 8F BE 80 to F4 8F BF BF.
        if matches!(rest, [0xF4, 0x8F, 0xBE | 0xBF, ..]) {
            return true;
        }
        from = rest.get(1..).unwrap_or_default();
    }
    false
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    let put = |text: &mut String, bytes: &[u8]| {
        text.extend(bytes.iter().filter_map(|byte| char::from_u32(FIRST + u32::from(*byte))));
    };
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match byte_of(letter) {
                Some(_) => put(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes()),
                None => text.push(letter),
            }
        }
        put(&mut text, chunk.invalid());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_path_of_its_own_and_comes_back() {
        let odd = char::from_u32(FIRST + 0xFF).unwrap().to_string();
        let names: [&[u8]; 6] = [b"a.tf", b"b\xff.tf", "é.tf".as_bytes(), b"\xc3", odd.as_bytes(), b"\xf4\x8f\xbe"];
        let mut seen = std::collections::BTreeSet::new();
        for name in names {
            let text = named(name).into_owned();
            assert_eq!(&*bytes_of(&text), name, "{text:?}");
            assert!(seen.insert(text), "{name:?} has the path of another name");
        }
        assert_eq!(named(b"a.tf"), "a.tf");
        assert!(named(b"b\xff.tf").ends_with(".tf"));
    }
}
