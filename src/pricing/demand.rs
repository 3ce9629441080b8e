//! The machines that a resource needs, as the purchase plan sees them.

use std::collections::BTreeSet;

use super::demand_base::{NoBase, Rung, covered, never_ends, rungs, steady, uncovered};
use super::{Bill, BillItem, CostScenario, HOURS_PER_MONTH, OWN_PROVIDER, Period};
use crate::catalog::Money;
use crate::inventory::{BillingRole, Fact, Inventory, Key, LinkKind, Purchase, Purpose, Resource};

/// The need of one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    pub address: String,
    /// The report that it comes from, where several are planned together.
    pub from: String,
    pub provider: String,
    pub region: String,
    pub machine: String,
    pub accelerator: String,
    /// Of one machine.
    pub accelerators: f64,
    pub demand: SteadyDemand,
    /// Why its price is outdated, if it is.
    pub stale: Option<String>,
    /// Why its price is not a list price, if it is not.
    pub estimate: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SteadyDemand {
    pub standing: CommitmentEligibility,
    /// Why it is not eligible for commitment, or cannot be planned.
    pub why: Option<String>,
    /// The machines that always run, eligible or not.
    pub always: f64,
    /// Machines on an average of all hours; nothing where nobody knows how long they run.
    pub average: Option<f64>,
    /// Of these, those that commitments pay for already, as the bill says.
    pub covered: f64,
    /// Nothing where nothing limits it.
    pub most: Option<f64>,
    /// What a commitment may pay for, the surest first; of what is left of a reservation or a commitment, how many.
    pub rungs: Vec<Rung>,
    pub offered: HourlyOffers,
}

/// An hour of one machine, bought in each way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HourlyOffers {
    pub on_demand: Option<Money>,
    pub spot: Option<Money>,
    pub one_year: Option<Money>,
    pub three_years: Option<Money>,
    /// Booked ahead for days.
    pub block: Option<Money>,
    /// For runs of some days that may wait for their start.
    pub flex: Option<Money>,
}

/// The eligibility of a resource in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitmentEligibility {
    /// It always runs in production: a commitment may pay for it.
    Base,
    /// A commitment pays for it already.
    Committed,
    /// A reservation has places that nothing in its text uses.
    SparePlaces,
    /// A commitment pays for accelerators that nothing in its text uses.
    SpareAccelerators,
    /// It already runs on spot.
    OnSpot,
    /// It can be interrupted and could run on spot.
    ForSpot,
    /// It does not run all the time, or is not marked as production.
    OnDemand,
    /// It is booked for a period.
    Booked,
    /// Own hardware.
    Owned,
    /// A decisive value is unknown.
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

/// What everything that is rented and counted needs, in the order of the inventory: the place of each resource with it.
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

/// Pools on which work runs that goes on where it was interrupted.
fn pools_of_survivors(inventory: &Inventory) -> BTreeSet<&str> {
    let pods = inventory.resources.iter().filter(|it| it.role == BillingRole::Requested && survives(it));
    let pools = pods.flat_map(|it| it.links.iter().filter(|link| link.kind == LinkKind::Pool));
    pools.map(|link| link.to.as_str()).collect()
}

/// It writes checkpoints, or is started again when it fails.
fn survives(resource: &Resource) -> bool {
    let writes = resource.fact(Key::Checkpoint).value().is_some();
    let never_writes = resource.text(Key::CheckpointInterval) == Some("no");
    let is_retried =
        resource.flag(Key::Retried) == Some(true) || resource.number(Key::Retries).is_some_and(|n| n > 0.0);
    writes && !never_writes || is_retried
}

/// Work of the kind that `on-demand-batch` sends to spot.
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
    // What the vendor takes off by itself comes off the price that a commitment has to beat.
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

/// Of what never stops, the floor.
fn always(resource: &Resource, item: &BillItem) -> f64 {
    let runs = item.per == Period::Month && item.hours >= HOURS_PER_MONTH && never_ends(resource).is_ok();
    resource.count.value().filter(|_| runs).map_or(0.0, |count| count.floor)
}

fn average(item: &BillItem) -> Option<f64> {
    let (monthly, hourly) = (item.monthly?.expected, item.hourly()?.expected);
    let machines = monthly.usd() / hourly.usd() / HOURS_PER_MONTH;
    // An amount of money is exact to a billionth only.
    machines.is_finite().then_some((machines * 1e6).round() / 1e6)
}

/// What a plan may do with it, with the reason where it may not commit.
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

/// A commitment for accelerators alone, of which the count is what no machine of its text uses.
fn is_for_accelerators(resource: &Resource) -> bool {
    resource.purchase() == Some(Purchase::Reserved)
        && resource.fact(Key::Machine).is_unknown()
        && !resource.fact(Key::CommitmentYears).is_absent()
}

/// What must be known to plan it at all.
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
