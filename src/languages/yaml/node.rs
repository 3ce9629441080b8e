//! The tree that a YAML or JSON document becomes: mappings, lists and scalars, each with its place.
//!
//! Scalars keep their text; what a plain one means is decided when it is asked for, as Kubernetes reads it (YAML 1.1).

use std::sync::Arc;

use crate::source::Span;

use super::scalar;

/// A node; cloning shares what lies below it.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub span: Span,
    pub data: NodeData,
    /// Nodes of this tree with all aliases followed, itself included.
    pub weight: u32,
}

#[derive(Debug, Clone)]
pub(crate) enum NodeData {
    Scalar { text: Arc<str>, plain: bool },
    List(Arc<[Node]>),
    Map(Arc<[NodeEntry]>),
}

#[derive(Debug, Clone)]
pub(crate) struct NodeEntry {
    pub key: Arc<str>,
    pub key_span: Span,
    pub value: Node,
}

impl NodeEntry {
    /// The key and its value; only the value where a template took it from elsewhere.
    pub(crate) fn span(&self) -> Span {
        if self.key_span.file == self.value.span.file { self.key_span.to(self.value.span) } else { self.value.span }
    }
}

impl Node {
    pub(crate) fn scalar(span: Span, text: impl Into<Arc<str>>, plain: bool) -> Self {
        Node { span, data: NodeData::Scalar { text: text.into(), plain }, weight: 1 }
    }

    pub(crate) fn list(span: Span, items: impl IntoIterator<Item = Node>) -> Self {
        let items: Arc<[Node]> = items.into_iter().collect();
        let weight = items.iter().fold(1u32, |sum, item| sum.saturating_add(item.weight));
        Node { span, data: NodeData::List(items), weight }
    }

    pub(crate) fn map(span: Span, entries: impl IntoIterator<Item = NodeEntry>) -> Self {
        let entries: Arc<[NodeEntry]> = entries.into_iter().collect();
        let weight = entries.iter().fold(1u32, |sum, entry| sum.saturating_add(entry.value.weight));
        Node { span, data: NodeData::Map(entries), weight }
    }

    /// A mapping of one key around a node.
    pub(crate) fn framed(key: &str, node: &Node) -> Self {
        Node::map(node.span, vec![NodeEntry { key: key.into(), key_span: node.span, value: node.clone() }])
    }

    pub(crate) fn entries(&self) -> &[NodeEntry] {
        match &self.data {
            NodeData::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Node] {
        match &self.data {
            NodeData::List(items) => items,
            _ => &[],
        }
    }

    /// The nodes directly inside: values of a mapping, items of a list.
    pub(crate) fn inner(&self) -> impl Iterator<Item = &Node> {
        self.entries().iter().map(|entry| &entry.value).chain(self.items())
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&NodeEntry> {
        self.entries().iter().find(|entry| &*entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value at a path of keys; a key that holds a dot cannot be reached this way.
    pub(crate) fn at(&self, path: &str) -> Option<&Node> {
        path.split('.').filter(|key| !key.is_empty()).try_fold(self, |node, key| node.get(key))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.data, NodeData::Scalar { .. }) && self.text().is_none()
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.data, NodeData::Map(_))
    }

    /// The text of a scalar as it is written, whatever it means; `None` for null and for collections.
    pub(crate) fn text(&self) -> Option<&Arc<str>> {
        match &self.data {
            NodeData::Scalar { text, plain } if !(*plain && scalar::is_null(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn text_at(&self, path: &str) -> Option<&Arc<str>> {
        self.at(path).and_then(Node::text)
    }

    /// A plain scalar that is a boolean.
    pub(crate) fn flag(&self) -> Option<bool> {
        match &self.data {
            NodeData::Scalar { text, plain: true } => scalar::boolean(text),
            _ => None,
        }
    }

    /// A number, quoted or not: real manifests quote a third of them.
    pub(crate) fn number(&self) -> Option<f64> {
        match &self.data {
            NodeData::Scalar { text, plain: true } => scalar::number(text),
            NodeData::Scalar { text, plain: false } => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
            _ => None,
        }
    }
}
