//! Detects changed files on a disk by their size and time.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::SystemTime;

use crate::cli::io::file_tree::below;
use crate::source::{each, parent};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stamp {
    Nothing,
    File { bytes: u64, changed: Option<SystemTime> },
    Directory { digest_of_names: u64 },
}

#[derive(Debug, Default)]
pub(super) struct Stamps(HashMap<String, Stamp>);

impl Stamps {
    pub(super) fn of(root: &Path, paths: impl Iterator<Item = String>) -> Stamps {
        let mut stamps = Stamps::default();
        stamps.add(root, paths.collect());
        stamps
    }

    /// Adds files. Known files keep their stamps.
    pub(super) fn add(&mut self, root: &Path, paths: Vec<String>) {
        let directories: HashSet<String> = paths.iter().map(|path| parent(path).to_owned()).collect();
        let all = paths.into_iter().chain(directories);
        let new: Vec<String> = all.filter(|path| !self.0.contains_key(path)).collect();
        self.0.extend(each(new, |path| {
            let stamp = stamp(root, &path);
            (path, stamp)
        }));
    }

    /// Returns the changed files, and whether a directory changed. Then it updates the stamps.
    pub(super) fn changed(&mut self, root: &Path) -> (Vec<String>, bool) {
        let known: Vec<(&String, &mut Stamp)> = self.0.iter_mut().collect();
        let looked = each(known, |(path, known)| {
            let now = stamp(root, path);
            let differs = *known != now;
            let is_directory = [&*known, &now].into_iter().any(|it| matches!(it, Stamp::Directory { .. }));
            *known = now;
            differs.then(|| (path.clone(), is_directory))
        });
        let (directories, files): (Vec<_>, Vec<_>) = looked.into_iter().flatten().partition(|it| it.1);
        (files.into_iter().map(|it| it.0).collect(), !directories.is_empty())
    }
}

fn stamp(root: &Path, path: &str) -> Stamp {
    let place = below(root, path);
    match fs::metadata(&place) {
        // The time of a directory also changes if a file in it is replaced.
        Ok(found) if found.is_dir() => Stamp::Directory { digest_of_names: digest_of_names(&place) },
        Ok(found) => Stamp::File { bytes: found.len(), changed: found.modified().ok() },
        Err(_) => Stamp::Nothing,
    }
}

fn digest_of_names(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    let mut digest = DefaultHasher::new();
    names.hash(&mut digest);
    digest.finish()
}
