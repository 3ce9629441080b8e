//! What a pod pays: its share of the machine that it runs on, or would run on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::catalog::{Catalog, Machine, Money};
use crate::inventory::{Fact, Key, Resource, Role, Value};

use super::allocatable::{allocatable_cpus, allocatable_gib};
use super::bill::Pricing;
use super::complete::plain;
use super::purchase::Variant;
use super::unit::unit;
use super::{OWN_PROVIDER, Scenario, Settings, Step};

/// Clouds among which the price of an accelerator lies, where the text names no provider.
const CLOUDS: [&str; 3] = ["aws", "azure", "gcp"];

/// Accelerators that a pod may mean by `nvidia.com/gpu` alone: those that the clouds rent out today, cheapest first.
const COMMON: [&str; 6] = ["T4", "L4", "A10G", "A10", "A100-80GB", "H100-80GB"];

/// The machines that something may run on, the one that is expected first.
pub(super) type Found<'a> = Result<Arc<[Variant<'a>]>, String>;

/// Every machine that the pod may run on, with the pod's share of it; the one that is expected comes first.
pub(super) fn pod_variants<'a>(pricing: &Pricing<'_, 'a>) -> Found<'a> {
    let devices = devices(pricing.resource, pricing.catalog)?;
    let provider = pricing.resource.text(Key::Provider);
    if let (Some(provider), true) = (provider, pricing.resource.fact(Key::Machine).is_narrowed())
        && let Ok(machines) = pricing.machines(provider)
    {
        let request = Request::of(pricing.resource, devices);
        let share = |machine: &Machine<'a>| Some(request.share(machine));
        return Ok(pricing.variants(provider, machines, share).into());
    }
    on_any_machine(pricing, provider, devices)
}

/// Without a machine, the cheapest one with the accelerator sets the price; in each cloud, where none is named; of each
/// common accelerator, where that is not named either.
pub(super) fn on_any_machine<'a>(pricing: &Pricing<'_, 'a>, provider: Option<&str>, devices: f64) -> Found<'a> {
    let place = provider.map(|provider| {
        let (region, said) = pricing.region(provider);
        Place { provider: provider.to_owned(), region, said: said.map(|step| step.text) }
    });
    let (accelerators, why) = accelerators(pricing);
    let rents = pricing.resource.role == Role::Rented;
    let asked = Asked { accelerators, why, place, rents, request: Request::of(pricing.resource, devices) };
    pricing.searches.find(asked, |asked| Search { catalog: pricing.catalog, settings: pricing.settings, asked }.run())
}

/// Everything that the search for a machine depends on: whoever asks for the same gets the same.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Asked {
    accelerators: Accelerators,
    /// What makes the price an estimate.
    why: String,
    /// Any cloud where there is none.
    place: Option<Place>,
    rents: bool,
    request: Request,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Accelerators {
    Named(Vec<String>),
    /// What a resource of a vendor may mean.
    Common(String),
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Place {
    provider: String,
    region: String,
    /// Of the region, among the steps.
    said: Option<String>,
}

/// What was found for those that asked, as pods of one tree ask for much the same.
#[derive(Debug, Default)]
pub(super) struct Searches<'a> {
    known: Mutex<HashMap<Asked, Found<'a>>>,
}

/// As many searches as are remembered; a tree in which each pod asks for something else must not fill the memory.
const REMEMBERED: usize = 256;

impl<'a> Searches<'a> {
    fn find(&self, asked: Asked, search: impl FnOnce(&Asked) -> Result<Vec<Variant<'a>>, String>) -> Found<'a> {
        if let Some(found) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&asked) {
            return found.clone();
        }
        let found = search(&asked).map(Arc::from);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(asked, found.clone());
        found
    }
}

/// What the pod's accelerator is or may be, and why this makes its price an estimate.
fn accelerators(pricing: &Pricing<'_, '_>) -> (Accelerators, String) {
    let named = |values: &[Value]| {
        Accelerators::Named(values.iter().filter_map(Value::as_text).map(str::to_owned).collect::<Vec<_>>())
    };
    match pricing.resource.fact(Key::Accelerator) {
        Fact::Known(known) => {
            let names = named(std::slice::from_ref(&known.value));
            (names, "no machine is named: the cheapest with its accelerator".to_owned())
        }
        Fact::Unknown(unknown) if !unknown.candidates.is_empty() => {
            let names = named(&unknown.candidates);
            (names, format!("it may be any of {} accelerators", unknown.candidates.len()))
        }
        other => {
            if let Some(name) = pricing.settings.default_accelerator.as_deref() {
                let name = pricing.catalog.accelerator(name).map_or(name, |known| known.name);
                let why = format!("no accelerator is named: {name} is assumed");
                return (Accelerators::Named(vec![name.to_owned()]), why);
            }
            let why = other.why().unwrap_or("the text names none");
            let vendor = pricing.resource.text(Key::Vendor).unwrap_or("nvidia");
            let why = format!("the accelerator is not known ({why}): any common one of {vendor} is assumed");
            (Accelerators::Common(vendor.to_owned()), why)
        }
    }
}

/// Looks for the machines on which what is asked for costs least.
struct Search<'a, 's> {
    catalog: &'a Catalog,
    settings: &'a Settings,
    asked: &'s Asked,
}

impl<'a> Search<'a, '_> {
    fn run(&self) -> Result<Vec<Variant<'a>>, String> {
        let accelerators = self.accelerators()?;
        let provider = self.asked.place.as_ref().map(|place| &*place.provider);
        let providers: Vec<&str> = provider.map_or_else(|| CLOUDS.to_vec(), |provider| vec![provider]);
        let mut variants: Vec<Variant<'a>> = Vec::new();
        for accelerator in &accelerators {
            for provider in &providers {
                variants.extend(self.cheapest(provider, accelerator));
            }
        }
        if variants.is_empty() {
            let names = accelerators.join(", ");
            let exists = accelerators
                .iter()
                .any(|name| providers.iter().any(|provider| !self.catalog.machines_with(provider, name).is_empty()));
            let whose = provider.map_or(String::new(), |provider| format!(" of {provider}"));
            let devices = self.asked.request.devices.get();
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
            let why = self.asked.why.clone();
            first.unit.estimated = Some(match first.unit.estimated.take() {
                Some(also) => format!("{why}; {also}"),
                None => why,
            });
        }
        Ok(variants)
    }

    /// What a resource of a vendor may mean: the accelerators that the clouds rent out, or all that its own provider has.
    fn accelerators(&self) -> Result<Vec<String>, String> {
        let vendor = match &self.asked.accelerators {
            Accelerators::Named(names) => return Ok(names.clone()),
            Accelerators::Common(vendor) => vendor,
        };
        let all = self.catalog.accelerators().filter(|it| it.vendor == vendor).map(|it| it.name);
        let all: Vec<&str> = all.collect();
        let rents = |name: &&str| match &self.asked.place {
            Some(place) => !self.catalog.machines_with(&place.provider, name).is_empty(),
            None => true,
        };
        let usual: Vec<&str> = COMMON.into_iter().filter(|name| all.contains(name)).filter(rents).collect();
        let names = if usual.is_empty() { all } else { usual };
        if names.is_empty() {
            return Err(format!("the catalog knows no accelerators of {vendor}"));
        }
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// The machine of a provider on which the pod costs least.
    fn cheapest(&self, provider: &str, accelerator: &str) -> Option<Variant<'a>> {
        let (region, said) = match &self.asked.place {
            Some(place) => (place.region.clone(), place.said.clone()),
            None => {
                let region = self.catalog.base_region(provider).to_owned();
                let text = format!("the text names no provider: {provider}, {region}");
                (region, Some(text))
            }
        };
        let offers = self.hosts(provider, accelerator).into_iter().filter_map(|machine| {
            let share = self.asked.request.share(&machine);
            if provider == OWN_PROVIDER {
                return Some((false, Money::ZERO, machine, share));
            }
            let quote = self.catalog.quote(&machine, &region)?;
            let price = quote.on_demand.or(quote.spot).or(quote.reserved_1y)?;
            let is_doubtful = quote.basis.is_estimate() || quote.confidence == "low";
            Some((is_doubtful, price.times(share.part), machine, share))
        });
        // A price that the region lists comes before one that is estimated or doubtful.
        let (_, _, machine, share) = offers
            .min_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)).then_with(|| one.2.name.cmp(&other.2.name)))?;
        let mut unit = unit(self.catalog, self.settings, &machine, &region);
        said.into_iter().for_each(|text| unit.say(Step { text, result: None }));
        let unit = unit.times(share.part, &format!("{}; the cheapest machine with {accelerator} for it", share.why));
        Some(Variant { machine, region, unit, share: share.part, stranded: share.stranded })
    }

    /// The machines of a provider that have enough of an accelerator and can still be rented.
    fn hosts(&self, provider: &str, accelerator: &str) -> Vec<Machine<'a>> {
        let (catalog, request) = (self.catalog, &self.asked.request);
        let devices = request.devices.get();
        let mut machines = catalog.machines_with(provider, accelerator);
        if provider == OWN_PROVIDER {
            machines.extend(catalog.single(provider, accelerator, devices));
        }
        if provider == "gcp" {
            machines.extend(catalog.tpu(accelerator, devices));
            machines.extend(self.smallest_host(accelerator));
        }
        machines.retain(|machine| machine.count >= devices);
        // Whoever rents takes the machine of that size; a pod takes a part of any.
        let alike = |machine: &Machine<'_>| !self.asked.rents || machine.count == devices;
        if machines.iter().any(alike) {
            machines.retain(alike);
        }
        let current = |machine: &Machine<'_>| catalog.retired(machine).is_none();
        if machines.iter().any(current) {
            machines.retain(current);
        }
        let holds = |asked: Option<Exact>, has: Option<f64>| !matches!((asked, has), (Some(asked), Some(has)) if asked.get() > has);
        let large = |machine: &Machine<'_>| {
            holds(request.cpus, machine.cpus.map(allocatable_cpus))
                && holds(request.memory_gib, machine.memory_gib.map(allocatable_gib))
        };
        // Where no machine holds the pod, its share of the one that comes nearest still says what it would cost.
        if machines.iter().any(large) {
            machines.retain(large);
        }
        machines
    }

    /// The smallest N1 machine that holds the pod, with enough accelerators attached to it.
    fn smallest_host(&self, accelerator: &str) -> Option<Machine<'a>> {
        let request = &self.asked.request;
        // What can be attached to one machine.
        let count = [1.0, 2.0, 4.0, 8.0].into_iter().find(|count| *count >= request.devices.get())?;
        let asked = |amount: Option<Exact>| amount.map_or(0.0, Exact::get);
        [1, 2, 4, 8, 16, 32, 64, 96].into_iter().find_map(|cpus| {
            let machine = self.catalog.equipped(&format!("n1-standard-{cpus}"), accelerator, count).ok()?;
            let fits = allocatable_cpus(machine.cpus?) >= asked(request.cpus)
                && allocatable_gib(machine.memory_gib?) >= asked(request.memory_gib);
            fits.then_some(machine)
        })
    }
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

/// A number that can be looked up: the same where every bit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Exact(u64);

impl Exact {
    fn of(number: f64) -> Self {
        Exact(number.to_bits())
    }

    fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// What a pod asks of a machine.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Request {
    devices: Exact,
    cpus: Option<Exact>,
    memory_gib: Option<Exact>,
    /// Why it takes less than a whole accelerator, where it does.
    parts: String,
}

impl Request {
    fn of(resource: &Resource, devices: f64) -> Self {
        let number = |key: Key| resource.number(key).map(Exact::of);
        let devices = Exact::of(devices);
        Request { devices, cpus: number(Key::Cpus), memory_gib: number(Key::Memory), parts: parts(resource) }
    }

    /// The largest of the pod's shares of the machine's accelerators, CPUs and memory.
    fn share(&self, machine: &Machine<'_>) -> Share {
        let devices = self.devices.get();
        let of_devices = devices / machine.count;
        let mut largest = (of_devices, "accelerators", devices, machine.count);
        let others = [(self.cpus, "CPUs", machine.cpus), (self.memory_gib, "GiB of memory", machine.memory_gib)];
        for (asked, what, of) in others {
            if let (Some(asked), Some(has)) = (asked.map(Exact::get), of)
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
            why.push_str(&self.parts);
        }
        if stranded > 0.0 {
            let hundredths = plain((stranded * 100.0).round() / 100.0);
            why.push_str(&format!(", which leaves {hundredths} of {} accelerators to nobody", plain(machine.count)));
        }
        Share { part, why, stranded }
    }
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
