//! Writes the changes as table rows: instances of one block with the same change are one row.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cost, Difference, of_month};
use crate::catalog::MoneyRange;
use crate::inventory::{BillingRole, RunKind};
use crate::pricing::{ChangeKind, KnownSides, Period, ResourceCostChange};
use crate::report::Report;
use crate::source::Span;

/// Equal changes of instances of one block.
pub(super) struct DifferenceRow<'a> {
    /// The change with the largest amount.
    pub(super) first: &'a ResourceCostChange,
    pub(super) all: Vec<&'a ResourceCostChange>,
    /// The number of deployments that contain these changes: roots, overlays, environments.
    pub(super) runs: usize,
    /// The kind of these deployments, if all have the same kind.
    places: &'static str,
    /// The total of all resources in the row; `None` if one of them has no price.
    pub(super) before: Option<Cost>,
    pub(super) after: Option<Cost>,
}

impl DifferenceRow<'_> {
    /// Returns the address, without instance keys if the row contains several.
    pub(super) fn name(&self, it: &Difference) -> String {
        let address = it.address(self.first);
        match (self.all.len(), self.runs) {
            (1, _) => address.into_owned(),
            (_, 1) => without_keys(&address),
            _ => without_keys(address.split(" (").next().unwrap_or(&address)),
        }
    }

    /// Returns text such as ` × 3`, ` in 8 roots`.
    pub(super) fn number(&self) -> String {
        match (self.all.len(), self.runs) {
            (1, _) => String::new(),
            (all, 1) => format!(" × {all}"),
            (all, runs) if all == runs => format!(" in {runs} {}", self.places),
            (all, runs) => format!(" × {all} in {runs} {}", self.places),
        }
    }
}

/// The effect of a change on an environment, before and after.
pub(super) struct EnvironmentChange {
    pub(super) name: String,
    pub(super) before: MoneyRange,
    pub(super) after: MoneyRange,
}

/// Sorts the rows, the largest change first.
pub(super) fn rows<'a>(it: &'a Difference) -> Vec<DifferenceRow<'a>> {
    let mut rows: Vec<DifferenceRow<'a>> = Vec::new();
    let mut known: BTreeMap<Alike, usize> = BTreeMap::new();
    for change in it.largest_first() {
        let (before, after) = it.costs(change);
        match alike(it, change).map(|alike| *known.entry(alike).or_insert(rows.len())) {
            Some(at) if at < rows.len() => {
                let row = &mut rows[at];
                row.all.push(change);
                row.before = together(row.before, before);
                row.after = together(row.after, after);
            }
            _ => rows.push(DifferenceRow { first: change, all: vec![change], runs: 1, places: "", before, after }),
        }
    }
    for row in &mut rows {
        let runs: BTreeMap<String, Option<RunKind>> = row.all.iter().map(|change| run(it, change)).collect();
        row.runs = runs.len();
        row.places = match () {
            () if runs.values().all(|kind| *kind == Some(RunKind::Root)) => "roots",
            () if runs.values().all(|kind| *kind == Some(RunKind::Kustomization)) => "overlays",
            () => "places",
        };
    }
    rows
}

/// The key of changes that are shown as one row: place, kind of change, and period.
type Alike = (Option<Span>, Option<Span>, &'static str, String, Vec<Option<Period>>);

/// Returns the key by which changes share a row: their resources differ only in the address. A moved resource has two
/// places and gets its own row.
fn alike(it: &Difference, change: &ResourceCostChange) -> Option<Alike> {
    if change.kind == ChangeKind::Moved {
        return None;
    }
    let place = |report: &Report, id| {
        let span = report.resource(id)?.span;
        Some(report.sources.origin(span))
    };
    let (before, after) = it.costs(change);
    let details: Vec<String> =
        change.details.iter().map(|it| format!("{} {} → {}", it.what, it.before, it.after)).collect();
    let periods = [before, after].into_iter().map(|cost| cost.map(|cost| cost.per)).collect();
    let (before, after) = (place(&it.before, change.before), place(&it.after, change.after));
    Some((before, after, change.kind.name(), details.join(", "), periods))
}

fn together(one: Option<Cost>, other: Option<Cost>) -> Option<Cost> {
    let (one, other) = (one?, other?);
    Some(Cost {
        range: one.range + other.range,
        is_estimated: one.is_estimated || other.is_estimated,
        is_unlimited: one.is_unlimited || other.is_unlimited,
        ..one
    })
}

/// Returns the name and kind of the deployment of a change; empty without one.
fn run(it: &Difference, change: &ResourceCostChange) -> (String, Option<RunKind>) {
    let of = |report: &Report, id| {
        let run = report.resource(id)?.run.as_ref()?;
        let known = report.inventory.run(run);
        Some((known.map_or_else(|| run.to_string(), |run| report.name_of(run)), known.map(|run| run.kind)))
    };
    of(&it.after, change.after).or_else(|| of(&it.before, change.before)).unwrap_or_default()
}

/// Returns the deployments that the change affects, with the effect on each, if there are several: the largest change
/// first.
pub(super) fn environments(it: &Difference) -> Vec<EnvironmentChange> {
    let touched: BTreeSet<String> =
        it.delta.visible().map(|change| run(it, change).0).filter(|it| !it.is_empty()).collect();
    if touched.len() < 2 {
        return Vec::new();
    }
    let role = if it.delta.rented.is_nothing() { BillingRole::Requested } else { BillingRole::Rented };
    let mut sums: BTreeMap<String, (MoneyRange, MoneyRange)> = BTreeMap::new();
    for change in it.delta.visible() {
        let resource = it.after.resource(change.after).or_else(|| it.before.resource(change.before));
        if resource.is_none_or(|it| it.role != role) {
            continue;
        }
        // There is no difference if only one state knows the cost.
        if change.known != KnownSides::Both {
            continue;
        }
        let (before, after) = it.costs(change);
        let sum = sums.entry(run(it, change).0).or_default();
        sum.0 += of_month(before).unwrap_or_default();
        sum.1 += of_month(after).unwrap_or_default();
    }
    let one = |(name, (before, after))| EnvironmentChange { name, before, after };
    let mut all: Vec<EnvironmentChange> = sums.into_iter().map(one).filter(|it| it.before != it.after).collect();
    let moved = |it: &EnvironmentChange| (it.after.expected - it.before.expected).micros().unsigned_abs();
    all.sort_by(|a, b| moved(b).cmp(&moved(a)).then_with(|| a.name.cmp(&b.name)));
    if all.len() > 1 { all } else { Vec::new() }
}

/// Returns the common address of all instances of a block: `module.a.aws_instance.b` for
/// `module.a["x"].aws_instance.b[0]`.
fn without_keys(address: &str) -> String {
    let mut depth = 0usize;
    let outside = address.chars().filter(|c| match c {
        '[' => {
            depth += 1;
            false
        }
        ']' => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0,
    });
    outside.collect()
}
