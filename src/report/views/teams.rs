//! Computes the cost of each team before and after a change.

use std::collections::BTreeMap;

use crate::catalog::{Money, MoneyRange};
use crate::inventory::{BillingRole, Resource, ResourceId};
use crate::pricing::CostSum;
use crate::report::Report;

/// The cost of machines of a team, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Team {
    /// The name of the team; `None` for resources without a team label.
    pub name: Option<String>,
    pub before: CostSum,
    pub after: CostSum,
}

impl Team {
    /// Returns the difference of the known cost.
    pub(in crate::report) fn difference(&self) -> MoneyRange {
        self.after.minimum() - self.before.minimum()
    }
}

/// Label keys that name a team, the most specific first.
const KEYS: [&str; 8] = ["team", "squad", "owner", "department", "cost-center", "costcenter", "project", "service"];

/// Returns the team label of a resource.
pub(in crate::report) fn team(resource: &Resource) -> Option<&str> {
    label(resource, &KEYS)
}

/// Returns the first of these label keys that a resource has; keys can have a prefix, capitals and other separators.
pub(in crate::report) fn label<'a>(resource: &'a Resource, keys: &[&str]) -> Option<&'a str> {
    let plain = |key: &str| key.rsplit('/').next().unwrap_or(key).to_lowercase().replace(['_', '.', ' '], "-");
    let named = |wanted: &&str| {
        let mut entries = resource.labels.entries.iter();
        entries.find_map(|(key, value)| value.value().filter(|_| plain(key) == **wanted))
    };
    keys.iter().find_map(named).map(AsRef::as_ref).filter(|value: &&str| !value.trim().is_empty())
}

/// Returns the teams of both states, the largest change first. Counts machines, or pods if there are no machines.
pub fn teams(before: &Report, after: &Report) -> Vec<Team> {
    let is_rented =
        [before, after].iter().any(|it| it.inventory.resources.iter().any(|it| it.role == BillingRole::Rented));
    let role = if is_rented { BillingRole::Rented } else { BillingRole::Requested };
    let mut teams: BTreeMap<Option<String>, (CostSum, CostSum)> = BTreeMap::new();
    for (report, is_after) in [(before, false), (after, true)] {
        for (place, resource) in report.inventory.resources.iter().enumerate() {
            let cost = report.bill.cost_of(report.inventory, ResourceId(place));
            if resource.role != role || !resource.is_added() || cost.is_nothing() {
                continue;
            }
            let sums = teams.entry(team(resource).map(str::to_owned)).or_default();
            let sum = if is_after { &mut sums.1 } else { &mut sums.0 };
            *sum += &cost;
        }
    }
    let team = |(name, (before, after))| Team { name, before, after };
    let mut teams: Vec<Team> = teams.into_iter().map(team).collect();
    let moved = |team: &Team| -> Money {
        let difference = team.difference().expected;
        if difference < Money::ZERO { -difference } else { difference }
    };
    teams.sort_by(|a, b| moved(b).cmp(&moved(a)).then_with(|| a.name.cmp(&b.name)));
    teams
}
