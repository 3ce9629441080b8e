//! Writes findings as JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

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

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct CheckDocument<'a> {
    version: u32,
    pub findings: Vec<WireFinding<'a>>,
    #[serde(default)]
    pub resources: Vec<WireResource<'a>>,
    #[serde(default)]
    pub runs: Vec<WireRun<'a>>,
    #[serde(default)]
    pub undetermined: Vec<UnknownEntry<'a>>,
    #[serde(default)]
    pub totals: Vec<WireTotal<'a>>,
    #[serde(default)]
    pub unknown_machines: Vec<WireUnknownMachine<'a>>,
    /// Resources whose region comes from a setting.
    #[serde(default)]
    pub assumed: Vec<WireUnknownMachine<'a>>,
    #[serde(default)]
    pub skipped: Vec<WireSkipped<'a>>,
    pub bill: Totals,
    #[serde(skip_deserializing)]
    scorecard: Scorecard,
    pub catalog: CatalogAge<'a>,
    /// `fail`, `not judged` or `pass`.
    #[serde(default)]
    pub verdict: Cow<'static, str>,
    #[serde(default)]
    pub not_judged: Vec<NotJudged<'a>>,
    #[serde(skip_deserializing)]
    coverage: Coverage<'a>,
    /// The usage metrics; missing if there is no metrics file.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    measured: Option<MeasuredUse<'a>>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireFinding<'a> {
    pub rule: Cow<'a, str>,
    pub group: Cow<'a, str>,
    pub layer: Cow<'a, str>,
    /// A fingerprint that stays the same if lines move. Only reports on one state contain it.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    /// The pack that contains the rule.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pack: Option<&'a str>,
    pub level: Cow<'static, str>,
    pub confidence: Cow<'static, str>,
    pub risk: Cow<'static, str>,
    pub path: String,
    pub line: usize,
    pub column: usize,
    pub address: Option<Cow<'a, str>>,
    pub root: Option<String>,
    pub run: Option<Cow<'a, str>>,
    pub kind: Option<Cow<'a, str>>,
    /// The total, if the rule checks several totals one by one.
    pub total: Option<WireTotal<'a>>,
    pub message: Cow<'a, str>,
    pub help: Option<Cow<'a, str>>,
    pub saves_usd_per_month: Option<WireBounds>,
    /// The saving in the period of `saves_per`, if that is not a month.
    pub saves_usd: Option<WireBounds>,
    /// `month`, `run` or `hour`.
    pub saves_per: Option<Cow<'static, str>>,
    /// `deployed` if the total contains the resource, otherwise the reason why it does not.
    pub counted: Option<Cow<'static, str>>,
    #[serde(default)]
    pub related: Vec<WireRelated<'a>>,
    /// Replacement lines that a reviewer can accept.
    pub fix: Option<Suggestion>,
    /// Every edit of the fix, for programs that apply it.
    #[serde(skip_deserializing)]
    edits: Vec<Replacement>,
    /// `safe`, `unsafe` or `display`; none if the rule has no fix.
    pub fix_safety: Option<Cow<'static, str>>,
    /// The reason why the finding has no fix.
    pub fix_declined: Option<Cow<'a, str>>,
    /// The reason why no schema of its target judged the fix, which is then unsafe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_unjudged: Option<Cow<'a, str>>,
    pub suppressed: Option<WireSuppression<'a>>,
    pub baseline: Option<WireBaseline>,
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

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireRelated<'a> {
    pub path: String,
    pub line: usize,
    pub message: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireSuppression<'a> {
    pub reason: Option<Cow<'a, str>>,
    pub until: Option<String>,
    pub path: String,
    pub line: usize,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireBaseline {
    pub since: String,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct UnknownEntry<'a> {
    pub rule: Cow<'a, str>,
    pub address: Option<Cow<'a, str>>,
    pub root: Option<String>,
    pub run: Option<Cow<'a, str>>,
    pub path: String,
    pub line: usize,
    pub cause: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct CatalogAge<'a> {
    pub version: Cow<'a, str>,
    pub as_of: Cow<'a, str>,
    pub oldest_row_used: Option<Cow<'a, str>>,
    /// Monthly cost that is based on outdated prices, in dollars.
    #[serde(default)]
    pub past_shelf_life: WirePastShelfLife,
    /// The currency of amounts in messages; number fields are always dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<WireCurrency<'a>>,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(in crate::report) struct WirePastShelfLife {
    pub rented: WireNumber,
    pub requested: WireNumber,
    /// The same cost as a range: prices of this age have changed by this much in the past.
    pub rented_today: Option<WireBounds>,
    pub requested_today: Option<WireBounds>,
}

impl From<pricing::PastShelfLife> for WirePastShelfLife {
    fn from(it: pricing::PastShelfLife) -> Self {
        WirePastShelfLife {
            rented: it.rented.expected.into(),
            requested: it.requested.expected.into(),
            rented_today: Some(it.rented.into()),
            requested_today: Some(it.requested.into()),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::report) struct WireCurrency<'a> {
    pub code: Cow<'a, str>,
    pub per_usd: f64,
}

/// Returns the findings and the skipped checks.
pub(in crate::report) fn check(report: &Report) -> String {
    crate::report::formats::json::print(&CheckDocument {
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
        verdict: report.verdict.name().into(),
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
        version: Cow::Borrowed(&report.catalog.version),
        as_of: Cow::Borrowed(&report.catalog.as_of),
        oldest_row_used: report.bill.oldest_row.as_deref().map(Into::into),
        past_shelf_life: report.bill.past_shelf_life.into(),
        currency: (report.currency != Currency::USD)
            .then(|| WireCurrency { code: report.currency.code().into(), per_usd: report.currency.per_usd }),
    }
}

pub(in crate::report) fn finding<'a>(report: &'a Report, decided: &'a Decided) -> WireFinding<'a> {
    let it = &decided.finding;
    let location = report.paths.locate(report.sources, it.span);
    let about = it.about(report.inventory);
    WireFinding {
        rule: Cow::Borrowed(&it.rule),
        group: Cow::Borrowed(&it.group),
        layer: Cow::Borrowed(&it.layer),
        fingerprint: None,
        pack: report.rules.pack(&it.rule).map(|pack| pack.name.as_str()),
        level: it.level.name().into(),
        confidence: it.confidence.name().into(),
        risk: it.risk.name().into(),
        path: location.path,
        line: location.line,
        column: location.column,
        address: about.map(|(address, _)| address.into()),
        root: root(report, it.resource),
        run: run(report, it.resource),
        kind: about.map(|(_, kind)| kind.into()),
        total: it.total.as_ref().map(|total| WireTotal::new(&it.rule, total)),
        message: Cow::Borrowed(&it.message),
        help: it.help.as_deref().map(Into::into),
        saves_usd_per_month: it.saves.filter(|_| it.per == Period::Month).map(Into::into),
        saves_usd: it.saves.map(Into::into),
        saves_per: it.saves.map(|_| it.per.name().into()),
        counted: Some(decided.counted.name().into()),
        related: it.related.iter().map(|(span, message)| related(report, *span, message)).collect(),
        fix: suggestion(report, it),
        edits: it.edits.iter().map(|edit| replacement(report, edit)).collect(),
        fix_safety: it.fix.as_ref().map(|fix| fix.safety.name().into()),
        fix_declined: it.fix.as_ref().and_then(|fix| fix.declined.as_deref()).map(Into::into),
        fix_unjudged: it.fix.as_ref().and_then(|fix| fix.unjudged.as_deref()).map(Into::into),
        suppressed: decided.suppressed.as_ref().map(|it| suppressed(report, it)),
        baseline: decided.baselined.map(|since| WireBaseline { since: since.to_string() }),
    }
}

fn suppressed<'a>(report: &Report, it: &'a decide::Suppressed) -> WireSuppression<'a> {
    let location = report.paths.locate(report.sources, it.span);
    let until = it.until.map(|date| date.to_string());
    WireSuppression { reason: it.reason.as_deref().map(Into::into), until, path: location.path, line: location.line }
}

fn replacement(report: &Report, edit: &Edit) -> Replacement {
    let FilePosition { path, line, column, end_line, end_column } = report.paths.locate(report.sources, edit.span);
    Replacement { path, line, column, end_line, end_column, replacement: edit.replacement.clone() }
}

fn related<'a>(report: &Report, span: crate::source::Span, message: &'a str) -> WireRelated<'a> {
    let location = report.paths.locate(report.sources, span);
    WireRelated { path: location.path, line: location.line, message: message.into() }
}

pub(in crate::report) fn undetermined<'a>(report: &'a Report, it: &'a Undetermined) -> UnknownEntry<'a> {
    let location = report.paths.locate(report.sources, it.span);
    let address = it.address(report.inventory).map(Into::into);
    let root = root(report, it.resource);
    let run = run(report, it.resource);
    UnknownEntry {
        rule: Cow::Borrowed(&it.rule),
        address,
        root,
        run,
        path: location.path,
        line: location.line,
        cause: Cow::Borrowed(&it.cause),
    }
}

fn root(report: &Report, resource: Option<ResourceId>) -> Option<String> {
    wire::root(report, report.inventory.resources.get(resource?.0)?)
}

fn run<'a>(report: &'a Report, resource: Option<ResourceId>) -> Option<Cow<'a, str>> {
    wire::run(report.inventory.resources.get(resource?.0)?).map(Into::into)
}
