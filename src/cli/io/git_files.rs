//! Finds git's own files of a work tree. They are checked before they are opened: a pipe or a device in the
//! place of a file would block every reader, including git.

use std::fs;
use std::path::{Path, PathBuf};

use super::file_tree::read_limited;
use super::serving;

/// The longest pointer file: a path, and a word before it.
const LONGEST_POINTER_BYTES: u64 = 1 << 14;
/// The longest list of ignored files that is read. The lists of whole organizations are shorter.
const LONGEST_LIST_BYTES: u64 = 1 << 20;

/// The git files of one work tree, and those of the whole repository.
const OF_WORK_TREE: [&str; 4] = ["HEAD", "index", "commondir", "gitdir"];
const OF_ALL: [&str; 7] =
    ["config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts", "objects/info/alternates"];

/// Returns git's directory for a work tree. `.git` can be a file that names it.
pub(in crate::cli) fn directory(work_tree: &Path) -> Option<PathBuf> {
    let git = work_tree.join(".git");
    if git.is_dir() { Some(git) } else { Some(work_tree.join(pointer(&git)?.strip_prefix("gitdir:")?.trim())) }
}

/// Whether the repository uses SHA-256 object ids.
pub(in crate::cli) fn has_long_ids(work_tree: &Path) -> bool {
    let config = common(work_tree).and_then(|it| read_limited(&it.join("config"), LONGEST_LIST_BYTES).ok());
    config.is_some_and(|text| memchr::memmem::find(&text.to_ascii_lowercase(), b"sha256").is_some())
}

/// Returns the attributes files outside the tree.
pub(in crate::cli) fn own_attributes(work_tree: &Path) -> Vec<u8> {
    let text = common(work_tree).and_then(|it| read_limited(&it.join("info/attributes"), LONGEST_LIST_BYTES).ok());
    text.unwrap_or_default()
}

/// Returns the git directory that all work trees share.
fn common(work_tree: &Path) -> Option<PathBuf> {
    let own = directory(work_tree)?;
    Some(pointer(&own.join("commondir")).map_or_else(|| own.clone(), |it| own.join(it.trim())))
}

/// Returns the first of git's files that is not a regular file.
pub(in crate::cli) fn odd(work_tree: &Path) -> Option<PathBuf> {
    let git = work_tree.join(".git");
    if fs::metadata(&git).is_ok_and(|it| !it.is_dir() && !it.is_file()) {
        return Some(git);
    }
    let own = directory(work_tree)?;
    let find = |directory: &Path, names: &[&str]| names.iter().map(|it| directory.join(it)).find(|it| is_odd(it));
    find(&own, &OF_WORK_TREE).or_else(|| {
        let common = common(work_tree).unwrap_or_else(|| own.clone());
        find(&common, &OF_ALL)
    })
}

/// Whether gpulint cannot use the ignore rules of a directory: `.gitignore` is not a regular file or too long, or one
/// of git's own files is not a regular file.
pub(in crate::cli) fn has_odd_rules(directory: &Path) -> bool {
    let is_too_long = |it: fs::Metadata| !it.is_file() || it.len() > LONGEST_LIST_BYTES;
    let rules = directory.join(".gitignore");
    fs::metadata(&rules).is_ok_and(|it| is_too_long(it) || !serving::may_read(&rules))
        || (directory.join(".git").exists() && odd(directory).is_some())
}

fn pointer(path: &Path) -> Option<String> {
    let text = String::from_utf8(read_limited(path, LONGEST_POINTER_BYTES).ok()?).ok()?;
    text.lines().next().map(str::to_owned)
}

fn is_odd(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| !it.is_file())
}
