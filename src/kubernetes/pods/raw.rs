//! Provides the pods of any object for rules, even if they request no accelerators.

use std::sync::Arc;

use crate::inventory::{FactOrigin, RawContainer, RawData, RawPod, RawTree, UnknownFact};
use crate::languages::yaml::{Node, NodeEntry};
use crate::source::Span;

use super::containers;
use super::pod::{Pod, PodContainer};
use super::request;
use super::resource::parts;
use super::workload::{PodGroup, WorkloadReader};
use crate::kubernetes::objects::raw::tree;
use crate::kubernetes::rows::amount::{is_hole, placeholder};

impl WorkloadReader<'_, '_> {
    /// Returns the pods of an object and of the objects that it contains.
    pub(in crate::kubernetes) fn raw_pods(&self, root: &Node) -> Vec<RawPod> {
        let groups = self.groups(root);
        let asking: Vec<usize> = (0..groups.len())
            .filter(|place| groups.get(*place).is_some_and(|it| request::accelerators(&it.pod, self.index).is_some()))
            .collect();
        let parts = parts(&asking.iter().filter_map(|place| groups.get(*place)).collect::<Vec<_>>());
        let part = |place: usize| parts.get(asking.iter().position(|asks| *asks == place)?);
        groups.iter().enumerate().map(|(place, group)| raw(group, part(place))).collect()
    }
}

fn raw(group: &PodGroup, part: Option<&String>) -> RawPod {
    let pod = &group.pod;
    let mut own: Vec<RawContainer> = Vec::new();
    for container in &pod.containers {
        let is_init = pod.init.iter().any(|init| init.part.node.span == container.node.span);
        own.push(RawContainer { role: if is_init { "sidecar" } else { "main" }, tree: with_resources(container, pod) });
    }
    let before = pod.init.iter().filter(|init| !init.stays);
    own.extend(before.map(|init| RawContainer { role: "init", tree: with_resources(&init.part, pod) }));
    let ephemeral = pod.spec.get("ephemeralContainers").map(Node::items).unwrap_or_default();
    own.extend(ephemeral.iter().map(|node| RawContainer { role: "ephemeral", tree: tree(node) }));
    let framed = |path: &str| pod.frame.as_ref().and_then(|frame| frame.at(path)).map(tree);
    RawPod {
        name: group.role.join(":").into(),
        part: part.map(|part| part.as_str().into()),
        spec: tree(&pod.spec),
        containers: own,
        labels: framed("metadata.labels"),
        annotations: framed("metadata.annotations"),
        node_labels: node_labels(pod),
        origin: group.by_shape.as_ref().map_or(FactOrigin::Written, |why| FactOrigin::Inferred(why.clone())),
    }
}

/// Returns a container with everything that its kind sets in other fields: a patch of its resources, a split image.
fn with_resources(container: &PodContainer, pod: &Pod) -> RawTree {
    let mut own = tree(&container.node);
    let RawData::Map(entries, _) = &mut own.data else { return own };
    let mut put = |key: &str, value: RawTree| match entries.binary_search_by(|(known, _)| (**known).cmp(key)) {
        Ok(place) => entries.get_mut(place).into_iter().for_each(|entry| entry.1 = value.clone()),
        Err(place) => entries.insert(place, (key.into(), value)),
    };
    if let Some(resources) = container.resources.as_ref().filter(|_| pod.row.is_some_and(|row| row.patch.is_some())) {
        put("resources", tree(resources));
    }
    if let Some(image) = container.node.get("image").filter(|image| image.is_map()) {
        put("image", containers::whole_image(image));
    }
    own
}

/// Returns the labels that a node must have, by selector and required affinity. Each label has its accepted values; an
/// empty list accepts any value.
fn node_labels(pod: &Pod) -> RawTree {
    let span = pod.spec.span;
    let mut found: Vec<(Arc<str>, RawTree)> = Vec::new();
    let conditions = pod.conditions();
    for condition in
        conditions.iter().filter(|it| !it.preferred && !it.only_refuses() && placeholder(&it.key).is_none())
    {
        let values = condition.values.iter().map(|(text, span)| match placeholder(text) {
            Some(why) => RawTree::unknown(why, *span),
            None => RawTree::new(RawData::Text(text.clone()), *span),
        });
        let values = RawTree::new(RawData::List(values.collect()), condition.span);
        // A node must match selector and affinity, so a label is required if one of them requires it.
        if let Err(place) = found.binary_search_by(|(known, _)| known.cmp(&condition.key)) {
            found.insert(place, (condition.key.clone(), values));
        }
    }
    let open = open_place(pod).map(|(why, span)| Arc::new(UnknownFact { span, why, candidates: Vec::new() }));
    RawTree::new(RawData::Map(found, open), span)
}

/// Returns why a pod may require labels that cannot be read.
fn open_place(pod: &Pod) -> Option<(Arc<str>, Span)> {
    let places = ["nodeSelector", "affinity"].into_iter().filter_map(|key| pod.spec.get(key));
    std::iter::once(&pod.spec).filter(|spec| is_hole(spec)).chain(places).find_map(open)
}

/// Returns a part that may contain any number of labels: an unread part, or a key with a placeholder. A label whose
/// value is a placeholder is certainly required.
fn open(node: &Node) -> Option<(Arc<str>, Span)> {
    let filled = |node: &Node| node.text().and_then(|text| placeholder(text)).map(|why| (why.into(), node.span));
    if is_hole(node) {
        return Some(("a template directive sets this value".into(), node.span));
    }
    let inside = |entry: &NodeEntry| match entry.value.text() {
        _ if placeholder(&entry.key).is_some() => Some(("another program fills in a key".into(), entry.key_span)),
        Some(_) if &*entry.key == "key" => filled(&entry.value),
        Some(_) => None,
        None => open(&entry.value),
    };
    match node.is_map() {
        true => node.entries().iter().find_map(inside),
        false => node.items().iter().find_map(open).or_else(|| filled(node)),
    }
}
