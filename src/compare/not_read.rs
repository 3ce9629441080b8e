//! Lists the changed files that no reader understood. The list fails no comparison: signs of accelerators in such a
//! file do.

use std::collections::{BTreeSet, HashSet};

use super::state::{Touched, TreeState};
use super::unexplained::{chart_around, is_harmless};
use crate::analysis::Analysis;
use crate::front_ends::files;
use crate::inventory::{Resource, RunKind, UnjudgedStatus};
use crate::kubernetes;

/// Returns the paths of the changed files that were not read, sorted. Files that the report names as not evaluated are
/// left out.
pub(crate) fn not_read(
    (base, before): (&TreeState, &Analysis),
    (head, after): (&TreeState, &Analysis),
    touched: &Touched,
) -> BTreeSet<String> {
    let changed = touched.files.iter().filter(|path| !is_harmless(path));
    let changed = changed.filter(|path| base.sources.tree().read(path) != head.sources.tree().read(path));
    let (earlier, later) = (ReadFiles::of(base, before), ReadFiles::of(head, after));
    let open = after.inventory.unjudged.iter().filter(|it| it.standing != UnjudgedStatus::AsBefore);
    let named: HashSet<&str> = open.map(|it| it.path.as_str()).collect();
    let changed = changed.filter(|path| !named.contains(path.as_str()));
    changed.filter(|path| !earlier.has(path) || !later.has(path)).cloned().collect()
}

/// The files of one state that readers understood.
struct ReadFiles<'s> {
    state: &'s TreeState<'s>,
    used: HashSet<String>,
}

impl<'s> ReadFiles<'s> {
    fn of(state: &'s TreeState<'s>, analysis: &Analysis) -> Self {
        let inventory = &analysis.inventory;
        let places = inventory.resources.iter().flat_map(Resource::places).map(|span| state.sources.path_of(span));
        // A directory of manifests contains every file that looks like one.
        let runs = inventory.runs.iter().filter(|run| run.kind != RunKind::Manifests);
        let inputs = runs.flat_map(|run| run.inputs.iter().map(ToString::to_string));
        ReadFiles { state, used: places.chain(inputs).chain(analysis.plans.iter().cloned()).collect() }
    }

    /// Returns true if the file was read, or if this state does not have it.
    fn has(&self, path: &str) -> bool {
        // Any JSON file may be a plan by its name.
        let is_terraform = files::is_terraform(path) && (!path.ends_with(".json") || path.contains(".tf"));
        if is_terraform || self.used.contains(path) {
            return true;
        }
        let Ok(bytes) = self.state.sources.tree().read(path) else { return true };
        if self.state.sources.has(path) && chart_around(self.state, path).is_some() {
            return true;
        }
        kubernetes::knows_all_objects(&String::from_utf8_lossy(&bytes))
    }
}
