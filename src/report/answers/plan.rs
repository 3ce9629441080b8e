//! How much to commit to, for `gpulint plan`.

use super::plan_words::PlannedPurchases;
use super::{plan_text, plan_wire};
use crate::report::Format;
use crate::report::formats::json;

/// The plan in a format; `None` where there is no such format for it.
pub fn plan(format: Format, planned: &PlannedPurchases<'_>) -> Option<String> {
    match format {
        Format::Text => Some(plan_text::text(planned)),
        Format::Json => Some(json::print(&plan_wire::document(planned))),
        Format::Csv => Some(plan_wire::rows(planned.plan)),
        _ => None,
    }
}
