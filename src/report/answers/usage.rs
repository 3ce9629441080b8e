//! Writes the usage metrics of each resource, and rows and resources without a match, for `gpulint usage show`.

use std::fmt::Write;

use crate::inventory::{Key, Resource};
use crate::measured::row::UsageRow;
use crate::report::escape::{one_line, shortened};
use crate::report::formats::json;
use crate::report::formats::text::TextTable;
use crate::report::views::measured::{listed, wire};
use crate::report::views::sentence::sentence;
use crate::report::{Format, Report};

/// Returns the matches in a format; `None` if the command does not support the format.
pub fn usage(format: Format, report: &Report) -> Option<String> {
    match format {
        Format::Json => Some(json::print(&wire(report))),
        Format::Text => Some(text(report)),
        _ => None,
    }
}

/// Returns the columns of the file.
pub fn usage_columns() -> String {
    let mut table = TextTable::new(&["column", "content"], 2..2);
    for (name, meaning) in UsageRow::COLUMNS {
        table.row(vec![(*name).to_owned(), (*meaning).to_owned()]);
    }
    table.print()
}

fn text(report: &Report) -> String {
    let Some(short) = report.measured.in_short() else {
        return match report.measured.files {
            0 => "no usage metrics found; create the file with `gpulint usage fetch` or `gpulint usage import`\n"
                .to_owned(),
            _ => "no usage metrics: no row of the file can be used; `gpulint check` lists the error of each row\n"
                .to_owned(),
        };
    };
    let mut text = format!("{}\n\n", sentence(&short));
    let shown = |it: &str| shortened(&one_line(it), 80);
    let mut table = TextTable::new(&["resource", "busy", "idle", "GPU hours", "window, or why not used"], 1..4);
    for (resource, why, rows) in listed(report) {
        let window = resource.text(Key::MeasuredWindow).map(str::to_owned);
        let is_unseen = resource.flag(Key::MeasuredSeen) == Some(false);
        let window = window.map(|it| if is_unseen { format!("not seen in {it}") } else { it });
        let said = window.or_else(|| why.map(shown)).unwrap_or_default();
        let place = rows.first().map(|it| report.paths.locate(report.sources, it.span).line);
        let place = place.map(|line| format!(" (line {line})")).unwrap_or_default();
        table.row(vec![
            shown(&report.called(resource)),
            share(resource, Key::MeasuredBusy),
            share(resource, Key::MeasuredIdle),
            resource.number(Key::MeasuredHours).map_or_else(String::new, |it| format!("{it:.0}")),
            format!("{said}{place}"),
        ]);
    }
    text.push_str(&table.print());
    if !report.measured.unmatched.is_empty() {
        let _ = writeln!(text, "\nrows that match no resource: {}", report.measured.unmatched.len());
        let mut table = TextTable::new(&["line", "measured as", "GPU hours", "why"], 2..3);
        for (at, why) in &report.measured.unmatched {
            let Some(it) = report.measured.rows.get(*at) else { continue };
            let row = &it.row;
            table.row(vec![
                row.line.to_string(),
                shown(&row.shown()),
                row.gpu_hours.map_or_else(String::new, |it| format!("{it:.0}")),
                shown(why),
            ]);
        }
        text.push_str(&table.print());
    }
    text
}

fn share(resource: &Resource, key: Key) -> String {
    resource.number(key).map_or_else(|| "?".to_owned(), |it| format!("{:.0}%", it * 100.0))
}
