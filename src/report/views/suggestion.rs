//! The edits of a finding as whole lines, for the suggestion in a review.

use serde::{Deserialize, Serialize};

use crate::report::Report;
use crate::rules::Finding;
use crate::source::Span;

/// A replacement of lines that a reviewer can accept with one click.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The path as in reports.
    pub path: String,
    pub first_line: usize,
    pub last_line: usize,
    pub replacement: String,
}

/// Returns the lines after the edits; none if the edits are in several places, or in generated content.
pub fn suggestion(report: &Report, finding: &Finding) -> Option<Suggestion> {
    let mut edits: Vec<_> = finding.edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.file, edit.span.start));
    let (first, last) = (edits.first()?.span, edits.last()?.span);
    let is_ours = |span: Span| span.file == first.file && report.sources.origin(span) == span;
    if !edits.iter().all(|edit| is_ours(edit.span)) {
        return None;
    }
    let text = report.sources.text(first.file);
    let start = text.get(..first.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(last.end as usize..)?;
    let end = last.end as usize + rest.find('\n').unwrap_or(rest.len());
    let mut replacement = String::new();
    let mut at = start;
    for edit in &edits {
        replacement.push_str(text.get(at..edit.span.start as usize)?);
        replacement.push_str(&edit.replacement);
        at = edit.span.end as usize;
    }
    replacement.push_str(text.get(at..end)?);
    let place = report.paths.locate(report.sources, Span::new(first.file, start, end));
    // A suggestion that rewrites half a file is too long.
    const MOST_LINES: usize = 5;
    if place.end_line - place.line >= MOST_LINES {
        return None;
    }
    let replacement = replacement.trim_end_matches('\r').to_owned();
    Some(Suggestion { path: place.path, first_line: place.line, last_line: place.end_line, replacement })
}
