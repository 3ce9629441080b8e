//! Writes the calculation of an amount: number × machine × price per hour × hours.

use crate::catalog::Currency;
use crate::inventory::{BillingRole, Fact, FactOrigin, Key, Resource};
use crate::pricing::{BillItem, Period, count_range};

/// Returns text such as `6 × g5.12xlarge (4 A10G) × $5.672/h × 730 h, us-east-1, on-demand`; nothing without a price.
pub(in crate::report) fn basis(resource: &Resource, item: &BillItem, currency: Currency) -> Option<String> {
    let per_hour = item.hourly()?.expected;
    let count = item.count_of(resource)?;
    let mut factors = vec![count_range(count)];
    factors.extend(thing(resource));
    factors.push(format!("{}/h", currency.per_hour(per_hour)));
    match item.per {
        Period::Month => factors.push(format!("{} h", number(item.hours))),
        Period::Run => factors.push(format!("{} h/run", number(item.hours))),
        Period::Hour => {}
    }
    let mut parts = vec![factors.join(" × ")];
    parts.extend(region(resource));
    parts.extend(resource.text(Key::Purchase).map(str::to_owned));
    Some(parts.join(", "))
}

/// Returns text such as `g5.12xlarge (4 A10G)` of a machine, `2 A10G of g5.12xlarge` of a pod.
fn thing(resource: &Resource) -> Option<String> {
    let machine = resource.text(Key::Machine);
    let accelerators = match (resource.number(Key::AcceleratorCount), resource.text(Key::Accelerator)) {
        (Some(count), Some(name)) => Some(format!("{} {name}", number(count))),
        (None, Some(name)) => Some(name.to_owned()),
        (_, None) => None,
    };
    match (resource.role, machine, accelerators) {
        (BillingRole::Requested, Some(machine), Some(accelerators)) => Some(format!("{accelerators} of {machine}")),
        (BillingRole::Rented, Some(machine), Some(accelerators)) => Some(format!("{machine} ({accelerators})")),
        (_, Some(machine), None) => Some(machine.to_owned()),
        (_, None, accelerators) => accelerators,
    }
}

fn region(resource: &Resource) -> Option<String> {
    let Fact::Known(known) = resource.fact(Key::Region) else { return None };
    let assumed = if matches!(known.origin, FactOrigin::Assumed(_)) { " (assumed)" } else { "" };
    Some(format!("{}{assumed}", known.value))
}

fn number(n: f64) -> String {
    format!("{}", (n * 100.0).round() / 100.0)
}
