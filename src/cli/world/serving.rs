//! A process that answers for one folder, to whoever asks: it reads nothing outside of that folder, starts no program, and does
//! not end because one answer takes long. This holds for the whole process, so that no path of the code can forget it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// From now on this process answers for a folder, whose path has no links.
pub(in crate::cli) fn begin(folder: PathBuf) {
    // A process serves once.
    let _ = FOLDER.set(folder);
}

/// The folder, where this process serves one.
pub(in crate::cli) fn folder() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

/// A path without links lies in it; everything does where nothing is served.
pub(in crate::cli) fn holds(real: &Path) -> bool {
    folder().is_none_or(|folder| real.starts_with(folder))
}

/// What stands at a path lies in it, wherever links lead.
pub(in crate::cli) fn may_read(path: &Path) -> bool {
    folder().is_none() || path.canonicalize().is_ok_and(|real| holds(&real))
}
