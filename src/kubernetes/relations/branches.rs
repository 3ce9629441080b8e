//! Merges the readings of a template that is not rendered, because gpulint does not know which branches are taken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inventory::{Fact, Key, Range, Resource, UnknownFact};
use crate::kubernetes::pods::workload::FoundResource;

/// Merges other readings into the first one, with one resource for each object. If a fact differs between readings, it
/// has several possible values. If an object is missing in some readings, it may not exist.
pub(in crate::kubernetes) fn merge(found: &mut Vec<FoundResource>, others: Vec<Vec<FoundResource>>) {
    if others.is_empty() {
        return;
    }
    let readings = others.len() + 1;
    let mut places: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let mut all: Vec<(FoundResource, Vec<Resource>)> = Vec::new();
    for reading in [std::mem::take(found)].into_iter().chain(others) {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for it in reading {
            let number = numbers.entry(it.resource.address.clone()).or_default();
            *number += 1;
            match places.get(&(it.resource.address.clone(), *number)).and_then(|place| all.get_mut(*place)) {
                Some((_, others)) => others.push(it.resource),
                None => {
                    places.insert((it.resource.address.clone(), *number), all.len());
                    all.push((it, Vec::new()));
                }
            }
        }
    }
    found.extend(all.into_iter().map(|(mut one, others)| {
        unite(&mut one.resource, &others, others.len() + 1 < readings);
        one
    }));
}

/// Marks facts as unknown if the readings of an object differ.
fn unite(one: &mut Resource, others: &[Resource], may_be_missing: bool) {
    let why: Arc<str> = "it is in a template, under a condition that gpulint did not evaluate".into();
    let keys: BTreeSet<Key> = [&*one].into_iter().chain(others).flat_map(|it| it.facts().map(|(key, _)| key)).collect();
    for key in keys {
        let facts = || others.iter().map(|it| it.fact(key));
        if facts().all(|other| is_same_fact(one.fact(key), other)) {
            continue;
        }
        let span = std::iter::once(one.fact(key)).chain(facts()).find_map(Fact::span).unwrap_or(one.span);
        let candidates = candidates(std::iter::once(one.fact(key)).chain(facts()));
        if keeps_its_own_reason(one.fact(key), &candidates) {
            continue;
        }
        one.set(key, Fact::Unknown(UnknownFact { span, why: why.clone(), candidates }));
    }
    let counts = || others.iter().map(|it| &it.count);
    if may_be_missing || !counts().all(|other| is_same_fact(&one.count, other)) {
        let span = one.count.span().unwrap_or(one.span);
        let mut candidates = candidates(std::iter::once(&one.count).chain(counts()));
        if may_be_missing && !candidates.is_empty() {
            candidates.insert(0, Range::exactly(0.0));
        }
        if !keeps_its_own_reason(&one.count, &candidates) {
            one.count = Fact::Unknown(UnknownFact { span, why, candidates });
        }
    }
}

/// Returns whether a fact is unknown for its own reason, which is more precise than the template.
fn keeps_its_own_reason<T>(fact: &Fact<T>, candidates: &[T]) -> bool {
    candidates.is_empty() && matches!(fact, Fact::Unknown(_))
}

fn is_same_fact<T: PartialEq>(one: &Fact<T>, other: &Fact<T>) -> bool {
    match (one, other) {
        (Fact::Known(one), Fact::Known(other)) => one.value == other.value,
        (Fact::Unknown(one), Fact::Unknown(other)) => one.candidates == other.candidates,
        (Fact::Absent, Fact::Absent) => true,
        _ => false,
    }
}

/// Returns the distinct values of facts; empty if one of the facts may have any value.
fn candidates<'f, T: Clone + PartialEq + 'f>(facts: impl Iterator<Item = &'f Fact<T>>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for fact in facts {
        let values = match fact {
            Fact::Known(known) => std::slice::from_ref(&known.value),
            Fact::Unknown(unknown) => &unknown.candidates,
            Fact::Absent => &[],
        };
        if values.is_empty() {
            return Vec::new();
        }
        for value in values {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
    }
    all
}
