//! Writes a comparison in each format that supports one.

use std::borrow::Cow;
use std::collections::HashSet;

use super::headline::Headline;
use super::{Difference, markdown, most_important_first};
use crate::decide::Decided;
use crate::report::format::ShownChange;
use crate::report::message::{ChatMessage, titled};
use crate::report::views::not_read::not_read_line;
use crate::report::views::price_age::price_age;
use crate::report::{CommentLimits, Format, Report, ReportStyle};
use crate::source::Date;

/// Returns the comparison in a format; `None` if the format does not show changes.
pub fn difference(format: Format, difference: &Difference, style: ReportStyle) -> Option<String> {
    let row = format.row();
    if let Some(write) = row.chat {
        return Some(write(&message(difference)));
    }
    let findings: Vec<Decided> = match row.change {
        ShownChange::Comparison(write) => return Some(write(difference, style)),
        ShownChange::AddedFindings => difference.brought().cloned().collect(),
        ShownChange::AllFindings => all_findings(difference),
        ShownChange::Nothing => return None,
    };
    let after = &difference.after;
    let report = Report { findings: &findings, catalog: after.catalog.clone(), ..*after };
    crate::report::render(format, &report, style)
}

/// Returns the findings of the later state, with a mark on those that existed before.
fn all_findings(difference: &Difference) -> Vec<Decided> {
    let there: HashSet<*const Decided> = difference.unchanged.iter().map(|it| std::ptr::from_ref(*it)).collect();
    let mark = |decided: &Decided| {
        let mut marked = decided.clone();
        if there.contains(&std::ptr::from_ref(decided)) {
            marked.baselined = Some(Date::default());
        }
        marked
    };
    difference.after.findings.iter().map(mark).collect()
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
            .chain(it.all_notes().map(Cow::into_owned))
            .chain(not_read_line(&it.not_read))
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
