//! What a tree cost at each commit of a branch, at one day's prices: what every format of `gpulint history` tells.

mod blame;
mod snapshot;
mod steps;

use std::sync::Arc;

pub use blame::{Blame, BlamedCommit, blame};
pub use snapshot::{
    Amount, Holding, RuleCount, Snapshot, SnapshotCut, SnapshotEnding, SnapshotSlice, SnapshotUnjudged,
};
pub use steps::{Step, StepChange, StepKind, steps};

use crate::catalog::Currency;
use crate::report::Catalog;
use crate::source::Date;

/// The cost of a tree over its commits, the oldest first.
pub struct History {
    pub points: Vec<Point>,
    pub steps: Vec<Step>,
    /// The first day that was asked for; the last state before it is the first point.
    pub since: Option<Date>,
    pub every: Every,
    /// Commits of that time, whether or not each was looked at.
    pub commits: usize,
    /// The first point is the first commit of all: what it holds was added by it.
    pub from_the_first: bool,
    /// Whose settings and rules hold for every point.
    pub settings_of: String,
    /// The day of prices, and of what is due by a date.
    pub today: Date,
    pub catalog: Catalog,
    pub currency: Currency,
    /// What a reader must know of it as a whole: a shallow clone, a budget that ended.
    pub notes: Vec<String>,
}

/// Which commits are points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Every {
    #[default]
    Commit,
    /// The last one of each day.
    Day,
    /// The last one of each week, which begins on Monday.
    Week,
}

impl Every {
    pub const ALL: [Every; 3] = [Every::Commit, Every::Day, Every::Week];

    pub fn name(self) -> &'static str {
        match self {
            Every::Commit => "commit",
            Every::Day => "day",
            Every::Week => "week",
        }
    }
}

/// One commit of the first parents.
#[derive(Debug, Clone)]
pub struct Point {
    pub commit: Commit,
    /// Commits since the point before that nobody looked at.
    pub passed_over: usize,
    pub state: PointState,
}

#[derive(Debug, Clone)]
pub enum PointState {
    Known(Arc<Snapshot>),
    /// What it costs is not known: never zero.
    Gap(String),
}

impl Point {
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        match &self.state {
            PointState::Known(snapshot) => Some(snapshot),
            PointState::Gap(_) => None,
        }
    }
}

/// What people call a commit. Names and subjects are somebody else's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// Seconds since 1970: the latest that any commit up to this one was committed at, as clocks go back.
    pub time: i64,
    pub author: String,
    pub subject: String,
    pub tags: Vec<String>,
    /// Of a merge, the author and the subject of what was merged.
    pub merged: Option<(String, String)>,
}

impl Commit {
    /// The day, in universal time.
    pub fn date(&self) -> Date {
        Date::from_unix_days(self.time.div_euclid(86_400)).unwrap_or_default()
    }

    /// As people write it.
    pub fn short(&self) -> &str {
        self.id.get(..10).unwrap_or(&self.id)
    }
}

impl History {
    /// The newest point whose cost is known.
    pub fn newest(&self) -> Option<(&Point, &Arc<Snapshot>)> {
        self.points.iter().rev().find_map(|point| Some((point, point.snapshot()?)))
    }

    /// The oldest one.
    pub fn oldest(&self) -> Option<(&Point, &Arc<Snapshot>)> {
        self.points.iter().find_map(|point| Some((point, point.snapshot()?)))
    }

    /// The points that are not known, with the reason.
    pub fn gaps(&self) -> impl Iterator<Item = (&Point, &str)> {
        self.points.iter().filter_map(|point| match &point.state {
            PointState::Gap(why) => Some((point, why.as_str())),
            PointState::Known(_) => None,
        })
    }
}
