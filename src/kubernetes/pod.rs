//! What one pod asks for: accelerators, CPUs, memory, and the nodes that it wants.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::{Fact, Key, Selector, Taint, Value};
use crate::source::Span;

use super::amount;
use super::devices::{DEVICES, Device};
use super::nodes::{self, Condition, Facts, fill};
use super::path::Path;
use super::tree::Node;

/// A pod specification with the containers that its row finds in it.
#[derive(Debug, Clone)]
pub(super) struct Pod<'t> {
    pub spec: &'t Node,
    pub containers: Vec<&'t Node>,
    pub init: Vec<&'t Node>,
}

/// Accelerators that a pod asks for.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub count: Fact<f64>,
    pub slice: Option<(Arc<str>, Span)>,
    pub vendor: String,
    pub chip: Option<String>,
    pub provider: Option<String>,
    pub span: Span,
}

impl<'t> Pod<'t> {
    pub(super) fn new(spec: &'t Node, more: &[Path]) -> Self {
        let mut containers: Vec<&Node> = spec.get("containers").map(Node::items).unwrap_or_default().iter().collect();
        for path in more {
            containers.extend(path.all(spec).into_iter().map(|found| found.node).filter(|node| node.is_map()));
        }
        // Init containers that go on running count like containers.
        let starts = spec.get("initContainers").map(Node::items).unwrap_or_default();
        let (stay, init): (Vec<&Node>, Vec<&Node>) =
            starts.iter().partition(|node| node.text_at("restartPolicy").is_some_and(|policy| &**policy == "Always"));
        containers.extend(stay);
        Pod { spec, containers, init }
    }

    /// The accelerators that its containers ask for by resource keys; `None` where there are none.
    pub(super) fn request(&self) -> Option<Request> {
        let mut sum = Tally::default();
        for container in &self.containers {
            sum.add(container);
        }
        let mut most = sum.clone();
        for container in &self.init {
            let mut alone = Tally::default();
            alone.add(container);
            most.raise(alone);
        }
        most.request()
    }

    pub(super) fn conditions(&self) -> Vec<Condition> {
        let mut all = self.spec.get("nodeSelector").map(nodes::labels).unwrap_or_default();
        all.extend(self.spec.at("affinity.nodeAffinity").map(nodes::affinity).unwrap_or_default());
        all
    }

    /// Labels that it asks for of a node, and taints that it tolerates.
    pub(super) fn selector(&self, conditions: &[Condition]) -> Selector {
        let mut selector = Selector::default();
        for condition in conditions.iter().filter(|condition| !condition.preferred) {
            let fact = match condition.values.as_slice() {
                [(text, span)] => match amount::placeholder(text) {
                    Some(why) => Fact::unknown(why, *span),
                    None => Fact::written(text.clone(), *span),
                },
                _ => Fact::unknown("it may have several values", condition.span),
            };
            selector.labels.entry(condition.key.to_string()).or_insert(fact);
        }
        selector.taints = self.spec.get("tolerations").map(taints).unwrap_or_default();
        selector
    }

    pub(super) fn facts(&self, request: &Request, conditions: &[Condition]) -> Facts {
        let mut facts = nodes::facts(conditions);
        self.tolerated(&mut facts);
        fill(&mut facts, Key::AcceleratorCount, request.count.clone().map(Value::Number));
        if let Some((slice, span)) = &request.slice {
            fill(&mut facts, Key::Slice, Fact::written(Value::Text(slice.clone()), *span));
        }
        fill(&mut facts, Key::Vendor, Fact::written(Value::text(request.vendor.as_str()), request.span));
        if let Some(chip) = &request.chip {
            fill(&mut facts, Key::Accelerator, Fact::written(Value::text(chip.as_str()), request.span));
        }
        if let Some(provider) = &request.provider {
            fill(&mut facts, Key::Provider, Fact::written(Value::text(provider.as_str()), request.span));
        }
        fill(&mut facts, Key::Cpus, self.total("cpu", amount::number));
        fill(&mut facts, Key::Memory, self.total("memory", amount::gib));
        fill(&mut facts, Key::TimeLimit, self.limit());
        facts
    }

    /// A pod that tolerates the taint of spot machines may run on them.
    fn tolerated(&self, facts: &mut Facts) {
        for taint in self.spec.get("tolerations").map(taints).unwrap_or_default() {
            let Some(value) = &taint.value else { continue };
            let label = DEVICES.label(&taint.key);
            if label.and_then(|label| label.values.get(&**value)).is_some_and(|purchase| purchase == "spot") {
                fill(facts, Key::Purchase, Fact::written(Value::text("spot-or-on-demand"), taint.span));
            }
        }
    }

    /// The sum over containers of what is requested, or of the limit where nothing is.
    fn total(&self, key: &str, read: fn(&Node) -> Fact<f64>) -> Fact<Value> {
        let mut sum: Option<(f64, Span)> = None;
        for container in &self.containers {
            let Some(resources) = container.get("resources") else { continue };
            let Some(node) = ["requests", "limits"].iter().find_map(|part| resources.get(part)?.get(key)) else {
                continue;
            };
            match read(node) {
                Fact::Known(known) => {
                    let (total, span) = sum.unwrap_or((0.0, known.span));
                    sum = Some((total + known.value, span));
                }
                Fact::Unknown(unknown) => return Fact::unknown(unknown.why, unknown.span),
                Fact::Absent => {}
            }
        }
        sum.map_or(Fact::Absent, |(total, span)| Fact::written(Value::Number(total), span))
    }

    fn limit(&self) -> Fact<Value> {
        self.spec.get("activeDeadlineSeconds").map_or(Fact::Absent, |node| amount::number(node).map(Value::Number))
    }
}

/// Does this container ask for accelerators?
pub(super) fn asks(container: &Node) -> bool {
    let parts = ["limits", "requests"].into_iter().filter_map(|part| container.get("resources")?.get(part));
    parts.flat_map(Node::entries).any(|entry| DEVICES.device(&entry.key).is_some())
}

pub(super) fn taints(list: &Node) -> Vec<Taint> {
    let taints = list.items().iter().filter_map(|item| {
        let key = item.text_at("key").cloned().unwrap_or_default();
        Some(Taint { key, value: item.text_at("value").cloned(), span: item.span }).filter(|_| item.is_map())
    });
    taints.collect()
}

/// Amounts by resource key, in the order in which they are written.
#[derive(Debug, Clone, Default)]
struct Tally {
    amounts: BTreeMap<Arc<str>, (Fact<f64>, Span)>,
}

impl Tally {
    fn add(&mut self, container: &Node) {
        let Some(resources) = container.get("resources") else { return };
        let mut own: BTreeMap<&str, (Fact<f64>, Span)> = BTreeMap::new();
        for part in ["limits", "requests"] {
            for entry in resources.get(part).map(Node::entries).unwrap_or_default() {
                if DEVICES.device(&entry.key).is_some() || DEVICES.share(&entry.key).is_some() {
                    let span = entry.key_span.to(entry.value.span);
                    own.entry(&entry.key).or_insert_with(|| (amount::number(&entry.value), span));
                }
            }
        }
        let part = share(&own);
        for (key, (count, span)) in own {
            let Some((device, _)) = DEVICES.device(key) else { continue };
            let count = scaled(count, device, part.as_ref(), span);
            match self.amounts.get_mut(key) {
                Some((sum, _)) => *sum = plus(sum.clone(), count),
                None => {
                    self.amounts.insert(key.into(), (count, span));
                }
            }
        }
    }

    fn raise(&mut self, other: Tally) {
        for (key, (count, span)) in other.amounts {
            match self.amounts.get_mut(&key) {
                Some((known, _)) if known.value() >= count.value() || known.is_unknown() => {}
                _ => {
                    self.amounts.insert(key, (count, span));
                }
            }
        }
    }

    /// The key with the largest amount decides what it is; slices of several sizes are counted together.
    fn request(self) -> Option<Request> {
        let wanted =
            self.amounts.into_iter().filter(|(_, (count, _))| count.value() != Some(&0.0) && !count.is_absent());
        let mut wanted: Vec<_> = wanted.collect();
        wanted
            .sort_by(|(_, (a, _)), (_, (b, _))| b.value().partial_cmp(&a.value()).unwrap_or(std::cmp::Ordering::Equal));
        let (key, (count, span)) = wanted.first()?.clone();
        let (device, rest) = DEVICES.device(&key)?;
        let mut count = count;
        for (other, (more, _)) in wanted.into_iter().skip(1) {
            let Some((also, _)) = DEVICES.device(&other) else { continue };
            if also.vendor == device.vendor && also.slice == device.slice {
                count = plus(count, more);
            }
        }
        Some(Request {
            count,
            slice: device.slice.then(|| (Arc::from(rest), span)),
            vendor: device.vendor.clone(),
            chip: device.chip.clone(),
            provider: device.provider.clone(),
            span,
        })
    }
}

fn plus(a: Fact<f64>, b: Fact<f64>) -> Fact<f64> {
    match (a, b) {
        (Fact::Known(mut a), Fact::Known(b)) => {
            a.value += b.value;
            Fact::Known(a)
        }
        (Fact::Unknown(unknown), _) | (_, Fact::Unknown(unknown)) => Fact::Unknown(unknown),
        (Fact::Absent, other) | (other, Fact::Absent) => other,
    }
}

/// The part of a device that a container asks for beside it: `Ok` of a fraction, `Err` where it depends on the device.
fn share(own: &BTreeMap<&str, (Fact<f64>, Span)>) -> Option<Result<f64, Span>> {
    let shares = own.iter().filter_map(|(key, (amount, span))| Some((DEVICES.share(key)?, amount, *span)));
    let mut open = None;
    let mut known: Option<f64> = None;
    for (share, amount, span) in shares {
        match (share.whole, amount.value()) {
            (Some(whole), Some(amount)) => {
                let part = (amount / whole).min(1.0);
                known = Some(known.map_or(part, |other: f64| other.max(part)));
            }
            _ => open = Some(span),
        }
    }
    known.map(Ok).or(open.map(Err))
}

fn scaled(count: Fact<f64>, device: &Device, part: Option<&Result<f64, Span>>, span: Span) -> Fact<f64> {
    match part {
        Some(Ok(part)) => count.map(|count| count * part),
        Some(Err(span)) => Fact::unknown("the part of a device depends on its memory", *span),
        None if device.shared => match count.value() {
            Some(0.0) => count,
            _ => Fact::unknown("the device is shared; how much of it one share is stands elsewhere", span),
        },
        None => count.map(|count| count / device.per.unwrap_or(1.0)),
    }
}
