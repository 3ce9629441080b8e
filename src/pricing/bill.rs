//! The cost of each resource, and the totals.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::combined::mark_shares;
use super::searches::Searches;
use super::variants::Pricing;
use super::{
    Bill, BillItem, CostSum, Ending, ExcludedTotal, OpenCause, OpenPart, Period, PricingSettings, Status, WorstMonth,
};
use crate::catalog::{Catalog, Money, MoneyRange};
use crate::inventory::{BillingRole, Inventory, Resource, ResourceId, Unjudged};
use crate::source::each;

/// Returns the cost of all resources. The inventory must be resolved.
pub fn bill(inventory: &Inventory, catalog: &Catalog, settings: &PricingSettings) -> Bill {
    let searches = Searches::default();
    let item = |resource: &Resource| Pricing { catalog, settings, resource, searches: &searches }.item();
    let items = each(inventory.resources.iter().collect(), item);
    let mut bill = Bill { items, ..Bill::default() };
    bill.sum_up(inventory);
    bill
}

impl Bill {
    /// Calculates the totals from the items.
    pub fn sum_up(&mut self, inventory: &Inventory) {
        mark_shares(inventory, &mut self.items);
        let mut sums = Bill::default();
        for (place, (resource, item)) in inventory.resources.iter().zip(&self.items).enumerate() {
            if resource.version_of.is_some() {
                continue;
            }
            let cost = cost(ResourceId(place), resource, item);
            if !resource.is_added() {
                sums.apart.entry(resource.counted).or_default().add(resource, &cost);
                continue;
            }
            match resource.role {
                BillingRole::Rented => sums.rented += &cost,
                BillingRole::Requested => sums.requested += &cost,
            }
            if let Some(monthly) = item.monthly.filter(|_| item.is_unnamed) {
                sums.unnamed.resources += 1;
                sums.unnamed.amount += monthly;
            }
            if let Some(attached) = &item.attached {
                sums.attached += attached.monthly;
                for why in &attached.not_known {
                    sums.attached.leave_open(open_part(ResourceId(place), resource, OpenCause::Price, why));
                }
            }
            sums.past_shelf_life.note(resource.role, item);
            sums.stale += usize::from(item.stale.is_some());
            if let Some(monthly) = item.monthly.filter(|_| item.stale.is_some()) {
                let sum = match resource.role {
                    BillingRole::Rented => &mut sums.past_shelf_life.rented,
                    BillingRole::Requested => &mut sums.past_shelf_life.requested,
                };
                *sum += item.today(monthly.expected);
            }
            let dates = [sums.oldest_row.take(), item.as_of.clone()];
            sums.oldest_row = dates.into_iter().flatten().min();
        }
        let open: Vec<OpenPart> = sums.rented.open().chain(sums.requested.open()).cloned().collect();
        let shares = self.items.iter().filter_map(|it| it.share);
        let known = shares.fold(MoneyRange::ZERO, |sum, it| sum + it);
        let is_unlimited = sums.rented.is_unlimited() || sums.requested.is_unlimited();
        sums.combined = CostSum::new(known, open).unlimited(is_unlimited);
        *self = Bill { items: std::mem::take(&mut self.items), ..sums };
        self.set_unread(inventory);
    }

    /// Adds everything that was not evaluated to the totals as unknown parts: files, and blocks that may be machines.
    pub fn set_unread(&mut self, inventory: &Inventory) {
        let is_open: HashSet<Arc<str>> =
            self.combined.open().filter(|it| it.resource.is_some()).map(|it| it.of.clone()).collect();
        let unread =
            inventory.unjudged.iter().filter(|it| it.address.as_deref().is_none_or(|it| !is_open.contains(it)));
        let part = |it: &Unjudged| OpenPart::unread(it.address.as_deref(), &it.path, &it.reason);
        let parts: Vec<OpenPart> = unread.map(part).collect();
        for sum in [&mut self.rented, &mut self.requested, &mut self.combined] {
            sum.set_unread(&parts);
        }
        self.worst = self.items.iter().all(|it| it.worst.is_some()).then(|| WorstMonth::of(inventory, self));
    }

    /// Returns the monthly cost of one resource. It is zero for a resource that is not in the inventory.
    pub fn cost_of(&self, inventory: &Inventory, id: ResourceId) -> CostSum {
        let found = inventory.resources.get(id.0).zip(self.items.get(id.0));
        found.map(|(resource, item)| cost(id, resource, item)).unwrap_or_default()
    }

    /// Returns the cost that no monthly total contains, because the resources end and the number of runs is unknown.
    pub fn endings(&self, inventory: &Inventory) -> BTreeMap<(BillingRole, Period), Ending> {
        let mut all: BTreeMap<(BillingRole, Period), Ending> = BTreeMap::new();
        for (resource, item) in inventory.resources.iter().zip(&self.items).filter(|(it, _)| it.is_added()) {
            let Some(amount) = item.amount.filter(|_| item.per != Period::Month) else { continue };
            let ending = all.entry((resource.role, item.per)).or_default();
            ending.resources += 1;
            ending.amount += amount;
            if amount == MoneyRange::ZERO {
                ending.each_uncounted += item.per_hour.map_or(Money::ZERO, |it| it.expected);
            }
        }
        all
    }
}

impl ExcludedTotal {
    fn add(&mut self, resource: &Resource, cost: &CostSum) {
        self.resources += 1;
        match resource.role {
            BillingRole::Rented => self.rented += cost,
            BillingRole::Requested => self.requested += cost,
        }
    }
}

/// Returns the monthly cost of a resource.
fn cost(id: ResourceId, resource: &Resource, item: &BillItem) -> CostSum {
    let is_unlimited = resource.is_unlimited() && item.monthly.is_some();
    let mut cost = CostSum::new(item.monthly.unwrap_or_default(), []).unlimited(is_unlimited);
    if item.is_unnamed {
        cost.leave_open(open_part(id, resource, OpenCause::Machine, "the code names no accelerator"));
    }
    match (&item.status, item.amount) {
        // The resource is switched off, so its price is irrelevant.
        (_, None) if resource.is_switched_off() => {}
        (Status::Unpriced(why), None) => cost.leave_open(open_part(id, resource, OpenCause::Price, why)),
        (_, None) if !resource.takes_its_count() => {
            let why = resource.count.why().unwrap_or("the number is not set");
            cost.leave_open(open_part(id, resource, OpenCause::Count, why));
        }
        // Repeated runs cost something each month, but the amount depends on the unknown length of a run.
        (_, Some(_)) if item.starts.is_some() => {
            cost.leave_open(open_part(id, resource, OpenCause::Hours, "the length of a run is not set"));
        }
        _ => {}
    }
    cost
}

fn open_part(id: ResourceId, resource: &Resource, cause: OpenCause, why: &str) -> OpenPart {
    OpenPart { of: resource.address.as_str().into(), resource: Some(id), cause, why: why.into() }
}
