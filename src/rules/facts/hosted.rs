//! Provides the cost of the same model at public hosts.

use std::sync::LazyLock;

use super::table::{Records, rows};
use super::{FactContext, kinds};
use crate::fit::{MiddleHost, host_of, tokens_per_day};
use crate::inventory::Task;
use crate::languages::cel::{CelType, CelValue};
use crate::pricing::HOURS_PER_MONTH;

pub(super) static HOSTED: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "hosted",
        kinds::HOSTED,
        None,
        rows! {
            host: CelType::Text, "The median host among those that serve exactly this model, ordered by the price of a million generated \
             tokens with their prompts." => |asking, id| of(asking, id, |it| CelValue::text(it.host.host));
            hosts: CelType::Integer, "Number of hosts. Below three, no median is set." => |asking, id| of(asking, id, |it| CelValue::Integer(it.hosts as i64));
            as_of: CelType::Text, "Date of the price." => |asking, id| of(asking, id, |it| CelValue::text(it.host.as_of));
            per_million: CelType::Double, "Price of a million generated tokens with their prompts, in dollars." => |asking, id| of(asking, id, |it| CelValue::Double(it.per_million));
            monthly: CelType::Double, "Cost of a month of the declared or measured traffic, in dollars." => |asking, id| of(asking, id, |it| match tokens(asking, id) {
                Some(tokens) => CelValue::Double(it.per_million * tokens * HOURS_PER_MONTH / 24.0 / 1e6),
                None => CelValue::Absent,
            });
            tokens_per_day: CelType::Double, "Generated tokens per day below which the host costs less." => |asking, id| of(asking, id, |it| {
                let month = asking.item(id).and_then(|item| item.monthly);
                month.map_or(CelValue::Absent, |month| {
                    CelValue::Double(month.expected.usd() / HOURS_PER_MONTH * 24.0 / it.per_million * 1e6)
                })
            });
        },
    )
});

/// Returns the record of a server whose model public hosts serve too.
pub(super) fn hosted(asking: &FactContext<'_>, id: u32) -> CelValue {
    of(asking, id, |_| HOSTED.value(id))
}

fn of(asking: &FactContext<'_>, id: u32, read: impl Fn(&MiddleHost<'_>) -> CelValue) -> CelValue {
    let resource = asking.world.inventory.resources.get(id as usize);
    super::fit::of_assessment(asking, id, |it| {
        let serves = resource.filter(|_| it.task == Task::Serve);
        let host = serves.and_then(|resource| host_of(resource, it.lengths, asking.world.catalog));
        host.as_ref().map_or(CelValue::Absent, &read)
    })
}

fn tokens(asking: &FactContext<'_>, id: u32) -> Option<f64> {
    asking.world.inventory.resources.get(id as usize).and_then(tokens_per_day)
}
