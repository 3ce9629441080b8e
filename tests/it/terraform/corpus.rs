//! Real repositories, where `GPULINT_CORPUS` names a directory of checkouts: nothing panics, every valid file parses.

use std::path::{Path, PathBuf};
use std::time::Instant;

use gpulint::source::{Entry, ReadError, Sources, Tree};
use gpulint::terraform::{Options, read};

/// A directory on the disk; symbolic links are followed inside of it.
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

    fn list(&self, directory: &str) -> Vec<Entry> {
        let Ok(entries) = std::fs::read_dir(self.root.join(directory)) else { return Vec::new() };
        let mut entries: Vec<Entry> = entries
            .flatten()
            .map(|entry| Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_directory: entry.path().is_dir(),
            })
            .collect();
        entries.sort();
        entries
    }
}

/// Directories below `root` that hold Terraform files.
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

#[test]
fn real_repositories_are_read() {
    let Some(corpus) = std::env::var_os("GPULINT_CORPUS") else { return };
    let mut repositories: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    repositories.sort();
    for root in repositories {
        let root = root.canonicalize().unwrap();
        let paths = terraform_directories(&root);
        let started = Instant::now();
        let sources = Sources::new(DiskTree { root: root.clone() });
        let reading = read(&sources, &paths, &Options::default());
        let unreadable: Vec<_> = reading.inventory.diagnostics.iter().filter(|d| d.unreadable).collect();
        println!(
            "{} {} directories {} blocks {} diagnostics {} ms",
            root.file_name().unwrap().to_string_lossy(),
            paths.len(),
            reading.blocks.len(),
            reading.inventory.diagnostics.len(),
            started.elapsed().as_millis()
        );
        for skipped in &reading.inventory.skipped {
            println!("  skipped {}: {}", skipped.path, skipped.reason);
        }
        for diagnostic in unreadable {
            let at = diagnostic.span.map(|span| sources.locate(span));
            let place = at.map_or(String::new(), |at| format!("{}:{}:{}", at.path, at.line, at.column));
            println!("  {place} {}", diagnostic.message);
        }
    }
}
