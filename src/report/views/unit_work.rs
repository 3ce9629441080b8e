//! Computes the cost per unit of work: tokens of servers, requests, seats.

use crate::fit::speed::SpeedRange;
use crate::fit::{UnitCosts, placed};
use crate::inventory::{Fact, Resource, Task};
use crate::report::Report;

/// A resource with a known unit cost, or a server with an unknown one.
pub(in crate::report) struct UnitWork<'a> {
    pub(in crate::report) resource: &'a Resource,
    /// The model of a server.
    pub(in crate::report) model: Option<&'a str>,
    pub(in crate::report) tokens_per_second: Option<SpeedRange>,
    pub(in crate::report) ms_per_token: Option<SpeedRange>,
    pub(in crate::report) costs: UnitCosts,
    /// The source of a measured rate.
    pub(in crate::report) measured_by: Option<&'a str>,
    /// The reason why the speed is unknown.
    pub(in crate::report) because: Option<&'static str>,
}

/// A column with its heading.
type Column = (&'static str, fn(&UnitWork<'_>) -> Option<SpeedRange>);

pub(in crate::report) const COLUMNS: [Column; 6] = [
    ("tokens/s", |it| it.tokens_per_second),
    ("ms per token", |it| it.ms_per_token),
    ("$/M tokens at full load", |it| it.costs.per_million_at_full_load),
    ("$/M tokens at your traffic", |it| it.costs.per_million_at_traffic),
    ("$ per thousand requests", |it| it.costs.per_thousand_requests),
    ("$ per seat and month", |it| it.costs.per_seat),
];

impl UnitWork<'_> {
    /// Returns true if at least one value is known.
    pub(in crate::report) fn is_known(&self) -> bool {
        COLUMNS.iter().any(|(_, read)| read(self).is_some())
    }
}

/// Returns the unit costs of all resources, in the order of the inventory.
pub(in crate::report) fn unit_work<'a>(report: &Report<'a>) -> Vec<UnitWork<'a>> {
    (0..report.inventory.resources.len()).filter_map(|at| of(report, at)).collect()
}

/// Returns the unit costs of one resource.
pub(in crate::report) fn of<'a>(report: &Report<'a>, at: usize) -> Option<UnitWork<'a>> {
    let (resource, item) = (report.inventory.resources.get(at)?, report.bill.items.get(at)?);
    let fact = report.fits.get(at).unwrap_or(&Fact::Absent);
    let served = fact.value().filter(|it| it.task == Task::Serve);
    let placed = placed(fact);
    let costs = UnitCosts::new(resource, item, fact);
    let speed = placed.and_then(|it| it.speed.as_ref().ok());
    let because = match placed.map(|it| &it.speed) {
        Some(Err(why)) => Some(*why),
        None if served.is_some() => Some("the accelerators are unknown"),
        _ => None,
    };
    (served.is_some() || costs != UnitCosts::default()).then_some(UnitWork {
        resource,
        model: served.map(|it| it.model.as_str()),
        tokens_per_second: speed.map(|it| it.tokens_per_second),
        ms_per_token: speed.map(|it| it.ms_per_token),
        costs,
        measured_by: placed.and_then(|it| it.measured_by.as_deref()),
        because,
    })
}

/// Returns the reasons for unknown rates, each with the number of servers, the most frequent first.
pub(in crate::report) fn reasons(work: &[UnitWork<'_>]) -> Vec<(usize, &'static str)> {
    let mut found: Vec<(usize, &'static str)> = Vec::new();
    for why in work.iter().filter_map(|it| it.because) {
        match found.iter_mut().find(|(_, other)| *other == why) {
            Some((count, _)) => *count += 1,
            None => found.push((1, why)),
        }
    }
    found.sort_by(|one, two| two.0.cmp(&one.0).then(one.1.cmp(two.1)));
    found
}
