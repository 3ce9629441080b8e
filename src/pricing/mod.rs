//! Calculates the cost of an inventory with the catalog, and the difference between two states.
//!
//! Each price contains its calculation steps. An unknown price is a result, too.

mod attached;
mod bill;
mod combined;
mod contract;
mod cost_sum;
mod cron;
mod delta;
mod demand;
mod demand_base;
mod either;
mod hours;
mod item;
mod market;
mod owned;
mod plan;
mod purchase;
mod purchase_plan;
mod restarts;
mod searches;
mod share;
mod sustained;
#[cfg(test)]
mod tests;
mod unit;
mod variants;
mod week;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Currency, Money, MoneyRange, PriceMove};
use crate::inventory::{BillingRole, CountedAs, Fact, FactValue, Key, Range, Resource, ResourceId};
use crate::resolve::Defaults;
use crate::source::{Date, Span};

pub use attached::Attached;
pub use bill::bill;
pub use combined::{MonthOf, pool_of, together};
pub use contract::{Contract, ContractTerms};
pub use cost_sum::{CostChange, CostSum, OpenCause, OpenPart};
pub use delta::{ChangeKind, Delta, FactChange, KnownSides, ResourceCostChange, Side, count_range, delta};
pub use demand::{CommitmentEligibility, HourlyOffers, Need, SteadyDemand, needs};
pub use demand_base::{Rung, base};
pub use either::count_dearer;
pub use hours::Usage;
pub use market::{Elsewhere, cheaper_provider, cheaper_region};
pub use owned::{Against, BreakEvenHours, Owned, Purchased, crossing};
pub use plan::{HoursPlan, OwnMachine, PlannedHours, PurchaseOption, ways};
pub use purchase_plan::{Bound, PurchaseGroup, PurchaseLine, PurchasePlan, Shrunk, Term, Unplanned, purchase_plan};
pub use restarts::Restarts;

/// Hours of a month, by convention of the clouds' own calculators.
pub const HOURS_PER_MONTH: f64 = 730.0;

/// What the configuration says about prices.
#[derive(Debug, Clone, Default)]
pub struct PricingSettings {
    /// Used where the text names none, and then marked as assumed.
    pub defaults: Defaults,
    /// Share by which a provider's list prices are lowered, 0 to 1.
    pub discounts: BTreeMap<String, f64>,
    /// What was agreed for some machines; later ones come first.
    pub contracts: Vec<Contract>,
    /// Hardware of one's own, for resources of the provider `on-prem`.
    pub owned: Vec<Owned>,
    /// How long some resources run; later ones come first.
    pub usage: Vec<Usage>,
    /// By which the age of prices is judged; without it no price is stale.
    pub today: Option<Date>,
    /// In which people read amounts.
    pub currency: Currency,
}

/// The provider of hardware that is owned.
pub const OWN_PROVIDER: &str = "on-prem";

/// What everything costs. `items` has one entry for each resource of the inventory, in the same order.
#[derive(Debug, Clone, Default)]
pub struct Bill {
    pub items: Vec<BillItem>,
    pub rented: CostSum,
    pub requested: CostSum,
    /// Both together, with each dollar counted once: pods that run on machines of the tree are a part of these.
    pub combined: CostSum,
    /// Disks and the like of what is rented, which are not part of it.
    pub attached: CostSum,
    /// Of `requested`, what pods cost that name no accelerator.
    pub unnamed: Ending,
    /// Resources whose price is older than prices of its kind may be.
    pub stale: usize,
    /// What of the sums rests on such prices.
    pub past_shelf_life: PastShelfLife,
    /// Date of the oldest price that was used, `2026-07-20`.
    pub oldest_row: Option<String>,
    /// What sums do not count, by the reason.
    pub apart: BTreeMap<CountedAs, ExcludedTotal>,
}

/// Resources that have something in common, and what they cost: what ends for one run of each, or for an hour of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ending {
    pub resources: usize,
    pub amount: MoneyRange,
    /// An hour of one of each of those of which nothing says how many there are.
    pub each_uncounted: Money,
}

/// Dollars of a month that rest on prices which are older than prices of their kind may be: as their rows say, and what they
/// may be today.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PastShelfLife {
    pub rented: MoneyRange,
    pub requested: MoneyRange,
    /// The roles of which an end of the sum moved with such a price, also of a way of buying that is only possible.
    moved: [bool; 2],
}

impl PastShelfLife {
    pub fn new(rented: MoneyRange, requested: MoneyRange) -> PastShelfLife {
        PastShelfLife { rented, requested, moved: [rented, requested].map(|it| it.floor != it.ceiling) }
    }

    fn note(&mut self, role: BillingRole, item: &BillItem) {
        self.moved[role as usize] |= item.monthly != item.listed().monthly;
    }

    /// Whether the ends of a sum are, in part, how far old prices may have moved, and not only how many machines there are.
    pub fn has_moved(&self, role: BillingRole) -> bool {
        self.moved[role as usize]
    }
}

/// A sum that is told beside the bill.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExcludedTotal {
    pub resources: usize,
    pub rented: CostSum,
    pub requested: CostSum,
}

impl ExcludedTotal {
    pub fn of_role(&self, role: BillingRole) -> &CostSum {
        match role {
            BillingRole::Rented => &self.rented,
            BillingRole::Requested => &self.requested,
        }
    }

    pub fn unpriced(&self) -> usize {
        unpriced(self.rented.open().chain(self.requested.open()))
    }
}

/// Resources without a price or a number of them.
pub fn unpriced<'a>(open: impl Iterator<Item = &'a OpenPart>) -> usize {
    let without = open.filter(|it| matches!(it.cause, OpenCause::Price | OpenCause::Count));
    without.filter_map(|it| it.resource).collect::<BTreeSet<_>>().len()
}

impl Bill {
    pub fn of_role(&self, role: BillingRole) -> &CostSum {
        match role {
            BillingRole::Rented => &self.rented,
            BillingRole::Requested => &self.requested,
        }
    }

    /// Resources without a price, or without a number of them.
    pub fn unpriced(&self) -> usize {
        unpriced(self.rented.open().chain(self.requested.open()))
    }

    pub fn item(&self, id: ResourceId) -> &BillItem {
        &self.items[id.0]
    }
}

/// What one resource costs.
#[derive(Debug, Clone, Default)]
pub struct BillItem {
    pub status: Status,
    /// One machine or pod for one hour, as it is bought.
    pub per_hour: Option<MoneyRange>,
    /// The part of it that an hour costs where something runs so long that the vendor takes a part off by itself.
    pub sustained: Option<Range>,
    /// Unit price × count × hours, for what is there for a month or comes back by a schedule.
    pub monthly: Option<MoneyRange>,
    /// What `amount` is for.
    pub per: Period,
    /// Unit price × count × hours of a month, of a run, or one hour where nobody knows how long it runs.
    pub amount: Option<MoneyRange>,
    /// The same, bought differently; missing where that price is not known or does not exist.
    pub amount_if: BTreeMap<CostScenario, MoneyRange>,
    /// One machine or pod for one hour, bought in each way that has a price.
    pub per_hour_if: BTreeMap<CostScenario, MoneyRange>,
    /// One machine for one hour, booked ahead for days; where the very region lists it.
    pub block_per_hour: Option<Money>,
    /// The same for runs of some days that may wait for their start.
    pub flex_per_hour: Option<Money>,
    /// A contract of the settings commits to it already.
    pub is_committed: bool,
    /// Of each one, in that period.
    pub hours: f64,
    /// What says so, where it is not simply the whole month.
    pub hours_because: Option<String>,
    /// How often it starts in a month, where the text says that and not how long each run takes.
    pub starts: Option<f64>,
    pub count: Option<Range>,
    /// How the price came to be, in order, for `gpulint explain`.
    pub steps: Vec<SumStep>,
    /// Date of the price, where a row has one.
    pub as_of: Option<String>,
    /// What comes with it and is billed apart.
    pub attached: Option<Attached>,
    /// Software whose licence costs more than this, if there is any.
    pub licence: Option<String>,
    /// Pods: accelerators of the machine that nobody can use beside one of them, for want of CPUs or memory.
    pub stranded: f64,
    /// Why it will not start: spot costs more than the text pays.
    pub will_not_start: Option<String>,
    /// A pod that runs on machines which this bill counts: its dollars are theirs.
    pub is_within: bool,
    /// What it costs of a month of all, so that each dollar counts once; nothing of what sums do not count.
    pub share: Option<MoneyRange>,
    /// No text names an accelerator: the amount runs from the cheapest to the dearest that it may be, and nothing says where.
    pub is_unnamed: bool,
    /// One run of all of them, where a limit or the settings say how long it is.
    pub run: Option<PricedRun>,
    /// Why the price is too old to be relied on, if it is.
    pub stale: Option<String>,
    /// How far such a price may have moved since then.
    pub price_move: Option<PriceMove>,
    /// The amounts without that: at the prices of the rows. Nothing where they are the same.
    pub as_listed: Option<Box<BillItem>>,
    /// Why what it would cost on spot is no price of today, if it is none.
    pub spot_in_doubt: Option<String>,
}

/// What one run costs.
#[derive(Debug, Clone, PartialEq)]
pub struct PricedRun {
    pub hours: Range,
    /// What says so.
    pub because: String,
    /// Price of an hour × count × hours.
    pub amount: MoneyRange,
}

/// What an amount of money is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Period {
    #[default]
    Month,
    Run,
    Hour,
}

impl Period {
    pub const ALL: [Period; 3] = [Period::Month, Period::Run, Period::Hour];

    pub fn name(self) -> &'static str {
        match self {
            Period::Month => "month",
            Period::Run => "run",
            Period::Hour => "hour",
        }
    }

    pub fn from_name(name: &str) -> Option<Period> {
        Period::ALL.into_iter().find(|it| it.name() == name)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Status {
    Priced,
    /// Concluded from another row; the text says how.
    Estimated(String),
    Unpriced(String),
    #[default]
    Unasked,
}

impl BillItem {
    /// How many there are of a resource: as its price found it, else as its text says.
    pub fn count_of(&self, resource: &Resource) -> Option<Range> {
        self.count.or_else(|| resource.count.value().copied())
    }

    /// Why its money is none of a price list, if it is not.
    pub fn estimate(&self) -> Option<&str> {
        match &self.status {
            Status::Estimated(why) => Some(why),
            _ => None,
        }
    }

    /// One machine or pod for one of its hours, after what the vendor takes off by itself.
    pub fn hourly(&self) -> Option<MoneyRange> {
        let list = self.per_hour?;
        Some(self.sustained.map_or(list, |shares| multiply(list, shares)))
    }

    /// Its amounts at the prices of the rows, however old: what rules judge by.
    pub fn listed(&self) -> &BillItem {
        self.as_listed.as_deref().unwrap_or(self)
    }

    /// An amount at the price of the row, and what it may be today by how far such prices moved.
    fn today(&self, amount: Money) -> MoneyRange {
        let Some(it) = self.price_move else { return MoneyRange::exactly(amount) };
        MoneyRange { floor: amount.times(it.low), expected: amount, ceiling: amount.times(it.high) }
    }

    pub fn is_estimated(&self) -> bool {
        self.estimate().is_some()
    }
}

/// The hours that were measured, at the price of an hour, in a month of 730 hours.
pub fn measured_month(resource: &Resource, item: &BillItem) -> Option<Money> {
    let hourly = item.hourly()?.expected;
    let each = resource.number(Key::AcceleratorCount).filter(|it| *it > 0.0)?;
    let (hours, days) = (resource.number(Key::MeasuredHours)?, resource.number(Key::MeasuredWindowDays)?);
    let of_month = hours / each / (days * 24.0) * HOURS_PER_MONTH;
    let cost = of_month.is_finite().then(|| hourly.times(of_month))?;
    // Never more than the text can cost: what was measured may have been more of them.
    let most = item.monthly.map(|it| it.expected.max(it.ceiling));
    Some(most.map_or(cost, |most| cost.min(most)))
}

fn multiply(money: MoneyRange, by: Range) -> MoneyRange {
    MoneyRange {
        floor: money.floor.times(by.floor),
        expected: money.expected.times(by.expected),
        ceiling: money.ceiling.times(by.ceiling),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CostScenario {
    OnDemand,
    Spot,
    Reserved1y,
    Reserved3y,
}

impl CostScenario {
    pub const ALL: [CostScenario; 4] =
        [CostScenario::OnDemand, CostScenario::Spot, CostScenario::Reserved1y, CostScenario::Reserved3y];

    pub fn name(self) -> &'static str {
        match self {
            CostScenario::OnDemand => "on_demand",
            CostScenario::Spot => "spot",
            CostScenario::Reserved1y => "reserved_1y",
            CostScenario::Reserved3y => "reserved_3y",
        }
    }
}

/// One step of a sum.
#[derive(Debug, Clone, PartialEq)]
pub struct SumStep {
    /// What was done: "row aws g5.xlarge us-east-1, 2026-07-20, karpenter-provider-aws".
    pub text: String,
    pub result: Option<Money>,
    /// What of the text it rests on; nothing where settings or tables say it.
    pub of: Option<StepSource>,
}

/// What of a resource a step rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepSource {
    Fact(Key),
    Count,
    At(Span),
}

impl SumStep {
    fn new(text: impl Into<String>, result: Money) -> SumStep {
        SumStep { text: text.into(), result: Some(result), of: None }
    }

    fn from_text(text: impl Into<String>) -> SumStep {
        SumStep { text: text.into(), result: None, of: None }
    }

    fn about(self, of: StepSource) -> SumStep {
        SumStep { of: Some(of), ..self }
    }

    fn at(self, fact: &Fact<FactValue>) -> SumStep {
        SumStep { of: fact.span().map(StepSource::At), ..self }
    }

    /// Where the text says it.
    pub fn span(&self, resource: &Resource) -> Option<Span> {
        match self.of? {
            // a machine that nobody names follows from what it must have
            StepSource::Fact(Key::Machine) => {
                let facts = [Key::Machine, Key::Accelerator, Key::AcceleratorCount];
                facts.into_iter().find_map(|key| resource.fact(key).span())
            }
            StepSource::Fact(key) => resource.fact(key).span(),
            StepSource::Count => resource.count.span(),
            StepSource::At(span) => Some(span),
        }
    }
}
