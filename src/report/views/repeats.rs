//! What is said more than once is told once, for people: of all instances of one text, and advice that fires on nearly every
//! file.

use std::collections::BTreeMap;

use crate::catalog::Money;
use crate::decide::Decided;
use crate::report::views::money::{mark, usd};
use crate::report::{Report, one_line};
use crate::source::Span;

/// Findings of one rule in one file that name no money are told once from so many others on.
const TOLD_EACH: usize = 2;

/// Lines of the others that are listed.
const LINES_TOLD: usize = 20;

/// Addresses, places and variants of the others that are listed.
const NAMES_TOLD: usize = 4;

/// Each finding that is told, in the order given, with those that say the same: of other instances of its text, or about other
/// lines of its file.
pub(in crate::report) fn told_once<'a>(
    report: &Report,
    findings: &[&'a Decided],
) -> Vec<(&'a Decided, Vec<&'a Decided>)> {
    let text = |decided: &Decided| (format!("{:?}", place(report, decided)), decided.finding.rule.clone());
    let mut alike: BTreeMap<(String, String), Vec<&'a Decided>> = BTreeMap::new();
    for decided in findings {
        alike.entry(text(decided)).or_default().push(decided);
    }
    // Advice without money is told once a file, where it is not told of several instances already.
    let file = |decided: &Decided| {
        let alone = decided.finding.saves.is_none() && alike.get(&text(decided)).is_some_and(|it| it.len() == 1);
        let file = report.sources.origin(decided.finding.span).file;
        alone.then(|| (report.sources.path(file), decided.finding.rule.clone()))
    };
    let mut of_file: BTreeMap<(String, String), Vec<&'a Decided>> = BTreeMap::new();
    for decided in findings {
        if let Some(file) = file(decided) {
            of_file.entry(file).or_default().push(decided);
        }
    }
    of_file.retain(|_, all| all.len() > TOLD_EACH);
    let told = |decided: &&'a Decided| {
        let group = file(decided).and_then(|file| of_file.get(&file)).or_else(|| alike.get(&text(decided)));
        match group.map(Vec::as_slice) {
            Some([first, others @ ..]) => std::ptr::eq(*first, *decided).then(|| (*first, others.to_vec())),
            _ => Some((*decided, Vec::new())),
        }
    };
    findings.iter().filter_map(told).collect()
}

/// `and 2 more, on lines 12, 22`; of one text `and for 3 more of it: …, saves $1,539/month together`.
pub(in crate::report) fn also(report: &Report, first: &Decided, others: &[&Decided]) -> String {
    let is_of_one_text = others.iter().all(|it| place(report, it) == place(report, first));
    if !is_of_one_text {
        let lines = others.iter().take(LINES_TOLD).map(|it| report.sources.line(it.finding.span).to_string());
        let rest = if others.len() > LINES_TOLD { ", …" } else { "" };
        return format!("and {} more, on lines {}{rest}", others.len(), lines.collect::<Vec<_>>().join(", "));
    }
    let names = names(report, first, others);
    let rest = if names.len() > NAMES_TOLD { ", …" } else { "" };
    let names: Vec<String> = names.into_iter().take(NAMES_TOLD).collect();
    let all = std::iter::once(&first).chain(others);
    let sums = all.map(|it| it.finding.saves.map(|saves| (saves.expected, it.finding.per)));
    let per = first.finding.per;
    let sum = sums.map(|it| it.filter(|(_, of)| *of == per).map(|(money, _)| money)).sum::<Option<Money>>();
    let is_estimated = first.finding.is_estimated || others.iter().any(|it| it.finding.is_estimated);
    let sum =
        sum.map(|sum| format!("; all {} save {}{}/{}", others.len() + 1, mark(is_estimated), usd(sum), per.name()));
    format!("the same for {} more of this text: {}{rest}{}", others.len(), names.join(", "), sum.unwrap_or_default())
}

/// What tells the others from the first: the runs that they are in, else their addresses.
fn names(report: &Report, first: &Decided, others: &[&Decided]) -> Vec<String> {
    let run = |it: &Decided| {
        let run = report.resource(it.finding.resource)?.run.as_ref()?;
        Some(report.inventory.run(run).map_or_else(|| run.to_string(), |run| report.name_of(run)))
    };
    let mut runs: Vec<(String, usize)> = Vec::new();
    for it in others {
        let Some(name) = run(it) else { continue };
        match runs.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => runs.push((name, 1)),
        }
    }
    let elsewhere = runs.iter().any(|(name, _)| Some(name) != run(first).as_ref());
    if elsewhere {
        let is_one = runs.len() == 1;
        let shown = runs.into_iter().map(|(name, times)| match times {
            _ if is_one => format!("in {}", one_line(&name)),
            1 => format!("in {}", one_line(&name)),
            times => format!("{times} in {}", one_line(&name)),
        });
        return shown.collect();
    }
    others.iter().filter_map(|it| it.finding.address(report.inventory)).map(one_line).collect()
}

/// Where the text stands that the finding is about.
fn place(report: &Report, decided: &Decided) -> Span {
    report.sources.origin(decided.finding.span)
}
