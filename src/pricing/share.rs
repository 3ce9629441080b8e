//! What a pod pays: its share of the machine that it runs on, or would run on.

use crate::catalog::{Catalog, Machine, Money};
use crate::inventory::{Fact, Key, Resource, Role, Value};

use super::allocatable::{allocatable_cpus, allocatable_gib};
use super::bill::Pricing;
use super::complete::plain;
use super::purchase::Variant;
use super::unit::unit;
use super::{OWN_PROVIDER, Scenario, Step};

/// Clouds among which the price of an accelerator lies, where the text names no provider.
const CLOUDS: [&str; 3] = ["aws", "azure", "gcp"];

/// Accelerators that a pod may mean by `nvidia.com/gpu` alone: those that the clouds rent out today, cheapest first.
const COMMON: [&str; 6] = ["T4", "L4", "A10G", "A10", "A100-80GB", "H100-80GB"];

/// Every machine that the pod may run on, with the pod's share of it; the one that is expected comes first.
pub(super) fn pod_variants<'a>(pricing: &Pricing<'a>) -> Result<Vec<Variant<'a>>, String> {
    let devices = devices(pricing.resource, pricing.catalog)?;
    let provider = pricing.resource.text(Key::Provider);
    if let (Some(provider), true) = (provider, pricing.resource.fact(Key::Machine).is_narrowed())
        && let Ok(machines) = pricing.machines(provider)
    {
        let share = |machine: &Machine<'a>| Some(share(pricing.resource, machine, devices));
        return Ok(pricing.variants(provider, machines, share));
    }
    on_any_machine(pricing, provider, devices)
}

/// Without a machine, the cheapest one with the accelerator sets the price; in each cloud, where none is named; of each
/// common accelerator, where that is not named either.
pub(super) fn on_any_machine<'a>(
    pricing: &Pricing<'a>,
    provider: Option<&str>,
    devices: f64,
) -> Result<Vec<Variant<'a>>, String> {
    let (accelerators, why) = accelerators(pricing)?;
    let providers: Vec<&str> = provider.map_or_else(|| CLOUDS.to_vec(), |provider| vec![provider]);
    let mut variants: Vec<Variant<'a>> = Vec::new();
    for accelerator in &accelerators {
        for provider in &providers {
            variants.extend(cheapest(pricing, provider, accelerator, devices));
        }
    }
    if variants.is_empty() {
        let names = accelerators.join(", ");
        let exists = accelerators
            .iter()
            .any(|name| providers.iter().any(|provider| !pricing.catalog.machines_with(provider, name).is_empty()));
        let whose = provider.map_or(String::new(), |provider| format!(" of {provider}"));
        return Err(match exists {
            true if devices > 1.0 => format!("no machine{whose} carries {} of {names}", plain(devices)),
            _ => format!("no machine{whose} with {names} has a price"),
        });
    }
    // What is expected is the middle one: neither the cheapest that it may be, nor the dearest.
    variants.sort_by_key(|variant| variant.unit.price(Scenario::OnDemand));
    let middle = (variants.len() - 1) / 2;
    variants[..=middle].rotate_right(1);
    if let Some(first) = variants.first_mut() {
        first.unit.estimated = Some(match first.unit.estimated.take() {
            Some(also) => format!("{why}; {also}"),
            None => why,
        });
    }
    Ok(variants)
}

/// What the pod's accelerator is or may be, and why this makes its price an estimate.
fn accelerators(pricing: &Pricing<'_>) -> Result<(Vec<String>, String), String> {
    let named = |values: &[Value]| values.iter().filter_map(Value::as_text).map(str::to_owned).collect::<Vec<_>>();
    match pricing.resource.fact(Key::Accelerator) {
        Fact::Known(known) => {
            let names = named(std::slice::from_ref(&known.value));
            let why = "no machine is named: the cheapest with its accelerator".to_owned();
            Ok((names, why))
        }
        Fact::Unknown(unknown) if !unknown.candidates.is_empty() => {
            let names = named(&unknown.candidates);
            Ok((names, format!("it may be any of {} accelerators", unknown.candidates.len())))
        }
        other => {
            if let Some(name) = pricing.settings.default_accelerator.as_deref() {
                let name = pricing.catalog.accelerator(name).map_or(name, |known| known.name);
                return Ok((vec![name.to_owned()], format!("no accelerator is named: {name} is assumed")));
            }
            let why = other.why().unwrap_or("the text names none").to_owned();
            let vendor = pricing.resource.text(Key::Vendor).unwrap_or("nvidia");
            let names = common(pricing, vendor);
            if names.is_empty() {
                return Err(format!("the catalog knows no accelerators of {vendor}"));
            }
            Ok((names, format!("the accelerator is not known ({why}): any common one of {vendor} is assumed")))
        }
    }
}

/// What a resource of a vendor may mean: the accelerators that the clouds rent out, or all that its own provider has.
fn common(pricing: &Pricing<'_>, vendor: &str) -> Vec<String> {
    let all = pricing.catalog.accelerators().filter(|it| it.vendor == vendor).map(|it| it.name);
    let all: Vec<&str> = all.collect();
    let rents = |name: &&str| match pricing.resource.text(Key::Provider) {
        Some(provider) => !pricing.catalog.machines_with(provider, name).is_empty(),
        None => true,
    };
    let usual: Vec<&str> = COMMON.into_iter().filter(|name| all.contains(name)).filter(rents).collect();
    let names = if usual.is_empty() { all } else { usual };
    names.into_iter().map(str::to_owned).collect()
}

/// The machine of a provider on which the pod costs least.
fn cheapest<'a>(pricing: &Pricing<'a>, provider: &str, accelerator: &str, devices: f64) -> Option<Variant<'a>> {
    let (region, region_step) = if pricing.resource.text(Key::Provider) == Some(provider) {
        pricing.region(provider)
    } else {
        let region = pricing.catalog.base_region(provider).to_owned();
        let text = format!("the text names no provider: {provider}, {region}");
        (region, Some(Step { text, result: None }))
    };
    let offers = hosts(pricing, provider, accelerator, devices).into_iter().filter_map(|machine| {
        let share = share(pricing.resource, &machine, devices);
        if provider == OWN_PROVIDER {
            return Some((false, Money::ZERO, machine, share));
        }
        let quote = pricing.catalog.quote(&machine, &region)?;
        let price = quote.on_demand.or(quote.spot).or(quote.reserved_1y)?;
        let is_doubtful = quote.basis.is_estimate() || quote.confidence == "low";
        Some((is_doubtful, price.times(share.part), machine, share))
    });
    // A price that the region lists comes before one that is estimated or doubtful.
    let (_, _, machine, share) = offers
        .min_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)).then_with(|| one.2.name.cmp(&other.2.name)))?;
    let mut unit = unit(pricing.catalog, pricing.settings, &machine, &region);
    region_step.into_iter().for_each(|step| unit.say(step));
    let unit = unit.times(share.part, &format!("{}; the cheapest machine with {accelerator} for it", share.why));
    Some(Variant { machine, region, unit, share: share.part, stranded: share.stranded })
}

/// The machines of a provider that have enough of an accelerator and can still be rented.
fn hosts<'a>(pricing: &Pricing<'a>, provider: &str, accelerator: &str, devices: f64) -> Vec<Machine<'a>> {
    let catalog = pricing.catalog;
    let mut machines = catalog.machines_with(provider, accelerator);
    if provider == OWN_PROVIDER {
        machines.extend(catalog.single(provider, accelerator, devices));
    }
    if provider == "gcp" {
        machines.extend(catalog.tpu(accelerator, devices));
        machines.extend(smallest_host(pricing, accelerator, devices));
    }
    machines.retain(|machine| machine.count >= devices);
    // Whoever rents takes the machine of that size; a pod takes a part of any.
    let alike = |machine: &Machine<'_>| pricing.resource.role == Role::Requested || machine.count == devices;
    if machines.iter().any(alike) {
        machines.retain(alike);
    }
    let current = |machine: &Machine<'_>| catalog.retired(machine).is_none();
    if machines.iter().any(current) {
        machines.retain(current);
    }
    let holds = |key: Key, has: Option<f64>| !matches!((pricing.resource.number(key), has), (Some(asked), Some(has)) if asked > has);
    let large = |machine: &Machine<'_>| {
        holds(Key::Cpus, machine.cpus.map(allocatable_cpus))
            && holds(Key::Memory, machine.memory_gib.map(allocatable_gib))
    };
    // Where no machine holds the pod, its share of the one that comes nearest still says what it would cost.
    if machines.iter().any(large) {
        machines.retain(large);
    }
    machines
}

/// The smallest N1 machine that holds the pod, with enough accelerators attached to it.
fn smallest_host<'a>(pricing: &Pricing<'a>, accelerator: &str, devices: f64) -> Option<Machine<'a>> {
    // What can be attached to one machine.
    let count = [1.0, 2.0, 4.0, 8.0].into_iter().find(|count| *count >= devices)?;
    let asked = |key: Key| pricing.resource.number(key).unwrap_or(0.0);
    [1, 2, 4, 8, 16, 32, 64, 96].into_iter().find_map(|cpus| {
        let machine = pricing.catalog.equipped(&format!("n1-standard-{cpus}"), accelerator, count).ok()?;
        let fits = allocatable_cpus(machine.cpus?) >= asked(Key::Cpus)
            && allocatable_gib(machine.memory_gib?) >= asked(Key::Memory);
        fits.then_some(machine)
    })
}

/// How many whole accelerators the pod takes; slices count as the part of a device that one of them is.
pub fn devices(resource: &Resource, catalog: &Catalog) -> Result<f64, String> {
    let count = match resource.fact(Key::AcceleratorCount) {
        Fact::Known(known) => known.value.as_number().unwrap_or(1.0),
        Fact::Unknown(unknown) => {
            return Err(format!("how many accelerators a pod takes is not known: {}", unknown.why));
        }
        Fact::Absent => 1.0,
    };
    // Whoever shares one accelerator with others asks for it as for a whole one.
    let count = count / resource.number(Key::SharedBy).filter(|pods| *pods >= 1.0).unwrap_or(1.0);
    let Some(profile) = resource.text(Key::Slice) else { return Ok(count) };
    let most = match resource.text(Key::Accelerator) {
        Some(accelerator) => catalog.mig(accelerator, profile).map(|slice| slice.max_instances),
        // What it may be cut from agrees in practice: a profile names its share of the compute.
        None => catalog.slices(profile).iter().map(|slice| slice.max_instances).min(),
    };
    let most = most.ok_or_else(|| format!("no accelerator is known to have slices of {profile}"))?;
    Ok(count / f64::from(most))
}

/// What of a machine a pod pays for.
#[derive(Debug, Clone, Default)]
pub(super) struct Share {
    pub(super) part: f64,
    /// The sum that says so.
    pub(super) why: String,
    /// Accelerators beyond those that it asks for, which nobody else can use beside it.
    pub(super) stranded: f64,
}

/// The largest of the pod's shares of the machine's accelerators, CPUs and memory.
fn share(resource: &Resource, machine: &Machine<'_>, devices: f64) -> Share {
    let of_devices = devices / machine.count;
    let mut largest = (of_devices, "accelerators", devices, machine.count);
    for (key, what, of) in [(Key::Cpus, "CPUs", machine.cpus), (Key::Memory, "GiB of memory", machine.memory_gib)] {
        if let (Some(asked), Some(has)) = (resource.number(key), of)
            && has > 0.0
            && asked / has > largest.0
        {
            largest = (asked / has, what, asked, has);
        }
    }
    let (part, what, asked, has) = largest;
    let stranded = ((part.min(1.0) - of_devices) * machine.count).max(0.0);
    let mut why = format!("{} of its {} {what}", plain(asked), plain(has));
    if what == "accelerators" {
        why.push_str(&parts(resource));
    }
    if stranded > 0.0 {
        let hundredths = plain((stranded * 100.0).round() / 100.0);
        why.push_str(&format!(", which leaves {hundredths} of {} accelerators to nobody", plain(machine.count)));
    }
    Share { part, why, stranded }
}

/// Why it takes less than a whole accelerator, where it does.
fn parts(resource: &Resource) -> String {
    let shared = resource.number(Key::SharedBy).filter(|pods| *pods > 1.0);
    let shared = shared.map(|pods| format!("{} pods share each", plain(pods)));
    let asked = resource.number(Key::AcceleratorCount).unwrap_or(1.0);
    let slice = resource.text(Key::Slice).map(|profile| format!("{} slices of {profile}", plain(asked)));
    let all: Vec<String> = slice.into_iter().chain(shared).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join(", ")) }
}
