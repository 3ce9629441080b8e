//! Finds machines without a model or metrics: newer hardware for the same work, and small machines to write code on.

use super::choose::MarketPlace;
use super::{FitChoice, Market, Smaller, assess};
use crate::catalog::{Accelerator, AcceleratorHardware, Catalog};
use crate::inventory::{Key, Resource};
use crate::pricing::BillItem;

/// The memory of the smallest current accelerators: A10G, L4 and similar ones.
const ENTRY_GIB: f64 = 24.0;

/// The current accelerators of a resource, if it has whole ones for itself.
struct Current<'c> {
    accelerator: Accelerator<'c>,
    devices: f64,
}

impl<'c> Current<'c> {
    fn of(resource: &Resource, catalog: &'c Catalog) -> Option<Current<'c>> {
        let is_whole = resource.fact(Key::Slice).is_absent() && resource.fact(Key::SharedBy).is_absent();
        let devices = resource.number(Key::AcceleratorCount).filter(|it| *it >= 1.0 && is_whole)?;
        Some(Current { accelerator: catalog.accelerator(resource.text(Key::Accelerator)?)?, devices })
    }

    /// Returns whether this many newer devices hold the work: all memory together, and the memory of one device. If
    /// direct links connect the current devices, several newer ones need them, too.
    fn is_held_by(&self, then: &Accelerator<'_>, devices: f64, is_linked: bool) -> bool {
        let was_linked = self.devices > 1.0 && self.accelerator.interconnect_gb_per_second.is_some_and(|it| it > 0.0);
        then.memory_gib >= self.accelerator.memory_gib
            && then.memory_gib * devices >= self.accelerator.memory_gib * self.devices
            && (devices <= 1.0 || is_linked || !was_linked)
    }

    /// Returns how many times as long the same work takes, by the worse of memory bandwidth and arithmetic. Old devices
    /// without a rate for 16 bits compute slower than any newer device.
    fn slowdown(&self, then: &Accelerator<'_>, devices: f64) -> Option<f64> {
        let of_all = |now: f64, then: f64| now * self.devices / (then * devices);
        let bandwidth =
            of_all(self.accelerator.bandwidth_gb_per_second?, then.bandwidth_gb_per_second.filter(|it| *it > 0.0)?);
        let rate = then.bf16_tflops.filter(|it| *it > 0.0)?;
        let arithmetic = self.accelerator.bf16_tflops.map_or(0.0, |now| of_all(now, rate));
        Some(bandwidth.max(arithmetic)).filter(|it| it.is_finite())
    }
}

/// Returns the machine of the same provider with newer accelerators on which the same work costs least, or `None` if it
/// costs less on none of them.
pub fn successor(resource: &Resource, item: &BillItem, catalog: &Catalog, market: &Market<'_>) -> Option<Smaller> {
    let now = Current::of(resource, catalog)?;
    let price = item.hourly()?.expected;
    let place = assess::place(resource, catalog);
    let cost = |it: &Smaller| it.choice.per_hour.times(it.slowdown.max(1.0));
    let best = |place: &MarketPlace<'_>| {
        let newer = catalog.accelerators().filter(|it| it.year > now.accelerator.year);
        let newer = newer.filter(|it| catalog.hardware(it.name).is_some_and(|it| it.int8));
        let found = newer.flat_map(|then| {
            let halves = std::iter::successors(Some(now.devices), |it| Some(it / 2.0).filter(|it| *it >= 1.0));
            halves.filter_map(|devices| replaced_by(&now, &then, devices, place, market)).collect::<Vec<_>>()
        });
        found.min_by_key(cost)
    };
    let find = |place: &MarketPlace<'_>| best(place).map(|it| it.choice);
    let choice = assess::where_it_is(resource, catalog, &place, &find)?;
    let slowdown = now.slowdown(&catalog.accelerator(&choice.accelerator)?, choice.count)?;
    let found = Smaller { choice, slowdown };
    (cost(&found) < price).then_some(found)
}

fn replaced_by(
    now: &Current<'_>,
    then: &Accelerator<'_>,
    devices: f64,
    place: &MarketPlace<'_>,
    market: &Market<'_>,
) -> Option<Smaller> {
    let accepts = |it: &AcceleratorHardware<'_>, is_linked: bool| {
        it.name == then.name && now.is_held_by(then, devices, is_linked)
    };
    let choice: FitChoice = market.cheapest_with(devices, place, &accepts)?;
    let slowdown = now.slowdown(then, choice.count)?;
    Some(Smaller { choice, slowdown })
}

/// Returns the cheapest machine with as many accelerators of the smallest kinds that compute in bf16, or `None` if it
/// is not cheaper.
pub fn entry_machine(resource: &Resource, item: &BillItem, catalog: &Catalog, market: &Market<'_>) -> Option<Smaller> {
    let now = Current::of(resource, catalog)?;
    let is_small = |name: &str| catalog.accelerator(name).is_some_and(|it| it.memory_gib <= ENTRY_GIB);
    // The usable memory never exceeds the nominal memory, which is slower to find.
    let accepts = |it: &AcceleratorHardware<'_>, _: bool| it.bf16 && it.usable_gib <= ENTRY_GIB && is_small(it.name);
    let place = assess::place(resource, catalog);
    let find = |place: &MarketPlace<'_>| market.cheapest_with(now.devices, place, &accepts);
    let choice = assess::where_it_is(resource, catalog, &place, &find)?;
    let slowdown = now.slowdown(&catalog.accelerator(&choice.accelerator)?, choice.count).unwrap_or(1.0);
    (choice.per_hour < item.hourly()?.expected).then_some(Smaller { choice, slowdown })
}
