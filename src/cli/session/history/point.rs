//! The cost of one state of the tree, as `gpulint cost` and `gpulint check` report it for a checkout.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::trace::{Trace, TracedTree};
use crate::Analysis;
use crate::cli::io::git::{GitTree, TreeEntries};
use crate::cli::io::git_objects::GitObjects;
use crate::cli::session::{Session, discover, missing_files};
use crate::compare::Gate;
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::SkippedFile;
use crate::report::Snapshot;
use crate::source::{ReadError, Tree, is_below};

/// The result of one state.
#[derive(Clone)]
pub(super) struct ComputedState {
    pub(super) snapshot: Arc<Snapshot>,
    /// Files that could not be read, as paths of the tree.
    pub(super) unread: Vec<String>,
    /// Files that can be relevant and are missing from the clone.
    pub(super) missing: Vec<String>,
}

pub(super) struct Analyst<'a> {
    pub(super) session: &'a Session,
    pub(super) gate: &'a Gate,
    pub(super) objects: Arc<GitObjects>,
}

/// An analyzed state, from which the next state takes what stayed the same.
pub(super) struct AnalyzedState {
    session: Session,
    entries: TreeEntries,
    trace: Arc<Trace>,
}

impl AnalyzedState {
    /// The most bytes of texts that states pass to the next one. Texts of former states are among them.
    const MOST_BYTES: usize = 32 << 20;
}

impl Analyst<'_> {
    /// Returns the result of a state, and the state itself if the next one can reuse it.
    pub(super) fn analyze(
        &self,
        entries: &TreeEntries,
        before: Option<AnalyzedState>,
    ) -> (ComputedState, Arc<Trace>, Option<AnalyzedState>) {
        let tree = GitTree::reading(entries.clone(), self.objects.clone());
        let tree = tree.up_to(self.session.sources.limits().file_bytes);
        let missing = tree.missing();
        let is_wanted = |file: &str| self.is_wanted(file);
        let files: Vec<String> = tree
            .files()
            .filter(|file| files::is_candidate(Path::new(file)) && is_wanted(file))
            .map(str::to_owned)
            .collect();
        let before = before.and_then(|it| Some((tree.differing_since(&it.entries)?, it)));
        let mut unread = submodules(&tree);
        let links = tree.links_to_nothing().into_iter().filter(|path| files::is_candidate(Path::new(path)));
        unread.extend(links.map(|path| SkippedFile::new(SkipKind::Link, path, discover::LEADS_NOWHERE)));
        unread.retain(|it| self.concerns(&it.path));
        let trace = Arc::new(Mutex::new(Trace::default()));
        let traced = TracedTree { tree, trace: trace.clone() };
        // The list of submodules was read before recording started.
        drop(traced.read(missing_files::LIST));
        let mut point = self.session.at_commit(traced, files);
        point.follow(before.as_ref().map(|(differing, it)| (&it.session, differing.clone())));
        let earlier = before.map(|(_, it)| it.trace);
        point.add_skipped(unread);
        let (mut analysis, mut findings) = point.judge();
        findings.retain(|decided| self.gate.shows(decided));
        let snapshot = Arc::new(Snapshot::new(&point.report(&analysis, &findings)));
        let missing = missing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_complete = missing.is_empty();
        let missing: BTreeSet<String> = missing.into_iter().filter(|it| matters(it)).collect();
        let computed =
            ComputedState { snapshot, unread: unreadable(&point, &analysis), missing: missing.into_iter().collect() };
        analysis.hand_over_blocks(&point.cache.terraform);
        drop(analysis);
        let mut trace = std::mem::take(&mut *trace.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(earlier) = earlier {
            trace.add(Arc::unwrap_or_clone(earlier));
        }
        let trace = Arc::new(trace);
        let is_reusable = is_complete && point.sources.text_bytes() <= AnalyzedState::MOST_BYTES;
        let state =
            is_reusable.then(|| AnalyzedState { session: point, entries: entries.clone(), trace: trace.clone() });
        (computed, trace, state)
    }

    /// Whether a file is read. If the user named files, the whole repository is read, or else only the named
    /// directories.
    fn is_wanted(&self, file: &str) -> bool {
        self.session.reads_all() || self.session.scope.named.iter().any(|it| file == it || is_below(file, it))
    }

    /// Whether one of the two paths contains the other.
    fn concerns(&self, path: &str) -> bool {
        self.is_wanted(path) || self.session.scope.named.iter().any(|it| is_below(it, path))
    }
}

/// Returns the submodules, which gpulint cannot read from a commit.
fn submodules(tree: &GitTree) -> Vec<SkippedFile> {
    let list = tree.read(missing_files::LIST).unwrap_or_default();
    let listed: BTreeSet<String> = missing_files::listed(&list).into_iter().chain(tree.submodules()).collect();
    let reason = "the submodule is not checked out";
    listed.into_iter().map(|path| SkippedFile::new(SkipKind::Submodule, path, reason)).collect()
}

/// Whether the file contains data, which has no cost.
fn matters(path: &str) -> bool {
    files::is_terraform(path) || files::is_candidate(Path::new(path)) && !path.ends_with(".json")
}

fn unreadable(point: &Session, analysis: &Analysis) -> Vec<String> {
    let broken = analysis.inventory.diagnostics.iter().filter(|it| it.unreadable).filter_map(|it| it.span);
    let broken = broken.map(|span| point.sources.path(span.file));
    let refused = point.sources.refused().into_iter();
    let refused = refused.filter(|(path, why)| {
        !matches!(why, ReadError::Missing | ReadError::Pointer(_)) && point.files.binary_search(path).is_ok()
    });
    let all: BTreeSet<String> = broken.chain(refused.map(|(path, _)| path)).collect();
    all.into_iter().collect()
}
