//! Writes rows for spreadsheets.

use crate::catalog::MoneyRange;
use crate::decide::Decided;
use crate::fit::speed::SpeedRange;
use crate::inventory::{Key, Range, Resource};
use crate::pricing::{BillItem, Period, Status};
use crate::report::Report;
use crate::report::formats::json::WireNumber;
use crate::report::views::judged;
use crate::report::views::table::{Cell, ConstColumns, columns, csv, csv_line, fact_text};
use crate::report::views::unit_work::{self, UnitWork};
use crate::rules::Finding;
use crate::source::FilePosition;

/// A finding with its place.
struct FindingRow<'a> {
    report: &'a Report<'a>,
    decided: &'a Decided,
    at: FilePosition,
}

impl FindingRow<'_> {
    fn finding(&self) -> &Finding {
        &self.decided.finding
    }

    fn about(&self) -> Option<(&str, &str)> {
        self.finding().about(self.report.inventory)
    }

    fn saves_monthly(&self) -> Option<MoneyRange> {
        self.finding().saves.filter(|_| self.finding().per == Period::Month)
    }
}

const FINDINGS: &ConstColumns<dyn Fn(&FindingRow<'_>) -> Cell> = &columns![
    "rule" => |it| &it.finding().rule,
    "group" => |it| &it.finding().group,
    "level" => |it| it.finding().level.name(),
    "confidence" => |it| it.finding().confidence.name(),
    "risk" => |it| it.finding().risk.name(),
    "path" => |it| &it.at.path,
    "line" => |it| it.at.line,
    "column" => |it| it.at.column,
    "address" => |it| it.about().map(|(address, _)| address),
    "kind" => |it| it.about().map(|(_, kind)| kind),
    "message" => |it| &it.finding().message,
    "help" => |it| it.finding().help.as_deref(),
    "saves_floor_usd_per_month" => |it| it.saves_monthly().map(|it| it.floor),
    "saves_expected_usd_per_month" => |it| it.saves_monthly().map(|it| it.expected),
    "saves_ceiling_usd_per_month" => |it| it.saves_monthly().map(|it| it.ceiling),
    "suppressed" => |it| it.decided.suppressed.as_ref().map(|it| it.reason.as_deref().unwrap_or("no reason given")),
    "suppressed_until" => |it| it.decided.suppressed.as_ref().and_then(|it| it.until),
    "baseline_since" => |it| it.decided.baselined,
    "saves_usd" => |it| it.finding().saves.map(|it| it.expected),
    "saves_per" => |it| it.finding().saves.map(|_| it.finding().per.name()),
];

/// Writes findings, including accepted ones, and one row for each unevaluated entry, so that a file without findings
/// does not look clean.
pub(in crate::report) fn check(report: &Report) -> String {
    let findings = report.findings.iter().map(|decided| {
        let at = report.paths.locate(report.sources, decided.finding.span);
        FindingRow { report, decided, at }
    });
    let unjudged = judged::listed(report).into_iter().map(|it| {
        csv_line(FINDINGS.iter().map(|(heading, _)| match *heading {
            "rule" => "not-judged".into(),
            "path" => report.paths.show(&it.path).into(),
            "line" => judged::line(report, it).into(),
            "message" => it.reason.as_str().into(),
            "help" => it.cure.as_deref().into(),
            _ => Cell::Blank,
        }))
    });
    csv(FINDINGS, findings) + &unjudged.collect::<String>()
}

/// A resource with its cost.
pub(in crate::report) struct ResourceRow<'a> {
    resource: &'a Resource,
    at: FilePosition,
    item: Option<&'a BillItem>,
    work: Option<UnitWork<'a>>,
}

impl<'a> ResourceRow<'a> {
    pub(in crate::report) fn new(report: &'a Report<'a>, index: usize) -> Option<Self> {
        let resource = report.inventory.resources.get(index)?;
        let at = report.paths.locate(report.sources, resource.span);
        Some(ResourceRow { resource, at, item: report.bill.items.get(index), work: unit_work::of(report, index) })
    }

    fn count(&self) -> Option<&Range> {
        self.resource.count.value()
    }

    fn status(&self) -> &'static str {
        match self.item.map(|item| &item.status) {
            Some(Status::Priced) => "priced",
            Some(Status::Estimated(_)) => "estimated",
            _ => "unpriced",
        }
    }

    fn monthly(&self) -> Option<MoneyRange> {
        self.item?.monthly
    }

    fn amount(&self) -> Option<MoneyRange> {
        self.item?.amount
    }

    /// Returns the hours of a period, if the condition is true.
    fn hours(&self, condition: impl Fn(Period) -> bool) -> Option<f64> {
        self.item.filter(|it| condition(it.per)).map(|it| it.hours)
    }

    /// Returns one number of the cost per million tokens at full load.
    pub(in crate::report) fn tokens(&self, end: fn(SpeedRange) -> f64) -> Option<f64> {
        self.unit(|it| it.costs.per_million_at_full_load, end)
    }

    /// Returns one number of a unit cost, rounded to three digits because the estimates are not more precise.
    fn unit(&self, range: fn(&UnitWork<'_>) -> Option<SpeedRange>, end: fn(SpeedRange) -> f64) -> Option<f64> {
        Some(WireNumber::three_digits(end(range(self.work.as_ref()?)?)).0)
    }
}

pub(in crate::report) const RESOURCES: &ConstColumns<dyn Fn(&ResourceRow<'_>) -> Cell> = &columns![
    "address" => |it| &it.resource.address,
    "path" => |it| &it.at.path,
    "line" => |it| it.at.line,
    "kind" => |it| &it.resource.kind,
    "role" => |it| it.resource.role.name(),
    "provider" => |it| fact_text(it.resource, Key::Provider),
    "region" => |it| fact_text(it.resource, Key::Region),
    "machine" => |it| fact_text(it.resource, Key::Machine),
    "accelerator" => |it| fact_text(it.resource, Key::Accelerator),
    "accelerator_count" => |it| fact_text(it.resource, Key::AcceleratorCount),
    "purchase" => |it| fact_text(it.resource, Key::Purchase),
    "count_floor" => |it| it.count().map(|it| it.floor),
    "count_expected" => |it| it.count().map(|it| it.expected),
    "count_ceiling" => |it| it.count().map(|it| it.ceiling),
    "status" => |it| it.status(),
    "usd_per_hour" => |it| it.item.and_then(|it| it.per_hour).map(|it| it.expected),
    "floor_usd_per_month" => |it| it.monthly().map(|it| it.floor),
    "expected_usd_per_month" => |it| it.monthly().map(|it| it.expected),
    "ceiling_usd_per_month" => |it| it.monthly().map(|it| it.ceiling),
    "disks_usd_per_month" => |it| it.item.and_then(|it| it.attached.as_ref()?.known()).map(|it| it.expected),
    "hours_per_month" => |it| it.hours(|per| per == Period::Month),
    "per" => |it| it.item.filter(|it| it.amount.is_some()).map(|it| it.per.name()),
    "floor_usd" => |it| it.amount().map(|it| it.floor),
    "expected_usd" => |it| it.amount().map(|it| it.expected),
    "ceiling_usd" => |it| it.amount().map(|it| it.ceiling),
    "hours" => |it| it.hours(|per| per != Period::Hour),
    "model" => |it| it.work.as_ref().and_then(|it| it.model),
    "tokens_per_s_floor" => |it| it.unit(|it| it.tokens_per_second, |it| it.floor),
    "tokens_per_s_expected" => |it| it.unit(|it| it.tokens_per_second, |it| it.expected),
    "tokens_per_s_ceiling" => |it| it.unit(|it| it.tokens_per_second, |it| it.ceiling),
    "floor_usd_per_million_tokens_at_full_load" => |it| it.tokens(|it| it.floor),
    "expected_usd_per_million_tokens_at_full_load" => |it| it.tokens(|it| it.expected),
    "ceiling_usd_per_million_tokens_at_full_load" => |it| it.tokens(|it| it.ceiling),
    "usd_per_million_tokens_at_traffic" => |it| it.unit(|it| it.costs.per_million_at_traffic, |it| it.expected),
    "usd_per_thousand_requests" => |it| it.unit(|it| it.costs.per_thousand_requests, |it| it.expected),
    "usd_per_seat_and_month" => |it| it.unit(|it| it.costs.per_seat, |it| it.expected),
    "counted" => |it| it.resource.counted.name(),
    "in_sum_usd_per_month" => |it| it.item.and_then(|it| it.share).map(|it| it.expected),
];

/// Writes the bill.
pub(in crate::report) fn cost(report: &Report) -> String {
    csv(RESOURCES, (0..report.inventory.resources.len()).filter_map(|index| ResourceRow::new(report, index)))
}
