//! Defines the expressions of templates and of Bicep, which have the same form. A Bicep operator is a call of the
//! corresponding function.

use std::sync::Arc;

use crate::languages::hcl::value::HclNumber;
use crate::languages::yaml::{HOLE, Node, NodeEntry};
use crate::source::Span;

/// An expression with its place.
#[derive(Debug, Clone)]
pub(super) struct AzureExpr {
    pub(super) span: Span,
    pub(super) kind: AzureKind,
}

#[derive(Debug, Clone)]
pub(super) enum AzureKind {
    Null,
    Bool(bool),
    Number(HclNumber),
    Text(Arc<str>),
    /// String with interpolations.
    Filled(Vec<AzureExpr>),
    List(Vec<AzureExpr>),
    Object(Vec<AzureEntry>),
    /// Members of another list or object, spread into this one.
    Spread(Box<AzureExpr>),
    /// Call of a function by its lower-case name; a user-defined function has its namespace.
    Call(Arc<str>, Vec<AzureExpr>),
    /// The name in Bicep: a parameter, a variable, a resource.
    Name(Arc<str>),
    /// Access by key or index; the flag allows a missing member.
    At(Box<AzureExpr>, Box<AzureExpr>, bool),
    Lambda(Vec<Arc<str>>, Arc<AzureExpr>),
    Loop(Arc<AzureLoop>, Box<AzureExpr>),
    /// Syntax error with its message.
    Refused(String),
}

#[derive(Debug, Clone)]
pub(super) struct AzureEntry {
    pub(super) key: AzureExpr,
    pub(super) value: AzureExpr,
}

/// A loop.
#[derive(Debug, Clone)]
pub(super) struct AzureLoop {
    /// The name of the loop for `copyIndex`.
    pub(super) name: Option<Arc<str>>,
    pub(super) item: Option<Arc<str>>,
    pub(super) index: Option<Arc<str>>,
    /// List, or number of iterations.
    pub(super) over: AzureExpr,
    /// The condition of each iteration; an iteration that does not meet it creates nothing.
    pub(super) filter: Option<AzureExpr>,
}

impl AzureExpr {
    /// Returns the value as it is written. What an expression computes is unknown.
    pub(super) fn written(&self) -> Node {
        let span = self.span;
        match &self.kind {
            AzureKind::Null => Node::scalar(span, "null", true),
            AzureKind::Bool(flag) => Node::scalar(span, flag.to_string(), true),
            AzureKind::Number(number) => Node::scalar(span, number.to_string(), true),
            AzureKind::Text(text) => Node::scalar(span, text.clone(), false),
            AzureKind::List(items) => Node::list(span, items.iter().map(AzureExpr::written)),
            AzureKind::Object(entries) => {
                let entry = |(at, it): (usize, &AzureEntry)| NodeEntry {
                    key: match &it.key.kind {
                        AzureKind::Text(text) | AzureKind::Name(text) => text.clone(),
                        _ => format!("{HOLE}{at}").into(),
                    },
                    key_span: it.key.span,
                    value: it.value.written(),
                };
                Node::map(span, entries.iter().enumerate().map(entry))
            }
            _ => Node::scalar(span, HOLE.to_string(), false),
        }
    }

    pub(super) fn new(span: Span, kind: AzureKind) -> Self {
        AzureExpr { span, kind }
    }

    pub(super) fn text(span: Span, text: impl Into<Arc<str>>) -> Self {
        AzureExpr { span, kind: AzureKind::Text(text.into()) }
    }

    pub(super) fn call(span: Span, name: &str, arguments: Vec<AzureExpr>) -> Self {
        AzureExpr { span, kind: AzureKind::Call(name.into(), arguments) }
    }

    pub(super) fn as_text(&self) -> Option<&Arc<str>> {
        match &self.kind {
            AzureKind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn entries(&self) -> &[AzureEntry] {
        match &self.kind {
            AzureKind::Object(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the value at a key, which Azure compares regardless of case.
    pub(super) fn get(&self, name: &str) -> Option<&AzureExpr> {
        let named = |entry: &&AzureEntry| entry.key.as_text().is_some_and(|key| key.eq_ignore_ascii_case(name));
        self.entries().iter().find(named).map(|entry| &entry.value)
    }
}
