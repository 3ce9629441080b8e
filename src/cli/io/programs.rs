//! Finds programs to start: only in absolute directories of PATH, and never inside the checked repository.

use std::path::{Path, PathBuf};

use crate::cli::io::place;

/// Returns the first program with this name in PATH. Relative entries, such as `.`, are ignored because they depend on
/// the current directory. Programs in the repository, or linked into it, belong to its author and are ignored, too.
pub(in crate::cli) fn find(name: &str, repository: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let here = std::env::current_dir().ok()?;
    let around = |directory: &Path| place::repository(directory).unwrap_or(directory).canonicalize().ok();
    let own: Vec<PathBuf> =
        [place::repository(&here).and_then(around), around(repository)].into_iter().flatten().collect();
    let is_foreign = |program: &PathBuf| {
        let real = program.canonicalize().unwrap_or_else(|_| program.clone());
        !own.iter().any(|own| program.starts_with(own) || real.starts_with(own))
    };
    let candidates = std::env::split_paths(&path).filter(|it| it.is_absolute()).map(|it| it.join(&file));
    candidates.filter(|it| it.is_file()).find(is_foreign)
}
