//! Provides conclusions from measurements and requests: the certain utilization, the number of copies that suffices,
//! and a smaller machine.

use std::sync::LazyLock;

use super::derived::copies;
use super::speed::{self, SpeedNumber};
use super::table::{Records, rows};
use super::{FactContext, kinds, unknown_fact, value_of};
use crate::catalog::Catalog;
use crate::fit::{
    Market, Smaller, entry_machine, smaller, smaller_for_requests, smaller_server, successor, tokens_per_day,
};
use crate::inventory::{BillingRole, Fact, FactOrigin, Key, LinkKind, Resource};
use crate::languages::cel::{CelType, CelValue};
use crate::pricing::BillItem;
use crate::rules::format;

pub(super) static SMALLER: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "smaller",
        kinds::SMALLER,
        None,
        rows! {
            machine: CelType::Text, "Machine type." => |asking, id| of(asking, id, |it| CelValue::text(&*it.choice.machine));
            accelerator: CelType::Text, "Accelerator of the machine." => |asking, id| of(asking, id, |it| CelValue::text(&*it.choice.accelerator));
            named: CelType::Text, "For messages: the machine with its accelerators, or only the accelerators if no provider is known." => named;
            memory_gib: CelType::Double, "Memory of one accelerator of the machine, in GiB." => |asking, id| of(asking, id, |it| {
                asking.world.catalog.accelerator(&it.choice.accelerator).map_or(CelValue::Absent, |it| CelValue::Double(it.memory_gib))
            });
            hourly: CelType::Double, "Price in dollars per hour." => |asking, id| of(asking, id, |it| CelValue::Double(it.choice.per_hour.usd()));
            slowdown: CelType::Double, "Factor by which the same work takes longer there: by arithmetic or by memory, whichever is larger." => |asking, id| of(asking, id, |it| CelValue::Double(it.slowdown));
        },
    )
});

pub(super) static REMOVABLE: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "removable",
        kinds::REMOVABLE,
        Some("number"),
        rows! {
            number: CelType::Double, "Number of them while the measurement ran." => |asking, id| units(asking, id, |it| CelValue::Double(it.number));
            keep: CelType::Double, "Number that would be busy for at most 60% of the time, but at least two in production, with a \
             PodDisruptionBudget or over several zones. Not set if the utilization was not measured." => |asking, id| units(asking, id, |it| it.keep.map_or(CelValue::Absent, CelValue::Double));
            named: CelType::Text, "For messages: replicas, machines or accelerators." => |asking, id| units(asking, id, |it| CelValue::text(it.name));
        },
    )
});

pub(super) fn all() -> [&'static Records; 2] {
    [&SMALLER, &REMOVABLE]
}

/// The measurement that selects a smaller machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The measured memory.
    Memory,
    /// The measured cache of a server.
    Cache,
    /// The accelerators that pods request from a pool.
    Pods,
    /// The hardware of a newer generation.
    Generation,
    /// The smallest current accelerators.
    Entry,
}

impl By {
    const COUNT: u32 = 5;

    /// Returns the facts that must be known.
    fn keys(self) -> &'static [Key] {
        match self {
            By::Memory => &[Key::MeasuredMemory, Key::MeasuredBusy],
            By::Cache => &[Key::MeasuredCache],
            By::Pods => &[Key::AskedAccelerators],
            By::Generation | By::Entry => &[Key::AcceleratorCount],
        }
    }
}

pub(super) fn measured_smaller(asking: &FactContext<'_>, id: u32) -> CelValue {
    record(asking, id, By::Memory)
}

pub(super) fn served_smaller(asking: &FactContext<'_>, id: u32) -> CelValue {
    record(asking, id, By::Cache)
}

pub(super) fn smaller_for_pods(asking: &FactContext<'_>, id: u32) -> CelValue {
    record(asking, id, By::Pods)
}

pub(super) fn newer(asking: &FactContext<'_>, id: u32) -> CelValue {
    record(asking, id, By::Generation)
}

pub(super) fn entry(asking: &FactContext<'_>, id: u32) -> CelValue {
    record(asking, id, By::Entry)
}

/// Returns the record if it exists. An uncertain measurement makes it unknown.
fn record(asking: &FactContext<'_>, id: u32, by: By) -> CelValue {
    asking.of(id, |resource| {
        let values = by.keys().iter().map(|key| value_of(resource.fact(*key)));
        if let Some(missing) = { values }.find(|it| it.as_number().is_none()) {
            return missing;
        }
        if let (By::Cache, Some(Fact::Unknown(unknown))) = (by, asking.world.fit.get(id as usize)) {
            return unknown_fact(&unknown.why, unknown.span, Vec::new());
        }
        let id = id * By::COUNT + by as u32;
        of(asking, id, |_| SMALLER.value(id))
    })
}

/// A search that needs no model.
type Search = fn(&Resource, &BillItem, &Catalog, &Market<'_>) -> Option<Smaller>;

fn of(asking: &FactContext<'_>, id: u32, read: impl Fn(&Smaller) -> CelValue) -> CelValue {
    let (id, by, world) = (id / By::COUNT, id % By::COUNT, asking.world);
    let find = || {
        let (resource, item) = (world.inventory.resources.get(id as usize)?, asking.item(id)?);
        let find = match by {
            by if by == By::Memory as u32 => Some(smaller as Search),
            by if by == By::Pods as u32 => Some(smaller_for_requests as Search),
            by if by == By::Generation as u32 => Some(successor as Search),
            by if by == By::Entry as u32 => Some(entry_machine as Search),
            _ => None,
        };
        if let Some(find) = find {
            return find(resource, item, world.catalog, asking.market);
        }
        let placed = world.fit.get(id as usize)?.value()?.placed.value()?;
        smaller_server(resource, item, placed, world.catalog, asking.market)
    };
    find().as_ref().map_or(CelValue::Absent, read)
}

fn named(asking: &FactContext<'_>, id: u32) -> CelValue {
    let resource = asking.world.inventory.resources.get((id / By::COUNT) as usize);
    let has_provider = resource.is_some_and(|it| it.text(Key::Provider).is_some());
    of(asking, id, |it| {
        let devices = format!("{} {}", format::number(it.choice.count), it.choice.accelerator);
        CelValue::text(if has_provider { format!("{} ({devices})", it.choice.machine) } else { devices })
    })
}

/// Metrics that count only the time in which an accelerator computes. Other metrics count all time in which something
/// is loaded, so their 100% proves nothing.
const METERS: [&str; 6] = ["GR_ENGINE", "SM_ACTIVE", "PROF_", "TOKENS", "NEURONCORE", "TENSORCORE"];

/// Returns the utilization by a metric that does not overestimate, if the measured workload is certain. Otherwise
/// absent.
pub(super) fn surely_busy(resource: &Resource) -> CelValue {
    let source = resource.text(Key::MeasuredSource).unwrap_or_default().to_ascii_uppercase();
    let counts_work = source.split('+').all(|it| METERS.iter().any(|meter| it.contains(meter)));
    let sure = |key: Key| match resource.fact(key) {
        Fact::Known(known) if known.origin == FactOrigin::Resolved => known.value.as_number(),
        _ => None,
    };
    let busy = sure(Key::MeasuredBusy).filter(|_| counts_work);
    let most = busy.into_iter().chain(sure(Key::MeasuredUnits)).reduce(f64::max);
    most.map_or(CelValue::Absent, CelValue::Double)
}

/// Parts of a resource that can be removed one by one if they are hardly busy.
struct RemovableUnits {
    number: f64,
    keep: Option<f64>,
    name: &'static str,
}

pub(super) fn removable(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |resource| match &resource.count {
        Fact::Unknown(unknown) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        _ => removable_units(resource).map_or(CelValue::Absent, |_| REMOVABLE.value(id)),
    })
}

fn units(asking: &FactContext<'_>, id: u32, read: fn(&RemovableUnits) -> CelValue) -> CelValue {
    asking.of(id, |resource| removable_units(resource).as_ref().map_or(CelValue::Absent, read))
}

/// Returns the replicas or machines of a resource. For a single one, returns its accelerators, unless one program
/// computes on all of them. The number of a resource that scales must be measured.
fn removable_units(resource: &Resource) -> Option<RemovableUnits> {
    let range = resource.count.value()?;
    let group = resource.number(Key::GroupSize).filter(|size| *size >= 1.0).unwrap_or(1.0);
    let fixed = (range.floor == range.ceiling).then_some(range.floor);
    let number = resource.number(Key::MeasuredReplicas).filter(|mean| *mean > 0.0).or(fixed)? / group;
    if number > 1.0 {
        let name = if resource.role == BillingRole::Rented { "machines" } else { "replicas" };
        return Some(RemovableUnits { number, keep: keep(resource, number, least(resource)), name });
    }
    let spans = |key: &Key| resource.number(*key).is_some_and(|number| number > 1.0);
    let is_one_program = SPANNING.iter().any(spans) || group > 1.0;
    let number = resource.number(Key::AcceleratorCount).filter(|number| *number > 1.0 && !is_one_program)?;
    Some(RemovableUnits { number, keep: keep(resource, number, 1.0), name: "accelerators" })
}

/// Returns the number that carries the measured load at the target utilization.
fn keep(resource: &Resource, number: f64, least: f64) -> Option<f64> {
    Some((number * resource.number(Key::MeasuredBusy)? / TARGET_BUSY).ceil().max(least))
}

/// Mean utilization of a fleet with enough reserve for usual peaks.
const TARGET_BUSY: f64 = 0.6;

/// The facts of a program that computes on several accelerators at a time.
const SPANNING: [Key; 4] = [Key::Processes, Key::TensorParallel, Key::PipelineParallel, Key::DataParallel];

/// Mean utilization above which a server has too little reserve.
const MOST_BUSY: f64 = 0.7;

/// Factor for reserve capacity above the measured peak.
const HEADROOM: f64 = 1.5;

/// Returns the copies that the measured peak needs, plus half as many again. Both the requests that one copy answers at
/// a time and its cache are checked, and the larger number counts. These copies would be busy for at most 70% of the
/// time. The result is two if one copy alone would be a risk.
pub(super) fn copies_needed(resource: &Resource) -> CelValue {
    let mut numbers = [None; 4];
    let keys = [Key::MeasuredRunning, Key::MeasuredReplicas, Key::MeasuredCache, Key::BatchSize];
    for (number, key) in numbers.iter_mut().zip(keys) {
        match value_of(resource.fact(key)) {
            unknown @ CelValue::Unknown(_) => return unknown,
            value => *number = value.as_number(),
        }
    }
    let [running, replicas, cache, batch] = numbers;
    let together = resource.number(Key::GroupSize).filter(|it| *it >= 1.0).unwrap_or(1.0);
    let by_batch = running.zip(batch).filter(|(_, batch)| *batch > 0.0).map(|(running, batch)| running / batch);
    let by_cache = replicas.zip(cache).map(|(replicas, cache)| replicas / together * cache);
    let Some(most) = by_batch.into_iter().chain(by_cache).reduce(f64::max) else { return CelValue::Absent };
    let busy = resource.number(Key::MeasuredBusy).zip(copies(resource).as_number());
    let by_busy = busy.map_or(0.0, |(busy, copies)| busy * copies / MOST_BUSY);
    CelValue::Double((most * HEADROOM).max(by_busy).ceil().max(least(resource)))
}

/// The traffic at its peak, as a multiple of its mean. Requests of people come in the hours in which they work.
const PEAK: f64 = 3.0;

/// Returns the copies that the declared or measured traffic needs at its peak, by the slower end of the speed estimate.
pub(super) fn copies_for_traffic(asking: &FactContext<'_>, id: u32) -> CelValue {
    asking.of(id, |resource| {
        let rate = speed::range(asking, id, None, SpeedNumber::Rate).map(|rate| rate.floor).filter(|it| *it > 0.0);
        let Some((tokens, rate)) = tokens_per_day(resource).zip(rate) else { return CelValue::Absent };
        CelValue::Double((tokens * PEAK / 86_400.0 / rate).ceil().max(least(resource)))
    })
}

/// Returns the minimum number of copies: one is not enough if the resource is marked as always available.
fn least(resource: &Resource) -> f64 {
    let may_serve = match resource.fact(Key::Production) {
        Fact::Known(known) => known.value.as_flag() == Some(true),
        Fact::Unknown(_) => true,
        Fact::Absent => false,
    };
    let is_kept = resource.links.iter().any(|link| link.kind == LinkKind::Budget);
    let is_spread = resource.number(Key::Zones).is_some_and(|zones| zones > 1.0);
    if may_serve || is_kept || is_spread { 2.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::{FactValue, ReadBy};
    use crate::source::{MemoryTree, SourceFiles, Span};

    fn measured(facts: &[(Key, FactValue)]) -> Resource {
        let sources = SourceFiles::new(MemoryTree::new().with("a", ""));
        let span = Span::new(sources.open("a").unwrap(), 0, 0);
        let mut resource =
            Resource::new(ReadBy::Kubernetes, BillingRole::Requested, "Deployment", "Deployment/a", span, span);
        for (key, value) in facts {
            resource.set(*key, Fact::known(value.clone(), span, FactOrigin::Resolved));
        }
        resource
    }

    #[test]
    fn only_meters_of_work_prove_work() {
        let busy = |source: &str| {
            let resource = measured(&[
                (Key::MeasuredBusy, FactValue::Number(0.9)),
                (Key::MeasuredSource, FactValue::text(source)),
            ]);
            surely_busy(&resource).as_number()
        };
        assert_eq!(busy("dcgm:GR_ENGINE_ACTIVE"), Some(0.9));
        assert_eq!(busy("dcgm:GPU_UTIL"), None);
        assert_eq!(busy("dcgm:GPU_UTIL+dcgm:GR_ENGINE_ACTIVE"), None);
        assert_eq!(busy("by hand"), None);
        let units =
            [(Key::MeasuredUnits, FactValue::Number(0.7)), (Key::MeasuredSource, FactValue::text("dcgm:GPU_UTIL"))];
        assert_eq!(surely_busy(&measured(&units)).as_number(), Some(0.7));
    }

    #[test]
    fn copies_are_those_of_the_peak_with_room_beside_it() {
        let needed = |facts: &[(Key, f64)]| {
            let facts: Vec<(Key, FactValue)> = facts.iter().map(|(key, it)| (*key, FactValue::Number(*it))).collect();
            copies_needed(&measured(&facts)).as_number()
        };
        let (running, replicas, cache) = (Key::MeasuredRunning, Key::MeasuredReplicas, Key::MeasuredCache);
        assert_eq!(needed(&[(running, 6.0), (replicas, 4.0), (cache, 0.1)]), Some(1.0));
        assert_eq!(needed(&[(running, 60.0), (replicas, 4.0), (cache, 0.3)]), Some(2.0));
        assert_eq!(needed(&[(running, 60.0), (replicas, 4.0), (cache, 0.9)]), Some(6.0));
        assert_eq!(needed(&[(running, 60.0), (replicas, 4.0)]), None);
        let batch = (Key::BatchSize, FactValue::Integer(32));
        let resource = measured(&[batch, (running, FactValue::Number(60.0)), (replicas, FactValue::Number(4.0))]);
        assert_eq!(copies_needed(&resource).as_number(), Some(3.0));
    }
}
