//! Machines and pods in one sum: a dollar that a pod asks of a machine in the same tree is counted once.

use std::collections::{BTreeMap, HashSet};

use crate::catalog::MoneyRange;
use crate::inventory::{Inventory, LinkKind, Resource, Role};

use super::BillItem;

/// Rented machines of one address, and what the pods that run on them ask for.
#[derive(Default)]
struct Pool {
    rented: MoneyRange,
    asked: MoneyRange,
    /// Nothing in the text limits how many machines there are.
    is_unlimited: bool,
}

/// The dollars of a month of everything that sums count. A pool is worth what its machines cost, or what its pods ask for
/// where that is more and the pool may grow so far; pods that are joined to no machine stand for themselves.
pub(super) fn combined(inventory: &Inventory, items: &[BillItem]) -> MoneyRange {
    let counted = || {
        let all = inventory.resources.iter().zip(items).filter(|(it, _)| it.is_added());
        all.filter_map(|(it, item)| Some((it, item.monthly?)))
    };
    let mut pools: BTreeMap<&str, Pool> = BTreeMap::new();
    for (it, monthly) in counted().filter(|(it, _)| it.role == Role::Rented) {
        let pool = pools.entry(&it.address).or_default();
        pool.rented += monthly;
        pool.is_unlimited |= it.count.value().is_some_and(|count| count.ceiling.is_infinite());
    }
    let mut sum = MoneyRange::ZERO;
    for (it, monthly) in counted().filter(|(it, _)| it.role == Role::Requested) {
        match pool_of(it).and_then(|address| pools.get_mut(address)) {
            Some(pool) => pool.asked += monthly,
            None => sum += monthly,
        }
    }
    pools.values().map(Pool::worth).fold(sum, |sum, pool| sum + pool)
}

/// Marks the pods that run on machines which sums count.
pub(super) fn mark_within(inventory: &Inventory, items: &mut [BillItem]) {
    let is_pool =
        |(it, item): &(&Resource, &BillItem)| it.is_added() && it.role == Role::Rented && item.monthly.is_some();
    let pools: HashSet<&str> =
        inventory.resources.iter().zip(&*items).filter(is_pool).map(|(it, _)| it.address.as_str()).collect();
    for (it, item) in inventory.resources.iter().zip(items) {
        item.is_within = it.role == Role::Requested && pool_of(it).is_some_and(|pool| pools.contains(pool));
    }
}

/// The pool that a pod is joined to.
fn pool_of(pod: &Resource) -> Option<&str> {
    Some(&pod.links.iter().find(|link| link.kind == LinkKind::Pool)?.to)
}

impl Pool {
    fn worth(&self) -> MoneyRange {
        let most = if self.is_unlimited { self.rented.ceiling.max(self.asked.ceiling) } else { self.rented.ceiling };
        MoneyRange {
            floor: self.rented.floor.max(self.asked.floor.min(most)),
            expected: self.rented.expected.max(self.asked.expected.min(most)),
            ceiling: most,
        }
    }
}
