//! How fast the declared model answers, how long it trains, and what its tokens and runs cost.

use std::sync::LazyLock;

use super::table::{Records, rows};
use super::{End, FactContext, kinds};
use crate::fit::speed::SpeedRange;
use crate::fit::{Speed, TrainingRun, cost_per_run};
use crate::inventory::Key;
use crate::languages::cel::{CelValue, Type};
use crate::pricing::HOURS_PER_MONTH;

/// A number with its ends.
static ENDS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "ends",
        kinds::ENDS,
        Some("expected"),
        rows! {
            floor: Type::Double, "What it is at least, in four of five cases." => |asking, id| end(asking, id, |it| it.floor);
            expected: Type::Double, "The middle; never to be shown without the ends." => |asking, id| match asking.end.get() {
                End::Floor => end(asking, id, |it| it.floor),
                End::Expected => end(asking, id, |it| it.expected),
                End::Ceiling => end(asking, id, |it| it.ceiling),
            };
            ceiling: Type::Double, "What it is at most, in four of five cases." => |asking, id| end(asking, id, |it| it.ceiling);
        },
    )
});

pub(super) static SPEED: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "speed",
        kinds::SPEED,
        None,
        rows! {
            tokens_per_s: ENDS.holds(), "Tokens that are written in a second." => |asking, id| ends(asking, id, What::Rate);
            ms_per_token: ENDS.holds(), "Milliseconds between two tokens of one answer." => |asking, id| ends(asking, id, What::Pace);
            in_flight: Type::Double, "Answers that one copy of the model writes at a time." => |asking, id| of(asking, id).map_or(CelValue::Absent, |it| CelValue::Double(it.in_flight));
            group: Type::Text, "The servers on which the estimate was measured." => |asking, id| of(asking, id).map_or(CelValue::Absent, |it| CelValue::text(it.group));
            mostly: Type::Text, "What takes most of the time: weights read, cache read, arithmetic, launches, crossing or sequences." => |asking, id| of(asking, id).map_or(CelValue::Absent, |it| CelValue::text(it.terms.longest()));
        },
    )
});

pub(super) static COST: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "cost",
        kinds::COST,
        None,
        rows! {
            per_million_tokens: ENDS.holds(), "Dollars for a million written tokens at full load, which real servers never have." => |asking, id| ends(asking, id, What::AtFullLoad);
            per_million_at_traffic: ENDS.holds(), "Dollars for a million written tokens of the traffic that is declared or was measured." => |asking, id| ends(asking, id, What::AtTraffic);
            per_run: ENDS.holds(), "Dollars for one run of all of them: by its time limit or the settings, else by the tokens that training is declared to read." => |asking, id| ends(asking, id, What::PerRun);
        },
    )
});

pub(super) static RUN: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "run",
        kinds::RUN,
        None,
        rows! {
            days: ENDS.holds(), "Days that training takes for the tokens that it is declared to read, where enough was measured of such training." => |asking, id| ends(asking, id, What::Days);
        },
    )
});

/// The numbers that have ends.
#[derive(Clone, Copy)]
enum What {
    Rate,
    Pace,
    AtFullLoad,
    AtTraffic,
    Days,
    PerRun,
}

impl What {
    const ALL: [What; 6] = [What::Rate, What::Pace, What::AtFullLoad, What::AtTraffic, What::Days, What::PerRun];
    const COUNT: u32 = What::ALL.len() as u32;
}

pub(super) fn all() -> [&'static Records; 4] {
    [&SPEED, &COST, &RUN, &ENDS]
}

pub(super) fn speed(asking: &FactContext<'_>, id: u32) -> CelValue {
    of(asking, id).map_or(CelValue::Absent, |_| SPEED.value(id))
}

fn of<'a>(asking: &FactContext<'a>, id: u32) -> Option<&'a Speed> {
    let placed = asking.world.fit.get(id as usize)?.value()?.placed.value()?;
    placed.speed.as_ref().ok()
}

fn training<'a>(asking: &FactContext<'a>, id: u32) -> Option<&'a TrainingRun> {
    let placed = asking.world.fit.get(id as usize)?.value()?.placed.value()?;
    placed.training.as_ref()?.as_ref().ok()
}

/// Each resource has as many such records as there are numbers.
fn ends(asking: &FactContext<'_>, id: u32, what: What) -> CelValue {
    match range(asking, id, what) {
        Some(_) => ENDS.value(id * What::COUNT + what as u32),
        None => CelValue::Absent,
    }
}

fn end(asking: &FactContext<'_>, id: u32, read: fn(&SpeedRange) -> f64) -> CelValue {
    let what = What::ALL.get((id % What::COUNT) as usize);
    let range = what.and_then(|what| range(asking, id / What::COUNT, *what));
    range.map_or(CelValue::Absent, |range| CelValue::Double(read(&range)))
}

fn range(asking: &FactContext<'_>, id: u32, what: What) -> Option<SpeedRange> {
    match what {
        What::Rate => Some(of(asking, id)?.tokens_per_second),
        What::Pace => Some(of(asking, id)?.ms_per_token),
        What::Days => Some(training(asking, id)?.days),
        What::PerRun => cost_per_run(asking.item(id)?, training(asking, id)),
        What::AtFullLoad => {
            let hour = asking.item(id)?.per_hour?;
            let each = of(asking, id)?.tokens_per_second.times(3600.0 / 1e6);
            Some(SpeedRange {
                floor: hour.floor.usd() / each.ceiling,
                expected: hour.expected.usd() / each.expected,
                ceiling: hour.ceiling.usd() / each.floor,
            })
        }
        What::AtTraffic => {
            let resource = asking.world.inventory.resources.get(id as usize)?;
            let measured = resource.number(Key::MeasuredTokens).map(|rate| rate * 86_400.0);
            let tokens = measured.or_else(|| resource.number(Key::TokensPerDay)).filter(|tokens| *tokens > 0.0)?;
            let month = asking.item(id)?.monthly?;
            let millions = tokens * HOURS_PER_MONTH / 24.0 / 1e6;
            Some(SpeedRange {
                floor: month.floor.usd() / millions,
                expected: month.expected.usd() / millions,
                ceiling: month.ceiling.usd() / millions,
            })
        }
    }
}
