//! Expressions of templates and of Bicep, which mean the same: operators of Bicep are calls of the functions that they stand for.

use std::sync::Arc;

use crate::languages::hcl::value::Number;
use crate::source::Span;

/// An expression and where it stands.
#[derive(Debug, Clone)]
pub(super) struct AzureExpr {
    pub(super) span: Span,
    pub(super) kind: AzureKind,
}

#[derive(Debug, Clone)]
pub(super) enum AzureKind {
    Null,
    Bool(bool),
    Number(Number),
    Text(Arc<str>),
    /// Texts and what is filled in between them.
    Filled(Vec<AzureExpr>),
    List(Vec<AzureExpr>),
    Object(Vec<AzureEntry>),
    /// Members of another list or object, among one's own.
    Spread(Box<AzureExpr>),
    /// A function by its name, in small letters and with its namespace where that is somebody's own.
    Call(Arc<str>, Vec<AzureExpr>),
    /// What Bicep calls so: a parameter, a variable, a resource.
    Name(Arc<str>),
    /// What stands at a key or a number; with whether nothing may stand there.
    At(Box<AzureExpr>, Box<AzureExpr>, bool),
    Lambda(Vec<Arc<str>>, Arc<AzureExpr>),
    Loop(Arc<AzureLoop>, Box<AzureExpr>),
    /// It does not parse, and why.
    Refused(String),
}

#[derive(Debug, Clone)]
pub(super) struct AzureEntry {
    pub(super) key: AzureExpr,
    pub(super) value: AzureExpr,
}

/// How often something is made.
#[derive(Debug, Clone)]
pub(super) struct AzureLoop {
    /// As `copyIndex` knows it.
    pub(super) name: Option<Arc<str>>,
    pub(super) item: Option<Arc<str>>,
    pub(super) index: Option<Arc<str>>,
    /// A list, or how many.
    pub(super) over: AzureExpr,
    /// What stands before each turn; a turn where that does not hold makes nothing.
    pub(super) filter: Option<AzureExpr>,
}

impl AzureExpr {
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

    /// What is written at a key, which Azure reads in any letters.
    pub(super) fn get(&self, name: &str) -> Option<&AzureExpr> {
        let named = |entry: &&AzureEntry| entry.key.as_text().is_some_and(|key| key.eq_ignore_ascii_case(name));
        self.entries().iter().find(named).map(|entry| &entry.value)
    }
}
