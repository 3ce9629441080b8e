use std::collections::BTreeMap;

use super::choose::{Market, Place};
use super::demand::{Demand, Reader};
use super::estimate::{budget, estimate};
use super::workload::{Engine, Task, Workload};
use super::{Assessment, Choice, Verdict, verdict};
use crate::catalog::Catalog;
use crate::inventory::{Fact, Inventory, Key, Resource, Role};
use crate::pricing::{Bill, Item, Settings};

/// Clouds among which a pod may run that names none.
const CLOUDS: [&str; 3] = ["aws", "azure", "gcp"];

/// Whether each resource's model fits it, in the order of the inventory.
pub fn assess_all(inventory: &Inventory, bill: &Bill, catalog: &Catalog, settings: &Settings) -> Vec<Fact<Assessment>> {
    let market = Market::new(catalog, settings);
    let unpriced = Item::default();
    let items = bill.items.iter().chain(std::iter::repeat(&unpriced));
    inventory.resources.iter().zip(items).map(|(resource, item)| assess(resource, item, catalog, &market)).collect()
}

/// Whether a resource's model fits its accelerators, and what else it would fit. Absent where the text does not speak of
/// a model; unknown where it does, and something that decides is not known.
pub fn assess(resource: &Resource, item: &Item, catalog: &Catalog, market: &Market<'_>) -> Fact<Assessment> {
    let mut reader = Reader::new(resource);
    let assessed = reader.demand(catalog).and_then(|demand| {
        let (device, given) = reader.devices(catalog)?;
        let group = resource.number(Key::GroupSize).unwrap_or(1.0).max(1.0);
        let devices = demand.devices_of_copy(given * group).max(1.0);
        if devices > given * group {
            let why = format!("it is to run on {devices} accelerators and has {}", given * group);
            return Err(Some((why.into(), Key::TensorParallel)));
        }
        let tensor = if demand.tensor_parallel > 0.0 { demand.tensor_parallel } else { devices };
        let workload = demand.on(devices, tensor, demand.pipeline_parallel);
        let estimate = estimate(&workload);
        let budget_gib = budget(&workload, device.usable_gib);
        let need_gib = estimate.need();
        let missing = || Some(("the numbers of this workload make no sense".into(), Key::Model));
        let all_devices = (given * group / demand.data_parallel.max(1.0)).max(devices);
        let mut verdict =
            verdict(&Workload { devices: all_devices, ..workload }, device.usable_gib).ok_or_else(missing)?;
        if verdict == Verdict::DoesNotFit
            && !demand.needs_whole_context()
            && fits_with_less(&demand, devices, tensor, device.usable_gib)
        {
            verdict = Verdict::Borderline;
        }
        let breakdown = BTreeMap::from([
            ("weights", estimate.weights),
            ("kv", estimate.cache),
            ("activations", estimate.activations),
            ("optimizer", estimate.optimizer),
            ("overhead", estimate.overhead),
        ]);
        Ok(Assessment {
            verdict,
            refuses: verdict == Verdict::DoesNotFit && refuses(&demand),
            model: demand.model.id.to_string(),
            params_b: demand.model.params_b,
            precision: demand.precision.name(),
            context: demand.context,
            devices,
            need_gib,
            budget_gib,
            breakdown,
            smallest: smallest(&demand, resource, item, catalog, market),
        })
    });
    let span = resource.fact(Key::Model).span().unwrap_or(resource.span);
    match assessed {
        Ok(assessment) => Fact::known(assessment, span, reader.origin),
        Err(Some((why, key))) => Fact::unknown(why, resource.fact(key).span().unwrap_or(resource.span)),
        Err(None) => Fact::Absent,
    }
}

/// It fits if the engine takes less context than the model has: those that do not refuse will.
fn fits_with_less(demand: &Demand<'_>, devices: f64, tensor: f64, usable_gib: f64) -> bool {
    const LEAST: f64 = 2048.0;
    let demand = Demand { context: demand.context.min(LEAST), ..demand.clone() };
    let workload = demand.on(devices, tensor, demand.pipeline_parallel);
    estimate(&workload).need() <= budget(&workload, usable_gib)
}

/// A server of this kind does not start where its model does not fit; others grow slow, or fail later if at all.
fn refuses(demand: &Demand<'_>) -> bool {
    demand.task == Task::Serve && matches!(demand.engine, Engine::Pooled { .. }) && !demand.offloaded
}

/// The cheapest configuration in the same place that costs less than this one.
fn smallest(
    demand: &Demand<'_>,
    resource: &Resource,
    item: &Item,
    catalog: &Catalog,
    market: &Market<'_>,
) -> Option<Choice> {
    if demand.task == Task::Train {
        // Fewer or slower devices make training longer, not cheaper.
        return None;
    }
    let now = item.per_hour?.expected;
    let machine = resource.text(Key::Machine).unwrap_or_default();
    let accelerator = resource.text(Key::Accelerator);
    let mut place = Place {
        vendor: accelerator.and_then(|name| catalog.accelerator(name)).map_or("", |known| known.vendor),
        purchase: resource.purchase(),
        shared: resource.role == Role::Requested,
        service: if machine.starts_with("ml.") { "ml." } else { "" },
        ..Place::default()
    };
    if place.shared {
        place.cpus = resource.number(Key::Cpus).unwrap_or(0.0);
        place.memory_gib = resource.number(Key::Memory).unwrap_or(0.0);
    }
    let choice = match resource.text(Key::Provider) {
        Some(provider) => {
            let region = resource.text(Key::Region).unwrap_or_else(|| catalog.base_region(provider));
            market.cheapest(demand, &Place { provider, region, ..place })
        }
        None => {
            // The price of a pod without a provider is that of the middle of the clouds, and so is its alternative's.
            let in_cloud = |provider| {
                let region = catalog.base_region(provider);
                market.cheapest(demand, &Place { provider, region, ..place.clone() })
            };
            let mut choices: Vec<Choice> = CLOUDS.into_iter().filter_map(in_cloud).collect();
            choices.sort_by_key(|choice| choice.per_hour);
            let middle = choices.len().checked_sub(1)? / 2;
            choices.into_iter().nth(middle)
        }
    }?;
    // The same accelerators in a smaller machine are no smaller accelerators.
    let same =
        Some(&*choice.accelerator) == accelerator && resource.number(Key::AcceleratorCount) == Some(choice.devices);
    (choice.per_hour < now && !same).then_some(choice)
}

/// Every configuration on which the model of a resource fits with a margin, in each of these places, the cheapest first.
/// Nothing where the text does not say enough to tell.
pub fn options(resource: &Resource, catalog: &Catalog, market: &Market<'_>, places: &[Place<'_>]) -> Vec<Choice> {
    let Ok(demand) = Reader::new(resource).demand(catalog) else { return Vec::new() };
    let mut choices: Vec<Choice> = places.iter().flat_map(|place| market.configurations(&demand, place)).collect();
    choices.sort_by(|one, two| one.per_hour.cmp(&two.per_hour).then_with(|| one.machine.cmp(&two.machine)));
    choices
}
