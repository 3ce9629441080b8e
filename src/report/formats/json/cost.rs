//! The bill as JSON.

use serde::Serialize;

use super::wire;
use super::wire::{Count, Fact, Price, Run, Skipped, Totals};
use crate::inventory::{Key, Resource};
use crate::report::Report;
use crate::report::views::coverage::{self, Coverage};
use crate::report::views::judged::{self, NotJudged};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    resources: Vec<Line<'a>>,
    runs: Vec<Run<'a>>,
    bill: Totals,
    skipped: Vec<Skipped<'a>>,
    not_judged: Vec<NotJudged<'a>>,
    coverage: Coverage<'a>,
}

#[derive(Serialize)]
struct Line<'a> {
    address: &'a str,
    run: Option<&'a str>,
    counted: &'static str,
    path: String,
    line: usize,
    kind: &'a str,
    role: &'static str,
    machine: Option<Fact>,
    accelerator: Option<Fact>,
    accelerator_count: Option<Fact>,
    count: Count,
    /// Sums count the version of this object that stands there.
    version_of: Option<wire::Version>,
    price: Price,
}

/// What each resource costs.
pub(in crate::report) fn cost(report: &Report) -> String {
    let resources = report.inventory.resources.iter().enumerate();
    crate::report::formats::json::print(&Document {
        version: crate::report::formats::json::VERSION,
        resources: resources.map(|(index, resource)| line(report, index, resource)).collect(),
        runs: wire::runs(report),
        bill: Totals::new(report),
        skipped: wire::skipped(report),
        not_judged: judged::wire(report),
        coverage: coverage::wire(report),
    })
}

fn line<'a>(report: &Report<'a>, index: usize, resource: &'a Resource) -> Line<'a> {
    let location = report.paths.locate(report.sources, resource.span);
    Line {
        address: &resource.address,
        run: wire::run(resource),
        counted: resource.counted.name(),
        path: location.path,
        line: location.line,
        kind: &resource.kind,
        role: resource.role.name(),
        machine: Fact::new(report, resource.fact(Key::Machine)),
        accelerator: Fact::new(report, resource.fact(Key::Accelerator)),
        accelerator_count: Fact::new(report, resource.fact(Key::AcceleratorCount)),
        count: Count::new(&resource.count),
        version_of: wire::version_of(report, resource),
        price: Price::new(report.bill.items.get(index)),
    }
}
