//! What a unit of work costs, a row for each server.

use super::markup::Html;
use super::page::PageSection;
use super::table::{Column, Table, name, number};
use crate::fit::UnitCosts;
use crate::fit::speed::SpeedRange;
use crate::report::Report;
use crate::report::views::unit_work::{UnitWork, reasons, unit_work};

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let all = unit_work(report);
    let known = |it: &&UnitWork<'_>| it.tokens_per_second.is_some() || it.costs != UnitCosts::default();
    let shown: Vec<&UnitWork<'_>> = all.iter().filter(known).collect();
    if shown.is_empty() {
        return None;
    }
    let columns = [
        ("resource", Column::Text),
        ("model", Column::Text),
        ("tokens a second", Column::Number),
        ("ms a token", Column::Number),
        ("$/M tokens at full load", Column::Number),
        ("at the traffic", Column::Number),
        ("$ a thousand requests", Column::Number),
        ("$ a seat and month", Column::Number),
    ];
    let mut body = Html::new();
    let caption = "Ranges of estimates; full load is what real servers never have";
    let table = Table { id: "unit-work-table", caption, columns: &columns, is_searchable: false };
    table.print(&mut body, &shown, |page, it| row(page, report, it));
    for (servers, why) in reasons(&all) {
        body.leaf("p", &[("class", "soft small")], &format!("No rate for {servers}: {why}."));
    }
    let answer = format!("Rates or unit costs are known of {} of {}.", shown.len(), all.len());
    Some(PageSection { id: "unit-work", title: "What a unit of work costs", answer: Some(answer), body })
}

fn row(page: &mut Html, report: &Report, it: &UnitWork<'_>) {
    name(page, &report.called(it.resource));
    page.leaf("td", &[], it.model.unwrap_or_default());
    let numbers = [
        it.tokens_per_second,
        it.ms_per_token,
        it.costs.per_million_at_full_load,
        it.costs.per_million_at_traffic,
        it.costs.per_thousand_requests,
        it.costs.per_seat,
    ];
    for range in numbers {
        number(page, &range.map(SpeedRange::told).unwrap_or_default(), range.map_or(0.0, |range| range.expected));
    }
}
