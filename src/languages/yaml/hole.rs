//! Holes in a text: where the directives of a template stood, and what is known of what fills them.

use std::ops::Range;
use std::sync::Arc;

use super::node::{Data, Node};
use super::scalar;

/// Stands at the start of a hole; the rest of the hole is padding.
pub(crate) const HOLE: char = '\u{e000}';

/// Text in which directives are masked.
#[derive(Debug, Default)]
pub(crate) struct Masked {
    pub text: String,
    pub holes: Vec<Hole>,
}

/// A directive that puts something into the text.
#[derive(Debug, Clone)]
pub(crate) struct Hole {
    pub range: Range<usize>,
    pub meaning: Meaning,
}

/// What an expression stands for.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// A part of the values, with its place.
    Node(Node),
    Text(Arc<str>),
    Flag(bool),
    /// Nothing is there.
    Nothing,
    Unknown,
}

impl Meaning {
    /// Whether a condition on it holds; `None` where that is not known.
    pub(crate) fn holds(&self) -> Option<bool> {
        match self {
            Meaning::Flag(flag) => Some(*flag),
            Meaning::Text(text) => Some(!text.is_empty()),
            Meaning::Nothing => Some(false),
            Meaning::Unknown => None,
            Meaning::Node(node) => Some(match &node.data {
                Data::Map(entries) => !entries.is_empty(),
                Data::List(items) => !items.is_empty(),
                Data::Scalar { text, plain: true } => {
                    !scalar::is_null(text) && scalar::boolean(text) != Some(false) && scalar::number(text) != Some(0.0)
                }
                Data::Scalar { text, plain: false } => !text.is_empty(),
            }),
        }
    }

    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Meaning::Text(text) => Some(text.to_string()),
            Meaning::Flag(flag) => Some(flag.to_string()),
            Meaning::Node(node) => node.text().map(|text| text.to_string()),
            Meaning::Nothing | Meaning::Unknown => None,
        }
    }
}
