//! Defines a program: an expression with resolved names and types.

use std::ops::Range;
use std::sync::Arc;

use super::functions::CelOverload;
use super::macros::MacroWalk;
use super::syntax::Operator;
use super::value::CelValue;
use crate::source::AdaptiveRegex;

/// A node of the program.
#[derive(Debug)]
pub(super) struct ProgramNode {
    pub(super) what: ExprNode,
    pub(super) at: Range<usize>,
}

#[derive(Debug)]
pub(super) enum ExprNode {
    Constant(CelValue),
    Variable(usize),
    /// Variable of a macro, counted from the outermost.
    Local(usize),
    /// Field of a record, by its index in the schema.
    Field(Box<ProgramNode>, usize),
    Select(Box<ProgramNode>, Arc<str>, Lookup),
    Index(Box<ProgramNode>, Box<ProgramNode>, Lookup),
    Call(Box<[&'static CelOverload]>, Box<[ProgramNode]>),
    /// `matches` with a literal pattern.
    Matches(Box<ProgramNode>, Box<AdaptiveRegex>),
    List(Box<[(ProgramNode, bool)]>),
    Map(Box<[(ProgramNode, ProgramNode, bool)]>),
    Not(Box<ProgramNode>),
    Negative(Box<ProgramNode>),
    Binary(Operator, Box<(ProgramNode, ProgramNode)>),
    And(Box<[ProgramNode]>),
    Or(Box<[ProgramNode]>),
    Conditional(Box<(ProgramNode, ProgramNode, ProgramNode)>),
    Has(Box<ProgramNode>),
    Known(Box<ProgramNode>),
    /// List of all candidates of a value.
    Possible(Box<ProgramNode>),
    Walk(Box<MacroWalk>),
    /// Local name for a value, and the expression that uses it.
    Bind(Box<(ProgramNode, ProgramNode)>),
    /// Maps the value of an optional; the flag is true if the result is an optional itself.
    OfOptional(Box<(ProgramNode, ProgramNode)>, bool),
}

/// Behavior for a missing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    Must,
    /// `.?`: returns an optional.
    May,
}
