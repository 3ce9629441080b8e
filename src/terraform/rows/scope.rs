//! Resolves the paths of a definition from one block.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclData};
use crate::source::{AdaptiveRegex, Span};

use super::super::block::{EvaluatedBlock, Provider};
use super::language::Conditions;
use super::links::Linked;
use super::node::{PlacedValue, ValueNode, scalar};
use crate::inventory::row_path::{RowPath, Start};

/// One block, the part that a definition describes, and the blocks that it is linked to.
#[derive(Clone)]
pub(super) struct RowScope<'a> {
    pub(super) block: &'a EvaluatedBlock,
    pub(super) part: ValueNode<'a>,
    /// The key of the part in its map.
    pub(super) key: Option<Arc<str>>,
    /// The places of values that the part does not set itself.
    pub(super) defaults: Vec<ValueNode<'a>>,
    pub(super) links: BTreeMap<&'a str, Linked<'a>>,
}

/// The result of conditions.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Truth {
    /// The conditions are true, with the place that makes them true.
    Yes(Option<Span>),
    No,
    Unknown {
        why: String,
        span: Span,
    },
}

impl<'a> RowScope<'a> {
    pub(super) fn of(block: &'a EvaluatedBlock) -> Self {
        RowScope { block, part: ValueNode::Block(block), key: None, defaults: Vec::new(), links: BTreeMap::new() }
    }

    /// Returns the scope of another part, of the same block or of a linked one.
    pub(super) fn at(&self, part: ValueNode<'a>) -> Self {
        RowScope { part, defaults: Vec::new(), ..self.clone() }
    }

    /// Returns the place to show if nothing more specific is known.
    pub(super) fn span(&self) -> Span {
        self.part.span()
    }

    pub(super) fn provider(&self) -> Option<&'a Provider> {
        self.block.provider.as_deref()
    }

    pub(super) fn find(&self, path: &RowPath) -> Vec<ValueNode<'a>> {
        self.find_below(path, 0)
    }

    /// Returns the elements at the end of a path, a list or a map, with their keys.
    pub(super) fn find_keyed(&self, path: &RowPath) -> Vec<(Option<Arc<str>>, ValueNode<'a>)> {
        self.find(&path.whole()).into_iter().flat_map(ValueNode::keyed_elements).collect()
    }

    fn find_below(&self, path: &RowPath, depth: usize) -> Vec<ValueNode<'a>> {
        // The key in a path can come from another path, and so on. Definitions need only one such level.
        if depth > 4 {
            return Vec::new();
        }
        let names = |inner: &RowPath| self.find_below(inner, depth + 1);
        let starts: Vec<ValueNode<'a>> = match &path.start {
            Start::Part => {
                let own = self.part.clone().walk(&path.steps, &names);
                if !own.is_empty() {
                    return own;
                }
                self.defaults.clone()
            }
            Start::Key => {
                return self.key.iter().map(|key| ValueNode::Value(PlacedValue::text(key, self.span()))).collect();
            }
            Start::Block => vec![ValueNode::Block(self.block)],
            Start::Provider => self.provider().map(ValueNode::Provider).into_iter().collect(),
            Start::Link(name) => match self.links.get(name.as_str()) {
                None => Vec::new(),
                Some(Linked::Blocks(blocks)) => blocks.iter().map(|(block, _)| ValueNode::Block(block)).collect(),
                Some(Linked::Outside(span)) => {
                    let why = format!("it uses a {name} that is not in this configuration");
                    let cause = Arc::new(Cause::new(why, *span));
                    return vec![ValueNode::Value(PlacedValue::doubt(&cause))];
                }
            },
        };
        let mut found = Vec::new();
        for start in starts {
            let below = start.walk(&path.steps, &names);
            // Several targets of a link are alternatives. Several defaults are tried in order.
            if !below.is_empty() && path.start == Start::Part {
                return below;
            }
            found.extend(below);
        }
        found
    }

    /// Returns whether all conditions are true.
    pub(super) fn holds(&self, conditions: &Conditions) -> Truth {
        let (mut at, mut doubt) = (None, None);
        for (path, texts) in &conditions.0 {
            match self.condition(path, texts) {
                Truth::Yes(span) => at = at.or(span),
                Truth::No => return Truth::No,
                unknown @ Truth::Unknown { .. } => doubt = doubt.or(Some(unknown)),
            }
        }
        doubt.unwrap_or(Truth::Yes(at))
    }

    fn condition(&self, path: &RowPath, texts: &[String]) -> Truth {
        let mut nodes = self.find(path);
        let is = |wanted: &str| texts.iter().any(|it| it == wanted);
        if is("empty") || is("!empty") {
            let empty = nodes.iter().any(|node| node.is_empty_text() || node.is_empty_collection());
            return if empty == is("empty") { Truth::Yes(None) } else { Truth::No };
        }
        nodes.retain(|node| !node.is_empty_text());
        let Some(first) = nodes.first() else {
            let absent = texts.iter().any(|it| it == "absent" || it.starts_with('!'));
            return if absent { Truth::Yes(None) } else { Truth::No };
        };
        let mut doubt = None;
        for node in &nodes {
            let value = match node {
                ValueNode::Value(held) => held,
                _ if texts.iter().any(|it| it == "present") => return Truth::Yes(Some(node.span())),
                _ => continue,
            };
            match &value.value.data {
                HclData::Unknown(cause) => match undecided(value, cause, texts) {
                    Some(true) => return Truth::Yes(Some(node.span())),
                    Some(false) => {}
                    None => doubt = Some(Truth::Unknown { why: cause.why.clone(), span: node.span() }),
                },
                _ => match node.text() {
                    Some(text) if is_one_of(&text, texts) => return Truth::Yes(Some(node.span())),
                    None if texts.iter().any(|it| it == "present") => return Truth::Yes(Some(first.span())),
                    _ => {}
                },
            }
        }
        doubt.unwrap_or(Truth::No)
    }
}

/// Decides whether an unknown value has one of the strings, if all its candidates agree.
fn undecided(held: &PlacedValue, cause: &Cause, texts: &[String]) -> Option<bool> {
    if cause.candidates.is_empty() {
        // An assigned value exists, even if it is unknown.
        return (!held.perhaps && texts.iter().any(|it| it == "present")).then_some(true);
    }
    let verdicts: Option<Vec<bool>> = cause
        .candidates
        .iter()
        .map(|it| match &it.data {
            HclData::Null => Some(texts.iter().any(|it| it == "absent" || it.starts_with('!'))),
            _ => scalar(it).map(|text| is_one_of(&text, texts)),
        })
        .collect();
    let verdicts = verdicts?;
    let first = *verdicts.first()?;
    verdicts.iter().all(|it| *it == first).then_some(first)
}

fn is_one_of(text: &str, texts: &[String]) -> bool {
    texts.iter().any(|wanted| {
        let number = |text: &str| text.parse::<f64>().ok();
        let mut letters = wanted.chars();
        match (letters.next(), letters.as_str()) {
            (Some('!'), other) => !text.eq_ignore_ascii_case(other),
            (Some('>'), least) => number(text).zip(number(least)).is_some_and(|(number, least)| number > least),
            (Some('~'), pattern) => AdaptiveRegex::new(pattern).is_match(text),
            _ => wanted == "present" || (wanted != "absent" && text.eq_ignore_ascii_case(wanted)),
        }
    })
}
