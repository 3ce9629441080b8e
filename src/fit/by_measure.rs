//! Finds the cheapest smaller accelerator for a measured workload. It has enough memory for the measured maximum, and
//! is fast enough for the measured utilization.

use super::choose::{Market, MarketPlace};
use super::demand::FactReader;
use super::{FitChoice, FitVerdict, PlacedModel, assess};
use crate::catalog::{Accelerator, AcceleratorHardware, Catalog, Precision};
use crate::inventory::{Key, Resource};
use crate::pricing::BillItem;

/// The required memory as a multiple of the measured maximum, because a later peak can be higher. KRR adds the same
/// margin to the memory of pods.
pub const MEMORY_MARGIN: f64 = 1.15;

/// A smaller accelerator is busy for at most this share of the time.
pub const BUSY_AT_MOST: f64 = 0.7;

/// A smaller machine for a measured workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Smaller {
    pub choice: FitChoice,
    /// The factor by which the same work takes longer, from the slower of arithmetic and memory.
    pub slowdown: f64,
}

/// Returns the cheapest smaller accelerator, or `None` if memory or utilization is not measured, or if no smaller one
/// is fast enough and cheaper.
pub fn smaller(resource: &Resource, item: &BillItem, catalog: &Catalog, market: &Market<'_>) -> Option<Smaller> {
    let is_whole = resource.fact(Key::Slice).is_absent() && resource.fact(Key::SharedBy).is_absent();
    let is_alone = resource.number(Key::GroupSize).is_none_or(|size| size <= 1.0);
    let devices = resource.number(Key::AcceleratorCount).filter(|it| *it >= 1.0 && is_whole && is_alone)?;
    let name = resource.text(Key::Accelerator)?;
    let wanted = Wanted {
        now: catalog.accelerator(name)?,
        device: catalog.hardware(name)?,
        precision: resource.text(Key::Precision).and_then(Precision::parse),
        memory_gib: resource.number(Key::MeasuredMemory)? * MEMORY_MARGIN,
        busy: resource.number(Key::MeasuredBusy)?,
    };
    let accepts =
        |it: &AcceleratorHardware<'_>, is_linked: bool| wanted.accepts(it, is_linked || devices <= 1.0, catalog);
    let place = assess::place(resource, catalog);
    let find = |place: &MarketPlace<'_>| market.cheapest_with(devices, place, &accepts);
    let choice = assess::where_it_is(resource, catalog, &place, &find)?;
    let slowdown = wanted.slowdown(&catalog.accelerator(&choice.accelerator)?)?;
    (choice.per_hour < item.per_hour?.expected).then_some(Smaller { choice, slowdown })
}

/// Returns the cheapest machine with the same accelerator that has as many as the pods of a pool request together.
/// Returns `None` if it is not cheaper.
pub fn smaller_for_requests(
    pool: &Resource,
    item: &BillItem,
    catalog: &Catalog,
    market: &Market<'_>,
) -> Option<Smaller> {
    let name = pool.text(Key::Accelerator)?;
    let devices = pool.number(Key::AskedAccelerators)?.ceil();
    let find = |place: &MarketPlace<'_>| market.cheapest_with(devices, place, &|it, _| it.name == name);
    let choice = assess::where_it_is(pool, catalog, &assess::place(pool, catalog), &find)?;
    (choice.per_hour < item.per_hour?.expected).then_some(Smaller { choice, slowdown: 1.0 })
}

/// The required cache of a server as a multiple of the measured maximum.
pub const CACHE_MARGIN: f64 = 1.5;

/// Returns the cheapest configuration that holds a server's model and `CACHE_MARGIN` times its measured cache. Returns
/// `None` if the cache is not measured, or if no configuration with less memory is fast enough and cheaper.
pub fn smaller_server(
    resource: &Resource,
    item: &BillItem,
    placed: &PlacedModel,
    catalog: &Catalog,
    market: &Market<'_>,
) -> Option<Smaller> {
    let is_one =
        resource.fact(Key::Slice).is_absent() && resource.number(Key::GroupSize).is_none_or(|size| size <= 1.0);
    let count = resource.number(Key::AcceleratorCount).filter(|_| is_one && placed.verdict == FitVerdict::Fits)?;
    let now = catalog.accelerator(resource.text(Key::Accelerator)?)?;
    let taken = resource.number(Key::MeasuredCache)? * placed.devices * (placed.budget_gib - placed.need_gib);
    let speed = |it: &Accelerator<'_>, devices: f64| Some(it.bandwidth_gb_per_second? * devices).filter(|it| *it > 0.0);
    let slowdown = |it: &FitChoice| {
        let then = speed(&catalog.accelerator(&it.accelerator)?, it.devices)?;
        Some(speed(&now, placed.devices)? / then)
    };
    let busy = resource.number(Key::MeasuredBusy).unwrap_or(0.0);
    let does = |it: &FitChoice| {
        let memory = catalog.accelerator(&it.accelerator).map(|known| known.memory_gib * it.count);
        memory.is_some_and(|memory| memory < now.memory_gib * count)
            && it.devices * (it.budget_gib - it.need_gib) >= taken * CACHE_MARGIN
            && slowdown(it).is_some_and(|times| busy * times <= BUSY_AT_MOST)
    };
    let demand = FactReader::new(resource).demand(catalog).ok().filter(|demand| demand.guessed().is_none())?;
    let find = |place: &MarketPlace<'_>| market.configurations(&demand, place).into_iter().find(|it| does(it));
    let choice = assess::where_it_is(resource, catalog, &assess::place(resource, catalog), &find)?;
    let slowdown = slowdown(&choice)?;
    (choice.per_hour < item.per_hour?.expected).then_some(Smaller { choice, slowdown })
}

/// The requirements of a smaller accelerator.
struct Wanted<'c> {
    now: Accelerator<'c>,
    device: AcceleratorHardware<'c>,
    precision: Option<Precision>,
    memory_gib: f64,
    busy: f64,
}

impl Wanted<'_> {
    fn accepts(&self, then: &AcceleratorHardware<'_>, is_linked: bool, catalog: &Catalog) -> bool {
        let Some(known) = catalog.accelerator(then.name) else { return false };
        let was_linked = self.now.interconnect_gb_per_second.is_some_and(|it| it > 0.0);
        let computes = match self.precision {
            Some(precision) => super::choose::supports(then, precision),
            // If no precision is set, the workload may use bf16 if the current accelerator supports it.
            None => then.bf16 || !self.device.bf16,
        };
        computes
            && known.memory_gib < self.now.memory_gib
            && self.memory_gib <= then.usable_gib
            && (is_linked || !was_linked)
            && self.slowdown(&known).is_some_and(|times| self.busy * times <= BUSY_AT_MOST)
    }

    /// Returns the slowdown by the worse of arithmetic and memory, because it is not measured which of them limits
    /// the work.
    fn slowdown(&self, then: &Accelerator<'_>) -> Option<f64> {
        let arithmetic = self.now.bf16_tflops? / then.bf16_tflops.filter(|it| *it > 0.0)?;
        let memory = self.now.bandwidth_gb_per_second? / then.bandwidth_gb_per_second.filter(|it| *it > 0.0)?;
        Some(arithmetic.max(memory)).filter(|it| it.is_finite())
    }
}
