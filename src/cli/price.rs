use super::args::Price;
use super::{Failure, Outcome, output, prices};
use crate::catalog::{Catalog, Machine, Offer};
use crate::report::{self, Format};

/// Looks a machine or an accelerator up.
pub(super) fn run(arguments: &Price) -> Result<Outcome, Failure> {
    let (catalog, _) = prices::catalog(arguments.prices.as_deref())?;
    let offers = find(&catalog, arguments)?;
    output::write(&arguments.output, Format::Text, |format, _style| report::price(format, &offers))?;
    Ok(Outcome::Passed)
}

fn find<'c>(catalog: &'c Catalog, arguments: &Price) -> Result<Vec<Offer<'c>>, Failure> {
    let name = arguments.name.trim();
    let provider = arguments.provider.as_deref();
    if let Some(provider) = provider
        && !catalog.providers().iter().any(|known| known.eq_ignore_ascii_case(provider))
    {
        return Err(Failure::new(format!("no provider is called `{provider}`"))
            .with_help(format!("the providers are {}", catalog.providers().join(", "))));
    }
    let offers: Vec<Offer> = match catalog.accelerator(name) {
        Some(accelerator) => {
            let carries = |machine: &Machine| {
                machine.accelerator == accelerator.name
                    && provider.is_none_or(|provider| machine.provider.eq_ignore_ascii_case(provider))
            };
            let machines = catalog.machines().filter(carries);
            machines.filter_map(|machine| in_one_region(catalog, machine, arguments.region.as_deref())).collect()
        }
        None => {
            let machines = match provider {
                Some(provider) => catalog.machine(provider, name).into_iter().collect(),
                None => catalog.machines_named(name),
            };
            if machines.is_empty() {
                return Err(Failure::new(format!("the catalog knows no machine and no accelerator called `{name}`"))
                    .with_help("`gpulint price H100` lists machines by their accelerator"));
            }
            let in_region = |machine| match &arguments.region {
                Some(region) => in_one_region(catalog, machine, Some(region)).into_iter().collect(),
                None => everywhere(catalog, machine),
            };
            machines.into_iter().flat_map(in_region).collect()
        }
    };
    if offers.is_empty() {
        let place = arguments.region.as_deref().map(|region| format!(" in {region}")).unwrap_or_default();
        return Err(Failure::new(format!("the catalog has no price for `{name}`{place}")));
    }
    Ok(offers)
}

/// In the region that was asked for, else in the one where the provider's list is most complete.
fn in_one_region<'c>(catalog: &'c Catalog, machine: Machine<'c>, region: Option<&str>) -> Option<Offer<'c>> {
    let provider = catalog.providers().into_iter().find(|provider| *provider == machine.provider)?;
    let region = match region {
        Some(region) => catalog.region(provider, region)?,
        None => catalog.base_region(provider),
    };
    offer(catalog, machine, region)
}

fn everywhere<'c>(catalog: &'c Catalog, machine: Machine<'c>) -> Vec<Offer<'c>> {
    let same = |offer: &Offer| offer.machine.provider == machine.provider && offer.machine.name == machine.name;
    let offers: Vec<_> = catalog.offers().filter(same).collect();
    if offers.is_empty() { in_one_region(catalog, machine, None).into_iter().collect() } else { offers }
}

/// What one machine costs in one region.
fn offer<'c>(catalog: &'c Catalog, machine: Machine<'c>, region: &'c str) -> Option<Offer<'c>> {
    let quote = catalog.quote(&machine, region)?;
    Some(Offer { machine, region, quote })
}
