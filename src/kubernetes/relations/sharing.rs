//! Reads the settings of a device plugin that offers each accelerator of a node to several pods.

use std::sync::Arc;

use crate::inventory::{BillingRole, Fact, FactOrigin, FactValue, Key};
use crate::languages::yaml::{Node, NodeData};
use crate::source::Span;

use super::nearby;
use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::text::nested;

/// The resource that is shared, as the plugin's settings name it.
const KEY: &str = "nvidia.com/gpu";
/// The settings keys of the plugin, with the way of sharing (NVIDIA's k8s-device-plugin, 2026-11).
const WAYS: [(&str, &str); 2] = [("sharing.timeSlicing.resources", "time-slicing"), ("sharing.mps.resources", "mps")];
const DEEPEST: usize = 24;

/// The settings of a device plugin that offer one accelerator several times.
pub(in crate::kubernetes) struct Sharing {
    path: Arc<str>,
    replicas: f64,
    way: &'static str,
    span: Span,
}

impl Sharing {
    /// Finds all settings in a document. Several settings in one document are for different nodes, which are unknown.
    pub(in crate::kubernetes) fn find(path: &Arc<str>, root: &Node, out: &mut Vec<Sharing>) {
        walk(path, root, 0, out);
    }

    fn collect(path: &Arc<str>, node: &Node, out: &mut Vec<Sharing>) {
        for (at, way) in WAYS {
            for item in node.at(at).map(Node::items).unwrap_or_default() {
                let is_it = item.text_at("name").is_some_and(|name| &**name == KEY) && item.get("rename").is_none();
                let replicas = item.get("replicas").and_then(Node::number).filter(|replicas| *replicas > 1.0);
                if let (true, Some(replicas)) = (is_it, replicas) {
                    out.push(Sharing { path: path.clone(), replicas, way, span: item.span });
                }
            }
        }
    }
}

fn walk(path: &Arc<str>, node: &Node, depth: usize, out: &mut Vec<Sharing>) {
    if depth > DEEPEST {
        return;
    }
    match &node.data {
        NodeData::Scalar { text, .. } => {
            let may_say = text.contains("sharing:") && text.contains("replicas");
            if let Some(inside) = may_say.then(|| nested::parsed(node)).flatten() {
                Sharing::collect(path, &inside, out);
            }
        }
        NodeData::List(items) => items.iter().for_each(|item| walk(path, item, depth + 1, out)),
        NodeData::Map(entries) => {
            Sharing::collect(path, node, out);
            // If there are several settings, those without sharing are for other nodes.
            let is_text = |text: &Node| text.text().is_some_and(|text| text.contains('\n'));
            if entries.iter().filter(|entry| is_text(&entry.value)).count() <= 1 {
                entries.iter().for_each(|entry| walk(path, &entry.value, depth + 1, out));
            }
        }
    }
}

/// Sets the share of an accelerator on pods near the only settings.
pub(in crate::kubernetes) fn apply(all: &[Sharing], found: &mut [(Arc<str>, FoundResource)]) {
    if all.is_empty() {
        return;
    }
    for (path, found) in found.iter_mut() {
        let resource = &mut found.resource;
        let is_asked = resource.role == BillingRole::Requested
            && resource.text(Key::Vendor) == Some("nvidia")
            && resource.number(Key::AcceleratorCount).is_some_and(|count| count >= 1.0);
        let is_told = [Key::Slice, Key::SharedBy, Key::Sharing].iter().any(|key| !resource.fact(*key).is_absent());
        if !is_asked || is_told {
            continue;
        }
        let near = |sharing: &&Sharing| nearby::why(&sharing.path, path, false).is_some();
        let mut near = all.iter().filter(near);
        let Some(first) = near.next() else { continue };
        if near.any(|other| other.replicas != first.replicas || other.way != first.way) {
            continue;
        }
        let why: Arc<str> = format!("`{}` makes the device plugin share each accelerator", first.path).into();
        let known = |value| Fact::known(value, first.span, FactOrigin::Inferred(why.clone()));
        resource.set(Key::SharedBy, known(FactValue::Number(first.replicas)));
        resource.set(Key::Sharing, known(FactValue::text(first.way)));
    }
}
