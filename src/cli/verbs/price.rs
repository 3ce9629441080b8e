//! `gpulint price`: looks up prices in the catalog.

use crate::AnalysisSettings;
use crate::catalog::{Catalog, CatalogMachine, Money, Offer, Search};
use crate::cli::args::{InputArguments, PriceArguments};
use crate::cli::io::{clock, output};
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::pricing::{self, HoursPlan, OWN_PROVIDER, Owned, PlannedHours, PricingSettings};
use crate::report::{self, Format, Hardware, PriceAnswer, PurchaseOptions};

/// Prints the prices of a machine, an accelerator or a planned number of hours.
pub(in crate::cli) fn run(arguments: &PriceArguments) -> Result<ExitStatus, Failure> {
    let AnalysisSettings { catalog, pricing, .. } = settings(arguments)?;
    for provider in &arguments.provider {
        if provider != OWN_PROVIDER && !catalog.providers().iter().any(|known| known.eq_ignore_ascii_case(provider)) {
            return Err(Failure::new(format!("unknown provider `{provider}`"))
                .with_help(format!("use one of {}", catalog.providers().join(", "))));
        }
    }
    if let Some(hours) = arguments.hours {
        return planned(&catalog, &pricing, arguments, hours);
    }
    let hardware = hardware(&catalog, &pricing.owned, arguments);
    let mut offers = match find(&catalog, arguments) {
        Err(_) if !hardware.is_empty() => Vec::new(),
        found => found?,
    };
    sort(&mut offers, arguments);
    let today = arguments.today.map_or_else(clock::today, Ok)?;
    let prices =
        PriceAnswer { catalog: &catalog, offers: &offers, hardware: &hardware, on_spot: arguments.spot, today };
    output::write(&arguments.output, Format::Text, |format, style| report::price(format, &prices, style))?;
    Ok(ExitStatus::Passed)
}

fn planned(
    catalog: &Catalog,
    settings: &PricingSettings,
    arguments: &PriceArguments,
    hours: f64,
) -> Result<ExitStatus, Failure> {
    let run = match (&arguments.run, arguments.name.as_deref().map(str::trim)) {
        (Some(text), _) => PlannedHours::parse(text, hours).map_err(Failure::new)?,
        (None, Some(name)) => PlannedHours::new(named(catalog, arguments, name)?, hours).map_err(Failure::new)?,
        (None, None) => {
            return Err(Failure::new("--hours needs a machine or an accelerator")
                .with_help("pass the name of a machine or an accelerator, with --count, or pass --run 8xA100-80GB"));
        }
    };
    let run = PlannedHours { providers: arguments.provider.clone(), region: arguments.region.clone(), ..run };
    let ways = pricing::ways(catalog, settings, &run);
    if ways.iter().all(|way| way.own.is_some()) {
        let what = arguments.run.as_deref().or(arguments.name.as_deref()).unwrap_or_default();
        return Err(Failure::new(format!("the catalog has no price for {what}{}", place(arguments))));
    }
    let options = PurchaseOptions { ways: &ways, hours };
    output::write(&arguments.output, Format::Text, |format, style| report::purchase_options(format, &options, style))?;
    Ok(ExitStatus::Passed)
}

/// Returns the planned machines or accelerators with that name.
fn named(catalog: &Catalog, arguments: &PriceArguments, name: &str) -> Result<HoursPlan, Failure> {
    let (name, count) = (name.to_owned(), arguments.count.unwrap_or(1.0));
    if !catalog.chips(&name).is_empty() {
        return Ok(HoursPlan::Accelerators { name, count });
    }
    machines(catalog, arguments, &name).map(|_| HoursPlan::Machines { name, count })
}

/// Returns the settings with custom prices and own hardware.
fn settings(arguments: &PriceArguments) -> Result<AnalysisSettings, Failure> {
    let input = InputArguments {
        config: arguments.config.clone(),
        no_config: arguments.no_config,
        today: arguments.today,
        prices: arguments.prices.clone(),
        ..InputArguments::here()
    };
    Ok(Session::settings_only(&input)?.settings)
}

/// Returns the own hardware with the requested accelerators.
fn hardware<'a>(catalog: &'a Catalog, owned: &'a [Owned], arguments: &PriceArguments) -> Vec<Hardware<'a>> {
    let is_asked = arguments.provider.is_empty() || arguments.provider.iter().any(|it| it == OWN_PROVIDER);
    let name = arguments.name.as_deref().map(str::trim).filter(|_| is_asked && arguments.region.is_none());
    let chips = name.map(|name| catalog.chips(name)).unwrap_or_default();
    let count = arguments.count.unwrap_or(1.0);
    let of = |accelerator| {
        let known = catalog.accelerator(accelerator)?;
        let fits = arguments.memory.is_none_or(|gib| known.memory_gib >= gib) && !arguments.spot;
        let owned = Owned::of(owned, known.name).filter(|_| fits)?;
        Some(Hardware { accelerator: known.name, count, owned })
    };
    chips.into_iter().filter_map(of).collect()
}

fn place(arguments: &PriceArguments) -> String {
    arguments.region.as_deref().map(|region| format!(" in {region}")).unwrap_or_default()
}

fn find<'c>(catalog: &'c Catalog, arguments: &PriceArguments) -> Result<Vec<Offer<'c>>, Failure> {
    let name = arguments.name.as_deref().map(str::trim);
    let is_accelerator = name.is_none_or(|name| !catalog.chips(name).is_empty());
    let offers = match name {
        Some(name) if !is_accelerator => by_name(catalog, arguments, name)?,
        _ => {
            let mut found = catalog.search(&Search {
                accelerator: name,
                count: arguments.count,
                memory_gib: arguments.memory,
                providers: &arguments.provider,
                region: arguments.region.as_deref(),
            });
            found.retain(|offer| !arguments.spot || offer.quote.spot.is_some());
            found
        }
    };
    if offers.is_empty() {
        let place = place(arguments);
        let what = name.map_or("machines of that kind".to_owned(), |name| format!("`{name}`"));
        return Err(Failure::new(format!("the catalog has no price for {what}{place}")));
    }
    Ok(offers)
}

fn machines<'c>(
    catalog: &'c Catalog,
    arguments: &PriceArguments,
    name: &str,
) -> Result<Vec<CatalogMachine<'c>>, Failure> {
    let machines: Vec<CatalogMachine<'c>> = match arguments.provider.as_slice() {
        [] => catalog.machines_named(name),
        named => named.iter().filter_map(|provider| catalog.machine(provider, name)).collect(),
    };
    if machines.is_empty() {
        if let Some((provider, accelerator)) = catalog.family_of(name) {
            let with = accelerator.map(|name| format!(" with {name}")).unwrap_or_default();
            return Err(Failure::new(format!(
                "the catalog has no price for `{name}`, only for its family{with} of {provider}"
            ))
            .with_help(catalog.did_you_mean(name)));
        }
        return Err(Failure::new(format!("the catalog lists no machine type or accelerator `{name}`"))
            .with_help(catalog.did_you_mean(name)));
    }
    Ok(machines)
}

fn by_name<'c>(catalog: &'c Catalog, arguments: &PriceArguments, name: &str) -> Result<Vec<Offer<'c>>, Failure> {
    let machines = machines(catalog, arguments, name)?;
    let in_regions = |machine: CatalogMachine<'c>| match &arguments.region {
        Some(region) => catalog.in_region(machine, Some(region)).into_iter().collect(),
        None => everywhere(catalog, machine),
    };
    Ok(machines.into_iter().flat_map(in_regions).collect())
}

/// Sorts by the price of one accelerator. Offers without a price come last.
fn sort(offers: &mut [Offer], arguments: &PriceArguments) {
    if arguments.sort != "price" && !arguments.spot {
        return;
    }
    offers.sort_by_key(|offer| {
        let price = if arguments.spot { offer.quote.spot } else { offer.quote.on_demand };
        price.map_or(Money::from_micros(i64::MAX), |price| price.times(1.0 / offer.machine.count))
    });
}

fn everywhere<'c>(catalog: &'c Catalog, machine: CatalogMachine<'c>) -> Vec<Offer<'c>> {
    let same = |offer: &Offer| offer.machine.provider == machine.provider && offer.machine.name == machine.name;
    let offers: Vec<_> = catalog.offers().filter(same).collect();
    if offers.is_empty() { vec![catalog.in_base_region(machine)] } else { offers }
}
