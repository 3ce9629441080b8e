//! Writes the bill as JSON lines for databases, one resource per line: exact numbers, and every label.

use std::collections::BTreeMap;

use serde::Serialize;

use super::json;
use crate::catalog::{Money, MoneyRange};
use crate::inventory::{Fact, FactValue, Key, Range, Resource};
use crate::pricing::{BillItem, Period, Status};
use crate::report::Report;
use crate::report::views::teams::team;

/// Money in millionths of a dollar; null if unknown. `schema/cost-row.json` describes the fields.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    version: u32,
    address: &'a str,
    run: Option<&'a str>,
    path: String,
    line: usize,
    kind: &'a str,
    role: &'static str,
    counted: &'static str,
    /// True if the total contains the resource, and it is not a pod on machines of another line.
    adds_up: bool,
    provider: Option<&'a str>,
    region: Option<&'a str>,
    machine: Option<&'a str>,
    accelerator: Option<&'a str>,
    accelerator_count: Option<f64>,
    purchase: Option<&'a str>,
    count_floor: Option<f64>,
    count_expected: Option<f64>,
    count_ceiling: Option<f64>,
    status: &'static str,
    reason: Option<&'a str>,
    micro_usd_per_hour: Option<i64>,
    /// The period of the three amounts: `month`, `run` or `hour`.
    per: &'static str,
    floor_micro_usd: Option<i64>,
    expected_micro_usd: Option<i64>,
    ceiling_micro_usd: Option<i64>,
    /// The minimum of the resource's share of the monthly total, in which each dollar counts once; null if excluded
    /// from the total.
    in_sum_floor_micro_usd: Option<i64>,
    in_sum_expected_micro_usd: Option<i64>,
    in_sum_ceiling_micro_usd: Option<i64>,
    /// The hours of one machine or pod in that period; null if unknown.
    hours: Option<f64>,
    /// The monthly cost of disks, which are billed separately.
    disks_micro_usd: Option<i64>,
    as_of: Option<&'a str>,
    stale: bool,
    team: Option<&'a str>,
    labels: BTreeMap<&'a str, Option<&'a str>>,
    /// True if the resource may have further labels.
    labels_open: bool,
}

/// Returns the cost of each resource, in the order of the inventory.
pub(in crate::report) fn cost(report: &Report) -> String {
    let mut text = String::new();
    for (resource, item) in report.inventory.resources.iter().zip(&report.bill.items) {
        text.push_str(&json::line(&row(report, resource, item)));
    }
    text
}

pub(super) fn row<'a>(report: &Report<'a>, resource: &'a Resource, item: &'a BillItem) -> Row<'a> {
    let at = report.paths.locate(report.sources, resource.span);
    let count = resource.count.value().copied();
    let [floor, expected, ceiling] = amounts(item.amount);
    let [floor_in_sum, expected_in_sum, ceiling_in_sum] = amounts(item.share);
    Row {
        version: json::VERSION,
        address: &resource.address,
        run: resource.run.as_ref().map(|run| run.as_str()),
        path: at.path,
        line: at.line,
        kind: &resource.kind,
        role: resource.role.name(),
        counted: resource.counted.name(),
        adds_up: adds_up(resource, item),
        provider: resource.text(Key::Provider),
        region: resource.text(Key::Region),
        machine: resource.text(Key::Machine),
        accelerator: resource.text(Key::Accelerator),
        accelerator_count: resource.number(Key::AcceleratorCount),
        purchase: resource.fact(Key::Purchase).value().and_then(FactValue::as_text),
        count_floor: finite(count, |it| it.floor),
        count_expected: finite(count, |it| it.expected),
        count_ceiling: finite(count, |it| it.ceiling),
        status: status(item),
        reason: reason(item),
        micro_usd_per_hour: item.per_hour.map(|range| range.expected.micros()),
        per: item.per.name(),
        floor_micro_usd: floor,
        expected_micro_usd: expected,
        ceiling_micro_usd: ceiling,
        in_sum_floor_micro_usd: floor_in_sum,
        in_sum_expected_micro_usd: expected_in_sum,
        in_sum_ceiling_micro_usd: ceiling_in_sum,
        hours: (item.per != Period::Hour).then_some(item.hours),
        disks_micro_usd: item.attached.as_ref().and_then(|it| it.known()).map(|it| it.expected.micros()),
        as_of: item.as_of.as_deref(),
        stale: item.stale.is_some(),
        team: team(resource),
        labels: resource.labels.entries.iter().map(|(key, fact)| (key.as_str(), word(fact))).collect(),
        labels_open: resource.labels.open.is_some(),
    }
}

/// Returns true if the total contains the resource, and it is not a pod on machines of another line.
pub(in crate::report) fn adds_up(resource: &Resource, item: &BillItem) -> bool {
    resource.is_added() && !item.is_within
}

pub(super) fn word(fact: &Fact<std::sync::Arc<str>>) -> Option<&str> {
    fact.value().map(AsRef::as_ref)
}

fn finite(count: Option<Range>, of: impl Fn(Range) -> f64) -> Option<f64> {
    count.map(of).filter(|number| number.is_finite())
}

pub(super) fn amounts(amount: Option<MoneyRange>) -> [Option<i64>; 3] {
    let micros = |of: fn(MoneyRange) -> Money| amount.map(|amount| of(amount).micros());
    [micros(|it| it.floor), micros(|it| it.expected), micros(|it| it.ceiling)]
}

pub(in crate::report) fn status(item: &BillItem) -> &'static str {
    match item.status {
        Status::Priced => "priced",
        Status::Estimated(_) => "estimated",
        Status::Unpriced(_) | Status::Unasked => "unpriced",
    }
}

fn reason(item: &BillItem) -> Option<&str> {
    match &item.status {
        Status::Estimated(why) | Status::Unpriced(why) => Some(why),
        Status::Priced | Status::Unasked => None,
    }
}
