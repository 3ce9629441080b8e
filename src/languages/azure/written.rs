//! Converts the object of a resource in Bicep to a tree of keys and values, so that it can be edited.

use std::sync::Arc;

use crate::languages::yaml::{Node, NodeEntry};
use crate::source::{FileId, Span};

use super::bicep;
use super::model::DeclaredResource;
use super::syntax::{AzureExpr, AzureKind};

/// The object of a resource in a Bicep file.
pub(crate) struct WrittenResource {
    /// The type of the resource.
    pub(crate) kind: Arc<str>,
    pub(crate) object: Node,
    /// The places of the comments in the file.
    pub(crate) comments: Vec<Span>,
}

/// Returns the object of the Bicep resource at a place. Functions and conditions are scalars without content.
pub(crate) fn written_resource(file: FileId, text: &str, at: Span) -> Option<WrittenResource> {
    let parsed = bicep::read(file, text);
    let mut open: Vec<&DeclaredResource> = parsed.template.resources.iter().map(AsRef::as_ref).collect();
    while let Some(declared) = open.pop() {
        if declared.span == at {
            let kind = declared.kind.clone();
            return Some(WrittenResource { kind, object: tree(&declared.body), comments: parsed.comments });
        }
        open.extend(declared.inner.iter().map(AsRef::as_ref));
    }
    None
}

fn tree(expr: &AzureExpr) -> Node {
    match &expr.kind {
        AzureKind::Object(entries) => Node::map(
            expr.span,
            entries.iter().map(|entry| NodeEntry {
                key: entry.key.as_text().cloned().unwrap_or_default(),
                key_span: entry.key.span,
                value: tree(&entry.value),
            }),
        ),
        AzureKind::List(items) => Node::list(expr.span, items.iter().map(tree)),
        AzureKind::Text(text) => Node::scalar(expr.span, text.clone(), false),
        AzureKind::Number(number) => Node::scalar(expr.span, number.to_string(), true),
        AzureKind::Bool(flag) => Node::scalar(expr.span, flag.to_string(), true),
        _ => Node::scalar(expr.span, "", true),
    }
}
