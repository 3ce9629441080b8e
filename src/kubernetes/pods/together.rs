//! Reads what starts the pods of one job together, and what places them close to each other.

use crate::inventory::{CostLabels, Fact, FactValue, Key};
use crate::languages::yaml::Node;

use super::pod::Pod;
use crate::kubernetes::rows::facts::{Facts, fill};

/// Labels and annotations of pod groups. With them, a scheduler starts all pods of a group or none (documentation of
/// Kueue, Volcano, the coscheduling plugin, YuniKorn and Run:ai, 2026-11).
const GROUPS: [&str; 8] = [
    "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/pod-group-name",
    "scheduling.k8s.io/group-name",
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",
    "yunikorn.apache.org/task-group-name",
    "runai/queue",
    "kai.scheduler/queue",
];

/// Schedulers that start the pods of a job together, by a part of their name.
const SCHEDULERS: [&str; 7] =
    ["volcano", "kai-scheduler", "runai", "coschedul", "koord", "yunikorn", "scheduler-plugins"];

/// Labels and annotations that place pods close to each other (Kueue, JobSet, Google, 2026-11).
const NEAR: [&str; 5] = [
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
    "exclusive-topology",
    "topology-aware",
    "network-topology",
];

pub(in crate::kubernetes) fn facts(pod: &Pod, labels: &CostLabels, facts: &mut Facts) {
    fill(facts, Key::Gang, gang(pod, labels));
    fill(facts, Key::Placement, placement(pod, labels));
}

fn gang(pod: &Pod, labels: &CostLabels) -> Fact<FactValue> {
    let label = labels.entries.iter().find(|(key, _)| GROUPS.contains(&key.as_str()));
    if let Some((key, fact)) = label {
        return fact.clone().map(|_| FactValue::text(key.as_str()));
    }
    let scheduler = pod.spec.get("schedulerName").and_then(|node| Some((node.text()?, node.span)));
    match scheduler {
        Some((name, span)) if SCHEDULERS.iter().any(|part| name.contains(part)) => {
            Fact::written(FactValue::Text(name.clone()), span)
        }
        Some((name, span)) if &**name != "default-scheduler" => {
            Fact::unknown(format!("the scheduler `{name}` may start pods together"), span)
        }
        _ => Fact::Absent,
    }
}

/// Returns what places the pods of a job close to each other: a topology, an affinity, or a selected zone.
fn placement(pod: &Pod, labels: &CostLabels) -> Fact<FactValue> {
    let label = labels.entries.iter().find(|(key, _)| NEAR.iter().any(|part| key.contains(part)));
    if let Some((key, fact)) = label {
        return fact.clone().map(|_| FactValue::text(key.as_str()));
    }
    let affinity = pod.spec.at("affinity.podAffinity").map(|node| ("pod affinity", node.span));
    let gates = pod.spec.get("schedulingGates").map(Node::items).unwrap_or_default();
    let gate = gates.iter().find(|gate| gate.text_at("name").is_some_and(|name| name.contains("topology")));
    let found = affinity.or_else(|| gate.map(|gate| ("a topology-aware scheduler", gate.span)));
    found.map_or(Fact::Absent, |(what, span)| Fact::written(FactValue::text(what), span))
}
