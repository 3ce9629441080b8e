//! Compares scenarios with the current configuration, for `gpulint what-if`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::catalog::Money;
use crate::decide::Decided;
use crate::fit::speed::SpeedRange;
use crate::inventory::{Key, ResourceId};
use crate::pricing::Period;
use crate::report::escape::{one_line, shortened};
use crate::report::formats::csv::{RESOURCES, ResourceRow};
use crate::report::formats::json::{self, WireFinding, WireNumber, WireResource};
use crate::report::formats::text::TextTable;
use crate::report::views::money::mark;
use crate::report::views::table::{Cell, csv_line};
use crate::report::views::unit_work;
use crate::report::views::what_if::{
    Case, Cases, WhatIfCost, accelerators, beyond, costs, fit, fits, join_fact_values,
};
use crate::report::{Format, Report, ReportStyle};

/// The limit on findings of a case that are shown as text.
const MOST: usize = 8;

/// Returns the scenarios in a format; `None` if the command does not support the format.
pub fn what_if(format: Format, cases: &Cases<'_>, style: ReportStyle) -> Option<String> {
    match format {
        Format::Text => Some(text(cases, style)),
        Format::Json => Some(json::print(&document(cases))),
        Format::Csv => Some(rows(cases)),
        _ => None,
    }
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    on: &'a [String],
    today: State<'a>,
    cases: Vec<Scenario<'a>>,
}

#[derive(Serialize)]
struct Scenario<'a> {
    name: &'a str,
    set: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    state: State<'a>,
    /// The difference of the monthly total from today; null if a resource lost its price.
    combined_change_usd_per_month: Option<WireNumber>,
    new_findings: Vec<WireFinding<'a>>,
    gone_findings: Vec<WireFinding<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct State<'a> {
    /// The changed resources, and the pods on them.
    resources: Vec<Line<'a>>,
    bill: json::Totals,
    findings: usize,
}

#[derive(Serialize)]
struct Line<'a> {
    changed: bool,
    #[serde(flatten)]
    resource: Option<WireResource<'a>>,
    fit: Option<&'static str>,
    unit_work: Option<json::Work<'a>>,
}

fn document<'a>(cases: &'a Cases<'a>) -> Option<Document<'a>> {
    let today = cases.today()?;
    let scenario = |case: &'a Case<'a>| Scenario {
        name: case.name,
        set: case.set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
        state: state(cases, case),
        combined_change_usd_per_month: (case.report.bill.unpriced() <= today.report.bill.unpriced())
            .then(|| WireNumber::from(change(case, today))),
        new_findings: beyond(&case.report, &today.report).iter().map(|it| json::finding(&case.report, it)).collect(),
        gone_findings: beyond(&today.report, &case.report).iter().map(|it| json::finding(&today.report, it)).collect(),
        notes: cases.notes(case),
    };
    Some(Document {
        version: json::VERSION,
        on: cases.on,
        today: state(cases, today),
        cases: cases.all.iter().skip(1).map(scenario).collect(),
    })
}

fn state<'a>(cases: &Cases<'a>, case: &'a Case<'a>) -> State<'a> {
    let changed = cases.changed(case);
    let line = |at: usize| Line {
        changed: changed.contains(&at),
        resource: json::resource(&case.report, ResourceId(at)),
        fit: fit(&case.report, at),
        unit_work: json::unit_work(&case.report, at),
    };
    State {
        resources: cases.concerned(case).into_iter().map(line).collect(),
        bill: json::Totals::new(&case.report),
        findings: case.report.findings.iter().filter(|it| it.counts()).count(),
    }
}

/// Returns how much more the total costs per month than today, with each dollar counted once.
fn change(case: &Case<'_>, today: &Case<'_>) -> Money {
    case.report.bill.combined.minimum().expected - today.report.bill.combined.minimum().expected
}

fn text(cases: &Cases<'_>, style: ReportStyle) -> String {
    let mut text = String::new();
    let headings = [
        "case",
        "machine",
        "accelerators",
        "provider",
        "region",
        "purchase",
        "count",
        "per hour",
        "minimum",
        "expected",
        "maximum",
        "fit",
        "$/M tokens",
    ];
    let mut table = TextTable::new(&headings, 6..11);
    for case in &cases.all {
        lines(cases, case).into_iter().for_each(|line| table.row(line));
    }
    let (on, number) = (cases.on.join(", "), cases.today().map_or(0, |today| cases.changed(today).len()));
    let _ =
        writeln!(text, "what if {} ({number} {}):", one_line(&on), if number == 1 { "resource" } else { "resources" });
    for case in cases.all.iter().skip(1) {
        let set: Vec<String> = case.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let _ = writeln!(text, "  {}: {}", one_line(case.name), one_line(&set.join(", ")));
    }
    let _ = writeln!(text, "\n{}", table.print_within(style.columns));
    for case in cases.all.iter().skip(1) {
        after(&mut text, cases, case);
    }
    text.push_str("amounts are per month unless marked otherwise; no file was changed\n");
    text
}

/// Returns the row of a case for each period of its cost.
fn lines(cases: &Cases<'_>, case: &Case<'_>) -> Vec<Vec<String>> {
    let (changed, concerned, report) = (cases.changed(case), cases.concerned(case), &case.report);
    let mut name = shortened(&one_line(case.name), 40);
    let mut lines = Vec::new();
    for (per, cost) in costs(report, &changed) {
        let mut cells = vec![std::mem::take(&mut name), join_fact_values(report, &changed, Key::Machine)];
        cells.push(accelerators(report, &changed));
        cells.extend([Key::Provider, Key::Region, Key::Purchase].map(|key| join_fact_values(report, &changed, key)));
        cells.push(count(report, &changed));
        cells.extend(amounts(report, per, &cost));
        cells.extend([fits(report, &concerned), tokens(report, &concerned)]);
        lines.push(cells.iter().map(|cell| shortened(&one_line(cell), 40)).collect());
    }
    if lines.is_empty() {
        lines.push(vec![name, "none".to_owned()]);
    }
    lines
}

fn amounts(report: &Report<'_>, per: Period, cost: &WhatIfCost) -> [String; 4] {
    if cost.is_partial && cost.amount.expected.is_zero() && cost.amount.ceiling.is_zero() {
        return ["unpriced", "?", "?", "?"].map(str::to_owned);
    }
    let least = if cost.is_partial { "at least " } else { "" };
    let unit = if per == Period::Month { String::new() } else { format!("/{}", per.name()) };
    let marked = mark(cost.is_estimated);
    let amount = |money| format!("{least}{marked}{}{unit}", report.currency.amount(money));
    let hour = format!("{least}{marked}{}", report.currency.per_hour(cost.an_hour));
    [hour, amount(cost.amount.floor), amount(cost.amount.expected), amount(cost.amount.ceiling)]
}

/// Returns the total number of machines or pods.
fn count(report: &Report<'_>, places: &[usize]) -> String {
    let all = places.iter().filter_map(|at| report.inventory.resources.get(*at)).map(|it| it.count.value().copied());
    let sum = all.reduce(|sum, count| Some(sum?.plus(count?))).flatten();
    match sum {
        Some(range) if range.floor == range.ceiling => WireNumber(range.expected).to_string(),
        Some(range) if range.ceiling.is_finite() => format!("{}–{}", range.floor, range.ceiling),
        Some(range) => format!("{} or more", range.floor),
        None => "?".to_owned(),
    }
}

/// Returns the cost per million tokens at full load: of the only server, or from the cheapest to the most expensive.
fn tokens(report: &Report<'_>, places: &[usize]) -> String {
    let costs = places.iter().filter_map(|at| unit_work::of(report, *at)?.costs.per_million_at_full_load);
    let costs: Vec<SpeedRange> = costs.collect();
    match costs.as_slice() {
        [] => String::new(),
        [only] => only.format_range(),
        [first, rest @ ..] => {
            let ends = |it: &SpeedRange| (it.expected, it.expected);
            let (low, high) = rest.iter().map(ends).fold(ends(first), |a, b| (a.0.min(b.0), a.1.max(b.1)));
            format!("{}–{}", WireNumber::three_digits(low), WireNumber::three_digits(high))
        }
    }
}

/// Writes the lines of a case below the table.
fn after(text: &mut String, cases: &Cases<'_>, case: &Case<'_>) {
    let Some(today) = cases.today() else { return };
    let (new, gone) = (beyond(&case.report, &today.report), beyond(&today.report, &case.report));
    let _ = writeln!(
        text,
        "{}: {}; new findings: {}, removed findings: {}",
        one_line(case.name),
        whole(case, today),
        new.len(),
        gone.len()
    );
    for (sign, report, findings) in [("+", &case.report, &new), ("-", &today.report, &gone)] {
        for decided in findings.iter().take(MOST) {
            let _ = writeln!(text, "  {sign} {}", format_change(report, decided));
        }
        if findings.len() > MOST {
            let _ = writeln!(text, "  {sign} {} more; --format json lists them all", findings.len() - MOST);
        }
    }
    for note in cases.notes(case) {
        let _ = writeln!(text, "  note: {}", one_line(&note));
    }
    text.push('\n');
}

/// Returns the change of the total cost.
fn whole(case: &Case<'_>, today: &Case<'_>) -> String {
    let (change, currency) = (change(case, today), case.report.currency);
    let unpriced = case.report.bill.unpriced();
    if unpriced > today.report.bill.unpriced() {
        return format!("total cost unknown: {} without a price", number(unpriced, "resource"));
    }
    let told = match change {
        more if more > Money::ZERO => format!("{}/month more than today", currency.amount(more)),
        less if less < Money::ZERO => format!("{}/month less than today", currency.amount(-less)),
        _ => "the same as today".to_owned(),
    };
    format!("total cost: {told}")
}

fn number(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn format_change(report: &Report<'_>, decided: &Decided) -> String {
    let finding = &decided.finding;
    let address = finding.address(report.inventory).unwrap_or_default();
    let text = format!("{} {} {address}: {}", finding.level.name(), finding.rule, finding.message);
    shortened(&one_line(&text), 200)
}

/// Returns a line for each resource of each case.
fn rows(cases: &Cases<'_>) -> String {
    let is_shared = |heading: &str| !heading.ends_with("_per_month") && !["path", "line"].contains(&heading);
    let shared = || RESOURCES.iter().take_while(|it| it.0 != "hours").filter(|it| is_shared(it.0));
    let names = ["case", "set", "changed"].into_iter().chain(shared().map(|(heading, _)| *heading));
    let names = names.chain(["fit", "expected_usd_per_million_tokens_at_full_load", "new_findings", "gone_findings"]);
    let mut rows = csv_line(names.map(Cell::from));
    let Some(today) = cases.today() else { return rows };
    for case in &cases.all {
        let (changed, report) = (cases.changed(case), &case.report);
        let set: Vec<String> = case.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let findings = [beyond(report, &today.report).len(), beyond(&today.report, report).len()];
        for at in cases.concerned(case) {
            let Some(row) = ResourceRow::new(report, at) else { continue };
            let first: [Cell; 3] = [case.name.into(), set.join("; ").into(), changed.contains(&at).into()];
            let last = [fit(report, at).into(), row.tokens(|it| it.expected).into()]
                .into_iter()
                .chain(findings.map(Cell::from));
            rows += &csv_line(first.into_iter().chain(shared().map(|(_, read)| read(&row))).chain(last));
        }
    }
    rows
}
