//! Go's template language, with the functions that Helm gives it, over values that know where they were written and that
//! need not be known.
//!
//! Follows `text/template` of Go, sprig 3 and the functions of Helm 3. What comes out is what `helm` would write, byte for
//! byte, where everything is known. What is not known (chance, time, what a cluster would say) becomes a hole with its cause,
//! and what depends on it as little as possible. Each piece of the output leads back to where it was written.
//!
//! Refused: what Go refuses, in Go's words. Every template is hostile: steps, bytes and depth are limited, and what would
//! take more fails.
//!
//! Judged by helm: each line of `tests/charts/cases.txt` beside what helm made of it (`tests/charts/expect.py` asks again),
//! random templates (`tests/corpus/templates.py`), and charts of checkouts (`tests/corpus/charts.py`).
//!
//! No crate does it: the ports of `text/template` and of sprig (gtmpl, go-template, sprig) have no places for what they print,
//! no values that are not known, no limits, and none of the functions that Helm adds.

mod compare;
mod evaluate;
mod failure;
mod functions;
mod lexer;
mod numbers;
mod parser;
mod print;
mod read_yaml;
mod syntax;
mod text;
mod value;
mod write_yaml;

pub(crate) use evaluate::{Evaluator, Templates, Undecided, define};
pub(crate) use failure::TemplateFailure;
pub(crate) use functions::{copied, fulfils, is_known as is_function};
pub(crate) use parser::parse;
pub(crate) use read_yaml::{of_node, scalar};
pub(crate) use text::{Cause, Hole, Text, TextOrigin, TextWriter};
pub(crate) use value::{GoValue, Heap, Kind, Map, MapEntries, MapEntry, Object};
pub(crate) use write_yaml::write as to_yaml;
