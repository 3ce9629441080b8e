//! Writes expected, measured and billed cost side by side, for `gpulint reconcile`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::catalog::Money;
use crate::measured::paid::{BilledAmount, NoPartner, PaidEntry};
use crate::report::escape::{one_line, shortened};
use crate::report::formats::csv::text as cell;
use crate::report::formats::json::{VERSION, print};
use crate::report::formats::text::TextTable;
use crate::report::views::markup::{self, Markdown, markdown};
use crate::report::views::reconcile::{
    AskedMonths, Reconciled, ReconciledMonth, discounts, reconcile as months, summed,
};
use crate::report::{Format, Report};

/// Returns expected and billed cost in a format; `None` if the command does not support the format.
pub fn reconcile(format: Format, report: &Report, asked: &AskedMonths) -> Option<String> {
    match format {
        Format::Text => Some(text(report, &months(report, asked))),
        Format::Markdown => Some(markdown(report, &months(report, asked))),
        Format::Json => Some(json(report, &months(report, asked))),
        Format::Csv => Some(csv(report, &months(report, asked))),
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

const HEADINGS: [&str; 8] = ["resource", "team", "expected", "measured", "billed", "hours ×", "rate ×", "cause"];

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

fn cells(report: &Report, it: &Reconciled<'_>) -> Vec<String> {
    let amount = |money: Option<Money>| money.map_or_else(String::new, |it| report.currency.amount(it));
    let factor = |factor: Option<f64>| factor.map_or_else(String::new, |it| format!("{it:.3}"));
    let paid = match &it.paid {
        Ok(sums) => amount(sums.map(|it| it.paid)),
        Err(_) => "?".to_owned(),
    };
    let why = match &it.paid {
        Err(why) => why.clone(),
        Ok(None) => "no charge on the bill has this name".to_owned(),
        Ok(_) => it.causes.join("; "),
    };
    vec![
        shortened(&one_line(&report.called(it.resource)), 60),
        it.team.map(one_line).unwrap_or_default(),
        amount(it.expected),
        amount(it.measured),
        paid,
        factor(it.hours_factor),
        factor(it.rate_factor),
        shortened(&one_line(&why), 200),
    ]
}

fn by_team(report: &Report, it: &ReconciledMonth<'_>) -> Vec<Vec<String>> {
    let mut teams: BTreeMap<Option<&str>, [Money; 2]> = BTreeMap::new();
    for line in &it.lines {
        let [expected, paid] = teams.entry(line.team).or_default();
        *expected += line.expected.unwrap_or_default();
        *paid += line.sums().map(|it| it.paid).unwrap_or_default();
    }
    let amount = |money| report.currency.amount(money);
    let named = teams.into_iter().map(|(team, [expected, paid])| {
        vec![team.map_or_else(|| "no team".to_owned(), one_line), amount(expected), amount(paid)]
    });
    named.collect()
}

fn left(it: &PaidEntry, why: &NoPartner) -> Vec<String> {
    let row = &it.row;
    let hours = row.hours.map_or_else(String::new, |it| it.to_string());
    let charge = row.charge.name().to_owned();
    vec![
        shortened(&one_line(&row.shown()), 90),
        charge,
        hours,
        format!("{} {}", row.currency, row.paid),
        one_line(&why.to_string()),
    ]
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
        let mut table = TextTable::new(&HEADINGS, 2..7);
        it.lines.iter().for_each(|line| table.row(cells(report, line)));
        let _ = write!(text, "\n{}", table.print());
        let teams = by_team(report, it);
        if teams.len() > 1 {
            let mut table = TextTable::new(&["team", "expected", "billed"], 1..3);
            teams.into_iter().for_each(|row| table.row(row));
            let _ = write!(text, "\n{}", table.print());
        }
        if !it.left.is_empty() {
            let mut table =
                TextTable::new(&["billed, without a resource here", "charge", "hours", "billed", "why"], 2..4);
            it.left.iter().for_each(|(it, why)| table.row(left(it, why)));
            let _ = write!(text, "\n{}", table.print());
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
    let heading = |text: &mut Markdown, names: &[&'static str]| {
        text.push("|");
        names.iter().for_each(|name| markdown!(text, " ", *name, " |"));
        text.push("\n|");
        names.iter().for_each(|_| text.push(" --- |"));
        text.push("\n");
    };
    let row = |text: &mut Markdown, cells: Vec<String>| {
        text.push("|");
        cells.iter().for_each(|cell| markdown!(text, " ", markup::text(cell, LONGEST), " |"));
        text.push("\n");
    };
    let mut text = Markdown::default();
    for it in months {
        markdown!(text, "### ", markup::figures(&it.month.to_string()), "\n\n");
        for line in summed(it) {
            markdown!(text, markup::text(&line, LONGEST), "\n\n");
        }
        heading(&mut text, &HEADINGS);
        it.lines.iter().for_each(|line| row(&mut text, cells(report, line)));
        if !it.left.is_empty() {
            text.push("\n");
            heading(&mut text, &["billed, without a resource here", "charge", "hours", "billed", "why"]);
            it.left.iter().for_each(|(it, why)| row(&mut text, left(it, why)));
        }
        text.push("\n");
    }
    text.into_string()
}

const COLUMNS: &str = "month,open,address,kind,team,expected_usd,expected_hours,measured_usd,paid_usd,list_usd,hours,on_demand_hours,\
                       spot_hours,committed_hours,hours_factor,rate_factor,why\n";

fn csv(report: &Report, months: &[ReconciledMonth<'_>]) -> String {
    let mut text = COLUMNS.to_owned();
    let usd = |money: Option<Money>| money.map_or_else(String::new, |it| it.usd().to_string());
    let number = |number: Option<f64>| number.map_or_else(String::new, |it| it.to_string());
    for (month, line) in months.iter().flat_map(|month| month.lines.iter().map(move |line| (month, line))) {
        let sums = line.sums();
        let hours = |of: fn(&crate::measured::paid::PaidSums) -> BilledAmount| {
            sums.map_or_else(String::new, |it| of(it).to_string())
        };
        let why = cells(report, line).pop().unwrap_or_default();
        let all = [
            month.month.to_string(),
            if month.is_open { "1" } else { "" }.to_owned(),
            cell(&line.resource.address),
            cell(&line.resource.kind),
            cell(line.team.unwrap_or_default()),
            usd(line.expected),
            number(line.expected_hours),
            usd(line.measured),
            usd(sums.map(|it| it.paid)),
            usd(sums.and_then(|it| it.list)),
            sums.and_then(|it| it.hours).map_or_else(String::new, |it| it.to_string()),
            hours(|it| it.on_demand),
            hours(|it| it.spot),
            hours(|it| it.committed),
            number(line.hours_factor),
            number(line.rate_factor),
            cell(&why),
        ];
        let _ = writeln!(text, "{}", all.join(","));
    }
    text
}

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
        reason: reason.to_string(),
    }
}
