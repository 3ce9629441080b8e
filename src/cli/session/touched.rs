//! Finds every file of any kind that can differ between the two states of a change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Session, discover};
use crate::cli::Failure;
use crate::cli::io::file_tree::below;
use crate::cli::io::git::{GitTree, TreeEntries};
use crate::cli::io::place::names_of;
use crate::compare::Touched;

/// Compares a commit with the work tree or the index.
pub(super) fn since(
    base: &GitTree,
    repository: &Path,
    index: Option<&TreeEntries>,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Touched, Failure> {
    let same = base.same_files();
    let is_staged = index.is_some();
    let listed = match (index, base.tracked()) {
        (None, None) => Some(TreeEntries::of_index(repository)?),
        _ => None,
    };
    let now: BTreeMap<&str, &str> = match index.or(listed.as_ref()) {
        Some(staged) => staged.ids().collect(),
        None => base.tracked().into_iter().flatten().collect(),
    };
    let submodules: BTreeSet<String> = base.submodules().into_iter().collect();
    let is_other = |path: &str| base.id(path) != now.get(path).copied();
    let may_differ = |path: &&str| is_wanted(path) && !submodules.contains(*path) && !same.contains(*path);
    // Staged files have the content of their git objects.
    let differs = |path: &&str| !is_staged || is_other(path);
    let added = now.keys().copied().filter(|path| base.id(path).is_none());
    let all = base.ids().map(|(path, _)| path).chain(added);
    let files = all.filter(may_differ).filter(differs).map(str::to_owned).collect();
    let submodules = submodules.into_iter().filter(|path| is_wanted(path) && is_other(path)).collect();
    Ok(Touched { files, submodules })
}

/// Compares two directories.
pub(super) fn between(head: &Session, there: &Path, in_tree: impl Fn(&Path) -> Option<String>) -> Touched {
    let directories = head.scope.named.iter().map(|it| below(&head.scope.root, it));
    let here = directories.filter(|it| it.is_dir()).flat_map(|it| discover::every_file(&it));
    let here = here.filter_map(|path| Some(names_of(path.strip_prefix(&head.scope.root).ok()?)));
    let files = here.chain(discover::every_file(there).iter().filter_map(|path| in_tree(path))).collect();
    Touched { files, submodules: BTreeSet::new() }
}
