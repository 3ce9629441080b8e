//! Defines JSON types that several documents share.

use serde::{Serialize, Serializer};

use crate::catalog::{Money, MoneyRange};
use crate::compare::BudgetUsage;
use crate::fit::speed::SpeedRange;
use crate::inventory;
use crate::inventory::{FactValue, Key, Resource, ResourceId};
use crate::pricing::{self, BillItem, CostChange, CostSum, Period, Status};
use crate::report::Report;
use crate::report::views::teams::team;
use crate::resolve;
use crate::rules;
use crate::source::Span;

/// A number that is written without a fraction if it has none.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    pub(in crate::report) floor: WireNumber,
    pub(in crate::report) expected: WireNumber,
    pub(in crate::report) ceiling: WireNumber,
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

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::report) struct WireBounds {
    pub(super) floor: WireNumber,
    pub(super) expected: WireNumber,
    pub(super) ceiling: WireNumber,
}

impl From<MoneyRange> for WireBounds {
    fn from(money: MoneyRange) -> Self {
        WireBounds { floor: money.floor.into(), expected: money.expected.into(), ceiling: money.ceiling.into() }
    }
}

impl From<inventory::Range> for WireBounds {
    fn from(range: inventory::Range) -> Self {
        WireBounds {
            floor: WireNumber(range.floor),
            expected: WireNumber(range.expected),
            ceiling: WireNumber(range.ceiling),
        }
    }
}

/// A sum of costs. If `whole` is false, the sum is a minimum, and its ends are not limits.
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireAmountSum {
    #[serde(flatten)]
    known: WireBounds,
    whole: bool,
    /// True if there is no maximum. The ceiling then contains the expected cost of the parts without a limit.
    unlimited: bool,
    /// Resources with an unknown cost. Files and blocks that were not evaluated are in `not_judged`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Open>,
}

/// A resource with an unknown cost.
#[derive(Debug, Serialize)]
struct Open {
    of: String,
    cause: &'static str,
    why: String,
}

impl From<&CostSum> for WireAmountSum {
    fn from(sum: &CostSum) -> Self {
        let open = sum.open().filter(|it| it.resource.is_some());
        let open = open.map(|it| Open { of: it.of.to_string(), cause: it.cause.name(), why: it.why.to_string() });
        WireAmountSum {
            known: sum.minimum().into(),
            whole: sum.is_whole(),
            unlimited: sum.is_unlimited(),
            open: open.collect(),
        }
    }
}

impl WireAmountSum {
    /// For a sum whose open parts are already in other sums.
    pub(in crate::report) fn without_parts(sum: &CostSum) -> WireAmountSum {
        WireAmountSum {
            known: sum.minimum().into(),
            whole: sum.is_whole(),
            unlimited: sum.is_unlimited(),
            open: Vec::new(),
        }
    }
}

/// A sum before and after a change.
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireSumChange {
    before: WireAmountSum,
    after: WireAmountSum,
    /// The difference of the cost that both states know.
    difference: WireBounds,
    /// The part of `after` whose cost was unknown before.
    became_known: WireBounds,
    /// The part of `before` whose cost is unknown after.
    no_longer_known: WireBounds,
}

impl From<&CostChange> for WireSumChange {
    fn from(it: &CostChange) -> Self {
        WireSumChange {
            before: (&it.before).into(),
            after: (&it.after).into(),
            difference: it.difference.into(),
            became_known: it.became_known.into(),
            no_longer_known: it.no_longer_known.into(),
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

/// The number of machines or pods.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireCount {
    Known {
        #[serde(flatten)]
        range: WireBounds,
        origin: &'static str,
    },
    Unknown {
        unknown: String,
    },
}

impl WireCount {
    pub(super) fn new(count: &inventory::Fact<inventory::Range>) -> WireCount {
        match count {
            inventory::Fact::Known(known) => {
                WireCount::Known { range: known.value.into(), origin: known.origin.name() }
            }
            inventory::Fact::Unknown(unknown) => WireCount::Unknown { unknown: unknown.why.to_string() },
            inventory::Fact::Absent => WireCount::Unknown { unknown: "no number is set".to_owned() },
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct WirePrice {
    pub(super) status: &'static str,
    pub(super) reason: Option<String>,
    pub(super) usd_per_hour: Option<WireNumber>,
    pub(super) usd_per_month: Option<WireBounds>,
    /// The resource's share of the monthly total, in which each dollar counts once; missing if excluded from the
    /// total.
    pub(super) usd_in_sum: Option<WireBounds>,
    /// The period of `usd`: `month`, `run` or `hour`.
    pub(super) per: &'static str,
    pub(super) usd: Option<WireBounds>,
    /// The hours of one machine or pod in that period.
    pub(super) hours: Option<WireNumber>,
    pub(super) hours_per_month: Option<WireNumber>,
    pub(super) hours_because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) starts_per_month: Option<WireNumber>,
    /// Disks, billed separately.
    pub(super) attached_usd_per_month: Option<WireBounds>,
    /// Accelerators that remain unusable next to a pod.
    pub(super) stranded_accelerators: WireNumber,
    pub(super) as_of: Option<String>,
    pub(super) stale: Option<String>,
    /// True if no accelerator type is named. The expected cost is then the lowest possible one.
    pub(super) accelerator_unnamed: bool,
    /// Costs that this price leaves out.
    pub(super) not_included: Vec<String>,
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
            status,
            reason,
            usd_per_hour: item.and_then(|item| item.per_hour).map(|range| range.expected.into()),
            usd_per_month: item.and_then(|item| item.monthly).map(Into::into),
            usd_in_sum: item.and_then(|item| item.share).map(Into::into),
            per: item.map_or(Period::Month, |item| item.per).name(),
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
    item.licence.iter().cloned().chain(disks).collect()
}

#[derive(Debug, Serialize)]
pub(in crate::report) struct WireSkipped<'a> {
    path: String,
    /// The cause, in the form for programs.
    kind: &'static str,
    reason: &'a str,
}

pub(in crate::report) fn skipped<'a>(report: &Report<'a>) -> Vec<WireSkipped<'a>> {
    let shown = |it: &'a inventory::SkippedFile| WireSkipped {
        path: report.paths.show(&it.path),
        kind: it.kind.name(),
        reason: &it.reason,
    };
    report.inventory.skipped.iter().map(shown).collect()
}

/// A machine that may have accelerators.
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireUnknownMachine<'a> {
    address: &'a str,
    path: String,
    line: usize,
    cause: &'a str,
}

pub(in crate::report) fn unknown_machines<'a>(report: &Report<'a>) -> Vec<WireUnknownMachine<'a>> {
    let shown = |it: &'a resolve::UnknownMachine| {
        let at = report.paths.locate(report.sources, it.span);
        WireUnknownMachine { address: &it.address, path: at.path, line: at.line, cause: &it.why }
    };
    report.unknown_machines.iter().map(shown).collect()
}

/// Returns resources without a price, and why.
pub(in crate::report) fn unpriced<'a>(report: &Report<'a>) -> Vec<WireUnknownMachine<'a>> {
    let resources = report.inventory.resources.iter().zip(&report.bill.items);
    let shown = |(it, item): (&'a Resource, &'a BillItem)| {
        let Status::Unpriced(cause) = &item.status else { return None };
        let at = report.paths.locate(report.sources, it.span);
        Some(WireUnknownMachine { address: &it.address, path: at.path, line: at.line, cause })
    };
    resources.filter_map(shown).collect()
}

/// Returns resources whose region is taken from a setting.
pub(in crate::report) fn assumed<'a>(report: &Report<'a>) -> Vec<WireUnknownMachine<'a>> {
    let shown = |(it, cause): (&'a Resource, &'a str)| {
        let at = report.paths.locate(report.sources, it.span);
        WireUnknownMachine { address: &it.address, path: at.path, line: at.line, cause }
    };
    report.assumed().map(shown).collect()
}

/// A resource with its cost, and the values that a later comparison needs.
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireResource<'a> {
    address: &'a str,
    root: Option<String>,
    run: Option<&'a str>,
    counted: &'static str,
    path: String,
    line: usize,
    kind: &'a str,
    role: &'static str,
    provider: Option<String>,
    region: Option<String>,
    machine: Option<String>,
    accelerator: Option<String>,
    accelerator_count: Option<WireNumber>,
    purchase: Option<String>,
    team: Option<&'a str>,
    count: WireCount,
    price: WirePrice,
    /// The values that a purchase plan needs, for provisioned machines in the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    demand: Option<WireDemand>,
}

/// The needed machines, and their price.
#[derive(Debug, Serialize)]
struct WireDemand {
    standing: &'static str,
    why: Option<String>,
    always: WireNumber,
    average: Option<WireNumber>,
    covered: WireNumber,
    most: Option<WireNumber>,
    sure: Vec<Rung>,
    usd_per_hour: WireOffer,
}

/// The number of machines that always run in this share of the hours.
#[derive(Debug, Serialize)]
struct Rung {
    machines: WireNumber,
    share: WireNumber,
}

#[derive(Debug, Serialize)]
pub(in crate::report) struct WireOffer {
    on_demand: Option<WireNumber>,
    spot: Option<WireNumber>,
    one_year: Option<WireNumber>,
    three_years: Option<WireNumber>,
    block: Option<WireNumber>,
    flex: Option<WireNumber>,
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
        let rung = |rung: &pricing::Rung| Rung { machines: WireNumber(rung.machines), share: WireNumber(rung.share) };
        WireDemand {
            standing: it.standing.name(),
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
        address: &it.address,
        root: root(report, it),
        run: run(it),
        counted: it.counted.name(),
        path: at.path,
        line: at.line,
        kind: &it.kind,
        role: it.role.name(),
        provider: text(Key::Provider),
        region: text(Key::Region),
        machine: text(Key::Machine),
        accelerator: text(Key::Accelerator),
        accelerator_count: it.number(Key::AcceleratorCount).map(WireNumber),
        purchase: text(Key::Purchase),
        team: team(it),
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
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireRun<'a> {
    id: &'a str,
    kind: &'static str,
    name: String,
    folder: String,
    variant: Option<&'a str>,
    target: Option<WireFact>,
    counted: &'static str,
    inputs: Vec<String>,
    uses: Vec<&'a str>,
    used_by: Vec<&'a str>,
}

pub(in crate::report) fn runs<'a>(report: &Report<'a>) -> Vec<WireRun<'a>> {
    let ids = |all: &'a [inventory::RunId]| all.iter().map(inventory::RunId::as_str).collect();
    let shown = |run: &'a inventory::DeploymentRun| WireRun {
        id: run.id.as_str(),
        kind: run.kind.name(),
        name: report.name_of(run),
        folder: report.paths.show_directory(&run.folder),
        variant: run.variant.as_deref(),
        target: WireFact::new(report, &run.target),
        counted: run.counted.name(),
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
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireBudget<'a> {
    rule: &'a str,
    name: &'a str,
    limit_usd: Option<WireNumber>,
    before_usd: Option<WireNumber>,
    after_usd: WireNumber,
    hours_per_month: WireNumber,
}

impl<'a> WireBudget<'a> {
    pub(in crate::report) fn new(it: &'a BudgetUsage) -> WireBudget<'a> {
        WireBudget {
            rule: &it.rule,
            name: &it.name,
            limit_usd: it.limit.map(Into::into),
            before_usd: it.before.map(Into::into),
            after_usd: it.after.into(),
            hours_per_month: WireNumber(it.hours),
        }
    }
}

/// A total that a rule checks.
#[derive(Debug, Serialize)]
pub(in crate::report) struct WireTotal<'a> {
    rule: &'a str,
    name: &'a str,
    amount_usd: Option<WireNumber>,
    limit_usd: Option<WireNumber>,
    hours_per_month: WireNumber,
}

impl<'a> WireTotal<'a> {
    pub(in crate::report) fn new(rule: &'a str, it: &'a rules::RuleTotal) -> WireTotal<'a> {
        WireTotal {
            rule,
            name: &it.name,
            amount_usd: it.amount.map(Into::into),
            limit_usd: it.limit.map(Into::into),
            hours_per_month: WireNumber(it.hours),
        }
    }
}

/// A total of the bill.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Totals {
    rented: WireAmountSum,
    requested: WireAmountSum,
    /// Machines and pods, with each dollar counted once.
    combined: WireAmountSum,
    /// Disks of provisioned machines.
    attached: WireAmountSum,
    unpriced: usize,
    /// The part of `requested` for pods that name no accelerator.
    unnamed: Unnamed,
    /// The cost that is based on outdated prices.
    stale: usize,
    /// The cost that is excluded from the total, by reason.
    apart: Vec<Apart>,
}

#[derive(Debug, Serialize)]
pub(in crate::report) struct Unnamed {
    resources: usize,
    usd: WireBounds,
}

impl Unnamed {
    pub(in crate::report) fn new(bill: &pricing::Bill) -> Unnamed {
        Unnamed { resources: bill.unnamed.resources, usd: bill.unnamed.amount.into() }
    }
}

#[derive(Debug, Serialize)]
struct Apart {
    counted: &'static str,
    resources: usize,
    rented: WireAmountSum,
    requested: WireAmountSum,
    unpriced: usize,
}

impl Apart {
    fn new((counted, sum): (&inventory::CountedAs, &pricing::ExcludedTotal)) -> Apart {
        Apart {
            counted: counted.name(),
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
            combined: WireAmountSum::without_parts(&bill.combined),
            attached: (&bill.attached).into(),
            unpriced: bill.unpriced(),
            unnamed: Unnamed::new(bill),
            stale: bill.stale,
            apart: bill.apart.iter().map(Apart::new).collect(),
        }
    }
}
