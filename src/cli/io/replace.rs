//! Replaces a file completely or not at all, and never through a link that leads out of the repository.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use crate::cli::io::{abandoned, place};

/// Replaces the content of a file. It writes a temporary file, syncs it to the disk and renames it, because a
/// crash must not lose the content.
pub(in crate::cli) fn replace(path: &Path, text: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let Some(name) = path.file_name() else { return fs::write(path, text) };
    tidy(path, name);
    let beside = path.with_file_name(hidden(name, &std::process::id().to_string()));
    let written = write_through(&beside, text)
        .and_then(|()| permissions.map_or(Ok(()), |it| fs::set_permissions(&beside, it)))
        .and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Writes a new file and returns when its bytes are on the disk. It never writes through an existing file or link.
fn write_through(path: &Path, text: &[u8]) -> io::Result<()> {
    drop(fs::remove_file(path));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Returns the name of a temporary file, such as `.report.json.4711`.
fn hidden(name: &OsStr, end: &str) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    hidden.push(end);
    hidden
}

/// Deletes temporary files of runs that were killed while writing this file.
fn tidy(path: &Path, name: &OsStr) {
    let start = hidden(name, "");
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    abandoned::sweep(directory, |found| abandoned::digits(found.strip_prefix(start.as_encoded_bytes())?));
}

/// Returns the target of a link that leads out of the repository, or to git's own files: the author of a change
/// must not choose other files to write. Each link in the path is checked against the repository that contains it.
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
        // The last link can have a target that does not exist yet.
        let target = if parts.peek().is_none() { real.to_owned() } else { next.canonicalize().ok()? };
        if place::repository(&at).is_some_and(|repository| !is_among_files(&target, repository)) {
            return Some(real.to_owned());
        }
        at = target;
    }
    None
}

/// Whether a file is in a repository, and is not one of git's own files.
fn is_among_files(path: &Path, repository: &Path) -> bool {
    let is_of_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    path.strip_prefix(repository).is_ok_and(|inside| !inside.components().any(is_of_git))
}
