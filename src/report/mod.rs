//! Turns results into reports, with one file for each format.
//!
//! Each format has its own types, and types of other modules are never serialized. Only this module rounds numbers and
//! escapes hostile strings. It uses no files, no terminal and no clock.

mod answers;
mod difference;
mod escape;
mod format;
mod formats;
mod history;
mod html;
mod message;
mod results;
mod review;
mod saved;
mod views;

pub use crate::compare::{BudgetUsage, budgets};
pub use answers::explain::{explain, explain_price_first};
pub use answers::explain_lost_work::explain_lost_work;
pub use answers::explain_own::explain_own;
pub use answers::explain_run::explain_run;
pub use answers::explain_speed::explain_speed;
pub use answers::fit::fit;
pub use answers::limits::{limits, worst_month};
pub use answers::notes::{Note, notes};
pub use answers::on_lines::{CallOnLine, finding_in_place, prices_on_lines};
pub use answers::paid::{SumOfBill, bill_sums, paid_columns};
pub use answers::plan::plan;
pub use answers::plan_bill::plan_notes;
pub use answers::plan_words::PlannedPurchases;
pub use answers::price::{Hardware, PriceAnswer, price};
pub use answers::promise::{PromiseAnswer, by_promise};
pub use answers::purchase_options::{PurchaseOptions, purchase_options};
pub use answers::reconcile::{proposed_discounts, reconcile};
pub use answers::server_code::{CodeRefusal, CodeTarget, HubName, ServerCode, server_code};
pub use answers::suppressions::suppressions;
pub use answers::tokens::by_token;
pub use answers::usage::{usage, usage_columns};
pub use answers::vocabulary::{rules, vocabulary};
pub use answers::what_if::what_if;
pub use difference::render::{comment_on_change, difference};
pub use difference::{Difference, GateResult};
pub use escape::{harmless, one_line, without_commands, without_marked};
pub use format::{Format, FormatRow, FormatSyntax};
pub use formats::files::files;
pub use formats::focus::left_out as left_out_of_focus;
pub use formats::json::{inspect, print as json};
pub use formats::junit::escaped as xml;
pub use history::{Blamed, blamed, history};
pub use results::{PriceSources, Report};
pub use review::{CostReview, Month, review};
pub use saved::{Saved, SavedComparison, SavedState, saved, saved_needs};
pub use views::comment_limits::CommentLimits;
pub use views::cuts::{CostSlice, Cut, slices};
pub use views::entries::{EntryChoice, EntryDetail, GroupBy, Most, ReportStyle, Sort};
pub use views::history::{
    Blame, BlamedCommit, BranchCommit, Commit, CostHistory, CostStep, CostStepKind, HistoryInterval, HistoryPoint,
    Holding, PointState, PullRequest, RuleCount, Snapshot, SnapshotAmount, SnapshotCut, SnapshotEnding, SnapshotSlice,
    SnapshotUnjudged, StepChange, blame, steps,
};
pub use views::judged::in_short as not_judged;
pub use views::page_link::{page_link, without_page_link};
pub use views::paths::ShownPaths;
pub use views::reconcile::AskedMonths;
pub use views::review_commit::ReviewCommit;
pub use views::suggestion::{Suggestion, suggestion};
pub use views::teams::{Team, teams};
pub use views::what_if::{Case, Cases};
pub use views::wrapped::{wrapped, wrapped_markdown};

use crate::diagnostic::Diagnostic;
use crate::source::SourceFiles;

/// Returns the findings in a format; `None` if the format is only for bills.
pub fn render(format: Format, report: &Report, style: ReportStyle) -> Option<String> {
    let row = format.row();
    if let Some(write) = row.chat {
        return Some(write(&message::check(report)));
    }
    let write = row.check?;
    if !row.has_host_paths {
        return Some(write(report, style));
    }
    let report = Report { paths: report.hosted_paths, catalog: report.catalog.clone(), ..*report };
    Some(write(&report, style))
}

/// Returns the report on one tree as a comment.
pub fn comment(report: &Report, room: CommentLimits) -> String {
    formats::markdown::check(report, room)
}

/// Returns the bill in a format; `None` if the format is only for findings.
pub fn cost(format: Format, report: &Report, style: ReportStyle) -> Option<String> {
    format.row().cost.map(|write| write(report, style))
}

/// Returns the errors in the input or the configuration, for people.
pub fn diagnostics(sources: &SourceFiles, paths: &ShownPaths, all: &[Diagnostic], style: ReportStyle) -> String {
    formats::text::diagnostics(sources, paths, all, style)
}
