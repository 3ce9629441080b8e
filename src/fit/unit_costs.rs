//! The cost of a unit of work: a million tokens, a thousand requests, or a seat.

use super::speed::SpeedRange;
use super::traffic::{cost_of_tokens, tokens_per_day};
use super::{Assessment, PlacedModel};
use crate::catalog::{MoneyRange, rounded};
use crate::inventory::{Fact, Key, Resource, Task};
use crate::pricing::{BillItem, HOURS_PER_MONTH};

/// The unit costs in dollars. A cost that cannot be determined is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UnitCosts {
    /// The cost of a million generated tokens if the server is always at full load.
    pub per_million_at_full_load: Option<SpeedRange>,
    /// The cost of a million generated tokens at the declared or measured traffic.
    pub per_million_at_traffic: Option<SpeedRange>,
    /// The cost of a thousand requests, such as images or other answers.
    pub per_thousand_requests: Option<SpeedRange>,
    /// The cost of a seat for a month.
    pub per_seat: Option<SpeedRange>,
}

impl UnitCosts {
    pub fn new(resource: &Resource, item: &BillItem, fact: &Fact<Assessment>) -> UnitCosts {
        let speed = placed(fact).and_then(|it| it.speed.as_ref().ok());
        let at_full_load = speed.zip(item.per_hour).map(|(speed, hour)| {
            cost_of_tokens(speed.tokens_per_second, hour.floor.usd(), hour.expected.usd(), hour.ceiling.usd())
        });
        let days = HOURS_PER_MONTH / 24.0;
        let each = |number: Option<f64>| Some(over(item.monthly?, number.filter(|it| *it > 0.0)?));
        UnitCosts {
            per_million_at_full_load: at_full_load,
            per_million_at_traffic: each(tokens_per_day(resource).map(|tokens| tokens * days / 1e6)),
            per_thousand_requests: each(requests_per_day(resource).map(|requests| requests * days / 1e3)),
            per_seat: each(resource.number(Key::Seats)),
        }
    }
}

/// Returns the model of a server on its accelerators, or `None` for anything that is not a server.
pub fn placed(fact: &Fact<Assessment>) -> Option<&PlacedModel> {
    fact.value().filter(|it| it.task == Task::Serve)?.placed.value()
}

/// Returns the requests per day. A measurement has priority over a declaration.
fn requests_per_day(resource: &Resource) -> Option<f64> {
    resource.number(Key::MeasuredRequests).map(|rate| rate * 86_400.0).or_else(|| resource.number(Key::RequestsPerDay))
}

fn over(month: MoneyRange, number: f64) -> SpeedRange {
    SpeedRange {
        floor: month.floor.usd() / number,
        expected: month.expected.usd() / number,
        ceiling: month.ceiling.usd() / number,
    }
}

impl SpeedRange {
    /// Formats the range with two digits, such as `0.41–0.62`.
    pub fn format_range(self) -> String {
        let (floor, ceiling) = (rounded(self.floor), rounded(self.ceiling));
        if floor == ceiling { floor } else { format!("{floor}–{ceiling}") }
    }
}
