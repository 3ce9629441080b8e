//! Which commit brought each dollar of today's bill.

use std::collections::BTreeMap;

use super::History;
use super::point::Commit;
use super::snapshot::Holding;
use super::steps::{Step, StepKind, by_key};
use crate::catalog::Money;

/// One resource of today's bill.
#[derive(Debug, Clone, PartialEq)]
pub struct Blame<'a> {
    pub holding: &'a Holding,
    /// The change since which it costs what it costs; none where that was so before the history begins.
    pub since: Option<BlamedCommit<'a>>,
    /// The change that first brought it.
    pub added: Option<BlamedCommit<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlamedCommit<'a> {
    pub commit: &'a Commit,
    /// So many commits before it may have done it as well: nobody looked at them, or they could not be read.
    pub between: usize,
    /// By how much its month grew then.
    pub delta: Money,
}

/// The steps that brought and last changed something.
#[derive(Clone, Copy, Default)]
struct Brought {
    added: Option<(usize, Money)>,
    since: Option<(usize, Money)>,
}

type Key = (Option<String>, String);

/// Every resource that sums count today, the most expensive first.
pub fn blame(history: &History) -> Vec<Blame<'_>> {
    let Some((_, newest)) = history.newest() else { return Vec::new() };
    let mut brought: BTreeMap<Key, Brought> = BTreeMap::new();
    for (place, step) in history.steps.iter().enumerate() {
        follow(&mut brought, place, step);
    }
    let of = |step: Option<(usize, Money)>| {
        let (place, delta) = step?;
        let step = history.steps.get(place)?;
        Some(BlamedCommit { commit: &history.points.get(step.to)?.commit, between: step.between, delta })
    };
    let told = by_key(newest).into_values().map(|holding| {
        let found = brought.get(&key(holding)).copied().unwrap_or_default();
        Blame { holding, since: of(found.since), added: of(found.added) }
    });
    let mut told: Vec<Blame<'_>> = told.collect();
    let monthly = |it: &Blame<'_>| it.holding.monthly.map_or(Money::ZERO, |it| it.expected);
    told.sort_by(|a, b| {
        let names = |it: &Blame<'_>| (it.holding.address.clone(), it.holding.run.clone());
        monthly(b).cmp(&monthly(a)).then_with(|| names(a).cmp(&names(b)))
    });
    told
}

fn key(it: &Holding) -> Key {
    (it.run.clone(), it.address.clone())
}

fn follow(brought: &mut BTreeMap<Key, Brought>, place: usize, step: &Step) {
    // All that moves goes before anything of it comes: two may change places.
    let moved: Vec<(Key, Brought)> = step
        .changes
        .iter()
        .filter(|it| it.kind == StepKind::Moved)
        .filter_map(|it| Some((key(it.after.as_ref()?), brought.remove(&key(it.before.as_ref()?))?)))
        .collect();
    brought.extend(moved);
    for change in &step.changes {
        let now = Some((place, change.delta()));
        match (change.kind, &change.after) {
            (StepKind::Added, Some(it)) => drop(brought.insert(key(it), Brought { added: now, since: now })),
            (StepKind::Changed, Some(it)) => {
                let known = brought.entry(key(it)).or_default();
                let is_same_price =
                    change.before.as_ref().map(|it| (it.monthly, it.amount)) == Some((it.monthly, it.amount));
                if !is_same_price {
                    known.since = now;
                }
            }
            (StepKind::Removed, _) => {
                if let Some(it) = &change.before {
                    brought.remove(&key(it));
                }
            }
            _ => {}
        }
    }
}
