//! Creates notes for new findings that a reviewer can fix with one click.

use crate::decide::{Decided, fingerprints};
use crate::report::formats::markdown;
use crate::report::suggestion;
use crate::report::views::markup::{Markdown, markdown};
use crate::report::{Difference, Suggestion};
use crate::rules::Safety;

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
        markdown!(body, "\n", safety_in_words(decided.finding.safety()), "\n");
        Some(Note { suggestion, body: body.into_string(), key: format!("{}:{key}", decided.finding.rule) })
    };
    new.iter().zip(keys).filter_map(note).collect()
}

/// Returns why a reviewer can or cannot accept the suggestion without more thought. A report of an older gpulint does
/// not contain the safety, so its fixes count as unsafe.
fn safety_in_words(safety: Option<Safety>) -> &'static str {
    match safety {
        Some(Safety::Safe) => "Safe fix: the change does not affect how the workload runs.",
        Some(Safety::Unsafe) | None => {
            "Unsafe fix: the change affects how the workload runs. Review it before you commit it."
        }
        Some(Safety::Display) => "Example: only you know the right value. Review it before you commit it.",
    }
}
