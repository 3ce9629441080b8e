//! Provides cheaper regions and providers for the same machine.

use std::sync::LazyLock;

use super::table::{Records, rows};
use super::{FactContext, kinds};
use crate::languages::cel::{CelType, CelValue};
use crate::pricing::{Elsewhere, cheaper_provider, cheaper_region};

pub(super) static MARKET: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "market",
        kinds::MARKET,
        None,
        rows! {
            region: CelType::Text, "Region in which the same machine is cheapest, if it is another region." => |asking, id| there(asking, id, true, |it| CelValue::text(&*it.region));
            region_hourly: CelType::Double, "On-demand price there, in dollars per hour." => |asking, id| there(asking, id, true, |it| CelValue::Double(it.per_hour.usd()));
            provider: CelType::Text, "Provider that sells as many of the accelerator for the least, if it is another provider." => |asking, id| there(asking, id, false, |it| CelValue::text(&*it.provider));
            machine: CelType::Text, "Machine type of that provider." => |asking, id| there(asking, id, false, |it| CelValue::text(&*it.machine));
            provider_hourly: CelType::Double, "On-demand price there, in dollars per hour." => |asking, id| there(asking, id, false, |it| CelValue::Double(it.per_hour.usd()));
        },
    )
});

pub(super) fn all() -> [&'static Records; 1] {
    [&MARKET]
}

fn there(asking: &FactContext<'_>, id: u32, in_region: bool, read: impl Fn(&Elsewhere) -> CelValue) -> CelValue {
    let (resource, item) = (asking.world.inventory.resources.get(id as usize), asking.item(id));
    let catalog = asking.world.catalog;
    let (Some(resource), Some(item)) = (resource, item) else {
        return CelValue::Absent;
    };
    let found = match in_region {
        true => cheaper_region(resource, item, catalog),
        false => cheaper_provider(resource, item, catalog),
    };
    found.as_ref().map_or(CelValue::Absent, read)
}
