//! Go's template language with Helm's functions, over values that have their origin and may be unknown.
//!
//! Follows `text/template` of Go, sprig 3 and the functions of Helm 3. If everything is known, the output equals that
//! of `helm` byte for byte. An unknown value (random values, time, data of a cluster) becomes a hole with its cause,
//! and affects as little as possible. Each piece of the output leads to its place in the files.
//!
//! It refuses whatever Go refuses, with Go's messages. Every template may be hostile: steps, bytes and depth are
//! limited, and a template that exceeds a limit fails.
//!
//! Tested against helm: each line of `tests/charts/cases.txt` with helm's result (`tests/charts/expect.py` updates it),
//! random templates (`tests/corpus/templates.py`), and charts of checkouts (`tests/corpus/charts.py`).
//!
//! No crate does this: the ports of `text/template` and of sprig (gtmpl, go-template, sprig) have no places in their
//! output, no unknown values, no limits, and none of Helm's functions.

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

pub(crate) use evaluate::{TemplateEvaluator, TemplatesByName, UnknownCondition, define};
pub(crate) use failure::TemplateFailure;
pub(crate) use functions::{copied, fulfils, is_known as is_function};
pub(crate) use parser::parse;
pub(crate) use read_yaml::{of_node, scalar};
pub(crate) use text::{TemplateCause, Text, TextOrigin, TextWriter, UnknownPart};
pub(crate) use value::{GoKind, GoMap, GoValue, Heap, MapEntries, MapEntry, TemplateObject};
pub(crate) use write_yaml::write as to_yaml;
