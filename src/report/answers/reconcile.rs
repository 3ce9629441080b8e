//! Writes expected, measured and billed cost side by side, for `gpulint reconcile`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::catalog::{Currency, Money};
use crate::measured::paid::{BillMonth, BilledAmount, NoPartner, PaidEntry};
use crate::report::escape::{one_line, shortened};
use crate::report::formats::json::{VERSION, print};
use crate::report::formats::text::TextTable;
use crate::report::views::markup::{self, Markdown, markdown};
use crate::report::views::reconcile::{
    AskedMonths, Reconciled, ReconciledMonth, discounts, reconcile as months, summed,
};
use crate::report::views::table::{Cell, Columns, ConstColumns, columns, csv, markdown_table};
use crate::report::{Format, Report};

/// Returns expected and billed cost in a format; `None` if the command does not support the format.
pub fn reconcile(format: Format, report: &Report, asked: &AskedMonths) -> Option<String> {
    match format {
        Format::Text => Some(text(report, &months(report, asked))),
        Format::Markdown => Some(markdown(report, &months(report, asked))),
        Format::Json => Some(json(report, &months(report, asked))),
        Format::Csv => Some(csv(COLUMNS, months(report, asked).iter().flat_map(|it| ReconciledRow::all(report, it)))),
        _ => None,
    }
}

/// Returns lines for gpulint.toml, each with the numbers of the bill.
pub fn proposed_discounts(report: &Report) -> String {
    let proposed = discounts(report);
    if proposed.is_empty() {
        return "# No discount proposed: the bill has no on-demand hours with a list price in a month that has ended.\n".to_owned();
    }
    let mut text =
        "# Proposed by `gpulint reconcile --print-discounts`: look at it, and put it into gpulint.toml yourself.\n\
                    [prices.discount]\n"
            .to_owned();
    for it in proposed {
        let amount = |money| report.currency.amount(money);
        let months = if it.months == 1 { "1 month".to_owned() } else { format!("{} months", it.months) };
        let _ = writeln!(
            text,
            "# {} on-demand hours in {months} cost {} instead of {} at list prices",
            it.hours,
            amount(it.paid),
            amount(it.list)
        );
        if it.most - it.least > 0.005 {
            let _ = writeln!(
                text,
                "# the discount differs by machine, from {:.1}% to {:.1}%: set one for each in `[[contracts]]`",
                it.least * 100.0,
                it.most * 100.0
            );
        }
        let share = (it.share() * 10_000.0).round() / 10_000.0;
        match share {
            share if share > 0.0 && share < 1.0 => _ = writeln!(text, "{} = {share}", one_line(it.provider)),
            _ => _ = writeln!(text, "# {}: no discount", one_line(it.provider)),
        }
    }
    text
}

/// A resource with its month.
struct ReconciledRow<'a> {
    report: &'a Report<'a>,
    month: &'a ReconciledMonth<'a>,
    it: &'a Reconciled<'a>,
}

impl<'a> ReconciledRow<'a> {
    fn all(report: &'a Report<'a>, month: &'a ReconciledMonth<'a>) -> impl Iterator<Item = Self> {
        month.lines.iter().map(move |it| ReconciledRow { report, month, it })
    }

    fn cause(&self) -> String {
        let why = match &self.it.paid {
            Err(why) => why.clone(),
            Ok(None) => "no charge on the bill has this name".to_owned(),
            Ok(_) => self.it.causes.join("; "),
        };
        shortened(&one_line(&why), 200)
    }
}

/// The columns for people.
const SHOWN: &ConstColumns<dyn Fn(&ReconciledRow<'_>) -> Cell> = &columns![
    "resource" => |row| shortened(&one_line(&row.report.called(row.it.resource)), 60),
    "team" => |row| row.it.team,
    "expected" => |row| row.it.expected,
    "measured" => |row| row.it.measured,
    "billed" => |row| match &row.it.paid {
        Ok(sums) => sums.map(|it| it.paid).into(),
        Err(_) => Cell::from("?"),
    },
    "hours ×" => |row| row.it.hours_factor.map(|it| format!("{it:.3}")),
    "rate ×" => |row| row.it.rate_factor.map(|it| format!("{it:.3}")),
    "cause" => |row| row.cause(),
];

type LeftRow<'a> = &'a (&'a PaidEntry, &'a NoPartner);

const LEFT: &ConstColumns<dyn Fn(&LeftRow<'_>) -> Cell> = &columns![
    "billed, without a resource here" => |(it, _)| shortened(&one_line(&it.row.shown()), 90),
    "charge" => |(it, _)| it.row.charge.name(),
    "hours" => |(it, _)| it.row.hours,
    "billed" => |(it, _)| format!("{} {}", it.row.currency, it.row.paid),
    "why" => |(_, why)| why.to_string(),
];

/// A sum of the lines of a team.
#[derive(Default)]
struct TeamSum {
    known: Money,
    has_unknown: bool,
}

impl TeamSum {
    fn add(&mut self, part: Option<Money>) {
        self.known += part.unwrap_or_default();
        self.has_unknown |= part.is_none();
    }

    fn cell(&self, currency: &Currency) -> Cell {
        match (self.has_unknown, self.known.is_zero()) {
            (false, _) => self.known.into(),
            (true, true) => "?".into(),
            (true, false) => format!("at least {}", currency.amount(self.known)).into(),
        }
    }
}

/// The expected and the billed cost of a team.
type TeamRow<'a> = (Option<&'a str>, [TeamSum; 2]);

fn nothing(report: &Report) -> &'static str {
    match (report.measured.paid.files, report.measured.paid.is_empty()) {
        (0, _) => {
            "no bill found, so the billed cost is unknown; import one: `gpulint usage bill FILE -o gpulint-paid.csv`\n"
        }
        (_, true) => {
            "no row of the bill can be used, so the billed cost is unknown; `gpulint check` lists the error of each row\n"
        }
        _ => "no month of the bill has ended; --all-months includes months that have not\n",
    }
}

fn by_team<'a>(it: &ReconciledMonth<'a>) -> BTreeMap<Option<&'a str>, [TeamSum; 2]> {
    let mut teams: BTreeMap<Option<&str>, [TeamSum; 2]> = BTreeMap::new();
    for line in &it.lines {
        let [expected, paid] = teams.entry(line.team).or_default();
        expected.add(line.expected);
        paid.add(line.paid.as_ref().ok().map(|sums| sums.map_or(Money::ZERO, |it| it.paid)));
    }
    teams
}

fn text(report: &Report, months: &[ReconciledMonth<'_>]) -> String {
    if months.is_empty() {
        return nothing(report).to_owned();
    }
    let mut text = String::new();
    for it in months {
        for line in summed(it) {
            let _ = writeln!(text, "{line}");
        }
        let currency = &report.currency;
        let _ = write!(text, "\n{}", TextTable::of(SHOWN, 2..7, ReconciledRow::all(report, it), currency).print());
        let teams = by_team(it);
        if teams.len() > 1 {
            let columns: &Columns<'_, TeamRow<'_>> = &columns![
                "team" => |(team, _)| team.unwrap_or("no team"),
                "expected" => |(_, [expected, _])| expected.cell(currency),
                "billed" => |(_, [_, billed])| billed.cell(currency),
            ];
            let _ = write!(text, "\n{}", TextTable::of(columns, 1..3, teams, currency).print());
        }
        if !it.left.is_empty() {
            let _ = write!(text, "\n{}", TextTable::of(LEFT, 2..4, &it.left, currency).print());
        }
        text.push('\n');
    }
    text.push_str("hours ×: hours billed / hours expected; rate ×: price per hour billed / price per hour expected\n");
    text
}

fn markdown(report: &Report, months: &[ReconciledMonth<'_>]) -> String {
    const LONGEST: usize = 500;
    if months.is_empty() {
        return nothing(report).to_owned();
    }
    let mut text = Markdown::default();
    for it in months {
        markdown!(text, "### ", markup::figures(&it.month.to_string()), "\n\n");
        for line in summed(it) {
            markdown!(text, markup::text(&line, LONGEST), "\n\n");
        }
        markdown_table(&mut text, SHOWN, ReconciledRow::all(report, it), &report.currency, LONGEST);
        if !it.left.is_empty() {
            text.push("\n");
            markdown_table(&mut text, LEFT, &it.left, &report.currency, LONGEST);
        }
        text.push("\n");
    }
    text.into_string()
}

const COLUMNS: &ConstColumns<dyn Fn(&ReconciledRow<'_>) -> Cell> = &columns![
    "month" => |row| row.month.month.to_string(),
    "open" => |row| if row.month.is_open { "1" } else { "" },
    "address" => |row| &row.it.resource.address,
    "kind" => |row| &row.it.resource.kind,
    "team" => |row| row.it.team,
    "expected_usd" => |row| row.it.expected,
    "expected_hours" => |row| row.it.expected_hours,
    "measured_usd" => |row| row.it.measured,
    "paid_usd" => |row| row.it.sums().map(|it| it.paid),
    "list_usd" => |row| row.it.sums().and_then(|it| it.list),
    "hours" => |row| row.it.sums().and_then(|it| it.hours),
    "on_demand_hours" => |row| row.it.sums().map(|it| it.on_demand),
    "spot_hours" => |row| row.it.sums().map(|it| it.spot),
    "committed_hours" => |row| row.it.sums().map(|it| it.committed),
    "hours_factor" => |row| row.it.hours_factor,
    "rate_factor" => |row| row.it.rate_factor,
    "why" => |row| row.cause(),
];

#[derive(Serialize)]
struct Wire<'a> {
    version: u32,
    months: Vec<WireMonth<'a>>,
}

#[derive(Serialize)]
struct WireMonth<'a> {
    month: String,
    open: bool,
    /// Decimals as strings, so that no digit is lost.
    sums: Vec<WireSum<'a>>,
    resources: Vec<WireLine<'a>>,
    /// The rows of the bill that match exactly one resource.
    matched: Vec<WireMatched<'a>>,
    unmatched: Vec<WireLeft<'a>>,
}

#[derive(Serialize)]
struct WireSum<'a> {
    currency: &'a str,
    billed: String,
    matched: String,
    beside: String,
    unmatched: String,
}

#[derive(Serialize)]
struct WireLine<'a> {
    address: &'a str,
    kind: &'a str,
    run: Option<&'a str>,
    team: Option<&'a str>,
    expected_usd: Option<f64>,
    expected_hours: Option<f64>,
    measured_usd: Option<f64>,
    paid: Option<WirePaid>,
    /// The reason why the billed cost is unknown.
    reason: Option<&'a str>,
    hours_factor: Option<f64>,
    rate_factor: Option<f64>,
    causes: &'a [String],
}

#[derive(Serialize)]
struct WirePaid {
    usd: f64,
    list_usd: Option<f64>,
    hours: Option<f64>,
    on_demand_hours: f64,
    spot_hours: f64,
    committed_hours: f64,
    corrected_usd: f64,
}

#[derive(Serialize)]
struct WireMatched<'a> {
    path: String,
    line: usize,
    address: &'a str,
    run: Option<&'a str>,
}

#[derive(Serialize)]
struct WireLeft<'a> {
    path: String,
    line: usize,
    provider: &'a str,
    key_kind: &'a str,
    key: &'a str,
    region: &'a str,
    machine: &'a str,
    accelerator: &'a str,
    charge: &'a str,
    currency: &'a str,
    paid: String,
    hours: Option<String>,
    cause: &'static str,
    reason: String,
}

fn json(report: &Report, months: &[ReconciledMonth<'_>]) -> String {
    let months = months.iter().map(|it| WireMonth {
        month: it.month.to_string(),
        open: it.is_open,
        sums: it
            .sums
            .iter()
            .map(|(currency, sums)| WireSum {
                currency,
                billed: sums.billed.to_string(),
                matched: sums.matched.to_string(),
                beside: sums.beside.to_string(),
                unmatched: sums.unmatched.to_string(),
            })
            .collect(),
        resources: it.lines.iter().map(wire_line).collect(),
        matched: matched(report, it.month),
        unmatched: it.left.iter().map(|(it, why)| wire_left(report, it, why)).collect(),
    });
    print(&Wire { version: VERSION, months: months.collect() })
}

fn wire_line<'a>(it: &'a Reconciled<'a>) -> WireLine<'a> {
    let paid = it.sums().map(|sums| WirePaid {
        usd: sums.paid.usd(),
        list_usd: sums.list.map(Money::usd),
        hours: sums.hours.map(BilledAmount::as_f64),
        on_demand_hours: sums.on_demand.as_f64(),
        spot_hours: sums.spot.as_f64(),
        committed_hours: sums.committed.as_f64(),
        corrected_usd: sums.corrected.usd(),
    });
    WireLine {
        address: &it.resource.address,
        kind: &it.resource.kind,
        run: it.resource.run.as_ref().map(|run| run.as_str()),
        team: it.team,
        expected_usd: it.expected.map(Money::usd),
        expected_hours: it.expected_hours,
        measured_usd: it.measured.map(Money::usd),
        paid,
        reason: it.paid.as_ref().err().map(String::as_str),
        hours_factor: it.hours_factor,
        rate_factor: it.rate_factor,
        causes: &it.causes,
    }
}

fn matched<'a>(report: &'a Report, month: BillMonth) -> Vec<WireMatched<'a>> {
    let paid = &report.measured.paid;
    let mut matched = Vec::new();
    for id in paid.matched.keys() {
        let Some(resource) = report.resource(Some(*id)) else { continue };
        for it in paid.of(*id).filter(|it| it.row.month == month) {
            let place = report.paths.locate(report.sources, it.span);
            let run = resource.run.as_ref().map(|run| run.as_str());
            matched.push(WireMatched { path: place.path, line: place.line, address: &resource.address, run });
        }
    }
    matched.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    matched
}

fn wire_left<'a>(report: &Report, it: &'a PaidEntry, reason: &NoPartner) -> WireLeft<'a> {
    let place = report.paths.locate(report.sources, it.span);
    let row = &it.row;
    WireLeft {
        path: place.path,
        line: place.line,
        provider: &row.provider,
        key_kind: row.key_kind.name(),
        key: &row.key,
        region: &row.region,
        machine: &row.machine,
        accelerator: &row.accelerator,
        charge: row.charge.name(),
        currency: &row.currency,
        paid: row.paid.to_string(),
        hours: row.hours.map(|it| it.to_string()),
        cause: reason.name(),
        reason: reason.to_string(),
    }
}
