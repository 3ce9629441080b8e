//! Writes the purchase plan, for `gpulint plan`.

use super::plan_words::PlannedPurchases;
use super::{plan_text, plan_wire};
use crate::report::formats::json;
use crate::report::{Format, ReportStyle};

/// Returns the plan in a format; `None` if the command does not support the format.
pub fn plan(format: Format, planned: &PlannedPurchases<'_>, style: ReportStyle) -> Option<String> {
    match format {
        Format::Text => Some(plan_text::text(planned, style)),
        Format::Json => Some(json::print(&plan_wire::document(planned))),
        Format::Csv => Some(plan_wire::rows(planned.plan)),
        _ => None,
    }
}
