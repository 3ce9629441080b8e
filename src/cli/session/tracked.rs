//! What git tracks is part of a change and of what is deployed, whatever a list of ignored files or the name of a folder
//! would leave out of a walk: whoever writes a change writes those too.

use std::path::Path;

use super::discover;
use super::place::{self, Place};
use crate::cli::Failure;
use crate::cli::world::file_tree::below;
use crate::cli::world::{git, git_index};
use crate::source::named;

/// Files of the kinds that are read which git tracks, which are there, and which are not among those that were found.
pub(super) fn left_out(repository: &Path, found: &[String]) -> Result<Vec<String>, Failure> {
    let Some(listed) = git::answer(repository, &["ls-files", "-z", "--cached"])? else {
        return Err(Failure::new("git does not list the files that it tracks"));
    };
    let names = listed.split(|byte| *byte == 0).map(|name| named(name).into_owned());
    Ok(missing(repository, names, found))
}

/// The same of the repositories of what was named, as git's own list has it and without starting git, by paths of the tree;
/// `found` is sorted. Where the list is of a form that is not read, a walk has to do.
pub(super) fn not_found(place: &Place, found: &[String]) -> Vec<String> {
    let reads_all = place.named.iter().any(|path| path.is_file());
    let is_wanted = |path: &Path| reads_all || place.named.iter().any(|named| path.starts_with(named));
    let repositories = place.allowed.iter().filter(|it| place::repository(it) == Some(it));
    let of_repository = |repository: &std::path::PathBuf| {
        let above = place.in_tree(repository)?;
        let in_tree = |path: String| if above.is_empty() { path } else { format!("{above}/{path}") };
        let tracked = git_index::tracked(repository)?.into_iter().map(|it| in_tree(it.path));
        let mut files = missing(&place.root, tracked, found);
        files.retain(|file| is_wanted(&below(&place.root, file)));
        Some(files)
    };
    repositories.filter_map(of_repository).flatten().collect()
}

/// Those of some files that may be read, are there, and were not found.
fn missing(root: &Path, files: impl Iterator<Item = String>, found: &[String]) -> Vec<String> {
    let is_missing = |file: &String| {
        discover::is_candidate(Path::new(file)) && found.binary_search(file).is_err() && below(root, file).is_file()
    };
    let mut files: Vec<String> = files.filter(is_missing).collect();
    // A conflict has a file three times.
    files.dedup();
    files
}
