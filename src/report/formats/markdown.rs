//! Writes a repository's strings into Markdown safely: without mentions, links, HTML, broken code blocks or extra
//! table cells.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::decide::Decided;
use crate::pricing::Status;
use crate::report::formats::text::estimated;
use crate::report::views::cost_line::{cost_line, cost_rows};
use crate::report::views::judged;
use crate::report::views::markup::{self, Address, Markdown, code, figures, linked, markdown};
use crate::report::views::price_age::price_age;
use crate::report::views::repeats::{also, grouped_repeats};
use crate::report::views::scorecard::Scorecard;
use crate::report::views::{coverage, excluded};
use crate::report::{CommentLimits, Report, ReviewCommit, escape};
use crate::rules::link;

/// The maximum number of characters of a path or an address.
const LONGEST_NAME: usize = 200;

/// The maximum number of characters of a message or its help.
const LONGEST_MESSAGE: usize = 1_000;

/// Returns the report on one tree as Markdown.
pub(in crate::report) fn check(report: &Report, room: CommentLimits) -> String {
    let counting: Vec<&Decided> = report.findings.iter().filter(|decided| decided.counts()).collect();
    let mut most = counting.len();
    loop {
        let text = compose(report, &counting, most, room);
        if most == 0 || text.characters() <= room.characters {
            return text.into_string();
        }
        most /= 2;
    }
}

fn compose(report: &Report, findings: &[&Decided], most: usize, room: CommentLimits) -> Markdown {
    let mut text = Markdown::default();
    markdown!(text, "### ", figures(&cost_line(report)));
    if let Some(open) = judged::in_numbers(report) {
        markdown!(text, " – ", figures(&open));
    }
    text.push("\n\n");
    for line in cost_rows(report) {
        markdown!(text, "- ", figures(&line), "\n");
    }
    text.push("\n");
    for line in excluded::lines(report).into_iter().chain(coverage::line(report)).chain(report.measured.in_short()) {
        markdown!(text, figures(&line), "\n\n");
    }
    markdown!(text, "#### ", count_of(findings.len()), "\n\n");
    judged::in_markdown(&mut text, report, room, true);
    let left_out = write_findings(&mut text, report, None, findings, most);
    if left_out > 0 {
        markdown!(text, "\nand ", left_out, " more; the full report lists them\n");
    }
    markdown!(text, Scorecard::new(report).markdown(), "\n");
    unknown(&mut text, report, room);
    text
}

pub(in crate::report) fn count_of(findings: usize) -> Markdown {
    let mut text = Markdown::default();
    markdown!(text, findings, if findings == 1 { " finding" } else { " findings" });
    text
}

/// Writes the first findings, and combines repeats in one file. Returns how many findings are left out.
pub(in crate::report) fn write_findings(
    text: &mut Markdown,
    report: &Report,
    head: Option<&ReviewCommit>,
    findings: &[&Decided],
    most: usize,
) -> usize {
    let mut left_out = 0;
    let mut helped = BTreeSet::new();
    for (at, (decided, others)) in grouped_repeats(report, findings).iter().enumerate() {
        if at >= most {
            left_out += 1 + others.len();
            continue;
        }
        // The same help is shown once.
        let help = decided.finding.help.as_deref().filter(|help| helped.insert(*help));
        finding(text, report, head, decided, help);
        if !others.is_empty() {
            text.trim_end();
            markdown!(text, "  \n  ", also(report, decided, others).markdown(), "\n");
        }
    }
    left_out
}

/// Writes one finding: level, rule and money in the first line, then the problem, its place and help.
fn finding(text: &mut Markdown, report: &Report, head: Option<&ReviewCommit>, decided: &Decided, help: Option<&str>) {
    let finding = &decided.finding;
    let at = report.paths.locate(report.sources, finding.span);
    let shown = code(&format!("{}:{}", escape::shortened(&at.path, LONGEST_NAME), at.line), LONGEST_NAME + 20);
    let place = match head {
        Some(head) => linked(shown, &Address::of_line(head.url(), &at.path, at.line)),
        None => shown,
    };
    let mut rule = Markdown::default();
    markdown!(rule, "**", figures(&finding.rule), "**");
    let rule = match link(&finding.rule) {
        Some(link) => linked(rule, &Address::new(&link)),
        None => rule,
    };
    markdown!(text, "- ", finding.level.sign(), " ", rule);
    saves(text, report, decided);
    markdown!(text, "  \n  ", markup::text(&finding.message, LONGEST_MESSAGE), "  \n  ", place);
    if let Some(address) = finding.address(report.inventory) {
        markdown!(text, " ", code(address, LONGEST_NAME));
    }
    text.push("\n");
    if let Some(help) = help {
        // Two spaces end the line before.
        text.trim_end();
        markdown!(text, "  \n  _", markup::text(help, LONGEST_MESSAGE), "_\n");
    }
}

fn saves(text: &mut Markdown, report: &Report, decided: &Decided) {
    if let Some(saved) = report.currency.saved(&decided.finding) {
        markdown!(text, " – **saves ", figures(&saved), "**");
    }
}

/// Writes a finding for a comment on its line.
pub(in crate::report) fn remark(text: &mut Markdown, report: &Report, decided: &Decided) {
    let finding = &decided.finding;
    markdown!(text, finding.level.sign(), " **", figures(&finding.rule), "**");
    if let Some(costs) = finding.resource.and_then(|id| report.currency.costs(report.bill.items.get(id.0)?)) {
        markdown!(text, " – costs ", figures(&costs));
    }
    saves(text, report, decided);
    markdown!(text, "  \n", markup::text(&finding.message, LONGEST_MESSAGE), "\n");
    if let Some(help) = &finding.help {
        markdown!(text, "\n_", markup::text(help, LONGEST_MESSAGE), "_\n");
    }
}

/// Writes unknown prices and values with their reasons, and assumed values.
pub(in crate::report) fn unknown(text: &mut Markdown, report: &Report, room: CommentLimits) {
    const MOST: usize = 50;
    let dated = match report.catalog.as_of.is_empty() {
        true => "List prices from the built-in catalog".to_owned(),
        false => format!("List {}", price_age(report)),
    };
    let currency = report.currency.rate().map(|it| format!(", {it}")).unwrap_or_default();
    let dated = figures(&format!("{dated}{currency}."));
    let lines = unknowns(report);
    if lines.is_empty() && !report.inventory.unjudged.is_empty() {
        markdown!(text, dated, "\n\n");
        return;
    }
    if lines.is_empty() {
        markdown!(text, dated, " Everything has a price, and nothing was assumed.\n\n");
        return;
    }
    room.open_fold(text, figures("Unknown and assumed values"));
    markdown!(text, dated, "\n\n");
    let count = lines.len();
    for line in lines.into_iter().take(MOST) {
        markdown!(text, "- ", line, "\n");
    }
    if count > MOST {
        markdown!(text, "- and ", count - MOST, " more\n");
    }
    room.close_fold(text);
}

fn unknowns(report: &Report) -> Vec<Markdown> {
    let why = |cause: &str| markup::text(cause, 300);
    let named = |address: &str, words: &'static str, cause: &str| {
        let mut line = Markdown::default();
        markdown!(line, code(address, LONGEST_NAME), words, why(cause));
        line
    };
    // Equal causes are counted together.
    let mut counted: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
    let mut alone: BTreeMap<String, Markdown> = BTreeMap::new();
    for (resource, item) in report.inventory.resources.iter().zip(&report.bill.items) {
        if let Status::Unpriced(cause) = &item.status {
            alone.insert(format!("{} {cause}", resource.address), named(&resource.address, " has no price: ", cause));
        }
    }
    for cause in estimated(report) {
        *counted.entry(("estimated price (\\~): ", cause)).or_default() += 1;
    }
    for it in report.unknown_machines {
        let line = named(&it.address, " may have accelerators: ", &it.why);
        alone.insert(format!("{} {}", it.address, it.why), line);
    }
    for (_, cause) in report.assumed() {
        *counted.entry(("assumed region: ", cause.to_owned())).or_default() += 1;
    }
    for it in &report.inventory.skipped {
        *counted.entry(("skipped file: ", it.reason.clone())).or_default() += 1;
    }
    let counted = counted.into_iter().map(|((words, cause), count)| {
        let mut line = Markdown::default();
        markdown!(line, count, " × ", words, why(&cause));
        line
    });
    alone.into_values().chain(counted).chain(undetermined(report)).collect()
}

/// Returns all skipped checks in one line, with the most frequent causes.
fn undetermined(report: &Report) -> Option<Markdown> {
    const MOST: usize = 3;
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    for it in report.undetermined {
        *causes.entry(&it.cause).or_default() += 1;
    }
    let mut causes: Vec<(&str, usize)> = causes.into_iter().collect();
    causes.sort_by_key(|(cause, count)| (Reverse(*count), *cause));
    let mut line = Markdown::default();
    markdown!(line, report.undetermined.len(), " checks skipped, because a value is unknown: ");
    for (at, (cause, count)) in causes.iter().take(MOST).enumerate() {
        markdown!(line, if at == 0 { "" } else { "; " }, *count, " × ", markup::text(cause, 120));
    }
    line.push(if causes.len() > MOST { "; …" } else { "" });
    (!report.undetermined.is_empty()).then_some(line)
}
