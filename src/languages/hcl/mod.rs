//! HCL as Terraform accepts it, as text or JSON: parses it to trees with places, and provides the values, types and
//! numbers of expressions.
//!
//! Follows Terraform 1.11, and OpenTofu where both agree: newlines in a `for` object, duplicate keys, byte order marks,
//! numbers of 512 bits, conversions between types, and values that are unknown, sensitive or partly known. The meaning
//! of blocks and calls is left to the evaluators.
//!
//! The parser never gives up on a file: it records the first error of an item and continues with the next one. It
//! refuses nesting beyond `syntax::NESTING_LIMIT`, and JSON with too many nodes.
//!
//! Tested against hcl-edit, which must agree on every file of a corpus (`tests/it/terraform/corpus.rs`). Also tested
//! against Terraform itself: expressions, each of its functions and random configurations (`tests/it/terraform`).
//!
//! hcl-rs refuses valid files, stops at the first error, needs 20 bytes for each byte and 96 s for an object of 100,000
//! keys. Its evaluator has no unknown values, loses places and panics on `1 % 0`.

pub(crate) mod budget;
pub(crate) mod convert;
pub(crate) mod number;
pub(crate) mod syntax;
pub(crate) mod types;
pub(crate) mod value;
