//! Adds tracked files to those found on disk. Tracked files are part of a change and of a deployment, even if
//! .gitignore or a folder's name excludes them from a walk. The author of a change could write these lists, too.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cli::Failure;
use crate::cli::io::file_tree::below;
use crate::cli::io::place::{self, WorkingTree};
use crate::cli::io::{git_index, git_program};
use crate::front_ends::files;
use crate::runs::is_copy;
use crate::source::{named, parent};

/// Returns tracked files of supported kinds that exist and were not found.
pub(super) fn left_out(repository: &Path, found: &[String]) -> Result<Vec<String>, Failure> {
    let Some(listed) = git_program::answer(repository, &["ls-files", "-z", "--cached"])? else {
        return Err(Failure::new("git cannot list the tracked files"));
    };
    let names = listed.split(|byte| *byte == 0).map(|name| named(name).into_owned());
    Ok(missing(repository, names, found))
}

/// Returns the tracked files of the named repositories that were not found, from git's index and without starting git.
/// `found` is sorted. If gpulint cannot read the index, it returns none, and only the walk finds files.
pub(super) fn not_found(place: &WorkingTree, found: &[String]) -> Vec<String> {
    let reads_all = place.named.iter().any(|path| path.is_file());
    let repositories = place.allowed.iter().filter(|it| place::repository(it) == Some(it));
    let of_repository = |repository: &PathBuf| {
        let above = place.in_tree(repository)?;
        let in_tree = |path: String| if above.is_empty() { path } else { format!("{above}/{path}") };
        let inside = place.named.iter().filter_map(|named| Some(named.strip_prefix(repository).ok()?.as_os_str()));
        let wanted: Vec<&[u8]> = inside.map(OsStr::as_encoded_bytes).collect();
        let is_wanted = |path: &[u8]| {
            let is_below = |outer: &&[u8]| {
                outer.is_empty() || path.strip_prefix(*outer).is_some_and(|rest| rest.first() == Some(&b'/'))
            };
            reads_all || wanted.iter().any(is_below)
        };
        let named: Vec<String> = place.named.iter().filter_map(|it| place.in_tree(it)).collect();
        // Copies of modules and units are read at their origin, unless the user names the copy.
        let is_cached = |file: &String| is_copy(parent(file)) && !named.iter().any(|it| is_copy(it));
        let tracked = git_index::tracked_names(repository, is_wanted)?.into_iter().map(in_tree);
        Some(missing(&place.root, tracked.filter(|file| !is_cached(file)), found))
    };
    repositories.filter_map(of_repository).flatten().collect()
}

/// Returns the files that can be read, exist, and were not found.
fn missing(root: &Path, files: impl Iterator<Item = String>, found: &[String]) -> Vec<String> {
    let is_missing = |file: &String| {
        files::is_candidate(Path::new(file)) && found.binary_search(file).is_err() && below(root, file).is_file()
    };
    let mut files: Vec<String> = files.filter(is_missing).collect();
    // During a merge conflict, the index lists a file three times.
    files.dedup();
    files
}
