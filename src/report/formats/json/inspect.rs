//! Writes resources with all their facts as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::wire;
use super::wire::{WireCount, WireFact, WirePrice, WireRun, WireSkipped, WireUnknownMachine};
use crate::inventory::{Key, Resource};
use crate::report::Report;
use crate::report::views::judged::{self, NotJudged};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    resources: Vec<Inspected<'a>>,
    runs: Vec<WireRun<'a>>,
    unknown_machines: Vec<WireUnknownMachine<'a>>,
    skipped: Vec<WireSkipped<'a>>,
    not_judged: Vec<NotJudged<'a>>,
}

#[derive(Serialize)]
struct Inspected<'a> {
    address: &'a str,
    path: String,
    line: usize,
    root: Option<String>,
    run: Option<&'a str>,
    counted: &'static str,
    front_end: &'static str,
    kind: &'a str,
    role: &'static str,
    provider: Option<WireFact>,
    region: Option<WireFact>,
    machine: Option<WireFact>,
    accelerator: Option<WireFact>,
    accelerator_count: Option<WireFact>,
    count: WireCount,
    /// The total counts the version of this object at this place.
    version_of: Option<wire::WireVersion>,
    purchase: Option<WireFact>,
    purpose: Option<WireFact>,
    model: Option<WireFact>,
    labels: BTreeMap<&'a str, Option<&'a str>>,
    price: WirePrice,
    /// Every other fact, by the name that rules use.
    facts: BTreeMap<&'static str, WireFact>,
    links: Vec<Link<'a>>,
}

#[derive(Serialize)]
struct Link<'a> {
    kind: &'static str,
    to: &'a str,
    path: String,
    line: usize,
    /// The reason why the two resources are linked.
    why: &'a str,
}

/// Facts that have their own field in a resource.
const NAMED: [Key; 9] = [
    Key::Provider,
    Key::Region,
    Key::Machine,
    Key::Accelerator,
    Key::AcceleratorCount,
    Key::AcceleratorMemory,
    Key::Purchase,
    Key::Purpose,
    Key::Model,
];

/// Writes every resource with every fact.
pub fn inspect(report: &Report) -> String {
    let resources = report.inventory.resources.iter().enumerate().map(|(index, it)| inspected(report, index, it));
    crate::report::formats::json::print(&Document {
        version: crate::report::formats::json::VERSION,
        resources: resources.collect(),
        runs: wire::runs(report),
        unknown_machines: wire::unknown_machines(report),
        skipped: wire::skipped(report),
        not_judged: judged::wire(report),
    })
}

fn inspected<'a>(report: &Report<'a>, index: usize, resource: &'a Resource) -> Inspected<'a> {
    let location = report.paths.locate(report.sources, resource.span);
    let fact = |key| WireFact::new(report, resource.fact(key));
    let memory = resource.number(Key::AcceleratorMemory).map(wire::WireNumber);
    let accelerator =
        |name: &crate::inventory::FactValue| serde_json::json!({ "name": wire::value(name), "memory_gib": memory });
    let others = resource.facts().filter(|(key, _)| !NAMED.contains(key));
    Inspected {
        address: &resource.address,
        path: location.path,
        line: location.line,
        root: wire::root(report, resource),
        run: wire::run(resource),
        counted: resource.counted.name(),
        front_end: resource.front_end.name(),
        kind: &resource.kind,
        role: resource.role.name(),
        provider: fact(Key::Provider),
        region: fact(Key::Region),
        machine: fact(Key::Machine),
        accelerator: WireFact::with(report, resource.fact(Key::Accelerator), accelerator),
        accelerator_count: fact(Key::AcceleratorCount),
        count: WireCount::new(&resource.count),
        version_of: wire::version_of(report, resource),
        purchase: fact(Key::Purchase),
        purpose: fact(Key::Purpose),
        model: fact(Key::Model),
        labels: resource.labels.entries.iter().map(|(k, v)| (k.as_str(), v.value().map(AsRef::as_ref))).collect(),
        price: WirePrice::new(report.bill.items.get(index)),
        facts: others.filter_map(|(key, it)| Some((key.name(), WireFact::new(report, it)?))).collect(),
        links: resource.links.iter().map(|link| linked(report, link)).collect(),
    }
}

fn linked<'a>(report: &Report<'a>, link: &'a crate::inventory::Link) -> Link<'a> {
    let location = report.paths.locate(report.sources, link.span);
    Link { kind: link.kind.name(), to: &link.to, path: location.path, line: location.line, why: &link.why }
}
