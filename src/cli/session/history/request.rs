//! The request for a history: its commits and its settings.

use crate::cli::session::Session;
use crate::compare::Gate;
use crate::report::HistoryInterval;
use crate::source::Date;

/// The request for a history.
pub(in crate::cli) struct HistoryRequest<'a> {
    pub(in crate::cli) session: &'a Session,
    pub(in crate::cli) gate: &'a Gate,
    pub(in crate::cli) newest: &'a str,
    pub(in crate::cli) since: Option<Date>,
    pub(in crate::cli) every: HistoryInterval,
    /// The maximum number of commits to evaluate first. gpulint then evaluates those between two commits that differ.
    pub(in crate::cli) most: usize,
    /// The command line. A point depends on it, too.
    pub(in crate::cli) asked: String,
    pub(in crate::cli) settings_of: String,
}
