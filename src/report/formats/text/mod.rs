//! For people at a terminal: each finding with the line it is about, its price and what it would save.

mod cost;
mod finding;
mod snippet;
mod summary;
mod table;

pub(in crate::report) use cost::cost;
pub(in crate::report) use finding::Renderer;
pub(in crate::report) use summary::{estimated, headline};
pub(in crate::report) use table::Table;

use std::collections::BTreeMap;

use crate::decide::Decided;
use crate::diagnostic::Diagnostic;
use crate::report::views::repeats::told_once;
use crate::report::{Paths, Report, Style};
use crate::source::Sources;

pub(in crate::report) fn check(report: &Report, style: Style) -> String {
    let renderer = finding::Renderer::new(style);
    let mut text = String::new();
    for (_, findings) in by_money(report) {
        for (decided, others) in told_once(report, &findings) {
            renderer.finding(&mut text, report, decided, &others);
        }
    }
    summary::write(&mut text, report, style);
    text
}

/// What is wrong with the input or the configuration, with the lines in question.
pub(in crate::report) fn diagnostics(sources: &Sources, paths: &Paths, all: &[Diagnostic], style: Style) -> String {
    let renderer = finding::Renderer::new(style);
    let mut text = String::new();
    for diagnostic in all {
        renderer.diagnostic(&mut text, sources, paths, diagnostic);
    }
    text
}

/// Findings that count, by file; within a file the most money first.
pub(in crate::report) fn by_money<'a>(report: &'a Report) -> BTreeMap<String, Vec<&'a Decided>> {
    let mut files: BTreeMap<String, Vec<&Decided>> = BTreeMap::new();
    for decided in report.findings.iter().filter(|decided| decided.counts()) {
        let path = report.paths.show(&report.sources.path(report.sources.origin(decided.finding.span).file));
        files.entry(path).or_default().push(decided);
    }
    for findings in files.values_mut() {
        findings.sort_by_key(|decided| {
            let finding = &decided.finding;
            let money = finding.saves.map(|saves| saves.expected);
            (std::cmp::Reverse(money), std::cmp::Reverse(finding.level), finding.span, &finding.rule)
        });
    }
    files
}
