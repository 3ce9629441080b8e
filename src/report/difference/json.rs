use serde::Serialize;

use super::Difference;
use crate::pricing::{BeforeAfter, Change};
use crate::report::json::{self, Bounds, Finding, finding};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    base: &'a str,
    notes: &'a [String],
    cost: Cost,
    changes: Vec<Changed<'a>>,
    new: Vec<Finding<'a>>,
    unchanged: Vec<Finding<'a>>,
    fixed: Vec<Finding<'a>>,
    blocked: bool,
    decided_by: &'a str,
}

#[derive(Serialize)]
struct Cost {
    rented: Sum,
    requested: Sum,
    unpriced_before: usize,
    unpriced_after: usize,
}

#[derive(Serialize)]
struct Sum {
    before: Bounds,
    after: Bounds,
    difference: Bounds,
}

#[derive(Serialize)]
struct Changed<'a> {
    change: &'static str,
    address: &'a str,
    /// Where it stood under another address.
    address_before: Option<&'a str>,
    kind: &'a str,
    role: &'static str,
    path: String,
    line: usize,
    usd_per_month_before: Option<Bounds>,
    usd_per_month_after: Option<Bounds>,
}

pub(super) fn difference(it: &Difference) -> String {
    json::print(&Document {
        version: json::VERSION,
        base: &it.base,
        notes: &it.notes,
        cost: Cost {
            rented: sum(&it.delta.rented),
            requested: sum(&it.delta.requested),
            unpriced_before: it.delta.unpriced_before,
            unpriced_after: it.delta.unpriced_after,
        },
        changes: it.delta.visible().filter_map(|change| changed(it, change)).collect(),
        new: it.new.iter().map(|decided| finding(&it.after, decided)).collect(),
        unchanged: it.unchanged.iter().map(|decided| finding(&it.after, decided)).collect(),
        fixed: it.fixed.iter().map(|decided| finding(&it.before, decided)).collect(),
        blocked: it.verdict.blocked,
        decided_by: &it.verdict.setting,
    })
}

fn sum(sum: &BeforeAfter) -> Sum {
    Sum { before: sum.before.into(), after: sum.after.into(), difference: sum.difference().into() }
}

fn changed<'a>(it: &'a Difference, change: &Change) -> Option<Changed<'a>> {
    let (before, after) = it.monthly(change);
    let earlier = it.before.resource(change.before);
    let (report, resource) = match it.after.resource(change.after) {
        Some(resource) => (&it.after, resource),
        None => (&it.before, earlier?),
    };
    let place = report.paths.locate(report.sources, resource.span);
    Some(Changed {
        change: change.kind.name(),
        address: &resource.address,
        address_before: earlier.map(|it| it.address.as_str()).filter(|address| *address != resource.address),
        kind: &resource.kind,
        role: resource.role.name(),
        path: place.path,
        line: place.line,
        usd_per_month_before: before.map(Into::into),
        usd_per_month_after: after.map(Into::into),
    })
}
