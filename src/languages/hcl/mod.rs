//! HCL as Terraform accepts it: text, or its form in JSON → trees with places, and the values, types and numbers of
//! expressions.
//!
//! Follows Terraform 1.11 and OpenTofu where both agree: a newline in a `for` object, a key that is written twice, a mark of
//! byte order, numbers of 512 bits, conversions between types, and values that are not known, that are sensitive, or of
//! which only parts are known. What blocks and calls mean is for those who evaluate them.
//!
//! The parser never gives up on a file: it notes the first thing that it does not understand and goes on with the next item.
//! Refused: what nests deeper than `syntax::NESTING_LIMIT`, and JSON of too many nodes.
//!
//! Judged by hcl-edit, which must agree on every file of a corpus (`tests/it/terraform/corpus.rs`), and by Terraform itself:
//! expressions, each of its functions and random configurations (`tests/it/terraform`).
//!
//! hcl-rs refuses valid files, stops at the first error, takes 20 bytes for each byte and 96 s for an object of 100,000 keys;
//! its evaluator knows no unknown values, loses places and panics on `1 % 0`.

pub(crate) mod convert;
pub(crate) mod number;
pub(crate) mod syntax;
pub(crate) mod types;
pub(crate) mod value;
