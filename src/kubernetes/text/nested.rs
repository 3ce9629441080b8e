//! Parses YAML in a scalar of YAML: values that an object contains as a string.

use crate::source::{SourceFiles, Span, line_start};

use crate::languages::yaml::{self, Node, NodeData, NodeEntry};

const DEEPEST: usize = 64;

/// Returns the tree in the string of a scalar. Its positions are exact if the string is unchanged line by line in the
/// file. Otherwise, they are the position of the scalar.
pub(in crate::kubernetes) fn read(sources: &SourceFiles, node: &Node) -> Option<Node> {
    let text = node.text()?;
    let file = sources.text(node.span.file);
    let written = file.get(node.span.range())?;
    if written.starts_with('|') || text.contains('\n') {
        let start = match written.starts_with('|') {
            true => node.span.range().start + written.find('\n')? + 1,
            false => line_start(&file, node.span.range().start),
        };
        let inside = file.get(start..node.span.range().end)?;
        // An escaped or folded string differs from its source.
        let same = inside.trim_end().lines().map(str::trim).eq(text.trim_end().lines().map(str::trim));
        if let Some(root) = same.then(|| yaml::read_at(node.span.file, start, inside)).flatten() {
            return Some(root);
        }
    }
    Some(placed(&yaml::read_at(node.span.file, 0, text)?, node.span, 0))
}

/// Returns the tree in a string, with the position of the whole scalar.
pub(in crate::kubernetes) fn parsed(node: &Node) -> Option<Node> {
    Some(placed(&yaml::read_at(node.span.file, 0, node.text()?)?, node.span, 0))
}

fn placed(node: &Node, span: Span, depth: usize) -> Node {
    if depth > DEEPEST {
        return Node::scalar(span, "", true);
    }
    match &node.data {
        NodeData::Scalar { .. } => Node { span, ..node.clone() },
        NodeData::List(items) => Node::list(span, items.iter().map(|item| placed(item, span, depth + 1))),
        NodeData::Map(entries) => {
            let placed = |entry: &NodeEntry| NodeEntry {
                key: entry.key.clone(),
                key_span: span,
                value: placed(&entry.value, span, depth + 1),
            };
            Node::map(span, entries.iter().map(placed))
        }
    }
}
