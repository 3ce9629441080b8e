//! Lists objects of unsupported kinds without pods, with their machine types and accelerators.

use crate::inventory::{UnsupportedResource, is_open_map};
use crate::kubernetes::objects::object::KubernetesObject;
use crate::languages::yaml::{Node, NodeData};
use crate::source::Span;

/// The maximum depth of the search for machine types.
const DEEPEST: usize = 12;

pub(in crate::kubernetes) fn of(object: &KubernetesObject<'_>, body: Span) -> Option<UnsupportedResource> {
    let mut unlisted = UnsupportedResource::new(&object.address(), object.kind, object.head, body);
    // Metadata is for other tools and does not define machines.
    let entries = object.root.entries().iter();
    let own = entries.filter(|it| !matches!(&*it.key, "apiVersion" | "kind" | "status"));
    own.for_each(|entry| add(&mut unlisted, &entry.key, &entry.value, 0));
    (!unlisted.fields.is_empty()).then_some(unlisted)
}

fn add(unlisted: &mut UnsupportedResource, name: &str, node: &Node, depth: usize) {
    match &node.data {
        NodeData::Scalar { .. } => unlisted.add(name, node.text().map(|text| &**text)),
        _ if depth >= DEEPEST || is_open_map(name) => {}
        NodeData::List(items) => items.iter().for_each(|item| add(unlisted, name, item, depth + 1)),
        NodeData::Map(entries) => {
            entries.iter().for_each(|entry| add(unlisted, &entry.key, &entry.value, depth + 1));
        }
    }
}
