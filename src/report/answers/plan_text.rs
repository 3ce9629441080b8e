//! Writes a purchase plan for a terminal: the answer first, then its details.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::plan_words::{PlanSummary, PlannedPurchases, answer, answer_of, in_words, percent, running, steps};
use crate::catalog::{Currency, Money};
use crate::pricing::{Bound, PurchaseGroup, PurchaseLine, PurchasePlan};
use crate::report::ReportStyle;
use crate::report::escape::one_line;
use crate::report::formats::json::WireNumber;
use crate::report::formats::text::TextTable;
use crate::report::views::table::{Cell, Columns, columns};

/// The limit on addresses that are listed for each reason why something is not planned.
const MOST_NAMED: usize = 5;

pub(super) fn text(planned: &PlannedPurchases<'_>, style: ReportStyle) -> String {
    let (plan, currency) = (planned.plan, &planned.currency);
    let mut text = format!("{}\n", one_line(&answer(planned)));
    let bound = || plan.groups.iter().filter(|group| !PlanSummary::of(group.lines.iter()).is_nothing());
    if bound().count() > 1 {
        bound().for_each(|group| {
            let _ = writeln!(text, "  {}", one_line(&answer_of(group, currency)));
        });
    }
    let table = table(plan, currency, style);
    if !table.is_empty() {
        let _ = write!(text, "\n{table}");
    }
    part(&mut text, "not committed", lines(plan).filter_map(|(group, line)| left(group, line, currency)));
    part(&mut text, "other terms", lines(plan).flat_map(|(group, line)| other_terms(group, line, currency)));
    part(&mut text, "paid but unused", plan.groups.iter().flat_map(spare));
    part(&mut text, "calculation", lines(plan).flat_map(|(group, line)| how(group, line, currency)));
    part(&mut text, "not planned", not_planned(plan));
    let stale: Vec<String> = lines(plan).filter_map(|(_, line)| line.stale.clone()).collect();
    part(&mut text, "outdated prices (update: `gpulint catalog update`)", stale);
    if let Some(rate) = currency.rate() {
        let _ = writeln!(text, "\n{rate}");
    }
    text
}

fn lines(plan: &PurchasePlan) -> impl Iterator<Item = (&PurchaseGroup, &PurchaseLine)> {
    plan.groups.iter().flat_map(|group| group.lines.iter().map(move |line| (group, line)))
}

fn part(text: &mut String, heading: &str, said: impl IntoIterator<Item = String>) {
    let mut said = said.into_iter().peekable();
    if said.peek().is_some() {
        let _ = writeln!(text, "\n{heading}:");
        said.for_each(|line| {
            let _ = writeln!(text, "  {}", one_line(&line));
        });
    }
}

fn place(group: &PurchaseGroup, line: &PurchaseLine) -> String {
    format!("{} {} {}", group.provider, group.region, line.machine)
}

/// Returns the machines that always run, and the commitment for them.
fn table(plan: &PurchasePlan, currency: &Currency, style: ReportStyle) -> String {
    let columns: &Columns<'_, (&PurchaseGroup, &PurchaseLine)> = &columns![
        "machines" => |(group, line)| place(group, line),
        "accelerators" => |(group, line)| format!("{} × {}", WireNumber(line.accelerators), group.accelerator),
        "always on" => |(_, line)| line.always,
        "eligible" => |(_, line)| line.base(),
        "committed" => |(_, line)| nonzero(line.committed + line.used_first),
        "commit to" => |(_, line)| line.bound.as_ref().map_or(Cell::from("-"), |it| it.machines.into()),
        "term" => |(_, line)| line.bound.as_ref().map(|it| in_words(it.term)),
        "committed per hour" => |(_, line)| line.bound.as_ref().map(|it| {
            format!("{}{}", currency.per_hour(it.per_hour), if line.stale.is_some() { " outdated" } else { "" })
        }),
        "on demand per hour" => |(_, line)| line.offered.on_demand.map_or("-".to_owned(), |it| currency.per_hour(it)),
        "saves per month" => |(_, line)| line.bound.as_ref().map(|it| it.saves),
        "break-even" => |(_, line)| line.bound.as_ref().map(|it| format!("{}%", percent(it.break_even))),
        "if 25% is removed" => |(_, line)| line.bound.as_ref().map(|it| it.quarter.net()),
        "if 50% is removed" => |(_, line)| line.bound.as_ref().map(|it| it.half.net()),
    ];
    let rows = lines(plan).filter(|(_, line)| line.always > 0.0 || line.base() > 0.0);
    TextTable::of(columns, 2..6, rows, currency).print_within(style.columns)
}

fn nonzero(machines: f64) -> String {
    if machines > 0.0 { running(machines).to_string() } else { String::new() }
}

/// Returns the machines without a commitment, and the reason.
fn left(group: &PurchaseGroup, line: &PurchaseLine, currency: &Currency) -> Option<String> {
    let mut parts = Vec::new();
    let hour =
        |price: Option<Money>| price.map(|price| format!(" at {}/h", currency.per_hour(price))).unwrap_or_default();
    for (machines, what, price) in [
        (line.on_spot, "on spot", line.offered.spot),
        (line.for_spot, "suitable for spot, because they survive interruptions,", line.offered.spot),
        (line.booked, "booked ahead", None),
        (line.on_demand, "on demand", line.offered.on_demand),
    ] {
        if machines > 0.0 {
            parts.push(format!("{} {what}{}", count(machines), hour(price)));
        }
    }
    if line.of_unknown_hours > 0 {
        let flex = line.offered.flex.map(|price| format!("flex-start at {}/h", currency.per_hour(price)));
        let block = line.offered.block.map(|price| format!("blocks of days at {}/h", currency.per_hour(price)));
        let offers: Vec<String> = flex.into_iter().chain(block).collect();
        let offers = if offers.is_empty() { String::new() } else { format!(" (list prices: {})", offers.join(", ")) };
        parts.push(format!("jobs with unknown hours: {}{offers}", line.of_unknown_hours));
    }
    if parts.is_empty() {
        return None;
    }
    let reasons: Vec<String> = line.reasons.iter().map(|(why, always)| reason(why, *always)).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!("; {}", reasons.join("; ")) };
    let most = line.most.map_or(", no maximum".to_owned(), |most| format!(", maximum {}", WireNumber(most)));
    Some(format!("{}: {}{most}{reasons}", place(group, line), parts.join(", ")))
}

/// Returns text such as `1 machine`, `2.5 machines`.
fn count(machines: f64) -> String {
    let noun = if machines == 1.0 { "machine" } else { "machines" };
    format!("{} {noun}", running(machines))
}

fn resources(n: usize) -> String {
    if n == 1 { "1 resource".to_owned() } else { format!("{n} resources") }
}

fn reason(why: &str, always: f64) -> String {
    if always > 0.0 { format!("{} always on, not eligible: {why}", WireNumber(always)) } else { why.to_owned() }
}

fn other_terms(group: &PurchaseGroup, line: &PurchaseLine, currency: &Currency) -> Vec<String> {
    let said = |bound: &Bound| {
        format!(
            "{}: {} {} at {}/h: saves {}/month, break-even at {}%, {}/month if 50% is removed",
            place(group, line),
            count(bound.machines),
            in_words(bound.term),
            currency.per_hour(bound.per_hour),
            currency.amount(bound.saves),
            percent(bound.break_even),
            currency.amount(bound.half.net())
        )
    };
    line.otherwise.iter().map(said).collect()
}

fn spare(group: &PurchaseGroup) -> Vec<String> {
    let places = group.lines.iter().filter(|line| line.spare_places > 0.0);
    let mut said: Vec<String> = places
        .map(|line| format!("{}: {} reserved places", place(group, line), WireNumber(line.spare_places)))
        .collect();
    if group.left_of_commitments > 0.0 {
        let PurchaseGroup { provider, region, accelerator, left_of_commitments, .. } = group;
        said.push(format!("{provider} {region}: a commitment for {} {accelerator}", WireNumber(*left_of_commitments)));
    }
    said
}

fn how(group: &PurchaseGroup, line: &PurchaseLine, currency: &Currency) -> Vec<String> {
    let Some(bound) = &line.bound else { return Vec::new() };
    let mut said = vec![format!("{}, {}", place(group, line), in_words(bound.term))];
    said.extend(steps(line, bound, currency).into_iter().map(|step| format!("  {step}")));
    said.extend(line.estimate.as_ref().map(|why| format!("  estimated: {why}")));
    said
}

/// Returns each reason with its resources.
fn not_planned(plan: &PurchasePlan) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for it in &plan.unplanned {
        let from = if it.from.is_empty() { String::new() } else { format!("{}: ", it.from) };
        reasons.entry(&it.why).or_default().push(format!("{from}{}", it.address));
    }
    let said = |(why, all): (&str, Vec<String>)| {
        let named: Vec<&str> = all.iter().take(MOST_NAMED).map(String::as_str).collect();
        let more = all.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}, {why}: {}{more}", resources(all.len()), named.join(", "))
    };
    reasons.into_iter().map(said).collect()
}
