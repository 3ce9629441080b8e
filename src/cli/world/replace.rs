//! A file is replaced as a whole or not at all, and never one that a link of the repository leads to outside of it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use crate::cli::world::{abandoned, place};

/// Gives a file these bytes. They are written beside it first, and are on the disk before the name is given to them: a
/// name must not lead to what a crash may still lose.
pub(in crate::cli) fn replace(path: &Path, text: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let Some(name) = path.file_name() else { return fs::write(path, text) };
    tidy(path, name);
    let beside = path.with_file_name(hidden(name, &std::process::id().to_string()));
    let written = write_through(&beside, text)
        .and_then(|()| permissions.map_or(Ok(()), |it| fs::set_permissions(&beside, it)))
        .and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Returns when the bytes are on the disk. What lies there already, a link perhaps, is not written through.
fn write_through(path: &Path, text: &[u8]) -> io::Result<()> {
    drop(fs::remove_file(path));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// `.report.json.4711`
fn hidden(name: &OsStr, end: &str) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    hidden.push(end);
    hidden
}

/// Takes away what runs left beside this file that were killed while they wrote.
fn tidy(path: &Path, name: &OsStr) {
    let start = hidden(name, "");
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    abandoned::sweep(directory, |found| abandoned::digits(found.strip_prefix(start.as_encoded_bytes())?));
}

/// Where a link of a repository leads that lies outside of it, or among git's own files: whoever can change the
/// repository must not choose what else a run writes. Each link on the way is judged by the repository that holds it.
pub(in crate::cli) fn leads_outside(given: &Path, real: &Path) -> Option<PathBuf> {
    let given = std::path::absolute(given).ok()?;
    let mut at = PathBuf::new();
    let mut parts = given.components().peekable();
    while let Some(part) = parts.next() {
        if part == Component::ParentDir {
            at.pop();
            continue;
        }
        let next = at.join(part);
        if !next.is_symlink() {
            at = next;
            continue;
        }
        // The last one may lead to what is not there yet.
        let target = if parts.peek().is_none() { real.to_owned() } else { next.canonicalize().ok()? };
        if place::repository(&at).is_some_and(|repository| !is_among_files(&target, repository)) {
            return Some(real.to_owned());
        }
        at = target;
    }
    None
}

/// A file that lies in a repository, and not among those of git.
fn is_among_files(path: &Path, repository: &Path) -> bool {
    let is_of_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    path.strip_prefix(repository).is_ok_and(|inside| !inside.components().any(is_of_git))
}
