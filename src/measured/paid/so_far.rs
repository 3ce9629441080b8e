//! Computes the billed cost of the current month, and the days that the bill covers.

use std::collections::BTreeMap;

use super::{BillMonth, BilledAmount, Paid};
use crate::catalog::Money;
use crate::inventory::{Fact, FactOrigin, FactValue, Inventory, Key, Resource, ResourceId};
use crate::source::Date;

/// Facts of resources that may have run for fewer hours than the bill covers.
const RESTS: [Key; 6] = [Key::EndsByItself, Key::Schedule, Key::Cron, Key::IdleMinutes, Key::TimeLimit, Key::Ttl];

/// The days of the current month that the bill of each provider covers.
pub(super) struct SoFar {
    month: BillMonth,
    days: BTreeMap<String, (f64, FactOrigin)>,
}

impl SoFar {
    pub(super) fn new(paid: &Paid, inventory: &Inventory, today: Date) -> SoFar {
        let month = BillMonth::of(today);
        let mut days: BTreeMap<String, (f64, FactOrigin)> = BTreeMap::new();
        let mut told: BTreeMap<&str, Option<f64>> = BTreeMap::new();
        // The bill covers days until yesterday at most.
        let elapsed = (today.unix_days() - month.first_day()) as f64;
        for (id, resource) in paid.matched.keys().filter_map(|id| Some((*id, inventory.resources.get(id.0)?))) {
            let Some(row) = paid.of(id).map(|it| &it.row).find(|it| it.month == month) else { continue };
            let told = told.entry(&row.provider).or_insert_with(|| paid.billed_days(&row.provider, month));
            let known = match *told {
                Some(days) => Some((days, FactOrigin::Resolved)),
                None => proven_days(paid, id, resource, month)
                    .map(|days| (days.min(elapsed), FactOrigin::Inferred("from the hours on the bill".into()))),
            };
            let Some(known) = known else { continue };
            let longest = days.entry(row.provider.clone()).or_insert_with(|| known.clone());
            if known.0 > longest.0 {
                *longest = known;
            }
        }
        SoFar { month, days }
    }

    /// Sets the facts only if the bill has rows of this month.
    pub(super) fn set_billed_so_far(&self, paid: &Paid, id: ResourceId, resource: &mut Resource) {
        let Some(first) = paid.of(id).find(|it| it.row.month == self.month) else { return };
        let fact = match paid.sums(id, self.month) {
            Ok(Some(sums)) => Fact::known(FactValue::Number(Money::usd(sums.paid)), first.span, FactOrigin::Resolved),
            Err(why) => Fact::unknown(why, first.span),
            Ok(None) => return,
        };
        resource.set(Key::PaidSoFar, fact);
        let days = match self.days.get(&first.row.provider) {
            Some((days, origin)) => Fact::known(FactValue::Number(*days), first.span, origin.clone()),
            None => Fact::unknown("unknown from the bill: its rows have no `billed_days`", first.span),
        };
        resource.set(Key::PaidDays, days);
    }
}

/// Returns the days that the hours of a resource prove: if it never stops, and the configured number ran.
fn proven_days(paid: &Paid, id: ResourceId, resource: &Resource, month: BillMonth) -> Option<f64> {
    let may_rest = RESTS.iter().any(|key| !resource.fact(*key).is_absent()) || !resource.shifts.is_empty();
    let count = resource.count.value().map(|it| it.expected).filter(|it| *it > 0.0 && !may_rest)?;
    let hours = paid.sums(id, month).ok()??.hours.map(BilledAmount::as_f64)?;
    Some(hours / count / 24.0).filter(|it| it.is_finite())
}
