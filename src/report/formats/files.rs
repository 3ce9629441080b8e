//! Lists the relevant files: which deployments read each one, or why it was not read.

use std::fmt::Write;

use serde::Serialize;

use crate::report::views::coverage::{self, Covered};
use crate::report::{Format, Report, escape, formats};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    path: String,
    /// The ids of the deployments that read it.
    runs: Vec<&'a str>,
    unread: Vec<&'a str>,
}

/// Returns every relevant file; `None` if the format is only for findings.
pub fn files(format: Format, report: &Report) -> Option<String> {
    let files = coverage::files(report);
    match format {
        Format::Text => Some(text(report, &files)),
        Format::Json => {
            let shown = files.into_iter().map(|it| File {
                path: it.path,
                runs: it.runs.iter().map(|run| run.id.as_str()).collect(),
                unread: it.unread,
            });
            Some(formats::json::print(&Document { version: formats::json::VERSION, files: shown.collect() }))
        }
        _ => None,
    }
}

fn text(report: &Report, files: &[Covered<'_>]) -> String {
    let mut text = String::new();
    for it in files {
        let runs: Vec<String> = it.runs.iter().map(|run| report.name_of(run)).collect();
        let read = if runs.is_empty() { "not read".to_owned() } else { format!("read by {}", runs.join(", ")) };
        let _ = writeln!(text, "{}: {}", escape::one_line(&it.path), escape::one_line(&read));
        for reason in &it.unread {
            let _ = writeln!(text, "  {}", escape::one_line(reason));
        }
    }
    let line = coverage::line(report).unwrap_or_else(|| match files.len() {
        0 => "no relevant files found".to_owned(),
        1 => "read the only relevant file".to_owned(),
        n => format!("read all {n} relevant files"),
    });
    let _ = writeln!(text, "{line}");
    text
}
