//! Computes the cost of a tree at each commit of a branch, at the prices of one day: the input of all formats of
//! `gpulint history`.

mod blame;
mod point;
mod snapshot;
mod steps;
mod unknown;

use std::sync::Arc;

pub use blame::{Blame, BlamedCommit, blame};
pub use point::{BranchCommit, Commit, HistoryInterval, HistoryPoint, PointState, PullRequest};
pub use snapshot::{
    Holding, RuleCount, Snapshot, SnapshotAmount, SnapshotCut, SnapshotEnding, SnapshotSlice, SnapshotUnjudged,
};
pub use steps::{CostStep, CostStepKind, StepChange, steps};
pub(in crate::report) use steps::{HistoryMonth, course, months};
pub(in crate::report) use unknown::unknown_points;

use crate::catalog::Currency;
use crate::report::PriceSources;
use crate::source::Date;

/// The cost of a tree over its commits, from the oldest to the newest.
pub struct CostHistory {
    /// The name of the history's subject.
    pub title: Option<String>,
    pub points: Vec<HistoryPoint>,
    pub steps: Vec<CostStep>,
    /// The first requested day; the last state before it is the first point.
    pub since: Option<Date>,
    pub every: HistoryInterval,
    /// The commits in this time, evaluated or not.
    pub commits: usize,
    /// True if the first point is the first commit of the repository, which added all its resources.
    pub from_the_first: bool,
    /// The origin of the settings and rules for all points.
    pub settings_of: String,
    /// The day of prices and deadlines.
    pub today: Date,
    pub catalog: PriceSources,
    pub currency: Currency,
    /// Notes about the whole history, such as a shallow clone or an ended time budget.
    pub notes: Vec<String>,
}

impl CostHistory {
    /// Returns the newest point whose cost is known.
    pub fn newest(&self) -> Option<(&HistoryPoint, &Arc<Snapshot>)> {
        self.points.iter().rev().find_map(|point| Some((point, point.snapshot()?)))
    }

    /// Returns the oldest point whose cost is known.
    pub fn oldest(&self) -> Option<(&HistoryPoint, &Arc<Snapshot>)> {
        self.points.iter().find_map(|point| Some((point, point.snapshot()?)))
    }

    /// Returns the points whose cost is unknown, with the reason.
    pub fn gaps(&self) -> impl Iterator<Item = (&HistoryPoint, &str)> {
        self.points.iter().filter_map(|point| match &point.state {
            PointState::Gap(why) => Some((point, why.as_str())),
            PointState::Known(_) => None,
        })
    }
}
