//! Lists limits on accelerators that a change removes or raises.

use std::collections::BTreeMap;

use super::state::{Touched, TreeState};
use crate::kubernetes;

/// Returns a note for each limit that is gone or higher in the later state, whichever of the changed files has it.
pub(crate) fn removed_limits(base: &TreeState, head: &TreeState, touched: &Touched) -> Vec<String> {
    let is_manifest = |path: &&String| [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let files: Vec<&String> = touched.files.iter().filter(is_manifest).collect();
    let (before, after) = (limits(base, &files), limits(head, &files));
    let removed = before.iter().filter_map(|(name, (most, place))| match after.get(name) {
        None => Some(format!("{place}: the change removes a limit: {name} ({most})")),
        Some((now, place)) if now > most => {
            Some(format!("{place}: the change raises a limit: {name} ({most} → {now})"))
        }
        Some(_) => None,
    });
    removed.collect()
}

/// Returns the sum of each limit, with the first place (`path:line`) that sets it.
fn limits(state: &TreeState, files: &[&String]) -> BTreeMap<String, (f64, String)> {
    let mut found: BTreeMap<String, (f64, String)> = BTreeMap::new();
    for path in files {
        let Ok(file) = state.sources.open(path) else { continue };
        let text = state.sources.text(file);
        for (name, limit) in kubernetes::limits(file, &text) {
            let line = text.get(..limit.span.start as usize).map_or(0, |before| before.matches('\n').count()) + 1;
            let sum = found.entry(name).or_insert_with(|| (0.0, format!("{}:{line}", (state.show)(path))));
            sum.0 += limit.most;
        }
    }
    found
}
