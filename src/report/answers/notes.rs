//! Creates notes for new findings that a reviewer can fix with one click.

use crate::decide::{Decided, fingerprints};
use crate::report::formats::markdown;
use crate::report::suggestion;
use crate::report::views::markup::Markdown;
use crate::report::{Difference, Suggestion};

/// A review note on a changed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub suggestion: Suggestion,
    /// Escaped Markdown.
    pub body: String,
    /// A key that stays the same as long as the finding.
    pub key: String,
}

/// Returns notes for the new findings whose fix fits into a few lines.
pub fn notes(difference: &Difference) -> Vec<Note> {
    let after = &difference.after;
    let new: Vec<Decided> = difference.brought().cloned().collect();
    let keys = fingerprints(&new, after.sources, after.inventory);
    let note = |(decided, key): (&Decided, String)| {
        let suggestion = suggestion(after, &decided.finding)?;
        let mut body = Markdown::default();
        markdown::remark(&mut body, after, decided);
        Some(Note { suggestion, body: body.into_string(), key: format!("{}:{key}", decided.finding.rule) })
    };
    new.iter().zip(keys).filter_map(note).collect()
}
