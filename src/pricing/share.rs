//! The cost of a pod: its share of the machine on which it runs, or would run.

use crate::catalog::{Accelerator, Catalog, CatalogMachine, GCP, Money};
use crate::inventory::{BillingRole, Fact, FactValue, Key, Purpose, Task};
use crate::resolve::{CapacityRequest, Exact, allocatable_cpus, allocatable_gib, plain, possible_devices};

use super::purchase::PurchaseVariant;
use super::searches::{Accelerators, FoundMachines, MachineQuestion, TrialLocation};
use super::unit::unit;
use super::variants::{Pricing, PricingRegion, Share};
use super::{CostScenario, OWN_PROVIDER, PricingSettings, SumStep};

/// The kind of accelerators that cannot train models.
const ONLY_INFERS: &str = "inference";

/// Returns every machine on which the pod can run, with the pod's share of it. The expected machine comes first.
pub(super) fn pod_variants<'a>(pricing: &Pricing<'_, 'a>) -> FoundMachines<'a> {
    let possible = possible_devices(pricing.resource, pricing.catalog)?;
    if let [devices] = *possible {
        return with_devices(pricing, devices);
    }
    let mut all = Vec::new();
    for devices in possible {
        all.extend(with_devices(pricing, devices)?.iter().cloned());
    }
    Ok(all.into())
}

/// Returns the possible machines for a pod with this many accelerators.
fn with_devices<'a>(pricing: &Pricing<'_, 'a>, devices: f64) -> FoundMachines<'a> {
    let provider = pricing.resource.text(Key::Provider);
    if let (Some(provider), true) = (provider, pricing.resource.fact(Key::Machine).is_narrowed())
        && let Ok(machines) = pricing.machines(provider)
    {
        let request = CapacityRequest::of(pricing.resource, devices);
        let (holding, small): (Vec<CatalogMachine<'a>>, _) =
            machines.into_iter().partition(|it| request.lacks(it).is_none());
        if let (true, Some(lack)) = (holding.is_empty(), small.iter().find_map(|machine| request.lacks(machine))) {
            return Err(lack);
        }
        let share = |machine: &CatalogMachine<'a>| Some(share(&request, machine));
        return Ok(pricing.variants(provider, holding, share).into());
    }
    on_any_machine(pricing, provider, devices)
}

/// If no machine is set, the cheapest one with the accelerator sets the price. If no cloud is set, each cloud has its
/// cheapest; if no accelerator is set, each common accelerator has one.
pub(super) fn on_any_machine<'a>(pricing: &Pricing<'_, 'a>, provider: Option<&str>, devices: f64) -> FoundMachines<'a> {
    let billed_as = pricing.resource.text(Key::BilledAs);
    if let Some(service) = billed_as.filter(|it| it.starts_with("cloud-run")) {
        return by_parts(pricing, service, devices);
    }
    let place = |provider: &str| {
        let PricingRegion { region, step, .. } = pricing.region(provider);
        TrialLocation { provider: provider.to_owned(), region, said: step.map(|step| step.text) }
    };
    let places: Vec<TrialLocation> = match (provider, pricing.resource.fact(Key::Provider)) {
        (Some(provider), _) => vec![place(provider)],
        (None, Fact::Unknown(unknown)) => unknown.candidates.iter().filter_map(FactValue::as_text).map(place).collect(),
        _ => Vec::new(),
    };
    let (accelerators, why) = accelerators(pricing);
    let rents = pricing.resource.role == BillingRole::Rented;
    let request = CapacityRequest::of(pricing.resource, devices);
    let asked =
        MachineQuestion { accelerators, why, places, rents, cloud: billed_as.map(|it| format!("{it}/")), request };
    pricing.searches.find(asked, |asked| Search { catalog: pricing.catalog, settings: pricing.settings, asked }.run())
}

/// The minimum vCPUs and GiB of a Cloud Run instance with an accelerator (documentation, 2026-11).
const LEAST_OF_RUN: (f64, f64) = (4.0, 16.0);

/// Prices a service that bills its parts separately and has no machine type.
fn by_parts<'a>(pricing: &Pricing<'_, 'a>, service: &str, devices: f64) -> FoundMachines<'a> {
    let resource = pricing.resource;
    let accelerator = resource.text(Key::Accelerator).ok_or("the accelerator is unknown")?;
    let amount = |key: Key, least: f64| resource.number(key).unwrap_or(least).max(least);
    let (cpus, memory_gib) = (amount(Key::Cpus, LEAST_OF_RUN.0), amount(Key::Memory, LEAST_OF_RUN.1));
    let is_zonal = service == "cloud-run-zonal";
    let machine = pricing.catalog.run_instance(accelerator, is_zonal, cpus, memory_gib);
    let machine = machine.ok_or_else(|| format!("Cloud Run with {accelerator} has no price in the catalog"))?;
    let place = pricing.region(GCP);
    let mut unit = unit(pricing.catalog, pricing.settings, &machine, &place.region);
    unit.never_spot();
    pricing.add_region_step(&mut unit, &machine, &place);
    if resource.number(Key::Cpus).is_none() || resource.number(Key::Memory).is_none() {
        unit.estimated.get_or_insert(format!(
            "at least {} vCPUs and {} GiB of memory, too",
            plain(cpus),
            plain(memory_gib)
        ));
    }
    let unit = if devices == 1.0 { unit } else { unit.times(devices, &format!("{} of them", plain(devices))) };
    Ok([PurchaseVariant { machine, region: place.region, unit, share: 1.0, stranded: 0.0 }].into())
}

/// Returns the possible accelerators of the pod, and why its price is an estimate.
fn accelerators(pricing: &Pricing<'_, '_>) -> (Accelerators, String) {
    let named = |values: &[FactValue]| {
        Accelerators::Named(values.iter().filter_map(FactValue::as_text).map(str::to_owned).collect::<Vec<_>>())
    };
    match pricing.resource.fact(Key::Accelerator) {
        Fact::Known(known) => {
            let names = named(std::slice::from_ref(&known.value));
            (names, "no machine type is set: the cheapest with its accelerator is assumed".to_owned())
        }
        Fact::Unknown(unknown) if !unknown.candidates.is_empty() => {
            let names = named(&unknown.candidates);
            (names, format!("it can be any of {} accelerators", unknown.candidates.len()))
        }
        other => {
            if let Some(name) = pricing.settings.defaults.accelerator.as_deref() {
                let name = pricing.catalog.accelerator(name).map_or(name, |known| known.name);
                let why = format!("no accelerator is set: {name} is assumed");
                return (Accelerators::Named(vec![name.to_owned()]), why);
            }
            let why = other.why().unwrap_or("it is not set");
            let vendor = pricing.resource.text(Key::Vendor).unwrap_or("nvidia");
            let why = format!(
                "the accelerator is unknown ({why}): from the cheapest to the most expensive common one of {vendor}; set `defaults.accelerator` in gpulint.toml"
            );
            let text = |key: Key| pricing.resource.text(key);
            let trains =
                pricing.resource.purpose() == Some(Purpose::Training) || pricing.resource.task() == Some(Task::Train);
            let processor = text(Key::Processor).map(str::to_owned);
            (Accelerators::Common { vendor: vendor.to_owned(), trains, processor }, why)
        }
    }
}

/// Searches for the cheapest machines for a request.
struct Search<'a, 's> {
    catalog: &'a Catalog,
    settings: &'a PricingSettings,
    asked: &'s MachineQuestion,
}

impl<'a> Search<'a, '_> {
    fn run(&self) -> Result<Vec<PurchaseVariant<'a>>, String> {
        let accelerators = self.accelerators()?;
        let mut providers: Vec<&str> = self.asked.places.iter().map(|place| &*place.provider).collect();
        let whose = if providers.is_empty() { String::new() } else { format!(" of {}", providers.join(" or ")) };
        if providers.is_empty() {
            providers = self.catalog.assumed_clouds();
        }
        let mut variants: Vec<PurchaseVariant<'a>> = Vec::new();
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
            let devices = self.asked.request.devices.get();
            if let Some(lack) = self.asked.request.beyond_all(self.catalog, &providers, &accelerators) {
                return Err(lack);
            }
            return Err(match exists {
                true if devices > 1.0 => format!("no machine type{whose} has {} {names}", plain(devices)),
                _ => format!("no machine type{whose} with {names} has a price"),
            });
        }
        // If several machines are possible, the middle one is expected. If no accelerator is named, no price is more
        // likely than another, so totals count only the lowest one.
        variants.sort_by_key(|variant| variant.unit.price(CostScenario::OnDemand));
        let is_unnamed = matches!(self.asked.accelerators, Accelerators::Common { .. });
        if !is_unnamed {
            let middle = (variants.len() - 1) / 2;
            variants[..=middle].rotate_right(1);
        }
        if let Some(first) = variants.first_mut() {
            first.unit.is_unnamed = is_unnamed;
            let why = self.asked.why.clone();
            first.unit.estimated = Some(match first.unit.estimated.take() {
                Some(also) => format!("{why}; {also}"),
                None => why,
            });
        }
        Ok(variants)
    }

    /// Returns the accelerators of a vendor that a resource may mean: common ones in the possible clouds, or else all.
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
        let mut all: Vec<Accelerator<'_>> = of_vendor().filter(suits).collect();
        if all.is_empty() {
            all = of_vendor().collect();
        }
        let rents = |it: &Accelerator<'_>| {
            let mut places = self.asked.places.iter();
            self.asked.places.is_empty()
                || places.any(|place| !self.catalog.machines_with(&place.provider, it.name).is_empty())
        };
        let mut usual: Vec<(f64, &str)> =
            all.iter().filter(|it| rents(it)).filter_map(|it| Some((it.assumed?, it.name))).collect();
        usual.sort_by(|one, two| one.0.total_cmp(&two.0));
        let names: Vec<&str> = match usual.is_empty() {
            true => all.iter().map(|it| it.name).collect(),
            false => usual.into_iter().map(|(_, name)| name).collect(),
        };
        if names.is_empty() {
            return Err(format!("the catalog lists no accelerators of {vendor}"));
        }
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// Returns the machine of a provider on which the pod is cheapest.
    fn cheapest(&self, provider: &str, accelerator: &str) -> Option<PurchaseVariant<'a>> {
        let (region, said) = match self.asked.places.iter().find(|place| place.provider == provider) {
            Some(place) => (place.region.clone(), place.said.clone()),
            None => {
                let region = self.catalog.base_region(provider).to_owned();
                let text = format!("no provider is set: {provider}, {region}");
                (region, Some(text))
            }
        };
        let offers = self.hosts(provider, accelerator).into_iter().filter_map(|machine| {
            let share = share(&self.asked.request, &machine);
            if provider == OWN_PROVIDER {
                return Some((false, Money::ZERO, machine, share));
            }
            let quote = self.catalog.quote(&machine, &region)?;
            let price = quote.on_demand.or(quote.spot).or(quote.reserved_1y)?;
            let is_doubtful = quote.basis.is_estimate() || quote.confidence == "low";
            Some((is_doubtful, price.times(share.part), machine, share))
        });
        // A price that the region lists comes before an estimated or doubtful price.
        let (_, _, machine, share) = offers
            .min_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)).then_with(|| one.2.name.cmp(&other.2.name)))?;
        let mut unit = unit(self.catalog, self.settings, &machine, &region);
        said.into_iter().for_each(|text| unit.add_step(SumStep::from_text(text)));
        let unit = unit.times(share.part, &format!("{}; on the cheapest machine with {accelerator}", share.why));
        Some(PurchaseVariant { machine, region, unit, share: share.part, stranded: share.stranded })
    }

    /// Returns the available machines of a provider with enough accelerators.
    fn hosts(&self, provider: &str, accelerator: &str) -> Vec<CatalogMachine<'a>> {
        let (catalog, request) = (self.catalog, &self.asked.request);
        let devices = request.devices.get();
        let mut machines = catalog.machines_with(provider, accelerator);
        if provider == OWN_PROVIDER {
            machines.extend(catalog.single(provider, accelerator, devices));
        }
        if provider == GCP {
            machines.extend(catalog.tpu(accelerator, devices));
            machines.extend(self.smallest_host(accelerator));
        }
        let is_of_cloud = |name: &str| self.asked.cloud.as_ref().is_none_or(|cloud| name.starts_with(cloud.as_str()));
        machines.retain(|machine| machine.count >= devices && is_of_cloud(&machine.name));
        // A resource that rents a machine needs one of this size. A pod can use a part of any machine.
        let alike = |machine: &CatalogMachine<'_>| !self.asked.rents || machine.count == devices;
        if machines.iter().any(alike) {
            machines.retain(alike);
        }
        let current = |machine: &CatalogMachine<'_>| catalog.retired(machine).is_none();
        if machines.iter().any(current) {
            machines.retain(current);
        }
        let holds = |asked: Option<Exact>, has: Option<f64>| !matches!((asked, has), (Some(asked), Some(has)) if asked.get() > has);
        let large = |machine: &CatalogMachine<'_>| {
            holds(request.cpus, machine.cpus.map(allocatable_cpus))
                && holds(request.memory_gib, machine.memory_gib.map(allocatable_gib))
        };
        // The part that Kubernetes keeps from pods is not always known, but the total capacity is a limit.
        if !self.asked.rents && machines.iter().any(large) {
            machines.retain(large);
        }
        machines.retain(|machine| request.lacks(machine).is_none());
        machines
    }

    /// Returns the smallest N1 machine for the pod, with enough attached accelerators.
    fn smallest_host(&self, accelerator: &str) -> Option<CatalogMachine<'a>> {
        let request = &self.asked.request;
        // One N1 machine supports only these numbers of attached accelerators.
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

/// Returns the pod's largest share of the machine's accelerators, CPUs and memory.
fn share(request: &CapacityRequest, machine: &CatalogMachine<'_>) -> Share {
    let devices = request.devices.get();
    let of_devices = devices / machine.count;
    let mut largest = (of_devices, "accelerators", devices, machine.count);
    let others = [(request.cpus, "CPUs", machine.cpus), (request.memory_gib, "GiB of memory", machine.memory_gib)];
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
        why.push_str(&request.parts);
    }
    if stranded > 0.0 {
        let hundredths = plain((stranded * 100.0).round() / 100.0);
        why.push_str(&format!(", so {hundredths} of {} accelerators stay unused", plain(machine.count)));
    }
    Share { part, why, stranded }
}
