//! Decides whether a reference between two objects is meant, because names repeat in a tree with several independent
//! projects.

use std::sync::Arc;

use crate::source::{is_below, parent};

/// Returns the evidence that an object in one file refers to an object in another file: one is in a folder above the
/// other, or no other object in the tree has the name. Returns `None` without evidence.
pub(super) fn why(from: &str, to: &str, is_only: bool) -> Option<Arc<str>> {
    let (from, to) = (parent(from), parent(to));
    let shown = |folder: &str| if folder.is_empty() { ".".to_owned() } else { folder.to_owned() };
    if from == to {
        return Some(format!("that object names it; both are in `{}`", shown(from)).into());
    }
    if is_below(to, from) {
        return Some(format!("an object in `{}`, a folder above, names it", shown(from)).into());
    }
    if is_below(from, to) {
        return Some(format!("an object in `{}`, a folder below, names it", shown(from)).into());
    }
    is_only.then(|| "that object names it, and no other object has this name".into())
}

/// Returns whether all paths are in one folder.
pub(super) fn is_one_folder<'p>(paths: impl IntoIterator<Item = &'p str>) -> bool {
    let mut folders = paths.into_iter().map(parent);
    let first = folders.next();
    folders.all(|folder| Some(folder) == first)
}
