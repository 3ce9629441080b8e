//! Go's template language, with the functions that Helm gives it, over values that know where they were written and that
//! need not be known.
//!
//! What comes out is what `helm` would write, byte for byte, where everything is known. What is not known (chance, time,
//! what a cluster would say) becomes a hole with its cause, and what depends on it as little as possible. Every template is
//! hostile: steps, bytes and depth are limited.

mod compare;
mod evaluate;
mod failure;
mod functions;
mod lexer;
mod numbers;
mod parser;
mod print;
mod quote;
mod read_yaml;
mod syntax;
mod text;
mod value;
mod write_yaml;

pub(crate) use evaluate::{Evaluator, Templates, Undecided, define};
pub(crate) use failure::Failure;
pub(crate) use functions::{copied, fulfils, is_known as is_function};
pub(crate) use parser::parse;
pub(crate) use read_yaml::{of_node, scalar};
pub(crate) use text::{Cause, Hole, Origin, Text, Writer};
pub(crate) use value::{Entries, Entry, Heap, Kind, Map, Object, Value};
pub(crate) use write_yaml::write as to_yaml;
