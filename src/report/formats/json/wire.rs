//! Defines JSON types that several documents share.

use serde::{Serialize, Serializer};

use crate::catalog::{Money, MoneyRange};
use crate::compare::Spent;
use crate::complete;
use crate::fit::speed::SpeedRange;
use crate::inventory;
use crate::inventory::{Key, Resource, ResourceId, Value};
use crate::pricing::{self, BillItem, CostChange, CostSum, Period, Status};
use crate::report::Report;
use crate::report::views::teams::team;
use crate::rules;
use crate::source::Span;

/// A number that is written without a fraction if it has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::report) struct Number(pub(in crate::report) f64);

impl Number {
    /// Rounds to three digits: estimates are not more precise.
    pub(in crate::report) fn three_digits(n: f64) -> Number {
        let unit = 10_f64.powf(n.abs().log10().floor() - 2.0);
        let rounded = if unit.is_normal() { (n / unit).round() * unit } else { n };
        Number((rounded * 1e6).round() / 1e6)
    }
}

/// An estimate with its range.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Ends {
    pub(in crate::report) floor: Number,
    pub(in crate::report) expected: Number,
    pub(in crate::report) ceiling: Number,
}

impl From<SpeedRange> for Ends {
    fn from(it: SpeedRange) -> Ends {
        Ends {
            floor: Number::three_digits(it.floor),
            expected: Number::three_digits(it.expected),
            ceiling: Number::three_digits(it.ceiling),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 9e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Money> for Number {
    fn from(money: Money) -> Self {
        Number(money.usd())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::report) struct Bounds {
    pub(super) floor: Number,
    pub(super) expected: Number,
    pub(super) ceiling: Number,
}

impl From<MoneyRange> for Bounds {
    fn from(money: MoneyRange) -> Self {
        Bounds { floor: money.floor.into(), expected: money.expected.into(), ceiling: money.ceiling.into() }
    }
}

impl From<inventory::Range> for Bounds {
    fn from(range: inventory::Range) -> Self {
        Bounds { floor: Number(range.floor), expected: Number(range.expected), ceiling: Number(range.ceiling) }
    }
}

/// A sum of costs. If `whole` is false, the sum is a minimum, and its ends are not limits.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Sum {
    #[serde(flatten)]
    known: Bounds,
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

impl From<&CostSum> for Sum {
    fn from(sum: &CostSum) -> Self {
        let open = sum.open().filter(|it| it.resource.is_some());
        let open = open.map(|it| Open { of: it.of.to_string(), cause: it.cause.name(), why: it.why.to_string() });
        Sum { known: sum.minimum().into(), whole: sum.is_whole(), unlimited: sum.is_unlimited(), open: open.collect() }
    }
}

impl Sum {
    /// Creates the JSON of a sum without its open parts, because other sums already list them.
    pub(in crate::report) fn without_parts(sum: &CostSum) -> Sum {
        Sum { known: sum.minimum().into(), whole: sum.is_whole(), unlimited: sum.is_unlimited(), open: Vec::new() }
    }
}

/// A sum before and after a change.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Changes {
    before: Sum,
    after: Sum,
    /// The difference of the cost that both states know.
    difference: Bounds,
    /// The part of `after` whose cost was unknown before.
    became_known: Bounds,
    /// The part of `before` whose cost is unknown after.
    no_longer_known: Bounds,
}

impl From<&CostChange> for Changes {
    fn from(it: &CostChange) -> Self {
        Changes {
            before: (&it.before).into(),
            after: (&it.after).into(),
            difference: it.difference.into(),
            became_known: it.became_known.into(),
            no_longer_known: it.no_longer_known.into(),
        }
    }
}

impl Changes {
    /// Creates the JSON of a change without its open parts, because other sums already list them.
    pub(in crate::report) fn without_parts(it: &CostChange) -> Changes {
        let (before, after) = (Sum::without_parts(&it.before), Sum::without_parts(&it.after));
        Changes { before, after, ..it.into() }
    }
}

/// A fact: known, unknown with its cause, or (as `null`) absent.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Fact {
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

impl Fact {
    pub(super) fn new(report: &Report, fact: &inventory::Fact<Value>) -> Option<Fact> {
        Self::with(report, fact, value)
    }

    /// Returns a fact whose value has another JSON type.
    pub(super) fn with(
        report: &Report,
        fact: &inventory::Fact<Value>,
        mut shape: impl FnMut(&Value) -> serde_json::Value,
    ) -> Option<Fact> {
        let place = |span: Span| {
            let location = report.paths.locate(report.sources, span);
            (location.path, location.line)
        };
        Some(match fact {
            inventory::Fact::Absent => return None,
            inventory::Fact::Known(known) => {
                let (path, line) = place(known.span);
                let reason = match &known.origin {
                    inventory::Origin::Inferred(why) | inventory::Origin::Assumed(why) => Some(why.to_string()),
                    inventory::Origin::ServedName => Some("the name under which the model is served".to_owned()),
                    _ => None,
                };
                Fact::Known { value: shape(&known.value), origin: known.origin.name(), reason, path, line }
            }
            inventory::Fact::Unknown(unknown) => {
                let (path, line) = place(unknown.span);
                let why = unknown.why.to_string();
                if unknown.candidates.is_empty() {
                    Fact::Unknown { unknown: why, path, line }
                } else {
                    let candidates = unknown.candidates.iter().map(shape).collect();
                    Fact::OneOf { value: None, candidates, unknown: why, path, line }
                }
            }
        })
    }
}

pub(super) fn value(value: &Value) -> serde_json::Value {
    match value {
        Value::Text(text) => text.to_string().into(),
        Value::Integer(n) => (*n).into(),
        Value::Number(n) => serde_json::to_value(Number(*n)).unwrap_or_default(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(ToString::to_string).collect::<Vec<_>>().into(),
    }
}

/// The number of machines or pods.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Count {
    Known {
        #[serde(flatten)]
        range: Bounds,
        origin: &'static str,
    },
    Unknown {
        unknown: String,
    },
}

impl Count {
    pub(super) fn new(count: &inventory::Fact<inventory::Range>) -> Count {
        match count {
            inventory::Fact::Known(known) => Count::Known { range: known.value.into(), origin: known.origin.name() },
            inventory::Fact::Unknown(unknown) => Count::Unknown { unknown: unknown.why.to_string() },
            inventory::Fact::Absent => Count::Unknown { unknown: "no number is set".to_owned() },
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Price {
    pub(super) status: &'static str,
    pub(super) reason: Option<String>,
    pub(super) usd_per_hour: Option<Number>,
    pub(super) usd_per_month: Option<Bounds>,
    /// The resource's share of the monthly total, in which each dollar counts once; missing if excluded from the
    /// total.
    pub(super) usd_in_sum: Option<Bounds>,
    /// The period of `usd`: `month`, `run` or `hour`.
    pub(super) per: &'static str,
    pub(super) usd: Option<Bounds>,
    /// The hours of one machine or pod in that period.
    pub(super) hours: Option<Number>,
    pub(super) hours_per_month: Option<Number>,
    pub(super) hours_because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) starts_per_month: Option<Number>,
    /// Disks, billed separately.
    pub(super) attached_usd_per_month: Option<Bounds>,
    /// Accelerators that remain unusable next to a pod.
    pub(super) stranded_accelerators: Number,
    pub(super) as_of: Option<String>,
    pub(super) stale: Option<String>,
    /// True if no accelerator type is named. The expected cost is then the lowest possible one.
    pub(super) accelerator_unnamed: bool,
    /// Costs that this price leaves out.
    pub(super) not_included: Vec<String>,
}

impl Price {
    pub(super) fn new(item: Option<&BillItem>) -> Price {
        let (status, reason) = match item.map(|item| &item.status) {
            Some(Status::Priced) => ("priced", None),
            Some(Status::Estimated(why)) => ("estimated", Some(why.clone())),
            Some(Status::Unpriced(why)) => ("unpriced", Some(why.clone())),
            Some(Status::Unasked) | None => ("unpriced", Some("gpulint looked up no price".to_owned())),
        };
        Price {
            status,
            reason,
            usd_per_hour: item.and_then(|item| item.per_hour).map(|range| range.expected.into()),
            usd_per_month: item.and_then(|item| item.monthly).map(Into::into),
            usd_in_sum: item.and_then(|item| item.share).map(Into::into),
            per: item.map_or(Period::Month, |item| item.per).name(),
            usd: item.and_then(|item| item.amount).map(Into::into),
            hours: item.filter(|item| item.per != Period::Hour).map(|item| Number(item.hours)),
            hours_per_month: item.filter(|item| item.per == Period::Month).map(|item| Number(item.hours)),
            hours_because: item.and_then(|item| item.hours_because.clone()),
            starts_per_month: item.and_then(|item| item.starts).map(Number),
            attached_usd_per_month: item.and_then(|item| item.attached.as_ref()?.known()).map(Into::into),
            stranded_accelerators: Number(item.map_or(0.0, |item| item.stranded)),
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
pub(in crate::report) struct Skipped<'a> {
    path: String,
    /// The cause, in the form for programs.
    kind: &'static str,
    reason: &'a str,
}

pub(in crate::report) fn skipped<'a>(report: &Report<'a>) -> Vec<Skipped<'a>> {
    let shown = |it: &'a inventory::Skipped| Skipped {
        path: report.paths.show(&it.path),
        kind: it.kind.name(),
        reason: &it.reason,
    };
    report.inventory.skipped.iter().map(shown).collect()
}

/// A machine that may have accelerators.
#[derive(Debug, Serialize)]
pub(in crate::report) struct UnknownMachine<'a> {
    address: &'a str,
    path: String,
    line: usize,
    cause: &'a str,
}

pub(in crate::report) fn unknown_machines<'a>(report: &Report<'a>) -> Vec<UnknownMachine<'a>> {
    let shown = |it: &'a complete::UnknownMachine| {
        let at = report.paths.locate(report.sources, it.span);
        UnknownMachine { address: &it.address, path: at.path, line: at.line, cause: &it.why }
    };
    report.unknown_machines.iter().map(shown).collect()
}

/// Returns resources without a price, and why.
pub(in crate::report) fn unpriced<'a>(report: &Report<'a>) -> Vec<UnknownMachine<'a>> {
    let resources = report.inventory.resources.iter().zip(&report.bill.items);
    let shown = |(it, item): (&'a Resource, &'a BillItem)| {
        let Status::Unpriced(cause) = &item.status else { return None };
        let at = report.paths.locate(report.sources, it.span);
        Some(UnknownMachine { address: &it.address, path: at.path, line: at.line, cause })
    };
    resources.filter_map(shown).collect()
}

/// Returns resources whose region is taken from a setting.
pub(in crate::report) fn assumed<'a>(report: &Report<'a>) -> Vec<UnknownMachine<'a>> {
    let shown = |(it, cause): (&'a Resource, &'a str)| {
        let at = report.paths.locate(report.sources, it.span);
        UnknownMachine { address: &it.address, path: at.path, line: at.line, cause }
    };
    report.assumed().map(shown).collect()
}

/// A resource with its cost, and the values that a later comparison needs.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Counted<'a> {
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
    accelerator_count: Option<Number>,
    purchase: Option<String>,
    team: Option<&'a str>,
    count: Count,
    price: Price,
    /// The values that a purchase plan needs, for provisioned machines in the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    demand: Option<WireDemand>,
}

/// The needed machines, and their price.
#[derive(Debug, Serialize)]
struct WireDemand {
    standing: &'static str,
    why: Option<String>,
    always: Number,
    average: Option<Number>,
    covered: Number,
    most: Option<Number>,
    sure: Vec<Rung>,
    usd_per_hour: Offered,
}

/// The number of machines that always run in this share of the hours.
#[derive(Debug, Serialize)]
struct Rung {
    machines: Number,
    share: Number,
}

#[derive(Debug, Serialize)]
pub(in crate::report) struct Offered {
    on_demand: Option<Number>,
    spot: Option<Number>,
    one_year: Option<Number>,
    three_years: Option<Number>,
    block: Option<Number>,
    flex: Option<Number>,
}

impl From<pricing::Offered> for Offered {
    fn from(it: pricing::Offered) -> Offered {
        let number = |money: Option<Money>| money.map(Number::from);
        Offered {
            on_demand: number(it.on_demand),
            spot: number(it.spot),
            one_year: number(it.one_year),
            three_years: number(it.three_years),
            block: number(it.block),
            flex: number(it.flex),
        }
    }
}

impl From<pricing::Demand> for WireDemand {
    fn from(it: pricing::Demand) -> WireDemand {
        let rung = |rung: &pricing::Rung| Rung { machines: Number(rung.machines), share: Number(rung.share) };
        WireDemand {
            standing: it.standing.name(),
            why: it.why,
            always: Number(it.always),
            average: it.average.map(Number),
            covered: Number(it.covered),
            most: it.most.map(Number),
            sure: it.rungs.iter().map(rung).collect(),
            usd_per_hour: it.offered.into(),
        }
    }
}

pub(super) fn counted<'a>(report: &Report<'a>) -> Vec<Counted<'a>> {
    let all = (0..report.inventory.resources.len()).map(|at| resource(report, ResourceId(at)));
    let mut all: Vec<Option<Counted<'a>>> = all.collect();
    for (at, need) in pricing::needs(report.inventory, report.bill) {
        if let Some(Some(counted)) = all.get_mut(at) {
            counted.demand = Some(need.demand.into());
        }
    }
    all.into_iter().flatten().collect()
}

/// Returns the JSON of one resource.
pub(in crate::report) fn resource<'a>(report: &Report<'a>, id: ResourceId) -> Option<Counted<'a>> {
    let it = report.resource(Some(id))?;
    let at = report.paths.locate(report.sources, it.span);
    let text = |key| it.fact(key).value().map(ToString::to_string);
    Some(Counted {
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
        accelerator_count: it.number(Key::AcceleratorCount).map(Number),
        purchase: text(Key::Purchase),
        team: team(it),
        count: Count::new(&it.count),
        price: Price::new(report.bill.items.get(id.0)),
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
pub(in crate::report) struct Run<'a> {
    id: &'a str,
    kind: &'static str,
    name: String,
    folder: String,
    variant: Option<&'a str>,
    target: Option<Fact>,
    counted: &'static str,
    inputs: Vec<String>,
    uses: Vec<&'a str>,
    used_by: Vec<&'a str>,
}

pub(in crate::report) fn runs<'a>(report: &Report<'a>) -> Vec<Run<'a>> {
    let ids = |all: &'a [inventory::RunId]| all.iter().map(inventory::RunId::as_str).collect();
    let shown = |run: &'a inventory::Run| Run {
        id: run.id.as_str(),
        kind: run.kind.name(),
        name: report.name_of(run),
        folder: report.paths.show_directory(&run.folder),
        variant: run.variant.as_deref(),
        target: Fact::new(report, &run.target),
        counted: run.counted.name(),
        inputs: run.inputs.iter().map(|path| report.paths.show(path)).collect(),
        uses: ids(&run.uses),
        used_by: ids(&run.used_by),
    };
    report.inventory.runs.iter().map(shown).collect()
}

/// The place of the version that the total counts instead.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Version {
    path: String,
    line: usize,
}

pub(super) fn version_of(report: &Report, resource: &Resource) -> Option<Version> {
    let location = report.paths.locate(report.sources, resource.version_of?);
    Some(Version { path: location.path, line: location.line })
}

/// A budget with its current total.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Budget<'a> {
    rule: &'a str,
    name: &'a str,
    limit_usd: Option<Number>,
    before_usd: Option<Number>,
    after_usd: Number,
    hours_per_month: Number,
}

impl<'a> Budget<'a> {
    pub(in crate::report) fn new(it: &'a Spent) -> Budget<'a> {
        Budget {
            rule: &it.rule,
            name: &it.name,
            limit_usd: it.limit.map(Into::into),
            before_usd: it.before.map(Into::into),
            after_usd: it.after.into(),
            hours_per_month: Number(it.hours),
        }
    }
}

/// A total that a rule checks.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Total<'a> {
    rule: &'a str,
    name: &'a str,
    amount_usd: Option<Number>,
    limit_usd: Option<Number>,
    hours_per_month: Number,
}

impl<'a> Total<'a> {
    pub(in crate::report) fn new(rule: &'a str, it: &'a rules::Total) -> Total<'a> {
        Total {
            rule,
            name: &it.name,
            amount_usd: it.amount.map(Into::into),
            limit_usd: it.limit.map(Into::into),
            hours_per_month: Number(it.hours),
        }
    }
}

/// A total of the bill.
#[derive(Debug, Serialize)]
pub(in crate::report) struct Totals {
    rented: Sum,
    requested: Sum,
    /// Machines and pods, with each dollar counted once.
    combined: Sum,
    /// Disks of provisioned machines.
    attached: Sum,
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
    usd: Bounds,
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
    rented: Sum,
    requested: Sum,
    unpriced: usize,
}

impl Apart {
    fn new((counted, sum): (&inventory::Counted, &pricing::Apart)) -> Apart {
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
            combined: Sum::without_parts(&bill.combined),
            attached: (&bill.attached).into(),
            unpriced: bill.unpriced(),
            unnamed: Unnamed::new(bill),
            stale: bill.stale,
            apart: bill.apart.iter().map(Apart::new).collect(),
        }
    }
}
