//! Counts the machines of an alternative that do the work of the current ones.
//!
//! The number of replicas of a fleet follows its load, so a slower machine needs more of them. One or two replicas may
//! be idle most of the time, so their load is unknown.

use super::speed::rate_share;
use super::{FactContext, NeededMachines, measured};
use crate::catalog::{Catalog, Money, MoneyRange};
use crate::fit::{FitAlternative, FitChoice, PlacedModel, tokens_per_day};
use crate::inventory::{Key, Purpose, Range, Resource, Task};
use crate::pricing::{BillItem, HOURS_PER_MONTH, Period};

/// From this number on, replicas are more than a minimum for availability, so their number follows the load.
const FLEET: f64 = 3.0;

/// Machines are busy for at most this share of the time on average, so that peaks fit.
const TARGET_BUSY: f64 = 0.6;

/// The evidence for the load of all machines of a resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LoadBasis {
    /// The tokens per day are declared or measured, and alternatives are selected by them.
    Traffic,
    /// The measured utilization, as a share of what the machines can do.
    Measured(f64),
    /// Work that ends: a slower machine takes longer.
    Run,
    /// A fleet, whose size follows its load.
    Fleet,
    Unknown,
}

impl LoadBasis {
    pub(super) fn name(self) -> &'static str {
        match self {
            LoadBasis::Traffic => "traffic",
            LoadBasis::Measured(_) => "measured",
            LoadBasis::Run => "run",
            LoadBasis::Fleet => "fleet",
            LoadBasis::Unknown => "unknown",
        }
    }

    pub(super) fn of(resource: &Resource, item: &BillItem) -> LoadBasis {
        if let Some(busy) = measured::surely_busy(resource).as_number() {
            return LoadBasis::Measured((busy / TARGET_BUSY).min(1.0));
        }
        if tokens_per_day(resource).is_some() {
            return LoadBasis::Traffic;
        }
        let ends = resource.flag(Key::EndsByItself) == Some(true) || item.per != Period::Month;
        if ends || resource.purpose() == Some(Purpose::Batch) {
            return LoadBasis::Run;
        }
        let count = item.count_of(resource).unwrap_or(Range::exactly(1.0));
        let is_scaled = resource.flag(Key::Autoscaled) == Some(true) && count.ceiling >= FLEET;
        if count.expected >= FLEET || is_scaled { LoadBasis::Fleet } else { LoadBasis::Unknown }
    }
}

/// How the speeds of two machines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeedBasis {
    /// Estimated tokens per second.
    Tokens,
    /// The worst of memory bandwidth, arithmetic and, for servers, memory.
    Hardware,
}

/// The machines of an alternative for each current machine, if both are at full load.
#[derive(Debug, Clone, Copy)]
pub(super) struct FullLoadRatio {
    pub(super) expected: f64,
    /// The ratio that suffices in nine of ten comparisons of measurements.
    pub(super) most: f64,
    pub(super) basis: SpeedBasis,
}

/// The machines that replace all current ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replacement {
    /// The current number of machines.
    pub(super) count: Range,
    /// The machines for each current machine, as far as the load is known.
    pub(super) each: f64,
    /// The maximum of `each`; `None` if nothing limits it.
    pub(super) each_most: Option<f64>,
    pub(super) load: LoadBasis,
    pub(super) full: Option<FullLoadRatio>,
}

impl Replacement {
    /// Returns `None` if the number of machines is unknown: the current number, or the speed of one side for a known
    /// load.
    pub(super) fn of(asking: &FactContext<'_>, id: u32, which: FitAlternative) -> Option<Replacement> {
        let resource = asking.world.inventory.resources.get(id as usize)?;
        let item = asking.item(id)?;
        let count = item.count_of(resource)?;
        if which == FitAlternative::Holding {
            let needed = asking.world.fit.get(id as usize)?.value()?.placed.value()?.promise?.needed?;
            let count = Range::exactly(needed);
            return Some(Replacement { count, each: 1.0, each_most: Some(1.0), load: LoadBasis::Traffic, full: None });
        }
        let load = LoadBasis::of(resource, item);
        let full = full_load_ratio(asking, id, which);
        let scaled = |share: f64| full.map(|it| ((it.expected * share).max(1.0), (it.most * share).max(1.0)));
        let (each, each_most) = match load {
            LoadBasis::Traffic => (1.0, Some(1.0)),
            LoadBasis::Unknown => (1.0, full.map(|it| it.most.max(1.0))),
            LoadBasis::Measured(share) => scaled(share).map(|(each, most)| (each, Some(most)))?,
            LoadBasis::Run | LoadBasis::Fleet => scaled(1.0).map(|(each, most)| (each, Some(most)))?,
        };
        Some(Replacement { count, each, each_most, load, full })
    }

    pub(super) fn machines(&self) -> f64 {
        whole_machines(self.count.expected, self.each)
    }

    /// Returns the maximum number of machines, if it is known.
    pub(super) fn machines_most(&self) -> Option<f64> {
        Some(whole_machines(self.count.expected, self.each_most?))
    }

    /// Returns the cost of these machines in the period of the item. Without an estimate of their number, the maximum
    /// is that of both.
    pub(super) fn cost(&self, item: &BillItem, node: &WholeNode, needed: Option<NeededMachines>) -> MoneyRange {
        let hours = if item.hours > 0.0 { item.hours } else { HOURS_PER_MONTH };
        let of = |count: f64, each: f64| node.per_hour(whole_machines(count, each)).times(hours);
        let Range { floor, expected, ceiling } = self.count;
        let last = if ceiling.is_finite() { ceiling } else { expected };
        let with =
            |each: f64| MoneyRange { floor: of(floor, each), expected: of(expected, each), ceiling: of(last, each) };
        let few = with(self.each);
        // Without a maximum, the machines may cost as much as now.
        let many = self.each_most.map_or_else(|| item.amount.unwrap_or(few), with);
        match needed {
            Some(NeededMachines::Expected) => few,
            Some(NeededMachines::Most) => many,
            None => MoneyRange { ceiling: few.ceiling.max(many.ceiling), ..few },
        }
    }
}

/// The machine of an alternative, and how many of its users fit on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WholeNode {
    /// The price of a user's part of the machine.
    part: Money,
    whole: Money,
    /// Whether users pay for whole machines.
    is_alone: bool,
}

impl WholeNode {
    /// A workload that has its machines to itself also has those of an alternative to itself. Otherwise, other pods use
    /// the rest of the machine.
    pub(super) fn of(asking: &FactContext<'_>, id: u32, choice: &FitChoice) -> WholeNode {
        let is_alone = has_whole_machines(asking, id) == Some(true);
        WholeNode { part: choice.per_hour, whole: choice.machine_per_hour, is_alone }
    }

    fn per_hour(&self, users: f64) -> Money {
        let (part, whole) = (self.part.usd(), self.whole.usd());
        if !self.is_alone || part <= 0.0 {
            return self.part.times(users);
        }
        let on_one = (whole / part + 1e-6).floor().max(1.0);
        self.whole.times((users / on_one - 1e-6).ceil().max(0.0))
    }
}

/// Returns whether a pod uses all accelerators of its machine.
fn has_whole_machines(asking: &FactContext<'_>, id: u32) -> Option<bool> {
    let resource = asking.world.inventory.resources.get(id as usize)?;
    let provider = resource.text(Key::Provider)?;
    let machine = asking.world.catalog.machine(provider, resource.text(Key::Machine)?)?;
    let used = resource.number(Key::AcceleratorCount)? + asking.item(id)?.stranded;
    Some(used >= machine.count)
}

fn whole_machines(count: f64, each: f64) -> f64 {
    match count.is_finite() {
        true if each <= 1.0 => count,
        // A quotient such as 2.0000000001 is two machines.
        true => (count * each - 1e-6).ceil(),
        false => 0.0,
    }
}

/// Returns the ratio by tokens per second, or else by the hardware.
pub(super) fn full_load_ratio(asking: &FactContext<'_>, id: u32, which: FitAlternative) -> Option<FullLoadRatio> {
    let catalog = asking.world.catalog;
    if let Some(share) = rate_share(asking, id, which) {
        let gap = catalog.throughput("gap-floor", "*")?;
        return Some(FullLoadRatio { expected: 1.0 / share, most: 1.0 / share / gap, basis: SpeedBasis::Tokens });
    }
    let resource = asking.world.inventory.resources.get(id as usize)?;
    let assessment = asking.world.fit.get(id as usize)?.value()?;
    let placed = assessment.placed.value()?;
    let slowdown = slowdown(catalog, resource, placed, placed.instead.get(&which)?, assessment.task)?;
    Some(FullLoadRatio { expected: slowdown, most: slowdown, basis: SpeedBasis::Hardware })
}

/// Returns the current hardware divided by the hardware of an alternative, for the resource in which the alternative is
/// worst. It is not known which of them limits the work.
fn slowdown(
    catalog: &Catalog,
    resource: &Resource,
    placed: &PlacedModel,
    choice: &FitChoice,
    task: Task,
) -> Option<f64> {
    let now = catalog.accelerator(resource.text(Key::Accelerator)?)?;
    let then = catalog.accelerator(&choice.accelerator)?;
    let at_work = placed.devices * resource.number(Key::DataParallel).unwrap_or(1.0).max(1.0);
    let devices = at_work / choice.devices;
    let ratio = |now: Option<f64>, then: Option<f64>| Some(now? / then.filter(|it| *it > 0.0)? * devices);
    let bandwidth = ratio(now.bandwidth_gb_per_second, then.bandwidth_gb_per_second)?;
    let arithmetic = ratio(now.bf16_tflops, then.bf16_tflops)?;
    // The memory of a server limits the requests that it answers at a time.
    let memory = if task == Task::Serve { ratio(Some(now.memory_gib), Some(then.memory_gib))? } else { 0.0 };
    Some(bandwidth.max(arithmetic).max(memory)).filter(|it| it.is_finite() && *it > 0.0)
}
