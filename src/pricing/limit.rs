//! Chooses the maximums that keep the most that a month can cost within an amount.

use std::collections::BTreeMap;

use super::worst::{LimitedBy, NoLimit, WorstMonth};
use super::{Bill, BillItem, HOURS_PER_MONTH};
use crate::catalog::Money;
use crate::inventory::{BillingRole, FactEdit, FactValue, Inventory, Key, LinkKind, Part, Resource, ResourceId, RunId};

/// A limit that the files lack, or that is too high.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLimit {
    pub resource: ResourceId,
    /// Other resources that the same limit covers.
    pub also: Vec<ResourceId>,
    pub edit: FactEdit,
}

/// The limits to write, and the amount that they cannot lower.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewLimits {
    pub limits: Vec<NewLimit>,
    /// The cost of everything at its expected number. No limit can be lower.
    pub least: Money,
}

/// A number that may be lower: the resource may have more than it is expected to need.
struct Growth {
    resource: ResourceId,
    also: Vec<ResourceId>,
    part: Part,
    /// The price of one unit for a month.
    each: Money,
    /// The expected number of units, which stays possible.
    expected: f64,
    /// The present maximum.
    most: f64,
    /// The amount that the plan gives to more units.
    given: Money,
}

/// Returns the limits that keep the cost of each month within `most`. Every resource keeps its expected number; the rest
/// of the amount is divided equally, and none gets more than its present maximum.
pub fn new_limits(inventory: &Inventory, bill: &Bill, most: Money) -> NewLimits {
    let Some(worst) = &bill.worst else { return NewLimits::default() };
    if worst.most().is_some_and(|is| is <= most) {
        return NewLimits { limits: Vec::new(), least: worst.limited };
    }
    let mut plan = Plan { inventory, bill, growths: Vec::new(), fixed: worst.limited, limits: Vec::new() };
    plan.read(worst);
    let expected: Money = plan.growths.iter().map(|it| it.each.times(it.expected)).sum();
    let least = plan.fixed + expected;
    plan.divide(most - least);
    let lowered = plan.growths.iter().filter_map(Growth::limit);
    let mut limits: Vec<NewLimit> = lowered.chain(plan.limits.iter().cloned()).collect();
    limits.sort_by_key(|it| it.resource);
    NewLimits { limits, least }
}

impl Growth {
    /// Returns the new maximum, if it is lower.
    fn limit(&self) -> Option<NewLimit> {
        // A whole number stays whole after the division.
        const ROUNDING: f64 = 1e-6;
        let more = if self.each.is_zero() { 0.0 } else { (self.given.usd() / self.each.usd() + ROUNDING).floor() };
        let limit = self.expected + more;
        let value = Some(FactValue::Number(limit));
        let edit = FactEdit { part: self.part.clone(), value };
        (limit < self.most).then(|| NewLimit { resource: self.resource, also: self.also.clone(), edit })
    }

    /// Returns the cost of the units above the expected number.
    fn demand(&self) -> Money {
        /// More than any month costs.
        const WITHOUT_LIMIT: f64 = 1e12;
        match self.most.is_finite() {
            true => self.each.times(self.most - self.expected),
            false => Money::from_usd(WITHOUT_LIMIT),
        }
    }
}

struct Plan<'a> {
    inventory: &'a Inventory,
    bill: &'a Bill,
    growths: Vec<Growth>,
    /// The cost that no limit changes.
    fixed: Money,
    limits: Vec<NewLimit>,
}

impl Plan<'_> {
    fn read(&mut self, worst: &WorstMonth) {
        for part in &worst.parts {
            let growth = match (part.by, part.resources.as_slice()) {
                (LimitedBy::Itself | LimitedBy::Pods, [id]) => self.growth(*id),
                (LimitedBy::Quota(LinkKind::Quota), members) => self.quota(members),
                _ => None,
            };
            if let Some(growth) = growth {
                self.fixed = self.fixed - part.most;
                self.growths.push(growth);
            }
        }
        let mut by_namespace: BTreeMap<(Option<&RunId>, &str), Vec<ResourceId>> = BTreeMap::new();
        for it in &worst.unlimited {
            let Some((id, resource)) = it.resource.and_then(|id| Some((id, self.inventory.resources.get(id.0)?)))
            else {
                continue;
            };
            let namespace = resource.declared.namespace.value().and_then(FactValue::as_text);
            let growth = if matches!(it.why, NoLimit::Count(_)) { self.growth(id) } else { None };
            match (&it.why, growth) {
                (NoLimit::Runs, _) if !resource.fact(Key::Cron).is_absent() => self.run_one_at_a_time(id),
                (_, Some(growth)) => self.growths.push(growth),
                (NoLimit::Runs | NoLimit::Count(_), None) if resource.role == BillingRole::Requested => {
                    let place = (resource.run.as_ref(), namespace.unwrap_or(&resource.address));
                    by_namespace.entry(place).or_default().push(id);
                }
                _ => {}
            }
        }
        for members in by_namespace.into_values() {
            self.growths.extend(self.quota(&members));
        }
    }

    /// Returns the quota of the namespace of some pods. All pods with a number fit, and one run of the largest job.
    fn quota(&self, members: &[ResourceId]) -> Option<Growth> {
        let mut growth: Option<Growth> = None;
        let (mut steady, mut largest): (f64, f64) = (0.0, 0.0);
        for id in members {
            let (resource, item) = self.found(*id)?;
            let devices = resource.number(Key::AcceleratorCount).filter(|it| *it >= 1.0)?;
            let each = item.worst_per_hour?.times(HOURS_PER_MONTH / devices);
            let most = resource.number(Key::QuotaAccelerators).unwrap_or(f64::INFINITY);
            let known = growth.get_or_insert_with(|| Growth {
                resource: *id,
                also: members.iter().copied().filter(|it| it != id).collect(),
                part: Part::Fact(Key::QuotaAccelerators),
                each,
                expected: 0.0,
                most,
                given: Money::ZERO,
            });
            known.each = known.each.max(each);
            match resource.count.value().filter(|_| resource.flag(Key::Repeats) != Some(true)) {
                Some(count) => steady += count.expected.max(count.floor) * devices,
                None => largest = largest.max(devices),
            }
        }
        let expected = steady + largest;
        growth.map(|it| Growth { expected, ..it }).filter(|it| it.most > expected)
    }

    /// Plans that a scheduled run waits for the earlier one.
    fn run_one_at_a_time(&mut self, id: ResourceId) {
        let Some((resource, item)) = self.found(id) else { return };
        let most = resource.count.value().map(|count| count.ceiling).filter(|it| it.is_finite());
        let Some((each, most)) = item.worst_per_hour.zip(most).filter(|_| !resource.fact(Key::Cron).is_absent()) else {
            return;
        };
        self.fixed += each.times(most * HOURS_PER_MONTH);
        let edit = FactEdit { part: Part::Fact(Key::OneAtATime), value: Some(FactValue::Flag(true)) };
        self.limits.push(NewLimit { resource: id, also: Vec::new(), edit });
    }

    fn found(&self, id: ResourceId) -> Option<(&Resource, &BillItem)> {
        self.inventory.resources.get(id.0).zip(self.bill.items.get(id.0))
    }

    /// Returns the number of a resource that may be lower, in accelerators for a pool with limits.
    fn growth(&self, id: ResourceId) -> Option<Growth> {
        let (resource, item) = self.found(id)?;
        let count = resource.count.value().filter(|_| resource.shifts.is_empty())?;
        if !resource.fact(Key::Cron).is_absent() {
            return None;
        }
        let (each, expected, most) = if resource.fact(Key::LimitSetting).is_absent() {
            // Most autoscalers refuse a maximum of 0.
            let expected = count.expected.max(count.floor).max(1.0);
            (item.worst_per_hour?.times(HOURS_PER_MONTH), expected, count.ceiling)
        } else {
            let each = item.worst_per_accelerator?.times(HOURS_PER_MONTH);
            let most = item.worst.as_ref()?.as_ref().map_or(f64::INFINITY, |most| (most.usd() / each.usd()).round());
            (each, 0.0, most)
        };
        let (also, part) = (Vec::new(), Part::Ceiling);
        (most > expected).then_some(Growth { resource: id, also, part, each, expected, most, given: Money::ZERO })
    }

    /// Divides an amount among all numbers that may grow, the smallest demand first.
    fn divide(&mut self, mut rest: Money) {
        self.growths.sort_by_key(|it| (it.demand(), it.resource));
        let mut left = self.growths.len();
        for growth in &mut self.growths {
            growth.given = rest.times(1.0 / left as f64).min(growth.demand()).max(Money::ZERO);
            rest = rest - growth.given;
            left -= 1;
        }
    }
}
