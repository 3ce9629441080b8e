//! What a deployment declares, whether a template or Bicep says it.

use std::sync::Arc;

use crate::source::Span;

use super::syntax::{AzureExpr, AzureLoop};

/// A template or a file of Bicep as it is written.
#[derive(Debug, Clone)]
pub(crate) struct AzureTemplate {
    pub(super) parameters: Vec<DeclaredParameter>,
    pub(super) variables: Vec<NamedExpr>,
    /// Functions of one's own, with the names of what they are given.
    pub(super) functions: Vec<DeclaredFunction>,
    pub(super) resources: Vec<Arc<DeclaredResource>>,
    pub(super) outputs: Vec<NamedExpr>,
    pub(super) span: Span,
}

#[derive(Debug, Clone)]
pub(super) struct NamedExpr {
    pub(super) name: Arc<str>,
    pub(super) value: AzureExpr,
}

#[derive(Debug, Clone)]
pub(super) struct DeclaredParameter {
    pub(super) name: Arc<str>,
    pub(super) default: Option<AzureExpr>,
    pub(super) allowed: Option<AzureExpr>,
    pub(super) is_secret: bool,
    /// It need not have a value.
    pub(super) is_nullable: bool,
}

#[derive(Debug, Clone)]
pub(super) struct DeclaredFunction {
    /// In small letters, with the namespace.
    pub(super) name: Arc<str>,
    pub(super) parameters: Vec<Arc<str>>,
    pub(super) body: AzureExpr,
}

#[derive(Debug, Clone)]
pub(super) struct DeclaredResource {
    /// What the text itself calls it.
    pub(super) symbol: Option<Arc<str>>,
    pub(super) head: Span,
    pub(super) span: Span,
    /// `Microsoft.Compute/virtualMachines`
    pub(super) kind: Arc<str>,
    /// What it says of itself: name, location, properties.
    pub(super) body: AzureExpr,
    pub(super) turns: Option<Arc<AzureLoop>>,
    pub(super) condition: Option<AzureExpr>,
    /// Somebody else made it.
    pub(super) is_existing: bool,
    /// The name of the resource that it belongs to.
    pub(super) parent: Option<AzureExpr>,
    /// Those that stand inside of it.
    pub(super) inner: Vec<Arc<DeclaredResource>>,
    /// It is a deployment of its own.
    pub(super) deployed: Option<Deployed>,
}

/// What a deployment inside another one deploys.
#[derive(Debug, Clone)]
pub(super) enum Deployed {
    /// Its expressions mean what they mean around it.
    AsPart(Arc<AzureTemplate>),
    Apart(Arc<AzureTemplate>),
    /// It lies elsewhere.
    Elsewhere(AzureExpr),
}

impl AzureTemplate {
    /// The names of its parameters, with whether each has a value of its own.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, bool)> {
        self.parameters.iter().map(|it| (&*it.name, it.default.is_some() || it.is_nullable))
    }

    pub(crate) fn span(&self) -> Span {
        self.span
    }
}
