//! Provides manifests as they are written, for rules about any kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::{FactOrigin, MOST_VALUES, Raw, RawData, RawPod, RawTree, ReadBy, UnknownFact};
use crate::languages::yaml::{Node, NodeData, scalar};
use crate::source::Span;

use super::object::KubernetesObject;
use crate::kubernetes::rows::amount::{is_hole, placeholder};

/// Adds the objects of a document: the document itself, or the items of a list.
pub(in crate::kubernetes) fn add(
    root: &Node,
    body: Span,
    inferred: Option<&Arc<str>>,
    pods: &dyn Fn(&Node) -> Vec<RawPod>,
    into: &mut Vec<Raw>,
) {
    let Some(object) = KubernetesObject::new(root) else { return };
    if object.kind.ends_with("List") && root.get("items").is_some_and(|items| matches!(items.data, NodeData::List(_))) {
        let items = root.get("items").map(Node::items).unwrap_or_default();
        let objects = items.iter().filter_map(|item| Some((KubernetesObject::new(item)?, item.span)));
        into.extend(objects.map(|(object, body)| Raw { pods: pods(object.root), ..raw(&object, body, inferred) }));
        return;
    }
    into.push(Raw { pods: pods(root), ..raw(&object, body, inferred) });
}

/// Converts a part of an object as it is written.
pub(in crate::kubernetes) fn tree(node: &Node) -> RawTree {
    Builder { left: MOST_VALUES }.tree(node)
}

fn raw(object: &KubernetesObject<'_>, body: Span, inferred: Option<&Arc<str>>) -> Raw {
    Raw {
        front_end: ReadBy::Kubernetes,
        keyword: "".into(),
        kind: object.kind.into(),
        name: object.name.clone().unwrap_or_else(|| "".into()),
        address: object.address().into(),
        path: Arc::default(),
        run: None,
        perhaps: None,
        pods: Vec::new(),
        references: Vec::new(),
        span: object.head,
        body,
        origin: inferred.map_or(FactOrigin::Written, |why| FactOrigin::Inferred(why.clone())),
        tree: Builder { left: MOST_VALUES }.tree(object.root),
    }
}

struct Builder {
    /// The number of values that may still be created. Aliases share their content, and trees do not.
    left: u32,
}

impl Builder {
    fn tree(&mut self, node: &Node) -> RawTree {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return RawTree::too_large(node.span);
        }
        if is_hole(node) {
            return RawTree::unknown("a template directive sets this value", node.span);
        }
        let data = match &node.data {
            NodeData::Scalar { text, plain } => scalar(text, *plain).unwrap_or_else(|why| {
                let unknown = Arc::new(UnknownFact { span: node.span, why: why.into(), candidates: Vec::new() });
                match beginning(text) {
                    Some(beginning) => RawData::Beginning(beginning.into(), unknown),
                    None => RawData::Unknown(unknown),
                }
            }),
            NodeData::List(items) => RawData::List(items.iter().map(|item| self.tree(item)).collect()),
            NodeData::Map(entries) => {
                let mut open = None;
                let mut known: BTreeMap<Arc<str>, RawTree> = BTreeMap::new();
                for entry in entries.iter() {
                    if placeholder(&entry.key).is_some() {
                        let RawTree { data, .. } = RawTree::unknown("another program fills in a key", entry.key_span);
                        open = if let RawData::Unknown(unknown) = data { Some(unknown) } else { open };
                        continue;
                    }
                    let value = self.tree(&entry.value);
                    known.insert(entry.key.clone(), RawTree { span: entry.span(), ..value });
                }
                RawData::Map(known.into_iter().collect(), open)
            }
        };
        RawTree::new(data, node.span)
    }
}

/// Returns the part of a string before its first placeholder.
fn beginning(text: &str) -> Option<&str> {
    let first = ["${", "{{", "{%", "PLACEHOLDER"].iter().filter_map(|mark| text.find(mark)).min()?;
    text.get(..first).filter(|beginning| !beginning.is_empty())
}

/// Interprets a scalar like Kubernetes; returns an error for a placeholder.
fn scalar(text: &Arc<str>, plain: bool) -> Result<RawData, String> {
    if plain && scalar::is_null(text) {
        return Ok(RawData::Null);
    }
    if plain && let Some(flag) = scalar::boolean(text) {
        return Ok(RawData::Flag(flag));
    }
    if plain && let Some(number) = scalar::number(text) {
        let whole = number.fract() == 0.0 && number.abs() < 9e15 && !text.contains(['.', 'e', 'E']);
        return Ok(if whole { RawData::Integer(number as i64) } else { RawData::Number(number) });
    }
    placeholder(text).map_or(Ok(RawData::Text(text.clone())), Err)
}
