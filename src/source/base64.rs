//! Bytes as letters, for the rooms whose languages know base64. Padding and what may stand between is their own matter.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};

/// Bits behind the last byte may be anything, as in Go.
const DIGITS: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

/// With padding.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of digits without padding; none where something else stands among them.
pub fn from_base64(digits: impl IntoIterator<Item = u8>) -> Option<Vec<u8>> {
    DIGITS.decode(digits.into_iter().collect::<Vec<u8>>()).ok()
}
