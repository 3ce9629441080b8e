//! Selects the commits that become points, and their times.

use std::collections::HashMap;
use std::path::Path;

use super::request::HistoryRequest;
use crate::cli::Failure;
use crate::cli::io::git_log::{self, LoggedCommit};
use crate::report::HistoryInterval;
use crate::source::Date;

const SECONDS_OF_DAY: i64 = 86_400;

/// The days from a Monday to 1970-01-01, which was a Thursday, because weeks begin on Monday.
const DAYS_TO_MONDAY: i64 = 3;

/// A commit that can become a point.
pub(super) struct PlannedCommit {
    pub(super) logged: LoggedCommit,
    /// The latest time of this commit and all earlier ones.
    pub(super) time: i64,
    pub(super) tags: Vec<String>,
    /// The number of earlier commits of the same day or week, which this commit represents.
    pub(super) left_out: usize,
}

pub(super) struct HistoryPlan {
    /// The commits, the oldest first.
    pub(super) commits: Vec<PlannedCommit>,
    pub(super) from_the_first: bool,
    /// The number of commits in the requested period.
    pub(super) in_range: usize,
    pub(super) notes: Vec<String>,
}

impl HistoryPlan {
    pub(super) fn new(repository: &Path, request: &HistoryRequest<'_>) -> Result<HistoryPlan, Failure> {
        let logged = git_log::first_parents(repository, request.newest)?;
        let mut tags = git_log::tags(repository)?;
        let is_shallow = git_log::is_shallow(repository)?;
        let mut notes = Vec::new();
        if is_shallow {
            let first = logged.first().map(|it| day(it.committed)).unwrap_or_default();
            notes.push(format!(
                "this clone is shallow: its history begins on {first}; fetch the rest with `git fetch --unshallow \
                 --filter=blob:none`, or, in a workflow, check out with `fetch-depth: 0`"
            ));
        }
        let is_cut = logged.len() >= git_log::MOST_COMMITS;
        if is_cut {
            notes.push(format!("gpulint reads only the newest {} commits", git_log::MOST_COMMITS));
        }
        let mut commits = timed(logged, &mut tags);
        let begins = commits.len();
        if let Some(since) = request.since {
            commits = from(commits, since);
        }
        let from_the_first = !is_shallow && !is_cut && commits.len() == begins;
        let in_range = commits.len();
        Ok(HistoryPlan { commits: thinned(commits, request.every), from_the_first, in_range, notes })
    }
}

fn timed(logged: Vec<LoggedCommit>, tags: &mut HashMap<String, Vec<String>>) -> Vec<PlannedCommit> {
    let mut latest = i64::MIN;
    let timed = logged.into_iter().map(|logged| {
        latest = latest.max(logged.committed);
        let tags = tags.remove(&logged.id).unwrap_or_default();
        PlannedCommit { time: latest, tags, left_out: 0, logged }
    });
    timed.collect()
}

/// Returns the commits from a day on, and the last commit before that day as the starting point.
fn from(commits: Vec<PlannedCommit>, since: Date) -> Vec<PlannedCommit> {
    let begin = since.unix_days() * SECONDS_OF_DAY;
    let first = commits.iter().position(|it| it.time >= begin).unwrap_or(commits.len());
    commits.into_iter().skip(first.saturating_sub(1)).collect()
}

/// Returns the last commit of each day or week, and the very first commit.
fn thinned(commits: Vec<PlannedCommit>, every: HistoryInterval) -> Vec<PlannedCommit> {
    let days = |time: i64| time.div_euclid(SECONDS_OF_DAY);
    let bucket = |it: &PlannedCommit| match every {
        HistoryInterval::Commit => None,
        HistoryInterval::Day => Some(days(it.time)),
        HistoryInterval::Week => Some((days(it.time) + DAYS_TO_MONDAY).div_euclid(7)),
    };
    let mut kept: Vec<PlannedCommit> = Vec::new();
    for commit in commits {
        // The first commit stays, because it is the starting point.
        let stands_for =
            kept.len() > 1 && kept.last().is_some_and(|it| bucket(it).is_some() && bucket(it) == bucket(&commit));
        let before = if stands_for { kept.pop() } else { None };
        let left_out = before.map_or(0, |it| it.left_out + 1);
        kept.push(PlannedCommit { left_out, ..commit });
    }
    kept
}

fn day(time: i64) -> Date {
    Date::from_unix_days(time.div_euclid(SECONDS_OF_DAY)).unwrap_or_default()
}
