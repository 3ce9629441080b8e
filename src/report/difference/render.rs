//! Writes a comparison in each format that supports one.

use std::collections::HashSet;

use super::headline::Headline;
use super::{Difference, html, json, markdown, most_important_first, outputs, text};
use crate::decide::Decided;
use crate::report::message::{ChatMessage, titled, written};
use crate::report::views::price_age::price_age;
use crate::report::{CommentLimits, Format, Report, ReportStyle};
use crate::source::Date;

/// Returns the comparison in a format; `None` if the format is only for findings.
pub fn difference(format: Format, difference: &Difference, style: ReportStyle) -> Option<String> {
    match format {
        Format::Text => Some(text::difference(difference, style)),
        Format::Json => Some(json::difference(difference)),
        Format::Markdown => Some(markdown::difference(difference, CommentLimits::default())),
        Format::Outputs => Some(outputs::difference(difference)),
        Format::Html => Some(html::difference(difference)),
        Format::Slack | Format::Teams => written(format, &message(difference)),
        // SARIF contains all findings, and marks those that existed before.
        Format::Sarif => {
            let there: HashSet<*const Decided> =
                difference.unchanged.iter().map(|it| std::ptr::from_ref(*it)).collect();
            let was_there = |decided: &Decided| there.contains(&std::ptr::from_ref(decided));
            let mark = |decided: &Decided| {
                let mut marked = decided.clone();
                if was_there(decided) {
                    marked.baselined = Some(Date::default());
                }
                marked
            };
            let after = &difference.after;
            let all: Vec<Decided> = after.findings.iter().map(mark).collect();
            let report = Report { findings: &all, catalog: after.catalog.clone(), ..*after };
            crate::report::render(format, &report, style)
        }
        // JSON lines contain a whole state, and a change is not a state.
        Format::Ndjson => None,
        // Formats without comparisons contain what the change adds.
        format => {
            let new: Vec<Decided> = difference.brought().cloned().collect();
            let after = &difference.after;
            let report = Report { findings: &new, catalog: after.catalog.clone(), ..*after };
            crate::report::render(format, &report, style)
        }
    }
}

/// Returns a few lines: the effect on cost, and the findings that the change adds.
fn message(it: &Difference) -> ChatMessage {
    const MOST: usize = 5;
    let headline = Headline::new(it);
    let brought: Vec<&Decided> = it.brought().collect();
    let told = most_important_first(&it.after, &brought).into_iter().take(MOST).map(|decided| {
        let finding = &decided.finding;
        let at = it.after.paths.locate(it.after.sources, finding.span);
        let saved = it.after.currency.saved(finding).map(|saved| format!(", saves {saved}")).unwrap_or_default();
        format!("{} at {}:{}: {}{saved}", finding.rule, at.path, at.line, finding.message)
    });
    let told: Vec<String> = told.collect();
    ChatMessage {
        title: titled(&it.after, &format!("GPU cost: {}", headline.line(it.after.verdict))),
        lines: [format!("Compared with {}", it.base)]
            .into_iter()
            .chain(headline.below())
            .chain(it.notes.iter().cloned())
            .collect(),
        lists: [("New and worse findings".to_owned(), told)].into_iter().filter(|(_, told)| !told.is_empty()).collect(),
        url: it.head.as_ref().map(|head| head.url().to_owned()),
        footer: format!("gpulint, {}", price_age(&it.after)),
    }
}

/// Returns the comparison as a comment.
pub fn comment_on_change(difference: &Difference, room: CommentLimits) -> String {
    markdown::difference(difference, room)
}
