//! Writes a check as JSON lines, for databases of many repositories: resources, findings, unevaluated entries, and one
//! line of totals. `schema/rows.json` describes them.
//!
//! No line depends on the time or the machine: equal files, prices, settings and `--today` give equal bytes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::json;
use super::ndjson::{Row, amounts, row, word};
use crate::catalog::{Money, MoneyRange};
use crate::decide::{self, Decided};
use crate::inventory::{Key, Resource, ResourceId, Unjudged};
use crate::pricing::Period;
use crate::report::Report;
use crate::report::views::scorecard::best_savings;
use crate::report::views::{coverage, judged};
use crate::rules::Finding;

/// A line; its first field is the table that it belongs to.
#[derive(Serialize)]
struct Line<T> {
    row: &'static str,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize)]
struct ResourceRow<'a> {
    #[serde(flatten)]
    cost: Row<'a>,
    root: Option<String>,
    /// The labels of a pool's nodes, or the node labels that pods request.
    node_labels: BTreeMap<&'a str, Option<&'a str>>,
    node_labels_open: bool,
    /// The machines that may use this reservation.
    reservation: Option<&'a str>,
    commitment_years: Option<f64>,
    /// What stops it at set times. For a reservation, this is its end date.
    schedule: Option<&'a str>,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    version: u32,
    rule: &'a str,
    group: &'a str,
    layer: &'a str,
    level: &'static str,
    confidence: &'static str,
    risk: &'static str,
    path: String,
    line: usize,
    column: usize,
    address: Option<&'a str>,
    root: Option<String>,
    run: Option<&'a str>,
    kind: Option<&'a str>,
    saves_floor_micro_usd: Option<i64>,
    saves_expected_micro_usd: Option<i64>,
    saves_ceiling_micro_usd: Option<i64>,
    saves_per: Option<&'static str>,
    /// True for the largest saving of a resource in the total: savings on one resource overlap.
    adds_up: bool,
    fix_safety: Option<&'static str>,
    /// `deployed` if the total contains the resource, otherwise the reason why it does not.
    counted: &'static str,
    suppressed: bool,
    suppressed_until: Option<String>,
    suppressed_reason: Option<&'a str>,
    /// The day on which the baseline accepted the finding.
    baseline: Option<String>,
    fingerprint: String,
    message: &'a str,
}

#[derive(Serialize)]
struct UnjudgedRow<'a> {
    version: u32,
    path: String,
    line: Option<usize>,
    reason: &'a str,
    cure: Option<&'a str>,
}

#[derive(Serialize)]
struct Summary<'a> {
    version: u32,
    gpulint_version: &'static str,
    catalog_version: &'a str,
    prices_as_of: &'a str,
    today: String,
    verdict: &'static str,
    /// True if there was nothing to check.
    is_empty: bool,
    files_that_matter: usize,
    wholly_read: usize,
    resources: usize,
    unpriced: usize,
    /// True if the totals are complete; otherwise each total is a minimum.
    whole: bool,
    unknown_machines: usize,
    findings: usize,
    suppressed: usize,
    baselined: usize,
    undetermined: usize,
    unjudged: usize,
    rented_floor_micro_usd: i64,
    rented_expected_micro_usd: i64,
    rented_ceiling_micro_usd: i64,
    requested_floor_micro_usd: i64,
    requested_expected_micro_usd: i64,
    requested_ceiling_micro_usd: i64,
    /// Each dollar counts once.
    combined_floor_micro_usd: i64,
    combined_expected_micro_usd: i64,
    combined_ceiling_micro_usd: i64,
    waste_micro_usd: i64,
}

/// Returns all lines: resources, findings, unevaluated entries, and the totals last. Without the last line, the
/// output is incomplete.
pub(in crate::report) fn check(report: &Report) -> String {
    let mut text = String::new();
    for (resource, item) in report.inventory.resources.iter().zip(&report.bill.items) {
        let (node_labels, node_labels_open) = node_labels(resource);
        let root = resource.root.as_deref().map(|root| report.paths.show_directory(root));
        let rest = ResourceRow {
            cost: row(report, resource, item),
            root,
            node_labels,
            node_labels_open,
            reservation: resource.text(Key::Reservation),
            commitment_years: resource.number(Key::CommitmentYears),
            schedule: resource.text(Key::Schedule),
        };
        text.push_str(&json::line(&Line { row: "resource", rest }));
    }
    let best = best_savings(report);
    let fingerprints = decide::fingerprints(report.findings, report.sources, report.inventory);
    for (decided, fingerprint) in report.findings.iter().zip(fingerprints) {
        let rest = finding(report, decided, &best, fingerprint);
        text.push_str(&json::line(&Line { row: "finding", rest }));
    }
    for it in judged::listed(report) {
        text.push_str(&json::line(&Line { row: "unjudged", rest: unjudged(report, it) }));
    }
    text.push_str(&json::line(&Line { row: "summary", rest: summary(report, &best) }));
    text
}

fn node_labels(resource: &Resource) -> (BTreeMap<&str, Option<&str>>, bool) {
    let labels = resource.selector.labels.iter().map(|(key, fact)| (key.as_str(), word(fact)));
    (labels.collect(), resource.selector.open.is_some())
}

fn finding<'a>(
    report: &Report<'a>,
    decided: &'a Decided,
    best: &BTreeMap<Option<ResourceId>, &Finding>,
    fingerprint: String,
) -> FindingRow<'a> {
    let it = &decided.finding;
    let at = report.paths.locate(report.sources, it.span);
    let about = it.about(report.inventory);
    let resource = report.resource(it.resource);
    let [floor, expected, ceiling] = amounts(it.saves);
    FindingRow {
        version: json::VERSION,
        rule: &it.rule,
        group: &it.group,
        layer: &it.layer,
        level: it.level.name(),
        confidence: it.confidence.name(),
        risk: it.risk.name(),
        path: at.path,
        line: at.line,
        column: at.column,
        address: about.map(|(address, _)| address),
        root: resource.and_then(|it| it.root.as_deref()).map(|root| report.paths.show_directory(root)),
        run: resource.and_then(|it| it.run.as_ref()).map(|run| run.as_str()),
        kind: about.map(|(_, kind)| kind),
        saves_floor_micro_usd: floor,
        saves_expected_micro_usd: expected,
        saves_ceiling_micro_usd: ceiling,
        saves_per: it.saves.map(|_| it.per.name()),
        adds_up: best.get(&it.resource).is_some_and(|best| std::ptr::eq(*best, it)),
        fix_safety: it.fix.as_ref().map(|fix| fix.safety.name()),
        counted: decided.counted.name(),
        suppressed: decided.suppressed.is_some(),
        suppressed_until: decided.suppressed.as_ref().and_then(|it| it.until).map(|date| date.to_string()),
        suppressed_reason: decided.suppressed.as_ref().and_then(|it| it.reason.as_deref()),
        baseline: decided.baselined.map(|since| since.to_string()),
        fingerprint,
        message: &it.message,
    }
}

fn unjudged<'a>(report: &Report<'a>, it: &'a Unjudged) -> UnjudgedRow<'a> {
    UnjudgedRow {
        version: json::VERSION,
        path: report.paths.show(&it.path),
        line: judged::line(report, it),
        reason: &it.reason,
        cure: it.cure.as_deref(),
    }
}

fn summary<'a>(report: &'a Report, best: &BTreeMap<Option<ResourceId>, &Finding>) -> Summary<'a> {
    let files = coverage::files(report);
    let bill = report.bill;
    let [rented_floor_micro_usd, rented_expected_micro_usd, rented_ceiling_micro_usd] = micros(bill.rented.minimum());
    let [requested_floor_micro_usd, requested_expected_micro_usd, requested_ceiling_micro_usd] =
        micros(bill.requested.minimum());
    let [combined_floor_micro_usd, combined_expected_micro_usd, combined_ceiling_micro_usd] =
        micros(bill.combined.minimum());
    Summary {
        version: json::VERSION,
        gpulint_version: env!("CARGO_PKG_VERSION"),
        catalog_version: &report.catalog.version,
        prices_as_of: &report.catalog.as_of,
        today: report.today.to_string(),
        verdict: report.verdict.name(),
        is_empty: report.is_empty,
        files_that_matter: files.len(),
        wholly_read: files.iter().filter(|it| it.unread.is_empty()).count(),
        resources: report.inventory.resources.len(),
        unpriced: bill.unpriced(),
        whole: bill.combined.is_whole(),
        unknown_machines: report.unknown_machines.len(),
        findings: report.findings.iter().filter(|it| it.counts()).count(),
        suppressed: report.findings.iter().filter(|it| it.suppressed.is_some()).count(),
        baselined: report.findings.iter().filter(|it| it.baselined.is_some()).count(),
        undetermined: report.undetermined.len(),
        unjudged: report.inventory.unjudged.len(),
        rented_floor_micro_usd,
        rented_expected_micro_usd,
        rented_ceiling_micro_usd,
        requested_floor_micro_usd,
        requested_expected_micro_usd,
        requested_ceiling_micro_usd,
        combined_floor_micro_usd,
        combined_expected_micro_usd,
        combined_ceiling_micro_usd,
        waste_micro_usd: best.values().filter_map(|it| monthly(it)).map(Money::micros).sum(),
    }
}

fn micros(range: MoneyRange) -> [i64; 3] {
    [range.floor, range.expected, range.ceiling].map(Money::micros)
}

fn monthly(finding: &Finding) -> Option<Money> {
    finding.saves.filter(|_| finding.per == Period::Month).map(|it| it.expected)
}
