//! Behavior that programs share because they are written in Go: string quoting, the verbs of `printf`, and times and
//! durations.
//!
//! Follows `strconv`, `encoding/json`, `fmt` and `time`, as far as Terraform, helm, kustomize and CEL need them. It
//! refuses whatever Go refuses. The tests of these programs cover it: `tests/charts`, `tests/terraform`, and the
//! conformance tests of CEL.
//!
//! No crate does this: crates for dates and formats follow Rust.

mod quote;
mod time;
mod verb;

pub(crate) use quote::{escape, json, quoted, unquoted};
pub(crate) use time::{Civil, Moment, NANOS, duration, offset};
pub(crate) use verb::{PrintVerb, WIDEST, digits, radix, scientific};
