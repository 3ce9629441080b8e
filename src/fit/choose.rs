//! Finds the cheapest machine on which a workload fits: suitable accelerators, their number, and the price.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::demand::FitDemand;
use super::estimate::{budget, estimate};
use super::{FitChoice, MARGIN};
use crate::catalog::{AcceleratorHardware, Catalog, CatalogMachine, Money, Precision, Quote};
use crate::inventory::{Purchase, Task};
use crate::pricing::PricingSettings;
use crate::resolve::{allocatable_cpus, allocatable_gib};

/// The GPU machines with their prices in each region, collected once.
pub struct Market<'c> {
    catalog: &'c Catalog,
    settings: &'c PricingSettings,
    machines: Mutex<BTreeMap<String, Arc<Vec<Candidate<'c>>>>>,
    shelves: Mutex<HashMap<Shop, Shelves<'c>>>,
}

type Shelves<'c> = Arc<Vec<Shelf<'c>>>;

#[derive(Clone)]
struct Candidate<'c> {
    machine: CatalogMachine<'c>,
    device: AcceleratorHardware<'c>,
    /// Whether the accelerators have direct links in addition to the bus.
    linked: bool,
    vendor: &'c str,
    processor: &'c str,
}

/// The values on which the price of a machine depends.
#[derive(PartialEq, Eq, Hash)]
struct Shop {
    provider: String,
    region: String,
    purchase: Option<Purchase>,
    service: String,
}

/// The machines with one kind of device.
struct Shelf<'c> {
    device: AcceleratorHardware<'c>,
    offers: Vec<Offer<'c>>,
}

/// A machine that has a price.
struct Offer<'c> {
    candidate: Candidate<'c>,
    /// The machine's name in its service.
    name: Cow<'c, str>,
    /// The price of the whole machine per hour.
    whole: Money,
}

/// Architectures on which current releases of CUDA, and engines built with them, do not run. The release notes of CUDA 12
/// and CUDA 13 name them.
const UNSUPPORTED: [&str; 3] = ["Kepler", "Maxwell", "Pascal"];

/// The most cached regions, so that a repository with many regions does not exhaust the memory.
const SHOPS: usize = 64;

/// The most devices that can share each layer over the bus. With more, waiting costs more than it saves.
const BUS: u32 = 4;

/// The regions to search, and the requirements of the machine.
#[derive(Debug, Clone, Default)]
pub struct MarketPlace<'p> {
    pub provider: &'p str,
    pub region: &'p str,
    pub purchase: Option<Purchase>,
    /// Whether only a part of a machine is billed, as for a pod.
    pub shared: bool,
    /// Whether the whole machine is billed nevertheless, because no other pods are known to use the rest.
    pub whole: bool,
    pub cpus: f64,
    pub memory_gib: f64,
    /// The prefix of a managed service, such as `ml.`, whose machines are required.
    pub service: &'p str,
    /// The required vendor of accelerators, because images are built for one vendor. Empty means any.
    pub vendor: &'p str,
    /// The required processor as the catalog names it, because images are built for one. `None` means any.
    pub processor: Option<&'p str>,
}

impl<'c> Market<'c> {
    pub fn new(catalog: &'c Catalog, settings: &'c PricingSettings) -> Self {
        Market { catalog, settings, machines: Mutex::default(), shelves: Mutex::default() }
    }

    fn machines(&self, provider: &str) -> Arc<Vec<Candidate<'c>>> {
        let mut known = self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(provider) {
            return found.clone();
        }
        let of_provider = self.catalog.machines_of(provider).filter(|machine| self.catalog.retired(machine).is_none());
        let candidates = of_provider.filter_map(|machine| {
            let known = self.catalog.accelerator(&machine.accelerator)?;
            if UNSUPPORTED.contains(&known.architecture) {
                return None;
            }
            let linked = known.interconnect_gb_per_second.is_some_and(|link| link > 0.0);
            Some(Candidate {
                device: self.catalog.hardware(&machine.accelerator)?,
                linked,
                vendor: known.vendor,
                processor: known.processor,
                machine,
            })
        });
        let found = Arc::new(candidates.collect::<Vec<_>>());
        known.insert(provider.to_owned(), found.clone());
        found
    }

    /// Returns the machines with a price in a region, for a way of buying.
    fn shelves(&self, place: &MarketPlace<'_>) -> Shelves<'c> {
        let shop = Shop {
            provider: place.provider.to_owned(),
            region: place.region.to_owned(),
            purchase: place.purchase,
            service: place.service.to_owned(),
        };
        let mut known = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&shop) {
            return found.clone();
        }
        if known.len() >= SHOPS {
            known.clear();
        }
        let mut shelves: BTreeMap<&str, Shelf<'c>> = BTreeMap::new();
        for candidate in self.machines(place.provider).iter() {
            let Some((name, whole)) = self.price(&candidate.machine, place) else { continue };
            let device = candidate.device;
            let shelf = shelves.entry(device.name).or_insert_with(|| Shelf { device, offers: Vec::new() });
            shelf.offers.push(Offer { candidate: candidate.clone(), name, whole });
        }
        let found: Shelves<'c> = Arc::new(shelves.into_values().collect());
        known.insert(shop, found.clone());
        found
    }

    /// Returns the cheapest configuration on which a demand fits with a margin.
    pub fn cheapest(&self, demand: &FitDemand<'_>, place: &MarketPlace<'_>) -> Option<FitChoice> {
        let shelves = self.shelves(place);
        let fitting = fitting(&shelves, demand, place).into_iter();
        fitting.min_by(Fitting::by_price).map(|it| it.choice(place))
    }

    /// Returns the cheapest machine with this many accelerators of an accepted kind. `accepts` gets the device, and
    /// whether the accelerators have direct links.
    pub(super) fn cheapest_with(
        &self,
        devices: f64,
        place: &MarketPlace<'_>,
        accepts: &dyn Fn(&AcceleratorHardware<'_>, bool) -> bool,
    ) -> Option<FitChoice> {
        let shelves = self.shelves(place);
        let offers = shelves.iter().flat_map(|shelf| &shelf.offers);
        let suitable = offers.filter(|offer| {
            let it = &offer.candidate;
            it.machine.count >= devices
                && (place.vendor.is_empty() || it.vendor == place.vendor)
                && place.processor.is_none_or(|processor| it.processor == processor)
                && accepts(&it.device, it.linked)
        });
        let priced = suitable.filter_map(|offer| {
            let share = if place.shared { share(&offer.candidate.machine, devices, place)? } else { 1.0 };
            Some(Fitting { offer, devices, per_hour: offer.whole.times(share), need_gib: 0.0, budget_gib: 0.0 })
        });
        priced
            .min_by(|one, two| one.offer.whole.cmp(&two.offer.whole).then_with(|| Fitting::by_price(one, two)))
            .map(|it| it.choice(place))
    }

    /// Returns the cheapest machine for each accelerator on which a demand fits with a margin, the cheapest first.
    /// Pods are sorted by the price of the whole machine, because a part of it is cheap only if other pods use the
    /// rest.
    pub fn configurations(&self, demand: &FitDemand<'_>, place: &MarketPlace<'_>) -> Vec<FitChoice> {
        let shelves = self.shelves(place);
        let mut all = fitting(&shelves, demand, place);
        all.sort_by(Fitting::by_price);
        all.into_iter().map(|it| it.choice(place)).collect()
    }

    /// Returns every machine with a price on which a demand fits with a margin, for each number of accelerators of a
    /// copy.
    pub fn all_configurations(&self, demand: &FitDemand<'_>, place: &MarketPlace<'_>) -> Vec<FitChoice> {
        let shelves = self.shelves(place);
        let mut found = Vec::new();
        for (shelf, tensor_parallel) in held(&shelves, demand) {
            let Some((need_gib, budget_gib)) = fits(demand, &shelf.device, tensor_parallel) else { continue };
            let devices = f64::from(tensor_parallel) * demand.data_parallel;
            found.extend(
                shelf
                    .offers
                    .iter()
                    .filter(|offer| offer.suits(tensor_parallel, devices, place))
                    .map(|offer| Fitting { offer, devices, per_hour: offer.whole, need_gib, budget_gib }.choice(place)),
            );
        }
        found
    }

    /// Returns the name of the machine in this place, and its price per hour.
    fn price(&self, machine: &CatalogMachine<'c>, place: &MarketPlace<'_>) -> Option<(Cow<'c, str>, Money)> {
        let (name, quote) = if place.service.is_empty() {
            (machine.name.clone(), self.catalog.quote(machine, place.region)?)
        } else {
            let name = format!("{}{}", place.service, machine.name);
            let managed = self.catalog.machine(place.provider, &name)?;
            (managed.name.clone(), self.catalog.quote(&managed, place.region)?)
        };
        let discount = self.settings.discounts.get(place.provider).copied().unwrap_or(0.0).clamp(0.0, 1.0);
        Some((name, as_bought(&quote, place.purchase)?.times(1.0 - discount)))
    }
}

/// A configuration on which a demand fits.
#[derive(Clone, Copy)]
struct Fitting<'o, 'c> {
    offer: &'o Offer<'c>,
    devices: f64,
    per_hour: Money,
    need_gib: f64,
    budget_gib: f64,
}

impl Fitting<'_, '_> {
    fn by_price(one: &Self, two: &Self) -> Ordering {
        one.per_hour
            .cmp(&two.per_hour)
            .then(one.devices.total_cmp(&two.devices))
            .then_with(|| one.offer.name.cmp(&two.offer.name))
    }

    fn choice(&self, place: &MarketPlace<'_>) -> FitChoice {
        let machine = &self.offer.candidate.machine;
        FitChoice {
            provider: place.provider.to_owned(),
            machine: self.offer.name.to_string(),
            accelerator: machine.accelerator.to_string(),
            count: if place.shared { self.devices } else { machine.count },
            devices: self.devices,
            per_hour: self.per_hour,
            machine_per_hour: self.offer.whole,
            need_gib: self.need_gib,
            budget_gib: self.budget_gib,
            speed: None,
            largest_context: None,
        }
    }
}

impl Offer<'_> {
    /// Whether the machine has this many devices, and what a place requires.
    fn suits(&self, tensor_parallel: u32, devices: f64, place: &MarketPlace<'_>) -> bool {
        let it = &self.candidate;
        it.machine.count >= devices
            && (tensor_parallel <= BUS || it.linked)
            && (place.vendor.is_empty() || it.vendor == place.vendor)
            && place.processor.is_none_or(|processor| it.processor == processor)
    }
}

/// Returns the shelves that support the precision, with each number of devices that can share a layer.
fn held<'o, 'c>(shelves: &'o [Shelf<'c>], demand: &FitDemand<'_>) -> impl Iterator<Item = (&'o Shelf<'c>, u32)> {
    let precision = demand.precision;
    let supporting = shelves.iter().filter(move |shelf| supports(&shelf.device, precision));
    supporting.flat_map(|shelf| [1u32, 2, 4, 8].map(|tensor_parallel| (shelf, tensor_parallel)))
}

/// Returns the cheapest machine on which a demand fits, for each accelerator and each number of accelerators.
fn fitting<'o, 'c>(shelves: &'o [Shelf<'c>], demand: &FitDemand<'_>, place: &MarketPlace<'_>) -> Vec<Fitting<'o, 'c>> {
    let mut found = Vec::new();
    for (shelf, tensor_parallel) in held(shelves, demand) {
        let devices = f64::from(tensor_parallel) * demand.data_parallel;
        let suitable = shelf.offers.iter().filter(|offer| offer.suits(tensor_parallel, devices, place));
        let shared = suitable.filter_map(|offer| {
            let share = if place.shared { share(&offer.candidate.machine, devices, place)? } else { 1.0 };
            Some((offer, if place.whole { 1.0 } else { share }))
        });
        let cheapest = shared.min_by(|(one, _), (two, _)| (one.whole, &one.name).cmp(&(two.whole, &two.name)));
        // Whether a model fits depends on the kind and the number of accelerators, not on the machine.
        if let Some((offer, share)) = cheapest
            && let Some((need_gib, budget_gib)) = fits(demand, &shelf.device, tensor_parallel)
        {
            found.push(Fitting { offer, devices, per_hour: offer.whole.times(share), need_gib, budget_gib });
        }
    }
    found
}

/// Returns the largest of the pod's shares of a machine, or `None` if the pod does not fit.
fn share(machine: &CatalogMachine<'_>, devices: f64, place: &MarketPlace<'_>) -> Option<f64> {
    let part = |asked: f64, has: Option<f64>| has.filter(|has| *has > 0.0).map_or(0.0, |has| asked / has);
    let parts = [
        devices / machine.count,
        part(place.cpus, machine.cpus.map(allocatable_cpus)),
        part(place.memory_gib, machine.memory_gib.map(allocatable_gib)),
    ];
    let largest = parts.into_iter().fold(0.0, f64::max);
    (largest <= 1.0).then_some(largest)
}

fn as_bought(quote: &Quote<'_>, purchase: Option<Purchase>) -> Option<Money> {
    match purchase {
        Some(Purchase::Spot) => quote.spot,
        _ => quote.on_demand,
    }
}

/// Whether a device natively supports the precision of the weights. Engines emulate some formats on older devices, but
/// recommendations do not rely on that.
pub(super) fn supports(device: &AcceleratorHardware<'_>, precision: Precision) -> bool {
    match precision {
        Precision::Bf16 => device.bf16,
        Precision::Fp8 | Precision::Mxfp4 | Precision::Fp4Mix => device.fp8,
        Precision::Nvfp4 => device.fp4,
        // Kernels for these formats need Turing or newer.
        Precision::Awq | Precision::Int8 | Precision::Int4 => device.int8,
        _ => true,
    }
}

/// Returns required and available memory on this many devices, if the workload fits with the margin.
pub(super) fn fits(
    demand: &FitDemand<'_>,
    device: &AcceleratorHardware<'_>,
    tensor_parallel: u32,
) -> Option<(f64, f64)> {
    let devices = f64::from(tensor_parallel);
    let workload = match demand.task {
        Task::Serve if divides(demand, devices) => demand.on(devices, devices, 1.0),
        // gpulint does not split these models over several devices.
        Task::Embed | Task::Diffusion | Task::Speech if tensor_parallel == 1 => demand.on(1.0, 1.0, 1.0),
        Task::Train => demand.on(devices, 1.0, 1.0),
        _ => return None,
    };
    let (need, budget) = (estimate(&workload).need(), budget(&workload, device.usable_gib));
    // An unknown cache must fit, too.
    let holds_cache = || !demand.unsaid.cache || workload.heavier().all(|it| estimate(&it).need() <= budget);
    (need <= MARGIN * budget && holds_cache()).then_some((need, budget))
}

/// Returns the largest context in tokens that fits on this many devices with the margin, up to the model's window. It is
/// unknown if the window or the cache of a token is.
pub(super) fn largest_context(
    demand: &FitDemand<'_>,
    device: &AcceleratorHardware<'_>,
    tensor_parallel: u32,
) -> Option<f64> {
    /// The result is a multiple of this number.
    const STEP: f64 = 256.0;
    let window = demand.model.max_context;
    if demand.task != Task::Serve || demand.unsaid.cache || window <= 0.0 {
        return None;
    }
    let mut tried = demand.clone();
    let mut holds = |context: f64| {
        tried.context = context;
        fits(&tried, device, tensor_parallel).is_some()
    };
    if holds(window) {
        return Some(window);
    }
    let (mut least, mut most) = (0.0, (window / STEP).floor());
    while most - least > 1.0 {
        let middle = ((least + most) / 2.0).floor();
        if holds(middle * STEP) { least = middle } else { most = middle }
    }
    (least > 0.0).then_some(least * STEP)
}

/// Whether the attention heads can be distributed evenly over the devices. Cache heads can be divided or repeated.
fn divides(demand: &FitDemand<'_>, devices: f64) -> bool {
    let model = &demand.model;
    let multiple = |of: f64, by: f64| by > 0.0 && of % by == 0.0;
    if model.heads <= 0.0 {
        return devices == 1.0;
    }
    multiple(model.heads, devices)
        && (model.latent
            || model.kv_heads <= 0.0
            || multiple(model.kv_heads, devices)
            || multiple(devices, model.kv_heads))
}
