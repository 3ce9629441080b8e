//! Finds the commit that added each dollar of today's cost.

use std::collections::BTreeMap;

use super::CostHistory;
use super::point::{BranchCommit, Commit};
use super::snapshot::{Holding, SnapshotAmount};
use super::steps::{CostStep, CostStepKind, StepChange, by_key};
use crate::catalog::Money;

/// One resource of today's state.
#[derive(Debug, Clone, PartialEq)]
pub struct Blame<'a> {
    pub holding: &'a Holding,
    /// The last change of the cost; `None` if that was before the history begins.
    pub since: Option<BlamedCommit<'a>>,
    /// The change that first added the resource.
    pub added: Option<BlamedCommit<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlamedCommit<'a> {
    pub commit: &'a Commit,
    /// The commit of the merged branch that made the change, if the commit is a merge and this is known.
    pub by: Option<&'a BranchCommit>,
    /// The number of earlier commits that may have made the change as well, because they were not evaluated or not
    /// readable.
    pub between: usize,
    /// The increase of the monthly cost; none if the cost was unknown before or is unknown after.
    pub delta: Option<Money>,
}

/// The commits that added and last changed a resource.
#[derive(Clone, Copy, Default)]
struct Brought<'a> {
    added: Option<BlamedCommit<'a>>,
    since: Option<BlamedCommit<'a>>,
    /// The last known cost, as long as the cost is unknown.
    lost: Option<Lost<'a>>,
}

/// The cost of a resource before it became unknown, and the time of that change.
#[derive(Clone, Copy)]
struct Lost<'a> {
    holding: &'a Holding,
    since: Option<BlamedCommit<'a>>,
}

type Key = (Option<String>, String);

/// Returns every resource in today's total, the most expensive first.
pub fn blame(history: &CostHistory) -> Vec<Blame<'_>> {
    let Some((_, newest)) = history.newest() else { return Vec::new() };
    let mut brought: BTreeMap<Key, Brought<'_>> = BTreeMap::new();
    for step in &history.steps {
        follow(&mut brought, history, step);
    }
    let told = by_key(newest).into_values().map(|holding| {
        let Brought { added, since, .. } = brought.get(&key(holding)).copied().unwrap_or_default();
        Blame { holding, since, added }
    });
    let mut told: Vec<Blame<'_>> = told.collect();
    told.sort_by(|a, b| {
        let names = |it: &Blame<'_>| (it.holding.address.clone(), it.holding.run.clone());
        monthly(b.holding).cmp(&monthly(a.holding)).then_with(|| names(a).cmp(&names(b)))
    });
    told
}

fn monthly(it: &Holding) -> Money {
    it.monthly.map_or(Money::ZERO, |it| it.expected)
}

fn key(it: &Holding) -> Key {
    (it.run.clone(), it.address.clone())
}

fn price(it: &Holding) -> (Option<SnapshotAmount>, Option<SnapshotAmount>) {
    (it.monthly, it.amount)
}

fn follow<'a>(brought: &mut BTreeMap<Key, Brought<'a>>, history: &'a CostHistory, step: &'a CostStep) {
    // All moves are removed before they are added: two resources can exchange their places.
    let moved: Vec<(Key, Brought<'a>)> = step
        .changes
        .iter()
        .filter(|it| it.kind == CostStepKind::Moved)
        .filter_map(|it| Some((key(it.after.as_ref()?), brought.remove(&key(it.before.as_ref()?))?)))
        .collect();
    brought.extend(moved);
    let Some(commit) = history.points.get(step.to).map(|it| &it.commit) else { return };
    for change in &step.changes {
        let by = |delta| Some(BlamedCommit { commit, by: change.by.as_ref(), between: step.between, delta });
        let now = by(change.delta());
        match (change.kind, &change.before, &change.after) {
            (CostStepKind::Added, _, Some(is)) => {
                brought.insert(key(is), Brought { added: now, since: now, lost: None });
            }
            (CostStepKind::Changed, Some(was), Some(is)) if price(was) != price(is) => {
                brought.entry(key(is)).or_default().since = now;
            }
            (CostStepKind::Removed, Some(was), _) => drop(brought.remove(&key(was))),
            (CostStepKind::NoLongerKnown, Some(was), _) => {
                let entry = brought.entry(key(was)).or_default();
                entry.lost = Some(Lost { holding: was, since: entry.since });
                entry.since = by(None);
            }
            (CostStepKind::BecameKnown, _, Some(is)) => {
                let first = || Brought { added: first_declared(history, step, change), ..Brought::default() };
                let entry = brought.entry(key(is)).or_insert_with(first);
                entry.since = match entry.lost.take() {
                    Some(lost) if price(lost.holding) == price(is) => lost.since,
                    lost => by(lost.map(|it| monthly(is) - monthly(it.holding))),
                };
            }
            _ => {}
        }
    }
}

/// Returns the commit that first declared a resource whose cost became known later; none if that was before the
/// history begins.
fn first_declared<'a>(
    history: &'a CostHistory,
    step: &'a CostStep,
    change: &'a StepChange,
) -> Option<BlamedCommit<'a>> {
    let holding = change.after.as_ref()?;
    let earlier = history.points.get(..=step.from?)?;
    let is_open = |at: &usize| earlier.get(*at).and_then(|it| it.snapshot()).is_none_or(|it| it.may_hide(holding));
    let first = (0..earlier.len()).rev().take_while(is_open).last()?;
    if first == 0 && !history.from_the_first {
        return None;
    }
    let commits = |from: usize, to: usize| -> usize {
        let passed_over = history.points.get(from + 1..=to).unwrap_or_default().iter().map(|it| 1 + it.passed_over);
        passed_over.sum()
    };
    let point = earlier.get(first)?;
    let is_declared = point.snapshot().is_some_and(|it| it.declares(holding));
    let (commit, between) = if is_declared {
        (&point.commit, point.passed_over)
    } else {
        // An unread file may have contained the resource since any of these commits.
        (&history.points.get(step.to)?.commit, point.passed_over + commits(first, step.to))
    };
    Some(BlamedCommit { commit, by: None, between, delta: None })
}
