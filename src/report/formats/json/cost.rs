//! Writes the bill as JSON.

use serde::Serialize;

use super::lost_work::WireLostWork;
use super::wire;
use super::wire::{Totals, WireCount, WireFact, WirePrice, WireRange, WireRun, WireSkipped};
use crate::inventory::{Key, Resource};
use crate::report::Report;
use crate::report::views::coverage::{self, Coverage};
use crate::report::views::judged::{self, NotJudged};
use crate::report::views::lost_work;
use crate::report::views::unit_work::{self, UnitWork};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    resources: Vec<Line<'a>>,
    runs: Vec<WireRun<'a>>,
    bill: Totals,
    skipped: Vec<WireSkipped<'a>>,
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
    machine: Option<WireFact>,
    accelerator: Option<WireFact>,
    accelerator_count: Option<WireFact>,
    count: WireCount,
    /// The total counts the version of this object at this place.
    version_of: Option<wire::WireVersion>,
    price: WirePrice,
    /// The cost per unit of work; null if unknown.
    unit_work: Option<Work<'a>>,
    /// The cost of starts, interruptions and repeated work; null without a known program.
    lost_work: Option<WireLostWork>,
}

#[derive(Serialize)]
pub(in crate::report) struct Work<'a> {
    model: Option<&'a str>,
    tokens_per_s: Option<WireRange>,
    ms_per_token: Option<WireRange>,
    usd_per_million_tokens_at_full_load: Option<WireRange>,
    usd_per_million_tokens_at_traffic: Option<WireRange>,
    usd_per_thousand_requests: Option<WireRange>,
    usd_per_seat_and_month: Option<WireRange>,
    /// `estimate` or `measured`; null without a rate.
    basis: Option<&'static str>,
    because: Option<&'a str>,
}

/// Returns the cost of each resource.
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
        machine: WireFact::new(report, resource.fact(Key::Machine)),
        accelerator: WireFact::new(report, resource.fact(Key::Accelerator)),
        accelerator_count: WireFact::new(report, resource.fact(Key::AcceleratorCount)),
        count: WireCount::new(&resource.count),
        version_of: wire::version_of(report, resource),
        price: WirePrice::new(report.bill.items.get(index)),
        unit_work: unit_work(report, index),
        lost_work: lost_work::of(report, index).as_ref().map(WireLostWork::new),
    }
}

/// Returns the cost per unit of work of a resource, if it is known.
pub(in crate::report) fn unit_work<'a>(report: &Report<'a>, index: usize) -> Option<Work<'a>> {
    unit_work::of(report, index).map(|it| work(&it))
}

fn work<'a>(it: &UnitWork<'a>) -> Work<'a> {
    Work {
        model: it.model,
        tokens_per_s: it.tokens_per_second.map(Into::into),
        ms_per_token: it.ms_per_token.map(Into::into),
        usd_per_million_tokens_at_full_load: it.costs.per_million_at_full_load.map(Into::into),
        usd_per_million_tokens_at_traffic: it.costs.per_million_at_traffic.map(Into::into),
        usd_per_thousand_requests: it.costs.per_thousand_requests.map(Into::into),
        usd_per_seat_and_month: it.costs.per_seat.map(Into::into),
        basis: it.tokens_per_second.map(|_| if it.measured_by.is_some() { "measured" } else { "estimate" }),
        because: it.measured_by.or(it.because),
    }
}
