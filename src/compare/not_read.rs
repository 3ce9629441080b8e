//! Lists the changed files that no reader opened. The list fails no comparison: signs of accelerators in such a file do.

use std::collections::BTreeSet;

use super::state::{Touched, TreeState};
use super::unexplained::is_harmless;
use crate::front_ends::files;
use crate::kubernetes;

/// Returns the paths of the changed files that were not read, sorted.
pub(crate) fn not_read(base: &TreeState, head: &TreeState, touched: &Touched) -> BTreeSet<String> {
    let changed = touched.files.iter().filter(|path| !is_harmless(path) && !files::is_terraform(path));
    changed.filter(|path| !was_read(base, head, path)).cloned().collect()
}

/// Returns true if a reader opened the file in the states that have it, or if the file did not change.
fn was_read(base: &TreeState, head: &TreeState, path: &str) -> bool {
    let (was, is) = (base.sources.tree().read(path), head.sources.tree().read(path));
    if was == is {
        return true;
    }
    [(base, was), (head, is)].into_iter().all(|(state, bytes)| {
        let knows = |bytes: Vec<u8>| kubernetes::knows_all_objects(&String::from_utf8_lossy(&bytes));
        state.sources.has(path) || bytes.is_err() || bytes.is_ok_and(knows)
    })
}
