//! Deployments: what one command applies together.
//!
//! The front ends find deployments. This module combines them, and decides which of them count in the total and which
//! files no deployment reads. It is pure, and knows no Terraform type and no Kubernetes kind.

mod counted;

pub use counted::RunOptions;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::inventory::{CountedAs, Inventory, RunId, order_and_merge_runs};
use crate::source::parent;

/// Returns true if a path is excluded by the settings.
pub fn is_excluded(path: &str, options: &RunOptions) -> bool {
    options.exclude.iter().any(|pattern| counted::covers(pattern, path))
}

/// Returns true if a path is in a directory of copies.
pub fn is_copy(path: &str) -> bool {
    counted::is_copy(path)
}

/// Completes the deployments of an inventory, and sets for each resource how its deployment counts.
pub fn complete(inventory: &mut Inventory, options: &RunOptions) {
    order_and_merge_runs(&mut inventory.runs);
    let places: Vec<Arc<str>> = inventory.runs.iter().map(|run| run.folder.clone()).collect();
    let folders = counted::Folders::of(places.iter().map(|it| &**it));
    let files: HashSet<&str> = options.files.iter().map(String::as_str).collect();
    for run in &mut inventory.runs {
        if run.counted == CountedAs::Unlisted && run.inputs.iter().any(|input| files.contains(&**input)) {
            run.counted = CountedAs::Deployed;
        }
        if run.counted == CountedAs::Deployed {
            run.counted = counted::by_place(&run.folder, &folders, options);
        }
    }
    let is_example = |path: &str| counted::by_place(parent(path), &folders, options) == CountedAs::Example;
    inventory.foreign.iter_mut().for_each(|it| it.is_example = is_example(&it.path));
    inventory.skipped.iter_mut().for_each(|it| it.is_example = is_example(&it.path));
    let apart: HashMap<&RunId, CountedAs> =
        inventory.runs.iter().filter(|it| it.counted != CountedAs::Deployed).map(|it| (&it.id, it.counted)).collect();
    if apart.is_empty() {
        return;
    }
    for resource in &mut inventory.resources {
        if let Some(counted) = resource.run.as_ref().and_then(|run| apart.get(run)) {
            resource.counted = *counted;
        }
    }
}
