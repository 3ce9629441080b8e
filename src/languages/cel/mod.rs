//! CEL, the expression language of rule pages, as Kubernetes admission policies speak it.
//!
//! Text is parsed, checked against a vocabulary and lowered once; the program is evaluated many times. An evaluation reads
//! facts through a `Host`, which may also add functions, and is bounded by a budget. It knows no resource, no price and no
//! page.
//!
//! Two values are ours. `Unknown` is a fact that the text has but that cannot be known: it follows CEL's own logic
//! (`false && unknown` is false) and carries its cause. `Absent` is what the text does not say: it behaves as null that
//! never fails: equal to nothing but null, every test of it is false, and what is computed from it is absent again.
//!
//! Refused when it is compiled: names and functions that nobody declared, types that do not go together, text of more than
//! 4 KiB, and what nests deeper than 64.
//!
//! Judged by the conformance tests of the language (github.com/google/cel-spec), with a list of what is left out and why in
//! `tests/conformance.rs`.
//!
//! The cel crate has no budget (324 characters allocate 220 MB), overflows a stack of 2 MB at 5,000 operators, and knows no
//! unknown facts.

mod address;
mod admission;
mod budget;
mod check;
mod compare;
mod eval;
mod format_names;
mod functions;
mod lexer;
mod literal;
mod location;
mod macros;
mod map;
mod nearest;
mod opaque;
mod operators;
mod parser;
mod program;
mod quantity;
mod syntax;
#[cfg(test)]
mod tests;
mod time;
mod types;
mod value;
mod version;

use std::ops::Range;
use std::sync::Arc;

pub use admission::Kubernetes;
pub(crate) use budget::CelBudget;
pub(crate) use check::{ExpressionScope, Said, SaidTo, ScopeVariable, VariableMeaning, never, same};
pub(crate) use compare::Comparison;
pub(crate) use eval::{CelHost, Evaluation, Read};
pub(crate) use functions::{Function, Gives, Takes, function, method, method_of_host, of_host, pattern, wrong};
pub(crate) use map::{Map, MapKey};
pub(crate) use nearest::{nearest, slip_of};
pub(crate) use operators::Fault;
pub(crate) use types::{RecordSchema, SchemaField, Type};
pub(crate) use value::{About, CelValue, Handle, UnknownValue};

/// Expressions are conditions, not programs.
pub(crate) const MAX_BYTES: usize = 4096;

/// Far above what people write, far below what a stack of 2 MB holds.
pub(crate) const MAX_DEPTH: usize = 64;

/// What is wrong with the text of an expression, and where: bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Problem { at, message: message.into(), help: None }
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// An expression that was checked and can be evaluated.
#[derive(Debug)]
pub(crate) struct Program {
    node: program::ProgramNode,
    pub(crate) result: Type,
    /// What it names, as far as names lead: `object.spec.replicas` is three.
    pub(crate) names: Vec<Vec<Arc<str>>>,
    written: syntax::Expr,
    /// The names that it writes out where a fact or a function of the host takes one.
    pub(crate) said: Vec<Said>,
}

impl Program {
    pub(crate) fn compile(text: &str, scope: &ExpressionScope<'_>) -> Result<Program, Problem> {
        let expression = parser::parse(text)?;
        let (node, result, said) = check::lower(&expression, scope, text)?;
        let mut names = Vec::new();
        syntax::names(&expression, &mut names);
        Ok(Program { node, result, names, written: expression, said })
    }

    /// Yields the number that a record stands for.
    #[must_use]
    pub(crate) fn into_number(self) -> Program {
        let Program { node, result, names, written, said } = self;
        let (node, result) = check::as_number(node, result);
        Program { node, result, names, written, said }
    }

    /// As a condition that a Kubernetes API server understands, or why there is none.
    pub(crate) fn in_kubernetes(&self, parameters: &Map, version: Kubernetes) -> Result<String, String> {
        admission::Translation::new(parameters, version).condition(&self.written)
    }

    /// As a text in a message of such a server.
    pub(crate) fn text_in_kubernetes(&self, parameters: &Map, version: Kubernetes) -> Result<String, String> {
        admission::Translation::new(parameters, version).text(&self.written)
    }

    /// The conjuncts that compare a fact with plain values.
    pub(crate) fn comparisons(&self) -> Vec<Comparison> {
        compare::comparisons(&self.written)
    }

    /// The operands of `&&` and `||` in it, wherever they stand, with the value that leaves the others as they are.
    pub(crate) fn operands(&self) -> Vec<(Range<usize>, bool)> {
        let mut all = Vec::new();
        syntax::operands(&self.written, &mut all);
        all
    }

    /// The parts that decide what it comes to, each with what that part comes to itself: of `a && b`, where only `b` is false,
    /// that is `b`.
    pub(crate) fn deciding(&self, host: &dyn CelHost, budget: &CelBudget) -> Vec<(Range<usize>, CelValue)> {
        eval::deciding(&self.node, host, budget)
    }

    pub(crate) fn evaluate(&self, host: &dyn CelHost, budget: &mut CelBudget) -> Evaluation {
        eval::evaluate(&self.node, host, budget)
    }
}

/// The names that `a.b['c'][0]` consists of; an error where it is more than a path.
pub(crate) fn path(text: &str) -> Result<Vec<Arc<str>>, Problem> {
    let expression = parser::parse(text)?;
    syntax::path(&expression).ok_or_else(|| {
        Problem::new(0..text.len(), "this is no path").with_help("write names: `object.metadata.labels['a/b']`")
    })
}

/// A text as a literal.
pub(crate) fn quoted(text: &str) -> String {
    admission::quoted(text)
}

/// A day such as `2026-11-21` as a point in time.
pub(crate) fn midnight(day: &str) -> Option<CelValue> {
    time::Timestamp::parse(day).map(CelValue::Timestamp)
}

/// What may be called, the functions that a host adds included: how it is written and what it means.
pub(crate) fn callable(added: &'static [Function]) -> Vec<(String, &'static str)> {
    let functions = functions::all(added).map(|function| (function.signature().replace('`', ""), function.meaning));
    let macros = functions::MACROS.iter().filter_map(|(_, text)| text.split_once(": "));
    functions.chain(macros.map(|(form, meaning)| (form.to_owned(), meaning))).collect()
}
