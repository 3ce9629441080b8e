//! A session with its results: analysis, findings and verdict.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::Session;
use super::gate::gate;
use crate::Analysis;
use crate::cli::Failure;
use crate::cli::args::{FailOnChoice, InputArguments, Selection};
use crate::cli::io::file_tree::{DiskTree, KnownDirectories, below};
use crate::compare::Gate;
use crate::config::{self, setting};
use crate::decide::{BASELINE, Decided};
use crate::diagnostic::Diagnostic;
use crate::front_ends::files;
use crate::inventory::{Resource, ResourceId};
use crate::kubernetes::ScanCache;
use crate::measured::{paid, row};
use crate::report;
use crate::rules::Finding;
use crate::source::{Differing, FileId, file_name, from_utf16, is_below, parent};
use crate::terraform::SharedTerraform;

/// The identity of a finding: rule, file and address, which stay the same if lines move.
pub(in crate::cli) type Identity = (String, String, Option<String>);

/// File contents that replace those on disk, by path in the tree.
pub(in crate::cli) type Texts = BTreeMap<String, Vec<u8>>;

/// A session with its analysis and the findings that are shown.
pub(in crate::cli) struct JudgedTree {
    pub(in crate::cli) session: Session,
    pub(in crate::cli) analysis: Analysis,
    pub(in crate::cli) findings: Vec<Decided>,
    pub(in crate::cli) gate: Gate,
}

impl JudgedTree {
    pub(in crate::cli) fn of(session: Session, threshold: &FailOnChoice) -> JudgedTree {
        let (analysis, mut findings) = session.judge();
        let gate = gate(threshold, &session.policy);
        findings.retain(|decided| gate.shows(decided));
        JudgedTree { session, analysis, findings, gate }
    }

    /// Evaluates the named paths with these file contents.
    pub(in crate::cli) fn with_texts(
        input: &InputArguments,
        (selection, threshold): (&Selection, &FailOnChoice),
        texts: &Texts,
    ) -> Result<JudgedTree, Failure> {
        let given = texts.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
        let input = InputArguments { given, ..input.clone() };
        Ok(Self::of(Session::judging(&input, selection)?, threshold))
    }

    pub(in crate::cli) fn identity(&self, finding: &Finding) -> Identity {
        let path = self.session.sources.path_of(finding.span);
        (finding.rule.clone(), path, finding.address(&self.analysis.inventory).map(str::to_owned))
    }

    /// Returns the findings that neither a comment nor the baseline accepts.
    pub(in crate::cli) fn counting(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|decided| decided.counts()).map(|decided| &decided.finding)
    }

    /// Returns the subject of a finding.
    pub(in crate::cli) fn resources(&self, finding: &Finding) -> impl Iterator<Item = &Resource> {
        let all = finding.resource.into_iter().chain(finding.also.iter().copied());
        all.filter_map(|id| self.analysis.inventory.resources.get(id.0))
    }

    /// Whether gpulint may write to the file. The user must have named it, it must not be a link, and it must be
    /// valid UTF-8.
    pub(in crate::cli) fn is_writable(&self, file: FileId) -> bool {
        let path = self.session.sources.path(file);
        let real = |path: &Path| path.canonicalize().ok();
        let is_itself = real(&self.session.scope.root)
            .is_some_and(|root| real(&root.join(&path)).is_some_and(|place| place == root.join(&path)));
        self.session.is_named(&path)
            && is_itself
            && !self.session.sources.text(file).contains('\u{fffd}')
            && !self.session.sources.tree().read(&path).is_ok_and(|bytes| from_utf16(&bytes).is_some())
    }
}

impl Session {
    /// Returns the calculation of a resource's price, and whether its model fits.
    pub(in crate::cli) fn explain(&self, analysis: &Analysis, id: ResourceId) -> String {
        report::explain(&self.report(analysis, &[]), id) + &self.explain_fit(analysis, id)
    }

    /// Returns the same explanation with the price first, for small windows.
    pub(in crate::cli) fn explain_price_first(&self, analysis: &Analysis, id: ResourceId) -> String {
        report::explain_price_first(&self.report(analysis, &[]), id) + &self.explain_fit(analysis, id)
    }

    fn explain_fit(&self, analysis: &Analysis, id: ResourceId) -> String {
        let mut text = String::new();
        let (fact, item) = (analysis.fits.get(id.0), analysis.bill.items.get(id.0));
        if let (Some(resource), Some(fact)) = (analysis.inventory.resources.get(id.0), fact) {
            if let Some(item) = item {
                text += &report::explain_speed(resource, item, fact, &self.settings.catalog);
            }
            text += &report::explain_run(resource, fact, item);
            text += &report::explain_lost_work(&self.report(analysis, &[]), id);
            text += &report::explain_own(resource, item, &self.settings.pricing.owned);
        }
        text
    }

    /// Whether the file is a custom rule.
    pub(in crate::cli) fn has_page(&self, path: &str) -> bool {
        self.policy.own_pages.iter().any(|page| page.path == path)
    }

    /// Returns the errors of rule files, and of settings about rules.
    pub(in crate::cli) fn wrong_rules(&self) -> &[Diagnostic] {
        &self.policy.wrong_rules
    }
}

/// States of a tree that is being edited.
impl Session {
    /// Retains the results, so that many edited states can reuse them.
    pub(in crate::cli) fn keep_for_edits(&mut self) {
        self.cache.looks = ScanCache::kept();
        self.cache.terraform = SharedTerraform::lasting();
    }

    /// Evaluates the tree with these file contents, under the same settings. `changed` are all files that differ from
    /// this state. Results that do not depend on them are reused.
    pub(in crate::cli) fn edited(
        &self,
        texts: &Texts,
        changed: HashSet<String>,
        directories: &Arc<KnownDirectories>,
    ) -> Session {
        let (root, allowed) = (self.scope.root.clone(), self.scope.allowed.clone());
        let mut tree = DiskTree::new(root, allowed).up_to(self.sources.limits().file_bytes).knowing(directories);
        for (path, text) in texts {
            tree = tree.with_given(path.clone(), text.clone());
        }
        let new: Vec<String> = texts.keys().filter(|path| self.may_hold(path)).cloned().collect();
        let mut session = self.at(tree, self.files.clone());
        session.add_files(new);
        session.skipped.clone_from(&self.skipped);
        session.reuse(self, changed, |path| self.is_on_disk(path));
        session
    }

    /// Reuses the results of another state that depend on none of the changed files. `is_in_both` returns whether both
    /// states have a changed file; otherwise, its directory has other entries.
    pub(super) fn reuse(&mut self, other: &Session, changed: HashSet<String>, is_in_both: impl Fn(&str) -> bool) {
        let lists = changed.iter().filter(|path| !is_in_both(path));
        let lists = lists.map(|path| parent(path).to_owned()).collect();
        let changed = Arc::new(changed);
        self.cache.looks = other.cache.looks.for_all_but(changed.clone());
        let differing = Differing { files: (*changed).clone(), lists };
        self.cache.terraform = other.cache.terraform.for_other(Some(differing));
        self.share_texts(other, &changed);
    }

    /// Takes what another state read, except changed files, at the same positions. Results with places in
    /// them are then valid here, too.
    fn share_texts(&mut self, other: &Session, changed: &HashSet<String>) {
        let is_same = |path: &str| !changed.contains(path);
        if self.sources.share(&other.sources, other.policy.files_of_settings, is_same) {
            self.cache.terraform.allow();
        }
    }

    /// Makes this state a part of a sequence. It reuses the results of the state before that depend on no difference,
    /// and retains its own results for the next state.
    pub(super) fn follow(&mut self, before: Option<(&Session, Differing)>) {
        let Some((before, differing)) = before else {
            self.cache.looks = ScanCache::kept();
            self.cache.terraform = SharedTerraform::kept();
            return;
        };
        let changed = Arc::new(differing.files.clone());
        self.cache.looks = before.cache.looks.for_next(changed.clone());
        self.cache.terraform = before.cache.terraform.for_next(Some(differing));
        self.share_texts(before, &changed);
    }

    /// Whether an unsaved file of an editor would be read after saving.
    pub(in crate::cli) fn may_hold(&self, path: &str) -> bool {
        files::is_candidate(Path::new(path))
            && self.files.binary_search_by(|it| it.as_str().cmp(path)).is_err()
            && self.scope.named.iter().any(|named| is_below(path, named))
            && !self.is_on_disk(path)
    }

    pub(in crate::cli) fn is_on_disk(&self, path: &str) -> bool {
        below(&self.scope.root, path).exists()
    }

    /// Whether a change of the file can change settings, rules, prices or suppressions.
    pub(in crate::cli) fn rests_on(&self, path: &str) -> bool {
        let name = file_name(path);
        let is_page = name.ends_with(".md");
        let is_settings =
            name == config::FILE_NAME || name == BASELINE || [row::FILE_NAME, paid::row::FILE_NAME].contains(&name);
        let is_of_pack = || self.policy.packs.iter().any(|pack| is_below(path, pack.path()));
        is_settings
            || is_of_pack()
            || is_page && self.own_pages_are_near(path)
            || self.texts_of_settings().iter().any(|(known, _)| known == path)
    }

    /// Whether custom rules are read from the directory of the file, or the settings name the file.
    fn own_pages_are_near(&self, path: &str) -> bool {
        let directory = parent(path);
        let named = self.policy.config.texts(setting!("rules-dir"));
        named.iter().any(|(named, _)| named == directory || is_below(directory, named))
    }
}
