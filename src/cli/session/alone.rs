//! Applies the files of a change to the earlier state one by one, so that no file can hide the growth of another.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use ring::digest::{SHA256, digest};

use super::Session;
use crate::Analysis;
use crate::compare::{HiddenGrowth, Touched, hidden_growth};
use crate::front_ends::files;
use crate::inventory::Unjudged;
use crate::source::{MixedTree, Tree, around, file_name, parent};

/// The number of changed files up to which each is applied alone.
const FEW_FILES: usize = 6;

/// The number of changed files above which the files of a directory are one.
const MANY_FILES: usize = 256;

/// The number of folders above a file in which its chart is searched.
const MOST_FOLDERS: usize = 8;

/// The maximum number of states that the search for one file analyzes.
const MOST_TRIES: usize = 16;

/// The changed files that may affect cost. Each pair of them is separated: one state has the first without the second,
/// and another state has the second without the first.
pub(in crate::cli) struct SeparateFiles<'s> {
    base: &'s Session,
    head: &'s Session,
    /// All paths that differ between both states.
    differing: BTreeSet<String>,
    /// The links among the files that the later state read.
    links: Vec<String>,
    /// The files, or the files of each directory if there are too many.
    parts: Vec<BTreeSet<String>>,
    files: usize,
}

/// Returns true if several changed files may affect cost, so that states besides both ends are analyzed.
pub(in crate::cli) fn may_have_separate_files(touched: &Touched) -> bool {
    touched.files.iter().filter(|path| files::is_candidate(Path::new(path))).nth(1).is_some()
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
        let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in files {
            let part = if count > MANY_FILES { parent(path).to_owned() } else { deployed_together(base, head, path) };
            parts.entry(part).or_default().insert(path.clone());
        }
        let mut links = head.sources.asked();
        links.retain(|path| head.sources.real_path(path).is_some_and(|real| real != *path));
        let parts: Vec<_> =
            with_moves(parts.into_values().collect(), base, head).into_iter().take(MANY_FILES).collect();
        (parts.len() > 1).then_some(SeparateFiles { base, head, differing, links, parts, files: count })
    }

    /// Returns a note if not every pair of files was separated.
    pub(in crate::cli) fn limit(&self) -> Option<String> {
        (self.files > MANY_FILES).then(|| {
            let directories = self.parts.len();
            format!(
                "{} changed files can affect cost: gpulint compared {directories} directories, not each file",
                self.files
            )
        })
    }

    /// Returns an entry for each file whose growth another file hides.
    pub(in crate::cli) fn hidden(&self, before: &Analysis, after: &Analysis) -> Vec<Unjudged> {
        let mut entries: BTreeMap<String, Unjudged> = BTreeMap::new();
        for applied in separating_groups(&self.parts) {
            let Some(growth) = self.growth_with(&applied, before, after) else { continue };
            if entries.contains_key(&growth.name) {
                continue;
            }
            let shows = |files: &BTreeSet<String>| {
                self.growth_with(files, before, after).is_some_and(|it| it.name == growth.name)
            };
            let growing = self.parts.iter().filter(|it| it.is_subset(&applied)).take(MOST_TRIES).find(|it| shows(it));
            let growing = growing.unwrap_or(&applied);
            let growing = growing.get(&growth.file).or(growing.first()).map_or("", String::as_str);
            let mut others = self.parts.iter().filter(|it| it.is_disjoint(&applied)).take(MOST_TRIES);
            let without = |part: &&BTreeSet<String>| shows(&self.differing.difference(part).cloned().collect());
            let hiding = others.find(without).into_iter().flatten();
            let hiding: Vec<String> = hiding.map(|path| self.head.scope.paths.show(path)).collect();
            let amount = |money| self.head.settings.pricing.currency.amount(money);
            let entry = growth.entry(growing, &hiding, amount);
            entries.insert(growth.name, entry);
        }
        entries.into_values().collect()
    }

    /// Returns the growth that only these files cause and the later state does not have.
    fn growth_with(&self, files: &BTreeSet<String>, before: &Analysis, after: &Analysis) -> Option<HiddenGrowth> {
        let session = self.state_with(files);
        let alone = session.analyze_resources();
        hidden_growth(before.side(&self.base.sources), alone.side(&session.sources), after.side(&self.head.sources))
    }

    /// Returns the earlier state with these files as they are later.
    fn state_with(&self, files: &BTreeSet<String>) -> Session {
        let (base, head) = (self.base, self.head);
        let (usual, other) = (base.sources.shared_tree(), head.sources.shared_tree());
        let tree = MixedTree { usual, other, files: files.clone() };
        let mut paths: Vec<String> = base.files.iter().filter(|path| !files.contains(*path)).cloned().collect();
        paths.extend(files.iter().filter(|path| has_file(head, path)).cloned());
        paths.sort();
        let mut changed: HashSet<String> = self.differing.difference(files).cloned().collect();
        let of_link = |path: &&String| head.sources.real_path(path).is_some_and(|real| changed.contains(&real));
        let links: Vec<String> = self.links.iter().filter(of_link).cloned().collect();
        changed.extend(links);
        let mut session = base.at(tree, paths);
        session.skipped.clone_from(&base.skipped);
        session.settings.rules = Arc::default();
        session.reuse(head, changed, |path| has_file(base, path) && has_file(head, path));
        session
    }
}

/// Returns what a tool always deploys together with a file: the Terraform files of a directory with the variable files
/// that Terraform reads by itself, or a chart with its own values. Other files are alone.
fn deployed_together(base: &Session, head: &Session, path: &str) -> String {
    let (directory, name) = (parent(path), file_name(path));
    let is_read_always = name.starts_with("terraform.tfvars") || name.contains(".auto.tfvars");
    if name.ends_with(".tf") || name.ends_with(".tf.json") || is_read_always {
        return format!("{directory}/*.tf");
    }
    // A new `Chart.yaml` does not make a chart of manifests that were there.
    let is_there = |session: &Session, directory: &str, name: &str| {
        session.sources.tree().list(directory).iter().any(|it| name.is_empty() || it.name == name)
    };
    let has_chart = |directory: &&str| {
        is_there(head, directory, "Chart.yaml")
            && (is_there(base, directory, "Chart.yaml") || !is_there(base, directory, ""))
    };
    let chart = around(directory).take(MOST_FOLDERS).find(has_chart);
    let of_chart = chart.filter(|chart| {
        let within = path.strip_prefix(chart).unwrap_or(path).trim_start_matches('/');
        within.starts_with("templates/") || ["values.yaml", "Chart.yaml"].contains(&within)
    });
    of_chart.map_or_else(|| path.to_owned(), |chart| format!("{chart}/Chart.yaml"))
}

fn has_file(session: &Session, path: &str) -> bool {
    session.files.binary_search_by(|it| it.as_str().cmp(path)).is_ok()
}

/// Joins the parts with both places of each file that only moved: its text is the same, so neither place hides the other.
fn with_moves(parts: Vec<BTreeSet<String>>, base: &Session, head: &Session) -> Vec<BTreeSet<String>> {
    let only_in = |one: &Session, other: &Session, path: &str| {
        let is_only_here = has_file(one, path) && !has_file(other, path);
        let text = is_only_here.then(|| one.sources.tree().read(path).ok()).flatten()?;
        Some(digest(&SHA256, &text).as_ref().to_vec())
    };
    let placed = || parts.iter().enumerate().flat_map(|(part, paths)| paths.iter().map(move |path| (part, path)));
    let mut gone: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (part, path) in placed() {
        if let Some(text) = only_in(base, head, path) {
            gone.entry(text).or_default().push(part);
        }
    }
    // Each part leads to an earlier part that it is joined with, or to itself.
    let mut joined: Vec<usize> = (0..parts.len()).collect();
    for (to, path) in placed() {
        let from = only_in(head, base, path).and_then(|text| gone.get_mut(&text)?.pop());
        if let Some(from) = from {
            let (from, to) = (first_of(&joined, from), first_of(&joined, to));
            joined[from.max(to)] = from.min(to);
        }
    }
    let mut groups: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for (part, paths) in parts.into_iter().enumerate() {
        groups.entry(first_of(&joined, part)).or_default().extend(paths);
    }
    groups.into_values().collect()
}

/// Returns the first of the parts that are joined with a part.
fn first_of(joined: &[usize], part: usize) -> usize {
    std::iter::successors(Some(part), |part| joined.get(*part).copied().filter(|it| it != part)).last().unwrap_or(part)
}

/// Returns groups so that, for each two parts, one group has the first without the second. Few parts are each a group;
/// otherwise, a group has the parts whose number has a bit, or lacks it.
fn separating_groups(parts: &[BTreeSet<String>]) -> Vec<BTreeSet<String>> {
    if parts.len() <= FEW_FILES {
        return parts.to_vec();
    }
    let bits = usize::BITS - (parts.len() - 1).leading_zeros();
    let with = |bit: u32, wanted: bool| -> BTreeSet<String> {
        let has = |number: usize| (number >> bit & 1 == 1) == wanted;
        let chosen = parts.iter().enumerate().filter(|(number, _)| has(*number));
        chosen.flat_map(|(_, files)| files.iter().cloned()).collect()
    };
    (0..bits).flat_map(|bit| [with(bit, true), with(bit, false)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_files_is_separated_both_ways() {
        for count in [2, 6, 7, 8, 9, 50, 256] {
            let parts: Vec<BTreeSet<String>> = (0..count).map(|number| [number.to_string()].into()).collect();
            let groups = separating_groups(&parts);
            assert!(groups.len() <= 16, "{count}: {}", groups.len());
            for first in 0..count {
                for second in (0..count).filter(|second| *second != first) {
                    let separates =
                        |it: &BTreeSet<String>| it.contains(&first.to_string()) && !it.contains(&second.to_string());
                    assert!(groups.iter().any(separates), "{first} and {second} of {count}");
                }
            }
        }
    }
}
