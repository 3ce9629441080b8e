//! Computes SHA checksums.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA512, digest};

/// Formats two hexadecimal digits for each byte.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]).collect()
}

pub(crate) fn sha1(message: &[u8]) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, message).as_ref().to_vec()
}

pub fn sha256(message: &[u8]) -> Vec<u8> {
    digest(&SHA256, message).as_ref().to_vec()
}

pub fn sha512(message: &[u8]) -> Vec<u8> {
    digest(&SHA512, message).as_ref().to_vec()
}

/// Returns git's object hash of a text: SHA-256 in repositories that use it, else SHA-1.
pub(crate) fn blob_digest(text: &[u8], is_long: bool) -> Vec<u8> {
    let mut context = Context::new(if is_long { &SHA256 } else { &SHA1_FOR_LEGACY_USE_ONLY });
    context.update(format!("blob {}\0", text.len()).as_bytes());
    context.update(text);
    context.finish().as_ref().to_vec()
}
