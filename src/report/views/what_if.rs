//! Compares scenarios with today: affected resources, cost, and findings that appear or disappear.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::{Money, MoneyRange};
use crate::decide::Decided;
use crate::fit::placed;
use crate::inventory::{BillingRole, Fact, Key, Range, Resource};
use crate::pricing::{Period, Status};
use crate::report::Report;

/// The current configuration, or a scenario.
pub struct Case<'a> {
    pub name: &'a str,
    /// The requested changes.
    pub set: &'a [(String, String)],
    /// True if the scenario sets how many machines a block creates.
    pub is_counted_anew: bool,
    pub report: Report<'a>,
}

/// Several scenarios. The first one is the current configuration.
pub struct Cases<'a> {
    /// The addresses that the user named.
    pub on: &'a [String],
    /// The changed addresses.
    pub about: &'a BTreeSet<String>,
    pub all: Vec<Case<'a>>,
}

impl<'a> Cases<'a> {
    pub(in crate::report) fn today(&self) -> Option<&Case<'a>> {
        self.all.first()
    }

    /// Returns the indexes of the resources that a case changes.
    pub(in crate::report) fn changed(&self, case: &Case<'a>) -> Vec<usize> {
        let blocks: BTreeSet<Arc<str>> = match self.today().filter(|_| case.is_counted_anew) {
            Some(today) => {
                let all = today.report.inventory.resources.iter();
                all.filter(|it| self.about.contains(&it.address)).map(|it| it.declared.block.clone()).collect()
            }
            None => BTreeSet::new(),
        };
        let is_one = |it: &Resource| {
            let is_more = !it.declared.block.is_empty() && blocks.contains(&it.declared.block);
            self.about.contains(&it.address) || is_more
        };
        let all = case.report.inventory.resources.iter().enumerate();
        all.filter(|(_, it)| is_one(it)).map(|(at, _)| at).collect()
    }

    /// Returns the indexes of these resources and of the pods that run on them.
    pub(in crate::report) fn concerned(&self, case: &Case<'a>) -> Vec<usize> {
        let changed = self.changed(case);
        let all = &case.report.inventory.resources;
        let pools: BTreeSet<&str> =
            changed.iter().filter_map(|at| all.get(*at)).map(|it| it.address.as_str()).collect();
        let runs_there = |it: &Resource| it.pools().any(|pool| pools.contains(pool));
        let others = all.iter().enumerate().filter(|(at, it)| !changed.contains(at) && runs_there(it));
        changed.iter().copied().chain(others.map(|(at, _)| at)).collect()
    }

    /// Returns notes about side effects of a case.
    pub(in crate::report) fn notes(&self, case: &Case<'a>) -> Vec<String> {
        let Some(today) = self.today() else { return Vec::new() };
        let mut notes = Vec::new();
        let all = &case.report.inventory.resources;
        let (before, after) = (self.changed(today), self.changed(case));
        let resources = |of: &Case<'a>, places: &[usize]| -> Vec<&'a Resource> {
            let all = &of.report.inventory.resources;
            places.iter().filter_map(|at| all.get(*at)).collect()
        };
        for it in resources(today, &before).into_iter().filter(|_| !case.is_counted_anew) {
            if !all.iter().any(|now| (&now.run, &now.address) == (&it.run, &it.address)) {
                let left_out = "is left out: its accelerators are no longer known";
                notes.push(format!("{} {left_out}", it.address));
            }
        }
        if after.is_empty() && case.is_counted_anew {
            notes.push("no machine is left".to_owned());
        }
        for it in resources(today, &self.concerned(today)) {
            let is_it = |other: &&Resource| (&other.run, &other.address) == (&it.run, &it.address);
            let Some(now) = all.iter().find(is_it) else { continue };
            for pool in it.pools().filter(|pool| now.pools().all(|it| it != *pool)) {
                notes.push(format!("{} no longer matches {pool}: it requests another machine", it.address));
            }
        }
        for (at, it) in after.iter().filter_map(|at| Some((*at, all.get(*at)?))) {
            let item = case.report.bill.items.get(at);
            match item.map(|item| &item.status) {
                Some(Status::Unpriced(why)) => notes.push(format!("{} has no price: {why}", it.address)),
                Some(Status::Estimated(why)) => notes.push(format!("{} is estimated: {why}", it.address)),
                _ => {}
            }
            if let Some(why) = item.and_then(|item| item.stale.as_ref()) {
                notes.push(format!("{}: {why}", it.address));
            }
        }
        let mut told = BTreeSet::new();
        notes.retain(|note| told.insert(note.clone()));
        notes
    }
}

/// The cost of changed resources with the same period: month, run or hour.
#[derive(Debug, Default)]
pub(in crate::report) struct WhatIfCost {
    pub(in crate::report) resources: usize,
    /// The cost of all these resources per hour.
    pub(in crate::report) an_hour: Money,
    pub(in crate::report) amount: MoneyRange,
    /// True if some have no price or an unknown number.
    pub(in crate::report) is_partial: bool,
    pub(in crate::report) is_estimated: bool,
}

/// Returns the costs by period. Pods on these machines add no cost.
pub(in crate::report) fn costs(report: &Report<'_>, places: &[usize]) -> BTreeMap<Period, WhatIfCost> {
    let mut all: BTreeMap<Period, WhatIfCost> = BTreeMap::new();
    let items = places.iter().filter_map(|at| report.bill.items.get(*at));
    for item in items.filter(|item| !item.is_within) {
        let cost = all.entry(item.per).or_default();
        cost.resources += 1;
        cost.is_estimated |= item.is_estimated();
        match (item.amount, item.hourly(), item.count) {
            (Some(amount), Some(hourly), Some(count)) => {
                cost.amount += amount;
                cost.an_hour += hourly.expected.times(finite(count));
            }
            _ => cost.is_partial = true,
        }
    }
    all
}

fn finite(count: Range) -> f64 {
    if count.expected.is_finite() { count.expected } else { count.floor }
}

/// Returns the different values of a fact.
pub(in crate::report) fn join_fact_values(report: &Report<'_>, places: &[usize], key: Key) -> String {
    let resources = places.iter().filter_map(|at| report.inventory.resources.get(*at));
    let words: BTreeSet<String> = resources.map(|it| word(it, key)).filter(|word| !word.is_empty()).collect();
    match words.len() {
        0..=2 => words.into_iter().collect::<Vec<_>>().join(", "),
        more => format!("{more} kinds"),
    }
}

fn word(it: &Resource, key: Key) -> String {
    match (it.fact(key), key) {
        (Fact::Known(known), _) => known.value.to_string(),
        (Fact::Unknown(_), _) => "?".to_owned(),
        (Fact::Absent, Key::Machine) if it.role == BillingRole::Rented => "any".to_owned(),
        (Fact::Absent, Key::Purchase) => "on-demand".to_owned(),
        (Fact::Absent, _) => String::new(),
    }
}

/// Returns text such as `8 × H100`, for one machine or pod.
pub(in crate::report) fn accelerators(report: &Report<'_>, places: &[usize]) -> String {
    let told = places.iter().filter_map(|at| report.inventory.resources.get(*at)).map(|it| {
        let name = word(it, Key::Accelerator);
        match it.number(Key::AcceleratorCount) {
            Some(count) if !name.is_empty() => format!("{} × {name}", crate::resolve::plain(count)),
            _ => name,
        }
    });
    let told: BTreeSet<String> = told.filter(|it| !it.is_empty()).collect();
    match told.len() {
        0..=2 => told.into_iter().collect::<Vec<_>>().join(", "),
        more => format!("{more} kinds"),
    }
}

/// Returns whether the models fit. If the verdicts differ, each has its number of resources.
pub(in crate::report) fn fits(report: &Report<'_>, places: &[usize]) -> String {
    let mut verdicts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for at in places {
        if let Some(verdict) = fit(report, *at) {
            *verdicts.entry(verdict).or_default() += 1;
        }
    }
    match verdicts.len() {
        1 => verdicts.into_keys().collect(),
        _ => verdicts.into_iter().map(|(word, n)| format!("{n} {word}")).collect::<Vec<_>>().join(", "),
    }
}

/// Returns whether the model of one resource fits; `?` if this is unknown.
pub(in crate::report) fn fit(report: &Report<'_>, at: usize) -> Option<&'static str> {
    match report.fits.get(at)? {
        Fact::Absent => None,
        fact => Some(placed(fact).map_or("?", |it| it.verdict.name())),
    }
}

/// Returns the findings that only the first state has, compared by rule and address.
pub(in crate::report) fn beyond<'f>(these: &Report<'f>, others: &Report<'_>) -> Vec<&'f Decided> {
    let mut known: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    for decided in others.findings.iter().filter(|it| it.counts()) {
        *known.entry(identity(others, decided)).or_default() += 1;
    }
    let is_new = |decided: &&Decided| match known.get_mut(&identity(these, decided)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    these.findings.iter().filter(|it| it.counts()).filter(is_new).collect()
}

fn identity(report: &Report<'_>, decided: &Decided) -> (String, Option<String>) {
    let finding = &decided.finding;
    (finding.rule.clone(), finding.address(report.inventory).map(str::to_owned))
}
