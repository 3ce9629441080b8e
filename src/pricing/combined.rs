//! The combined total of machines and pods: pods on machines of the same repository share the cost of these machines.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::catalog::{Money, MoneyRange};
use crate::inventory::{BillingRole, Inventory, ResourceId};

use super::BillItem;

/// The values of a machine or pod that the combined total needs.
#[derive(Debug, Clone)]
pub struct MonthOf<'a> {
    pub address: &'a str,
    pub role: BillingRole,
    pub monthly: MoneyRange,
    /// The pools that a pod runs on, or can run on.
    pub pools: Vec<&'a str>,
    /// Whether nothing limits the number of machines.
    pub is_unlimited: bool,
}

/// Returns the part of each item in the combined total. Machines, and pods without a counted machine, count fully.
/// Other pods count only as far as they need more machines, and as far as their pools may grow.
fn shares(all: &[MonthOf<'_>]) -> Vec<MoneyRange> {
    let mut pools: HashMap<&str, Pool> = HashMap::new();
    for it in all.iter().filter(|it| it.role == BillingRole::Rented) {
        pools.entry(it.address).or_default().add(it);
    }
    let counted = |it: &MonthOf<'_>| -> Option<usize> {
        let count = it.pools.iter().filter(|address| pools.contains_key(*address)).count();
        Some(count).filter(|count| it.role == BillingRole::Requested && *count > 0)
    };
    // Pods that can run on fewer pools take their machines first.
    let places: Vec<Option<(usize, &[&str])>> =
        all.iter().map(|it| Some((counted(it)?, it.pools.as_slice()))).collect();
    let mut demands: BTreeMap<(usize, &[&str]), Demand> = BTreeMap::new();
    for (it, place) in all.iter().zip(&places) {
        if let Some(place) = place {
            demands.entry(*place).or_default().asked += it.monthly;
        }
    }
    for ((_, addresses), demand) in &mut demands {
        demand.assign(addresses, &mut pools);
    }
    let share = |(it, place): (&MonthOf<'_>, Option<_>)| match place.and_then(|place| demands.get_mut(&place)) {
        Some(demand) => demand.take(it.monthly),
        None => it.monthly,
    };
    all.iter().zip(places).map(share).collect()
}

/// Returns the monthly cost of machines and pods, with each dollar counted once.
pub fn together<'a>(all: impl Iterator<Item = MonthOf<'a>>) -> MoneyRange {
    shares(&all.collect::<Vec<_>>()).into_iter().fold(MoneyRange::ZERO, |sum, it| sum + it)
}

/// Returns the combined total of the counted resources for which `counts` is true.
pub(super) fn combined(inventory: &Inventory, items: &[BillItem], counts: impl Fn(ResourceId) -> bool) -> MoneyRange {
    together(months(inventory, items).filter(|(id, _)| counts(*id)).map(|(_, it)| it))
}

/// Returns the resources that totals count, each with its monthly cost.
fn months<'a>(inventory: &'a Inventory, items: &[BillItem]) -> impl Iterator<Item = (ResourceId, MonthOf<'a>)> {
    let all = inventory.resources.iter().zip(items).enumerate();
    all.filter(|(_, (it, _))| it.is_added()).filter_map(|(place, (it, item))| {
        let month = MonthOf {
            address: &it.address,
            role: it.role,
            monthly: item.monthly?,
            pools: it.pools().collect(),
            is_unlimited: it.is_unlimited(),
        };
        Some((ResourceId(place), month))
    })
}

/// Marks the pods that run on counted machines, and sets the part of each resource in the combined total.
pub(super) fn mark_shares(inventory: &Inventory, items: &mut [BillItem]) {
    let (counted, months): (Vec<ResourceId>, Vec<MonthOf>) = months(inventory, items).unzip();
    let rented = months.iter().filter(|it| it.role == BillingRole::Rented);
    let pools: HashSet<&str> = rented.map(|it| it.address).collect();
    let shares = shares(&months);
    for (it, item) in inventory.resources.iter().zip(&mut *items) {
        item.is_within = it.role == BillingRole::Requested && it.pools().any(|pool| pools.contains(pool));
        item.share = None;
    }
    for (id, share) in counted.into_iter().zip(shares) {
        if let Some(item) = items.get_mut(id.0) {
            item.share = Some(share);
        }
    }
}

/// The minimum, the expected value and the maximum of a range.
const BOUNDS: [fn(&mut MoneyRange) -> &mut Money; 3] =
    [|it| &mut it.floor, |it| &mut it.expected, |it| &mut it.ceiling];

/// The machines of one address.
#[derive(Default)]
struct Pool {
    /// The cost of the machines without an assigned pod.
    free: MoneyRange,
    /// The cost of the machines that the pool may still add.
    growth: MoneyRange,
    is_unlimited: bool,
}

impl Pool {
    fn add(&mut self, machines: &MonthOf<'_>) {
        let monthly = machines.monthly;
        self.free += monthly;
        self.growth += monthly.map(|it| monthly.ceiling - it);
        self.is_unlimited |= machines.is_unlimited;
    }
}

/// The pods that can run on the same pools.
#[derive(Default)]
struct Demand {
    /// The cost of the pods whose part is not assigned yet.
    asked: MoneyRange,
    /// The cost of the pods beyond the machines, as far as the pools may grow.
    beyond: MoneyRange,
}

impl Demand {
    /// Fills the free machines of these pools, then lets the pools grow.
    fn assign<'a>(&mut self, addresses: &[&'a str], pools: &mut HashMap<&'a str, Pool>) {
        for bound in BOUNDS {
            let mut rest = *bound(&mut self.asked);
            for address in addresses {
                let Some(pool) = pools.get_mut(address) else { continue };
                let free = bound(&mut pool.free);
                let used = rest.min(*free);
                (*free, rest) = (*free - used, rest - used);
            }
            for address in addresses {
                let Some(pool) = pools.get_mut(address) else { continue };
                let growth = bound(&mut pool.growth);
                let added = if pool.is_unlimited { rest } else { rest.min(*growth) };
                (*growth, rest) = ((*growth - added).max(Money::ZERO), rest - added);
                *bound(&mut self.beyond) += added;
            }
        }
    }

    /// Returns the part of a pod with this cost. The last pod gets the remainder.
    fn take(&mut self, asks: MoneyRange) -> MoneyRange {
        let part = MoneyRange {
            floor: self.beyond.floor.part(asks.floor, self.asked.floor),
            expected: self.beyond.expected.part(asks.expected, self.asked.expected),
            ceiling: self.beyond.ceiling.part(asks.ceiling, self.asked.ceiling),
        };
        self.beyond = self.beyond - part;
        self.asked = self.asked - asks;
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(floor: f64, expected: f64, ceiling: f64) -> MoneyRange {
        let usd = Money::from_usd;
        MoneyRange { floor: usd(floor), expected: usd(expected), ceiling: usd(ceiling) }
    }

    fn machine(monthly: MoneyRange, is_unlimited: bool) -> MonthOf<'static> {
        machines("pool", monthly, is_unlimited)
    }

    fn machines(address: &'static str, monthly: MoneyRange, is_unlimited: bool) -> MonthOf<'static> {
        MonthOf { address, role: BillingRole::Rented, monthly, pools: Vec::new(), is_unlimited }
    }

    fn pod(monthly: MoneyRange, pools: &[&'static str]) -> MonthOf<'static> {
        MonthOf { address: "pod", role: BillingRole::Requested, monthly, pools: pools.to_vec(), is_unlimited: false }
    }

    #[test]
    fn pods_on_a_pool_that_starts_at_nothing_are_what_it_costs() {
        let all = [
            machine(dollars(0.0, 0.0, 7_000.0), false),
            pod(dollars(2_000.0, 2_000.0, 2_000.0), &["pool"]),
            pod(dollars(1_000.0, 1_000.0, 1_000.0), &["pool"]),
            pod(dollars(5.0, 5.0, 5.0), &[]),
        ];
        let shares = shares(&all);
        let expected: Vec<f64> = shares.iter().map(|it| it.expected.usd()).collect();
        assert_eq!(expected, [0.0, 2_000.0, 1_000.0, 5.0]);
        assert_eq!(together(all.iter().cloned()), dollars(3_005.0, 3_005.0, 7_005.0));
    }

    #[test]
    fn a_pod_beyond_the_limit_of_its_pool_costs_no_more_than_it() {
        let all = [machine(dollars(10.0, 10.0, 30.0), false), pod(dollars(50.0, 50.0, 50.0), &["pool"])];
        assert_eq!(together(all.iter().cloned()), dollars(30.0, 30.0, 30.0));
        let all = [machine(dollars(10.0, 10.0, 10.0), true), pod(dollars(50.0, 50.0, 50.0), &["pool"])];
        assert_eq!(together(all.iter().cloned()), dollars(50.0, 50.0, 50.0));
    }

    #[test]
    fn no_part_of_a_dollar_gets_lost() {
        let thirds = || pod(dollars(1.0, 1.0, 1.0), &["pool"]);
        let all = [machine(dollars(0.0, 0.0, 1.0), false), thirds(), thirds(), thirds()];
        assert_eq!(together(all.iter().cloned()), dollars(1.0, 1.0, 1.0));
    }

    #[test]
    fn pods_that_can_run_on_several_pools_use_free_machines_of_any_first() {
        let exactly = |usd: f64| dollars(usd, usd, usd);
        let (a, b) = (machines("a", exactly(10.0), false), machines("b", dollars(0.0, 0.0, 30.0), false));
        let either = |usd: f64| pod(exactly(usd), &["a", "b"]);
        let total = |pods: &[MonthOf<'static>]| together([&a, &b].into_iter().chain(pods).cloned());
        assert_eq!(total(&[]), dollars(10.0, 10.0, 40.0));
        assert_eq!(total(&[either(4.0), either(6.0)]), dollars(10.0, 10.0, 40.0));
        assert_eq!(total(&[either(4.0), either(9.0)]), dollars(13.0, 13.0, 40.0));
        // The pods cost no more than all machines that the pools may have.
        assert_eq!(total(&[either(90.0)]), dollars(40.0, 40.0, 40.0));
        // The pods of one pool need its machines, also if the pods of both come first.
        assert_eq!(total(&[either(4.0), pod(exactly(8.0), &["a"])]), dollars(12.0, 12.0, 40.0));
        assert_eq!(total(&[either(4.0), pod(exactly(20.0), &["b"])]), dollars(30.0, 30.0, 40.0));
        assert_eq!(total(&[either(4.0), pod(exactly(20.0), &["a"])]), dollars(14.0, 14.0, 40.0));
        // A pool that is not counted has no machines for the pods.
        assert_eq!(total(&[pod(exactly(13.0), &["a", "c"])]), dollars(10.0, 10.0, 40.0));
        assert_eq!(total(&[pod(exactly(13.0), &["c", "d"])]), dollars(23.0, 23.0, 53.0));
    }

    /// Checks each total of many small mixtures of pools and pods.
    #[test]
    fn a_pod_never_lowers_a_total_and_never_adds_more_than_it_costs() {
        const POOLS: [&str; 3] = ["a", "b", "c"];
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..2_000 {
            let mut range = || {
                let (floor, more, most) = (random(8), random(8), random(8));
                dollars(floor as f64, (floor + more) as f64, (floor + more + most) as f64)
            };
            let mut all: Vec<_> =
                POOLS.map(|name| (name, range())).into_iter().map(|(name, it)| machines(name, it, false)).collect();
            let asks: Vec<MoneyRange> = (0..4).map(|_| range()).collect();
            all[0].is_unlimited = random(4) == 0;
            for ask in asks {
                let before = together(all.iter().cloned());
                let mask = random(8);
                let of: Vec<&str> = (0..3).filter(|bit| mask >> bit & 1 == 1).map(|bit| POOLS[bit]).collect();
                all.push(pod(ask, &of));
                let after = together(all.iter().cloned());
                for bound in BOUNDS {
                    let [was, is, asked] = [before, after, ask].map(|mut it| *bound(&mut it));
                    assert!(was <= is && is <= was + asked, "{all:?}");
                }
                assert!(after.floor <= after.expected && after.expected <= after.ceiling, "{all:?}");
            }
        }
    }
}
