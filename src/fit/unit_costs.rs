//! The cost of a unit of work: a million tokens, a thousand requests, or a seat.

use super::speed::SpeedRange;
use super::traffic::{cost_of_tokens, tokens_per_day};
use super::{Assessment, PlacedModel};
use crate::catalog::{MoneyRange, rounded};
use crate::inventory::{Fact, Key, Resource, Task};
use crate::pricing::{BillItem, HOURS_PER_MONTH};

/// In dollars; each where it can be said.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UnitCosts {
    /// Of a million written tokens, by a server that is busy all the time.
    pub per_million_at_full_load: Option<SpeedRange>,
    /// Of a million written tokens, at the traffic that is declared or was measured.
    pub per_million_at_traffic: Option<SpeedRange>,
    /// Of a thousand requests, pictures or other answers.
    pub per_thousand_requests: Option<SpeedRange>,
    /// Of a seat for a month.
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

/// The model of a server on its accelerators; nothing of what serves none.
pub fn placed(fact: &Fact<Assessment>) -> Option<&PlacedModel> {
    fact.value().filter(|it| it.task == Task::Serve)?.placed.value()
}

/// What was measured is nearer than what somebody declared.
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
    /// `0.41–0.62`, to two digits.
    pub fn format_range(self) -> String {
        let (floor, ceiling) = (rounded(self.floor), rounded(self.ceiling));
        if floor == ceiling { floor } else { format!("{floor}–{ceiling}") }
    }
}
