//! Defines one commit of a history, and its state.

use std::sync::Arc;

use super::snapshot::Snapshot;
use crate::source::Date;

/// The interval of points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HistoryInterval {
    #[default]
    Commit,
    /// The last commit of each day.
    Day,
    /// The last commit of each week, which begins on Monday.
    Week,
}

impl HistoryInterval {
    pub const ALL: [HistoryInterval; 3] = [HistoryInterval::Commit, HistoryInterval::Day, HistoryInterval::Week];

    pub fn name(self) -> &'static str {
        match self {
            HistoryInterval::Commit => "commit",
            HistoryInterval::Day => "day",
            HistoryInterval::Week => "week",
        }
    }
}

/// One commit along first parents.
#[derive(Debug, Clone)]
pub struct HistoryPoint {
    pub commit: Commit,
    /// Commits since the previous point that were not evaluated.
    pub passed_over: usize,
    pub state: PointState,
}

#[derive(Debug, Clone)]
pub enum PointState {
    Known(Arc<Snapshot>),
    /// The cost is unknown, not zero.
    Gap(String),
}

impl HistoryPoint {
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        match &self.state {
            PointState::Known(snapshot) => Some(snapshot),
            PointState::Gap(_) => None,
        }
    }
}

/// A commit. Names and subjects come from the repository and are not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// Seconds since 1970: the latest commit time up to this commit, because clocks can go back.
    pub time: i64,
    pub author: String,
    pub subject: String,
    pub tags: Vec<String>,
    /// The pull request in the message of a merge that changed something, if there is one.
    pub request: Option<PullRequest>,
}

/// The pull request that a code host wrote into the message of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// The number as the host writes it: `#7` or `!7`.
    pub name: String,
    pub title: Option<String>,
}

/// A commit of a merged branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchCommit {
    pub id: String,
    pub author: String,
    pub subject: String,
}

impl BranchCommit {
    /// Returns the short name of the commit.
    pub fn short(&self) -> &str {
        shortened(&self.id)
    }
}

fn shortened(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

impl Commit {
    /// Returns the day in UTC.
    pub fn date(&self) -> Date {
        Date::from_unix_days(self.time.div_euclid(86_400)).unwrap_or_default()
    }

    /// Returns the short name of the commit.
    pub fn short(&self) -> &str {
        shortened(&self.id)
    }
}
