//! Writes a report in a few lines for a chat. The user's own pipeline sends it.

mod content;
pub(super) mod slack;
pub(super) mod teams;

pub(in crate::report) use content::ChatMessage;

use super::Report;
use super::formats::text::found;
use super::views::cost_line::{cost_line, cost_rows};
use super::views::{first, judged, price_age};

/// The maximum number of fixes in the list.
const FIRST: usize = 5;

/// Returns the message about one tree.
pub(in crate::report) fn check(report: &Report) -> ChatMessage {
    if report.is_empty {
        return ChatMessage {
            title: titled(report, "nothing was checked"),
            footer: "gpulint".to_owned(),
            ..ChatMessage::default()
        };
    }
    let open = judged::in_numbers(report).map(|it| format!("; {it}")).unwrap_or_default();
    let mut lines = vec![format!("{}{open}. Verdict: {}.", found(report), report.verdict.in_words())];
    lines.extend(cost_rows(report));
    ChatMessage {
        title: titled(report, &cost_line(report)),
        lines,
        lists: first_steps(report).into_iter().collect(),
        url: None,
        footer: format!("gpulint, {}", price_age::price_age(report)),
    }
}

/// Adds the name of the report's subject to a title.
pub(in crate::report) fn titled(report: &Report, title: &str) -> String {
    report.title.map_or_else(|| title.to_owned(), |about| format!("{about}: {title}"))
}

/// Returns what to fix first, if anything saves money.
pub(in crate::report) fn first_steps(report: &Report) -> Option<(String, Vec<String>)> {
    let steps = first::advice(report);
    let told: Vec<String> = steps.iter().take(FIRST).map(|advice| first::format_advice(report, advice)).collect();
    (!told.is_empty()).then(|| ("Fix first".to_owned(), told))
}
