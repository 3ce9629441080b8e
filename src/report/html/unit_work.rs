//! Writes the cost per unit of work, one row for each server.

use super::markup::Html;
use super::page::PageSection;
use super::table::{Column, HtmlTable, name, number};
use crate::fit::speed::SpeedRange;
use crate::report::Report;
use crate::report::views::unit_work::{COLUMNS, UnitWork, reasons, unit_work};

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let all = unit_work(report);
    let shown: Vec<&UnitWork<'_>> = all.iter().filter(|it| it.is_known()).collect();
    if shown.is_empty() {
        return None;
    }
    // Empty columns are left out.
    let known: Vec<_> = COLUMNS.iter().filter(|(_, read)| shown.iter().any(|it| read(it).is_some())).collect();
    let numbers = known.iter().map(|(heading, _)| (*heading, Column::Number));
    let columns: Vec<(&str, Column)> =
        [("resource", Column::Text), ("model", Column::Text)].into_iter().chain(numbers).collect();
    let mut body = Html::new();
    let caption = "Estimated ranges; real servers never reach full load";
    let table = HtmlTable { id: "unit-work-table", caption, columns: &columns, is_searchable: false };
    table.print(&mut body, &shown, |page, it| {
        name(page, &report.called(it.resource));
        page.leaf("td", &[], it.model.unwrap_or_default());
        for (_, read) in &known {
            let range = read(it);
            number(
                page,
                &range.map(SpeedRange::format_range).unwrap_or_default(),
                range.map_or(0.0, |range| range.expected),
            );
        }
    });
    for (servers, why) in reasons(&all) {
        body.leaf("p", &[("class", "soft small")], &format!("No rate for {servers}: {why}."));
    }
    let answer = format!("Rates or unit costs are known for {} of {} servers.", shown.len(), all.len());
    Some(PageSection { id: "unit-work", title: "What does a unit of work cost?", answer: Some(answer), body })
}
