//! Detects changed files on a disk: first by their size and times, then by their content.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::SystemTime;

use crate::cli::io::file_tree::below;
use crate::source::{each, parent};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stamp {
    Nothing,
    File { times: FileTimes, digest: Option<u64> },
    Directory { digest_of_names: u64 },
}

/// The size of a file, and the times of its last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileTimes {
    bytes: u64,
    changed: Option<SystemTime>,
    /// The time that no program can set. A file that replaces another one may have the size and the time of the other.
    recorded: (i64, i64),
}

#[derive(Debug)]
pub(super) struct Stamps {
    by_path: HashMap<String, Stamp>,
    /// gpulint reads no longer file, so the times of such a file decide.
    longest_file_bytes: u64,
}

impl Stamps {
    pub(super) fn of(root: &Path, longest_file_bytes: u64, paths: impl Iterator<Item = String>) -> Stamps {
        let mut stamps = Stamps { by_path: HashMap::new(), longest_file_bytes };
        stamps.add(root, paths.collect(), None);
        stamps
    }

    /// Adds files. Known files keep their stamps. A file that changed after `read_since` counts as changed at the next
    /// look, because gpulint may have read its former content.
    pub(super) fn add(&mut self, root: &Path, paths: Vec<String>, read_since: Option<SystemTime>) {
        let directories: HashSet<String> = paths.iter().map(|path| parent(path).to_owned()).collect();
        let all = paths.into_iter().chain(directories);
        let new: Vec<String> = all.filter(|path| !self.by_path.contains_key(path)).collect();
        let longest = self.longest_file_bytes;
        self.by_path.extend(each(new, |path| {
            let stamp = match stamp(root, &path, longest) {
                Stamp::File { times, .. } if read_since.is_some_and(|since| times.changed >= Some(since)) => {
                    Stamp::File { times: FileTimes { changed: None, ..times }, digest: None }
                }
                stamp => stamp,
            };
            (path, stamp)
        }));
    }

    /// Returns the changed files, and whether a directory changed. Then it updates the stamps. A file with new times
    /// and the same content did not change.
    pub(super) fn changed(&mut self, root: &Path) -> (Vec<String>, bool) {
        let longest = self.longest_file_bytes;
        let known: Vec<(&String, &mut Stamp)> = self.by_path.iter_mut().collect();
        let looked = each(known, |(path, known)| {
            let (differs, now) = known.compare(root, path, longest);
            let is_directory = [&*known, &now].into_iter().any(|it| matches!(it, Stamp::Directory { .. }));
            *known = now;
            differs.then(|| (path.clone(), is_directory))
        });
        let (directories, files): (Vec<_>, Vec<_>) = looked.into_iter().flatten().partition(|it| it.1);
        (files.into_iter().map(|it| it.0).collect(), !directories.is_empty())
    }
}

impl Stamp {
    /// Returns whether the content differs, and the stamp of now. Reads the file only if its size or times differ.
    fn compare(&self, root: &Path, path: &str, longest_file_bytes: u64) -> (bool, Stamp) {
        if let Stamp::File { times, .. } = self
            && fs::metadata(below(root, path)).is_ok_and(|found| !found.is_dir() && FileTimes::of(&found) == *times)
        {
            return (false, self.clone());
        }
        let now = stamp(root, path, longest_file_bytes);
        let is_same = match (self, &now) {
            (Stamp::File { digest: Some(before), .. }, Stamp::File { digest: Some(after), .. }) => before == after,
            _ => *self == now,
        };
        (!is_same, now)
    }
}

impl FileTimes {
    fn of(found: &Metadata) -> FileTimes {
        #[cfg(unix)]
        let recorded = {
            use std::os::unix::fs::MetadataExt;
            (found.ctime(), found.ctime_nsec())
        };
        #[cfg(not(unix))]
        let recorded = (0, 0);
        FileTimes { bytes: found.len(), changed: found.modified().ok(), recorded }
    }
}

/// Takes the times before the content: a later change then has other times.
fn stamp(root: &Path, path: &str, longest_file_bytes: u64) -> Stamp {
    let place = below(root, path);
    match fs::metadata(&place) {
        // The time of a directory also changes if a file in it is replaced.
        Ok(found) if found.is_dir() => Stamp::Directory { digest_of_names: digest_of_names(&place) },
        Ok(found) => {
            let is_read = found.is_file() && found.len() <= longest_file_bytes;
            let content = is_read.then(|| fs::read(&place).ok()).flatten();
            Stamp::File { times: FileTimes::of(&found), digest: content.map(|content| digest(&content)) }
        }
        Err(_) => Stamp::Nothing,
    }
}

fn digest_of_names(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    digest(&names)
}

fn digest<T: Hash + ?Sized>(content: &T) -> u64 {
    let mut digest = DefaultHasher::new();
    content.hash(&mut digest);
    digest.finish()
}
