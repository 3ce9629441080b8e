//! Provides what starts, interruptions and repeated work cost.

use std::sync::LazyLock;

use super::table::{Records, rows};
use super::{End, FactContext, kinds, unknown_fact};
use crate::fit::lost_work::LostWork;
use crate::inventory::{Fact, Key, Range};
use crate::languages::cel::{CelType, CelValue};
use crate::pricing::Period;

pub(super) static LOST_WORK: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "lost_work",
        kinds::LOST_WORK,
        None,
        rows! {
            start_seconds: CelType::Double, "Seconds of one cold start: machine, image, weights and program." => |asking, id| of(asking, id, |it| it.start_seconds.clone().ok());
            usd_per_month: CelType::Double, "Dollars per month for starting, restarting, repeating work and writing checkpoints, as far as the \
             parts are known." => |asking, id| of(asking, id, |it| it.usd().filter(|_| it.per == Period::Month));
            best_checkpoint_minutes: CelType::Double, "Minutes between two checkpoints that lose the least, by Young and Daly." => |asking, id| of(asking, id, |it| {
                it.best_interval().map(|hours| Range::exactly(hours * 60.0))
            });
            interval_saves_usd: CelType::Double, "Dollars per month that this interval saves, compared with the declared interval or with no \
             checkpoints. Unknown if the declared interval is unknown." => interval_saves;
            cache_saves_usd: CelType::Double, "Dollars per month that a volume for the weights saves, before its own cost." => |asking, id| saves(asking, id, |it| it.cache_saves());
        },
    )
});

fn of(asking: &FactContext<'_>, id: u32, read: impl Fn(&LostWork<'_>) -> Option<Range>) -> CelValue {
    let resource = asking.world.inventory.resources.get(id as usize);
    let fit = asking.world.fit.get(id as usize).unwrap_or(&Fact::Absent);
    let work = resource.zip(asking.item(id)).and_then(|(it, item)| LostWork::of(it, item, fit, asking.world.catalog));
    let range = work.as_ref().and_then(read);
    range.map_or(CelValue::Absent, |range| {
        CelValue::Double(match asking.end.get() {
            End::Floor => range.floor,
            End::Expected => range.expected,
            End::Ceiling => range.ceiling,
        })
    })
}

fn interval_saves(asking: &FactContext<'_>, id: u32) -> CelValue {
    let resource = asking.world.inventory.resources.get(id as usize);
    match resource.map(|it| it.fact(Key::CheckpointMinutes)) {
        Some(Fact::Unknown(unknown)) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        _ => saves(asking, id, |it| it.interval_saves()),
    }
}

/// Returns the monthly saving of a remedy.
fn saves(asking: &FactContext<'_>, id: u32, of_remedy: fn(&LostWork<'_>) -> Option<Range>) -> CelValue {
    of(asking, id, |it| of_remedy(it).filter(|_| it.per == Period::Month))
}
