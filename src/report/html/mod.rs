//! Writes the report as one web page. The file loads nothing else, and is complete without scripts and styles.
//!
//! Every picture is in a table, next to its numbers. Positions in pictures are shares of the width, and colors are
//! attributes. So pictures are readable on a phone, on paper, and if a server blocks styles.

mod alternatives;
pub(super) mod area;
pub(super) mod bars;
pub(super) mod findings;
mod headline;
pub(super) mod markup;
mod measured;
pub(super) mod page;
mod payers;
mod resources;
pub(super) mod table;
mod uncounted;
mod unit_work;
mod waste;

use super::Report;
use super::formats::text;
use super::views::cost_line::{cost_line, cost_rows};
use super::views::judged;
use super::views::sentence::sentence;
use page::{HtmlPage, PageSection};

/// Returns the page of `gpulint check`: findings and bill of one tree.
pub(super) fn check(report: &Report) -> String {
    if report.is_empty {
        return nothing(report);
    }
    let open = judged::in_numbers(report).map(|it| format!("; {it}")).unwrap_or_default();
    let found = format!("{}{open}. Verdict: {}.", sentence(&text::found(report)), report.verdict.in_words());
    page(
        report,
        &cost_line(report),
        std::iter::once(found).chain(sentences(cost_rows(report))).collect(),
        Vec::new(),
        Rest::Everything,
    )
    .print()
}

/// Returns the page of `gpulint cost`: only the bill.
pub(super) fn cost(report: &Report) -> String {
    if report.is_empty {
        return nothing(report);
    }
    page(report, &cost_line(report), sentences(cost_rows(report)).collect(), Vec::new(), Rest::Bill).print()
}

/// Capitalizes lines that other formats print after the first one.
pub(super) fn sentences(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| sentence(&line))
}

fn nothing(report: &Report) -> String {
    let lines = vec!["gpulint found no files that it reads in the given paths.".to_owned()];
    page(report, "nothing was checked", lines, Vec::new(), Rest::Bill).print()
}

/// The sections after the first ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Everything,
    /// The page without findings.
    Bill,
}

/// Returns the sections in the order of the reader's questions: who pays, what can be saved, what are the alternatives.
pub(super) fn page(
    report: &Report,
    heading: &str,
    lines: Vec<String>,
    first: Vec<PageSection>,
    rest: Rest,
) -> HtmlPage {
    let (heading, more) = heading.split_once("; ").unwrap_or((heading, ""));
    let heading = sentence(heading);
    let more = Some(sentence(more)).filter(|more| !more.is_empty());
    let with_findings = rest == Rest::Everything;
    let judged = |section: fn(&Report) -> Option<PageSection>| with_findings.then(|| section(report)).flatten();
    let sections = [
        payers::section(report),
        judged(waste::section),
        alternatives::section(report),
        judged(findings::section),
        unit_work::section(report),
        measured::section(report),
        resources::section(report),
        Some(uncounted::section(report)),
    ];
    HtmlPage {
        title: page::title(report.title, &heading),
        about: report.title.map(str::to_owned),
        heading,
        lines: more.into_iter().chain(lines).collect(),
        cards: headline::cards(report, with_findings),
        sections: first.into_iter().chain(sections.into_iter().flatten()).collect(),
        footer: uncounted::footer(report),
    }
}
