//! Calculates the cost of an inventory with the catalog, and the difference between two states.
//!
//! Each price contains its calculation steps. If a price is unknown, the result contains the reason.

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
mod limit;
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
mod worst;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Currency, Money, MoneyRange, PriceMove};
use crate::inventory::{BillingRole, CountedAs, Fact, FactValue, Key, Range, Resource, ResourceId};
use crate::resolve::Defaults;
use crate::source::{Date, Span};

pub use attached::{Attached, NearbyVolume};
pub use bill::bill;
pub use combined::{MonthOf, together};
pub use contract::{Contract, ContractTerms};
pub use cost_sum::{CostChange, CostSum, OpenCause, OpenPart};
pub use delta::{ChangeKind, Delta, FactChange, KnownSides, ResourceCostChange, Side, count_range, delta};
pub use demand::{CommitmentEligibility, HourlyOffers, Need, SteadyDemand, needs};
pub use demand_base::{Rung, base};
pub use either::count_dearer;
pub use hours::Usage;
pub use limit::{NewLimit, NewLimits, new_limits};
pub use market::{Elsewhere, cheaper_provider, cheaper_region};
pub use owned::{Against, BreakEvenHours, Owned, Purchased, crossing};
pub use plan::{HoursPlan, OwnMachine, PlannedHours, PurchaseOption, ways};
pub use purchase_plan::{Bound, PurchaseGroup, PurchaseLine, PurchasePlan, Shrunk, Term, Unplanned, purchase_plan};
pub use restarts::{Restarts, interruption_shares};
pub use worst::{LimitedBy, NoLimit, Unlimited, WorstMonth, WorstPart};

/// The hours of a month, as the price calculators of the clouds count them.
pub const HOURS_PER_MONTH: f64 = 730.0;

/// The settings that affect prices.
#[derive(Debug, Clone, Default)]
pub struct PricingSettings {
    /// The defaults for values that the files do not set. Prices that use them are marked as assumed.
    pub defaults: Defaults,
    /// The discount on the list prices of each provider, as a share from 0 to 1.
    pub discounts: BTreeMap<String, f64>,
    /// The contract prices of some machines. If several cover a machine, the last one wins.
    pub contracts: Vec<Contract>,
    /// Own hardware, for resources of the provider `on-prem`.
    pub owned: Vec<Owned>,
    /// The hours of some resources. If several entries match, the last one wins.
    pub usage: Vec<Usage>,
    /// The date from which the age of prices is measured. Without it, no price is outdated.
    pub today: Option<Date>,
    /// The currency in which reports show amounts.
    pub currency: Currency,
}

/// The provider name of own hardware.
pub const OWN_PROVIDER: &str = "on-prem";

/// The cost of all resources. `items` has one entry for each resource of the inventory, in the same order.
#[derive(Debug, Clone, Default)]
pub struct Bill {
    pub items: Vec<BillItem>,
    pub rented: CostSum,
    pub requested: CostSum,
    /// The combined total. Each dollar counts once: pods share the cost of the machines that they run on.
    pub combined: CostSum,
    /// The most that a month can cost. `None` for a saved report.
    pub worst: Option<WorstMonth>,
    /// The disks of provisioned machines. `rented` does not contain their cost.
    pub attached: CostSum,
    /// The resources whose accelerator is not named, and their monthly cost.
    pub unnamed: Ending,
    /// The number of resources whose price is outdated.
    pub stale: usize,
    /// The part of the totals that is calculated from outdated prices.
    pub past_shelf_life: PastShelfLife,
    /// The date of the oldest price that was used, such as `2026-07-20`.
    pub oldest_row: Option<String>,
    /// The costs that are excluded from the totals, by reason.
    pub apart: BTreeMap<CountedAs, ExcludedTotal>,
}

/// A group of resources and its cost. If the resources end by themselves, it is the cost of a run or an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ending {
    pub resources: usize,
    pub amount: MoneyRange,
    /// The price of one hour of one replica, for each resource whose number of replicas is unknown.
    pub each_uncounted: Money,
}

/// The monthly cost that is calculated from outdated prices. `expected` uses the prices of the catalog; the range is
/// what it may be today.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PastShelfLife {
    pub rented: MoneyRange,
    pub requested: MoneyRange,
    /// For each role: whether outdated prices moved the minimum or the maximum of the total.
    moved: [bool; 2],
}

impl PastShelfLife {
    pub fn new(rented: MoneyRange, requested: MoneyRange) -> PastShelfLife {
        PastShelfLife { rented, requested, moved: [rented, requested].map(|it| it.floor != it.ceiling) }
    }

    fn note(&mut self, role: BillingRole, item: &BillItem) {
        self.moved[role as usize] |= item.monthly != item.listed().monthly;
    }

    /// Whether outdated prices widen the range of a total, in addition to the number of machines.
    pub fn has_moved(&self, role: BillingRole) -> bool {
        self.moved[role as usize]
    }
}

/// A cost that is excluded from the totals.
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

/// Returns the number of resources whose price or count is unknown.
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

    /// Returns the number of resources whose price or count is unknown.
    pub fn unpriced(&self) -> usize {
        unpriced(self.rented.open().chain(self.requested.open()))
    }

    pub fn item(&self, id: ResourceId) -> &BillItem {
        &self.items[id.0]
    }
}

/// The cost of one resource.
#[derive(Debug, Clone, Default)]
pub struct BillItem {
    pub status: Status,
    /// The price of one machine or pod per hour, in the way it is bought.
    pub per_hour: Option<MoneyRange>,
    /// The part of `per_hour` that is left after the provider's automatic discount for long use.
    pub sustained: Option<Range>,
    /// The most that one machine or pod can cost per hour. `None` if nothing limits it.
    pub worst_per_hour: Option<Money>,
    /// The most that one accelerator of a machine can cost per hour.
    pub worst_per_accelerator: Option<Money>,
    /// The most that the resource can cost in a month by itself, or why nothing limits it. `None` for a saved report.
    pub worst: Option<Result<Money, NoLimit>>,
    /// Unit price × count × hours, for resources that run all month or by a schedule.
    pub monthly: Option<MoneyRange>,
    /// The period of `amount`.
    pub per: Period,
    /// Unit price × count × hours of a month or of a run. If the length of a run is unknown, it is for one hour.
    pub amount: Option<MoneyRange>,
    /// The amount for other ways of buying. A way is missing if its price is unknown or does not exist.
    pub amount_if: BTreeMap<CostScenario, MoneyRange>,
    /// The price of one machine or pod per hour, for each way of buying that has a price.
    pub per_hour_if: BTreeMap<CostScenario, MoneyRange>,
    /// The price of one machine per hour in a capacity block, if the region of the machine lists one.
    pub block_per_hour: Option<Money>,
    /// The price of one machine per hour, for runs of some days that can wait for their start.
    pub flex_per_hour: Option<Money>,
    /// Whether a contract in the settings already commits to this resource.
    pub is_committed: bool,
    /// The hours of each replica in the period.
    pub hours: f64,
    /// The reason for `hours`, if they are not simply the whole month.
    pub hours_because: Option<String>,
    /// The same hours from minimum to maximum.
    pub hours_range: Option<Range>,
    /// The starts per month, if the files set them but not how long each run takes.
    pub starts: Option<f64>,
    /// The runs per month of work that ends by itself, if the files or the settings set them.
    pub runs_per_month: Option<f64>,
    /// The starts of all replicas per month, if a weekly schedule sets them.
    pub replica_starts: Option<f64>,
    /// Whether a schedule removes machines with their disks while they do not run.
    pub takes_disks_away: bool,
    pub count: Option<Range>,
    /// The calculation steps of the price, in order, for `gpulint explain`.
    pub steps: Vec<SumStep>,
    /// The date of the price, if the catalog has one.
    pub as_of: Option<String>,
    /// The cost of the machine's disks, which is billed separately.
    pub attached: Option<Attached>,
    /// The software or tenancy whose price is missing from this cost, if there is any.
    pub licence: Option<String>,
    /// The monthly cost of this software, if the catalog lists its price.
    pub licence_month: Option<MoneyRange>,
    /// For pods: the accelerators that no other pod can use, because this pod leaves too few CPUs or too little memory.
    pub stranded: f64,
    /// Why the machine will not start: the spot price exceeds the maximum that the files set.
    pub will_not_start: Option<String>,
    /// Whether it is a pod on machines that the totals contain. Its cost is then part of theirs.
    pub is_within: bool,
    /// The part of this item in the combined total, in which each dollar counts once. `None` if the totals exclude it.
    pub share: Option<MoneyRange>,
    /// Whether the files name no accelerator. The amount is then a range in which no value is more likely than another.
    pub is_unnamed: bool,
    /// The cost of one run of all replicas, if a time limit or the settings set its length.
    pub run: Option<PricedRun>,
    /// Why the price is outdated, if it is.
    pub stale: Option<String>,
    /// How far an outdated price may have moved since its date.
    pub price_move: Option<PriceMove>,
    /// The same item at the prices of the catalog, whatever their age. `None` if the amounts are the same.
    pub as_listed: Option<Box<BillItem>>,
    /// Why the spot price is doubtful, if it is.
    pub spot_in_doubt: Option<String>,
}

/// The cost of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct PricedRun {
    pub hours: Range,
    /// The source of the hours.
    pub because: String,
    /// Price per hour × count × hours.
    pub amount: MoneyRange,
}

/// The period of an amount of money.
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
    /// The price is derived from another entry. The string explains how.
    Estimated(String),
    Unpriced(String),
    #[default]
    Unasked,
}

impl BillItem {
    /// Returns the number of replicas that the price uses, or else the number that the files set.
    pub fn count_of(&self, resource: &Resource) -> Option<Range> {
        self.count.or_else(|| resource.count.value().copied())
    }

    /// Returns why the price is an estimate, if it is one.
    pub fn estimate(&self) -> Option<&str> {
        match &self.status {
            Status::Estimated(why) => Some(why),
            _ => None,
        }
    }

    /// Returns the price of one machine or pod per hour, after the provider's automatic discount.
    pub fn hourly(&self) -> Option<MoneyRange> {
        let list = self.per_hour?;
        Some(self.sustained.map_or(list, |shares| multiply(list, shares)))
    }

    /// Returns the item at the prices of the catalog, whatever their age. Rules use these amounts.
    pub fn listed(&self) -> &BillItem {
        self.as_listed.as_deref().unwrap_or(self)
    }

    /// Returns an amount at the price of the catalog, and the range that it may be today.
    fn today(&self, amount: Money) -> MoneyRange {
        let Some(it) = self.price_move else { return MoneyRange::exactly(amount) };
        MoneyRange { floor: amount.times(it.low), expected: amount, ceiling: amount.times(it.high) }
    }

    pub fn is_estimated(&self) -> bool {
        self.estimate().is_some()
    }
}

/// Returns the cost of the measured hours at the hourly price, scaled to a month of 730 hours.
pub fn measured_month(resource: &Resource, item: &BillItem) -> Option<Money> {
    let hourly = item.hourly()?.expected;
    let each = resource.number(Key::AcceleratorCount).filter(|it| *it > 0.0)?;
    let (hours, days) = (resource.number(Key::MeasuredHours)?, resource.number(Key::MeasuredWindowDays)?);
    let of_month = hours / each / (days * 24.0) * HOURS_PER_MONTH;
    let cost = of_month.is_finite().then(|| hourly.times(of_month))?;
    // The result is never more than the files can cost, because the measurement may cover more machines.
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
    /// Whether a provider bills all hours of a month, used or not.
    pub fn is_commitment(self) -> bool {
        matches!(self, CostScenario::Reserved1y | CostScenario::Reserved3y)
    }

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

/// One step of a calculation.
#[derive(Debug, Clone, PartialEq)]
pub struct SumStep {
    /// The operation, such as "row aws g5.xlarge us-east-1, 2026-07-20, karpenter-provider-aws".
    pub text: String,
    pub result: Option<Money>,
    /// The value in the files that the step uses. `None` if settings or tables provide it.
    pub of: Option<StepSource>,
}

/// The value of a resource that a step uses.
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

    /// Returns the position in the files that sets the value.
    pub fn span(&self, resource: &Resource) -> Option<Span> {
        match self.of? {
            // If no machine type is named, it follows from the requested accelerators.
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
