//! Follows Kueue queues: a workload names a local queue, which names a cluster queue, which names flavors. Pods get the
//! labels of their flavor as their node selector.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::{CostLabels, Fact, FactOrigin, FactValue, KnownFact};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::nodes::{self, Condition};
use super::request::{self, PodRequest};
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::facts::Facts;

/// The label with which a workload names its queue.
const NAMED: &str = "kueue.x-k8s.io/queue-name";

/// Returns the node conditions that the flavors of a queue add to those of the pod.
pub(super) fn conditions(
    object: &KubernetesObject<'_>,
    labels: &CostLabels,
    request: &PodRequest,
    own: &[Condition],
    index: &ObjectIndex<'_>,
) -> Vec<Condition> {
    let Some(cluster) = queue_of(object, labels, index) else { return Vec::new() };
    let fitting: Vec<Vec<Condition>> =
        flavours(cluster, request, index).into_iter().filter(|labels| fits(labels, own)).collect();
    shared(&fitting).into_iter().filter(|it| own.iter().all(|known| known.key != it.key)).collect()
}

/// Returns the cluster queue that the labels of a workload lead to.
fn queue_of<'i, 't>(
    object: &KubernetesObject<'_>,
    labels: &CostLabels,
    index: &'i ObjectIndex<'t>,
) -> Option<&'i KubernetesObject<'t>> {
    let Some(Fact::Known(KnownFact { value: name, span, .. })) = labels.entries.get(NAMED) else { return None };
    cluster_queue(object, name, *span, index)
}

/// Returns how many accelerators all workloads of the queue may use: its own quotas, and what it may borrow.
pub(super) fn most_accelerators(
    object: &KubernetesObject<'_>,
    labels: &CostLabels,
    request: &PodRequest,
    index: &ObjectIndex<'_>,
) -> Fact<FactValue> {
    let Some((key, cluster)) = request.key.as_deref().zip(queue_of(object, labels, index)) else { return Fact::Absent };
    let borrows = cluster.root.at("spec.cohort").is_some() || cluster.root.at("spec.cohortName").is_some();
    let resources = all_flavors(cluster).filter_map(|flavor| flavor.get("resources")).flat_map(Node::items);
    let mut sum = Fact::Absent;
    for resource in resources.filter(|it| it.text_at("name").is_some_and(|name| **name == *key)) {
        let of = |name: &str| resource.get(name).map_or(Fact::Absent, amount::amount);
        match (borrows, of("borrowingLimit")) {
            (true, Fact::Absent) => return Fact::Absent,
            (true, more) => sum = request::plus(request::plus(sum, of("nominalQuota")), more),
            (false, _) => sum = request::plus(sum, of("nominalQuota")),
        }
    }
    sum.map(FactValue::Number)
}

/// Returns the facts from these conditions, which are resolved through the queue.
pub(super) fn facts(conditions: &[Condition]) -> Facts {
    let mut facts = nodes::facts(conditions);
    for fact in facts.values_mut() {
        if let Fact::Known(known) = fact {
            known.origin = known.origin.clone().weakest(FactOrigin::Resolved);
        }
    }
    facts
}

/// Returns the cluster queue of a local queue. Several equally near local queues must lead to the same cluster queue.
fn cluster_queue<'i, 't>(
    object: &KubernetesObject<'_>,
    name: &Arc<str>,
    span: Span,
    index: &'i ObjectIndex<'t>,
) -> Option<&'i KubernetesObject<'t>> {
    let locals = index.nearest("kueue.x-k8s.io/LocalQueue", name, NamePlace::of(span));
    let same_space = |local: &&&KubernetesObject<'_>| match (&local.namespace, &object.namespace) {
        (Some(queue), Some(own)) => queue == own,
        _ => true,
    };
    let leads = locals.iter().filter(same_space).filter_map(|local| local.root.at("spec.clusterQueue"));
    let leads: Vec<&Node> = leads.collect();
    let (first, name) = leads.first().and_then(|node| Some((*node, node.text()?)))?;
    let agree = leads.iter().all(|node| node.text() == Some(name));
    only(index.nearest("kueue.x-k8s.io/ClusterQueue", name, NamePlace::of(first.span))).filter(|_| agree)
}

/// Returns the flavors of a queue, in all of its groups of resources.
fn all_flavors<'t>(cluster: &KubernetesObject<'t>) -> impl Iterator<Item = &'t Node> {
    let groups = cluster.root.at("spec.resourceGroups").map(Node::items).unwrap_or_default();
    groups.iter().filter_map(|group| group.get("flavors")).flat_map(Node::items)
}

/// Returns the node labels of each flavor from which a queue provides the requested resources.
fn flavours(cluster: &KubernetesObject<'_>, request: &PodRequest, index: &ObjectIndex<'_>) -> Vec<Vec<Condition>> {
    let gives = |flavour: &&Node| {
        let resources = flavour.get("resources").map(Node::items).unwrap_or_default();
        let names = resources.iter().filter_map(|resource| resource.text_at("name"));
        names.filter_map(|name| DEVICES.device(name)).any(|(device, _)| device.vendor == request.vendor)
    };
    let labels = all_flavors(cluster).filter(gives).map(|flavour| {
        let name = flavour.text_at("name")?;
        let object = only(index.nearest("kueue.x-k8s.io/ResourceFlavor", name, NamePlace::of(flavour.span)))?;
        Some(object.root.at("spec.nodeLabels").map(nodes::labels).unwrap_or_default())
    });
    // If a flavor is missing, the pods may run on any nodes.
    labels.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Returns whether a pod may use a flavor. Kueue skips a flavor whose nodes do not match the pod's own conditions.
fn fits(flavour: &[Condition], own: &[Condition]) -> bool {
    let value = |condition: &Condition| condition.values.first().map(|(text, _)| text.clone());
    flavour.iter().all(|label| {
        let asked = own.iter().filter(|it| it.key == label.key && !it.preferred && !it.values.is_empty());
        asked.into_iter().all(|it| it.values.iter().any(|(text, _)| Some(text) == value(label).as_ref()))
    })
}

/// Returns the conditions that all flavors have, with the values of each flavor.
fn shared(flavours: &[Vec<Condition>]) -> Vec<Condition> {
    let Some((first, others)) = flavours.split_first() else { return Vec::new() };
    let everywhere = first.iter().filter_map(|condition| {
        let mut joined = condition.clone();
        let mut seen: BTreeSet<Arc<str>> = joined.values.iter().map(|(text, _)| text.clone()).collect();
        for other in others {
            let same = other.iter().find(|it| it.key == condition.key)?;
            joined.values.extend(same.values.iter().filter(|(text, _)| seen.insert(text.clone())).cloned());
        }
        Some(joined)
    });
    everywhere.collect()
}

fn only<'i, 't>(found: Vec<&'i KubernetesObject<'t>>) -> Option<&'i KubernetesObject<'t>> {
    match found.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}
