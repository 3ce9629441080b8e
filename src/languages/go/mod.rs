//! What programs have in common because they are written in Go: how text stands between quotes, the verbs of `printf`, and
//! moments and durations.
//!
//! Follows `strconv`, `encoding/json`, `fmt` and `time`, as far as Terraform, helm, kustomize and CEL show them. Refused: what
//! Go refuses. Judged where these programs are: `tests/charts`, `tests/terraform`, and the conformance tests of CEL.
//!
//! No crate does it: those for dates and formats follow Rust.

mod quote;
mod time;
mod verb;

pub(crate) use quote::{escape, json, quoted, unquoted};
pub(crate) use time::{Civil, Moment, NANOS, duration, offset};
pub(crate) use verb::{PrintVerb, WIDEST, digits, radix, scientific};
