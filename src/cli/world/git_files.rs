//! Where git keeps what belongs to a work tree. Its files are looked at before anything opens them: a pipe or a device in the
//! place of one would hold whoever does, git itself among them.

use std::fs;
use std::path::{Path, PathBuf};

use super::file_tree::read_limited;
use super::serving;

/// A path and a word before it.
const LONGEST_POINTER_BYTES: u64 = 1 << 14;
/// As long as the lists of ignored files of whole organizations.
const LONGEST_LIST_BYTES: u64 = 1 << 20;

/// What git keeps for one work tree, and what it keeps for all of a repository.
const OF_WORK_TREE: [&str; 4] = ["HEAD", "index", "commondir", "gitdir"];
const OF_ALL: [&str; 7] =
    ["config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts", "objects/info/alternates"];

/// The directory of git's files for a work tree; `.git` may be a file that names it.
pub(in crate::cli) fn directory(work_tree: &Path) -> Option<PathBuf> {
    let git = work_tree.join(".git");
    if git.is_dir() { Some(git) } else { Some(work_tree.join(pointer(&git)?.strip_prefix("gitdir:")?.trim())) }
}

/// Whether objects are called by longer digests than usual.
pub(in crate::cli) fn has_long_ids(work_tree: &Path) -> bool {
    let config = common(work_tree).and_then(|it| read_limited(&it.join("config"), LONGEST_LIST_BYTES).ok());
    config.is_some_and(|text| memchr::memmem::find(&text.to_ascii_lowercase(), b"sha256").is_some())
}

/// The attributes of files that stand in no file of the tree.
pub(in crate::cli) fn own_attributes(work_tree: &Path) -> Vec<u8> {
    let text = common(work_tree).and_then(|it| read_limited(&it.join("info/attributes"), LONGEST_LIST_BYTES).ok());
    text.unwrap_or_default()
}

/// Where the files of all work trees of a repository are.
fn common(work_tree: &Path) -> Option<PathBuf> {
    let own = directory(work_tree)?;
    Some(pointer(&own.join("commondir")).map_or_else(|| own.clone(), |it| own.join(it.trim())))
}

/// The first of git's files that is none.
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

/// Whether the rules of a directory about what git ignores can be read: git reads no `.gitignore` that is none, and one that
/// never ends is a device.
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
