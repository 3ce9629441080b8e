//! The combined total of machines and pods: pods on machines of the same repository share the cost of these machines.

use std::collections::{HashMap, HashSet};

use crate::catalog::{Money, MoneyRange};
use crate::inventory::{BillingRole, Inventory, LinkKind, Resource, ResourceId};

use super::BillItem;

/// The values of a machine or pod that the combined total needs.
#[derive(Debug, Clone, Copy)]
pub struct MonthOf<'a> {
    pub address: &'a str,
    pub role: BillingRole,
    pub monthly: MoneyRange,
    /// The machines that a pod runs on.
    pub pool: Option<&'a str>,
    /// Whether nothing limits the number of machines.
    pub is_unlimited: bool,
}

/// Returns the part of each item in the combined total. Machines, and pods without a counted machine, count fully.
/// Other pods count only as far as they need more machines, and as far as the pool may grow.
pub(super) fn shares<'a>(all: impl Iterator<Item = MonthOf<'a>> + Clone) -> Vec<MoneyRange> {
    let mut pools: HashMap<&str, Pool> = HashMap::new();
    for it in all.clone().filter(|it| it.role == BillingRole::Rented) {
        let pool = pools.entry(it.address).or_default();
        pool.rented += it.monthly;
        pool.is_unlimited |= it.is_unlimited;
    }
    let pods = || all.clone().filter(|it| it.role == BillingRole::Requested);
    if !pools.is_empty() {
        for it in pods() {
            if let Some(pool) = it.pool.and_then(|address| pools.get_mut(address)) {
                pool.asked += it.monthly;
            }
        }
        pools.values_mut().for_each(Pool::assign_pods);
    }
    let share = |it: MonthOf<'a>| match it.pool.filter(|_| it.role == BillingRole::Requested) {
        Some(address) => pools.get_mut(address).map_or(it.monthly, |pool| pool.take(it.monthly)),
        None => it.monthly,
    };
    all.map(share).collect()
}

/// Returns the monthly cost of machines and pods, with each dollar counted once.
pub fn together<'a>(all: impl Iterator<Item = MonthOf<'a>> + Clone) -> MoneyRange {
    shares(all).into_iter().fold(MoneyRange::ZERO, |sum, it| sum + it)
}

/// Returns the combined total of the counted resources for which `counts` is true.
pub(super) fn combined(
    inventory: &Inventory,
    items: &[BillItem],
    counts: impl Fn(ResourceId) -> bool + Clone,
) -> MoneyRange {
    together(months(inventory, items).filter(move |(id, _)| counts(*id)).map(|(_, it)| it))
}

/// Returns the resources that totals count, each with its monthly cost.
fn months<'a>(
    inventory: &'a Inventory,
    items: &'a [BillItem],
) -> impl Iterator<Item = (ResourceId, MonthOf<'a>)> + Clone {
    let all = inventory.resources.iter().zip(items).enumerate();
    all.filter(|(_, (it, _))| it.is_added()).filter_map(|(place, (it, item))| {
        let month = MonthOf {
            address: &it.address,
            role: it.role,
            monthly: item.monthly?,
            pool: pool_of(it),
            is_unlimited: it.is_unlimited(),
        };
        Some((ResourceId(place), month))
    })
}

/// Marks the pods that run on counted machines, and sets the part of each resource in the combined total.
pub(super) fn mark_shares(inventory: &Inventory, items: &mut [BillItem]) {
    let months: Vec<(ResourceId, MonthOf)> = months(inventory, items).collect();
    let rented = months.iter().filter(|(_, it)| it.role == BillingRole::Rented);
    let pools: HashSet<String> = rented.map(|(_, it)| it.address.to_owned()).collect();
    let shares = shares(months.iter().map(|(_, it)| *it));
    let counted: Vec<ResourceId> = months.iter().map(|(id, _)| *id).collect();
    for (it, item) in inventory.resources.iter().zip(&mut *items) {
        item.is_within = it.role == BillingRole::Requested && pool_of(it).is_some_and(|pool| pools.contains(pool));
        item.share = None;
    }
    for (id, share) in counted.into_iter().zip(shares) {
        if let Some(item) = items.get_mut(id.0) {
            item.share = Some(share);
        }
    }
}

/// The machines that a pod runs on.
pub fn pool_of(pod: &Resource) -> Option<&str> {
    Some(&pod.links.iter().find(|link| link.kind == LinkKind::Pool)?.to)
}

/// The machines of one address, and the cost of the pods that run on them.
#[derive(Default)]
struct Pool {
    rented: MoneyRange,
    /// The cost of the pods whose part is not assigned yet.
    asked: MoneyRange,
    /// The cost of the pods beyond the machines, as far as the pool may grow.
    beyond: MoneyRange,
    is_unlimited: bool,
}

impl Pool {
    fn assign_pods(&mut self) {
        let most = if self.is_unlimited { self.rented.ceiling.max(self.asked.ceiling) } else { self.rented.ceiling };
        let beyond = |rented: Money, asked: Money| (asked.min(most) - rented).max(Money::ZERO);
        self.beyond = MoneyRange {
            floor: beyond(self.rented.floor, self.asked.floor),
            expected: beyond(self.rented.expected, self.asked.expected),
            ceiling: beyond(self.rented.ceiling, self.asked.ceiling),
        };
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
        MonthOf { address: "pool", role: BillingRole::Rented, monthly, pool: None, is_unlimited }
    }

    fn pod(monthly: MoneyRange, pool: Option<&'static str>) -> MonthOf<'static> {
        MonthOf { address: "pod", role: BillingRole::Requested, monthly, pool, is_unlimited: false }
    }

    #[test]
    fn pods_on_a_pool_that_starts_at_nothing_are_what_it_costs() {
        let all = [
            machine(dollars(0.0, 0.0, 7_000.0), false),
            pod(dollars(2_000.0, 2_000.0, 2_000.0), Some("pool")),
            pod(dollars(1_000.0, 1_000.0, 1_000.0), Some("pool")),
            pod(dollars(5.0, 5.0, 5.0), None),
        ];
        let shares = shares(all.iter().copied());
        let expected: Vec<f64> = shares.iter().map(|it| it.expected.usd()).collect();
        assert_eq!(expected, [0.0, 2_000.0, 1_000.0, 5.0]);
        assert_eq!(together(all.iter().copied()), dollars(3_005.0, 3_005.0, 7_005.0));
    }

    #[test]
    fn a_pod_beyond_the_limit_of_its_pool_costs_no_more_than_it() {
        let all = [machine(dollars(10.0, 10.0, 30.0), false), pod(dollars(50.0, 50.0, 50.0), Some("pool"))];
        assert_eq!(together(all.iter().copied()), dollars(30.0, 30.0, 30.0));
        let all = [machine(dollars(10.0, 10.0, 10.0), true), pod(dollars(50.0, 50.0, 50.0), Some("pool"))];
        assert_eq!(together(all.iter().copied()), dollars(50.0, 50.0, 50.0));
    }

    #[test]
    fn no_part_of_a_dollar_gets_lost() {
        let thirds = || pod(dollars(1.0, 1.0, 1.0), Some("pool"));
        let all = [machine(dollars(0.0, 0.0, 1.0), false), thirds(), thirds(), thirds()];
        assert_eq!(together(all.iter().copied()), dollars(1.0, 1.0, 1.0));
    }
}
