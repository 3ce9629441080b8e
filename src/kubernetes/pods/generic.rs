//! Finds pods in unsupported kinds by their shape, under any path. Multiplies them by numbers above them that look like
//! replicas. The results are marked as inferred.

use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Purpose, Range};
use crate::source::Span;

use crate::kubernetes::objects::chart::VALUES_ALONE;

use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::pods::pod::{Pod, PodContainer};
use crate::kubernetes::pods::workload;
use crate::kubernetes::pods::workload::{Above, PodGroup};
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::count::times;
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::facts::fill;
use crate::kubernetes::rows::settings;
use crate::kubernetes::rows::table::{KINDS, KindRow};
use crate::languages::yaml::{Node, NodeData};

/// Keys that set how often everything in their mapping exists.
const MULTIPLIERS: [&str; 8] =
    ["replicaCount", "replicas", "parallelism", "size", "numWorkers", "workerReplicas", "numNodes", "instances"];
const MIN: [&str; 3] = ["minReplicas", "minAvailable", "min"];
const MAX: [&str; 2] = ["maxReplicas", "max"];
const DEEPEST: usize = 40;
/// Kinds with these endings often run nothing themselves.
const MADE_FOR_OTHERS: [&str; 5] = ["Template", "Class", "Profile", "Runtime", "Blueprint"];

pub(in crate::kubernetes) fn collect(object: &KubernetesObject<'_>, above: &Above, out: &mut Vec<PodGroup>) {
    let why = format!("the kind {} is unknown: gpulint recognizes its pods by their fields", object.kind);
    let why: Arc<str> = why.into();
    let mut above = above.clone();
    if object.kind.ends_with("Job") {
        let inferred = |value| Fact::known(value, object.head, FactOrigin::Inferred("its kind ends with Job".into()));
        fill(&mut above.facts, Key::EndsByItself, inferred(FactValue::Flag(true)));
        fill(&mut above.facts, Key::Purpose, inferred(Purpose::Batch.into()));
    }
    if MADE_FOR_OTHERS.iter().any(|ending| object.kind.ends_with(ending)) {
        above.count = Fact::unknown(format!("a {} may only be a template for other objects", object.kind), object.head);
    }
    walk(object.root, &Shape { why, of_values: false }, &above, &[], 0, out);
}

/// Finds pods by their shape in the values of a chart.
pub(in crate::kubernetes) fn collect_values(values: &Node, above: &Above, out: &mut Vec<PodGroup>) {
    walk(values, &Shape::of_values(), above, &[], 0, out);
}

/// Searches keys that a definition does not cover, if the definition allows it.
pub(in crate::kubernetes) fn others(values: &Node, row: &KindRow, above: &Above, out: &mut Vec<PodGroup>) {
    for entry in values.entries().iter().filter(|entry| row.others && !row.speaks_of(&entry.key)) {
        let mut above = above.clone();
        above.role.push(entry.key.to_string());
        walk(&entry.value, &Shape::of_values(), &above, &[], 0, out);
    }
}

/// The reason why pods are searched by their shape.
struct Shape {
    why: Arc<str>,
    of_values: bool,
}

impl Shape {
    fn of_values() -> Shape {
        Shape { why: VALUES_ALONE.into(), of_values: true }
    }
}

fn walk(node: &Node, shape: &Shape, above: &Above, claims: &[Node], depth: usize, out: &mut Vec<PodGroup>) {
    if depth > DEEPEST {
        return;
    }
    match &node.data {
        NodeData::Scalar { .. } => {}
        NodeData::List(items) => {
            for item in items.iter() {
                let mut above = above.clone();
                above.role.extend(item.text_at("name").map(|name| name.to_string()));
                walk(item, shape, &above, claims, depth + 1, out);
            }
        }
        NodeData::Map(entries) => {
            // In the values of a parent chart, the values of a chart are below its name.
            let row = shape.of_values.then(|| KINDS.shaped(node).filter(|row| row.is_of_values())).flatten();
            if let Some(row) = row.filter(|row| !row.pods.is_empty()) {
                workload::pods_of_values(node, row, above, out);
                return others(node, row, above, out);
            }
            let mut above = above.clone();
            above.count = times(above.count, number_in(node));
            if let Some(off) = node.get("enabled").filter(|enabled| enabled.flag() == Some(false)) {
                above.count = Fact::written(Range::exactly(0.0), off.span);
            }
            // The machine is named next to the pod, or nearest above it.
            if let Some((machine, span)) = machine(node) {
                above.facts.insert(Key::Machine, Fact::known(machine, span, FactOrigin::Inferred(shape.why.clone())));
            }
            let nearer = claims_of(node);
            let claims = if nearer.is_empty() { claims } else { nearer };
            if is_pod(node) || is_container(node) {
                let count = by_shape(above.count.clone(), &shape.why);
                let mut pod = Pod::new(node, None, None);
                if pod.containers.is_empty() {
                    pod.claims = claimed(node, claims);
                    pod.containers.push(PodContainer::container(node));
                }
                let (mut facts, role) = (above.facts.clone(), above.role.clone());
                for (key, fact) in settings::declared_in(node) {
                    fill(&mut facts, key, fact);
                }
                out.push(PodGroup {
                    role,
                    pod,
                    count,
                    facts,
                    by_shape: Some(shape.why.clone()),
                    of_values: shape.of_values,
                    is_overlay: false,
                    is_patch: false,
                    made: None,
                });
                return;
            }
            for entry in entries.iter() {
                let mut above = above.clone();
                if matches!(entry.value.data, NodeData::Map(_)) && is_named(&entry.key) {
                    above.role.push(entry.key.to_string());
                }
                walk(&entry.value, shape, &above, claims, depth + 1, out);
            }
        }
    }
}

/// Marks a number as inferred, because it may not be the number of these pods.
fn by_shape(count: Fact<Range>, why: &Arc<str>) -> Fact<Range> {
    match count {
        Fact::Known(mut known) if known.origin <= FactOrigin::Default => {
            known.origin = FactOrigin::Inferred(why.clone());
            Fact::Known(known)
        }
        other => other,
    }
}

/// Returns true if a key can name a group of pods. Keys such as `spec` and `template` cannot.
fn is_named(key: &str) -> bool {
    !matches!(key, "spec" | "template" | "metadata" | "podTemplate" | "status" | "podSpec")
}

fn is_pod(node: &Node) -> bool {
    let containers = node.get("containers").map(Node::items).unwrap_or_default();
    containers.iter().any(|container| container.get("resources").is_some() || container.get("image").is_some())
}

/// Returns the claims that charts list for the pods below a mapping.
fn claims_of(node: &Node) -> &[Node] {
    const PLACES: [&str; 3] = ["resourceClaims", "pod.resourceClaims", "defaultPodOptions.resourceClaims"];
    let found = PLACES.iter().find_map(|place| node.at(place)).filter(|it| !it.items().is_empty());
    found.map(Node::items).unwrap_or_default()
}

/// Returns the claims in the list that a container names.
fn claimed(container: &Node, claims: &[Node]) -> Vec<Node> {
    let names = container.at("resources.claims").map(Node::items).unwrap_or_default();
    let is_named = |claim: &&Node| {
        let name = claim.text_at("name");
        name.is_some() && names.iter().any(|it| it.text_at("name") == name)
    };
    claims.iter().filter(is_named).cloned().collect()
}

/// Returns whether a mapping requests accelerators itself. Custom resources often omit the frame of a pod.
fn is_container(node: &Node) -> bool {
    let sides = ["limits", "requests"].into_iter().filter_map(|side| node.get("resources")?.get(side));
    let claims = node.at("resources.claims").map(Node::items).unwrap_or_default();
    sides.flat_map(Node::entries).any(|entry| DEVICES.is_asked_by(&entry.key))
        || claims.iter().any(|it| it.text_at("name").is_some())
}

/// Returns the machine type. Charts use various keys for it.
fn machine(node: &Node) -> Option<(FactValue, Span)> {
    const KEYS: [&str; 5] = ["instanceType", "instance_type", "nodeType", "node_type", "machineType"];
    let found = [Some(node), node.get("resources")].into_iter().flatten();
    let named = found.flat_map(|node| KEYS.iter().filter_map(|key| node.get(key))).find(|it| it.text().is_some())?;
    Some((FactValue::Text(named.text()?.clone()), named.span))
}

fn number_in(node: &Node) -> Fact<Range> {
    let read = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| node.get(key));
        found.map_or(Fact::Absent, amount::number)
    };
    // Charts have the limits of an autoscaler in a separate mapping, which may be disabled.
    let scaled = ["autoscaling", "hpa", "autoscaler"].iter().find_map(|key| node.get(key));
    let scaled = scaled.filter(|it| it.get("enabled").is_some_and(|enabled| enabled.flag() == Some(true)));
    let bound = |keys: &[&str]| {
        let found = scaled.into_iter().chain([node]).find_map(|node| keys.iter().find_map(|key| node.get(key)));
        found.map_or(Fact::Absent, amount::number)
    };
    let (stated, min, max) = (read(&MULTIPLIERS), bound(&MIN), bound(&MAX));
    if let Fact::Unknown(unknown) = stated {
        return Fact::unknown(unknown.why, unknown.span);
    }
    let Some(span) = stated.span().or(min.span()) else { return Fact::Absent };
    let expected = stated.value().or(min.value()).copied().unwrap_or(1.0);
    let floor = min.value().copied().unwrap_or(expected);
    let ceiling = max.value().copied().unwrap_or(expected.max(floor));
    let value = Range::between(floor, Some(expected), ceiling);
    Fact::Known(KnownFact { value, span, defined: None, origin: FactOrigin::Written })
}
