//! Converts the objects of resources in Bicep to trees of keys and values, so that they can be edited.

use std::collections::HashMap;
use std::sync::Arc;

use crate::languages::yaml::{Node, NodeEntry};
use crate::source::{FileId, Span};

use super::bicep;
use super::model::DeclaredResource;
use super::syntax::{AzureExpr, AzureKind};

/// The resources of a Bicep file as written.
pub(crate) struct WrittenResources {
    /// The type and the object of each resource, by its place.
    pub(crate) by_place: HashMap<Span, (Arc<str>, Node)>,
    /// The places of the comments in the file.
    pub(crate) comments: Vec<Span>,
}

/// Returns the objects of all resources. Functions and conditions are scalars without content.
pub(crate) fn written_resources(file: FileId, text: &str) -> WrittenResources {
    let parsed = bicep::read(file, text);
    let mut by_place = HashMap::new();
    let mut open: Vec<&DeclaredResource> = parsed.template.resources.iter().map(AsRef::as_ref).collect();
    while let Some(declared) = open.pop() {
        by_place.insert(declared.span, (declared.kind.clone(), tree(&declared.body)));
        open.extend(declared.inner.iter().map(AsRef::as_ref));
    }
    WrittenResources { by_place, comments: parsed.comments }
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
