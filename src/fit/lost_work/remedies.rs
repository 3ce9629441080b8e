//! Lists what would reduce the lost work, with its saving and its cost.

use crate::catalog::{AWS, AZURE, GCP};
use crate::inventory::{Key, Purchase, Range};
use crate::pricing::{CostScenario, HOURS_PER_MONTH, Period};

use super::amounts::total;
use super::cold_start::{DOWNLOAD, IMAGE};
use super::inputs::{InterruptionRate, LostWorkInputs, SavedCheckpoints};
use super::{Change, LostAmount};

/// One way to lose less.
#[derive(Debug, Clone, PartialEq)]
pub struct LostWorkRemedy {
    /// A short name: probe, image-streaming, checkpoint-interval, weights-cache or on-demand.
    pub name: &'static str,
    pub action: String,
    /// What must be true for the saving.
    pub condition: String,
    /// The saving in GPU-hours of the period. `None` if its amount is unknown.
    pub gpu_hours: Option<Range>,
    /// The saving in dollars of the period.
    pub usd: Option<Range>,
    /// The cost of the remedy itself, in dollars of the period. `None` if this is unknown.
    pub costs: Option<f64>,
}

/// Returns the remedies that save something, the cheapest first. Among these, the largest saving comes first.
pub(super) fn remedies(inputs: &LostWorkInputs<'_>, usd_per_gpu_hour: Option<Range>) -> Vec<LostWorkRemedy> {
    let all = [probe(inputs), streaming(inputs), interval(inputs), cache(inputs), on_demand(inputs)];
    let mut found: Vec<LostWorkRemedy> = all.into_iter().flatten().collect();
    for remedy in &mut found {
        remedy.usd = remedy.gpu_hours.zip(usd_per_gpu_hour).map(|(hours, usd)| hours.times(usd));
    }
    let saving = |remedy: &LostWorkRemedy| remedy.gpu_hours.map_or(f64::INFINITY, |hours| hours.expected);
    found.sort_by(|one, other| {
        let cost = |remedy: &LostWorkRemedy| remedy.costs.unwrap_or(f64::INFINITY);
        cost(one).total_cmp(&cost(other)).then(saving(other).total_cmp(&saving(one)))
    });
    found
}

/// Returns the GPU-hours that a change saves, if it saves some.
fn saved(inputs: &LostWorkInputs<'_>, change: Change) -> Option<Range> {
    let before = inputs.parts();
    let after = LostWorkInputs { change, ..inputs.clone() }.parts();
    // A part that only one side knows would look like a saving.
    let both = before.iter().zip(&after).filter(|((_, one), (_, other))| {
        let is_known = |amount: &LostAmount| !matches!(amount, LostAmount::Unknown(_));
        is_known(one) && is_known(other)
    });
    let (before, after): (Vec<_>, Vec<_>) = both.map(|(one, other)| (one.clone(), other.clone())).unzip();
    let (before, after) = (total(&before)?, total(&after).unwrap_or(Range::exactly(0.0)));
    let less = |one: f64, other: f64| if one.is_infinite() { one } else { one - other };
    let saves = Range {
        floor: less(before.floor, after.floor),
        expected: less(before.expected, after.expected),
        ceiling: less(before.ceiling, after.ceiling),
    };
    (saves.expected > 0.0).then_some(saves)
}

fn remedy(name: &'static str, action: String, condition: &str, gpu_hours: Range, costs: Option<f64>) -> LostWorkRemedy {
    LostWorkRemedy { name, action, condition: condition.to_owned(), gpu_hours: Some(gpu_hours), usd: None, costs }
}

/// Returns whether a named part of a start is expected to take time.
fn takes(inputs: &LostWorkInputs<'_>, name: &str) -> bool {
    let terms = inputs.planned_start().into_iter().chain(inputs.restart());
    terms.filter(|term| term.name == name).any(|term| term.seconds.is_ok_and(|seconds| seconds.expected > 0.0))
}

fn probe(inputs: &LostWorkInputs<'_>) -> Option<LostWorkRemedy> {
    let terms = inputs.planned_start();
    inputs.probe_before_load(&terms)?;
    let own = terms.iter().filter(|term| !matches!(term.name, "machine" | IMAGE));
    let slowest: f64 = own.filter_map(|term| Some(term.seconds.as_ref().ok()?.ceiling)).sum();
    Some(LostWorkRemedy {
        name: "probe",
        action: format!("add a `startupProbe` that allows {slowest:.0} seconds"),
        condition: "the server then answers instead of starting again and again".to_owned(),
        gpu_hours: None,
        usd: None,
        costs: Some(0.0),
    })
}

fn streaming(inputs: &LostWorkInputs<'_>) -> Option<LostWorkRemedy> {
    if !takes(inputs, IMAGE) {
        return None;
    }
    let saves = saved(inputs, Change::ImageStreamed)?;
    let (action, condition) = match inputs.resource.text(Key::Provider) {
        Some(GCP) => ("turn on Image streaming of GKE", "the image is in Artifact Registry"),
        Some(AWS) => ("pull the image with the SOCI snapshotter", "the nodes run containerd with SOCI"),
        Some(AZURE) => ("turn on Artifact Streaming of AKS", "the image is in Azure Container Registry"),
        _ => ("stream the image, or pull its layers in parallel", "the node's container runtime supports it"),
    };
    Some(remedy("image-streaming", action.to_owned(), condition, saves, Some(0.0)))
}

pub(super) fn interval(inputs: &LostWorkInputs<'_>) -> Option<LostWorkRemedy> {
    let best = inputs.best_interval()?;
    let saves = saved(inputs, Change::CheckpointEvery(best))?;
    let action = match inputs.checkpoints() {
        SavedCheckpoints::EveryHours(now) => {
            format!("write a checkpoint every {} minutes instead of {:.0}", minutes(best), now * 60.0)
        }
        _ => format!("write a checkpoint every {} minutes to a place that outlives the machine", minutes(best)),
    };
    let condition =
        "by Young and Daly, for interruptions by the provider: failures of hardware and programs come in addition";
    Some(remedy("checkpoint-interval", action, condition, saves, Some(0.0)))
}

fn minutes(hours: f64) -> String {
    format!("{:.0}", (hours * 60.0).max(1.0))
}

pub(super) fn cache(inputs: &LostWorkInputs<'_>) -> Option<LostWorkRemedy> {
    if !takes(inputs, DOWNLOAD) {
        return None;
    }
    let saves = saved(inputs, Change::WeightsKept)?;
    let gib = inputs.weights_gib().ok()?;
    let region = inputs.resource.text(Key::Region);
    let disk = inputs.resource.text(Key::Provider).zip(region);
    let disk = disk.and_then(|(provider, region)| inputs.catalog.disk(provider, None, region, gib));
    let condition = match &disk {
        Some(disk) => {
            format!("one volume of {gib:.1} GiB at the price of {}; a shared file system costs more", disk.kind)
        }
        None => format!("a volume of {gib:.1} GiB; its price is unknown"),
    };
    let costs = disk.filter(|_| inputs.per() == Period::Month).map(|disk| disk.per_month.usd());
    let action = "keep the weights on a volume that all replicas read".to_owned();
    Some(remedy("weights-cache", action, &condition, saves, costs))
}

fn on_demand(inputs: &LostWorkInputs<'_>) -> Option<LostWorkRemedy> {
    let is_spot = inputs.resource.purchase() == Some(Purchase::Spot);
    if !is_spot || !matches!(inputs.interruption_rate(), InterruptionRate::PerHour(..)) {
        return None;
    }
    let saves = saved(inputs, Change::NotInterrupted)?;
    let price = |way| inputs.item.per_hour_if.get(&way).map(|range| range.expected.usd());
    let dearer = price(CostScenario::OnDemand)? - price(CostScenario::Spot)?;
    let hours = inputs.hours().map_or(HOURS_PER_MONTH, |hours| hours.expected);
    let costs = dearer.max(0.0) * inputs.count().ok()?.expected * hours;
    let action = "run on demand".to_owned();
    Some(remedy("on-demand", action, "nothing takes the machines back", saves, Some(costs)))
}
