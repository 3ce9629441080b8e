//! Finds gaps in a curve: points at which the cost of a resource is unknown, and known before or after.

use std::collections::BTreeMap;

use super::CostHistory;
use super::snapshot::{Holding, Snapshot};
use super::steps::{CostStep, CostStepKind, by_key};

/// Returns whether each point lacks the cost of a resource that earlier or later points know. A total without that
/// resource is neither a decrease nor an increase.
pub(in crate::report) fn unknown_points(history: &CostHistory) -> Vec<bool> {
    let lost = by_place(history, CostStepKind::NoLongerKnown, |step| Some(step.to));
    let gained = by_place(history, CostStepKind::BecameKnown, |step| step.from);
    let places = 0..history.points.len();
    let mut unknown = vec![false; history.points.len()];
    mark(history, &mut unknown, places.clone(), &lost);
    mark(history, &mut unknown, places.rev(), &gained);
    unknown
}

type Places<'a> = BTreeMap<usize, Vec<&'a Holding>>;

/// Returns the last known resources of steps of one kind, by the point at which each is unknown.
fn by_place(history: &CostHistory, kind: CostStepKind, place: impl Fn(&CostStep) -> Option<usize>) -> Places<'_> {
    let mut places = Places::new();
    for step in &history.steps {
        let Some(place) = place(step) else { continue };
        let changes = step.changes.iter().filter(|it| it.kind == kind);
        let known = changes.filter_map(|it| it.before.iter().chain(&it.after).find(|it| it.is_known()));
        places.entry(place).or_default().extend(known);
    }
    places
}

/// Follows each unknown resource as long as it stays unknown.
fn mark<'a>(history: &'a CostHistory, unknown: &mut [bool], order: impl Iterator<Item = usize>, begins: &Places<'a>) {
    let mut open: Vec<&Holding> = Vec::new();
    for place in order {
        let Some(snapshot) = history.points.get(place).and_then(|it| it.snapshot()) else { continue };
        if !open.is_empty() {
            retain_unknown(&mut open, snapshot);
        }
        open.extend(begins.get(&place).into_iter().flatten());
        if let Some(it) = unknown.get_mut(place) {
            *it |= !open.is_empty();
        }
    }
}

fn retain_unknown(open: &mut Vec<&Holding>, snapshot: &Snapshot) {
    let there = by_key(snapshot);
    open.retain(|it| match there.get(&(&it.run, it.address.as_str(), 0)) {
        Some(own) => !own.is_known(),
        None => snapshot.may_hide(it),
    });
}
