//! A binary cache by git object id: classifications of files, and small contents.
//!
//! An object id depends only on the content, so a result is valid for every path. The cache has two sorted tables of
//! fixed-length records, followed by the contents. Nothing is parsed before it is requested.

use std::collections::BTreeMap;
use std::ops::Range;

/// The kind of classification, which depends on the file name, too.
pub(in crate::cli) type ScanKind = [u8; 2];
/// The classification.
pub(in crate::cli) type ScanResult = [u8; 2];

const NUMBER: usize = 4;

/// Returns the bytes of an object id.
pub(in crate::cli) fn id_of(hexadecimal: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = hexadecimal.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

#[derive(Debug, Default)]
pub(in crate::cli) struct Memory {
    bytes: Vec<u8>,
    id_bytes: usize,
    looks: Range<usize>,
    places: Range<usize>,
    texts: Range<usize>,
}

impl Memory {
    /// Returns `None` if the bytes are not such tables, or belong to another `ground`.
    pub(in crate::cli) fn read(bytes: Vec<u8>, ground: &str, id_bytes: usize) -> Option<Memory> {
        let mut at = ground.len() + 1;
        let begins = bytes.starts_with(ground.as_bytes()) && bytes.get(ground.len()) == Some(&b'\n');
        let mut number = || {
            let read = bytes.get(at..at + NUMBER)?.try_into().ok().map(u32::from_be_bytes)?;
            at += NUMBER;
            usize::try_from(read).ok()
        };
        let (looks, places) = (number()?, number()?);
        let looks_end = at.checked_add(looks.checked_mul(look_bytes(id_bytes))?)?;
        let places_end = looks_end.checked_add(places.checked_mul(place_bytes(id_bytes))?)?;
        let (looks, places, texts) = (at..looks_end, looks_end..places_end, places_end..bytes.len());
        (begins && places_end <= bytes.len()).then_some(Memory { bytes, id_bytes, looks, places, texts })
    }

    /// Returns the classification of a content.
    pub(in crate::cli) fn look(&self, id: &[u8], class: ScanKind) -> Option<ScanResult> {
        let key = [id, &class].concat();
        self.find(&self.looks, look_bytes(self.id_bytes), &key)?.try_into().ok()
    }

    /// Returns the content of an object.
    pub(in crate::cli) fn text(&self, id: &[u8]) -> Option<&[u8]> {
        let place = self.find(&self.places, place_bytes(self.id_bytes), id)?;
        let number = |at: usize| Some(u32::from_be_bytes(place.get(at..at + NUMBER)?.try_into().ok()?) as usize);
        let (start, length) = (number(0)?, number(NUMBER)?);
        self.bytes.get(self.texts.clone())?.get(start..start.checked_add(length)?)
    }

    /// Returns the value of a key in a table of fixed-length records.
    fn find(&self, table: &Range<usize>, record: usize, key: &[u8]) -> Option<&[u8]> {
        let table = self.bytes.get(table.clone()).filter(|_| record > key.len())?;
        let (mut low, mut high) = (0, table.len() / record);
        while low < high {
            let middle = low + (high - low) / 2;
            let (found, rest) = table.get(middle * record..(middle + 1) * record)?.split_at_checked(key.len())?;
            match found.cmp(key) {
                std::cmp::Ordering::Equal => return Some(rest),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

fn look_bytes(id_bytes: usize) -> usize {
    id_bytes + size_of::<ScanKind>() + size_of::<ScanResult>()
}

fn place_bytes(id_bytes: usize) -> usize {
    id_bytes + 2 * NUMBER
}

/// The entries to write.
#[derive(Debug, Default)]
pub(in crate::cli) struct Remembered<'t> {
    pub(in crate::cli) looks: BTreeMap<(Vec<u8>, ScanKind), ScanResult>,
    pub(in crate::cli) texts: BTreeMap<Vec<u8>, &'t [u8]>,
}

impl Remembered<'_> {
    pub(in crate::cli) fn to_bytes(&self, ground: &str) -> Vec<u8> {
        let number = |number: usize| u32::try_from(number).unwrap_or_default().to_be_bytes();
        let mut bytes = format!("{ground}\n").into_bytes();
        bytes.extend(number(self.looks.len()));
        bytes.extend(number(self.texts.len()));
        for ((id, class), code) in &self.looks {
            bytes.extend(id);
            bytes.extend(class);
            bytes.extend(code);
        }
        let mut start = 0;
        for (id, text) in &self.texts {
            bytes.extend(id);
            bytes.extend(number(start));
            bytes.extend(number(text.len()));
            start += text.len();
        }
        self.texts.values().for_each(|text| bytes.extend(*text));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Remembered<'static> {
        let looks = (0..40_u8).map(|it| ((vec![it; 20], [it % 3, 1]), [it, 7]));
        let texts = [(vec![3; 20], &b"a = 1\n"[..]), (vec![9; 20], b""), (vec![11; 20], b"locals {}\n")];
        Remembered { looks: looks.collect(), texts: texts.into() }
    }

    #[test]
    fn what_was_remembered_is_found_again() {
        let memory = Memory::read(some().to_bytes("ground"), "ground", 20).unwrap();
        for it in 0..40_u8 {
            assert_eq!(memory.look(&[it; 20], [it % 3, 1]), Some([it, 7]));
            assert_eq!(memory.look(&[it; 20], [it % 3, 2]), None);
        }
        assert_eq!(memory.text(&[3; 20]), Some(&b"a = 1\n"[..]));
        assert_eq!(memory.text(&[9; 20]), Some(&b""[..]));
        assert_eq!(memory.text(&[11; 20]), Some(&b"locals {}\n"[..]));
        assert_eq!(memory.text(&[4; 20]), None);
        assert!(Memory::read(some().to_bytes("ground"), "another", 20).is_none());
    }

    /// Even without the seal, which normally rejects damaged files, no bytes cause a panic.
    #[test]
    fn no_bytes_do_harm() {
        let whole = some().to_bytes("ground");
        let ask = |bytes: Vec<u8>, id_bytes: usize| {
            let memory = Memory::read(bytes, "ground", id_bytes).unwrap_or_default();
            let texts = (0..40_u8).filter_map(|it| memory.text(&[it; 20])).map(<[u8]>::len);
            (texts.sum::<usize>(), (0..40_u8).filter_map(|it| memory.look(&[it; 20], [it % 3, 1])).count())
        };
        assert_eq!(ask(whole.clone(), 20), (16, 40));
        assert_eq!(ask(whole.clone(), 32).1, 0);
        for end in 0..whole.len() {
            let (texts, looks) = ask(whole[..end].to_vec(), 20);
            assert!(texts <= 16 && looks <= 40, "{end} bytes");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xFF;
            let (texts, looks) = ask(damaged, 20);
            assert!(texts <= 3 * whole.len() && looks <= 40, "byte {at}");
        }
    }

    #[test]
    fn names_are_bytes() {
        assert_eq!(id_of("00ff1A"), Some(vec![0, 255, 26]));
        assert_eq!((id_of("0"), id_of("0g")), (None, None));
    }
}
