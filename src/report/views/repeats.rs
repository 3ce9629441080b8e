//! Advice that fires on nearly every file is told once a file, for people.

use std::collections::BTreeMap;

use crate::decide::Decided;
use crate::report::Report;

/// Findings of one rule in one file that name no money are told once from so many others on.
const TOLD_EACH: usize = 2;

/// Lines of the others that are listed.
const LINES_TOLD: usize = 20;

/// Each finding that is told, in the order given, with those that say the same about other lines of its file.
pub(in crate::report) fn told_once<'a>(
    report: &Report,
    findings: &[&'a Decided],
) -> Vec<(&'a Decided, Vec<&'a Decided>)> {
    let group = |decided: &Decided| {
        let finding = &decided.finding;
        let file = report.sources.origin(finding.span).file;
        finding.saves.is_none().then(|| (report.sources.path(file), finding.rule.clone()))
    };
    let mut alike: BTreeMap<(String, String), Vec<&'a Decided>> = BTreeMap::new();
    for decided in findings {
        if let Some(group) = group(decided) {
            alike.entry(group).or_default().push(decided);
        }
    }
    let told = |decided: &&'a Decided| match group(decided).and_then(|group| alike.get(&group)).map(Vec::as_slice) {
        Some([first, others @ ..]) if others.len() >= TOLD_EACH => {
            std::ptr::eq(*first, *decided).then(|| (*first, others.to_vec()))
        }
        _ => Some((*decided, Vec::new())),
    };
    findings.iter().filter_map(told).collect()
}

/// `and 2 more, on lines 12, 22`
pub(in crate::report) fn also(report: &Report, others: &[&Decided]) -> String {
    let lines = others.iter().take(LINES_TOLD).map(|it| report.sources.line(it.finding.span).to_string());
    let rest = if others.len() > LINES_TOLD { ", …" } else { "" };
    format!("and {} more, on lines {}{rest}", others.len(), lines.collect::<Vec<_>>().join(", "))
}
