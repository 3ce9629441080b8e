//! The origin of a repository: which branches and tags it has, and commits that this clone lacks.

use std::path::Path;
use std::process::Output;

use super::git_log::is_shallow;
use super::git_program::{asking_origin, finish};
use crate::cli::Failure;

/// The program that the server starts, whatever the settings of the repository contain.
const SENDER: &str = "--upload-pack=git-upload-pack";

/// Fetches the last commits of a reference or a commit id. Returns whether the fetch succeeded. `FETCH_HEAD` is then
/// the newest of them, and no reference of the repository changes. A complete clone stays complete: a depth would cut
/// its history there, and with it the common ancestor of a pull request.
pub(in crate::cli) fn fetch(repository: &Path, what: &str, depth: u32) -> Result<bool, Failure> {
    let depth = format!("--depth={depth}");
    let depth = if is_shallow(repository)? { &[depth.as_str()][..] } else { &[] };
    let options = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--refmap=", SENDER];
    Ok(ask(repository, &[&options[..], depth, &["--", "origin", what]].concat())?.status.success())
}

/// Returns the references of origin with these names, or `None` if origin does not answer.
pub(in crate::cli) fn references(repository: &Path, names: &[&str]) -> Result<Option<Vec<String>>, Failure> {
    let listed = ask(repository, &[&["ls-remote", "--quiet", SENDER, "--", "origin"], names].concat())?;
    if !listed.status.success() {
        return Ok(None);
    }
    // Each line contains the id, a tab, and the name.
    let text = String::from_utf8_lossy(&listed.stdout);
    Ok(Some(text.lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect()))
}

fn ask(repository: &Path, arguments: &[&str]) -> Result<Output, Failure> {
    let mut command = asking_origin(repository)?;
    command.args(arguments);
    finish(command, arguments)
}
