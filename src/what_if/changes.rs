//! Parses the changes of a scenario: `machine=g6e.xlarge`, `purchase=spot`, `count=1..4`.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::diagnostic::nearest;
use crate::inventory::programs::declared;
use crate::inventory::{Fact, FactValue, Key, Purchase, Range};
use crate::pricing::{HOURS_PER_MONTH, OWN_PROVIDER};
use crate::source::Span;

/// The values that a scenario changes.
#[derive(Debug, Clone, Default)]
pub struct WhatIfChanges {
    /// The changes as they were written. For a repeated key, only the last one counts.
    pub asked: Vec<(String, String)>,
    pub(super) machine: Option<Arc<str>>,
    pub(super) provider: Option<Arc<str>>,
    pub(super) region: Option<Arc<str>>,
    pub(super) accelerator: Option<Arc<str>>,
    pub(super) accelerators: Option<f64>,
    /// The way of buying, and the years of a commitment.
    pub(super) purchase: Option<(Purchase, Option<f64>)>,
    pub(super) count: Option<Range>,
    /// The hours per month.
    pub(super) hours: Option<f64>,
    /// The values that labels can declare, with the label. `None` means that a program decides the value.
    pub(super) declared: Vec<(&'static str, Arc<str>, Key, Option<FactValue>)>,
}

/// The reason why a requested change is not possible.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    pub why: String,
    pub help: String,
}

fn wrong<T>(why: impl Into<String>, help: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { why: why.into(), help: help.into() })
}

/// The keys that change how a resource is provisioned or placed.
const PLACES: [&str; 8] =
    ["machine", "region", "provider", "purchase", "count", "hours", "accelerator", "accelerators"];

/// The keys that change the workload, with the labels that declare the same.
const WORKLOADS: [(&str, &str); 9] = [
    ("model", "gpulint.dev/model"),
    ("params", "gpulint.dev/params"),
    ("precision", "gpulint.dev/precision"),
    ("cache-precision", "gpulint.dev/cache-precision"),
    ("context", "gpulint.dev/context"),
    ("batch-size", "gpulint.dev/batch-size"),
    ("tensor-parallel", "gpulint.dev/tensor-parallel"),
    ("tokens-per-day", "gpulint.dev/tokens-per-day"),
    ("train-tokens", "gpulint.dev/train-tokens"),
];

/// The years of a commitment, by its name.
const COMMITTED: [(&str, f64); 2] = [("reserved-1y", 1.0), ("reserved-3y", 3.0)];

impl WhatIfChanges {
    /// Returns every key that can be set.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        PLACES.into_iter().chain(WORKLOADS.into_iter().map(|(key, _)| key))
    }

    /// Parses the requested changes. `at` can be any position, because a changed value gets the position of the
    /// replaced one.
    pub fn read(asked: &[(String, String)], catalog: &Catalog, at: Span) -> Result<WhatIfChanges, Wrong> {
        let mut changes = WhatIfChanges::default();
        for (key, value) in asked {
            changes.set(key, value.trim(), catalog, at)?;
        }
        changes.demand_one_cloud(catalog)?;
        Ok(changes)
    }

    fn set(&mut self, key: &str, value: &str, catalog: &Catalog, at: Span) -> Result<(), Wrong> {
        if value.is_empty() {
            return wrong(format!("`{key}` has no value"), format!("write {key}=VALUE"));
        }
        self.asked.retain(|(known, _)| known != key);
        self.asked.push((key.to_owned(), value.to_owned()));
        match key {
            "machine" => self.machine = Some(machine(value, catalog)?),
            "provider" => self.provider = Some(provider(value, catalog)?),
            "region" => self.region = Some(region(value, catalog)?),
            "accelerator" => self.accelerator = Some(accelerator(value, catalog)?),
            "accelerators" => self.accelerators = Some(number(key, value, 1024.0)?),
            "purchase" => self.purchase = Some(purchase(value)?),
            "count" => self.count = Some(count(value)?),
            "hours" => self.hours = Some(number(key, value, HOURS_PER_MONTH)?),
            _ => return self.declare(key, value, catalog, at),
        }
        Ok(())
    }

    /// Parses a value as the label of the same meaning is parsed.
    fn declare(&mut self, key: &str, value: &str, catalog: &Catalog, at: Span) -> Result<(), Wrong> {
        let Some((_, label)) = WORKLOADS.into_iter().find(|(known, _)| *known == key) else {
            let all: Vec<&str> = WhatIfChanges::keys().collect();
            let near = nearest(key, WhatIfChanges::keys()).map(|near| format!("did you mean `{near}`? "));
            let help = format!("{}use one of {}", near.unwrap_or_default(), all.join(", "));
            return wrong(format!("`{key}` cannot be set"), help);
        };
        if key == "model" && catalog.models().identify(value).is_none() {
            let near = catalog.models().nearest(value);
            let near = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(", ")) };
            let help = format!("{near}for a model that gpulint does not list, set its size, such as params=7b");
            if !self.asked.iter().any(|(key, _)| key == "params") {
                return wrong(format!("gpulint does not know the model `{value}`"), help);
            }
        }
        let word = Fact::written(Arc::from(value), at);
        self.declared.retain(|(known, ..)| *known != label);
        let Some((fact, said)) = declared([(label, &word)]).into_iter().next() else {
            return wrong(format!("`{key}` cannot be declared"), String::new());
        };
        if let Some(why) = said.why() {
            return wrong(format!("{key}: {why}"), format!("use a value that the label `{label}` accepts"));
        }
        self.declared.push((label, value.into(), fact, said.value().cloned()));
        Ok(())
    }

    /// Refuses a machine type that the requested provider does not have.
    fn demand_one_cloud(&self, catalog: &Catalog) -> Result<(), Wrong> {
        let (Some(provider), Some(machine)) = (&self.provider, &self.machine) else { return Ok(()) };
        let known = catalog.machines_named(machine);
        if known.is_empty() || catalog.machine(provider, machine).is_some() {
            return Ok(());
        }
        let mut owners: Vec<&str> = known.iter().map(|it| &*it.provider).collect();
        owners.dedup();
        wrong(
            format!("{machine} is not a machine type of {provider}"),
            format!(
                "it is a machine type of {}; without `machine`, gpulint searches for one with the same accelerators",
                owners.join(", ")
            ),
        )
    }
}

/// Returns the changes for every case, with those of one case added. For the same key, the case has priority.
pub fn together(shared: &[(String, String)], others: &[(String, String)]) -> Vec<(String, String)> {
    let is_said_again = |(key, _): &&(String, String)| others.iter().any(|(other, _)| other == key);
    shared.iter().filter(|it| !is_said_again(it)).chain(others).cloned().collect()
}

fn machine(name: &str, catalog: &Catalog) -> Result<Arc<str>, Wrong> {
    // An unlisted machine of a known family may be new. It has no price, which the result shows.
    let is_near = |provider: &str| catalog.nearest_machine(provider, name).is_some();
    let is_of_family = catalog.provider_of(name).is_some_and(|provider| !is_near(provider));
    if catalog.machines_named(name).is_empty() && !is_of_family {
        let why = format!("the catalog lists no machine type `{name}` with accelerators");
        return wrong(why, catalog.did_you_mean(name));
    }
    Ok(name.into())
}

fn provider(name: &str, catalog: &Catalog) -> Result<Arc<str>, Wrong> {
    let mut known = catalog.providers();
    if !known.contains(&OWN_PROVIDER) {
        known.push(OWN_PROVIDER);
    }
    if let Some(found) = known.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return Ok((*found).into());
    }
    let near = nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`? "));
    let help = format!("{}use one of {}", near.unwrap_or_default(), known.join(", "));
    wrong(format!("unknown provider `{name}`"), help)
}

/// Returns a region that some provider has. Whether it has the machine is decided by its price.
fn region(name: &str, catalog: &Catalog) -> Result<Arc<str>, Wrong> {
    let known = || catalog.providers().into_iter();
    let is_known =
        |provider: &str| catalog.region(provider, name).is_some() || catalog.place_apart(provider, name).is_some();
    if known().any(is_known) {
        return Ok(name.into());
    }
    let all: Vec<&str> = known().flat_map(|provider| catalog.regions(provider)).collect();
    let near = nearest(name, all).map(|near| format!("did you mean `{near}`? "));
    let help = format!("{}run `gpulint price MACHINE` to list the regions of a machine type", near.unwrap_or_default());
    wrong(format!("the catalog lists no region `{name}`"), help)
}

fn accelerator(name: &str, catalog: &Catalog) -> Result<Arc<str>, Wrong> {
    match catalog.accelerator(name) {
        Some(_) => Ok(name.into()),
        None => wrong(format!("the catalog lists no accelerator `{name}`"), catalog.did_you_mean(name)),
    }
}

fn purchase(name: &str) -> Result<(Purchase, Option<f64>), Wrong> {
    if let Some((_, years)) = COMMITTED.into_iter().find(|(word, _)| *word == name) {
        return Ok((Purchase::Reserved, Some(years)));
    }
    if let Some(found) = Purchase::from_name(name) {
        return Ok((found, None));
    }
    let names: Vec<&str> =
        Purchase::ALL.iter().map(|it| it.name()).chain(COMMITTED.into_iter().map(|(word, _)| word)).collect();
    let near = nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`? "));
    let help = format!("{}use one of {}", near.unwrap_or_default(), names.join(", "));
    wrong(format!("unknown way of buying `{name}`"), help)
}

fn number(key: &str, text: &str, most: f64) -> Result<f64, Wrong> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && (0.0..=most).contains(&number) => Ok(number),
        _ => wrong(
            format!("`{key}` must be a number from 0 to {most}, not `{text}`"),
            format!("write, for example, {key}=8"),
        ),
    }
}

/// Parses a count: `4`, minimum and maximum as in `1..4`, or with the expected count between them as in `1..2..4`.
fn count(text: &str) -> Result<Range, Wrong> {
    const MOST: f64 = 1e6;
    let numbers: Option<Vec<f64>> =
        text.split("..").map(|part| part.trim().parse::<u32>().ok().map(f64::from)).collect();
    let in_order = |all: &[f64]| all.is_sorted() && all.iter().all(|it| *it < MOST);
    match numbers.as_deref().filter(|all| in_order(all)) {
        Some([exactly]) => Ok(Range::exactly(*exactly)),
        Some([floor, ceiling]) => Ok(Range::between(*floor, None, *ceiling)),
        Some([floor, expected, ceiling]) => Ok(Range::between(*floor, Some(*expected), *ceiling)),
        _ => wrong(
            format!("`{text}` is not a valid count"),
            "write a number, minimum..maximum, or minimum..expected..maximum: 4, 1..4, 1..2..4",
        ),
    }
}

impl WhatIfChanges {
    /// Whether the place, the machine, the accelerator or the way of buying changes.
    pub fn moves(&self) -> bool {
        self.machine.is_some()
            || self.provider.is_some()
            || self.region.is_some()
            || self.purchase.is_some()
            || self.accelerator.is_some()
    }

    pub fn hours(&self) -> Option<f64> {
        self.hours
    }

    pub fn count(&self) -> Option<Range> {
        self.count
    }
}
