//! Provides texts for messages about a resource, and facts computed from its other facts.

use crate::inventory::accelerators::{is_put_by_cloud, names_pools};
use crate::inventory::{BillingRole, Fact, FactOrigin, Key, LinkKind, Purpose, Resource};
use crate::languages::cel::CelValue;

use super::{Stand, unknown_fact, value_of};
use crate::rules::format;

/// Returns text such as `2 × 8 A100-80GB`, `0 to 4 × 1 L4`, `8 GPUs`.
pub(super) fn gpus(resource: &Resource) -> String {
    let name = resource.text(Key::Accelerator);
    let slice = resource.text(Key::Slice);
    let each = match (resource.number(Key::AcceleratorCount), name, slice) {
        (Some(count), Some(name), None) => format!("{} {name}", format::number(count)),
        (Some(count), _, Some(slice)) => format!("{} × {slice} of {}", format::number(count), name.unwrap_or("a GPU")),
        (Some(1.0), None, None) => "1 GPU".to_owned(),
        (Some(count), None, None) => format!("{} GPUs", format::number(count)),
        (None, Some(name), _) => name.to_owned(),
        (None, None, _) => match resource.text(Key::Machine) {
            Some(machine) => machine.to_owned(),
            None => "GPUs".to_owned(),
        },
    };
    match how_many(resource) {
        Some(count) => format!("{count} × {each}"),
        None => each,
    }
}

/// Formats the number of machines or pods. Empty if it is one or unknown.
fn how_many(resource: &Resource) -> Option<String> {
    let range = resource.count.value()?;
    if range.floor == range.ceiling {
        return (range.floor != 1.0).then(|| format::number(range.floor));
    }
    if range.ceiling.is_finite() {
        return Some(format!("{} to {}", format::number(range.floor), format::number(range.ceiling)));
    }
    (range.expected != 1.0).then(|| format!("{} or more", format::number(range.expected)))
}

const PARALLEL: [Key; 3] = [Key::TensorParallel, Key::PipelineParallel, Key::DataParallel];

/// Returns the accelerators that the declared parallelism uses. An undeclared factor counts as one.
pub(super) fn parallelism(resource: &Resource) -> CelValue {
    let mut product: Option<i64> = None;
    for key in PARALLEL {
        match value_of(resource.fact(key)) {
            CelValue::Integer(n) => product = Some(product.unwrap_or(1).saturating_mul(n)),
            CelValue::Absent => {}
            other => return other,
        }
    }
    product.map_or(CelValue::Absent, CelValue::Integer)
}

/// Returns the accelerators for one copy of the model: tensor × pipeline. An undeclared factor counts as one.
pub(super) fn gpus_needed(resource: &Resource) -> CelValue {
    let mut product: Option<f64> = None;
    for key in SPREAD {
        match value_of(resource.fact(key)) {
            CelValue::Integer(n) => product = Some(product.unwrap_or(1.0) * n as f64),
            CelValue::Absent => {}
            other => return other,
        }
    }
    product.map_or(CelValue::Absent, CelValue::Double)
}

const SPREAD: [Key; 2] = [Key::TensorParallel, Key::PipelineParallel];

/// Returns the number of pods that run one copy of a model together, or the unknown value that determines it.
fn group_size(resource: &Resource) -> Result<f64, CelValue> {
    match value_of(resource.fact(Key::GroupSize)) {
        CelValue::Integer(size) if size > 0 => Ok(size as f64),
        unknown @ CelValue::Unknown(_) => Err(unknown),
        _ => Ok(1.0),
    }
}

/// Returns the number of copies that answer requests: groups of pods if several pods run one copy, else pods or
/// machines.
pub(super) fn copies(resource: &Resource) -> CelValue {
    match value_of(resource.fact(Key::Groups)) {
        CelValue::Integer(groups) => return CelValue::Double(groups as f64),
        unknown @ CelValue::Unknown(_) => return unknown,
        _ => {}
    }
    let size = match group_size(resource) {
        Ok(size) => size,
        Err(unknown) => return unknown,
    };
    match &resource.count {
        Fact::Known(known) => CelValue::Double(known.value.floor / size),
        Fact::Unknown(unknown) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        Fact::Absent => CelValue::Absent,
    }
}

/// Returns whether a workload holds its accelerators while idle, and neither requests nor an autoscaler start or stop
/// it.
pub(super) fn only_waits(resource: &Resource) -> CelValue {
    let serves = resource.purpose() == Some(Purpose::Inference);
    let waits = !resource.fact(Key::Kept).is_absent() && !serves && resource.fact(Key::Autoscaled).is_absent();
    CelValue::Flag(waits)
}

/// Clouds that label their spot nodes, so that pods can select them.
const LABELS_SPOT: [&str; 3] = ["aws", "azure", "gcp"];

/// Returns whether a pod ends by itself, selects a cloud's machine and does not request spot. If the files define its
/// pool, or the pod names a pool or a queue, that decides instead.
pub(super) fn asks_no_spot(resource: &Resource) -> CelValue {
    let is_rented = resource.fact(Key::Provider).origin().is_some_and(|it| !matches!(it, FactOrigin::Assumed(_)))
        && resource.text(Key::Provider).is_some_and(|provider| LABELS_SPOT.contains(&provider));
    let is_decided = !resource.fact(Key::Purchase).is_absent()
        || !resource.fact(Key::Queue).is_absent()
        || resource.pools().next().is_some()
        || resource.links.iter().any(|link| link.kind == LinkKind::Queue);
    // A machine that waits in a cloud queue is bought on the queue's terms.
    let is_queued = resource.labels.entries.keys().any(|key| key.contains("provisioning"));
    let means_spot = |text: &str| ["spot", "preempt"].iter().any(|word| text.to_ascii_lowercase().contains(word));
    let says_machine = |key: &str| {
        let is_pool = names_pools(key) && !key.ends_with("instance-type") || key.contains("reservation");
        is_put_by_cloud(key) && !is_pool
    };
    let selector = &resource.selector;
    let only_machine = selector.labels.iter().all(|(key, value)| {
        says_machine(key) && !means_spot(key) && value.value().is_none_or(|value| !means_spot(value))
    });
    // A pod that tolerates every taint can also run on spot.
    let tolerates = selector.taints.iter().any(|taint| taint.key.is_empty() || means_spot(&taint.key));
    let asks = resource.role == BillingRole::Requested
        && resource.flag(Key::EndsByItself) == Some(true)
        && is_rented
        && !is_decided
        && !is_queued
        && !selector.labels.is_empty()
        && only_machine
        && !tolerates;
    CelValue::Flag(asks)
}

/// Returns whether a machine may stop for hours. The answer is always true, but certain only if the files mark it as
/// not production.
pub(super) fn may_rest(_: &Resource) -> CelValue {
    CelValue::Flag(true)
}

/// Returns the minimum number of machines or pods if any exist, because an unknown `count` may be 0. For a group that
/// keeps its desired number, all machines count if nothing in the files changes the number.
pub(super) fn floor_if_any(resource: &Resource) -> CelValue {
    match &resource.count {
        Fact::Known(known) if keeps_desired(resource) => CelValue::Double(known.value.expected),
        Fact::Known(known) => CelValue::Double(known.value.floor),
        Fact::Unknown(unknown) => {
            let some = unknown.candidates.iter().filter(|range| range.ceiling > 0.0).map(|range| range.floor);
            let least = some.reduce(f64::min);
            least.map_or_else(|| unknown_fact(&unknown.why, unknown.span, Vec::new()), CelValue::Double)
        }
        Fact::Absent => CelValue::Absent,
    }
}

/// Returns true if a group keeps its desired number. Pods, services and jobs change the number of their machines
/// through tags and links.
fn keeps_desired(resource: &Resource) -> bool {
    const MANAGERS: [&str; 5] = ["k8s.io/", "kubernetes.io/", "AmazonECSManaged", "karpenter.sh/", "aws:"];
    let is_managed = |key: &String| MANAGERS.iter().any(|part| key.contains(part));
    let is_wish = resource.count.value().is_some_and(|range| range.floor < 1.0 && range.expected >= 1.0);
    is_wish
        && resource.flag(Key::KeepsDesired) == Some(true)
        && resource.fact(Key::Autoscaled).is_absent()
        && resource.shifts.is_empty()
        && resource.links.iter().all(|it| !matches!(it.kind, LinkKind::Autoscaler | LinkKind::Stop))
        && resource.selector.labels.is_empty()
        && !resource.labels.entries.keys().any(is_managed)
}

/// Returns the place of a computed fact: the first fact that it is computed from.
pub(super) fn stand(name: &'static str, resource: &Resource) -> Stand {
    match name {
        "copies" if resource.fact(Key::Groups).is_absent() => Stand::of(name, &resource.count),
        "copies" => first_stand(name, resource, &[Key::Groups]),
        "only_waits" => Stand::of(name, resource.fact(Key::Kept)),
        "asks_no_spot" => {
            let origin =
                FactOrigin::Inferred("the pod does not request spot, and no file here defines its pool".into());
            Stand { name, span: None, defined: None, origin: Some(origin) }
        }
        "may_rest" if resource.purpose() != Some(Purpose::Inference) => {
            Stand { name, span: None, defined: None, origin: None }
        }
        "may_rest" => match resource.fact(Key::Production) {
            Fact::Known(known) if known.value.as_flag() == Some(false) => {
                Stand::of(name, resource.fact(Key::Production))
            }
            _ => {
                let origin = FactOrigin::Inferred("most servers are idle at night".into());
                Stand { name, span: None, defined: None, origin: Some(origin) }
            }
        },
        "base" => first_stand(name, resource, &[Key::Production]),
        "floor_if_any" => match &resource.count {
            Fact::Unknown(unknown) => {
                let origin = FactOrigin::Inferred(format!("unless the count is zero: {}", unknown.why).into());
                Stand { name, span: Some(unknown.span), defined: None, origin: Some(origin) }
            }
            Fact::Known(known) if keeps_desired(resource) => {
                let origin = FactOrigin::Inferred("no file here changes the desired number".into());
                Stand { name, span: Some(known.span), defined: known.defined, origin: Some(origin) }
            }
            count => Stand::of(name, count),
        },
        "removable" => Stand::of(name, &resource.count),
        "measured_smaller" => first_stand(name, resource, &[Key::MeasuredMemory, Key::MeasuredBusy]),
        "newer" | "entry" => first_stand(name, resource, &[Key::Machine, Key::Accelerator]),
        "copies_needed" => first_stand(
            name,
            resource,
            &[Key::MeasuredRunning, Key::MeasuredReplicas, Key::MeasuredCache, Key::BatchSize, Key::MeasuredBusy],
        ),
        "parallelism" => first_stand(name, resource, &PARALLEL),
        "gpus_used" => first_stand(name, resource, &USED),
        "gpus_needed" => first_stand(name, resource, &SPREAD),
        _ => Stand { name, span: None, defined: None, origin: None },
    }
}

const USED: [Key; 5] = [Key::Processes, Key::TensorParallel, Key::PipelineParallel, Key::DataParallel, Key::GroupSize];

/// Returns the accelerators in use on one machine or pod: the processes that a launcher starts, or this pod's share of
/// the declared parallelism.
pub(super) fn gpus_used(resource: &Resource) -> CelValue {
    match value_of(resource.fact(Key::Processes)) {
        CelValue::Integer(n) if n > 0 => return CelValue::Double(n as f64),
        unknown @ CelValue::Unknown(_) => return unknown,
        _ => {}
    }
    let pods = match group_size(resource) {
        Ok(pods) => pods,
        Err(unknown) => return unknown,
    };
    match parallelism(resource) {
        CelValue::Integer(n) => CelValue::Double(n as f64 / pods),
        other => other,
    }
}

/// Returns the place of the first fact that the files set, and the weakest origin.
fn first_stand(name: &'static str, resource: &Resource, keys: &[Key]) -> Stand {
    let facts: Vec<_> = keys.iter().map(|key| resource.fact(*key)).collect();
    let said = facts.iter().find(|fact| !fact.is_absent());
    Stand {
        name,
        span: said.and_then(|fact| fact.span()),
        defined: said.and_then(|fact| fact.defined()),
        origin: facts.iter().filter_map(|fact| fact.origin().cloned()).max(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::{self, BillingRole, Fact, FactOrigin, Range, ReadBy};
    use crate::source::{MemoryTree, SourceFiles, Span};

    #[test]
    fn messages_name_what_is_known() {
        let sources = SourceFiles::new(MemoryTree::new().with("a", ""));
        let span = Span::new(sources.open("a").unwrap(), 0, 0);
        let mut resource = Resource::new(ReadBy::Terraform, BillingRole::Rented, "x", "x.y", span, span);
        assert_eq!(gpus(&resource), "GPUs");
        resource.set(Key::AcceleratorCount, Fact::written(inventory::FactValue::Number(8.0), span));
        assert_eq!(gpus(&resource), "8 GPUs");
        resource.set(Key::Accelerator, Fact::written(inventory::FactValue::text("A100-80GB"), span));
        assert_eq!(gpus(&resource), "8 A100-80GB");
        resource.count = Fact::known(Range::between(0.0, Some(2.0), 4.0), span, FactOrigin::Written);
        assert_eq!(gpus(&resource), "0 to 4 × 8 A100-80GB");
        resource.count = Fact::unknown("no default", span);
        assert_eq!(gpus(&resource), "8 A100-80GB");
    }
}
