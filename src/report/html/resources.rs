//! Writes the bill, with a table row for each resource.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::markup::Html;
use super::page::PageSection;
use super::table::{Column, HtmlTable, left_out, number};
use crate::inventory::{BillingRole, Key, Resource};
use crate::pricing::{BillItem, Period, Status, count_range};
use crate::report::Report;
use crate::report::views::basis::basis;
use crate::report::views::money::mark_of;
use crate::report::views::table::fact_text;

/// Longer tables are folded.
const FOLDED: usize = 40;

const COLUMNS: [(&str, Column); 7] = [
    ("resource", Column::Text),
    ("expected", Column::Number),
    ("minimum", Column::Number),
    ("maximum", Column::Number),
    ("count", Column::Number),
    ("accelerators", Column::Text),
    ("machine type", Column::Text),
];

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    report.inventory.resources.iter().for_each(|it| *names.entry(&it.address).or_default() += 1);
    let several: BTreeSet<&str> = names.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name).collect();
    let mut body = Html::new();
    for (role, id, caption) in [
        (BillingRole::Rented, "rented", "Provisioned machines, the most expensive first"),
        (BillingRole::Requested, "asked-for", "Pods, the most expensive first"),
    ] {
        let all = report.inventory.resources.iter().zip(&report.bill.items);
        let mut rows: Vec<(&Resource, &BillItem)> = all.filter(|(it, _)| it.role == role).collect();
        if rows.is_empty() {
            continue;
        }
        rows.sort_by_cached_key(|(it, item)| {
            let money = item.amount.map(|range| (Reverse(item.per), range.expected, range.ceiling));
            (Reverse(it.is_added()), Reverse(money), it.address.clone())
        });
        let table = HtmlTable { id, caption, columns: &COLUMNS, is_searchable: true };
        let count = rows.len();
        let mut part = Html::new();
        let rest = table.print(&mut part, rows, |page, (resource, item)| row(page, report, (resource, item), &several));
        left_out(&mut part, rest, "resources");
        match count > FOLDED {
            false => body.append(&part),
            true => body.element("details", &[], |page| {
                page.leaf("summary", &[], &format!("{caption}: {count}"));
                page.append(&part);
            }),
        }
    }
    let is_empty = body.is_empty();
    (!is_empty).then_some(PageSection { id: "resources", title: "What does each resource cost?", answer: None, body })
}

fn row(page: &mut Html, report: &Report, (resource, item): (&Resource, &BillItem), several: &BTreeSet<&str>) {
    let at = report.paths.locate(report.sources, resource.span);
    page.element("th", &[("scope", "row")], |page| {
        page.text(&report.called(resource));
        page.raw("<br>");
        page.leaf("code", &[("class", "soft")], &format!("{}:{}", at.path, at.line));
        // One address in several deployments is several resources.
        let run = resource.run.as_ref().filter(|_| several.contains(resource.address.as_str()));
        if let Some(run) = run {
            let name = report.inventory.run(run).map_or_else(|| run.to_string(), |run| report.name_of(run));
            page.leaf("span", &[("class", "soft")], &format!(" in {name}"));
        }
        if let Some(basis) = basis(resource, item, report.currency) {
            page.raw("<br>");
            page.leaf("span", &[("class", "soft small")], &basis);
        }
        let apart = match resource.version_of {
            Some(_) => Some("not added: another version counts"),
            None => (!resource.is_added()).then(|| resource.counted.name()),
        };
        if let Some(why) = apart {
            page.raw(" ");
            page.leaf("span", &[("class", "tag")], why);
        }
    });
    money(page, report, item);
    let count = resource.count.value();
    let shown = count.map_or_else(|| "?".to_owned(), |count| count_range(*count));
    number(page, &shown, count.map_or(-1.0, |it| it.expected));
    let accelerator = fact_text(resource, Key::Accelerator);
    let each = resource.number(Key::AcceleratorCount).filter(|_| !accelerator.is_empty());
    page.leaf("td", &[], &each.map_or_else(|| accelerator.clone(), |n| format!("{n} × {accelerator}")));
    page.leaf("td", &[], &fact_text(resource, Key::Machine));
}

fn money(page: &mut Html, report: &Report, item: &BillItem) {
    let Some(range) = item.amount else {
        let why = match &item.status {
            Status::Unpriced(why) => format!("no price: {why}"),
            _ => "no price".to_owned(),
        };
        page.leaf("td", &[("class", "soft small"), ("colspan", "3")], &why);
        return;
    };
    let per = if item.per == Period::Month { String::new() } else { format!("/{}", item.per.name()) };
    for (amount, mark) in [(range.expected, mark_of(item)), (range.floor, ""), (range.ceiling, "")] {
        let mark = if amount.is_zero() { "" } else { mark };
        // Costs per hour or run come after costs per month in every sort order.
        let rank = if item.per == Period::Month { amount.usd() } else { amount.usd() * 1e-9 };
        number(page, &format!("{mark}{}{per}", report.currency.amount(amount)), rank);
    }
}
