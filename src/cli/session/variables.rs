//! The variable files of `--var-file`.

use std::path::{Path, PathBuf};

use crate::cli::Failure;
use crate::source::matches;

/// The variable files of `--var-file`.
#[derive(Debug, Default)]
pub(in crate::cli) struct VariableFiles {
    /// Files that apply together. Later files override earlier ones.
    pub(in crate::cli) together: Vec<PathBuf>,
    /// Files of a pattern. Each makes a deployment of its own.
    pub(in crate::cli) each: Vec<PathBuf>,
}

impl VariableFiles {
    /// Adds a file. A quoted pattern such as `'env/*.tfvars'` makes one deployment per matching file.
    pub(in crate::cli) fn from_arguments(named: &[PathBuf]) -> Result<VariableFiles, Failure> {
        let mut files = VariableFiles::default();
        for path in named {
            let pattern = path.file_name().and_then(|name| name.to_str()).filter(|name| name.contains('*'));
            match pattern.filter(|_| !path.exists()) {
                Some(pattern) => files.each.extend(matching(path, pattern)?),
                None => files.together.push(path.clone()),
            }
        }
        Ok(files)
    }

    pub(in crate::cli) fn all(&self) -> impl Iterator<Item = &Path> {
        self.together.iter().chain(&self.each).map(PathBuf::as_path)
    }
}

/// Returns the files of a directory whose names match, sorted.
fn matching(path: &Path, pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory)
        .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", directory.display())))?;
    let files = entries.flatten().map(|entry| entry.path());
    let fits = |file: &PathBuf| file.file_name().and_then(|it| it.to_str()).is_some_and(|it| matches(pattern, it));
    let mut found: Vec<PathBuf> = files.filter(|file| file.is_file() && fits(file)).collect();
    found.sort();
    if found.is_empty() {
        return Err(Failure::new(format!("no file matches `{}`", path.display())));
    }
    Ok(found)
}
