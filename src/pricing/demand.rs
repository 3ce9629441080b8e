//! The machines that each resource needs, as input of the purchase plan.

use std::collections::BTreeSet;

use super::demand_base::{NoBase, Rung, covered, never_ends, rungs, steady, uncovered};
use super::{Bill, BillItem, CostScenario, HOURS_PER_MONTH, OWN_PROVIDER, Period};
use crate::catalog::Money;
use crate::inventory::{BillingRole, Fact, Inventory, Key, LinkKind, Purchase, Purpose, Resource};

/// The machines that one resource needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    pub address: String,
    /// The report that contains the resource, if one plan covers several reports.
    pub from: String,
    pub provider: String,
    pub region: String,
    pub machine: String,
    pub accelerator: String,
    /// The accelerators of one machine.
    pub accelerators: f64,
    pub demand: SteadyDemand,
    /// Why the price is outdated, if it is.
    pub stale: Option<String>,
    /// Why the price is an estimate, if it is one.
    pub estimate: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SteadyDemand {
    pub standing: CommitmentEligibility,
    /// Why the resource is not eligible for commitment, or cannot be planned.
    pub why: Option<String>,
    /// The machines that always run, eligible or not.
    pub always: f64,
    /// The average number of machines over all hours. `None` if their hours are unknown.
    pub average: Option<f64>,
    /// The part of `average` that existing commitments cover, according to the bill.
    pub covered: f64,
    /// The maximum number of machines. `None` if nothing limits it.
    pub most: Option<f64>,
    /// The machines that a commitment may cover, the surest first. For spare capacity: the number of unused machines.
    pub rungs: Vec<Rung>,
    pub offered: HourlyOffers,
}

/// The price of one machine per hour, for each way of buying.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HourlyOffers {
    pub on_demand: Option<Money>,
    pub spot: Option<Money>,
    pub one_year: Option<Money>,
    pub three_years: Option<Money>,
    /// The price of capacity that is booked ahead for days.
    pub block: Option<Money>,
    /// The price for runs of some days that can wait for their start.
    pub flex: Option<Money>,
}

/// The eligibility of a resource in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitmentEligibility {
    /// The resource always runs in production, so a commitment may cover it.
    Base,
    /// A commitment already covers the resource.
    Committed,
    /// The resource is a reservation with capacity that no machine in its files uses.
    SparePlaces,
    /// The resource is a commitment for accelerators that no machine in its files uses.
    SpareAccelerators,
    /// The resource already runs on spot.
    OnSpot,
    /// The resource can be interrupted, so it could run on spot.
    ForSpot,
    /// The resource does not run all the time, or is not marked as production.
    OnDemand,
    /// The resource is capacity that is booked for a period.
    Booked,
    /// The resource is own hardware.
    Owned,
    /// A value that decides the eligibility is unknown.
    Unknown,
}

impl CommitmentEligibility {
    pub const ALL: [CommitmentEligibility; 10] = [
        CommitmentEligibility::Base,
        CommitmentEligibility::Committed,
        CommitmentEligibility::SparePlaces,
        CommitmentEligibility::SpareAccelerators,
        CommitmentEligibility::OnSpot,
        CommitmentEligibility::ForSpot,
        CommitmentEligibility::OnDemand,
        CommitmentEligibility::Booked,
        CommitmentEligibility::Owned,
        CommitmentEligibility::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            CommitmentEligibility::Base => "base",
            CommitmentEligibility::Committed => "committed",
            CommitmentEligibility::SparePlaces => "spare_places",
            CommitmentEligibility::SpareAccelerators => "spare_accelerators",
            CommitmentEligibility::OnSpot => "on_spot",
            CommitmentEligibility::ForSpot => "for_spot",
            CommitmentEligibility::OnDemand => "on_demand",
            CommitmentEligibility::Booked => "booked",
            CommitmentEligibility::Owned => "owned",
            CommitmentEligibility::Unknown => "unknown",
        }
    }

    pub fn from_name(name: &str) -> Option<CommitmentEligibility> {
        CommitmentEligibility::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Returns what each provisioned and counted resource needs, with its position in the inventory.
pub fn needs(inventory: &Inventory, bill: &Bill) -> Vec<(usize, Need)> {
    let survivors = pools_of_survivors(inventory);
    let all = inventory.resources.iter().zip(&bill.items).enumerate();
    let rented = all.filter(|(_, (it, _))| it.role == BillingRole::Rented && it.is_added() && has_accelerators(it));
    let need = |(at, (resource, item)): (usize, (&Resource, &BillItem))| {
        let survives = survivors.contains(resource.address.as_str()) || survives(resource);
        (at, Need::of(resource, item, survives))
    };
    rented.map(need).collect()
}

fn has_accelerators(resource: &Resource) -> bool {
    !resource.fact(Key::Accelerator).is_absent() && resource.fact(Key::Impossible).is_absent()
}

/// Returns the pools that run work which can continue after an interruption.
fn pools_of_survivors(inventory: &Inventory) -> BTreeSet<&str> {
    let pods = inventory.resources.iter().filter(|it| it.role == BillingRole::Requested && survives(it));
    let pools = pods.flat_map(|it| it.links.iter().filter(|link| link.kind == LinkKind::Pool));
    pools.map(|link| link.to.as_str()).collect()
}

/// Whether the resource writes checkpoints, or starts again after a failure.
fn survives(resource: &Resource) -> bool {
    let writes = resource.fact(Key::Checkpoint).value().is_some();
    let never_writes = resource.text(Key::CheckpointInterval) == Some("no");
    let is_retried =
        resource.flag(Key::Retried) == Some(true) || resource.number(Key::Retries).is_some_and(|n| n > 0.0);
    writes && !never_writes || is_retried
}

/// Whether the rule `on-demand-batch` would recommend spot for this kind of work.
fn may_be_interrupted(resource: &Resource) -> bool {
    matches!(resource.purpose(), Some(Purpose::Training | Purpose::Batch))
        && resource.flag(Key::DeadlineBound) != Some(true)
        && resource.fact(Key::Twin).is_absent()
        && resource.flag(Key::SpotOffered) != Some(false)
}

impl Need {
    fn of(resource: &Resource, item: &BillItem, survives: bool) -> Need {
        let text = |key| resource.text(key).unwrap_or_default().to_owned();
        Need {
            address: resource.address.clone(),
            from: String::new(),
            provider: text(Key::Provider),
            region: text(Key::Region),
            machine: text(Key::Machine),
            accelerator: text(Key::Accelerator),
            accelerators: resource.number(Key::AcceleratorCount).unwrap_or(0.0),
            demand: SteadyDemand::of(resource, item, offered(item), survives),
            stale: item.stale.clone(),
            estimate: item.estimate().map(str::to_owned),
        }
    }
}

fn offered(item: &BillItem) -> HourlyOffers {
    let price = |way| item.per_hour_if.get(&way).map(|range| range.expected);
    // A commitment must be cheaper than on demand after the provider's automatic discount.
    let sustained = item.sustained.map_or(1.0, |shares| shares.expected);
    HourlyOffers {
        on_demand: price(CostScenario::OnDemand).map(|price| price.times(sustained)),
        spot: price(CostScenario::Spot),
        one_year: price(CostScenario::Reserved1y),
        three_years: price(CostScenario::Reserved3y),
        block: item.block_per_hour,
        flex: item.flex_per_hour,
    }
}

impl SteadyDemand {
    fn of(resource: &Resource, item: &BillItem, offered: HourlyOffers, survives: bool) -> SteadyDemand {
        let covered = covered(resource);
        let mut demand = SteadyDemand {
            standing: CommitmentEligibility::Unknown,
            why: None,
            always: always(resource, item),
            average: average(item),
            covered: covered.clone().unwrap_or(0.0),
            most: resource.count.value().map(|count| count.ceiling).filter(|most| most.is_finite()),
            rungs: Vec::new(),
            offered,
        };
        let (standing, why) = match standing(resource, item, survives, &offered) {
            Ok(CommitmentEligibility::Base) => match rungs(resource, item) {
                Ok(rungs) if rungs.is_empty() => (
                    CommitmentEligibility::OnDemand,
                    Some("no replica always runs, because it can scale to zero".to_owned()),
                ),
                Ok(rungs) => match covered {
                    Ok(machines) => {
                        demand.rungs = uncovered(rungs, machines);
                        (CommitmentEligibility::Base, None)
                    }
                    Err(why) => (CommitmentEligibility::Unknown, Some(why)),
                },
                Err(NoBase::Because(why)) => (CommitmentEligibility::OnDemand, Some(why)),
                Err(NoBase::Unknown(why)) => {
                    (CommitmentEligibility::Unknown, Some(format!("the number of replicas is unknown: {why}")))
                }
            },
            Ok(standing) => (standing, None),
            Err((standing, why)) => (standing, Some(why)),
        };
        if matches!(standing, CommitmentEligibility::SparePlaces | CommitmentEligibility::SpareAccelerators) {
            let left = resource.count.value().map_or(0.0, |count| count.floor.floor());
            demand.rungs = vec![Rung { machines: left, share: 1.0 }];
        }
        SteadyDemand { standing, why, ..demand }
    }
}

/// Returns the minimum number of machines if they never stop, and 0 otherwise.
fn always(resource: &Resource, item: &BillItem) -> f64 {
    let runs = item.per == Period::Month && item.hours >= HOURS_PER_MONTH && never_ends(resource).is_ok();
    resource.count.value().filter(|_| runs).map_or(0.0, |count| count.floor)
}

fn average(item: &BillItem) -> Option<f64> {
    let (monthly, hourly) = (item.monthly?.expected, item.hourly()?.expected);
    let machines = monthly.usd() / hourly.usd() / HOURS_PER_MONTH;
    // Amounts of money are exact only to a billionth, so the result is rounded.
    machines.is_finite().then_some((machines * 1e6).round() / 1e6)
}

/// Returns what a plan may do with the resource, and why it must not commit to it.
fn standing(
    resource: &Resource,
    item: &BillItem,
    survives: bool,
    offered: &HourlyOffers,
) -> Result<CommitmentEligibility, (CommitmentEligibility, String)> {
    let purchase = resource.purchase();
    if resource.text(Key::Provider) == Some(OWN_PROVIDER) || purchase == Some(Purchase::OnPrem) {
        return Ok(CommitmentEligibility::Owned);
    }
    if let Some(why) = not_known(resource) {
        return Err((CommitmentEligibility::Unknown, why));
    }
    if is_for_accelerators(resource) {
        return Ok(CommitmentEligibility::SpareAccelerators);
    }
    match purchase {
        Some(Purchase::CapacityBlock | Purchase::Calendar | Purchase::FlexStart) => {
            return Ok(CommitmentEligibility::Booked);
        }
        Some(Purchase::CapacityReservation) if !resource.fact(Key::Reservation).is_absent() => {
            return Ok(CommitmentEligibility::SparePlaces);
        }
        Some(Purchase::Reserved) => return Ok(CommitmentEligibility::Committed),
        Some(Purchase::Spot | Purchase::SpotOrOnDemand) => return Ok(CommitmentEligibility::OnSpot),
        Some(Purchase::DedicatedHost) => {
            return Err((CommitmentEligibility::Unknown, "a dedicated host is billed as one unit".to_owned()));
        }
        _ if item.is_committed => return Ok(CommitmentEligibility::Committed),
        _ => {}
    }
    if offered.on_demand.is_none() {
        return Err((CommitmentEligibility::Unknown, "it has no price".to_owned()));
    }
    match steady(resource, item) {
        Ok(()) => Ok(CommitmentEligibility::Base),
        Err(NoBase::Unknown(why)) => Err((CommitmentEligibility::Unknown, why)),
        Err(NoBase::Because(why)) => {
            let is_cheaper = offered.spot.zip(offered.on_demand).is_some_and(|(spot, demand)| spot < demand);
            let for_spot = may_be_interrupted(resource) && survives && is_cheaper;
            Err((if for_spot { CommitmentEligibility::ForSpot } else { CommitmentEligibility::OnDemand }, why))
        }
    }
}

/// Whether this is a commitment for accelerators alone. Its count is the number that no machine of its files uses.
fn is_for_accelerators(resource: &Resource) -> bool {
    resource.purchase() == Some(Purchase::Reserved)
        && resource.fact(Key::Machine).is_unknown()
        && !resource.fact(Key::CommitmentYears).is_absent()
}

/// Returns the unknown value that makes planning impossible, if there is one.
fn not_known(resource: &Resource) -> Option<String> {
    if let Fact::Unknown(unknown) = resource.fact(Key::Purchase) {
        return Some(format!("the way of buying is unknown: {}", unknown.why));
    }
    match &resource.count {
        Fact::Known(_) => {}
        other => {
            return Some(format!("the number of replicas is unknown: {}", other.why().unwrap_or("no number is set")));
        }
    }
    for (key, what) in [(Key::Provider, "its provider"), (Key::Region, "its region"), (Key::Machine, "its machine")] {
        if key == Key::Machine && is_for_accelerators(resource) {
            continue;
        }
        if resource.text(key).is_none() {
            let why = resource.fact(key).why().unwrap_or("it is not set");
            return Some(format!("{what}: {why}"));
        }
    }
    (resource.text(Key::Accelerator).is_none()).then(|| "its accelerator".to_owned())
}
