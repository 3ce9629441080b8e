//! CEL, the expression language of rule files, in the dialect of Kubernetes admission policies.
//!
//! An expression is parsed, checked against a vocabulary and lowered once; the program is evaluated many times. An
//! evaluation reads facts through a `Host`, which may also add functions, and has a budget. This module knows no
//! resource, no price and no rule.
//!
//! Two values are additions to CEL. `Unknown` is a fact that is set but cannot be determined. It follows CEL's own
//! logic (`false && unknown` is false) and carries its cause. `Absent` is a value that is not set. It behaves as a null
//! that never fails: it equals only null, every test of it is false, and a result computed from it is absent.
//!
//! Refused at compile time: undeclared names and functions, incompatible types, expressions above 4 KiB, and nesting
//! deeper than 64.
//!
//! Tested with the conformance tests of the language (github.com/google/cel-spec). `tests/conformance.rs` lists the
//! excluded ones with the reason.
//!
//! The cel crate has no budget (324 characters allocate 220 MB), overflows a stack of 2 MB at 5,000 operators, and has
//! no unknown facts.

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
mod server;
mod syntax;
#[cfg(test)]
mod tests;
mod time;
mod types;
mod value;
mod version;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use budget::CelBudget;
pub(crate) use check::{ExpressionScope, NameLiteral, NameUse, ScopeVariable, VariableMeaning, never, same};
pub(crate) use compare::Comparison;
pub(crate) use eval::{CelHost, Evaluation, Read};
pub(crate) use functions::{
    ArgumentForm, CelOverload, Gives, function, method, method_of_host, of_host, pattern, wrong,
};
pub(crate) use map::{CelMap, MapKey};
pub(crate) use nearest::{nearest, slip_of};
pub(crate) use operators::Fault;
pub use server::Kubernetes;
pub(crate) use server::{ServerNames, ServerRecord, ServerScope, ServerValue};
pub(crate) use types::{CelType, RecordSchema, SchemaField};
pub(crate) use value::{CelValue, Handle, UnknownSubject, UnknownValue};

/// The size limit: expressions are conditions, not programs.
pub(crate) const MAX_BYTES: usize = 4096;

/// The limit on nesting. It is far above real expressions, and far below the capacity of a 2 MB stack.
pub(crate) const MAX_DEPTH: usize = 64;

/// A mistake in an expression, with its byte range.
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

/// A checked expression, ready for evaluation.
#[derive(Debug)]
pub(crate) struct Program {
    node: program::ProgramNode,
    pub(crate) result: CelType,
    written: syntax::Expr,
    /// Literal names that are compared with facts or passed to host functions.
    pub(crate) said: Vec<NameLiteral>,
}

impl Program {
    pub(crate) fn compile(text: &str, scope: &ExpressionScope<'_>) -> Result<Program, Problem> {
        let expression = parser::parse(text)?;
        let (node, result, said) = check::lower(&expression, scope, text)?;
        Ok(Program { node, result, written: expression, said })
    }

    /// Returns the paths that it uses: `object.spec.replicas` has three names.
    pub(crate) fn names(&self) -> Vec<Vec<Arc<str>>> {
        let mut names = Vec::new();
        syntax::names(&self.written, &mut names);
        names
    }

    /// Makes the program return a number if its result is a record that has one.
    #[must_use]
    pub(crate) fn into_number(self) -> Program {
        let Program { node, result, written, said } = self;
        let (node, result) = check::as_number(node, result);
        Program { node, result, written, said }
    }

    /// Returns the condition for a Kubernetes API server, or why it cannot be translated.
    pub(crate) fn in_kubernetes(&self, scope: &ServerScope<'_>) -> Result<String, String> {
        admission::Translation::new(scope).condition(&self.written)
    }

    /// Returns the expression as a string in a message of the API server.
    pub(crate) fn text_in_kubernetes(&self, scope: &ServerScope<'_>) -> Result<String, String> {
        admission::Translation::new(scope).text(&self.written)
    }

    /// Returns the conjuncts that compare a fact with literals.
    pub(crate) fn comparisons(&self) -> Vec<Comparison> {
        compare::comparisons(&self.written)
    }

    /// Returns the operands of every `&&` and `||`, with the value that leaves the others unchanged.
    pub(crate) fn operands(&self) -> Vec<(Range<usize>, bool)> {
        let mut all = Vec::new();
        syntax::operands(&self.written, &mut all);
        all
    }

    /// Returns the parts that decide the result, with their values. If only `b` of `a && b` is false, the part is `b`.
    pub(crate) fn deciding(&self, host: &dyn CelHost, budget: &CelBudget) -> Vec<(Range<usize>, CelValue)> {
        eval::deciding(&self.node, host, budget)
    }

    pub(crate) fn evaluate(&self, host: &dyn CelHost, budget: &mut CelBudget) -> Evaluation {
        eval::evaluate(&self.node, host, budget)
    }
}

/// Returns the names in `a.b['c'][0]`; an error if it is not a path.
pub(crate) fn path(text: &str) -> Result<Vec<Arc<str>>, Problem> {
    let expression = parser::parse(text)?;
    syntax::path(&expression).ok_or_else(|| {
        Problem::new(0..text.len(), "this is not a path")
            .with_help("write a path of names: `object.metadata.labels['a/b']`")
    })
}

/// Formats a string as a literal.
pub(crate) fn quoted(text: &str) -> String {
    admission::quoted(text)
}

/// Formats a value as a literal; `None` if it has none.
pub(crate) fn literal(value: &CelValue) -> Option<String> {
    admission::literal(value).ok()
}

/// Converts a date such as `2026-11-21` to a point in time.
pub(crate) fn midnight(day: &str) -> Option<CelValue> {
    time::Timestamp::parse(day).map(CelValue::Timestamp)
}

/// Returns the signature and meaning of every function, including those that a host adds.
pub(crate) fn callable(added: &'static [CelOverload]) -> Vec<(String, &'static str)> {
    let functions = functions::all(added).map(|function| (function.signature().replace('`', ""), function.meaning));
    let macros = functions::MACROS.iter().filter_map(|(_, text)| text.split_once(": "));
    functions.chain(macros.map(|(form, meaning)| (form.to_owned(), meaning))).collect()
}
