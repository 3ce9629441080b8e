//! Computes the totals of the bill, divided by a property of resources, such as team or region.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::inventory::{BillingRole, Fact, FactValue, Key, Resource, ResourceId};
use crate::pricing::{BillItem, CostSum, unpriced};
use crate::report::Report;
use crate::report::views::teams;

/// A property that divides the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    Team,
    Purpose,
    Environment,
    Project,
    Accelerator,
    Purchase,
    Region,
    Cloud,
    Kind,
    Utilization,
}

impl Cut {
    pub const ALL: [Cut; 10] = [
        Cut::Team,
        Cut::Purpose,
        Cut::Environment,
        Cut::Project,
        Cut::Accelerator,
        Cut::Purchase,
        Cut::Region,
        Cut::Cloud,
        Cut::Kind,
        Cut::Utilization,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Cut::Team => "team",
            Cut::Purpose => "purpose",
            Cut::Environment => "environment",
            Cut::Project => "project",
            Cut::Accelerator => "accelerator",
            Cut::Purchase => "purchase",
            Cut::Region => "region",
            Cut::Cloud => "cloud",
            Cut::Kind => "kind",
            Cut::Utilization => "utilization",
        }
    }

    /// Returns the slice of a resource; an error is the label for resources without a value.
    fn of<'a>(self, report: &Report<'a>, resource: &'a Resource) -> Result<String, &'static str> {
        let label = |keys: &[&str], nothing| teams::label(resource, keys).map(str::to_owned).ok_or(nothing);
        let fact = |key, nothing| match resource.fact(key) {
            Fact::Known(known) => match &known.value {
                FactValue::List(_) => Err("several"),
                value => Ok(value.to_string()),
            },
            Fact::Unknown(_) => Err("not known"),
            Fact::Absent => Err(nothing),
        };
        match self {
            Cut::Team => teams::team(resource).map(str::to_owned).ok_or("no team"),
            Cut::Project => label(&["project", "app", "application", "service", "workload"], "no project"),
            Cut::Environment => environment(report, resource).ok_or("no environment"),
            Cut::Purpose => fact(Key::Purpose, "no purpose"),
            Cut::Accelerator => fact(Key::Accelerator, "not named"),
            Cut::Purchase => fact(Key::Purchase, "not known"),
            Cut::Region => fact(Key::Region, "no region"),
            Cut::Cloud => fact(Key::Provider, "no cloud"),
            Cut::Kind => Ok(resource.kind.clone()),
            Cut::Utilization => busy(resource),
        }
    }
}

/// Returns the measured utilization of the resource.
fn busy(resource: &Resource) -> Result<String, &'static str> {
    let Some(busy) = resource.number(Key::MeasuredBusy) else { return Err("not measured") };
    let class = match busy {
        busy if busy < 0.05 => "under 5% busy",
        busy if busy < 0.2 => "5 to 20% busy",
        busy if busy < 0.6 => "20 to 60% busy",
        _ => "over 60% busy",
    };
    Ok(class.to_owned())
}

/// Returns the environment of a resource: its label, or the variant of its root or chart.
fn environment(report: &Report, resource: &Resource) -> Option<String> {
    let labelled = teams::label(resource, &["environment", "env", "stage", "tier"]).map(str::to_owned);
    let variant = || report.inventory.run(resource.run.as_ref()?)?.variant.as_ref().map(ToString::to_string);
    let told = || {
        let production = resource.fact(Key::Production).value()?.as_flag()?;
        Some(if production { "production" } else { "not production" }.to_owned())
    };
    labelled.or_else(variant).or_else(told)
}

/// Resources with the same value.
#[derive(Debug, Clone, PartialEq)]
pub struct CostSlice {
    pub name: String,
    /// True if the name is a value of the resources; otherwise the name is the reason why there is none.
    pub is_named: bool,
    pub rented: CostSum,
    pub requested: CostSum,
    pub resources: usize,
    /// Resources with a cost per run or hour, which no monthly total contains.
    pub beside: usize,
}

impl CostSlice {
    /// Returns resources in it without a price or a known number.
    pub fn unpriced(&self) -> usize {
        unpriced(self.rented.open().chain(self.requested.open()))
    }
}

/// Returns the most expensive slice first, the unnamed one last. Machines and pods each add up to the totals of the
/// bill.
pub fn slices(report: &Report, cut: Cut) -> Vec<CostSlice> {
    let mut slices: BTreeMap<(bool, String), CostSlice> = BTreeMap::new();
    for (place, (resource, item)) in report.inventory.resources.iter().zip(&report.bill.items).enumerate() {
        if !resource.is_added() {
            continue;
        }
        let (name, is_named) = match cut.of(report, resource) {
            Ok(name) if !name.trim().is_empty() => (name, true),
            Ok(_) => ("no name".to_owned(), false),
            Err(why) => (why.to_owned(), false),
        };
        let slice = slices.entry((!is_named, name.clone())).or_insert_with(|| CostSlice {
            name,
            is_named,
            rented: CostSum::default(),
            requested: CostSum::default(),
            resources: 0,
            beside: 0,
        });
        slice.resources += 1;
        let cost = report.bill.cost_of(report.inventory, ResourceId(place));
        match resource.role {
            BillingRole::Rented => slice.rented += &cost,
            BillingRole::Requested => slice.requested += &cost,
        }
        slice.beside += usize::from(item.monthly.is_none() && item.amount.is_some());
    }
    let mut slices: Vec<CostSlice> = slices.into_values().collect();
    let dearest = |it: &CostSlice| {
        let (rented, requested) = (it.rented.minimum(), it.requested.minimum());
        let pair = (rented.expected, requested.expected, rented.ceiling, requested.ceiling);
        (!it.is_named, Reverse(pair), it.name.clone())
    };
    slices.sort_by_cached_key(dearest);
    slices
}

/// Returns the resources in the total, with their prices.
pub(in crate::report) fn counted<'a>(report: &Report<'a>) -> impl Iterator<Item = (&'a Resource, &'a BillItem)> {
    let all = report.inventory.resources.iter().zip(&report.bill.items);
    all.filter(|(resource, _)| resource.is_added())
}
