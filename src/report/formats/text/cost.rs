//! The bill as a table for people.

use std::fmt::Write;

use super::summary;
use super::table::Table;
use crate::inventory::{Fact, Key, Resource, Role};
use crate::pricing::{Item, Period};
use crate::report::views::judged;
use crate::report::views::money::{mark_of, usd, usd_per_hour};
use crate::report::{Report, escape};

/// The bill, the most expensive first, Rented and Requested apart.
pub(in crate::report) fn cost(report: &Report) -> String {
    let mut text = String::new();
    for role in [Role::Rented, Role::Requested] {
        let mut lines: Vec<(&Resource, Option<&Item>)> = report
            .inventory
            .resources
            .iter()
            .enumerate()
            .filter(|(_, resource)| resource.role == role)
            .map(|(index, resource)| (resource, report.bill.items.get(index)))
            .collect();
        if lines.is_empty() {
            continue;
        }
        // Months first, then runs, then hours.
        let monthly = |item: Option<&Item>| {
            let item = item?;
            item.amount.map(|range| (std::cmp::Reverse(item.per), range.expected, range.ceiling))
        };
        lines.sort_by(|a, b| {
            monthly(b.1).cmp(&monthly(a.1)).then_with(|| a.0.address.cmp(&b.0.address)).then(a.0.span.cmp(&b.0.span))
        });
        let mut table =
            Table::new(&[role.name(), "", "", "count", "an hour", "hours", "floor", "expected", "ceiling"], 3..9);
        for (resource, item) in lines {
            table.row(row(report, resource, item));
        }
        let _ = writeln!(text, "{}", table.print());
    }
    judged::text(&mut text, report);
    summary::write_bill(&mut text, report);
    text
}

fn row<'a>(report: &Report<'a>, resource: &'a Resource, item: Option<&Item>) -> Vec<String> {
    let shown = |text: &str| escape::shortened(&escape::one_line(text), 60);
    let price = match item.and_then(|item| item.per_hour) {
        Some(range) => usd_per_hour(range.expected),
        None => "unpriced".to_owned(),
    };
    let price = format!("{}{price}", item.map_or("", mark_of));
    let price = match item.and_then(|item| item.stale.as_ref()) {
        Some(_) => format!("{price} old"),
        None => price,
    };
    let address = match resource.version_of {
        _ if !resource.is_added() => format!("{} (not added)", shown(&report.called(resource))),
        _ => shown(&report.called(resource)),
    };
    let mut cells = vec![address, said(resource, Key::Machine), accelerators(resource), count(resource), price];
    cells.push(item.map_or_else(String::new, |item| match item.per {
        Period::Month => trimmed(item.hours),
        Period::Run => format!("{}/run", trimmed(item.hours)),
        Period::Hour => "?".to_owned(),
    }));
    match item.and_then(|item| Some((item.per, item.amount?))) {
        Some((per, range)) => {
            let per = if per == Period::Month { String::new() } else { format!("/{}", per.name()) };
            let shown = |money| format!("{}{per}", usd(money));
            let most = if is_open(resource) { "no limit".to_owned() } else { shown(range.ceiling) };
            let mark = item.filter(|_| !range.expected.is_zero()).map_or("", mark_of);
            cells.extend([shown(range.floor), format!("{mark}{}", shown(range.expected)), most]);
        }
        None => cells.extend(["?", "?", "?"].map(str::to_owned)),
    }
    cells
}

fn said(resource: &Resource, key: Key) -> String {
    match resource.fact(key) {
        Fact::Known(known) => escape::shortened(&escape::one_line(&known.value.to_string()), 40),
        Fact::Unknown(_) => "?".to_owned(),
        Fact::Absent => String::new(),
    }
}

fn accelerators(resource: &Resource) -> String {
    let name = said(resource, Key::Accelerator);
    match resource.number(Key::AcceleratorCount) {
        Some(count) if !name.is_empty() => format!("{} × {name}", trimmed(count)),
        _ => name,
    }
}

/// Nothing limits how many there are.
pub(super) fn is_open(resource: &Resource) -> bool {
    resource.count.value().is_some_and(|range| range.ceiling.is_infinite())
}

fn count(resource: &Resource) -> String {
    match resource.count.value() {
        Some(range) if range.floor == range.ceiling => trimmed(range.expected),
        Some(range) if is_open(resource) => format!("{} or more", trimmed(range.floor)),
        Some(range) => format!("{}–{}", trimmed(range.floor), trimmed(range.ceiling)),
        None => "?".to_owned(),
    }
}

/// At most two decimals.
fn trimmed(n: f64) -> String {
    let text = format!("{n:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
