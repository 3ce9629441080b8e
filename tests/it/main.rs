//! The boundaries of the program, one module each.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod kubernetes;
