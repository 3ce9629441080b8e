//! Writes a monthly review as one page or message: the cost, its changes, the waste, and what to fix first.

mod content;
mod html;
mod month;
mod paid;
mod summary;
mod text;

pub use content::CostReview;
pub use month::Month;

use super::{Format, ReportStyle};

/// Returns the review in a format; `None` if the format is only for findings.
pub fn review(format: Format, review: &CostReview, style: ReportStyle) -> Option<String> {
    match format {
        Format::Text if review.is_summary => Some(summary::text(review)),
        Format::Markdown if review.is_summary => Some(summary::markdown(review)),
        _ if review.is_summary => None,
        Format::Html => Some(html::page(review)),
        Format::Text => Some(text::text(review, style)),
        Format::Markdown => Some(text::markdown(review)),
        _ => format.row().chat.map(|write| write(&review.message())),
    }
}
