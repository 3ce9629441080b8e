//! What lies on a disk, by sizes and times: whoever changes a file changes one of them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::cli::world::file_tree::below;
use crate::source::each;

/// Nothing where there is no such file.
type Stamp = Option<(u64, Option<SystemTime>)>;

#[derive(Debug, Default)]
pub(super) struct Stamps(HashMap<String, Stamp>);

impl Stamps {
    pub(super) fn of(root: &Path, paths: impl Iterator<Item = String>) -> Stamps {
        let mut stamps = Stamps::default();
        stamps.add(root, paths.collect());
        stamps
    }

    /// More files; those that are known stay as they were.
    pub(super) fn add(&mut self, root: &Path, paths: Vec<String>) {
        let new: Vec<String> = paths.into_iter().filter(|path| !self.0.contains_key(path)).collect();
        self.0.extend(each(new, |path| {
            let stamp = stamp(root, &path);
            (path, stamp)
        }));
    }

    /// The files that are not as they were; from now on they are.
    pub(super) fn changed(&mut self, root: &Path) -> Vec<String> {
        let known: Vec<(&String, &mut Stamp)> = self.0.iter_mut().collect();
        let looked = each(known, |(path, known)| {
            let now = stamp(root, path);
            let differs = *known != now;
            *known = now;
            differs.then(|| path.clone())
        });
        looked.into_iter().flatten().collect()
    }
}

fn stamp(root: &Path, path: &str) -> Stamp {
    let found = fs::metadata(below(root, path)).ok()?;
    Some((found.len(), found.modified().ok()))
}
