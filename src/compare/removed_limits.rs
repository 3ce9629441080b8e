//! Lists limits on accelerators that a change removes or raises.

use std::collections::BTreeMap;

use super::state::{Touched, TreeState};
use crate::kubernetes;

/// Returns a note for each limit that is gone or higher in the later state, whichever of the changed files has it.
pub(crate) fn removed_limits(base: &TreeState, head: &TreeState, touched: &Touched) -> Vec<String> {
    let is_manifest = |path: &&String| [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let files: Vec<&String> = touched.files.iter().filter(is_manifest).collect();
    let (before, after) = (limits(base, &files), limits(head, &files));
    let removed = before.iter().filter_map(|(name, most)| match after.get(name) {
        None => Some(format!("the change removes a limit: {name} ({most})")),
        Some(now) if now > most => Some(format!("the change raises a limit: {name} ({most} → {now})")),
        Some(_) => None,
    });
    removed.collect()
}

fn limits(state: &TreeState, files: &[&String]) -> BTreeMap<String, f64> {
    let mut found: BTreeMap<String, f64> = BTreeMap::new();
    for path in files {
        let Ok(file) = state.sources.open(path) else { continue };
        for (name, most) in kubernetes::limits(file, &state.sources.text(file)) {
            *found.entry(name).or_default() += most;
        }
    }
    found
}
