//! Defines holes in a text: the places of template directives, and the known parts of their values.

use std::ops::Range;
use std::sync::Arc;

use super::node::{Node, NodeData};
use super::scalar;

/// First character of a hole; the rest of the hole is padding.
pub(crate) const HOLE: char = '\u{e000}';

/// Returns a mark for a scalar with an unknown value, from its name and the reason.
pub(crate) fn unknown_mark(name: &str, why: &str) -> String {
    format!("{HOLE}{name}{HOLE}{why}")
}

/// Returns the name and the reason of a scalar whose value is unknown.
pub(crate) fn unknown(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(HOLE)?.split_once(HOLE)
}

/// A text with masked directives.
#[derive(Debug, Default)]
pub(crate) struct Masked {
    pub text: String,
    pub holes: Vec<TemplateDirective>,
}

/// A directive that inserts text.
#[derive(Debug, Clone)]
pub(crate) struct TemplateDirective {
    pub range: Range<usize>,
    pub meaning: HoleMeaning,
}

/// The value of an expression.
#[derive(Debug, Clone)]
pub(crate) enum HoleMeaning {
    /// The part of the values, with its place.
    Node(Node),
    Text(Arc<str>),
    Flag(bool),
    /// The expression has no value.
    Nothing,
    Unknown,
}

impl HoleMeaning {
    /// Returns whether a condition on it holds; `None` if this is unknown.
    pub(crate) fn holds(&self) -> Option<bool> {
        match self {
            HoleMeaning::Flag(flag) => Some(*flag),
            HoleMeaning::Text(text) => Some(!text.is_empty()),
            HoleMeaning::Nothing => Some(false),
            HoleMeaning::Unknown => None,
            HoleMeaning::Node(node) => Some(match &node.data {
                NodeData::Map(entries) => !entries.is_empty(),
                NodeData::List(items) => !items.is_empty(),
                NodeData::Scalar { text, plain: true } => {
                    !scalar::is_null(text) && scalar::boolean(text) != Some(false) && scalar::number(text) != Some(0.0)
                }
                NodeData::Scalar { text, plain: false } => !text.is_empty(),
            }),
        }
    }

    pub(crate) fn text(&self) -> Option<String> {
        match self {
            HoleMeaning::Text(text) => Some(text.to_string()),
            HoleMeaning::Flag(flag) => Some(flag.to_string()),
            HoleMeaning::Node(node) => node.text().map(|text| text.to_string()),
            HoleMeaning::Nothing | HoleMeaning::Unknown => None,
        }
    }
}
