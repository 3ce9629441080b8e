//! What is evaluated: an expression whose names have been found and whose types are known.

use std::ops::Range;
use std::sync::Arc;

use super::functions::Function;
use super::macros::Walk;
use super::syntax::Operator;
use super::value::CelValue;
use crate::source::AdaptiveRegex;

/// What is evaluated.
#[derive(Debug)]
pub(super) struct ProgramNode {
    pub(super) what: What,
    pub(super) at: Range<usize>,
}

#[derive(Debug)]
pub(super) enum What {
    Constant(CelValue),
    Variable(usize),
    /// A variable of a macro, counted from the outermost.
    Local(usize),
    /// A field of a record, by its place in the schema.
    Field(Box<ProgramNode>, usize),
    Select(Box<ProgramNode>, Arc<str>, Lookup),
    Index(Box<ProgramNode>, Box<ProgramNode>, Lookup),
    Call(Box<[&'static Function]>, Box<[ProgramNode]>),
    /// `matches` with a pattern that is written out.
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
    /// Everything that a value may be.
    Possible(Box<ProgramNode>),
    Walk(Box<Walk>),
    /// A value that a local name stands for, and where.
    Bind(Box<(ProgramNode, ProgramNode)>),
    /// What is made of the value of an optional, where it has one; true where that is an optional itself.
    OfOptional(Box<(ProgramNode, ProgramNode)>, bool),
}

/// What to do where there is no such key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    Must,
    /// `.?`: an optional.
    May,
}
