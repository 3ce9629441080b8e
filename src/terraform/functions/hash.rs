//! Implements checksums of strings and files: MD5, SHA-1, SHA-256 and SHA-512.

use crate::languages::hcl::value::{Cause, HclValue};
use crate::source::{join, sha1, sha256, sha512, to_base64, to_hex as hex};

use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("base64sha256", 1..=1, |a| a.answer(to_base64(&sha256(a.text(0)?.as_bytes())))),
    ("base64sha512", 1..=1, |a| a.answer(to_base64(&sha512(a.text(0)?.as_bytes())))),
    ("filebase64", 1..=1, |a| a.answer(to_base64(&bytes(a)?))),
    ("filebase64sha256", 1..=1, |a| a.answer(to_base64(&sha256(&bytes(a)?)))),
    ("filebase64sha512", 1..=1, |a| a.answer(to_base64(&sha512(&bytes(a)?)))),
    ("filemd5", 1..=1, |a| a.answer(hex(&md5(&bytes(a)?)))),
    ("filesha1", 1..=1, |a| a.answer(hex(&sha1(&bytes(a)?)))),
    ("filesha256", 1..=1, |a| a.answer(hex(&sha256(&bytes(a)?)))),
    ("filesha512", 1..=1, |a| a.answer(hex(&sha512(&bytes(a)?)))),
    ("md5", 1..=1, |a| a.answer(hex(&md5(a.text(0)?.as_bytes())))),
    ("sha1", 1..=1, |a| a.answer(hex(&sha1(a.text(0)?.as_bytes())))),
    ("sha256", 1..=1, |a| a.answer(hex(&sha256(a.text(0)?.as_bytes())))),
    ("sha512", 1..=1, |a| a.answer(hex(&sha512(a.text(0)?.as_bytes())))),
    ("uuidv5", 2..=2, uuid_v5),
];

/// Returns the bytes of a file of the tree.
fn bytes(a: &CallArguments<'_>) -> Result<Vec<u8>, FunctionFailure> {
    let path = a.text(0)?;
    let full = if path.starts_with(['/', '~']) { None } else { join(&a.evaluator.root, &path) };
    let Some(full) = full else {
        let why = format!("{path} is outside the files that gpulint reads");
        return Err(FunctionFailure::Unknown(Cause::new(why, a.span).into()));
    };
    let bytes =
        a.evaluator.sources.tree().read(&full).map_err(|error| FunctionFailure::Refused(format!("{path}: {error}")))?;
    a.evaluator.budget.spend_bytes(bytes.len())?;
    Ok(bytes)
}

fn uuid_v5(a: &CallArguments<'_>) -> FunctionResult {
    let namespace = match &*a.text(0)? {
        "dns" => "6ba7b810-9dad-11d1-80b4-00c04fd430c8".to_owned(),
        "url" => "6ba7b811-9dad-11d1-80b4-00c04fd430c8".to_owned(),
        "oid" => "6ba7b812-9dad-11d1-80b4-00c04fd430c8".to_owned(),
        "x500" => "6ba7b814-9dad-11d1-80b4-00c04fd430c8".to_owned(),
        other => other.to_owned(),
    };
    let namespace = namespace.strip_prefix("urn:uuid:").unwrap_or(&namespace);
    let namespace = namespace.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(namespace);
    let digits: String = namespace.chars().filter(|c| *c != '-').collect();
    let mut input: Vec<u8> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect::<Option<Vec<u8>>>()
        .filter(|bytes| bytes.len() == 16)
        .ok_or("the namespace is not a UUID")?;
    input.extend_from_slice(a.text(1)?.as_bytes());
    let mut uuid = sha1(&input);
    uuid.truncate(16);
    uuid[6] = uuid[6] & 0x0f | 0x50;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    let text = hex(&uuid);
    let parts = [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]];
    Ok(HclValue::text(parts.join("-"), a.span))
}

/// Computes MD5, which no linked library contains.
fn md5(message: &[u8]) -> Vec<u8> {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    // The padded message consists of the message, a one bit, zeros, and the length in bits at the end of the last
    // block.
    let end = (message.len() + 9).next_multiple_of(64);
    let mut padded = [message, &[0x80]].concat();
    padded.resize(end - 8, 0);
    padded.extend_from_slice(&(message.len() as u64 * 8).to_le_bytes());
    for block in padded.chunks_exact(64) {
        let words: Vec<u32> = block.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64usize {
            let (mix, word) = match i / 16 {
                0 => (b & c | !b & d, i),
                1 => (d & b | !d & c, (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let constant = (f64::sin(i as f64 + 1.0).abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mix).wrapping_add(constant).wrapping_add(words[word]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (part, value) in state.iter_mut().zip([a, b, c, d]) {
            *part = part.wrapping_add(value);
        }
    }
    state.iter().flat_map(|part| part.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected sums are the output of `md5sum`, `sha1sum`, `sha256sum` and `sha512sum`.
    #[test]
    fn sums_are_those_of_coreutils() {
        assert_eq!(hex(&md5(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(&md5(b"gpulint")), MD5);
        assert_eq!(hex(&sha1(b"gpulint")), SHA1);
        assert_eq!(hex(&sha256(b"gpulint")), SHA256);
        assert_eq!(hex(&sha512(b"gpulint")), SHA512);
        let long = "gpulint ".repeat(100);
        assert_eq!(hex(&sha256(long.as_bytes())), SHA256_LONG);
    }

    const MD5: &str = "4464000d8550e57fb7f5bcfd0d2044f8";
    const SHA1: &str = "ff40b160253af12cc41616601eed032b64d19750";
    const SHA256: &str = "280b0b8c992c0cbfd197f60bc9301b710b65a79bce3e81d26b9889e9f7f4efe5";
    const SHA512: &str = concat!(
        "f7ef3a072ea9f757b954eb1b382efaa3f975d55cb979ea8962a8a216956377bd",
        "f45a7ece2920efff48ff4955b2e956839a07690feb6a608f5045776fe9309ded"
    );
    const SHA256_LONG: &str = "389403ba15e54af16ee64c2855bede217e442e919647627579a30823a5937b72";
}
