//! The cheapest machine on which a workload fits: which accelerators may hold it at all, on how many, and what that costs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::demand::Demand;
use super::estimate::{budget, estimate};
use super::hardware::{Device, device};
use super::workload::Task;
use super::{Choice, MARGIN};
use crate::catalog::{Catalog, Machine, Money, Precision, Quote};
use crate::inventory::Purchase;
use crate::pricing::{Settings, allocatable_cpus, allocatable_gib};

/// Machines with graphics processors of each provider, found once.
pub struct Market<'c> {
    catalog: &'c Catalog,
    settings: &'c Settings,
    machines: Mutex<BTreeMap<String, Arc<Vec<Candidate<'c>>>>>,
}

struct Candidate<'c> {
    machine: Machine<'c>,
    device: Device,
    /// Its accelerators have links of their own, beside the bus.
    linked: bool,
    vendor: &'c str,
    processor: &'c str,
}

/// Devices that may share each layer over nothing but the bus: beyond these, waiting costs more than is saved.
const BUS: u32 = 4;

/// Where a configuration is looked for, and what must come with the accelerators.
#[derive(Debug, Clone, Default)]
pub struct Place<'p> {
    pub provider: &'p str,
    pub region: &'p str,
    pub purchase: Option<Purchase>,
    /// A pod pays for its part of a machine; otherwise the whole machine is rented.
    pub shared: bool,
    pub cpus: f64,
    pub memory_gib: f64,
    /// Only machines of the managed service that has this prefix: `ml.`.
    pub service: &'p str,
    /// Images are built for one vendor's accelerators; any where it is empty.
    pub vendor: &'p str,
    /// Images are built for one kind of processor, too, named as the catalog names it; any where there is none.
    pub processor: Option<&'p str>,
}

impl<'c> Market<'c> {
    pub fn new(catalog: &'c Catalog, settings: &'c Settings) -> Self {
        Market { catalog, settings, machines: Mutex::default() }
    }

    fn machines(&self, provider: &str) -> Arc<Vec<Candidate<'c>>> {
        let mut known = self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(provider) {
            return found.clone();
        }
        let of_provider = self
            .catalog
            .machines()
            .filter(|machine| machine.provider == provider && self.catalog.retired(machine).is_none());
        let candidates = of_provider.filter_map(|machine| {
            let known = self.catalog.accelerator(&machine.accelerator)?;
            let linked = known.interconnect_gb_per_second.is_some_and(|link| link > 0.0);
            Some(Candidate {
                device: device(&machine.accelerator)?,
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

    /// The cheapest configuration on which a demand fits with a margin.
    pub fn cheapest(&self, demand: &Demand<'_>, place: &Place<'_>) -> Option<Choice> {
        self.configurations(demand, place).into_iter().next()
    }

    /// Everything on which a demand fits with a margin, the cheapest first: for each accelerator its cheapest machine. A pod
    /// pays for a part of it; but a part of a large machine is cheap only where others fill the rest, so the whole decides.
    pub fn configurations(&self, demand: &Demand<'_>, place: &Place<'_>) -> Vec<Choice> {
        let mut best: BTreeMap<(&str, u32), (Money, Choice)> = BTreeMap::new();
        let machines = self.machines(place.provider);
        // What fits depends on the accelerator and on how many there are, not on the machine around them.
        let mut fitting: BTreeMap<(&str, u32), Option<(f64, f64)>> = BTreeMap::new();
        let suitable = |candidate: &&Candidate<'_>| {
            supports(&candidate.device, demand.precision)
                && (place.vendor.is_empty() || candidate.vendor == place.vendor)
                && place.processor.is_none_or(|processor| candidate.processor == processor)
        };
        for candidate in machines.iter().filter(suitable) {
            for tensor_parallel in [1u32, 2, 4, 8] {
                let devices = f64::from(tensor_parallel) * demand.data_parallel;
                if candidate.machine.count < devices || (tensor_parallel > BUS && !candidate.linked) {
                    break;
                }
                let key = (candidate.device.name, tensor_parallel);
                let fits = *fitting.entry(key).or_insert_with(|| fits(demand, &candidate.device, tensor_parallel));
                let Some((need_gib, budget_gib)) = fits else { continue };
                let Some((machine, whole, share)) = self.price(&candidate.machine, devices, place) else { continue };
                let choice = Choice {
                    provider: place.provider.to_owned(),
                    machine,
                    accelerator: candidate.machine.accelerator.to_string(),
                    count: if place.shared { devices } else { candidate.machine.count },
                    devices,
                    per_hour: whole.times(share),
                    need_gib,
                    budget_gib,
                };
                let cheaper = |(least, known): &(Money, Choice)| (whole, &*choice.machine) < (*least, &*known.machine);
                if best.get(&key).is_none_or(cheaper) {
                    best.insert(key, (whole, choice));
                }
            }
        }
        let mut choices: Vec<Choice> = best.into_values().map(|(_, choice)| choice).collect();
        choices.sort_by(|one, two| {
            one.per_hour
                .cmp(&two.per_hour)
                .then(one.devices.total_cmp(&two.devices))
                .then_with(|| one.machine.cmp(&two.machine))
        });
        choices
    }

    /// The name of the machine there, what an hour of it costs, and the part of it that is paid for.
    fn price(&self, machine: &Machine<'c>, devices: f64, place: &Place<'_>) -> Option<(String, Money, f64)> {
        let (name, quote) = if place.service.is_empty() {
            (machine.name.to_string(), self.catalog.quote(machine, place.region)?)
        } else {
            let name = format!("{}{}", place.service, machine.name);
            let managed = self.catalog.machine(place.provider, &name)?;
            (managed.name.to_string(), self.catalog.quote(&managed, place.region)?)
        };
        let share = if place.shared { share(machine, devices, place)? } else { 1.0 };
        let discount = self.settings.discounts.get(place.provider).copied().unwrap_or(0.0).clamp(0.0, 1.0);
        Some((name, as_bought(&quote, place.purchase)?.times(1.0 - discount), share))
    }
}

/// The largest of a pod's parts of a machine; `None` where it does not fit on it.
fn share(machine: &Machine<'_>, devices: f64, place: &Place<'_>) -> Option<f64> {
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
        Some(Purchase::Reserved) => quote.reserved_1y.or(quote.reserved_3y),
        _ => quote.on_demand,
    }
}

/// Whether a device computes in the precision of the weights. Engines emulate some formats on older devices; a
/// recommendation does not rely on that.
fn supports(device: &Device, precision: Precision) -> bool {
    match precision {
        Precision::Bf16 => device.bf16,
        Precision::Fp8 | Precision::Mxfp4 | Precision::Fp4Mix => device.fp8,
        Precision::Nvfp4 => device.fp4,
        // Kernels for these begin with Turing.
        Precision::Awq | Precision::Int8 | Precision::Int4 => device.int8,
        _ => true,
    }
}

/// Need and budget on so many devices, if it fits with the margin.
fn fits(demand: &Demand<'_>, device: &Device, tensor_parallel: u32) -> Option<(f64, f64)> {
    let devices = f64::from(tensor_parallel);
    let workload = match demand.task {
        Task::Serve if divides(demand, devices) => demand.on(devices, devices, 1.0),
        // These do not split one model over devices.
        Task::Embed | Task::Diffusion | Task::Speech if tensor_parallel == 1 => demand.on(1.0, 1.0, 1.0),
        Task::Train => demand.on(devices, 1.0, 1.0),
        _ => return None,
    };
    let (need, budget) = (estimate(&workload).need(), budget(&workload, device.usable_gib));
    (need <= MARGIN * budget).then_some((need, budget))
}

/// Heads can be spread evenly: each device has as many, and cache heads are divided or repeated.
fn divides(demand: &Demand<'_>, devices: f64) -> bool {
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
