//! GitLab's code quality report.

use serde::Serialize;

use super::json;
use crate::decide::fingerprints;
use crate::diagnostic::Level;
use crate::report::Report;
use crate::report::escape::{one_line, shortened};
use crate::report::views::money::usd;

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
}

pub(in crate::report) fn check(report: &Report) -> String {
    let fingerprints = fingerprints(report.findings, report.sources, report.inventory);
    let counting = report.findings.iter().zip(fingerprints).filter(|(decided, _)| decided.counts());
    let issues = counting.map(|(decided, fingerprint)| {
        let finding = &decided.finding;
        let at = report.paths.locate(report.sources, finding.span);
        let saves = finding.saves.map(|saves| format!(" (saves {}/month)", usd(saves.expected))).unwrap_or_default();
        Issue {
            description: format!("{}{saves}", shortened(&one_line(&finding.message), 1_000)),
            check_name: &finding.rule,
            fingerprint,
            severity: match finding.level {
                Level::Error => "critical",
                Level::Warning => "major",
                Level::Note => "info",
            },
            location: Location { path: one_line(&at.path), lines: Lines { begin: at.line } },
        }
    });
    json::print(&issues.collect::<Vec<_>>())
}
