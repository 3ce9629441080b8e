//! What the same model would cost with those who serve it to everybody.

use std::sync::LazyLock;

use super::table::{Records, rows};
use super::{FactContext, kinds};
use crate::fit::{MiddleHost, host_of, tokens_per_day};
use crate::inventory::Task;
use crate::languages::cel::{CelValue, Type};
use crate::pricing::HOURS_PER_MONTH;

pub(super) static HOSTED: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "hosted",
        kinds::HOSTED,
        None,
        rows! {
            host: Type::Text, "The middle one of those who serve exactly this model, by what a million written tokens cost with their prompts." => |asking, id| of(asking, id, |it| CelValue::text(it.host.host));
            hosts: Type::Integer, "How many of them there are; below three there is no middle." => |asking, id| of(asking, id, |it| CelValue::Integer(it.hosts as i64));
            as_of: Type::Text, "The day of its price." => |asking, id| of(asking, id, |it| CelValue::text(it.host.as_of));
            per_million: Type::Double, "Dollars there for a million written tokens with their prompts." => |asking, id| of(asking, id, |it| CelValue::Double(it.per_million));
            monthly: Type::Double, "Dollars there for a month of the traffic that is declared or was measured." => |asking, id| of(asking, id, |it| match tokens(asking, id) {
                Some(tokens) => CelValue::Double(it.per_million * tokens * HOURS_PER_MONTH / 24.0 / 1e6),
                None => CelValue::Absent,
            });
            tokens_per_day: Type::Double, "Written tokens a day below which the host costs less." => |asking, id| of(asking, id, |it| {
                let month = asking.item(id).and_then(|item| item.monthly);
                month.map_or(CelValue::Absent, |month| {
                    CelValue::Double(month.expected.usd() / HOURS_PER_MONTH * 24.0 / it.per_million * 1e6)
                })
            });
        },
    )
});

/// The record of a server whose model others serve too.
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
