//! What is evaluated: an expression whose names have been found and whose types are known.

use std::ops::Range;
use std::sync::Arc;

use super::functions::Function;
use super::macros::Walk;
use super::syntax::Operator;
use super::value::Value;
use crate::source::Expression;

/// What is evaluated.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) at: Range<usize>,
}

#[derive(Debug)]
pub(super) enum What {
    Constant(Value),
    Variable(usize),
    /// A variable of a macro, counted from the outermost.
    Local(usize),
    /// A field of a record, by its place in the schema.
    Field(Box<Node>, usize),
    Select(Box<Node>, Arc<str>, Lookup),
    Index(Box<Node>, Box<Node>, Lookup),
    Call(Box<[&'static Function]>, Box<[Node]>),
    /// `matches` with a pattern that is written out.
    Matches(Box<Node>, Box<Expression>),
    List(Box<[(Node, bool)]>),
    Map(Box<[(Node, Node, bool)]>),
    Not(Box<Node>),
    Negative(Box<Node>),
    Binary(Operator, Box<(Node, Node)>),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    Conditional(Box<(Node, Node, Node)>),
    Has(Box<Node>),
    Known(Box<Node>),
    Walk(Box<Walk>),
    /// A value that a local name stands for, and where.
    Bind(Box<(Node, Node)>),
    /// What is made of the value of an optional, where it has one; true where that is an optional itself.
    OfOptional(Box<(Node, Node)>, bool),
}

/// What to do where there is no such key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    Must,
    /// `.?`: an optional.
    May,
}
