//! Finds files that a change moves to another path.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::change::{FileRole, chart_around};
use crate::compare::state::{ComparedStates, TreeState};
use crate::inventory::{Unjudged, UnjudgedStatus};
use crate::source::{file_name, is_below, is_example, parent};

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

/// Returns the earlier paths of files for readers that moved with equal content. A file that moves into a folder, a
/// chart or out of a folder of unused files may start to matter there, so only new folders count.
fn unchanged(states: &ComparedStates) -> BTreeMap<String, String> {
    const LARGEST: usize = 1 << 20;
    const MOST_FILES: usize = 1000;
    let (base, head): (BTreeSet<&String>, BTreeSet<&String>) =
        (states.base.files.iter().collect(), states.head.files.iter().collect());
    let is_data = |path: &&String| FileRole::of(path) == FileRole::Read && !path.split('/').any(is_example);
    let touched = || states.touched.files.iter().filter(is_data);
    let new: Vec<&String> =
        touched().filter(|path| head.contains(path) && !base.contains(path)).take(MOST_FILES).collect();
    if new.is_empty() {
        return BTreeMap::new();
    }
    let read = |state: &TreeState, path: &str| state.sources.tree().read(path).ok().filter(|it| it.len() < LARGEST);
    let hash = |bytes: &[u8]| crate::decide::digest(&[String::from_utf8_lossy(bytes).into_owned()]);
    let gone = touched().filter(|path| base.contains(path) && !head.contains(path)).take(MOST_FILES);
    let mut by_content: HashMap<String, Vec<&String>> = HashMap::new();
    for path in gone {
        if let Some(bytes) = read(states.base, path) {
            by_content.entry(hash(&bytes)).or_default().push(path);
        }
    }
    let mut moved = BTreeMap::new();
    for path in new {
        let Some(bytes) = read(states.head, path) else { continue };
        let Some(gone) = by_content.get_mut(&hash(&bytes)) else { continue };
        let is_from =
            |from: &&String| only_moves(from, path, states) && read(states.base, from).is_some_and(|was| was == bytes);
        if let Some(at) = gone.iter().position(is_from) {
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
    let read = |state: &TreeState, path: &str| {
        state
            .sources
            .tree()
            .read(path)
            .ok()
            .filter(|it| it.len() < LARGEST)
            .map(|it| String::from_utf8_lossy(&it).into_owned())
    };
    let is_code = |path: &&String| {
        matches!(FileRole::of(path), FileRole::Script | FileRole::Code) && !path.split('/').any(is_example)
    };
    let (base, head): (BTreeSet<&String>, BTreeSet<&String>) =
        (states.base.files.iter().collect(), states.head.files.iter().collect());
    let touched = || states.touched.files.iter().filter(is_code);
    let new: Vec<&String> =
        touched().filter(|path| head.contains(path) && !base.contains(path)).take(MOST_FILES).collect();
    let gone = touched().filter(|path| base.contains(path) && !head.contains(path)).take(MOST_FILES);
    let mut gone: Vec<(&String, String)> = match new.is_empty() {
        true => Vec::new(),
        false => gone.filter_map(|path| Some((path, read(states.base, path)?))).collect(),
    };
    let mut moved = BTreeMap::new();
    for path in new {
        if gone.is_empty() {
            break;
        }
        let Some(is) = read(states.head, path) else { continue };
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
