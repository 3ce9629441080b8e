//! The limits of a server process: it reads nothing outside its folder, starts no program, and does
//! not end because one answer takes long. The limits apply to the whole process, so that no code path can miss them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Starts serving a folder. Its path must not contain links.
pub(in crate::cli) fn begin(folder: PathBuf) {
    // A process serves once.
    let _ = FOLDER.set(folder);
}

/// Returns the served folder, if this process is a server.
pub(in crate::cli) fn folder() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

/// Whether a path without links is in the served folder. Without a server, every path is.
pub(in crate::cli) fn holds(real: &Path) -> bool {
    folder().is_none_or(|folder| real.starts_with(folder))
}

/// Whether the target of a path is in the served folder, with links followed.
pub(in crate::cli) fn may_read(path: &Path) -> bool {
    folder().is_none() || path.canonicalize().is_ok_and(|real| holds(&real))
}
