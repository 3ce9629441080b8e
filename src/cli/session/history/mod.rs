//! Evaluates the cost of the repository at each commit: selects the commits, and evaluates them in parallel.

mod merges;
mod plan;
mod point;
mod pull_request;
mod request;
mod saved_points;
mod trace;
mod walk;

use std::collections::BTreeSet;

use crate::cli::Failure;
use crate::cli::io::git_program;
use crate::report::{Commit, CostHistory, CostStepKind, HistoryPoint, PointState, steps};
use crate::source::{is_below, parent};
use plan::HistoryPlan;
use walk::{CommitOutcome, HistoryWalk};

pub(in crate::cli) use request::HistoryRequest;
/// Returns the digest of a file that the command line names.
pub(in crate::cli) use saved_points::digest_of;

pub(in crate::cli) fn read(request: &HistoryRequest<'_>) -> Result<CostHistory, Failure> {
    let repository = &request.session.scope.root;
    let plan = HistoryPlan::new(repository, request)?;
    let walk = HistoryWalk::new(request, &plan)?;
    let outcomes = walk.run(request.most)?;
    let mut notes = plan.notes.clone();
    let passed_over = outcomes.iter().filter(|it| it.is_none()).count();
    let mut points = points(&plan, outcomes);
    close_gaps(request, &plan, &mut points, &mut notes)?;
    if walk.ran_out() && passed_over > 0 {
        notes.push(format!(
            "{passed_over} commits were not evaluated within the time limit: raise `bounds.seconds` in gpulint.toml"
        ));
    }
    let mut points: Vec<HistoryPoint> = points.into_iter().map(|it| it.point).collect();
    let mut steps = steps(&points, plan.from_the_first);
    merges::name_requests(repository, &plan, &mut points, &steps)?;
    merges::name_commits(request, &walk, &plan, &points, &mut steps)?;
    Ok(CostHistory {
        title: None,
        steps,
        points,
        since: request.since,
        every: request.every,
        commits: plan.in_range,
        from_the_first: plan.from_the_first,
        settings_of: request.settings_of.clone(),
        today: request.session.policy.today,
        catalog: request.session.catalog_in_use(),
        currency: request.session.settings.pricing.currency,
        notes,
    })
}

/// A point, with the data that decides whether it is reliable.
struct Candidate {
    /// The position among the commits of the plan.
    place: usize,
    point: HistoryPoint,
    unread: Vec<String>,
    missing: Vec<String>,
}

/// Returns one point for each evaluated commit.
fn points(plan: &HistoryPlan, outcomes: Vec<Option<CommitOutcome>>) -> Vec<Candidate> {
    let mut points = Vec::new();
    let mut passed_over = 0;
    for (place, outcome) in outcomes.into_iter().enumerate() {
        let (Some(outcome), Some(planned)) = (outcome, plan.commits.get(place)) else {
            passed_over += 1;
            continue;
        };
        let commit = Commit {
            id: planned.logged.id.clone(),
            time: planned.time,
            author: planned.logged.author.clone(),
            subject: planned.logged.subject.clone(),
            tags: planned.tags.clone(),
            request: None,
        };
        // With --every day or week, a commit represents the earlier commits of the same period.
        let (state, unread, missing) = match outcome {
            CommitOutcome::Computed(it) => (PointState::Known(it.snapshot), it.unread, it.missing),
            CommitOutcome::Failed(why) => (PointState::Gap(why), Vec::new(), Vec::new()),
        };
        let passed = if place == 0 { 0 } else { passed_over + planned.left_out };
        points.push(Candidate { place, point: HistoryPoint { commit, passed_over: passed, state }, unread, missing });
        passed_over = 0;
    }
    points
}

/// Marks a point as a gap if the clone lacks a file, or if a file is unreadable that was readable before. The cost of
/// that file is unknown, not zero.
fn close_gaps(
    request: &HistoryRequest<'_>,
    plan: &HistoryPlan,
    points: &mut [Candidate],
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let newest: BTreeSet<String> = points.last().map(|it| it.missing.iter().cloned().collect()).unwrap_or_default();
    let mut lacking: BTreeSet<String> = BTreeSet::new();
    let mut good: Option<usize> = None;
    for place in 0..points.len() {
        let (before, rest) = points.split_at_mut(place);
        let Some(candidate) = rest.first_mut() else { continue };
        lacking.extend(candidate.missing.iter().cloned());
        let lost = candidate.missing.iter().filter(|it| !newest.contains(*it)).count();
        if lost > 0 {
            let files = if lost == 1 { "1 file is".to_owned() } else { format!("{lost} files are") };
            candidate.point.state = PointState::Gap(format!("{files} not in this clone"));
            continue;
        }
        let earlier = good.and_then(|good| before.get(good));
        if let Some(why) = earlier.map(|it| broken(request, plan, it, candidate)).transpose()?.flatten() {
            candidate.point.state = PointState::Gap(why);
            continue;
        }
        if candidate.point.snapshot().is_some() {
            good = Some(place);
        }
    }
    if !lacking.is_empty() {
        notes.push(format!(
            "this clone lacks {} files of the evaluated commits: fetch them with `git backfill`, or \
             `git fetch --refetch --no-filter origin`",
            lacking.len()
        ));
    }
    Ok(())
}

/// Returns why the later of two states is unreliable: a resource disappeared or changed, and a file
/// is unreadable that was readable before.
fn broken(
    request: &HistoryRequest<'_>,
    plan: &HistoryPlan,
    earlier: &Candidate,
    later: &Candidate,
) -> Result<Option<String>, Failure> {
    let closed: Vec<&String> = later.unread.iter().filter(|path| !earlier.unread.contains(path)).collect();
    let Some(commit) = plan.commits.get(earlier.place).filter(|_| !closed.is_empty()) else { return Ok(None) };
    let between = steps(&[earlier.point.clone(), later.point.clone()], false);
    let lost = between.iter().flat_map(|it| &it.changes).filter(|it| it.kind != CostStepKind::Moved);
    let lost: Vec<&str> = lost.filter_map(|it| it.before.as_ref()).map(|it| it.path.as_str()).collect();
    let paths = &request.session.scope.paths;
    let is_beside = |a: &str, b: &str| parent(a) == parent(b) || is_below(a, parent(b)) || is_below(b, parent(a));
    for path in closed {
        let shown = paths.show(path);
        if !lost.iter().any(|it| is_beside(it, &shown)) {
            continue;
        }
        // A file that was added broken was never readable.
        let object = format!("{}:{path}", commit.logged.id);
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", &object];
        if git_program::ask(&request.session.scope.root, &asked)?.is_some() {
            return Ok(Some(format!("`{shown}` cannot be read at this commit")));
        }
    }
    Ok(None)
}
