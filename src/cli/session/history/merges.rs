//! Finds the pull request of each merge that changed cost or findings, and the commit of its branch that changed each
//! resource.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::plan::{HistoryPlan, PlannedCommit};
use super::point::ComputedState;
use super::pull_request::pull_request;
use super::request::HistoryRequest;
use super::walk::{CommitOutcome, CommitWorker, HistoryWalk};
use crate::catalog::Money;
use crate::cli::Failure;
use crate::cli::io::git_log::{self, LoggedCommit};
use crate::cli::session::Session;
use crate::report::{BranchCommit, CostStep, HistoryPoint, Holding, StepChange};

/// The most commits of a branch that are searched.
const LONGEST_BRANCH: usize = 256;

/// Adds the pull requests of merges that changed cost or findings.
pub(super) fn name_requests(
    repository: &Path,
    plan: &HistoryPlan,
    points: &mut [HistoryPoint],
    steps: &[CostStep],
) -> Result<(), Failure> {
    let is_merge = |it: &&PlannedCommit| it.logged.parents.len() > 1;
    let merges: HashSet<&str> = plan.commits.iter().filter(is_merge).map(|it| it.logged.id.as_str()).collect();
    let ids = steps.iter().filter_map(|it| Some(points.get(it.to)?.commit.id.as_str()));
    let ids: Vec<&str> = ids.filter(|it| merges.contains(it)).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let mut messages: HashMap<String, String> = git_log::messages(repository, &ids)?.into_iter().collect();
    for point in points {
        point.commit.request = messages.remove(&point.commit.id).and_then(|it| pull_request(&it));
    }
    Ok(())
}

/// Finds the commits of merged branches that made a change, the largest changes first, within the time limit and with
/// at most this many evaluated states.
pub(super) fn name_commits(
    request: &HistoryRequest<'_>,
    walk: &HistoryWalk<'_>,
    plan: &HistoryPlan,
    points: &[HistoryPoint],
    steps: &mut [CostStep],
) -> Result<(), Failure> {
    let parents: HashMap<&str, &[String]> =
        plan.commits.iter().map(|it| (it.logged.id.as_str(), it.logged.parents.as_slice())).collect();
    let mut branches = Branches { request, walk, worker: walk.worker(), left: request.most };
    let size = |it: &CostStep| {
        let moved = it.combined.difference.expected;
        Reverse(if moved < Money::ZERO { -moved } else { moved })
    };
    let mut largest: Vec<&mut CostStep> = steps.iter_mut().filter(|it| it.between == 0).collect();
    largest.sort_by_key(|it| size(it));
    for step in largest {
        let id = |place: usize| points.get(place).map(|it| it.commit.id.as_str());
        let Some([first, tip]) = id(step.to).and_then(|it| parents.get(it).copied()) else { continue };
        if step.from.and_then(id) != Some(first.as_str()) {
            continue;
        }
        if branches.is_over() {
            break;
        }
        branches.name(first, tip, step)?;
    }
    Ok(())
}

/// The search through the commits of branches.
struct Branches<'w, 'a> {
    request: &'w HistoryRequest<'a>,
    walk: &'w HistoryWalk<'a>,
    worker: CommitWorker<'w, 'a>,
    /// The number of states that can still be evaluated.
    left: usize,
}

impl Branches<'_, '_> {
    fn is_over(&self) -> bool {
        self.left == 0 || self.walk.is_over()
    }

    fn name(&mut self, first: &str, tip: &str, step: &mut CostStep) -> Result<(), Failure> {
        let repository = &self.request.session.scope.root;
        // A shallow clone can lack the merged commits.
        let Ok(branch) = git_log::of_branch(repository, tip, first, LONGEST_BRANCH + 1) else { return Ok(()) };
        let Some(left_at) = branch.first().filter(|_| branch.len() <= LONGEST_BRANCH).and_then(|it| it.parents.first())
        else {
            return Ok(());
        };
        let Ok(before) = git_log::named(repository, &[left_at]) else { return Ok(()) };
        let commits: Vec<LoggedCommit> = before.into_iter().chain(branch).collect();
        let mut states: Vec<Option<ComputedState>> = vec![None; commits.len()];
        for change in &mut step.changes {
            let found = self.find(&commits, &mut states, change)?;
            change.by = found.and_then(|at| commits.get(at)).map(|it| BranchCommit {
                id: it.id.clone(),
                author: it.author.clone(),
                subject: it.subject.clone(),
            });
        }
        Ok(())
    }

    /// Returns the position of the commit that gave a resource its state at the end of the branch, if the state was
    /// different before the branch. If a file is unreadable at a commit, the resource can have that state already.
    fn find(
        &mut self,
        commits: &[LoggedCommit],
        states: &mut [Option<ComputedState>],
        change: &StepChange,
    ) -> Result<Option<usize>, Failure> {
        let (mut before, mut after) = (0, commits.len().saturating_sub(1));
        for place in [before, after] {
            if !self.compute(commits, states, place)? {
                return Ok(None);
            }
        }
        let session = self.request.session;
        let is_last = |states: &[Option<ComputedState>], place: usize| {
            let [Some(first), Some(it), Some(last)] =
                [0, place, states.len() - 1].map(|at| State::of(session, states.get(at)?.as_ref()?, change))
            else {
                return false;
            };
            it.is_as(&last) || it.is_unsure && !first.is_unsure
        };
        if is_last(states, before) {
            return Ok(None);
        }
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            if !self.compute(commits, states, middle)? {
                return Ok(None);
            }
            if is_last(states, middle) { after = middle } else { before = middle }
        }
        Ok(Some(after))
    }

    /// Evaluates the state of a commit. Returns whether it is known.
    fn compute(
        &mut self,
        commits: &[LoggedCommit],
        states: &mut [Option<ComputedState>],
        place: usize,
    ) -> Result<bool, Failure> {
        let (Some(commit), Some(state)) = (commits.get(place), states.get_mut(place)) else { return Ok(false) };
        if state.is_none() && !self.is_over() {
            self.left -= 1;
            if let CommitOutcome::Computed(computed) = self.worker.outcome(&commit.tree)? {
                *state = Some(computed).filter(|it| it.missing.is_empty());
            }
        }
        Ok(state.is_some())
    }
}

/// A resource at a commit.
struct State<'a> {
    holding: Option<&'a Holding>,
    /// Whether the resource can be in a file that was not evaluated.
    is_unsure: bool,
}

impl<'a> State<'a> {
    fn of(session: &Session, computed: &'a ComputedState, change: &StepChange) -> Option<State<'a>> {
        let wanted = change.after.as_ref().or(change.before.as_ref())?;
        let is_it = |it: &&Holding| (&it.run, &it.address) == (&wanted.run, &wanted.address);
        let is_unread = computed.unread.iter().any(|it| session.scope.paths.show(it) == wanted.path);
        Some(State {
            holding: computed.snapshot.added().find(is_it),
            is_unsure: is_unread || computed.snapshot.may_hide(wanted),
        })
    }

    fn is_as(&self, other: &State<'_>) -> bool {
        match (self.holding, other.holding) {
            (Some(it), Some(other)) => it.costs_as(other),
            (None, None) => self.is_unsure == other.is_unsure,
            _ => false,
        }
    }
}
