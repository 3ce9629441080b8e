use std::collections::BTreeMap;
use std::sync::Arc;

use crate::source::Span;

/// A value as Terraform knows it. Cloning is cheap: collections are shared.
#[derive(Debug, Clone)]
pub struct Value {
    pub data: Data,
    /// Where the value was written: the literal, not the reference that led to it.
    pub span: Span,
    pub sensitive: bool,
}

#[derive(Debug, Clone)]
pub enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(Arc<str>),
    List(Arc<Vec<Value>>),
    Set(Arc<Vec<Value>>),
    Tuple(Arc<Vec<Value>>),
    Map(Arc<BTreeMap<Arc<str>, Value>>),
    Object(Arc<BTreeMap<Arc<str>, Value>>),
    /// Not known, and why. Collections may hold unknown members; a whole that is unknown may have known bounds.
    Unknown(Arc<Cause>),
}

/// Why something is not known.
#[derive(Debug, Clone)]
pub struct Cause {
    /// Lower-case, without a full stop: "variable `size` has no value".
    pub why: String,
    pub span: Span,
    /// The values it can only be one of, such as both arms of a conditional whose condition is unknown.
    pub candidates: Vec<Value>,
}

/// A number of Terraform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);
