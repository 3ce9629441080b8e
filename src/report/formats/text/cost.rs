//! Writes the bill as a table for a terminal.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use super::summary;
use super::table::TextTable;
use crate::catalog::{Money, MoneyRange};
use crate::fit::lost_work::{LostAmount, LostWorkPart};
use crate::fit::speed::SpeedRange;
use crate::inventory::{BillingRole, Key, Range, Resource};
use crate::pricing::{BillItem, Period};
use crate::report::views::cost_line::{cost_line, cost_rows};
use crate::report::views::judged;
use crate::report::views::lost_work::{format_usd, with_amounts};
use crate::report::views::money::{mark_of, plain_number, role_heading};
use crate::report::views::table::{Columns, columns, fact_text};
use crate::report::views::unit_work::{COLUMNS, reasons, unit_work};
use crate::report::{Most, Report, ReportStyle, Sort, escape};

/// Returns the bill: a table of machines and a table of pods, sorted by cost or path, in groups if the style asks for
/// them.
pub(in crate::report) fn cost(report: &Report, style: ReportStyle) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", cost_line(report));
    if report.is_empty {
        return text;
    }
    for row in cost_rows(report) {
        let _ = writeln!(text, "{row}");
    }
    text.push('\n');
    let resources = || report.inventory.resources.iter().zip(&report.bill.items);
    for role in [BillingRole::Rented, BillingRole::Requested] {
        let mut groups: BTreeMap<String, Vec<(&Resource, &BillItem)>> = BTreeMap::new();
        for (resource, item) in resources().filter(|(resource, _)| resource.role == role) {
            let name = style.choice.group.map(|by| by.group_of(report, resource)).unwrap_or_default();
            groups.entry(name).or_default().push((resource, item));
        }
        let sum = |lines: &[(&Resource, &BillItem)]| {
            let counted = lines.iter().filter(|(resource, _)| resource.is_added());
            counted.filter_map(|(_, item)| item.monthly).map(|monthly| monthly.expected).sum::<Money>()
        };
        let mut groups: Vec<(String, Vec<(&Resource, &BillItem)>)> = groups.into_iter().collect();
        groups.sort_by_key(|(name, lines)| (Reverse(sum(lines)), name.clone()));
        for (name, mut lines) in groups {
            sort(&mut lines, report, style.choice.sort);
            if !name.is_empty() {
                let _ = writeln!(text, "{}: {}/month", shown(&name, 120), report.currency.amount(sum(&lines)));
            }
            let most = match style.choice.most {
                Most::Top(most) => most,
                Most::All | Most::Screen => usize::MAX,
            };
            let columns: &Columns<'_, &(&Resource, &BillItem)> = &columns![
                role_heading(role) => |(it, _)| shown_name(report, it),
                "machine type" => |(it, _)| shown(&fact_text(it, Key::Machine), 40),
                "accelerators" => |(it, _)| accelerators(it),
                "count" => |(it, _)| count(it),
                "per hour" => |(_, item)| per_hour(report, item),
                "hours" => |(_, item)| hours(item),
                "minimum" => |(_, item)| amount(report, item, |it| it.floor),
                "expected" => |(_, item)| expected(report, item),
                "maximum" => |(it, item)| maximum(report, it, item),
                "where" => |(it, _)| place(report, it),
            ];
            let table = TextTable::of(columns, 3..9, lines.iter().take(most), &report.currency);
            let _ = writeln!(text, "{}", table.print_within(style.columns));
            if lines.len() > most {
                let _ = writeln!(text, "not shown: {} more; --all shows them\n", lines.len() - most);
            }
        }
    }
    units(&mut text, report, style);
    lost_work(&mut text, report, style);
    judged::text(&mut text, report);
    summary::write_bill(&mut text, report, style);
    text
}

/// Writes the cost per unit of work of each server, if it is known.
fn units(text: &mut String, report: &Report, style: ReportStyle) {
    let all = unit_work(report);
    let columns: Vec<_> = COLUMNS.into_iter().filter(|(_, read)| all.iter().any(|it| read(it).is_some())).collect();
    let headings: Vec<&str> = ["server", "model"].into_iter().chain(columns.iter().map(|it| it.0)).collect();
    let mut table = TextTable::new(&headings, 2..headings.len());
    for it in all.iter().filter(|it| it.is_known()) {
        let mut cells = vec![shown(&report.called(it.resource), 60), shown(it.model.unwrap_or_default(), 60)];
        cells.extend(columns.iter().map(|(_, read)| read(it).map(SpeedRange::format_range).unwrap_or_default()));
        table.row(cells);
    }
    if !columns.is_empty() {
        let _ = writeln!(text, "{}", table.print_within(style.columns));
        let measured = all.iter().filter_map(|it| Some((it.resource, it.measured_by?)));
        for (resource, by) in measured {
            let _ = writeln!(text, "{}: {}", escape::one_line(&resource.address), escape::one_line(by));
        }
        let has_rates = all.iter().any(|it| it.tokens_per_second.is_some());
        if has_rates {
            text.push_str("token rates are estimates; `gpulint explain` lists the load and lengths assumed; real servers never reach full load\n");
        }
    }
    for (servers, why) in reasons(&all) {
        let _ = writeln!(text, "no rate for {servers} {}: {why}", if servers == 1 { "server" } else { "servers" });
    }
    if !all.is_empty() {
        text.push('\n');
    }
}

/// Writes what starts, interruptions and repeated work cost, for each resource with an amount.
fn lost_work(text: &mut String, report: &Report, style: ReportStyle) {
    let all = with_amounts(report);
    if all.is_empty() {
        return;
    }
    let parts = LostWorkPart::ALL.map(LostWorkPart::name);
    let headings: Vec<&str> = ["lost work"].into_iter().chain(parts).chain(["together"]).collect();
    let mut table = TextTable::new(&headings, 1..headings.len());
    for (resource, work) in &all {
        let expected = |usd: Range| format_usd(report.currency, Range::exactly(usd.expected));
        let part = |which: LostWorkPart| match work.part(which) {
            Some(LostAmount::Known { gpu_hours, .. }) => work.dollars(*gpu_hours).map_or("?".to_owned(), expected),
            Some(LostAmount::Unknown(_)) => "?".to_owned(),
            Some(LostAmount::None(_)) | None => String::new(),
        };
        let least = if work.is_partial() { "at least " } else { "" };
        let sum = work.usd().map(expected).unwrap_or_default();
        let mut cells = vec![shown(&report.called(resource), 60)];
        cells.extend(LostWorkPart::ALL.map(part));
        cells.push(format!("{least}{sum}/{}", work.per.name()));
        table.row(cells);
    }
    let _ = writeln!(text, "{}", table.print_within(style.columns));
    text.push_str("lost work is an estimate of starts, interruptions and repeated work; `gpulint explain` lists its assumptions\n\n");
}

fn sort(lines: &mut [(&Resource, &BillItem)], report: &Report, by: Sort) {
    // Costs per month come first, then costs per run, then costs per hour.
    let money = |item: &BillItem| item.amount.map(|range| (Reverse(item.per), range.expected, range.ceiling));
    let path = |it: &Resource| report.sources.path_of(it.span);
    lines.sort_by(|a, b| match by {
        Sort::Path => (path(a.0), a.0.span.start).cmp(&(path(b.0), b.0.span.start)),
        _ => money(b.1).cmp(&money(a.1)).then_with(|| a.0.address.cmp(&b.0.address)),
    });
}

fn shown_name(report: &Report, resource: &Resource) -> String {
    let name = shown(&report.called(resource), 60);
    if resource.is_added() { name } else { format!("{name} (excluded)") }
}

fn per_hour(report: &Report, item: &BillItem) -> String {
    let price = item.per_hour.map_or("unpriced".to_owned(), |range| report.currency.per_hour(range.expected));
    let outdated = if item.stale.is_some() { " outdated" } else { "" };
    format!("{}{price}{outdated}", mark_of(item))
}

fn hours(item: &BillItem) -> String {
    match item.per {
        Period::Month => plain_number(item.hours),
        Period::Run => format!("{}/run", plain_number(item.hours)),
        Period::Hour => "?".to_owned(),
    }
}

fn amount(report: &Report, item: &BillItem, end: fn(&MoneyRange) -> Money) -> String {
    let per = if item.per == Period::Month { String::new() } else { format!("/{}", item.per.name()) };
    item.amount.map_or("?".to_owned(), |range| format!("{}{per}", report.currency.amount(end(&range))))
}

fn expected(report: &Report, item: &BillItem) -> String {
    let mark = item.amount.filter(|range| !range.expected.is_zero()).map_or("", |_| mark_of(item));
    format!("{mark}{}", amount(report, item, |it| it.expected))
}

fn maximum(report: &Report, resource: &Resource, item: &BillItem) -> String {
    match item.amount.is_some() && resource.is_unlimited() {
        true => "no maximum".to_owned(),
        false => amount(report, item, |it| it.ceiling),
    }
}

fn place(report: &Report, resource: &Resource) -> String {
    let at = report.paths.locate(report.sources, resource.span);
    format!("{}:{}", shown(&at.path, 60), at.line)
}

fn shown(text: &str, most: usize) -> String {
    escape::shortened(&escape::one_line(text), most)
}

fn accelerators(resource: &Resource) -> String {
    let name = shown(&fact_text(resource, Key::Accelerator), 40);
    match resource.number(Key::AcceleratorCount) {
        Some(count) if !name.is_empty() => format!("{} × {name}", plain_number(count)),
        _ => name,
    }
}

fn count(resource: &Resource) -> String {
    match resource.count.value() {
        Some(range) if range.floor == range.ceiling => plain_number(range.expected),
        Some(range) if resource.is_unlimited() => format!("{} or more", plain_number(range.floor)),
        Some(range) => format!("{}–{}", plain_number(range.floor), plain_number(range.ceiling)),
        None => "?".to_owned(),
    }
}
