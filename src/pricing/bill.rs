//! What each resource costs, and the sums of it.

use std::collections::BTreeMap;

use super::combined::{combined, mark_within};
use super::searches::Searches;
use super::variants::Pricing;
use super::{Apart, Bill, BillItem, Ending, Period, PricingSettings};
use crate::catalog::{Catalog, Money, MoneyRange};
use crate::inventory::{Inventory, Resource, Role};
use crate::source::each;

/// What everything costs. The inventory must be complete.
pub fn bill(inventory: &Inventory, catalog: &Catalog, settings: &PricingSettings) -> Bill {
    let searches = Searches::default();
    let item = |resource: &Resource| Pricing { catalog, settings, resource, searches: &searches }.item();
    let items = each(inventory.resources.iter().collect(), item);
    let mut bill = Bill { items, ..Bill::default() };
    bill.sum_up(inventory);
    bill
}

impl Bill {
    /// Adds the items up, one for each resource of the inventory, in its order.
    pub fn sum_up(&mut self, inventory: &Inventory) {
        mark_within(inventory, &mut self.items);
        let mut sums = Bill::default();
        for (resource, item) in inventory.resources.iter().zip(&self.items) {
            if resource.version_of.is_some() {
                continue;
            }
            if !resource.is_added() {
                sums.apart.entry(resource.counted).or_default().add(resource, item);
                continue;
            }
            match (item.monthly, resource.role) {
                (Some(monthly), Role::Rented) => sums.rented += monthly,
                (Some(monthly), Role::Requested) => sums.requested += monthly,
                (None, _) => sums.unpriced += usize::from(item.amount.is_none()),
            }
            if let Some(monthly) = item.monthly.filter(|_| item.is_unnamed) {
                sums.unnamed.resources += 1;
                sums.unnamed.amount += monthly;
            }
            if let Some(attached) = &item.attached {
                sums.attached += attached.monthly;
            }
            sums.past_shelf_life.note(resource.role, item);
            sums.stale += usize::from(item.stale.is_some());
            if let Some(monthly) = item.monthly.filter(|_| item.stale.is_some()) {
                let sum = match resource.role {
                    Role::Rented => &mut sums.past_shelf_life.rented,
                    Role::Requested => &mut sums.past_shelf_life.requested,
                };
                *sum += item.today(monthly.expected);
            }
            let dates = [sums.oldest_row.take(), item.as_of.clone()];
            sums.oldest_row = dates.into_iter().flatten().min();
        }
        sums.combined = combined(inventory, &self.items);
        *self = Bill { items: std::mem::take(&mut self.items), ..sums };
    }

    /// What runs and ends, of which no text says how often: beside the months, added up by what its amounts are for.
    pub fn endings(&self, inventory: &Inventory) -> BTreeMap<(Role, Period), Ending> {
        let mut all: BTreeMap<(Role, Period), Ending> = BTreeMap::new();
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

impl Apart {
    fn add(&mut self, resource: &Resource, item: &BillItem) {
        self.resources += 1;
        match (item.monthly, resource.role) {
            (Some(monthly), Role::Rented) => self.rented += monthly,
            (Some(monthly), Role::Requested) => self.requested += monthly,
            (None, _) => self.unpriced += usize::from(item.amount.is_none()),
        }
    }
}
