//! Combines repeated findings for people: those of all instances of one block, and advice for nearly every file.

use std::collections::HashMap;

use crate::catalog::Money;
use crate::decide::Decided;
use crate::diagnostic::Level;
use crate::report::views::markup::{Markdown, code, figures, markdown};
use crate::report::views::money::mark;
use crate::report::{Report, one_line};
use crate::source::Span;

/// The maximum number of lines of repeats in the list.
const LINES_TOLD: usize = 20;

/// The maximum number of addresses, places or variants of repeats in the list.
const NAMES_TOLD: usize = 4;

/// The maximum number of characters of one name.
const LONGEST_NAME: usize = 200;

/// Returns each finding in the given order, with its repeats: for other instances of its block, or for other lines of
/// its file.
pub(in crate::report) fn grouped_repeats<'a>(
    report: &Report,
    findings: &[&'a Decided],
) -> Vec<(&'a Decided, Vec<&'a Decided>)> {
    // Failing findings are separate from others.
    let rule = |decided: &Decided| (decided.finding.rule.clone(), decided.finding.level);
    let text = |decided: &Decided| (rule(decided), format!("{:?}", place(report, decided)));
    let words = |decided: &Decided| (rule(decided), decided.finding.message.clone());
    let mut entries: Vec<(&'a Decided, Vec<&'a Decided>)> = Vec::new();
    let mut of_text: HashMap<((String, Level), String), usize> = HashMap::new();
    let mut of_words: HashMap<((String, Level), String), usize> = HashMap::new();
    for decided in findings {
        let (text, words) = (text(decided), words(decided));
        let known = of_text.get(&text).or_else(|| of_words.get(&words)).copied();
        let at = known.unwrap_or(entries.len());
        of_text.entry(text).or_insert(at);
        of_words.entry(words).or_insert(at);
        match entries.get_mut(at) {
            Some((_, others)) => others.push(*decided),
            None => entries.push((*decided, Vec::new())),
        }
    }
    entries
}

/// The line about the repeats: gpulint's own words around names from the repository.
pub(in crate::report) struct Also {
    before: String,
    /// Each name with the words before it.
    names: Vec<(String, String)>,
    after: String,
}

impl Also {
    /// Returns the line for a terminal.
    pub(in crate::report) fn text(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|(words, name)| format!("{words}{name}")).collect();
        format!("{}{}{}", self.before, names.join(", "), self.after)
    }

    /// Returns the line for a comment: names are code.
    pub(in crate::report) fn markdown(&self) -> Markdown {
        let mut text = figures(&self.before);
        for (at, (words, name)) in self.names.iter().enumerate() {
            let is_number = name.bytes().all(|it| it.is_ascii_digit());
            let name = if is_number { figures(name) } else { code(name, LONGEST_NAME) };
            markdown!(text, if at == 0 { "" } else { ", " }, figures(words), name);
        }
        markdown!(text, figures(&self.after));
        text
    }
}

/// Returns the line about repeats, such as `and 2 more, on lines 12, 22`; for one block, `the same 3 more times here:
/// …; all 4 save $1,539/month`.
pub(in crate::report) fn also(report: &Report, first: &Decided, others: &[&Decided]) -> Also {
    let together = together(report, first, others);
    if others.iter().any(|it| place(report, it) != place(report, first)) {
        let file = place(report, first).file;
        let is_here = others.iter().all(|it| place(report, it).file == file);
        let (most, what) = if is_here {
            (LINES_TOLD, if others.len() == 1 { "on line" } else { "on lines" })
        } else {
            (NAMES_TOLD, "at")
        };
        let mut shown: Vec<String> = Vec::new();
        for it in others {
            let at = report.paths.locate(report.sources, it.finding.span);
            let at = if is_here { at.line.to_string() } else { format!("{}:{}", one_line(&at.path), at.line) };
            if !shown.contains(&at) {
                shown.push(at);
            }
            if shown.len() > most {
                break;
            }
        }
        let rest = if shown.len() > most { ", …" } else { "" };
        shown.truncate(most);
        let before = format!("and {} more, {what} ", others.len());
        let names = shown.into_iter().map(|it| (String::new(), it)).collect();
        return Also { before, names, after: format!("{rest}{together}") };
    }
    let names = names(report, first, others);
    let rest = if names.len() > NAMES_TOLD { ", …" } else { "" };
    let names = names.into_iter().take(NAMES_TOLD).collect();
    let before = format!("the same {} more times here: ", others.len());
    Also { before, names, after: format!("{rest}{together}") }
}

/// Returns text such as `; all 4 save $41,019/month`.
fn together(report: &Report, first: &Decided, others: &[&Decided]) -> String {
    let all = std::iter::once(&first).chain(others);
    let per = first.finding.per;
    let sums = all.map(|it| it.finding.saves.filter(|_| it.finding.per == per).map(|saves| saves.expected));
    let is_estimated = first.finding.is_estimated || others.iter().any(|it| it.finding.is_estimated);
    let sum = sums.sum::<Option<Money>>();
    sum.map_or_else(String::new, |sum| {
        format!("; all {} save {}{}/{}", others.len() + 1, mark(is_estimated), report.currency.amount(sum), per.name())
    })
}

/// Returns what distinguishes the repeats from the first finding: their deployments, otherwise their addresses.
fn names(report: &Report, first: &Decided, others: &[&Decided]) -> Vec<(String, String)> {
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
        let words = |times: usize| if is_one || times == 1 { "in ".to_owned() } else { format!("{times} in ") };
        return runs.into_iter().map(|(name, times)| (words(times), one_line(&name))).collect();
    }
    others
        .iter()
        .filter_map(|it| it.finding.address(report.inventory))
        .map(|it| (String::new(), one_line(it)))
        .collect()
}

/// Returns the place of the finding in its file.
fn place(report: &Report, decided: &Decided) -> Span {
    report.sources.origin(decided.finding.span)
}
