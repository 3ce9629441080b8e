//! Writes the bill as a table for a terminal.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use super::summary;
use super::table::TextTable;
use crate::catalog::Money;
use crate::fit::speed::SpeedRange;
use crate::inventory::{BillingRole, Fact, Key, Resource};
use crate::pricing::{BillItem, Period};
use crate::report::views::cost_line::{cost_line, cost_rows};
use crate::report::views::judged;
use crate::report::views::money::{mark_of, role_heading};
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
                let name = escape::shortened(&escape::one_line(&name), 120);
                let _ = writeln!(text, "{name}: {}/month", report.currency.amount(sum(&lines)));
            }
            let headings = [
                role_heading(role),
                "machine type",
                "accelerators",
                "count",
                "per hour",
                "hours",
                "minimum",
                "expected",
                "maximum",
                "where",
            ];
            let mut table = TextTable::new(&headings, 3..9);
            let most = match style.choice.most {
                Most::Top(most) => most,
                Most::All | Most::Screen => usize::MAX,
            };
            for (resource, item) in lines.iter().take(most) {
                table.row(row(report, resource, Some(item)));
            }
            let _ = writeln!(text, "{}", table.print_within(style.columns));
            if lines.len() > most {
                let _ = writeln!(text, "not shown: {} more; --all shows them\n", lines.len() - most);
            }
        }
    }
    units(&mut text, report, style);
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
        let shown = |text: &str| escape::shortened(&escape::one_line(text), 60);
        let mut cells = vec![shown(&report.called(it.resource)), shown(it.model.unwrap_or_default())];
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

fn sort(lines: &mut [(&Resource, &BillItem)], report: &Report, by: Sort) {
    // Costs per month come first, then costs per run, then costs per hour.
    let money = |item: &BillItem| item.amount.map(|range| (Reverse(item.per), range.expected, range.ceiling));
    let path = |it: &Resource| report.sources.path_of(it.span);
    lines.sort_by(|a, b| match by {
        Sort::Path => (path(a.0), a.0.span).cmp(&(path(b.0), b.0.span)),
        _ => money(b.1)
            .cmp(&money(a.1))
            .then_with(|| a.0.address.cmp(&b.0.address))
            .then_with(|| a.0.span.cmp(&b.0.span)),
    });
}

fn row<'a>(report: &Report<'a>, resource: &'a Resource, item: Option<&BillItem>) -> Vec<String> {
    let shown = |text: &str| escape::shortened(&escape::one_line(text), 60);
    let price = match item.and_then(|item| item.per_hour) {
        Some(range) => report.currency.per_hour(range.expected),
        None => "unpriced".to_owned(),
    };
    let price = format!("{}{price}", item.map_or("", mark_of));
    let price = match item.and_then(|item| item.stale.as_ref()) {
        Some(_) => format!("{price} outdated"),
        None => price,
    };
    let address = match resource.version_of {
        _ if !resource.is_added() => format!("{} (excluded)", shown(&report.called(resource))),
        _ => shown(&report.called(resource)),
    };
    let mut cells = vec![address, fact_text(resource, Key::Machine), accelerators(resource), count(resource), price];
    cells.push(item.map_or_else(String::new, |item| match item.per {
        Period::Month => trimmed(item.hours),
        Period::Run => format!("{}/run", trimmed(item.hours)),
        Period::Hour => "?".to_owned(),
    }));
    match item.and_then(|item| Some((item.per, item.amount?))) {
        Some((per, range)) => {
            let per = if per == Period::Month { String::new() } else { format!("/{}", per.name()) };
            let shown = |money| format!("{}{per}", report.currency.amount(money));
            let most = if resource.is_unlimited() { "no maximum".to_owned() } else { shown(range.ceiling) };
            let mark = item.filter(|_| !range.expected.is_zero()).map_or("", mark_of);
            cells.extend([shown(range.floor), format!("{mark}{}", shown(range.expected)), most]);
        }
        None => cells.extend(["?", "?", "?"].map(str::to_owned)),
    }
    let at = report.paths.locate(report.sources, resource.span);
    cells.push(format!("{}:{}", shown(&at.path), at.line));
    cells
}

fn fact_text(resource: &Resource, key: Key) -> String {
    match resource.fact(key) {
        Fact::Known(known) => escape::shortened(&escape::one_line(&known.value.to_string()), 40),
        Fact::Unknown(_) => "?".to_owned(),
        Fact::Absent => String::new(),
    }
}

fn accelerators(resource: &Resource) -> String {
    let name = fact_text(resource, Key::Accelerator);
    match resource.number(Key::AcceleratorCount) {
        Some(count) if !name.is_empty() => format!("{} × {name}", trimmed(count)),
        _ => name,
    }
}

fn count(resource: &Resource) -> String {
    match resource.count.value() {
        Some(range) if range.floor == range.ceiling => trimmed(range.expected),
        Some(range) if resource.is_unlimited() => format!("{} or more", trimmed(range.floor)),
        Some(range) => format!("{}–{}", trimmed(range.floor), trimmed(range.ceiling)),
        None => "?".to_owned(),
    }
}

/// Formats with at most two decimals.
fn trimmed(n: f64) -> String {
    let text = format!("{n:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
