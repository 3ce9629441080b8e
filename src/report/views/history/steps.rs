//! Computes the difference between two states: added, removed, changed and moved resources.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::CostHistory;
use super::point::{BranchCommit, HistoryPoint, PointState};
use super::snapshot::{Holding, Snapshot};
use crate::catalog::Money;
use crate::measured::paid::BillMonth;
use crate::pricing::{CostChange, CostSum};

/// A point whose cost differs from the previous one.
#[derive(Debug, Clone, PartialEq)]
pub struct CostStep {
    /// The index of the previous point; none for the first one.
    pub from: Option<usize>,
    pub to: usize,
    /// The number of unknown commits before this one: one of them may have made the change.
    pub between: usize,
    /// The change of each total.
    pub rented: CostChange,
    pub requested: CostChange,
    pub combined: CostChange,
    pub accelerators: f64,
    /// The changes of resources, the largest first.
    pub changes: Vec<StepChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostStepKind {
    Added,
    Removed,
    Changed,
    /// The same resource with another name or deployment.
    Moved,
    /// The cost was unknown before, so the resource was not added.
    BecameKnown,
    /// The cost is unknown now, so the resource was not removed.
    NoLongerKnown,
}

impl CostStepKind {
    /// Returns the name for programs.
    pub fn word(self) -> &'static str {
        match self {
            CostStepKind::BecameKnown => "became-known",
            CostStepKind::NoLongerKnown => "no-longer-known",
            kind => kind.name(),
        }
    }

    /// Returns the words before an address.
    pub fn name(self) -> &'static str {
        match self {
            CostStepKind::Added => "added",
            CostStepKind::Removed => "removed",
            CostStepKind::Changed => "changed",
            CostStepKind::Moved => "moved",
            CostStepKind::BecameKnown => "became known:",
            CostStepKind::NoLongerKnown => "no longer known:",
        }
    }
}

/// The change of one resource in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepChange {
    pub kind: CostStepKind,
    pub before: Option<Holding>,
    pub after: Option<Holding>,
    /// The commit of the merged branch that made the change, if the commit is a merge and this is known.
    pub by: Option<BranchCommit>,
}

impl CostStep {
    /// Returns the commit of the merged branch that made the largest change.
    pub fn by(&self) -> Option<&BranchCommit> {
        self.changes.first()?.by.as_ref()
    }
}

impl StepChange {
    pub fn address(&self) -> &str {
        self.after.as_ref().or(self.before.as_ref()).map_or("", |it| &it.address)
    }

    /// Returns the increase of the monthly cost; none if one of the states does not know it.
    pub fn delta(&self) -> Option<Money> {
        let is_unpriced =
            |it: &Option<Holding>| it.as_ref().is_some_and(|it| it.monthly.is_none() && it.amount.is_none());
        match self.kind {
            CostStepKind::BecameKnown | CostStepKind::NoLongerKnown => None,
            _ if is_unpriced(&self.before) || is_unpriced(&self.after) => None,
            _ => Some(self.known_after() - self.known_before()),
        }
    }

    /// Returns the known monthly cost before the step.
    pub fn known_before(&self) -> Money {
        monthly(self.before.as_ref())
    }

    /// Returns the known monthly cost after the step.
    pub fn known_after(&self) -> Money {
        monthly(self.after.as_ref())
    }
}

fn monthly(it: Option<&Holding>) -> Money {
    it.and_then(|it| it.monthly).map_or(Money::ZERO, |it| it.expected)
}

/// The identity of a resource from one state to the next: deployment, address, and position among equal ones.
pub(super) type HoldingKey<'a> = (&'a Option<String>, &'a str, usize);

pub(super) fn by_key(snapshot: &Snapshot) -> BTreeMap<HoldingKey<'_>, &Holding> {
    let mut all: BTreeMap<HoldingKey<'_>, &Holding> = BTreeMap::new();
    let mut counts: BTreeMap<(&Option<String>, &str), usize> = BTreeMap::new();
    for it in snapshot.added() {
        let nth = counts.entry((&it.run, it.address.as_str())).or_default();
        all.insert((&it.run, it.address.as_str(), *nth), it);
        *nth += 1;
    }
    all
}

/// Returns the steps between each known point and the next one.
pub fn steps(points: &[HistoryPoint], from_the_first: bool) -> Vec<CostStep> {
    let nothing = Snapshot::default();
    let mut steps = Vec::new();
    let mut before: Option<(usize, &Snapshot)> = None;
    let mut unknown = 0;
    for (place, point) in points.iter().enumerate() {
        unknown += point.passed_over;
        let PointState::Known(after) = &point.state else {
            unknown += 1;
            continue;
        };
        let after: &Snapshot = after;
        let from = before.map(|(place, _)| place);
        if let Some(earlier) = before.map(|(_, it)| it).or_else(|| (from_the_first && unknown == 0).then_some(&nothing))
        {
            let step = step(earlier, after);
            if !step.changes.is_empty() || !step.combined.is_same() {
                steps.push(CostStep { from, to: place, between: unknown, ..step });
            }
        }
        (before, unknown) = (Some((place, after)), 0);
    }
    steps
}

fn step(before: &Snapshot, after: &Snapshot) -> CostStep {
    let changes = changes(before, after);
    let sums = StepSums { before, after, changes: &changes };
    CostStep {
        from: None,
        to: 0,
        between: 0,
        rented: sums.of(Snapshot::rented, |it| it.is_rented),
        requested: sums.of(Snapshot::requested, |it| !it.is_rented),
        combined: sums.of(Snapshot::combined, |_| true),
        accelerators: sums.accelerators(),
        changes,
    }
}

/// The last known state of a month.
pub(in crate::report) struct HistoryMonth<'a> {
    pub(in crate::report) month: BillMonth,
    pub(in crate::report) commits: usize,
    pub(in crate::report) state: Option<&'a Snapshot>,
    /// The change since the last known state of an earlier month.
    pub(in crate::report) moved: Option<CostChange>,
}

/// Returns all months with commits; none if there is only one.
pub(in crate::report) fn months(history: &CostHistory) -> Vec<HistoryMonth<'_>> {
    let mut months: BTreeMap<BillMonth, (usize, Option<&Snapshot>)> = BTreeMap::new();
    for point in &history.points {
        let (commits, state) = months.entry(BillMonth::of(point.commit.date())).or_default();
        *commits += 1 + point.passed_over;
        *state = point.snapshot().map(|it| &**it).or(*state);
    }
    let is_one = months.len() < 2;
    let mut before: Option<&Snapshot> = None;
    let rows = months.into_iter().map(|(month, (commits, state))| {
        let moved = state.zip(before).map(|(now, before)| course(before, now));
        before = state.or(before);
        HistoryMonth { month, commits, state, moved }
    });
    if is_one { Vec::new() } else { rows.collect() }
}

/// Returns the change of the combined total between two states.
pub(in crate::report) fn course(before: &Snapshot, after: &Snapshot) -> CostChange {
    step(before, after).combined
}

struct StepSums<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
    changes: &'a [StepChange],
}

impl StepSums<'_> {
    fn of(&self, sum: impl Fn(&Snapshot) -> CostSum, counts: impl Fn(&Holding) -> bool) -> CostChange {
        let (before, after) = (sum(self.before), sum(self.after));
        let lost = self.of_kind(CostStepKind::NoLongerKnown, |it| it.before.as_ref());
        let gained = self.of_kind(CostStepKind::BecameKnown, |it| it.after.as_ref());
        if lost.is_empty() && gained.is_empty() {
            let difference = after.minimum() - before.minimum();
            return CostChange { before, after, difference, ..CostChange::default() }.use_expected_without_maximum();
        }
        let both = |state: &Snapshot, without: &[&Holding]| state.month_of(|it| counts(it) && !without.contains(&it));
        let (earlier, later) = (both(self.before, &lost), both(self.after, &gained));
        let (known_before, known_after) = (self.before.month_of(&counts), self.after.month_of(&counts));
        CostChange {
            difference: later - earlier,
            became_known: known_after - later,
            no_longer_known: known_before - earlier,
            before,
            after,
        }
        .use_expected_without_maximum()
    }

    /// Returns the difference of the cost that both states know.
    fn accelerators(&self) -> f64 {
        let lost = self.of_kind(CostStepKind::NoLongerKnown, |it| it.before.as_ref());
        let gained = self.of_kind(CostStepKind::BecameKnown, |it| it.after.as_ref());
        self.after.accelerators_of(|it| !gained.contains(&it)) - self.before.accelerators_of(|it| !lost.contains(&it))
    }

    fn of_kind(&self, kind: CostStepKind, holding: impl Fn(&StepChange) -> Option<&Holding>) -> Vec<&Holding> {
        self.changes.iter().filter(|it| it.kind == kind).filter_map(holding).collect()
    }
}

fn changes(before: &Snapshot, after: &Snapshot) -> Vec<StepChange> {
    let (earlier, later) = (by_key(before), by_key(after));
    let mut gone: Vec<&Holding> = Vec::new();
    let mut changes = Vec::new();
    for (key, was) in &earlier {
        match later.get(key) {
            None => gone.push(was),
            Some(is) if was.costs_as(is) => {}
            Some(is) => changes.push(change(became(was, is), Some(was), Some(is))),
        }
    }
    let new: Vec<&Holding> = later.iter().filter(|(key, _)| !earlier.contains_key(*key)).map(|(_, it)| *it).collect();
    let moved = moves(&gone, &new);
    let (from, to): (BTreeSet<usize>, BTreeSet<usize>) = moved.iter().copied().unzip();
    let pairs = moved.iter().filter_map(|(a, b)| Some((*gone.get(*a)?, *new.get(*b)?)));
    changes.extend(pairs.map(|(was, is)| change(CostStepKind::Moved, Some(was), Some(is))));
    let rest = |all: &[usize], it: usize| all.binary_search(&it).is_err();
    let (from, to): (Vec<usize>, Vec<usize>) = (from.into_iter().collect(), to.into_iter().collect());
    let removed = gone.iter().enumerate().filter(|(at, _)| rest(&from, *at));
    let left = |it: &Holding| if after.may_hide(it) { CostStepKind::NoLongerKnown } else { CostStepKind::Removed };
    changes.extend(removed.map(|(_, it)| change(left(it), Some(it), None)));
    let added = new.iter().enumerate().filter(|(at, _)| rest(&to, *at));
    let come = |it: &Holding| if before.may_hide(it) { CostStepKind::BecameKnown } else { CostStepKind::Added };
    changes.extend(added.map(|(_, it)| change(come(it), None, Some(it))));
    let size = |it: &StepChange| {
        let moved = it.known_after() - it.known_before();
        if moved < Money::ZERO { moved } else { -moved }
    };
    changes.sort_by(|a, b| {
        size(a).cmp(&size(b)).then_with(|| a.kind.cmp(&b.kind)).then_with(|| a.address().cmp(b.address()))
    });
    changes
}

/// Returns the change of a resource that both states have.
fn became(was: &Holding, is: &Holding) -> CostStepKind {
    match (was.is_known(), is.is_known()) {
        (false, true) => CostStepKind::BecameKnown,
        (true, false) => CostStepKind::NoLongerKnown,
        _ => CostStepKind::Changed,
    }
}

fn change(kind: CostStepKind, before: Option<&Holding>, after: Option<&Holding>) -> StepChange {
    StepChange { kind, before: before.cloned(), after: after.cloned(), by: None }
}

/// Pairs removed and added resources that are otherwise equal: first by address, then by name, then by kind in their
/// order.
fn moves(gone: &[&Holding], new: &[&Holding]) -> Vec<(usize, usize)> {
    let address = |it: &Holding| it.address.clone();
    let name = |it: &Holding| it.address.rsplit(['.', '/']).next().unwrap_or_default().to_owned();
    let any = |_: &Holding| String::new();
    let rounds: [&dyn Fn(&Holding) -> String; 3] = [&address, &name, &any];
    let mut moved = Vec::new();
    let (mut from, mut to) = (BTreeSet::new(), BTreeSet::new());
    for called in rounds {
        let mut places: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for (place, is) in new.iter().enumerate().filter(|(place, _)| !to.contains(place)) {
            places.entry(signature(is, &called(is))).or_default().push_back(place);
        }
        for (place, was) in gone.iter().enumerate() {
            if from.contains(&place) {
                continue;
            }
            if let Some(other) = places.get_mut(&signature(was, &called(was))).and_then(VecDeque::pop_front) {
                from.insert(place);
                to.insert(other);
                moved.push((place, other));
            }
        }
    }
    moved
}

/// Returns a string that is equal for two equal resources.
fn signature(it: &Holding, called: &str) -> String {
    let what = (&it.kind, &it.machine, &it.accelerator, it.accelerators, it.count);
    format!("{called:?} {what:?} {:?}", (it.monthly, &it.per, it.amount, it.is_rented))
}
