//! Advice that fires on nearly every file is told once a file, for people.

use std::collections::BTreeMap;

use crate::decide::Decided;
use crate::report::views::money::saved;
use crate::report::{Report, one_line};

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
        if variant(report, decided).is_some() {
            return Some((format!("{:?}", report.sources.origin(finding.span)), finding.rule.clone()));
        }
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
        Some([first, others @ ..])
            if others.len() >= TOLD_EACH || (!others.is_empty() && variant(report, first).is_some()) =>
        {
            std::ptr::eq(*first, *decided).then(|| (*first, others.to_vec()))
        }
        _ => Some((*decided, Vec::new())),
    };
    findings.iter().filter_map(told).collect()
}

/// `and 2 more, on lines 12, 22`
pub(in crate::report) fn also(report: &Report, others: &[&Decided]) -> String {
    let variants: Option<Vec<String>> =
        others.iter().map(|it| variant(report, it).map(|at| with_money(it, at))).collect();
    if let Some(variants) = variants {
        let rest = if variants.len() > LINES_TOLD { ", …" } else { "" };
        let told: Vec<String> = variants.into_iter().take(LINES_TOLD).collect();
        return format!("the same in {}{rest}", told.join(", "));
    }
    let lines = others.iter().take(LINES_TOLD).map(|it| report.sources.line(it.finding.span).to_string());
    let rest = if others.len() > LINES_TOLD { ", …" } else { "" };
    format!("and {} more, on lines {}{rest}", others.len(), lines.collect::<Vec<_>>().join(", "))
}

/// What tells the run of a finding from others of its folder.
fn variant<'a>(report: &Report<'a>, decided: &Decided) -> Option<&'a str> {
    let run = report.resource(decided.finding.resource)?.run.as_ref()?;
    report.inventory.run(run)?.variant.as_deref()
}

fn with_money(decided: &Decided, variant: &str) -> String {
    let variant = one_line(variant);
    match saved(&decided.finding) {
        Some(saved) => format!("{variant} (saves {saved})"),
        None => variant,
    }
}
