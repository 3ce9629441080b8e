//! Defines the tree of a YAML or JSON document: mappings, lists and scalars, each with its place.
//!
//! Scalars contain their text; the type of a plain one is determined on use, as Kubernetes does (YAML 1.1).

use std::sync::Arc;

use crate::source::Span;

use super::scalar;

/// A node; clones share its content.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub span: Span,
    pub data: NodeData,
    /// The number of nodes in this tree with all aliases resolved, including itself.
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
    /// Returns the place of key and value; only of the value if a template took it from elsewhere.
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

    /// Returns a mapping with one key for a node.
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

    /// Returns the direct children: values of a mapping, items of a list.
    pub(crate) fn inner(&self) -> impl Iterator<Item = &Node> {
        self.entries().iter().map(|entry| &entry.value).chain(self.items())
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&NodeEntry> {
        self.entries().iter().find(|entry| &*entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the value at a path of keys. A key with a dot cannot be in the path.
    pub(crate) fn at(&self, path: &str) -> Option<&Node> {
        let (mut node, mut rest) = (self, path);
        while !rest.is_empty() {
            let end = memchr::memchr(b'.', rest.as_bytes()).unwrap_or(rest.len());
            let key = rest.get(..end)?;
            if !key.is_empty() {
                node = node.get(key)?;
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Some(node)
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.data, NodeData::Scalar { .. }) && self.text().is_none()
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.data, NodeData::Map(_))
    }

    /// Returns the text of a scalar as written; `None` for null and for collections.
    pub(crate) fn text(&self) -> Option<&Arc<str>> {
        match &self.data {
            NodeData::Scalar { text, plain } if !(*plain && scalar::is_null(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn text_at(&self, path: &str) -> Option<&Arc<str>> {
        self.at(path).and_then(Node::text)
    }

    /// Returns the boolean of a plain scalar.
    pub(crate) fn flag(&self) -> Option<bool> {
        match &self.data {
            NodeData::Scalar { text, plain: true } => scalar::boolean(text),
            _ => None,
        }
    }

    /// Returns a number, quoted or not, because a third of the numbers in real manifests are quoted.
    pub(crate) fn number(&self) -> Option<f64> {
        match &self.data {
            NodeData::Scalar { text, plain: true } => scalar::number(text),
            NodeData::Scalar { text, plain: false } => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
            _ => None,
        }
    }
}
