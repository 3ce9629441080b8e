//! Over which commits a history is asked for, and what holds for it.

use crate::cli::session::Session;
use crate::compare::Gate;
use crate::report::Every;
use crate::source::Date;

/// What was asked for.
pub(in crate::cli) struct HistoryRequest<'a> {
    pub(in crate::cli) session: &'a Session,
    pub(in crate::cli) gate: &'a Gate,
    pub(in crate::cli) newest: &'a str,
    pub(in crate::cli) since: Option<Date>,
    pub(in crate::cli) every: Every,
    /// Of more commits, some are looked at first, and then those between that differ.
    pub(in crate::cli) most: usize,
    /// What else a point depends on: the command line.
    pub(in crate::cli) asked: String,
    pub(in crate::cli) settings_of: String,
}
