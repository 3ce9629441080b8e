//! What a pod pays: its share of the machine that it runs on, or would run on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::catalog::{Accelerator, Catalog, Machine, Money};
use crate::inventory::{Fact, Key, Origin, Resource, Role, Value};

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

/// The kind of accelerators on which nothing can be trained.
const ONLY_INFERS: &str = "inference";

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
        let (holding, small): (Vec<Machine<'a>>, _) = machines.into_iter().partition(|it| request.lacks(it).is_none());
        if let (true, Some(lack)) = (holding.is_empty(), small.iter().find_map(|machine| request.lacks(machine))) {
            return Err(lack);
        }
        let share = |machine: &Machine<'a>| Some(request.share(machine));
        return Ok(pricing.variants(provider, holding, share).into());
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
    /// What a resource of a vendor may mean, for work that only some can do, on processors that only some have.
    Common {
        vendor: String,
        trains: bool,
        processor: Option<String>,
    },
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
            let why = format!(
                "the accelerator is not known ({why}): any common one of {vendor} is assumed; `defaults.accelerator` in gpulint.toml says which"
            );
            let text = |key: Key| pricing.resource.text(key);
            let trains = text(Key::Purpose) == Some("training") || text(Key::Task) == Some("train");
            let processor = text(Key::Processor).map(str::to_owned);
            (Accelerators::Common { vendor: vendor.to_owned(), trains, processor }, why)
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
            if let Some(lack) = self.asked.request.beyond_all(self.catalog, &providers, &accelerators) {
                return Err(lack);
            }
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
        let (vendor, trains, processor) = match &self.asked.accelerators {
            Accelerators::Named(names) => return Ok(names.clone()),
            Accelerators::Common { vendor, trains, processor } => (vendor, *trains, processor.as_deref()),
        };
        let suits = |it: &Accelerator<'_>| {
            let runs = if it.processor.is_empty() { "amd64" } else { it.processor };
            (!trains || it.kind != ONLY_INFERS) && processor.is_none_or(|processor| processor == runs)
        };
        let of_vendor = || self.catalog.accelerators().filter(|it| it.vendor == vendor);
        let mut all: Vec<&str> = of_vendor().filter(suits).map(|it| it.name).collect();
        if all.is_empty() {
            all = of_vendor().map(|it| it.name).collect();
        }
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
        said.into_iter().for_each(|text| unit.say(Step::said(text)));
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
        // Which part of a machine its owner keeps back is not known everywhere; that nothing holds more than it has, is.
        if machines.iter().any(large) {
            machines.retain(large);
        }
        machines.retain(|machine| request.lacks(machine).is_none());
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

/// Why no machine can ever hold a pod: not the one that it is on, nor any that its cloud has with its accelerator. What
/// runs on hardware of one's own, or where is not known, may well be held.
pub(super) fn never_starts(resource: &Resource, catalog: &Catalog) -> Option<String> {
    let is_said = |key: Key| matches!(resource.fact(key).origin(), Some(Origin::Written | Origin::Resolved));
    let provider = resource.text(Key::Provider).filter(|provider| CLOUDS.contains(provider))?;
    let request = Request::of(resource, devices(resource, catalog).ok()?);
    if let Some(name) = resource.text(Key::Machine) {
        return request.lacks(&catalog.machine(provider, name)?);
    }
    let accelerator =
        resource.text(Key::Accelerator).filter(|_| is_said(Key::Provider) && is_said(Key::Accelerator))?;
    let is_open = resource.fact(Key::Machine).is_unknown();
    (!is_open).then(|| request.beyond_all(catalog, &[provider], &[accelerator.to_owned()])).flatten()
}

/// A machine is large enough for a pod, as far as both are known.
pub(super) fn holds(resource: &Resource, machine: &Machine<'_>) -> bool {
    let count = resource.number(Key::AcceleratorCount).unwrap_or(0.0);
    count <= machine.count && Request::of(resource, count).lacks(machine).is_none()
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
    /// All its devices are whole ones of one machine.
    is_on_one_machine: bool,
}

impl Request {
    fn of(resource: &Resource, devices: f64) -> Self {
        let number = |key: Key| resource.number(key).map(Exact::of);
        let devices = Exact::of(devices);
        let parts = parts(resource);
        // Devices of these are seen as one by pods on several machines, or as several where there is one.
        let several = matches!(resource.text(Key::Vendor), Some("google" | "aws"));
        let is_on_one_machine = resource.role == Role::Requested && !several && parts.is_empty();
        Request { devices, cpus: number(Key::Cpus), memory_gib: number(Key::Memory), parts, is_on_one_machine }
    }

    /// What it asks for beyond what a machine has, and that it therefore never starts there.
    fn lacks(&self, machine: &Machine<'_>) -> Option<String> {
        let asked = [
            (self.whole_devices(), "accelerators", Some(machine.count)),
            (self.cpus, "CPUs", machine.cpus),
            (self.memory_gib, "GiB of memory", machine.memory_gib),
        ];
        asked.into_iter().find_map(|(asked, what, has)| {
            let (asked, has) = (asked?.get(), has.filter(|has| *has > 0.0)?);
            let (more, name) = (plain(asked), &machine.name);
            (asked > has)
                .then(|| format!("the pod asks for {more} {what}, and {name} has {}: it never starts", plain(has)))
        })
    }

    /// The same of all machines of some providers that have an accelerator, where there are any.
    fn beyond_all(&self, catalog: &Catalog, providers: &[&str], accelerators: &[String]) -> Option<String> {
        let pairs = providers.iter().flat_map(|provider| accelerators.iter().map(move |name| (*provider, name)));
        let machines: Vec<Machine<'_>> =
            pairs.flat_map(|(provider, name)| catalog.machines_with(provider, name)).collect();
        let most = |of: &dyn Fn(&Machine<'_>) -> Option<f64>| {
            let sizes: Option<Vec<f64>> = machines.iter().map(of).collect();
            sizes?.into_iter().reduce(f64::max)
        };
        let asked = [
            (self.whole_devices(), "accelerators", most(&|machine| Some(machine.count))),
            (self.cpus, "CPUs", most(&|machine| machine.cpus)),
            (self.memory_gib, "GiB of memory", most(&|machine| machine.memory_gib)),
        ];
        let (asked, what, has) = asked.into_iter().find_map(|(asked, what, has)| {
            let (asked, has) = (asked?.get(), has?);
            (asked > has).then(|| (plain(asked), what, plain(has)))
        })?;
        let (whose, names) = (providers.join(", "), accelerators.join(", "));
        Some(format!(
            "the pod asks for {asked} {what}, and no machine of {whose} with {names} has more than {has}: it never starts"
        ))
    }

    /// Devices of which none is a part of one, nor one of a group that spreads over machines.
    fn whole_devices(&self) -> Option<Exact> {
        self.is_on_one_machine.then_some(self.devices)
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
