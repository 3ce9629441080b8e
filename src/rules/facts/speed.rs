//! Provides the speed of the declared model, the duration of its training, and the cost of its tokens and runs. These
//! facts exist for the current machine and for each alternative.

use std::sync::LazyLock;

use super::table::{Records, rows};
use super::{End, FactContext, kinds};
use crate::fit::speed::SpeedRange;
use crate::fit::{
    FitAlternative, FitChoice, PlacedModel, ServerSpeed, TrainingRun, UnitCosts, cost_of_tokens, cost_per_run,
};
use crate::inventory::Fact;
use crate::languages::cel::{CelType, CelValue};

/// A number with the lower and upper end of its estimate.
pub(super) static ENDS: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "ends",
        kinds::ENDS,
        Some("expected"),
        rows! {
            floor: CelType::Double, "Lower end of the estimate: the value is between both ends in four of five cases." => |asking, id| end(asking, id, |it| it.floor);
            expected: CelType::Double, "Middle of the estimate. Always show it with both ends." => |asking, id| match asking.end.get() {
                End::Floor => end(asking, id, |it| it.floor),
                End::Expected => end(asking, id, |it| it.expected),
                End::Ceiling => end(asking, id, |it| it.ceiling),
            };
            ceiling: CelType::Double, "Upper end of the estimate: the value is between both ends in four of five cases." => |asking, id| end(asking, id, |it| it.ceiling);
        },
    )
});

pub(super) static SPEED: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "speed",
        kinds::SPEED,
        None,
        rows! {
            tokens_per_s: ENDS.holds(), "Generated tokens per second." => |asking, id| ends(asking, id, None, SpeedNumber::Rate);
            ms_per_token: ENDS.holds(), "Milliseconds between two tokens of one answer." => |asking, id| ends(asking, id, None, SpeedNumber::Pace);
            in_flight: CelType::Double, "Answers that one copy of the model generates at a time." => |asking, id| of(asking, id).map_or(CelValue::Absent, |it| CelValue::Double(it.in_flight));
            group: CelType::Text, "Number of measured servers behind the estimate." => |asking, id| of(asking, id).map_or(CelValue::Absent, |it| CelValue::text(it.group));
            mostly: CelType::Text, "Step that takes most of the time: weights read, cache read, arithmetic, launches, crossing or sequences." => |asking, id| of(asking, id).map_or(CelValue::Absent, |it| CelValue::text(it.terms.longest()));
            measured_by: CelType::Text, "Source that measured the same server with prompts and answers of the declared lengths. If set, \
             tokens_per_s is the measured value." => |asking, id| {
                placed(asking, id).and_then(|it| it.measured_by.as_deref()).map_or(CelValue::Absent, CelValue::text)
            };
        },
    )
});

pub(super) static COST: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "cost",
        kinds::COST,
        None,
        rows! {
            per_million_tokens: ENDS.holds(), "Dollars per million generated tokens at full load, which real servers never reach." => |asking, id| ends(asking, id, None, SpeedNumber::AtFullLoad);
            per_million_at_traffic: ENDS.holds(), "Dollars per million generated tokens of the declared or measured traffic." => |asking, id| ends(asking, id, None, SpeedNumber::AtTraffic);
            per_thousand_requests: ENDS.holds(), "Dollars per thousand requests, pictures or other answers of the declared or measured number." => |asking, id| ends(asking, id, None, SpeedNumber::Requests);
            per_seat: ENDS.holds(), "Dollars per month for each person with a seat on it." => |asking, id| ends(asking, id, None, SpeedNumber::Seat);
            per_run: ENDS.holds(), "Dollars for one run of all pods or machines: by its time limit or the settings, else by the declared \
             number of training tokens." => |asking, id| ends(asking, id, None, SpeedNumber::PerRun);
        },
    )
});

pub(super) static RUN: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "run",
        kinds::RUN,
        None,
        rows! {
            days: ENDS.holds(), "Days that training takes for the declared number of tokens, if enough similar training was measured." => |asking, id| ends(asking, id, None, SpeedNumber::Days);
        },
    )
});

/// The estimates that have two ends.
#[derive(Clone, Copy)]
pub(super) enum SpeedNumber {
    Rate,
    Pace,
    AtFullLoad,
    AtTraffic,
    Requests,
    Seat,
    Days,
    PerRun,
}

impl SpeedNumber {
    const ALL: [SpeedNumber; 8] = [
        SpeedNumber::Rate,
        SpeedNumber::Pace,
        SpeedNumber::AtFullLoad,
        SpeedNumber::AtTraffic,
        SpeedNumber::Requests,
        SpeedNumber::Seat,
        SpeedNumber::Days,
        SpeedNumber::PerRun,
    ];
    const COUNT: u32 = SpeedNumber::ALL.len() as u32;
}

/// The current machine and each alternative.
const SIDES: u32 = 1 + FitAlternative::ALL.len() as u32;

pub(super) fn all() -> [&'static Records; 4] {
    [&SPEED, &COST, &RUN, &ENDS]
}

pub(super) fn speed(asking: &FactContext<'_>, id: u32) -> CelValue {
    of(asking, id).map_or(CelValue::Absent, |_| SPEED.value(id))
}

fn of<'a>(asking: &FactContext<'a>, id: u32) -> Option<&'a ServerSpeed> {
    placed(asking, id)?.speed.as_ref().ok()
}

fn training<'a>(asking: &FactContext<'a>, id: u32) -> Option<&'a TrainingRun> {
    placed(asking, id)?.training.as_ref()?.as_ref().ok()
}

fn placed<'a>(asking: &FactContext<'a>, id: u32) -> Option<&'a PlacedModel> {
    asking.world.fit.get(id as usize)?.value()?.placed.value()
}

fn choice<'a>(asking: &FactContext<'a>, id: u32, which: FitAlternative) -> Option<&'a FitChoice> {
    placed(asking, id)?.instead.get(&which)
}

/// Returns an estimate for a resource, on its current machine or on an alternative.
pub(super) fn ends(asking: &FactContext<'_>, id: u32, which: Option<FitAlternative>, what: SpeedNumber) -> CelValue {
    let side =
        which.and_then(|which| FitAlternative::ALL.iter().position(|it| *it == which)).map_or(0, |at| at as u32 + 1);
    match range(asking, id, which, what) {
        Some(_) => ENDS.value((id * SIDES + side) * SpeedNumber::COUNT + what as u32),
        None => CelValue::Absent,
    }
}

fn end(asking: &FactContext<'_>, id: u32, read: fn(&SpeedRange) -> f64) -> CelValue {
    let what = SpeedNumber::ALL.get((id % SpeedNumber::COUNT) as usize);
    let (id, side) = (id / SpeedNumber::COUNT / SIDES, id / SpeedNumber::COUNT % SIDES);
    let which = side.checked_sub(1).and_then(|at| FitAlternative::ALL.get(at as usize).copied());
    let range = what.and_then(|what| range(asking, id, which, *what));
    range.map_or(CelValue::Absent, |range| CelValue::Double(read(&range)))
}

pub(super) fn range(
    asking: &FactContext<'_>,
    id: u32,
    which: Option<FitAlternative>,
    what: SpeedNumber,
) -> Option<SpeedRange> {
    match which {
        Some(which) => of_choice(choice(asking, id, which)?, what),
        None => as_it_is(asking, id, what),
    }
}

fn of_choice(choice: &FitChoice, what: SpeedNumber) -> Option<SpeedRange> {
    let speed = choice.speed?;
    let hour = choice.per_hour.usd();
    match what {
        SpeedNumber::Rate => Some(speed.tokens_per_second),
        SpeedNumber::Pace => Some(speed.ms_per_token),
        SpeedNumber::AtFullLoad => Some(cost_of_tokens(speed.tokens_per_second, hour, hour, hour)),
        SpeedNumber::AtTraffic
        | SpeedNumber::Requests
        | SpeedNumber::Seat
        | SpeedNumber::Days
        | SpeedNumber::PerRun => None,
    }
}

fn as_it_is(asking: &FactContext<'_>, id: u32, what: SpeedNumber) -> Option<SpeedRange> {
    match what {
        SpeedNumber::Rate => Some(of(asking, id)?.tokens_per_second),
        SpeedNumber::Pace => Some(of(asking, id)?.ms_per_token),
        SpeedNumber::AtFullLoad => unit_costs(asking, id)?.per_million_at_full_load,
        SpeedNumber::AtTraffic => unit_costs(asking, id)?.per_million_at_traffic,
        SpeedNumber::Requests => unit_costs(asking, id)?.per_thousand_requests,
        SpeedNumber::Seat => unit_costs(asking, id)?.per_seat,
        SpeedNumber::Days => Some(training(asking, id)?.days),
        SpeedNumber::PerRun => cost_per_run(asking.item(id)?, training(asking, id)),
    }
}

fn unit_costs(asking: &FactContext<'_>, id: u32) -> Option<UnitCosts> {
    let resource = asking.world.inventory.resources.get(id as usize)?;
    let fact = asking.world.fit.get(id as usize).unwrap_or(&Fact::Absent);
    Some(UnitCosts::new(resource, asking.item(id)?, fact))
}

/// Returns the tokens per second of an alternative as a share of the current ones. It compares the expected values,
/// because both estimates have about the same error.
pub(super) fn rate_share(asking: &FactContext<'_>, id: u32, which: FitAlternative) -> Option<f64> {
    let then = choice(asking, id, which)?.speed?.tokens_per_second.expected;
    Some(then / of(asking, id)?.tokens_per_second.expected)
}

/// Returns the current cost of a token divided by its cost with an alternative, both at full load.
pub(super) fn gap(asking: &FactContext<'_>, id: u32, which: FitAlternative) -> Option<f64> {
    let then = of_choice(choice(asking, id, which)?, SpeedNumber::AtFullLoad)?.expected;
    Some(as_it_is(asking, id, SpeedNumber::AtFullLoad)?.expected / then)
}

/// Returns the machines of an alternative that generate as much as all current ones in nine of ten cases.
pub(super) fn as_many(asking: &FactContext<'_>, id: u32, which: FitAlternative) -> Option<f64> {
    let resource = asking.world.inventory.resources.get(id as usize)?;
    let count = asking.item(id)?.count_of(resource)?;
    let floor = asking.world.catalog.throughput("gap-floor", "*")?;
    let needed = count.expected.max(1.0) / rate_share(asking, id, which)? / floor;
    Some(needed.ceil()).filter(|it| it.is_finite())
}
