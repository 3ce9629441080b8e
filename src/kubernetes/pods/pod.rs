//! Reads one pod: its containers, its other requests, and the nodes that it selects.

use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, NodeSelector, Purchase, Taint, UnknownFact};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::nodes;
use super::nodes::Condition;
use super::request::PodRequest;
use crate::kubernetes::objects::layers;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::devices::{DEVICES, LabelMeaning};
use crate::kubernetes::rows::facts::{Facts, fill};
use crate::kubernetes::rows::table::Pods;
use crate::kubernetes::text::nested;

/// A pod specification with the containers that its definition finds.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct Pod {
    pub spec: Node,
    /// The frame of the specification: labels and annotations.
    pub frame: Option<Node>,
    pub containers: Vec<PodContainer>,
    /// Init containers, which start one after the other, in this order.
    pub init: Vec<InitContainer>,
    pub row: Option<&'static Pods>,
    /// Device claims that are defined outside the specification.
    pub claims: Vec<Node>,
}

/// An init container.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct InitContainer {
    pub part: PodContainer,
    /// True if the container keeps running next to all containers that start later.
    pub stays: bool,
}

impl InitContainer {
    fn of(node: &Node) -> Self {
        let stays = node.text_at("restartPolicy").is_some_and(|policy| &**policy == "Always");
        InitContainer { part: PodContainer::container(node), stays }
    }
}

/// A container, or a mapping that is used like one.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct PodContainer {
    pub node: Node,
    /// The limits and requests.
    pub resources: Option<Node>,
    /// True if the requests of the container are defined outside of it.
    pub apart: bool,
}

impl PodContainer {
    pub(in crate::kubernetes) fn container(node: &Node) -> Self {
        PodContainer { node: node.clone(), resources: node.get("resources").cloned(), apart: false }
    }
}

/// The mount paths of shared memory. On some systems, the first path leads to the second.
const SHARED: [&str; 2] = ["/dev/shm", "/run/shm"];

impl Pod {
    pub(in crate::kubernetes) fn new(spec: &Node, frame: Option<&Node>, row: Option<&'static Pods>) -> Self {
        let listed = spec.get("containers").map(Node::items).unwrap_or_default();
        let mut containers: Vec<PodContainer> = listed.iter().map(PodContainer::container).collect();
        for found in row.iter().flat_map(|row| &row.containers).flat_map(|path| path.all(spec)) {
            if found.node.is_map() {
                let apart = row.is_some_and(|row| row.amount.is_some());
                containers.push(PodContainer { apart, ..PodContainer::container(found.node) });
            }
        }
        for found in row.iter().flat_map(|row| &row.resources).flat_map(|path| path.all(spec)) {
            containers.push(PodContainer {
                node: found.node.clone(),
                resources: Some(found.node.clone()),
                apart: false,
            });
        }
        for found in row.iter().flat_map(|row| &row.limits).flat_map(|path| path.all(spec)) {
            let resources = Some(Node::framed("limits", found.node));
            containers.push(PodContainer { node: found.node.clone(), resources, apart: false });
        }
        if let Some(patch) = row.and_then(|row| row.patch.as_ref()?.first(spec)).and_then(nested::parsed) {
            patch_containers(&mut containers, &patch);
        }
        // Init containers that keep running count like containers.
        let init: Vec<InitContainer> =
            spec.get("initContainers").map(Node::items).unwrap_or_default().iter().map(InitContainer::of).collect();
        containers.extend(init.iter().filter(|init| init.stays).map(|init| init.part.clone()));
        Pod { spec: spec.clone(), frame: frame.cloned(), containers, init, row, claims: Vec::new() }
    }

    /// Returns the full resource key, if the object uses a short name.
    pub(in crate::kubernetes) fn long_key<'k>(&self, key: &'k str) -> &'k str {
        self.row.and_then(|row| row.keys.get(key)).map_or(key, String::as_str)
    }

    /// Returns whether the pod is only a patch of another object, because a patch names no image.
    pub(in crate::kubernetes) fn is_overlay(&self) -> bool {
        !self.containers.is_empty()
            && self.row.is_none_or(|row| {
                row.containers.is_empty() && row.resources.is_empty() && row.limits.is_empty() && !row.completed
            })
            && self.containers.iter().all(|part| part.node.get("image").is_none())
    }

    pub(in crate::kubernetes) fn conditions(&self) -> Vec<Condition> {
        let mut all = self.spec.get("nodeSelector").map(nodes::labels).unwrap_or_default();
        let more = self.row.iter().flat_map(|row| &row.selectors).flat_map(|path| path.all(&self.spec));
        all.extend(more.flat_map(|found| nodes::labels(found.node)));
        all.extend(self.spec.at("affinity.nodeAffinity").map(nodes::affinity).unwrap_or_default());
        // Some schedulers read the requested type from annotations.
        let annotations = self.frame.as_ref().and_then(|frame| frame.at("metadata.annotations")).map(nodes::labels);
        all.extend(annotations.unwrap_or_default().into_iter().filter(|it| DEVICES.label(&it.key).is_some()));
        all
    }

    /// Returns the labels by which the pod selects nodes, and the taints that it tolerates.
    pub(in crate::kubernetes) fn selector(&self, conditions: &[Condition]) -> NodeSelector {
        let mut selector = NodeSelector::default();
        for condition in conditions.iter().filter(|condition| !condition.preferred) {
            selector.refuses.extend(condition.refused.clone().map(|refused| (condition.key.clone(), refused)));
            if condition.only_refuses() {
                continue;
            }
            let fact = match condition.values.as_slice() {
                [(text, span)] => match amount::placeholder(text) {
                    Some(why) => Fact::unknown(why, *span),
                    None => Fact::written(text.clone(), *span),
                },
                several => Fact::Unknown(UnknownFact {
                    span: condition.span,
                    why: "several values are possible".into(),
                    candidates: several.iter().map(|(text, _)| text.clone()).collect(),
                }),
            };
            selector.labels.entry(condition.key.to_string()).or_insert(fact);
        }
        selector.taints = self.tolerations();
        selector
    }

    fn tolerations(&self) -> Vec<Taint> {
        self.spec.get("tolerations").map(taints).unwrap_or_default()
    }

    pub(in crate::kubernetes) fn facts(&self, request: &PodRequest, conditions: &[Condition]) -> Facts {
        let mut facts = nodes::facts(conditions);
        self.tolerated(&mut facts);
        fill(&mut facts, Key::AcceleratorCount, request.count.clone().map(FactValue::Number));
        if let Some((slice, span)) = &request.slice {
            fill(&mut facts, Key::Slice, Fact::written(FactValue::Text(slice.clone()), *span));
        }
        if !request.vendor.is_empty() {
            fill(&mut facts, Key::Vendor, Fact::written(FactValue::text(request.vendor.as_str()), request.span));
        }
        fill(&mut facts, Key::Accelerator, request.chip.clone().map(FactValue::Text));
        fill(&mut facts, Key::Accelerator, self.tolerated_card());
        if let Some(provider) = &request.provider {
            fill(&mut facts, Key::Provider, Fact::written(FactValue::text(provider.as_str()), request.span));
        }
        fill(&mut facts, Key::Cpus, self.total(&["requests", "limits"], "cpu", amount::number));
        fill(&mut facts, Key::CpuLimit, self.total(&["limits"], "cpu", amount::number));
        fill(&mut facts, Key::Memory, self.total(&["requests", "limits"], "memory", amount::gib));
        fill(&mut facts, Key::SharedMemory, self.shared_memory());
        fill(&mut facts, Key::Priority, text(self.spec.get("priorityClassName")));
        fill(&mut facts, Key::TimeLimit, self.limit());
        facts
    }

    /// Adds the fact that a pod may run on spot machines, if it tolerates their taint.
    fn tolerated(&self, facts: &mut Facts) {
        for taint in self.tolerations() {
            let Some(value) = &taint.value else { continue };
            let label = DEVICES.label(&taint.key);
            if label.and_then(|label| label.map.get(&**value)).is_some_and(|purchase| purchase == Purchase::Spot.name())
            {
                fill(facts, Key::Purchase, Fact::written(Purchase::SpotOrOnDemand.into(), taint.span));
            }
        }
    }

    /// Returns the card in the value of a device taint: `nvidia.com/gpu=NVIDIA-A10G-SHARED`.
    fn tolerated_card(&self) -> Fact<FactValue> {
        let named = self.tolerations().into_iter().find_map(|taint| {
            DEVICES.device(&taint.key)?;
            let mut cards = DEVICES.names.iter().filter(|name| name.fact == LabelMeaning::Accelerator);
            Some((cards.find_map(|name| name.find(taint.value.as_ref()?))?, taint.span))
        });
        named.map_or(Fact::Absent, |(card, span)| {
            Fact::known(FactValue::text(card), span, FactOrigin::Inferred("named in a taint that it tolerates".into()))
        })
    }

    /// Returns the sum over all containers. Each container contributes the value of the first of these sections that
    /// sets one.
    fn total(&self, sides: &[&str], key: &str, read: fn(&Node) -> Fact<f64>) -> Fact<FactValue> {
        let mut sum: Option<(f64, Span)> = None;
        for part in &self.containers {
            let Some(resources) = &part.resources else { continue };
            let Some(node) = sides.iter().find_map(|side| resources.get(side)?.get(key)) else { continue };
            match read(node) {
                Fact::Known(known) => {
                    let (total, span) = sum.unwrap_or((0.0, known.span));
                    sum = Some((total + known.value, span));
                }
                Fact::Unknown(unknown) => return Fact::unknown(unknown.why, unknown.span),
                Fact::Absent => {}
            }
        }
        sum.map_or(Fact::Absent, |(total, span)| Fact::written(FactValue::Number(total), span))
    }

    /// Returns whether the processes of the pod have more shared memory than the default of 64 MiB: a volume in memory,
    /// or the memory of the host.
    fn shared_memory(&self) -> Fact<FactValue> {
        if let Some(host) = self.spec.get("hostIPC").filter(|host| host.flag() == Some(true)) {
            return Fact::written(FactValue::Flag(true), host.span);
        }
        let volumes = self.spec.get("volumes").map(Node::items).unwrap_or_default();
        fn medium(volume: &Node) -> Option<&Node> {
            volume.at("emptyDir.medium").filter(|it| it.text().is_some_and(|t| &**t == "Memory"))
        }
        if let Some(memory) = volumes.iter().find_map(medium) {
            return Fact::written(FactValue::Flag(true), memory.span);
        }
        // Any mount at this path replaces the default: the memory of the host, or a claim.
        let mounts = self.containers.iter().filter_map(|part| part.node.get("volumeMounts"));
        let there = |mount: &&Node| mount.text_at("mountPath").is_some_and(|path| SHARED.contains(&&**path));
        if let Some(mount) = mounts.clone().flat_map(Node::items).find(there) {
            return Fact::written(FactValue::Flag(true), mount.span);
        }
        let mut lists = self.spec.get("volumes").into_iter().chain(mounts);
        if let Some(hole) = lists.find(|list| amount::is_hole(list) || list.items().iter().any(amount::is_hole)) {
            return Fact::unknown("a template directive sets some of its volumes", hole.span);
        }
        Fact::known(FactValue::Flag(false), self.spec.span, crate::inventory::FactOrigin::Default)
    }

    fn limit(&self) -> Fact<FactValue> {
        self.spec.get("activeDeadlineSeconds").map_or(Fact::Absent, |node| amount::number(node).map(FactValue::Number))
    }
}

/// The role of a container whose definition gives it no name.
const MAIN: &str = "main";

/// Applies the resources of a patch to the containers that it names.
fn patch_containers(containers: &mut [PodContainer], patch: &Node) {
    for change in patch.get("containers").map(Node::items).unwrap_or_default() {
        let Some(resources) = change.get("resources") else { continue };
        let name = change.text_at("name").map_or(MAIN, |name| name);
        let called = |part: &PodContainer| part.node.text_at("name").map_or(MAIN, |name| name) == name;
        for part in containers.iter_mut().filter(|part| called(part)) {
            part.resources = Some(match &part.resources {
                Some(own) => layers::over(own, resources, 0),
                None => resources.clone(),
            });
        }
    }
}

/// Returns a scalar as a fact. A string with placeholders is unknown.
pub(in crate::kubernetes) fn text(node: Option<&Node>) -> Fact<FactValue> {
    let Some((node, text)) = node.and_then(|node| Some((node, node.text()?))) else { return Fact::Absent };
    match amount::placeholder(text) {
        Some(why) => Fact::unknown(why, node.span),
        None => Fact::written(FactValue::Text(Arc::clone(text)), node.span),
    }
}

pub(in crate::kubernetes) fn taints(list: &Node) -> Vec<Taint> {
    let taints = list.items().iter().filter(|item| item.is_map()).map(|item| Taint {
        key: item.text_at("key").cloned().unwrap_or_default(),
        value: item.text_at("value").cloned(),
        effect: item.text_at("effect").cloned(),
        span: item.span,
    });
    let mut all: Vec<Taint> = taints.collect();
    // Some operators write taints as a mapping: `key: value:Effect`.
    all.extend(list.entries().iter().map(|entry| Taint {
        key: entry.key.clone(),
        value: entry.value.text().map(|text| text.split(':').next().unwrap_or_default().into()),
        effect: entry.value.text().and_then(|text| Some(text.split_once(':')?.1.into())),
        span: entry.key_span,
    }));
    all
}
