//! Checksums of the family SHA.

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA512, digest};

/// As two digits a byte.
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
