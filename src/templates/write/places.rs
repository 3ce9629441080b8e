//! Finds the mapping of a document that has a property, or that needs it.

use crate::languages::yaml::{Node, NodeData, NodeEntry};
use crate::source::Span;
use crate::targets::is_function;

use super::target::TargetStep;

/// The mapping in which the rest of a path is missing, or the entry at its end.
pub(super) struct FoundPlace<'n> {
    pub(super) map: &'n Node,
    /// The entry at the end of the path.
    pub(super) entry: Option<&'n NodeEntry>,
    /// The number of steps that lead to the mapping.
    pub(super) steps: usize,
}

/// A member on the way to a place.
#[derive(Clone, Copy)]
pub(super) enum OuterNode<'n> {
    Entry(&'n Node, usize),
    Item(&'n Node, usize),
}

type Result<T> = std::result::Result<T, &'static str>;

/// Returns the resource whose entry or value is at a place.
pub(super) fn resource(root: &Node, at: Span) -> Option<&Node> {
    let mut node = root;
    loop {
        // A mapping with a single entry is at the place of this entry.
        if let Some(entry) = node.entries().iter().find(|entry| entry.span() == at) {
            return Some(&entry.value);
        }
        if node.span == at {
            return Some(node);
        }
        node = node.inner().find(|inner| inner.span.contains(at))?;
    }
}

/// Follows a path as far as it exists. `inside` chooses among the items of a list.
pub(super) fn follow<'n>(from: &'n Node, steps: &[TargetStep], inside: Span, any_case: bool) -> Result<FoundPlace<'n>> {
    let mut map = from;
    for (at, step) in steps.iter().enumerate() {
        demand_plain(map)?;
        let named = |entry: &&NodeEntry| match any_case {
            true => entry.key.eq_ignore_ascii_case(&step.name),
            false => *entry.key == *step.name,
        };
        let Some(entry) = map.entries().iter().find(named) else {
            return Ok(FoundPlace { map, entry: None, steps: at });
        };
        if !map.span.contains(entry.value.span) {
            return Err("a part of the mapping comes from an anchor");
        }
        if at + 1 == steps.len() {
            return Ok(FoundPlace { map, entry: Some(entry), steps: at });
        }
        map = if step.is_list { item(&entry.value, inside)? } else { &entry.value };
    }
    Err("the property has no name")
}

/// Returns the item of a list at a place, or the only one.
fn item(list: &Node, inside: Span) -> Result<&Node> {
    let is_it = |item: &&Node| inside.contains(item.span) || item.span.contains(inside);
    let mut items = list.items().iter().filter(is_it);
    match (items.next(), items.next()) {
        (Some(item), None) => Ok(item),
        (None, _) => Err("the list that it belongs to is computed"),
        _ => Err("the list has several items"),
    }
}

/// Demands that a mapping contains its own keys, without functions and loops.
pub(super) fn demand_plain(map: &Node) -> Result<()> {
    // The `copy` of a whole resource is a mapping.
    let is_loop = |entry: &NodeEntry| entry.key.eq_ignore_ascii_case("copy") && !entry.value.items().is_empty();
    let is_computed = |entry: &NodeEntry| is_function(&entry.key) || is_loop(entry);
    match &map.data {
        NodeData::Map(entries) if entries.iter().any(is_computed) => Err("the value is computed"),
        // A Bicep object can contain the members of another one.
        NodeData::Map(entries) if entries.iter().any(|entry| entry.key.is_empty()) => Err("the value is computed"),
        NodeData::Map(_) => Ok(()),
        _ => Err("the value that needs the property is not a plain mapping"),
    }
}

/// Returns the members from a node down to the value or the entry at a place.
pub(super) fn way_to(from: &Node, at: Span) -> Result<Vec<OuterNode<'_>>> {
    let mut way = Vec::new();
    let mut node = from;
    loop {
        match &node.data {
            NodeData::Map(entries) => {
                demand_plain(node)?;
                let holds = |entry: &NodeEntry| entry.span() == at || entry.value.span.contains(at);
                let Some(place) = entries.iter().position(holds) else { return Err("the value is computed") };
                way.push(OuterNode::Entry(node, place));
                let Some(entry) = entries.get(place).filter(|it| node.span.contains(it.value.span)) else {
                    return Err("a part of the mapping comes from an anchor");
                };
                if entry.span() == at || entry.value.span == at {
                    return Ok(way);
                }
                node = &entry.value;
            }
            NodeData::List(items) => {
                let Some(place) = items.iter().position(|item| item.span.contains(at)) else {
                    return Err("the value is computed");
                };
                way.push(OuterNode::Item(node, place));
                let Some(item) = items.get(place) else { return Ok(way) };
                if item.span == at {
                    return Ok(way);
                }
                node = item;
            }
            NodeData::Scalar { .. } => return Err("the value is computed"),
        }
    }
}

/// Returns the value at a place.
pub(super) fn node(from: &Node, at: Span) -> Result<&Node> {
    way_to(from, at)?;
    let mut node = from;
    while node.span != at {
        let Some(inner) = node.inner().find(|inner| inner.span.contains(at)) else {
            return Err("the value is computed");
        };
        node = inner;
    }
    Ok(node)
}
