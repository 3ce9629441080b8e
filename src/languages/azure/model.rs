//! Defines declarations of a deployment, from a template or a Bicep file.

use std::sync::Arc;

use crate::languages::yaml::Node;
use crate::source::Span;

use super::syntax::{AzureExpr, AzureLoop};

/// A template or a Bicep file as written.
#[derive(Debug, Clone)]
pub(crate) struct AzureTemplate {
    pub(super) parameters: Vec<DeclaredParameter>,
    pub(super) variables: Vec<NamedExpr>,
    /// User-defined functions, with the names of their parameters.
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
    /// Whether the parameter may be null.
    pub(super) is_nullable: bool,
}

#[derive(Debug, Clone)]
pub(super) struct DeclaredFunction {
    /// Lower-case name with its namespace.
    pub(super) name: Arc<str>,
    pub(super) parameters: Vec<Arc<str>>,
    pub(super) body: AzureExpr,
}

#[derive(Debug, Clone)]
pub(super) struct DeclaredResource {
    /// Symbolic name in the file.
    pub(super) symbol: Option<Arc<str>>,
    pub(super) head: Span,
    pub(super) span: Span,
    /// The type of the resource: `Microsoft.Compute/virtualMachines`.
    pub(super) kind: Arc<str>,
    /// The object of the resource: name, location, properties.
    pub(super) body: AzureExpr,
    pub(super) turns: Option<Arc<AzureLoop>>,
    pub(super) condition: Option<AzureExpr>,
    /// Whether the resource already exists and is not created here.
    pub(super) is_existing: bool,
    /// The name of the parent resource.
    pub(super) parent: Option<AzureExpr>,
    /// Nested resources.
    pub(super) inner: Vec<Arc<DeclaredResource>>,
    /// The nested deployment, if the resource is one.
    pub(super) deployed: Option<NestedDeployment>,
}

/// The template of a nested deployment.
#[derive(Debug, Clone)]
pub(super) enum NestedDeployment {
    /// Inline template whose expressions are evaluated in the outer scope.
    AsPart(Arc<AzureTemplate>),
    Apart(Arc<AzureTemplate>),
    /// The location of a linked template.
    Elsewhere(AzureExpr),
}

impl AzureTemplate {
    /// Returns its resources as they are written: type and object. Values of expressions are unknown.
    pub(crate) fn declared(&self) -> Vec<(String, Node)> {
        let mut found = Vec::new();
        self.resources.iter().for_each(|resource| resource.declared("", &mut found));
        found
    }

    /// Returns the names of its parameters, with whether each has a default.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, bool)> {
        self.parameters.iter().map(|it| (&*it.name, it.default.is_some() || it.is_nullable))
    }

    pub(crate) fn span(&self) -> Span {
        self.span
    }
}

impl DeclaredResource {
    fn declared(&self, above: &str, found: &mut Vec<(String, Node)>) {
        let is_inner = !above.is_empty() && !self.kind.contains('.');
        let kind = if is_inner { format!("{above}/{}", self.kind) } else { self.kind.to_string() };
        self.inner.iter().for_each(|inner| inner.declared(&kind, found));
        if !self.is_existing {
            found.push((kind, self.body.written()));
        }
    }
}
