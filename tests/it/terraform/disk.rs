//! Reads directories on disk, for tests and benchmarks with real repositories.

use std::path::{Path, PathBuf};

use gpulint::source::{ReadError, Tree, TreeEntry};

/// A directory on disk. Symbolic links inside it are followed.
pub(super) struct DiskTree {
    pub(super) root: PathBuf,
}

impl Tree for DiskTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let full = self.root.join(path).canonicalize().map_err(|_| ReadError::Missing)?;
        if !full.starts_with(&self.root) {
            return Err(ReadError::Outside);
        }
        std::fs::read(full).map_err(|error| ReadError::Other(error.to_string()))
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let Ok(entries) = std::fs::read_dir(self.root.join(directory)) else { return Vec::new() };
        let mut entries: Vec<TreeEntry> = entries
            .flatten()
            .map(|entry| TreeEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_directory: entry.path().is_dir(),
            })
            .collect();
        entries.sort();
        entries
    }
}

/// Returns the directories below `root` that contain Terraform files.
pub(super) fn terraform_directories(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        let mut holds = false;
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if name != ".git" {
                    left.push(entry.path());
                }
            } else {
                holds |= name.ends_with(".tf") || name.ends_with(".tofu") || name.ends_with(".tf.json");
            }
        }
        if holds && let Ok(relative) = directory.strip_prefix(root) {
            found.push(relative.to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

/// Returns the Terraform files with text below `root`, without following links.
pub(super) fn terraform_files(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in terraform_directories(root) {
        let entries = std::fs::read_dir(root.join(directory)).into_iter().flatten().flatten();
        let files =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path());
        found.extend(files.filter(|path| path.extension().is_some_and(|end| end == "tf" || end == "tofu")));
    }
    found.sort();
    found
}
