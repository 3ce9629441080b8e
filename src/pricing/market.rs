//! Finds cheaper offers of the same accelerators: in another region, or from another provider.

use crate::catalog::{Catalog, CatalogMachine, Money};
use crate::inventory::{Key, Resource};

use super::BillItem;

/// A machine with the same accelerators elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Elsewhere {
    pub provider: String,
    pub machine: String,
    pub region: String,
    pub per_hour: Money,
}

/// Returns the region of the same provider in which this machine is cheapest on demand, or `None` if none is cheaper.
/// Only listed prices count, because an estimate would compare two guesses.
pub fn cheaper_region(resource: &Resource, item: &BillItem, catalog: &Catalog) -> Option<Elsewhere> {
    let (provider, name) = (resource.text(Key::Provider)?, resource.text(Key::Machine)?);
    let machine = catalog.machine(provider, name)?;
    let now = item.per_hour?.expected;
    let here = resource.text(Key::Region);
    let regions = catalog.regions(provider).into_iter().filter(|region| Some(*region) != here);
    let offers = regions.filter_map(|region| listed(catalog, &machine, region));
    offers.min_by(by_price).filter(|it| it.per_hour < now)
}

/// Returns the provider that is cheapest for as many of the same accelerators, or `None` if none is cheaper.
pub fn cheaper_provider(resource: &Resource, item: &BillItem, catalog: &Catalog) -> Option<Elsewhere> {
    let here = resource.text(Key::Provider)?;
    let (accelerator, count) = (resource.text(Key::Accelerator)?, resource.number(Key::AcceleratorCount)?);
    let now = item.per_hour?.expected;
    let others = catalog.providers().into_iter().filter(|provider| *provider != here);
    let offers = others.filter_map(|provider| {
        let region = catalog.base_region(provider);
        let machines = catalog.machines_with(provider, accelerator).into_iter().filter(|it| it.count == count);
        machines
            .filter(|it| catalog.retired(it).is_none())
            .filter_map(|it| listed(catalog, &it, region))
            .min_by(by_price)
    });
    offers.min_by(by_price).filter(|it| it.per_hour < now)
}

fn listed(catalog: &Catalog, machine: &CatalogMachine<'_>, region: &str) -> Option<Elsewhere> {
    let quote = catalog.quote(machine, region)?;
    if quote.basis.is_estimate() || quote.confidence == "low" {
        return None;
    }
    Some(Elsewhere {
        provider: machine.provider.to_string(),
        machine: machine.name.to_string(),
        region: region.to_owned(),
        per_hour: quote.on_demand?,
    })
}

fn by_price(one: &Elsewhere, other: &Elsewhere) -> std::cmp::Ordering {
    let key = |it: &Elsewhere| (it.per_hour, it.provider.clone(), it.region.clone(), it.machine.clone());
    key(one).cmp(&key(other))
}
