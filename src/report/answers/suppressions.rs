//! Lists suppressions, for `gpulint suppressions list`.

use serde::Serialize;

use crate::decide::Listed;
use crate::report::escape::{one_line, shortened};
use crate::report::formats::json;
use crate::report::formats::text::TextTable;
use crate::report::{Format, ShownPaths};
use crate::source::SourceFiles;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    suppressions: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    rules: &'a [String],
    path: String,
    line: usize,
    until: Option<String>,
    reason: Option<&'a str>,
    silences: usize,
}

/// Returns the suppressions in a format; `None` if the command does not support the format.
pub fn suppressions(format: Format, sources: &SourceFiles, paths: &ShownPaths, all: &[Listed]) -> Option<String> {
    let rows = all.iter().map(|it| {
        let at = paths.locate(sources, it.span);
        let until = it.until.map(|date| date.to_string());
        let (rules, reason, silences) = (it.rules.as_slice(), it.reason.as_deref(), it.silences);
        Row { rules, path: at.path, line: at.line, until, reason, silences }
    });
    match format {
        Format::Json => Some(json::print(&Document { version: json::VERSION, suppressions: rows.collect() })),
        Format::Text => {
            let mut table = TextTable::new(&["until", "findings", "rules", "where", "reason"], 1..2);
            for row in rows {
                table.row(vec![
                    row.until.unwrap_or_else(|| "no end".to_owned()),
                    row.silences.to_string(),
                    row.rules.join(", "),
                    format!("{}:{}", one_line(&row.path), row.line),
                    shortened(&one_line(row.reason.unwrap_or("no reason given")), 100),
                ]);
            }
            Some(if all.is_empty() { "no suppressions\n".to_owned() } else { table.print() })
        }
        _ => None,
    }
}
