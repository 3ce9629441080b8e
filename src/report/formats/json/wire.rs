//! Defines JSON types that several documents share. `saved` reads them back: a field that older reports do not contain
//! is an `Option` or has a default, and fields that no reader needs are only written.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};

use crate::catalog::{Money, MoneyRange};
use crate::compare::BudgetUsage;
use crate::fit::speed::SpeedRange;
use crate::inventory;
use crate::inventory::{FactValue, Key, Resource, ResourceId};
use crate::pricing::{self, BillItem, CostChange, CostSum, Period, Status};
use crate::report::Report;
use crate::report::views::teams::team;
use crate::rules;
use crate::source::Span;

/// A number that is written without a fraction if it has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub(in crate::report) struct WireNumber(pub(in crate::report) f64);

impl WireNumber {
    /// Rounds to three digits: estimates are not more precise.
    pub(in crate::report) fn three_digits(n: f64) -> WireNumber {
        let unit = 10_f64.powf(n.abs().log10().floor() - 2.0);
        let rounded = if unit.is_normal() { (n / unit).round() * unit } else { n };
        WireNumber((rounded * 1e6).round() / 1e6)
    }
}

/// An estimate with its range.
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireRange {
    pub floor: WireNumber,
    pub expected: WireNumber,
    pub ceiling: WireNumber,
}

impl From<SpeedRange> for WireRange {
    fn from(it: SpeedRange) -> WireRange {
        WireRange {
            floor: WireNumber::three_digits(it.floor),
            expected: WireNumber::three_digits(it.expected),
            ceiling: WireNumber::three_digits(it.ceiling),
        }
    }
}

impl Serialize for WireNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 9e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl std::fmt::Display for WireNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Money> for WireNumber {
    fn from(money: Money) -> Self {
        WireNumber(money.usd())
    }
}

/// A range of amounts. A missing maximum is null.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(in crate::report) struct WireBounds {
    pub floor: Option<WireNumber>,
    pub expected: Option<WireNumber>,
    pub ceiling: Option<WireNumber>,
}

impl From<MoneyRange> for WireBounds {
    fn from(money: MoneyRange) -> Self {
        let [floor, expected, ceiling] = [money.floor, money.expected, money.ceiling].map(|it| Some(it.into()));
        WireBounds { floor, expected, ceiling }
    }
}

/// A sum of costs. If `whole` is false, the sum is a minimum, and its ends are not limits.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireAmountSum {
    #[serde(flatten)]
    pub known: WireBounds,
    pub whole: Option<bool>,
    /// True if there is no maximum. The ceiling then contains the expected cost of the parts without a limit.
    #[serde(default)]
    pub unlimited: bool,
    /// Resources with an unknown cost. Files and blocks that were not evaluated are in `not_judged`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<WireOpenPart>,
}

/// A resource with an unknown cost.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireOpenPart {
    pub of: String,
    pub cause: Cow<'static, str>,
    pub why: String,
}

impl From<&CostSum> for WireAmountSum {
    fn from(sum: &CostSum) -> Self {
        let open = sum.open().filter(|it| it.resource.is_some());
        let open = open.map(|it| {
            let (of, cause, why) = (it.of.to_string(), it.cause.name().into(), it.why.to_string());
            WireOpenPart { of, cause, why }
        });
        WireAmountSum { open: open.collect(), ..WireAmountSum::without_parts(sum) }
    }
}

impl WireAmountSum {
    /// For a sum whose open parts are already in other sums.
    pub(in crate::report) fn without_parts(sum: &CostSum) -> WireAmountSum {
        WireAmountSum {
            known: sum.minimum().into(),
            whole: Some(sum.is_whole()),
            unlimited: sum.is_unlimited(),
            open: Vec::new(),
        }
    }
}

/// A sum before and after a change.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireSumChange {
    pub before: WireAmountSum,
    pub after: WireAmountSum,
    /// The difference of the cost that both states know.
    pub difference: Option<WireBounds>,
    /// The part of `after` whose cost was unknown before.
    pub became_known: Option<WireBounds>,
    /// The part of `before` whose cost is unknown after.
    pub no_longer_known: Option<WireBounds>,
}

impl From<&CostChange> for WireSumChange {
    fn from(it: &CostChange) -> Self {
        WireSumChange {
            before: (&it.before).into(),
            after: (&it.after).into(),
            difference: Some(it.difference.into()),
            became_known: Some(it.became_known.into()),
            no_longer_known: Some(it.no_longer_known.into()),
        }
    }
}

impl WireSumChange {
    /// Creates the JSON of a change without its open parts, because other sums already list them.
    pub(in crate::report) fn without_parts(it: &CostChange) -> WireSumChange {
        let (before, after) = (WireAmountSum::without_parts(&it.before), WireAmountSum::without_parts(&it.after));
        WireSumChange { before, after, ..it.into() }
    }
}

/// A fact: known, unknown with its cause, or (as `null`) absent.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireFact {
    Known {
        value: serde_json::Value,
        origin: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        path: String,
        line: usize,
    },
    OneOf {
        value: Option<()>,
        candidates: Vec<serde_json::Value>,
        unknown: String,
        path: String,
        line: usize,
    },
    Unknown {
        unknown: String,
        path: String,
        line: usize,
    },
}

impl WireFact {
    pub(super) fn new(report: &Report, fact: &inventory::Fact<FactValue>) -> Option<WireFact> {
        Self::with(report, fact, value)
    }

    /// Returns a fact whose value has another JSON type.
    pub(super) fn with(
        report: &Report,
        fact: &inventory::Fact<FactValue>,
        mut shape: impl FnMut(&FactValue) -> serde_json::Value,
    ) -> Option<WireFact> {
        let place = |span: Span| {
            let location = report.paths.locate(report.sources, span);
            (location.path, location.line)
        };
        Some(match fact {
            inventory::Fact::Absent => return None,
            inventory::Fact::Known(known) => {
                let (path, line) = place(known.span);
                let reason = match &known.origin {
                    inventory::FactOrigin::Inferred(why) | inventory::FactOrigin::Assumed(why) => Some(why.to_string()),
                    inventory::FactOrigin::ServedName => Some("the name under which the model is served".to_owned()),
                    _ => None,
                };
                WireFact::Known { value: shape(&known.value), origin: known.origin.name(), reason, path, line }
            }
            inventory::Fact::Unknown(unknown) => {
                let (path, line) = place(unknown.span);
                let why = unknown.why.to_string();
                if unknown.candidates.is_empty() {
                    WireFact::Unknown { unknown: why, path, line }
                } else {
                    let candidates = unknown.candidates.iter().map(shape).collect();
                    WireFact::OneOf { value: None, candidates, unknown: why, path, line }
                }
            }
        })
    }
}

pub(super) fn value(value: &FactValue) -> serde_json::Value {
    match value {
        FactValue::Text(text) => text.to_string().into(),
        FactValue::Integer(n) => (*n).into(),
        FactValue::Number(n) => serde_json::to_value(WireNumber(*n)).unwrap_or_default(),
        FactValue::Flag(flag) => (*flag).into(),
        FactValue::List(items) => items.iter().map(ToString::to_string).collect::<Vec<_>>().into(),
    }
}

/// The number of machines or pods, or why it is unknown.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::report) struct WireCount {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<WireNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<WireNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<WireNumber>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

impl WireCount {
    pub(super) fn new(count: &inventory::Fact<inventory::Range>) -> WireCount {
        let unknown = |why: &str| WireCount { unknown: Some(why.to_owned()), ..WireCount::default() };
        match count {
            inventory::Fact::Known(known) => {
                let inventory::Range { floor, expected, ceiling } = known.value;
                let [floor, expected, ceiling] = [floor, expected, ceiling].map(|it| Some(WireNumber(it)));
                WireCount { floor, expected, ceiling, origin: Some(known.origin.name()), unknown: None }
            }
            inventory::Fact::Unknown(it) => unknown(&it.why),
            inventory::Fact::Absent => unknown("no number is set"),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WirePrice {
    pub status: Cow<'static, str>,
    pub reason: Option<String>,
    pub usd_per_hour: Option<WireNumber>,
    pub usd_per_month: Option<WireBounds>,
    /// The resource's share of the monthly total, in which each dollar counts once; missing if excluded from the
    /// total.
    pub usd_in_sum: Option<WireBounds>,
    /// The period of `usd`: `month`, `run` or `hour`.
    pub per: Option<Cow<'static, str>>,
    pub usd: Option<WireBounds>,
    /// The hours of one machine or pod in that period.
    pub hours: Option<WireNumber>,
    #[serde(skip_deserializing)]
    hours_per_month: Option<WireNumber>,
    #[serde(skip_deserializing)]
    hours_because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_per_month: Option<WireNumber>,
    /// Disks, billed separately.
    #[serde(skip_deserializing)]
    attached_usd_per_month: Option<WireBounds>,
    /// Accelerators that remain unusable next to a pod.
    #[serde(skip_deserializing)]
    stranded_accelerators: WireNumber,
    pub as_of: Option<String>,
    pub stale: Option<String>,
    /// True if no accelerator type is named. The expected cost is then the lowest possible one.
    #[serde(default)]
    pub accelerator_unnamed: bool,
    /// Costs that this price leaves out.
    #[serde(skip_deserializing)]
    not_included: Vec<String>,
}

impl WirePrice {
    pub(super) fn new(item: Option<&BillItem>) -> WirePrice {
        let (status, reason) = match item.map(|item| &item.status) {
            Some(Status::Priced) => ("priced", None),
            Some(Status::Estimated(why)) => ("estimated", Some(why.clone())),
            Some(Status::Unpriced(why)) => ("unpriced", Some(why.clone())),
            Some(Status::Unasked) | None => ("unpriced", Some("gpulint looked up no price".to_owned())),
        };
        WirePrice {
            status: status.into(),
            reason,
            usd_per_hour: item.and_then(|item| item.per_hour).map(|range| range.expected.into()),
            usd_per_month: item.and_then(|item| item.monthly).map(Into::into),
            usd_in_sum: item.and_then(|item| item.share).map(Into::into),
            per: Some(item.map_or(Period::Month, |item| item.per).name().into()),
            usd: item.and_then(|item| item.amount).map(Into::into),
            hours: item.filter(|item| item.per != Period::Hour).map(|item| WireNumber(item.hours)),
            hours_per_month: item.filter(|item| item.per == Period::Month).map(|item| WireNumber(item.hours)),
            hours_because: item.and_then(|item| item.hours_because.clone()),
            starts_per_month: item.and_then(|item| item.starts).map(WireNumber),
            attached_usd_per_month: item.and_then(|item| item.attached.as_ref()?.known()).map(Into::into),
            stranded_accelerators: WireNumber(item.map_or(0.0, |item| item.stranded)),
            as_of: item.and_then(|item| item.as_of.clone()),
            stale: item.and_then(|item| item.stale.clone()),
            accelerator_unnamed: item.is_some_and(|item| item.is_unnamed),
            not_included: item.map(not_included).unwrap_or_default(),
        }
    }
}

fn not_included(item: &BillItem) -> Vec<String> {
    let disks = item.attached.iter().flat_map(|it| it.not_known.iter().cloned());
    let nearby = item.attached.iter().flat_map(|it| &it.nearby);
    let nearby = nearby.map(|it| match it.monthly {
        Some(monthly) => format!("{} in the same root: ${:.2} per month", it.name, monthly.usd()),
        None => format!("{} in the same root", it.name),
    });
    item.licence.iter().cloned().chain(disks).chain(nearby).collect()
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireSkipped<'a> {
    pub path: String,
    /// The cause, in the form for programs.
    #[serde(default)]
    pub kind: Cow<'static, str>,
    pub reason: Cow<'a, str>,
}

pub(in crate::report) fn skipped<'a>(report: &Report<'a>) -> Vec<WireSkipped<'a>> {
    let shown = |it: &'a inventory::SkippedFile| WireSkipped {
        path: report.paths.show(&it.path),
        kind: it.kind.name().into(),
        reason: Cow::Borrowed(&it.reason),
    };
    report.inventory.skipped.iter().map(shown).collect()
}

/// A machine that may have accelerators.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireUnknownMachine<'a> {
    pub address: Cow<'a, str>,
    pub path: String,
    pub line: usize,
    pub cause: Cow<'a, str>,
}

impl<'a> WireUnknownMachine<'a> {
    fn new(report: &Report, (address, span, cause): (&'a str, Span, &'a str)) -> WireUnknownMachine<'a> {
        let at = report.paths.locate(report.sources, span);
        WireUnknownMachine { address: address.into(), path: at.path, line: at.line, cause: cause.into() }
    }
}

pub(in crate::report) fn unknown_machines<'a>(report: &Report<'a>) -> Vec<WireUnknownMachine<'a>> {
    let all = report.unknown_machines.iter().map(|it| (it.address.as_str(), it.span, &*it.why));
    all.map(|it| WireUnknownMachine::new(report, it)).collect()
}

/// Returns resources without a price, and why.
pub(in crate::report) fn unpriced<'a>(report: &Report<'a>) -> Vec<WireUnknownMachine<'a>> {
    let resources = report.inventory.resources.iter().zip(&report.bill.items);
    let all = resources.filter_map(|(it, item)| match &item.status {
        Status::Unpriced(cause) => Some((it.address.as_str(), it.span, cause.as_str())),
        _ => None,
    });
    all.map(|it| WireUnknownMachine::new(report, it)).collect()
}

/// Returns resources whose region is taken from a setting.
pub(in crate::report) fn assumed<'a>(report: &Report<'a>) -> Vec<WireUnknownMachine<'a>> {
    let all = report.assumed().map(|(it, cause)| (it.address.as_str(), it.span, cause));
    all.map(|it| WireUnknownMachine::new(report, it)).collect()
}

/// A resource with its cost, and the values that a later comparison needs.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireResource<'a> {
    pub address: Cow<'a, str>,
    pub root: Option<String>,
    pub run: Option<Cow<'a, str>>,
    pub counted: Option<Cow<'static, str>>,
    pub path: String,
    pub line: usize,
    pub kind: Cow<'a, str>,
    pub role: Cow<'static, str>,
    pub provider: Option<String>,
    pub region: Option<String>,
    pub machine: Option<String>,
    pub accelerator: Option<String>,
    pub accelerator_count: Option<WireNumber>,
    pub purchase: Option<String>,
    pub team: Option<Cow<'a, str>>,
    pub count: WireCount,
    pub price: WirePrice,
    /// The values that a purchase plan needs, for provisioned machines in the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand: Option<WireDemand>,
}

/// The needed machines, and their price.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireDemand {
    pub standing: Cow<'static, str>,
    pub why: Option<String>,
    pub always: WireNumber,
    pub average: Option<WireNumber>,
    #[serde(default)]
    pub covered: WireNumber,
    pub most: Option<WireNumber>,
    pub sure: Vec<WireRung>,
    pub usd_per_hour: WireOffer,
}

/// The number of machines that always run in this share of the hours.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireRung {
    pub machines: WireNumber,
    pub share: WireNumber,
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireOffer {
    pub on_demand: Option<WireNumber>,
    pub spot: Option<WireNumber>,
    pub one_year: Option<WireNumber>,
    pub three_years: Option<WireNumber>,
    pub block: Option<WireNumber>,
    pub flex: Option<WireNumber>,
}

impl From<pricing::HourlyOffers> for WireOffer {
    fn from(it: pricing::HourlyOffers) -> WireOffer {
        let number = |money: Option<Money>| money.map(WireNumber::from);
        WireOffer {
            on_demand: number(it.on_demand),
            spot: number(it.spot),
            one_year: number(it.one_year),
            three_years: number(it.three_years),
            block: number(it.block),
            flex: number(it.flex),
        }
    }
}

impl From<pricing::SteadyDemand> for WireDemand {
    fn from(it: pricing::SteadyDemand) -> WireDemand {
        let rung =
            |rung: &pricing::Rung| WireRung { machines: WireNumber(rung.machines), share: WireNumber(rung.share) };
        WireDemand {
            standing: it.standing.name().into(),
            why: it.why,
            always: WireNumber(it.always),
            average: it.average.map(WireNumber),
            covered: WireNumber(it.covered),
            most: it.most.map(WireNumber),
            sure: it.rungs.iter().map(rung).collect(),
            usd_per_hour: it.offered.into(),
        }
    }
}

pub(super) fn counted<'a>(report: &Report<'a>) -> Vec<WireResource<'a>> {
    let all = (0..report.inventory.resources.len()).map(|at| resource(report, ResourceId(at)));
    let mut all: Vec<Option<WireResource<'a>>> = all.collect();
    for (at, need) in pricing::needs(report.inventory, report.bill) {
        if let Some(Some(counted)) = all.get_mut(at) {
            counted.demand = Some(need.demand.into());
        }
    }
    all.into_iter().flatten().collect()
}

/// Returns the JSON of one resource.
pub(in crate::report) fn resource<'a>(report: &Report<'a>, id: ResourceId) -> Option<WireResource<'a>> {
    let it = report.resource(Some(id))?;
    let at = report.paths.locate(report.sources, it.span);
    let text = |key| it.fact(key).value().map(ToString::to_string);
    Some(WireResource {
        address: Cow::Borrowed(&it.address),
        root: root(report, it),
        run: run(it).map(Into::into),
        counted: Some(it.counted.name().into()),
        path: at.path,
        line: at.line,
        kind: Cow::Borrowed(&it.kind),
        role: it.role.name().into(),
        provider: text(Key::Provider),
        region: text(Key::Region),
        machine: text(Key::Machine),
        accelerator: text(Key::Accelerator),
        accelerator_count: it.number(Key::AcceleratorCount).map(WireNumber),
        purchase: text(Key::Purchase),
        team: team(it).map(Into::into),
        count: WireCount::new(&it.count),
        price: WirePrice::new(report.bill.items.get(id.0)),
        demand: None,
    })
}

/// Returns the Terraform root of the resource, which distinguishes equal addresses.
pub(super) fn root(report: &Report, resource: &Resource) -> Option<String> {
    resource.root.as_deref().map(|root| report.paths.show_directory(root))
}

/// Returns the deployment of the resource.
pub(super) fn run(resource: &Resource) -> Option<&str> {
    resource.run.as_ref().map(inventory::RunId::as_str)
}

/// A deployment.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireRun<'a> {
    pub id: Cow<'a, str>,
    pub kind: Cow<'static, str>,
    pub name: String,
    pub folder: String,
    pub variant: Option<Cow<'a, str>>,
    #[serde(skip_deserializing)]
    target: Option<WireFact>,
    pub counted: Cow<'static, str>,
    #[serde(default)]
    pub inputs: Vec<String>,
    #[serde(skip_deserializing)]
    uses: Vec<&'a str>,
    #[serde(skip_deserializing)]
    used_by: Vec<&'a str>,
}

pub(in crate::report) fn runs<'a>(report: &Report<'a>) -> Vec<WireRun<'a>> {
    let ids = |all: &'a [inventory::RunId]| all.iter().map(inventory::RunId::as_str).collect();
    let shown = |run: &'a inventory::DeploymentRun| WireRun {
        id: run.id.as_str().into(),
        kind: run.kind.name().into(),
        name: report.name_of(run),
        folder: report.paths.show_directory(&run.folder),
        variant: run.variant.as_deref().map(Into::into),
        target: WireFact::new(report, &run.target),
        counted: run.counted.name().into(),
        inputs: run.inputs.iter().map(|path| report.paths.show(path)).collect(),
        uses: ids(&run.uses),
        used_by: ids(&run.used_by),
    };
    report.inventory.runs.iter().map(shown).collect()
}

/// The place of the version that the total counts instead.
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireVersion {
    path: String,
    line: usize,
}

pub(super) fn version_of(report: &Report, resource: &Resource) -> Option<WireVersion> {
    let location = report.paths.locate(report.sources, resource.version_of?);
    Some(WireVersion { path: location.path, line: location.line })
}

/// A budget with its current total.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireBudget<'a> {
    pub rule: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub limit_usd: Option<WireNumber>,
    pub before_usd: Option<WireNumber>,
    pub after_usd: WireNumber,
    /// The part of both amounts in other repositories, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere_usd: Option<WireNumber>,
    pub hours_per_month: Option<WireNumber>,
}

impl<'a> WireBudget<'a> {
    pub(in crate::report) fn new(it: &'a BudgetUsage) -> WireBudget<'a> {
        WireBudget {
            rule: Cow::Borrowed(&it.rule),
            name: Cow::Borrowed(&it.name),
            limit_usd: it.limit.map(Into::into),
            before_usd: it.before.map(Into::into),
            after_usd: it.after.into(),
            elsewhere_usd: Some(it.elsewhere).filter(|it| *it > Money::ZERO).map(Into::into),
            hours_per_month: Some(WireNumber(it.hours)),
        }
    }
}

/// A total that a rule checks.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireTotal<'a> {
    pub rule: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub amount_usd: Option<WireNumber>,
    pub limit_usd: Option<WireNumber>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere_usd: Option<WireNumber>,
    pub hours_per_month: Option<WireNumber>,
}

impl<'a> WireTotal<'a> {
    pub(in crate::report) fn new(rule: &'a str, it: &'a rules::RuleTotal) -> WireTotal<'a> {
        WireTotal {
            rule: rule.into(),
            name: Cow::Borrowed(&it.name),
            amount_usd: it.amount.map(Into::into),
            limit_usd: it.limit.map(Into::into),
            elsewhere_usd: Some(it.elsewhere).filter(|it| *it > Money::ZERO).map(Into::into),
            hours_per_month: Some(WireNumber(it.hours)),
        }
    }
}

/// A total of the bill.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct Totals {
    pub rented: WireAmountSum,
    pub requested: WireAmountSum,
    /// Machines and pods, with each dollar counted once.
    pub combined: Option<WireAmountSum>,
    /// Disks of provisioned machines.
    pub attached: Option<WireAmountSum>,
    pub unpriced: usize,
    /// The part of `requested` for pods that name no accelerator.
    pub unnamed: Option<Unnamed>,
    /// The cost that is based on outdated prices.
    #[serde(default)]
    pub stale: usize,
    /// The cost that is excluded from the total, by reason.
    #[serde(default)]
    pub apart: Vec<Apart>,
    /// The most that a month can cost.
    pub worst_month: Option<WireWorst>,
}

/// The most that a month can cost, and everything without a limit.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireWorst {
    /// The most that everything can cost. Null if something has no limit.
    pub usd: Option<WireNumber>,
    /// The most that everything with a limit can cost.
    pub limited_usd: WireNumber,
    /// True if some pods run on machines that the files do not define.
    pub assumes_machines: bool,
    /// True if a resource has the price of a region that is assumed.
    #[serde(default)]
    pub assumes_region: bool,
    pub unlimited: Vec<WireUnlimited>,
}

/// Something without a limit.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct WireUnlimited {
    /// The address of the resource, or the path of the file.
    pub of: String,
    /// `count`, `runs`, `machine`, `price` or `unread`.
    pub cause: Cow<'static, str>,
    pub why: String,
}

impl From<&pricing::WorstMonth> for WireWorst {
    fn from(it: &pricing::WorstMonth) -> WireWorst {
        let unlimited = |it: &pricing::Unlimited| WireUnlimited {
            of: it.of.to_string(),
            cause: it.why.name().into(),
            why: it.why.cause().to_owned(),
        };
        WireWorst {
            usd: it.most().map(Into::into),
            limited_usd: it.limited.into(),
            assumes_machines: it.assumes_machines,
            assumes_region: it.assumes_region,
            unlimited: it.unlimited.iter().map(unlimited).collect(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct Unnamed {
    pub resources: usize,
    pub usd: WireBounds,
}

impl Unnamed {
    pub(in crate::report) fn new(bill: &pricing::Bill) -> Unnamed {
        Unnamed { resources: bill.unnamed.resources, usd: bill.unnamed.amount.into() }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::report) struct Apart {
    pub counted: Cow<'static, str>,
    pub resources: usize,
    pub rented: WireAmountSum,
    pub requested: WireAmountSum,
    #[serde(default)]
    pub unpriced: usize,
}

impl Apart {
    fn new((counted, sum): (&inventory::CountedAs, &pricing::ExcludedTotal)) -> Apart {
        Apart {
            counted: counted.name().into(),
            resources: sum.resources,
            rented: (&sum.rented).into(),
            requested: (&sum.requested).into(),
            unpriced: sum.unpriced(),
        }
    }
}

impl Totals {
    pub(in crate::report) fn new(report: &Report) -> Totals {
        let bill = report.bill;
        Totals {
            rented: (&bill.rented).into(),
            requested: (&bill.requested).into(),
            combined: Some(WireAmountSum::without_parts(&bill.combined)),
            attached: Some((&bill.attached).into()),
            unpriced: bill.unpriced(),
            unnamed: Some(Unnamed::new(bill)),
            stale: bill.stale,
            apart: bill.apart.iter().map(Apart::new).collect(),
            worst_month: bill.worst.as_ref().map(Into::into),
        }
    }
}
