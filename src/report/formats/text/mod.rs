//! Output for a terminal: each finding with its line, its cost and its saving.

mod cost;
mod finding;
mod snippet;
mod summary;
mod table;

pub(in crate::report) use cost::cost;
pub(in crate::report) use finding::{AlreadyPrinted, FindingRenderer};
pub(in crate::report) use summary::{estimated, found, headline};
pub(in crate::report) use table::TextTable;

use crate::decide::Decided;
use crate::diagnostic::{Diagnostic, Level};
use crate::report::views::cost_line::cost_line;
use crate::report::views::wrapped::wrapped;
use crate::report::{EntryDetail, Most, Report, ReportStyle, ShownPaths};
use crate::source::SourceFiles;

/// Lines of findings that fit on a screen, with the lines above and below them.
const SCREEN: usize = 34;

pub(in crate::report) fn check(report: &Report, style: ReportStyle) -> String {
    let mut text = String::new();
    if report.is_empty && report.findings.is_empty() {
        return format!("{}\n", cost_line(report));
    }
    summary::top(&mut text, report, style);
    if style.choice.detail == EntryDetail::Quiet {
        return text;
    }
    text.push('\n');
    let left_out = findings(&mut text, report, style);
    summary::left_out(&mut text, report, &left_out, style);
    summary::write(&mut text, report, style);
    text
}

/// Prints the selected findings; returns the others.
fn findings<'a>(text: &mut String, report: &'a Report, style: ReportStyle) -> Vec<&'a Decided> {
    let renderer = finding::FindingRenderer::new(style);
    let (mut told, mut lines, mut errs, mut left_out) = (0, 0, false, Vec::new());
    let mut said = AlreadyPrinted::default();
    for group in style.choice.groups(report) {
        let mut heading = group.name.map(|name| summary::heading(report, &name, &group.findings, style));
        for (decided, others) in style.choice.entries(report, &group.findings) {
            let mut entry = heading.clone().unwrap_or_default();
            renderer.finding(&mut entry, report, decided, &others, &said);
            let height = style.columns.map_or(entry.lines().count(), |it| wrapped(&entry, it).lines().count());
            let has_room = match style.choice.most {
                Most::All => true,
                Most::Top(most) => told < most,
                Most::Screen => told == 0 || lines + height <= SCREEN,
            };
            // A reader of a screen sees at least one error, because errors fail the run.
            let is_first_error = style.choice.most == Most::Screen && !errs && decided.finding.level == Level::Error;
            if !is_first_error && (!has_room || !left_out.is_empty()) {
                left_out.push(decided);
                left_out.extend(others);
                continue;
            }
            errs |= decided.finding.level == Level::Error;
            (told, lines, heading) = (told + 1, lines + height, None);
            said.add(report, decided);
            text.push_str(&entry);
        }
    }
    left_out
}

/// Writes errors in the input or the configuration, with their lines.
pub(in crate::report) fn diagnostics(
    sources: &SourceFiles,
    paths: &ShownPaths,
    all: &[Diagnostic],
    style: ReportStyle,
) -> String {
    let renderer = finding::FindingRenderer::new(style);
    let mut text = String::new();
    for diagnostic in all {
        renderer.diagnostic(&mut text, sources, paths, diagnostic);
    }
    text
}
