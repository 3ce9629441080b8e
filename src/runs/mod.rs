//! Runs: what somebody applies in one go.
//!
//! Front ends say which runs they found; here they are brought together, and it is decided which of them sums count and
//! which files of the tree none of them reads. Pure, over the tree; it knows no Terraform type and no Kubernetes kind.

mod counted;

pub use counted::RunOptions;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::inventory::{Counted, Inventory, RunId, settle};
use crate::source::parent;

/// Whether a path is among those that nobody deploys.
pub fn is_excluded(path: &str, options: &RunOptions) -> bool {
    options.exclude.iter().any(|pattern| counted::covers(pattern, path))
}

/// Whether it lies where a program keeps copies.
pub fn is_copy(path: &str) -> bool {
    counted::is_copy(path)
}

/// Settles the runs of an inventory, and tells each resource what its run counts as.
pub fn complete(inventory: &mut Inventory, options: &RunOptions) {
    settle(&mut inventory.runs);
    let places: Vec<Arc<str>> = inventory.runs.iter().map(|run| run.folder.clone()).collect();
    let folders = counted::Folders::of(places.iter().map(|it| &**it));
    let files: HashSet<&str> = options.files.iter().map(String::as_str).collect();
    for run in &mut inventory.runs {
        if run.counted == Counted::Unlisted && run.inputs.iter().any(|input| files.contains(&**input)) {
            run.counted = Counted::Deployed;
        }
        if run.counted == Counted::Deployed {
            run.counted = counted::by_place(&run.folder, &folders, options);
        }
    }
    let is_example = |path: &str| counted::by_place(parent(path), &folders, options) == Counted::Example;
    inventory.foreign.iter_mut().for_each(|it| it.is_example = is_example(&it.path));
    inventory.skipped.iter_mut().for_each(|it| it.is_example = is_example(&it.path));
    let apart: HashMap<&RunId, Counted> =
        inventory.runs.iter().filter(|it| it.counted != Counted::Deployed).map(|it| (&it.id, it.counted)).collect();
    if apart.is_empty() {
        return;
    }
    for resource in &mut inventory.resources {
        if let Some(counted) = resource.run.as_ref().and_then(|run| apart.get(run)) {
            resource.counted = *counted;
        }
    }
}
