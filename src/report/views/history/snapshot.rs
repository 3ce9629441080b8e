//! Defines a compact form of the cost of one state of a tree, which history points contain and the cache stores.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::catalog::{Money, MoneyRange};
use crate::inventory::{BillingRole, Key, Resource, ResourceId};
use crate::pricing::{CostSum, MonthOf, OpenCause, OpenPart, Period, Status, together};
use crate::report::Report;
use crate::report::views::cuts::{Cut, slices};
use crate::report::views::scorecard::best_savings;
use crate::source::parent;

/// Money as in reports, in millionths, so that an amount is the same when it is computed and when it is read from the
/// cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SnapshotAmount(MoneyRange);

impl From<MoneyRange> for SnapshotAmount {
    fn from(range: MoneyRange) -> Self {
        let rounded = |money: Money| Money::from_micros(money.micros());
        SnapshotAmount(MoneyRange {
            floor: rounded(range.floor),
            expected: rounded(range.expected),
            ceiling: rounded(range.ceiling),
        })
    }
}

impl Deref for SnapshotAmount {
    type Target = MoneyRange;

    fn deref(&self) -> &MoneyRange {
        &self.0
    }
}

impl Serialize for SnapshotAmount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.floor, self.expected, self.ceiling].map(Money::micros).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SnapshotAmount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [floor, expected, ceiling] = <[i64; 3]>::deserialize(deserializer)?.map(Money::from_micros);
        Ok(SnapshotAmount(MoneyRange { floor, expected, ceiling }))
    }
}

/// Rounds a number so that it stays the same after it was written and read.
fn rounded(n: f64) -> f64 {
    const MOST: f64 = 1e9;
    let n = if n.is_finite() { n.clamp(-MOST, MOST) } else { MOST };
    (n * 1e6).round() / 1e6
}

/// One state of a tree.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The known monthly cost of machines, of pods, and of both with each dollar counted once.
    rented: SnapshotAmount,
    requested: SnapshotAmount,
    combined: SnapshotAmount,
    /// The known disk cost of provisioned machines, which is separate, and whether it is complete.
    attached: SnapshotAmount,
    is_attached_whole: bool,
    /// Jobs that end, which no monthly total contains.
    pub endings: Vec<SnapshotEnding>,
    /// The expected number of accelerators: provisioned, and requested by pods.
    pub accelerators_rented: f64,
    pub accelerators_requested: f64,
    /// Resources without a price.
    pub unpriced: usize,
    /// The number of findings for each rule. Suppressed findings do not count.
    pub findings: Vec<RuleCount>,
    /// The possible monthly saving: the largest of each resource.
    pub saves: SnapshotAmount,
    pub not_judged: Vec<SnapshotUnjudged>,
    pub resources: Vec<Holding>,
    /// The cost by each cut.
    pub cuts: Vec<SnapshotCut>,
}

/// The totals of the bill by property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotCut {
    /// The name of the property.
    pub cut: String,
    pub slices: Vec<SnapshotSlice>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotSlice {
    pub name: String,
    pub is_named: bool,
    pub rented: SnapshotAmount,
    pub requested: SnapshotAmount,
    pub resources: usize,
    pub unpriced: usize,
}

/// Jobs that end: the cost per run or hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotEnding {
    pub is_rented: bool,
    /// `run` or `hour`.
    pub per: String,
    pub resources: usize,
    pub amount: SnapshotAmount,
}

/// The findings of one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleCount {
    pub rule: String,
    pub findings: usize,
    /// The monthly saving; findings on one resource overlap.
    pub saves: SnapshotAmount,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotUnjudged {
    pub path: String,
    pub address: Option<String>,
    pub reason: String,
}

/// A resource in this state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Holding {
    pub address: String,
    /// The deployment of the resource, which distinguishes equal addresses.
    pub run: Option<String>,
    pub kind: String,
    pub path: String,
    pub is_rented: bool,
    /// True if the total contains it.
    pub is_added: bool,
    /// True for a pod on counted machines, which adds nothing.
    pub is_within: bool,
    pub machine: Option<String>,
    pub accelerator: Option<String>,
    /// The accelerators of one machine or pod.
    pub accelerators: Option<f64>,
    /// Machines or pods: minimum, expected, maximum.
    pub count: Option<[f64; 3]>,
    /// The monthly cost; `None` if the number of runs or the price is unknown.
    pub monthly: Option<SnapshotAmount>,
    /// The period of `amount`: `month`, `run` or `hour`.
    pub per: String,
    pub amount: Option<SnapshotAmount>,
    /// The reason why the resource has no price.
    pub unpriced: Option<String>,
    /// Other unknown parts of its cost: the names of the causes.
    pub open: Vec<(String, String)>,
    /// The resource's share of the monthly total, in which each dollar counts once.
    pub share: Option<SnapshotAmount>,
    /// The pool of a pod, or the pools that it can run on.
    pub pools: Vec<String>,
    /// True if nothing limits the number of machines.
    pub is_unlimited: bool,
}

impl Holding {
    /// Returns true if a file at this path may contain the resource: both are in one folder, or the file belongs to
    /// its root.
    fn is_of(&self, path: &str) -> bool {
        let folder = parent(path);
        let of_run = |run: &str| {
            let (_, root) = run.split_once(':')?;
            let root = root.split_once(" (").map_or(root, |(root, _)| root);
            Some(folder == if root == "." { "" } else { root })
        };
        folder == parent(&self.path) || self.run.as_deref().and_then(of_run).unwrap_or(true)
    }

    fn new(report: &Report, id: ResourceId, resource: &Resource) -> Holding {
        let item = report.bill.items.get(id.0);
        let text = |key| resource.fact(key).value().map(ToString::to_string);
        Holding {
            address: resource.address.clone(),
            run: resource.run.as_ref().map(|run| run.as_str().to_owned()),
            kind: resource.kind.clone(),
            path: report.paths.locate(report.sources, resource.span).path,
            is_rented: resource.role == BillingRole::Rented,
            is_added: resource.is_added(),
            is_within: item.is_some_and(|item| item.is_within),
            machine: text(Key::Machine),
            accelerator: text(Key::Accelerator),
            accelerators: resource.number(Key::AcceleratorCount).map(rounded),
            count: resource.count.value().map(|it| [it.floor, it.expected, it.ceiling].map(rounded)),
            monthly: item.and_then(|item| item.monthly).map(Into::into),
            per: item.map_or(Period::Month, |item| item.per).name().to_owned(),
            amount: item.and_then(|item| item.amount).map(Into::into),
            unpriced: match item.map(|item| &item.status) {
                Some(Status::Unpriced(why)) => Some(why.clone()),
                _ => None,
            },
            open: report
                .bill
                .cost_of(report.inventory, id)
                .open()
                .map(|it| (it.cause.name().to_owned(), it.why.to_string()))
                .collect(),
            share: item.and_then(|item| item.share).map(Into::into),
            pools: resource.pools().map(str::to_owned).collect(),
            is_unlimited: resource.is_unlimited(),
        }
    }

    /// Returns the known monthly cost, and the unknown part.
    fn cost(&self, place: usize) -> CostSum {
        let part = |(cause, why): &(String, String)| OpenPart {
            of: self.address.as_str().into(),
            resource: Some(ResourceId(place)),
            cause: OpenCause::from_name(cause).unwrap_or(OpenCause::Price),
            why: why.as_str().into(),
        };
        let known = self.monthly.map(|it| *it).unwrap_or_default();
        CostSum::new(known, self.open.iter().map(part)).unlimited(self.is_unlimited && self.monthly.is_some())
    }

    /// Returns true if the cost is known, per month or per run.
    pub fn is_known(&self) -> bool {
        self.monthly.is_some() || self.amount.is_some()
    }

    /// Returns true if both are the same resource with the same cost, even if they are defined in different places.
    pub fn costs_as(&self, other: &Holding) -> bool {
        (&self.machine, &self.accelerator, self.accelerators, self.count)
            == (&other.machine, &other.accelerator, other.accelerators, other.count)
            && (self.monthly, &self.per, self.amount, self.is_rented)
                == (other.monthly, &other.per, other.amount, other.is_rented)
    }

    /// Returns true if a part of its cost is unknown.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the expected number of accelerators of all its machines or pods.
    pub fn expected_accelerators(&self) -> f64 {
        let [_, expected, _] = self.count.unwrap_or_default();
        self.accelerators.unwrap_or_default() * expected
    }
}

impl Snapshot {
    pub fn new(report: &Report) -> Snapshot {
        let items = report.inventory.resources.iter().enumerate();
        let mut resources: Vec<Holding> = items.map(|(at, it)| Holding::new(report, ResourceId(at), it)).collect();
        resources.sort_by(|a, b| (&a.run, &a.address, &a.path).cmp(&(&b.run, &b.address, &b.path)));
        let accelerators = |is_rented| {
            let counted = resources.iter().filter(|it| it.is_added && it.is_rented == is_rented);
            // The sum of an empty list can be negative zero.
            rounded(counted.map(Holding::expected_accelerators).fold(0.0, |sum, it| sum + it))
        };
        let savings = best_savings(report).into_values().filter(|it| it.per == Period::Month);
        let mut saves = MoneyRange::ZERO;
        savings.filter_map(|it| it.saves).for_each(|it| saves += it);
        Snapshot {
            rented: report.bill.rented.minimum().into(),
            requested: report.bill.requested.minimum().into(),
            combined: report.bill.combined.minimum().into(),
            attached: report.bill.attached.minimum().into(),
            is_attached_whole: report.bill.attached.is_whole(),
            endings: endings(report),
            accelerators_rented: accelerators(true),
            accelerators_requested: accelerators(false),
            unpriced: report.bill.unpriced(),
            findings: findings(report),
            saves: saves.into(),
            not_judged: not_judged(report),
            resources,
            cuts: Cut::ALL.into_iter().map(|cut| divided(report, cut)).collect(),
        }
    }

    /// Returns the slices of each cut, the most expensive first.
    pub fn slices(&self, cut: Cut) -> &[SnapshotSlice] {
        self.cuts.iter().find(|it| it.cut == cut.name()).map_or(&[], |it| &it.slices)
    }

    /// Returns the monthly cost of machines.
    pub fn rented(&self) -> CostSum {
        self.sum(*self.rented, |it| it.is_rented)
    }

    /// Returns the monthly cost of pods.
    pub fn requested(&self) -> CostSum {
        self.sum(*self.requested, |it| !it.is_rented)
    }

    /// Returns the monthly cost of both, with each dollar counted once.
    pub fn combined(&self) -> CostSum {
        self.sum(*self.combined, |_| true)
    }

    /// Disks of provisioned machines.
    pub fn attached(&self) -> CostSum {
        let open = OpenPart {
            of: "disks".into(),
            resource: None,
            cause: OpenCause::Price,
            why: "a disk has no size or no price".into(),
        };
        CostSum::new(*self.attached, Some(open).filter(|_| !self.is_attached_whole))
    }

    fn sum(&self, known: MoneyRange, is_of: impl Fn(&Holding) -> bool) -> CostSum {
        let holdings = self.resources.iter().enumerate().filter(|(_, it)| it.is_added && is_of(it));
        let mut parts = CostSum::default();
        holdings.for_each(|(place, it)| parts += &it.cost(place));
        let unread = self.not_judged.iter().map(|it| OpenPart::unread(it.address.as_deref(), &it.path, &it.reason));
        CostSum::new(known, parts.open().cloned().chain(unread)).unlimited(parts.is_unlimited())
    }

    /// Returns the known monthly cost of machines and pods in the total.
    pub(super) fn month_of(&self, counts: impl Fn(&Holding) -> bool) -> MoneyRange {
        together(self.added().filter(|it| counts(it)).filter_map(|it| {
            Some(MonthOf {
                address: &it.address,
                role: if it.is_rented { BillingRole::Rented } else { BillingRole::Requested },
                monthly: *it.monthly?,
                pools: it.pools.iter().map(String::as_str).collect(),
                is_unlimited: it.is_unlimited,
            })
        }))
    }

    /// Returns the expected number of accelerators, each counted once: pods on counted machines add none.
    pub fn accelerators(&self) -> f64 {
        self.accelerators_of(|_| true)
    }

    pub(super) fn accelerators_of(&self, counts: impl Fn(&Holding) -> bool) -> f64 {
        let of_their_own = self.added().filter(|it| counts(it) && (it.is_rented || !it.is_within));
        rounded(of_their_own.map(Holding::expected_accelerators).fold(0.0, |sum, it| sum + it))
    }

    /// Returns true if an unevaluated entry may be the resource with this address.
    pub fn may_hide(&self, it: &Holding) -> bool {
        self.declares(it) || self.not_judged.iter().any(|open| open.address.is_none() && open.path == it.path)
    }

    /// Returns true if a resource with this address exists and was not evaluated.
    pub(super) fn declares(&self, it: &Holding) -> bool {
        let within = |open: &SnapshotUnjudged| {
            let rest = open.address.as_ref().and_then(|own| it.address.strip_prefix(&**own));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])) && it.is_of(&open.path)
        };
        self.not_judged.iter().any(within)
    }

    /// Returns the resources in the total.
    pub fn added(&self) -> impl Iterator<Item = &Holding> + Clone {
        self.resources.iter().filter(|it| it.is_added)
    }

    pub fn finding_count(&self) -> usize {
        self.findings.iter().map(|it| it.findings).sum()
    }

    /// Returns true if both states have the same bill.
    pub fn costs_the_same(&self, other: &Snapshot) -> bool {
        (self.rented, self.requested, self.combined) == (other.rented, other.requested, other.combined)
            && self.unpriced == other.unpriced
            && self.resources == other.resources
    }
}

fn divided(report: &Report, cut: Cut) -> SnapshotCut {
    let slices = slices(report, cut).into_iter().map(|it| SnapshotSlice {
        unpriced: it.unpriced(),
        name: it.name,
        is_named: it.is_named,
        rented: it.rented.minimum().into(),
        requested: it.requested.minimum().into(),
        resources: it.resources,
    });
    SnapshotCut { cut: cut.name().to_owned(), slices: slices.collect() }
}

fn endings(report: &Report) -> Vec<SnapshotEnding> {
    let all = report.bill.endings(report.inventory).into_iter();
    let told = all.map(|((role, per), ending)| SnapshotEnding {
        is_rented: role == BillingRole::Rented,
        per: per.name().to_owned(),
        resources: ending.resources,
        amount: ending.amount.into(),
    });
    told.collect()
}

fn findings(report: &Report) -> Vec<RuleCount> {
    let mut rules: BTreeMap<&str, (usize, MoneyRange)> = BTreeMap::new();
    for finding in report.findings.iter().filter(|it| it.counts()).map(|it| &it.finding) {
        let (count, saves) = rules.entry(&finding.rule).or_default();
        *count += 1;
        if let Some(more) = finding.saves.filter(|_| finding.per == Period::Month) {
            *saves += more;
        }
    }
    let told = |(rule, (findings, saves)): (&str, (usize, MoneyRange))| RuleCount {
        rule: rule.to_owned(),
        findings,
        saves: saves.into(),
    };
    rules.into_iter().map(told).collect()
}

fn not_judged(report: &Report) -> Vec<SnapshotUnjudged> {
    let told = report.inventory.unjudged.iter().map(|it| SnapshotUnjudged {
        path: report.paths.show(&it.path),
        address: it.address.clone(),
        reason: it.reason.clone(),
    });
    told.collect()
}
