//! Computes the scorecard of a tree: how many resources follow each practice, and the possible savings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;

use crate::catalog::{Currency, Money, MoneyRange, grouped};
use crate::inventory::{BillingRole, CountedAs, Fact, Key, Purchase, Purpose, Resource, ResourceId};
use crate::pricing::Period;
use crate::report::Report;
use crate::report::views::markup::{Markdown, figures, markdown};
use crate::rules::{Finding, Layer, Risk};

/// The number of resources that follow a practice, and of those that could.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(in crate::report) struct ScorecardShare {
    of: usize,
    are: usize,
}

#[derive(Debug, Default, Serialize)]
pub(in crate::report) struct Scorecard {
    #[serde(skip)]
    currency: Currency,
    /// Training and batch work on spot, of the work with a known purchase option.
    on_spot: ScorecardShare,
    /// Pools and machines whose minimum is zero.
    scales_to_zero: ScorecardShare,
    /// Taggable resources with a cost label.
    labelled: ScorecardShare,
    /// Work that ends by itself and has a time limit.
    time_limited: ScorecardShare,
    /// Workloads with a known model and no finding of a sizing rule.
    right_sized: ScorecardShare,
    /// Usage metrics, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<MeasuredUse>,
    unpriced: usize,
    undetermined: usize,
    /// Dollars per month, the largest saving of each resource, by layer and by risk.
    saves_by_layer: BTreeMap<&'static str, f64>,
    saves_by_risk: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    layers: Vec<(&'static str, Money)>,
    #[serde(skip)]
    risks: Vec<(&'static str, Money)>,
}

/// The measured use of accelerators, with the targets of practitioners.
#[derive(Debug, Clone, Copy, Serialize)]
struct MeasuredUse {
    /// Accelerator hours with a known utilization.
    gpu_hours: f64,
    /// The share of these hours in which accelerators worked.
    utilization: f64,
    utilization_target: f64,
    /// Hours in which accelerators did nothing; none unless all resources have this metric.
    idle_gpu_hours: Option<f64>,
    idle_gpu_hours_target: f64,
    spot_share_target: f64,
}

/// The targets, which teams that track utilization reach: accelerators are busy for more than 60% of the paid time,
/// and more than 70% of the training that can wait runs on spot.
const UTILIZATION_TARGET: f64 = 0.6;
const SPOT_TARGET: f64 = 0.7;

impl MeasuredUse {
    /// Returns the measured use; `None` if nothing is measured.
    fn new(report: &Report) -> Option<MeasuredUse> {
        let (mut hours, mut busy, mut idle) = (0.0, 0.0, 0.0);
        // Uses machines if any of them are measured, otherwise pods, because hours of pods are also hours of machines.
        let measured = || report.inventory.resources.iter().filter(|it| it.is_added());
        let is_rented = measured().any(|it| it.role == BillingRole::Rented && it.number(Key::MeasuredBusy).is_some());
        let role = if is_rented { BillingRole::Rented } else { BillingRole::Requested };
        let measured = measured().filter(|it| it.role == role);
        let mut is_idle_known = true;
        for it in measured {
            let Some((of, worked)) = it.number(Key::MeasuredHours).zip(it.number(Key::MeasuredBusy)) else { continue };
            hours += of;
            busy += of * worked;
            is_idle_known &= it.number(Key::MeasuredIdle).is_some();
            idle += of * it.number(Key::MeasuredIdle).unwrap_or_default();
        }
        let rounded = |number: f64| (number * 1000.0).round() / 1000.0;
        (hours > 0.0).then(|| MeasuredUse {
            gpu_hours: rounded(hours),
            utilization: rounded(busy / hours),
            utilization_target: UTILIZATION_TARGET,
            idle_gpu_hours: is_idle_known.then(|| rounded(idle)),
            idle_gpu_hours_target: 0.0,
            spot_share_target: SPOT_TARGET,
        })
    }

    fn lines(self) -> [(&'static str, String); 2] {
        let percent = |share: f64| format!("{}%", (share * 100.0).round());
        let hours = |hours: f64| grouped(hours.round().max(0.0) as u64);
        let idle = match self.idle_gpu_hours {
            Some(idle) => format!("{} of {}, target 0", hours(idle), hours(self.gpu_hours)),
            None => "not measured for all resources, target 0".to_owned(),
        };
        [
            (
                "measured: utilization",
                format!("{}, target over {}", percent(self.utilization), percent(self.utilization_target)),
            ),
            ("measured: idle GPU hours", idle),
        ]
    }
}

impl ScorecardShare {
    fn count(&mut self, is: bool) {
        self.of += 1;
        self.are += usize::from(is);
    }
}

impl Scorecard {
    pub(in crate::report) fn new(report: &Report) -> Scorecard {
        let best = best_savings(report);
        let sum = |pick: &dyn Fn(&Finding) -> bool| -> Money {
            best.values()
                .filter(|it| it.per == Period::Month && pick(it))
                .filter_map(|it| it.saves)
                .map(|it| it.expected)
                .sum()
        };
        let layers = Layer::ALL.map(|layer| (layer.name(), sum(&|it| it.layer == layer.name()))).to_vec();
        let risks = Risk::ALL.map(|risk| (risk.name(), sum(&|it| it.risk == risk))).to_vec();
        let dollars = |all: &[(&'static str, Money)]| all.iter().map(|(name, money)| (*name, money.usd())).collect();
        let mut card = Scorecard {
            currency: report.currency,
            on_spot: ScorecardShare::default(),
            scales_to_zero: ScorecardShare::default(),
            labelled: ScorecardShare::default(),
            time_limited: ScorecardShare::default(),
            right_sized: ScorecardShare::default(),
            measured: MeasuredUse::new(report),
            unpriced: report.bill.unpriced(),
            undetermined: report.undetermined.len(),
            saves_by_layer: dollars(&layers),
            saves_by_risk: dollars(&risks),
            layers,
            risks,
        };
        card.count(report);
        card
    }

    fn count(&mut self, report: &Report) {
        let said = |rule: &str| -> BTreeSet<ResourceId> {
            report.findings.iter().filter(|it| it.finding.rule == rule).filter_map(|it| it.finding.resource).collect()
        };
        let open = |is: &dyn Fn(&str) -> bool| -> BTreeSet<ResourceId> {
            report.undetermined.iter().filter(|it| is(&it.rule)).filter_map(|it| it.resource).collect()
        };
        let (unlabelled, sized) = (said("missing-labels"), wrong_size(report));
        let open_labels = open(&|rule| rule == "missing-labels");
        let open_size = open(&|rule| report.rules.page(rule).is_some_and(|it| it.group == SIZE));
        for (place, resource) in report.inventory.resources.iter().enumerate() {
            let id = ResourceId(place);
            if resource.count.value().is_some_and(|count| count.ceiling == 0.0) || resource.version_of.is_some() {
                continue;
            }
            if let Some(is_spot) = spot(resource) {
                self.on_spot.count(is_spot);
            }
            if let (BillingRole::Rented, Some(count)) = (resource.role, resource.count.value()) {
                self.scales_to_zero.count(count.floor == 0.0);
            }
            let asks_labels = resource.role == BillingRole::Rented && resource.labels.taggable;
            if asks_labels && report.rules.is_on("missing-labels") && !open_labels.contains(&id) {
                self.labelled.count(!unlabelled.contains(&id));
            }
            let limit = resource.fact(Key::TimeLimit);
            let is_open = matches!(limit, Fact::Unknown(_));
            if resource.role == BillingRole::Requested && resource.flag(Key::EndsByItself) == Some(true) && !is_open {
                self.time_limited.count(!limit.is_absent());
            }
            let is_judged = sized.contains(&id) || !open_size.contains(&id);
            if matches!(resource.fact(Key::Model), Fact::Known(_)) && is_judged {
                self.right_sized.count(!sized.contains(&id));
            }
        }
    }

    /// Returns one line for each practice that applies to a resource in this tree.
    pub(in crate::report) fn lines(&self) -> Vec<(&'static str, String)> {
        let shares = [
            ("training and batch on spot", self.on_spot),
            ("can scale to zero", self.scales_to_zero),
            ("labeled", self.labelled),
            ("work with a time limit", self.time_limited),
            ("right size, if the model is known", self.right_sized),
        ];
        let shown = |share: ScorecardShare| {
            let percent = (100.0 * share.are as f64 / share.of as f64).round();
            format!("{} of {}, {percent}%", share.are, share.of)
        };
        let mut lines: Vec<(&'static str, String)> =
            shares.into_iter().filter(|(_, share)| share.of > 0).map(|(name, share)| (name, shown(share))).collect();
        if let Some(measured) = self.measured {
            if let Some((_, spot)) = lines.first_mut().filter(|_| self.on_spot.of > 0) {
                let _ = write!(spot, ", target over {}%", measured.spot_share_target * 100.0);
            }
            lines.splice(0..0, measured.lines());
        }
        for (name, count) in [("without a price", self.unpriced), ("checks skipped, value unknown", self.undetermined)]
        {
            if count > 0 {
                lines.push((name, count.to_string()));
            }
        }
        if self.risks.iter().any(|(_, money)| *money != Money::ZERO) {
            let listed = |all: &[(&str, Money)]| {
                let some = all.iter().filter(|(_, money)| *money != Money::ZERO);
                some.map(|(name, money)| format!("{name} {}", self.currency.amount(*money)))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            lines.push(("possible savings per month, by risk", listed(&self.risks)));
            lines.push(("possible savings per month, by layer", listed(&self.layers)));
        }
        lines
    }

    pub(in crate::report) fn text(&self) -> String {
        let lines = self.lines();
        let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, value) in lines {
            let _ = writeln!(text, "{name:width$}  {value}");
        }
        text
    }

    pub(in crate::report) fn markdown(&self) -> Markdown {
        let mut text = Markdown::default();
        let lines = self.lines();
        if !lines.is_empty() {
            text.push("\n| scorecard | |\n|---|---|\n");
        }
        for (name, value) in lines {
            markdown!(text, "| ", name, " | ", figures(&value), " |\n");
        }
        text
    }
}

/// Returns the findings that save money in the total.
pub(in crate::report) fn saving<'a>(report: &Report<'a>) -> impl Iterator<Item = &'a Finding> {
    let inventory = report.inventory;
    let counting = report.findings.iter().filter(|it| it.counts() && it.counted == CountedAs::Deployed);
    counting.map(|it| &it.finding).filter(move |it| {
        let resource = it.resource.and_then(|id| inventory.resources.get(id.0));
        it.saves.is_some() && resource.is_none_or(|it| it.version_of.is_none())
    })
}

/// Returns the findings that together save most of the total.
pub(in crate::report) fn best_savings<'a>(report: &'a Report) -> BTreeMap<Option<ResourceId>, &'a Finding> {
    best_of(report, saving(report))
}

/// Returns the finding of each resource that saves most. Savings on one resource overlap, and so do savings on
/// machines and on the pods that run on them: only the larger of the two counts.
pub(in crate::report) fn best_of<'a>(
    report: &Report,
    findings: impl Iterator<Item = &'a Finding>,
) -> BTreeMap<Option<ResourceId>, &'a Finding> {
    best_by(report, findings, |saves| (saves.expected, saves.ceiling))
}

/// Returns the finding with the highest maximum saving for each resource.
pub(in crate::report) fn best_at_full_scale<'a>(report: &'a Report) -> BTreeMap<Option<ResourceId>, &'a Finding> {
    best_by(report, saving(report), |saves| (saves.ceiling, saves.expected))
}

fn best_by<'a>(
    report: &Report,
    findings: impl Iterator<Item = &'a Finding>,
    amounts: impl Fn(MoneyRange) -> (Money, Money),
) -> BTreeMap<Option<ResourceId>, &'a Finding> {
    let mut best: BTreeMap<Option<ResourceId>, &Finding> = BTreeMap::new();
    let amounts = |it: &Finding| it.saves.map(&amounts);
    for finding in findings {
        let known = best.entry(finding.resource).or_insert(finding);
        if amounts(known) < amounts(finding) {
            *known = finding;
        }
    }
    let found = best.keys().flatten().filter_map(|id| report.inventory.resources.get(id.0));
    let rented = found.filter(|it| it.role == BillingRole::Rented);
    let with_savings: BTreeSet<&str> = rented.map(|it| it.address.as_str()).collect();
    let mut pools: BTreeMap<&str, [Vec<ResourceId>; 2]> = BTreeMap::new();
    for id in best.keys().flatten() {
        let Some(resource) = report.inventory.resources.get(id.0) else { continue };
        let (pool, side) = match resource.role {
            BillingRole::Rented => (Some(resource.address.as_str()), 0),
            BillingRole::Requested => {
                let pool = resource.pools().find(|pool| with_savings.contains(pool));
                (pool.or_else(|| resource.pools().next()), 1)
            }
        };
        if let Some(pool) = pool {
            pools.entry(pool).or_default()[side].push(*id);
        }
    }
    for [machines, pods] in pools.into_values().filter(|[machines, pods]| !machines.is_empty() && !pods.is_empty()) {
        let sum = |ids: &[ResourceId]| {
            let saves = ids.iter().filter_map(|id| amounts(best.get(&Some(*id))?));
            saves.fold((Money::ZERO, Money::ZERO), |sum, it| (sum.0 + it.0, sum.1 + it.1))
        };
        let less = if sum(&machines) < sum(&pods) { machines } else { pods };
        less.iter().for_each(|id| {
            best.remove(&Some(*id));
        });
    }
    best
}

/// The group of sizing rules.
const SIZE: &str = "sizing";

/// Returns resources with a finding of a sizing rule.
fn wrong_size(report: &Report) -> BTreeSet<ResourceId> {
    let findings = report.findings.iter().map(|it| &it.finding);
    findings.filter(|it| it.group == SIZE).filter_map(|it| it.resource).collect()
}

/// Returns whether interruptible work is on spot; none if its purchase option is unknown or spot is not offered.
fn spot(resource: &Resource) -> Option<bool> {
    let can_wait = matches!(resource.purpose(), Some(Purpose::Training | Purpose::Batch));
    let on_pool = resource.pools().next().is_some();
    if !can_wait || on_pool || resource.flag(Key::SpotOffered) == Some(false) {
        return None;
    }
    match resource.purchase()? {
        Purchase::Spot | Purchase::Mixed | Purchase::SpotOrOnDemand => Some(true),
        Purchase::OnDemand => Some(false),
        _ => None,
    }
}
