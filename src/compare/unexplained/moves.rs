//! Finds files that a change moves to another path.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::change::{FileRole, chart_around};
use crate::compare::state::{ComparedStates, TreeState};
use crate::inventory::{Unjudged, UnjudgedStatus};
use crate::source::{file_name, is_below, is_example, parent, sha256};

/// Returns the earlier paths of moved files, by their new paths.
pub(super) fn of(states: &ComparedStates) -> BTreeMap<String, String> {
    let mut moved = programs(states);
    moved.extend(unchanged(states));
    moved
}

/// Marks gaps in moved files as unchanged: nothing but the path differs, and the whole chart around the file moved.
pub(super) fn keep(states: &ComparedStates, moved: &BTreeMap<String, String>, unjudged: &mut [Unjudged]) {
    let from: BTreeSet<&String> = moved.values().collect();
    let base = states.base;
    let earlier: BTreeSet<(&str, &str)> =
        states.before.inventory.unjudged.iter().map(|it| (it.path.as_str(), it.reason.as_str())).collect();
    let moves_whole = |was: &str| {
        let chart = chart_around(base, was);
        let is_left = |path: &&String| chart.is_some_and(|chart| is_below(path, chart)) && !from.contains(path);
        !base.files.iter().filter(|path| FileRole::of(path) != FileRole::Beside).any(|path| is_left(&path))
    };
    for it in unjudged.iter_mut().filter(|it| it.standing == UnjudgedStatus::Open) {
        let Some(was) = moved.get(&it.path).filter(|_| FileRole::of(&it.path) == FileRole::Read) else {
            continue;
        };
        if earlier.contains(&(was.as_str(), it.reason.replace(&it.path, was).as_str())) && moves_whole(was) {
            it.standing = UnjudgedStatus::AsBefore;
        }
    }
}

/// Folders whose files wait for a deployment or no longer have one.
const PARKED: [&str; 14] = [
    "archive",
    "archived",
    "disabled",
    "parked",
    "old",
    "backup",
    "draft",
    "drafts",
    "unused",
    "deprecated",
    "off",
    "inactive",
    "attic",
    "legacy",
];

/// The changed files of one kind that only one state has.
struct OneSidedFiles<'s> {
    new: Vec<&'s String>,
    gone: Vec<&'s String>,
}

impl<'s> OneSidedFiles<'s> {
    /// Returns at most `most` files of each state. Without a new file, no file moved.
    fn of(states: &'s ComparedStates, role: impl Fn(FileRole) -> bool, most: usize) -> Option<OneSidedFiles<'s>> {
        let (base, head): (BTreeSet<&String>, BTreeSet<&String>) =
            (states.base.files.iter().collect(), states.head.files.iter().collect());
        let is_kind = |path: &&String| role(FileRole::of(path)) && !path.split('/').any(is_example);
        let touched = || states.touched.files.iter().filter(is_kind);
        let only = |one: &BTreeSet<&String>, other: &BTreeSet<&String>| -> Vec<&'s String> {
            touched().filter(|path| one.contains(path) && !other.contains(path)).take(most).collect()
        };
        let new = only(&head, &base);
        (!new.is_empty()).then(|| OneSidedFiles { new, gone: only(&base, &head) })
    }
}

/// Returns the content of a file that is smaller than a limit.
fn read(state: &TreeState, path: &str, limit: usize) -> Option<Vec<u8>> {
    state.sources.tree().read(path).ok().filter(|it| it.len() < limit)
}

/// Returns the earlier paths of files for readers that moved with equal content. A file that moves into a folder, a
/// chart or out of a folder of unused files may start to matter there, so only new folders count.
fn unchanged(states: &ComparedStates) -> BTreeMap<String, String> {
    const LARGEST: usize = 1 << 20;
    const MOST_FILES: usize = 1000;
    let Some(files) = OneSidedFiles::of(states, |role| role == FileRole::Read, MOST_FILES) else {
        return BTreeMap::new();
    };
    let mut by_content: HashMap<Vec<u8>, Vec<&String>> = HashMap::new();
    for path in files.gone {
        if let Some(bytes) = read(states.base, path, LARGEST) {
            by_content.entry(sha256(&bytes)).or_default().push(path);
        }
    }
    let mut moved = BTreeMap::new();
    for path in files.new {
        let Some(bytes) = read(states.head, path, LARGEST) else { continue };
        let Some(gone) = by_content.get_mut(&sha256(&bytes)) else { continue };
        if let Some(at) = gone.iter().position(|from| only_moves(from, path, states)) {
            moved.insert(path.clone(), gone.swap_remove(at).clone());
        }
    }
    moved
}

/// Returns true if a file with equal content means the same at both paths.
fn only_moves(from: &str, to: &str, states: &ComparedStates) -> bool {
    let tree = states.base.sources.tree();
    let is_new_folder = parent(from) == parent(to) || tree.list(parent(to)).is_empty();
    let leaves = |parked: &&&str| from.split('/').any(|it| it.eq_ignore_ascii_case(parked)) && !to.contains(**parked);
    let is_of_old_chart =
        chart_around(states.head, to).is_some_and(|chart| tree.list(chart).iter().any(|it| it.name == "Chart.yaml"));
    let has_ending = ending(from) == ending(to);
    has_ending && is_new_folder && !is_of_old_chart && PARKED.iter().find(leaves).is_none()
}

/// Returns the earlier paths of scripts and programs that moved with most of their lines, by their new paths. A file that
/// was an example or a test before, or had another ending, starts to matter with its new path.
fn programs(states: &ComparedStates) -> BTreeMap<String, String> {
    const LARGEST: usize = 1 << 16;
    const MOST_FILES: usize = 50;
    let is_program = |role| matches!(role, FileRole::Script | FileRole::Code);
    let Some(files) = OneSidedFiles::of(states, is_program, MOST_FILES) else { return BTreeMap::new() };
    let text = |state: &TreeState, path: &str| {
        read(state, path, LARGEST).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let gone = files.gone.into_iter().filter_map(|path| Some((path, text(states.base, path)?)));
    let mut gone: Vec<(&String, String)> = gone.collect();
    let mut moved = BTreeMap::new();
    for path in files.new {
        if gone.is_empty() {
            break;
        }
        let Some(is) = text(states.head, path) else { continue };
        let is_from = |(it, was): &(&String, String)| ending(it) == ending(path) && is_mostly(was, &is);
        if let Some(at) = gone.iter().position(is_from) {
            moved.insert(path.clone(), gone.swap_remove(at).0.clone());
        }
    }
    moved
}

/// Returns the ending of a file name, or the whole name without one.
fn ending(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(_, ending)| ending)
}

/// Returns true if most lines of a file are also in another one.
fn is_mostly(was: &str, is: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
    };
    let (was, is) = (lines(was), lines(is));
    let known: BTreeSet<&String> = was.iter().collect();
    let kept = is.iter().filter(|line| known.contains(line)).count();
    !is.is_empty() && kept * 2 >= was.len().max(is.len())
}
