//! Lists limits that a change removes or relaxes: quotas, queues and pools of the files, and runs of gpulint.

use std::collections::BTreeMap;

use super::own_runs::changed_runs;
use super::state::{Touched, TreeState};
use crate::kubernetes::{self, ObjectLimit};
use crate::source::Span;

/// Returns a note for each limit that is gone or higher in the later state, whichever of the changed files has it.
/// `show` makes a place of a state readable: its path and line.
pub(crate) fn removed_limits(
    base: &TreeState,
    head: &TreeState,
    touched: &Touched,
    show: impl Fn(&TreeState, Span) -> String,
) -> Vec<String> {
    let mut notes = changed_runs(base, head, touched);
    let is_manifest = |path: &&String| [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let files: Vec<&String> = touched.files.iter().filter(is_manifest).collect();
    let (before, after) = (limits(base, &files), limits(head, &files));
    for (name, was) in &before {
        let is = after.get(name).map_or(&[][..], Vec::as_slice);
        // Equal names in several files are matched by size.
        for (place, limit) in was.iter().enumerate() {
            match is.get(place) {
                None if limit.is_quota || has_object(&after, name) => {
                    notes.push(format!("the change removes a limit: {name} ({}), {}", limit, show(base, limit.span)));
                }
                Some(now) if now.most > limit.most => {
                    notes.push(format!("the change raises a limit: {name} ({limit} → {now}), {}", show(head, now.span)))
                }
                _ => {}
            }
        }
    }
    for (name, is) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let set = is.iter().filter(|it| it.is_quota && it.most > 0.0);
        notes.extend(set.map(|it| format!("the change sets a limit: {name} ({it}), {}", show(head, it.span))));
    }
    notes
}

/// Returns true if the object of a limit still has limits.
fn has_object(limits: &BTreeMap<String, Vec<ObjectLimit>>, name: &str) -> bool {
    let object = name.split(": ").next().unwrap_or(name);
    limits.keys().any(|it| it.split(": ").next() == Some(object))
}

fn limits(state: &TreeState, files: &[&String]) -> BTreeMap<String, Vec<ObjectLimit>> {
    let mut found: BTreeMap<String, Vec<ObjectLimit>> = BTreeMap::new();
    for path in files {
        let Ok(file) = state.sources.open(path) else { continue };
        for (name, limit) in kubernetes::limits(file, &state.sources.text(file)) {
            found.entry(name).or_default().push(limit);
        }
    }
    found.values_mut().for_each(|limits| limits.sort_by(|a, b| a.most.total_cmp(&b.most)));
    found
}
