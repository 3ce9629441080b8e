//! For people at a terminal: each finding with the line it is about, its price and what it would save.

mod cost;
mod finding;
mod snippet;
mod summary;
mod table;

pub(super) use cost::cost;
pub(super) use finding::Renderer;
pub(super) use table::Table;

use std::collections::BTreeMap;

use super::{Paths, Report, Style};
use crate::decide::Decided;
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// Findings of one rule in one file that name no money are told once, with the lines of the others.
const TOLD_EACH: usize = 2;

pub(super) fn check(report: &Report, style: Style) -> String {
    let renderer = finding::Renderer::new(style);
    let mut text = String::new();
    for (_, findings) in by_file(report) {
        let mut told: BTreeMap<&str, usize> = BTreeMap::new();
        for decided in &findings {
            let rule = decided.finding.rule.as_str();
            let alike: Vec<&&Decided> = findings.iter().filter(|it| is_alike(it, decided)).collect();
            let count = told.entry(rule).or_default();
            *count += 1;
            if decided.finding.saves.is_none() && alike.len() > TOLD_EACH {
                if *count == 1 {
                    renderer.finding(&mut text, report, decided, &alike[1..]);
                }
            } else {
                renderer.finding(&mut text, report, decided, &[]);
            }
        }
    }
    summary::write(&mut text, report, style);
    text
}

/// What is wrong with the input or the configuration, with the lines in question.
pub(super) fn diagnostics(sources: &Sources, paths: &Paths, all: &[Diagnostic], style: Style) -> String {
    let renderer = finding::Renderer::new(style);
    let mut text = String::new();
    for diagnostic in all {
        renderer.diagnostic(&mut text, sources, paths, diagnostic);
    }
    text
}

/// Findings that count, by file; within a file the most money first.
fn by_file<'a>(report: &'a Report) -> BTreeMap<String, Vec<&'a Decided>> {
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

fn is_alike(a: &Decided, b: &Decided) -> bool {
    a.finding.rule == b.finding.rule && a.finding.saves.is_none()
}
