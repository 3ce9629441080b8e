//! GitLab's code quality report.

use std::collections::HashMap;

use serde::Serialize;

use super::json;
use crate::decide::{digest, fingerprints};
use crate::diagnostic::Level;
use crate::inventory::Unjudged;
use crate::report::Report;
use crate::report::escape::{one_line, shortened};
use crate::report::views::judged;

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

/// Returns issues for unevaluated entries. They are not findings, but a list without them would look clean.
fn not_judged<'a>(report: &Report<'a>) -> impl Iterator<Item = Issue<'a>> {
    let mut turns: HashMap<String, usize> = HashMap::new();
    let issue = |it: &'a Unjudged| {
        let path = one_line(&report.paths.show(&it.path));
        let turn = turns.entry(format!("{path} {}", it.reason)).or_default();
        *turn += 1;
        let identity = ["not-judged", &path, &it.reason, &turn.to_string()].map(str::to_owned);
        let lines = Lines { begin: judged::line(report, it).unwrap_or(1) };
        Issue {
            description: format!("not evaluated: {}", shortened(&one_line(&it.reason), 1_000)),
            check_name: "not-judged",
            fingerprint: digest(&identity),
            severity: "info",
            location: Location { path, lines },
        }
    };
    judged::listed(report).into_iter().map(issue).collect::<Vec<_>>().into_iter()
}

pub(in crate::report) fn check(report: &Report) -> String {
    let fingerprints = fingerprints(report.findings, report.sources, report.inventory);
    let counting = report.findings.iter().zip(fingerprints).filter(|(decided, _)| decided.counts());
    let issues = counting.map(|(decided, fingerprint)| {
        let finding = &decided.finding;
        let at = report.paths.locate(report.sources, finding.span);
        let saves = report.currency.saved(finding).map(|saved| format!(" (saves {saved})")).unwrap_or_default();
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
    json::print(&issues.chain(not_judged(report)).collect::<Vec<_>>())
}
