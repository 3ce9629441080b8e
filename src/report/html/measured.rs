//! Writes the usage metrics of each resource, and rows without a resource.

use super::bars::{Bar, Hatch, MarkColor, percent, picture, rect};
use super::markup::Html;
use super::page::PageSection;
use super::table::{Column, HtmlTable, left_out, name, number};
use crate::inventory::Key;
use crate::report::Report;
use crate::report::views::measured::listed;
use crate::report::views::sentence::sentence;

const COLUMNS: [(&str, Column); 6] = [
    ("resource", Column::Text),
    ("busy and idle", Column::Picture),
    ("busy", Column::Number),
    ("idle", Column::Number),
    ("GPU hours", Column::Number),
    ("window, or why not used", Column::Text),
];

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let answer = report.measured.in_short()?;
    let mut body = Html::new();
    let caption = "Share of the time in which accelerators worked, and share in which they did nothing";
    let table = HtmlTable { id: "measured-table", caption, columns: &COLUMNS, is_searchable: true };
    let rest = table.print(&mut body, listed(report), |page, (resource, why, _)| {
        name(page, &report.called(resource));
        let share = |key| resource.number(key);
        let (busy, idle) = (share(Key::MeasuredBusy), share(Key::MeasuredIdle));
        page.element("td", &[("class", "bar")], |page| {
            picture(page, 18, |page| {
                let bar = |from: f64, width: f64| Bar { from: percent(from), width: percent(width), y: 2, height: 14 };
                if let Some(busy) = busy {
                    rect(page, &bar(0.0, busy.clamp(0.0, 1.0)), MarkColor::Blue, Hatch::None);
                }
                if let Some(idle) = idle.map(|it| it.clamp(0.0, 1.0)) {
                    rect(page, &bar(1.0 - idle, idle), MarkColor::Vermillion, Hatch::Crosses);
                }
            });
        });
        for share in [busy, idle] {
            let shown = share.map_or_else(|| "?".to_owned(), |it| format!("{:.0}%", it * 100.0));
            number(page, &shown, share.unwrap_or(-1.0));
        }
        let hours = share(Key::MeasuredHours);
        number(page, &hours.map_or_else(|| "?".to_owned(), |it| format!("{it:.0}")), hours.unwrap_or(-1.0));
        let window = resource.text(Key::MeasuredWindow).or(why).unwrap_or_default();
        page.leaf("td", &[("class", "small")], window);
    });
    left_out(&mut body, rest, "resources");
    unmatched(&mut body, report);
    Some(PageSection { id: "measured", title: "How busy are the accelerators?", answer: Some(sentence(&answer)), body })
}

fn unmatched(page: &mut Html, report: &Report) {
    if report.measured.unmatched.is_empty() {
        return;
    }
    page.element("details", &[], |page| {
        page.leaf("summary", &[], &format!("Rows that match no resource: {}", report.measured.unmatched.len()));
        page.element("ul", &[("class", "dense small")], |page| {
            for (at, why) in report.measured.unmatched.iter().take(500) {
                let Some(it) = report.measured.rows.get(*at) else { continue };
                let row = &it.row;
                page.leaf("li", &[], &format!("line {}: {}: {why}", row.line, row.shown()));
            }
        });
        left_out(page, report.measured.unmatched.len().saturating_sub(500), "of them");
    });
}
