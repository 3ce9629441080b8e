//! Writes findings as JSON.

use serde::Serialize;

use super::wire;
use super::wire::{Totals, WireBounds, WireNumber, WireResource, WireRun, WireSkipped, WireTotal, WireUnknownMachine};
use crate::catalog::Currency;
use crate::decide::{self, Decided};
use crate::inventory::ResourceId;
use crate::pricing::{self, Period};
use crate::report::suggestion;
use crate::report::views::coverage::{self, Coverage};
use crate::report::views::judged::{self, NotJudged};
use crate::report::views::measured::{self, MeasuredUse};
use crate::report::views::scorecard::Scorecard;
use crate::report::{Report, Suggestion};
use crate::rules::Undetermined;
use crate::source::{Edit, FilePosition};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    findings: Vec<WireFinding<'a>>,
    resources: Vec<WireResource<'a>>,
    runs: Vec<WireRun<'a>>,
    undetermined: Vec<UnknownEntry<'a>>,
    totals: Vec<WireTotal<'a>>,
    unknown_machines: Vec<WireUnknownMachine<'a>>,
    /// Resources whose region comes from a setting.
    assumed: Vec<WireUnknownMachine<'a>>,
    skipped: Vec<WireSkipped<'a>>,
    bill: Totals,
    scorecard: Scorecard,
    catalog: CatalogAge<'a>,
    /// `fail`, `not judged` or `pass`.
    verdict: &'static str,
    not_judged: Vec<NotJudged<'a>>,
    coverage: Coverage<'a>,
    /// The usage metrics; missing if there is no metrics file.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<MeasuredUse<'a>>,
}

#[derive(Serialize)]
pub(in crate::report) struct WireFinding<'a> {
    rule: &'a str,
    group: &'a str,
    layer: &'a str,
    /// A fingerprint that stays the same if lines move. Only reports on one state contain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    /// The pack that contains the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pack: Option<&'a str>,
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
    /// The total, if the rule checks several totals one by one.
    total: Option<WireTotal<'a>>,
    message: &'a str,
    help: Option<&'a str>,
    saves_usd_per_month: Option<WireBounds>,
    /// The saving in the period of `saves_per`, if that is not a month.
    saves_usd: Option<WireBounds>,
    /// `month`, `run` or `hour`.
    saves_per: Option<&'static str>,
    /// `deployed` if the total contains the resource, otherwise the reason why it does not.
    counted: &'static str,
    related: Vec<Related<'a>>,
    /// Replacement lines that a reviewer can accept.
    fix: Option<Suggestion>,
    /// Every edit of the fix, for programs that apply it.
    edits: Vec<Replacement>,
    /// `safe`, `unsafe` or `display`; none if the rule has no fix.
    fix_safety: Option<&'static str>,
    /// The reason why the finding has no fix.
    fix_declined: Option<&'a str>,
    suppressed: Option<Suppressed<'a>>,
    baseline: Option<Baseline>,
}

/// Lines and columns count from 1; a column is a character, and the end is exclusive.
#[derive(Serialize)]
struct Replacement {
    path: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    replacement: String,
}

#[derive(Serialize)]
struct Related<'a> {
    path: String,
    line: usize,
    message: &'a str,
}

#[derive(Serialize)]
struct Suppressed<'a> {
    reason: Option<&'a str>,
    until: Option<String>,
    path: String,
    line: usize,
}

#[derive(Serialize)]
struct Baseline {
    since: String,
}

#[derive(Serialize)]
pub(in crate::report) struct UnknownEntry<'a> {
    rule: &'a str,
    address: Option<&'a str>,
    root: Option<String>,
    run: Option<&'a str>,
    path: String,
    line: usize,
    cause: &'a str,
}

#[derive(Serialize)]
pub(in crate::report) struct CatalogAge<'a> {
    version: &'a str,
    as_of: &'a str,
    oldest_row_used: Option<&'a str>,
    /// Monthly cost that is based on outdated prices, in dollars.
    past_shelf_life: PastShelfLife,
    /// The currency of amounts in messages; number fields are always dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<Shown<'a>>,
}

#[derive(Serialize)]
struct PastShelfLife {
    rented: WireNumber,
    requested: WireNumber,
    /// The same cost as a range: prices of this age have changed by this much in the past.
    rented_today: WireBounds,
    requested_today: WireBounds,
}

impl From<pricing::PastShelfLife> for PastShelfLife {
    fn from(it: pricing::PastShelfLife) -> Self {
        PastShelfLife {
            rented: it.rented.expected.into(),
            requested: it.requested.expected.into(),
            rented_today: it.rented.into(),
            requested_today: it.requested.into(),
        }
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    code: &'a str,
    per_usd: f64,
}

/// Returns the findings and the skipped checks.
pub(in crate::report) fn check(report: &Report) -> String {
    crate::report::formats::json::print(&Document {
        version: crate::report::formats::json::VERSION,
        findings: findings(report),
        resources: wire::counted(report),
        runs: wire::runs(report),
        undetermined: report.undetermined.iter().map(|it| undetermined(report, it)).collect(),
        totals: report.totals.iter().map(|(rule, total)| WireTotal::new(rule, total)).collect(),
        unknown_machines: wire::unknown_machines(report),
        assumed: wire::assumed(report),
        skipped: wire::skipped(report),
        bill: Totals::new(report),
        scorecard: Scorecard::new(report),
        catalog: catalog(report),
        verdict: report.verdict.name(),
        not_judged: judged::wire(report),
        coverage: coverage::wire(report),
        measured: measured::wire(report),
    })
}

fn findings<'a>(report: &'a Report) -> Vec<WireFinding<'a>> {
    let fingerprints = decide::fingerprints(report.findings, report.sources, report.inventory);
    let all = report.findings.iter().zip(fingerprints);
    all.map(|(decided, it)| WireFinding { fingerprint: Some(it), ..finding(report, decided) }).collect()
}

pub(in crate::report) fn catalog<'a>(report: &'a Report) -> CatalogAge<'a> {
    CatalogAge {
        version: &report.catalog.version,
        as_of: &report.catalog.as_of,
        oldest_row_used: report.bill.oldest_row.as_deref(),
        past_shelf_life: report.bill.past_shelf_life.into(),
        currency: (report.currency != Currency::USD)
            .then(|| Shown { code: report.currency.code(), per_usd: report.currency.per_usd }),
    }
}

pub(in crate::report) fn finding<'a>(report: &'a Report, decided: &'a Decided) -> WireFinding<'a> {
    let it = &decided.finding;
    let location = report.paths.locate(report.sources, it.span);
    let about = it.about(report.inventory);
    WireFinding {
        rule: &it.rule,
        group: &it.group,
        layer: &it.layer,
        fingerprint: None,
        pack: report.rules.pack(&it.rule).map(|pack| pack.name.as_str()),
        level: it.level.name(),
        confidence: it.confidence.name(),
        risk: it.risk.name(),
        path: location.path,
        line: location.line,
        column: location.column,
        address: about.map(|(address, _)| address),
        root: root(report, it.resource),
        run: run(report, it.resource),
        kind: about.map(|(_, kind)| kind),
        total: it.total.as_ref().map(|total| WireTotal::new(&it.rule, total)),
        message: &it.message,
        help: it.help.as_deref(),
        saves_usd_per_month: it.saves.filter(|_| it.per == Period::Month).map(Into::into),
        saves_usd: it.saves.map(Into::into),
        saves_per: it.saves.map(|_| it.per.name()),
        counted: decided.counted.name(),
        related: it.related.iter().map(|(span, message)| related(report, *span, message)).collect(),
        fix: suggestion(report, it),
        edits: it.edits.iter().map(|edit| replacement(report, edit)).collect(),
        fix_safety: it.fix.as_ref().map(|fix| fix.safety.name()),
        fix_declined: it.fix.as_ref().and_then(|fix| fix.declined.as_deref()),
        suppressed: decided.suppressed.as_ref().map(|it| suppressed(report, it)),
        baseline: decided.baselined.map(|since| Baseline { since: since.to_string() }),
    }
}

fn suppressed<'a>(report: &Report, it: &'a decide::Suppressed) -> Suppressed<'a> {
    let location = report.paths.locate(report.sources, it.span);
    let until = it.until.map(|date| date.to_string());
    Suppressed { reason: it.reason.as_deref(), until, path: location.path, line: location.line }
}

fn replacement(report: &Report, edit: &Edit) -> Replacement {
    let FilePosition { path, line, column, end_line, end_column } = report.paths.locate(report.sources, edit.span);
    Replacement { path, line, column, end_line, end_column, replacement: edit.replacement.clone() }
}

fn related<'a>(report: &Report, span: crate::source::Span, message: &'a str) -> Related<'a> {
    let location = report.paths.locate(report.sources, span);
    Related { path: location.path, line: location.line, message }
}

pub(in crate::report) fn undetermined<'a>(report: &'a Report, it: &'a Undetermined) -> UnknownEntry<'a> {
    let location = report.paths.locate(report.sources, it.span);
    let address = it.address(report.inventory);
    let root = root(report, it.resource);
    let run = run(report, it.resource);
    UnknownEntry { rule: &it.rule, address, root, run, path: location.path, line: location.line, cause: &it.cause }
}

fn root(report: &Report, resource: Option<ResourceId>) -> Option<String> {
    wire::root(report, report.inventory.resources.get(resource?.0)?)
}

fn run<'a>(report: &'a Report, resource: Option<ResourceId>) -> Option<&'a str> {
    wire::run(report.inventory.resources.get(resource?.0)?)
}
