//! Whether an object that names others means one of them: names repeat in a tree that holds many independent things.

use std::sync::Arc;

use crate::source::{is_below, parent};

/// Why an object in one file speaks of one in another, if it does: one stands in a folder around the other, or nothing else in
/// the tree has that name.
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

/// All paths stand in one folder.
pub(super) fn is_one_folder<'p>(paths: impl IntoIterator<Item = &'p str>) -> bool {
    let mut folders = paths.into_iter().map(parent);
    let first = folders.next();
    folders.all(|folder| Some(folder) == first)
}
