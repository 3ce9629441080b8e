//! Applies the files of a change to the earlier state one by one, so that no file can hide the growth of another.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::Session;
use crate::Analysis;
use crate::compare::{HiddenGrowth, Touched, hidden_growth};
use crate::front_ends::files;
use crate::inventory::Unjudged;
use crate::source::{Differing, MixedTree, Tree, parent};

/// The maximum number of states that a comparison analyzes in addition to both ends.
const MOST_STATES: usize = 12;

/// The changed files, in the groups that are applied one by one.
pub(in crate::cli) struct SeparateFiles<'s> {
    base: &'s Session,
    head: &'s Session,
    /// All paths that differ between both states.
    differing: BTreeSet<String>,
    groups: Vec<BTreeSet<String>>,
    /// The number of changed files that can affect cost.
    files: usize,
    /// The number of directories, if files are applied by directory.
    directories: Option<usize>,
}

impl<'s> SeparateFiles<'s> {
    /// Returns the changed files if there are several that can affect cost.
    pub(in crate::cli) fn of(base: &'s Session, head: &'s Session, touched: &Touched) -> Option<Self> {
        let (before, after): (BTreeSet<&String>, BTreeSet<&String>) =
            (base.files.iter().collect(), head.files.iter().collect());
        let mut differing: BTreeSet<String> = before.symmetric_difference(&after).map(|it| (*it).clone()).collect();
        differing.extend(touched.files.iter().cloned());
        let read = |tree: &dyn Tree, path: &str| tree.read(path).ok();
        differing.retain(|path| read(base.sources.tree(), path) != read(head.sources.tree(), path));
        let is_read =
            |path: &&String| files::is_candidate(Path::new(path)) && (base.sources.has(path) || head.sources.has(path));
        let files: Vec<&String> = differing.iter().filter(is_read).collect();
        let count = files.len();
        if count < 2 {
            return None;
        }
        let is_combined = files.len() > MOST_STATES;
        let mut groups: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for path in files {
            groups.entry(if is_combined { parent(path) } else { path }).or_default().insert(path.clone());
        }
        let directories = is_combined.then_some(groups.len());
        let groups: Vec<_> = groups.into_values().take(MOST_STATES).collect();
        (groups.len() > 1).then_some(SeparateFiles { base, head, differing, groups, files: count, directories })
    }

    /// Returns a note if not every file was applied alone.
    pub(in crate::cli) fn limit(&self) -> Option<String> {
        let (files, directories) = (self.files, self.directories?);
        let most = match directories > MOST_STATES {
            true => format!("the first {MOST_STATES} of {directories} directories"),
            false => format!("{directories} directories"),
        };
        Some(format!("{files} files that can affect cost changed: gpulint applied {most} alone, not each file"))
    }

    /// Returns an entry for each file whose growth another file hides.
    pub(in crate::cli) fn hidden(&self, before: &Analysis, after: &Analysis) -> Vec<Unjudged> {
        let mut entries = Vec::new();
        for group in &self.groups {
            let Some(growth) = self.growth_with(group, before, after) else { continue };
            let hiding = self.hiding(group, &growth, before, after);
            let path = group.iter().next().map(String::as_str).unwrap_or_default();
            let amount = |money| self.head.settings.pricing.currency.amount(money);
            let hiding: Vec<String> = hiding.iter().map(|path| self.head.scope.paths.show(path)).collect();
            entries.push(growth.entry(path, &hiding, amount));
        }
        entries
    }

    /// Returns the growth that only these files cause and the later state does not have.
    fn growth_with(&self, files: &BTreeSet<String>, before: &Analysis, after: &Analysis) -> Option<HiddenGrowth> {
        let session = self.state_with(files);
        let alone = session.analyze_all();
        hidden_growth(before.side(&self.base.sources), alone.side(&session.sources), after.side(&self.head.sources))
    }

    /// Returns the files without which the growth shows.
    fn hiding(
        &self,
        grown: &BTreeSet<String>,
        growth: &HiddenGrowth,
        before: &Analysis,
        after: &Analysis,
    ) -> Vec<String> {
        let shows_without = |other: &&BTreeSet<String>| {
            let rest: BTreeSet<String> = self.differing.difference(other).cloned().collect();
            self.growth_with(&rest, before, after).is_some_and(|it| it.address == growth.address)
        };
        let others = self.groups.iter().filter(|other| *other != grown);
        others.clone().find(shows_without).into_iter().flatten().cloned().collect()
    }

    /// Returns the earlier state with these files as they are later.
    fn state_with(&self, files: &BTreeSet<String>) -> Session {
        let (base, head) = (self.base, self.head);
        let (usual, other) = (base.sources.shared_tree(), head.sources.shared_tree());
        let tree = MixedTree { usual, other, files: files.clone() };
        let is_there = |session: &Session, path: &String| session.files.binary_search(path).is_ok();
        let mut paths: Vec<String> = base.files.iter().filter(|path| !files.contains(*path)).cloned().collect();
        paths.extend(files.iter().filter(|path| is_there(head, path)).cloned());
        paths.sort();
        let changed: HashSet<String> = self.differing.difference(files).cloned().collect();
        let lists = changed.iter().filter(|path| !is_there(base, path) || !is_there(head, path));
        let lists = lists.map(|path| parent(path).to_owned()).collect();
        let differing = Differing { files: changed.clone(), lists };
        let changed = Arc::new(changed);
        let mut session = base.at(tree, paths);
        session.skipped.clone_from(&base.skipped);
        session.cache.looks = head.cache.looks.for_all_but(changed.clone());
        session.cache.terraform = head.cache.terraform.for_other(Some(differing));
        let is_same = |path: &str| !changed.contains(path);
        if session.sources.share(&head.sources, head.policy.files_of_settings, is_same) {
            session.cache.terraform.allow();
        }
        session
    }
}
