//! Evaluates commits in parallel, each worker a range of neighbors, and bisects where two states differ.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

use super::plan::HistoryPlan;
use super::point::{Analyst, AnalyzedState, ComputedState};
use super::request::HistoryRequest;
use super::saved_points::KeptPoints;
use super::trace::Trace;
use crate::cli::Failure;
use crate::cli::io::deadline;
use crate::cli::io::git::TreeEntries;
use crate::cli::io::git_changes::GitChanges;
use crate::cli::io::git_objects::GitObjects;
use crate::cli::io::progress::Progress;
use crate::cli::session::bounds;
use crate::languages::yaml;

/// The stack size of a worker, as large as that of a main thread, because files can be nested deeply.
const STACK_BYTES: usize = 8 << 20;

/// The bytes of file contents that all workers keep in memory together.
const ROOM_BYTES: usize = 192 << 20;

/// The number of neighboring commits of one worker. After the first of them, each takes less work.
const STRETCH: usize = 12;

/// The result of one commit.
#[derive(Clone)]
pub(super) enum CommitOutcome {
    Computed(ComputedState),
    Failed(String),
}

pub(super) struct HistoryWalk<'a> {
    plan: &'a HistoryPlan,
    repository: &'a Path,
    analyst: Analyst<'a>,
    kept: Option<KeptPoints>,
    /// Known results by tree id. A revert leads back to an earlier tree.
    known: Mutex<HashMap<String, ComputedState>>,
    /// The time that is reserved for the steps after this one.
    reserve: Duration,
    ran_out: AtomicBool,
    done: Arc<AtomicUsize>,
}

impl<'a> HistoryWalk<'a> {
    pub(super) fn new(request: &HistoryRequest<'a>, plan: &'a HistoryPlan) -> Result<HistoryWalk<'a>, Failure> {
        let repository = request.session.scope.root.as_path();
        let time = bounds::time(&request.session.policy.config);
        Ok(HistoryWalk {
            plan,
            repository,
            analyst: Analyst {
                session: request.session,
                gate: request.gate,
                objects: Arc::new(GitObjects::new(repository, ROOM_BYTES)),
            },
            kept: KeptPoints::open(request.session, &request.asked),
            known: Mutex::default(),
            reserve: time.mul_f64(0.1),
            ran_out: AtomicBool::new(false),
            done: Arc::default(),
        })
    }

    /// Whether the time limit was reached before all commits were evaluated.
    pub(super) fn ran_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }

    /// Returns one result for each commit of the plan, or `None` for a commit that was not evaluated.
    pub(super) fn run(&self, most: usize) -> Result<Vec<Option<CommitOutcome>>, Failure> {
        let count = self.plan.commits.len();
        let _progress = Progress::over_commits(self.done.clone(), count);
        let mut outcomes: Vec<Option<CommitOutcome>> = vec![None; count];
        yaml::remember_documents();
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let mut workers: Vec<CommitWorker<'_, 'a>> = (0..workers).map(|_| self.worker()).collect();
        // The newest commit is evaluated first.
        self.look(&count.checked_sub(1).into_iter().collect::<Vec<_>>(), &mut workers, &mut outcomes)?;
        self.look(&spaced(count, most), &mut workers, &mut outcomes)?;
        loop {
            let middles = middles(&outcomes);
            if middles.is_empty() || self.is_over() {
                break;
            }
            self.look(&middles, &mut workers, &mut outcomes)?;
        }
        if let Some(kept) = &self.kept {
            kept.sweep();
        }
        Ok(outcomes)
    }

    pub(super) fn worker(&self) -> CommitWorker<'_, 'a> {
        CommitWorker { walk: self, at: None, changes: None, last: None, analyzed: None }
    }

    pub(super) fn is_over(&self) -> bool {
        let is_over = deadline::left() < self.reserve;
        self.ran_out.fetch_or(is_over, Ordering::Relaxed);
        is_over
    }

    /// Evaluates the commits at these positions, which ascend.
    fn look(
        &self,
        places: &[usize],
        workers: &mut [CommitWorker<'_, 'a>],
        outcomes: &mut [Option<CommitOutcome>],
    ) -> Result<(), Failure> {
        let open: Vec<usize> =
            places.iter().copied().filter(|place| outcomes.get(*place).is_some_and(Option::is_none)).collect();
        let stretches: Vec<&[usize]> = open.chunks(STRETCH).collect();
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, CommitOutcome)>> = Mutex::default();
        let work = |worker: &mut CommitWorker<'_, 'a>| -> Result<(), Failure> {
            while let Some(stretch) = stretches.get(next.fetch_add(1, Ordering::Relaxed)) {
                for place in *stretch {
                    if self.is_over() {
                        return Ok(());
                    }
                    let Some(planned) = self.plan.commits.get(*place) else { continue };
                    let outcome = worker.outcome(&planned.logged.tree)?;
                    self.done.fetch_add(1, Ordering::Relaxed);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((*place, outcome));
                }
            }
            Ok(())
        };
        let failures: Vec<Failure> = thread::scope(|scope| {
            let work = &work;
            let start = |worker| Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || work(worker)).ok();
            let started: Vec<_> = workers.iter_mut().take(stretches.len()).filter_map(start).collect();
            // If no thread can be started, this thread does the work.
            let own = if started.is_empty() { work(&mut self.worker()).err() } else { None };
            let ended = started.into_iter().filter_map(|it| match it.join() {
                Ok(done) => done.err(),
                Err(panic) => Some(Failure::from_panic(&*panic)),
            });
            ended.chain(own).collect()
        });
        if let Some(failure) = failures.into_iter().next() {
            return Err(failure);
        }
        for (place, outcome) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            if let Some(open) = outcomes.get_mut(place) {
                *open = Some(outcome);
            }
        }
        Ok(())
    }
}

/// Returns at most this many positions, evenly spread, always with the last one.
fn spaced(count: usize, most: usize) -> Vec<usize> {
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let most = most.clamp(2, usize::MAX).min(count);
    if most == count {
        return (0..count).collect();
    }
    let mut places: Vec<usize> = (0..most).map(|nth| nth * last / (most - 1)).collect();
    places.dedup();
    places
}

/// Returns the middle commits between two evaluated commits that differ.
fn middles(outcomes: &[Option<CommitOutcome>]) -> Vec<usize> {
    let looked: Vec<(usize, &CommitOutcome)> =
        outcomes.iter().enumerate().filter_map(|(place, it)| Some((place, it.as_ref()?))).collect();
    let pairs = looked.iter().zip(looked.iter().skip(1));
    let differ = |before: &CommitOutcome, after: &CommitOutcome| match (before, after) {
        (CommitOutcome::Computed(before), CommitOutcome::Computed(after)) => {
            !before.snapshot.costs_the_same(&after.snapshot)
        }
        _ => true,
    };
    let wanted = pairs.filter(|((a, before), (b, after))| b - a > 1 && differ(before, after));
    wanted.map(|((a, _), (b, _))| a + (b - a) / 2).collect()
}

/// A worker that moves from commit to commit.
pub(super) struct CommitWorker<'w, 'a> {
    walk: &'w HistoryWalk<'a>,
    /// The current tree.
    at: Option<(String, TreeEntries)>,
    changes: Option<GitChanges>,
    /// The last computed result, if it is valid for the current tree, with its cache key.
    last: Option<(ComputedState, Arc<Trace>, String)>,
    /// The last analyzed state, for the next one.
    analyzed: Option<AnalyzedState>,
}

impl CommitWorker<'_, '_> {
    /// Returns the result of a commit by its tree.
    pub(super) fn outcome(&mut self, tree: &str) -> Result<CommitOutcome, Failure> {
        let known = self.walk.known.lock().unwrap_or_else(PoisonError::into_inner).get(tree).cloned();
        if let Some(known) = known {
            return Ok(CommitOutcome::Computed(known));
        }
        let key = self.walk.kept.as_ref().map(|kept| kept.key(tree)).unwrap_or_default();
        if let Some(kept) = self.walk.kept.as_ref().and_then(|kept| kept.load(&key)) {
            self.know(tree, &kept);
            return Ok(CommitOutcome::Computed(kept));
        }
        // A tree that a partial clone lacks is reported, and the others are evaluated.
        if let Err(failure) = self.go_to(tree) {
            (self.at, self.changes, self.last) = (None, None, None);
            return Ok(CommitOutcome::Failed(failure.message().to_owned()));
        }
        if let Some((computed, _, own)) = &self.last {
            if let Some(kept) = &self.walk.kept
                && computed.missing.is_empty()
            {
                kept.save_as(&key, own);
            }
            self.know(tree, computed);
            return Ok(CommitOutcome::Computed(computed.clone()));
        }
        Ok(self.compute(tree, key))
    }

    fn compute(&mut self, tree: &str, key: String) -> CommitOutcome {
        let Some((_, entries)) = &self.at else {
            return CommitOutcome::Failed("the files of the commit are unknown".to_owned());
        };
        let before = self.analyzed.take();
        let analyze = || self.walk.analyst.analyze(entries, before);
        let Ok((computed, trace, analyzed)) = catch_unwind(AssertUnwindSafe(analyze)) else {
            return CommitOutcome::Failed(
                "this is a bug in gpulint: please report it with the output above".to_owned(),
            );
        };
        if let Some(kept) = &self.walk.kept
            && computed.missing.is_empty()
        {
            kept.save(&key, &computed);
        }
        self.know(tree, &computed);
        self.analyzed = analyzed;
        self.last = Some((computed.clone(), trace, key));
        CommitOutcome::Computed(computed)
    }

    fn know(&self, tree: &str, computed: &ComputedState) {
        self.walk.known.lock().unwrap_or_else(PoisonError::into_inner).insert(tree.to_owned(), computed.clone());
    }

    /// Moves to another tree. Keeps the last result if it is valid there, too.
    fn go_to(&mut self, tree: &str) -> Result<(), Failure> {
        let Some((here, before)) = self.at.take() else {
            self.at = Some((tree.to_owned(), TreeEntries::of(self.walk.repository, tree)?));
            return Ok(());
        };
        if self.changes.is_none() {
            self.changes = Some(GitChanges::start(self.walk.repository)?);
        }
        let Some(changes) = &mut self.changes else { return Ok(()) };
        let changed = changes.between(&here, tree)?;
        let mut after = before.clone();
        after.apply(&changed);
        self.last.take_if(|(_, trace, _)| !trace.misses(&changed, &before, &after));
        self.at = Some((tree.to_owned(), after));
        Ok(())
    }
}
