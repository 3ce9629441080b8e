//! A comparison in each format that can tell it.

use std::collections::HashSet;

use super::{Difference, html, json, markdown, outputs, text};
use crate::decide::Decided;
use crate::report::{Format, Report, Room, Style};
use crate::source::Date;

/// The difference in a format; `None` where the format is one of findings alone.
pub fn difference(format: Format, difference: &Difference, style: Style) -> Option<String> {
    match format {
        Format::Text => Some(text::difference(difference, style)),
        Format::Json => Some(json::difference(difference)),
        Format::Markdown => Some(markdown::difference(difference, Room::default())),
        Format::Outputs => Some(outputs::difference(difference)),
        Format::Html => Some(html::difference(difference)),
        // SARIF tells everything, and what of it was there before.
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
            Some(crate::report::render(format, &report, style))
        }
        // What knows no change is told what the change brought.
        format => {
            let new: Vec<Decided> = difference.brought().cloned().collect();
            let after = &difference.after;
            let report = Report { findings: &new, catalog: after.catalog.clone(), ..*after };
            Some(crate::report::render(format, &report, style))
        }
    }
}

/// The difference as a comment.
pub fn comment_on_change(difference: &Difference, room: Room) -> String {
    markdown::difference(difference, room)
}
