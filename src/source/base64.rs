//! Encodes and decodes base64 for the language modules. Callers handle padding and characters between the digits.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};

/// As in Go, the bits after the last byte are ignored.
const DIGITS: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

/// Encodes with padding.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes digits without padding; `None` if other characters are among them.
pub fn from_base64(digits: impl IntoIterator<Item = u8>) -> Option<Vec<u8>> {
    DIGITS.decode(digits.into_iter().collect::<Vec<u8>>()).ok()
}
