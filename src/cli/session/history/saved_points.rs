//! Caches the cost of points, in one file for each state of the tree. A damaged file is ignored, and deleting the cache
//! only costs time.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::point::ComputedState;
use crate::cli::io::{cache, ci, sealed};
use crate::cli::session::Session;
use crate::report::Snapshot;
use crate::source::{sha256, to_hex};

/// The largest file that is read.
const LONGEST_FILE_BYTES: u64 = 64 << 20;

/// Files that were not used for this long are deleted.
const UNUSED: Duration = Duration::from_secs(7 * 86_400);

/// The version of the cache's format.
const SHAPE: u32 = 3;

/// The cached points of one repository, in one directory.
pub(super) struct KeptPoints {
    directory: PathBuf,
    /// The digest of everything except the tree on which a point depends.
    ground: String,
    used: Mutex<HashSet<String>>,
}

#[derive(Serialize, Deserialize)]
enum Saved<S> {
    Point {
        snapshot: S,
        unread: Vec<String>,
    },
    /// The result is the same as that of the tree with this id.
    As(String),
}

impl KeptPoints {
    /// Returns `None` if this system has no cache directory.
    pub(super) fn open(session: &Session, asked: &str) -> Option<KeptPoints> {
        let directory = cache::history_directory(&ci::process_variable)?;
        let repository = session.scope.root.to_string_lossy();
        let name: String = to_hex(&sha256(repository.as_bytes())).chars().take(16).collect();
        Some(KeptPoints { directory: directory.join(name), ground: ground(session, asked), used: Mutex::default() })
    }

    pub(super) fn key(&self, tree: &str) -> String {
        to_hex(&sha256(format!("{} {tree}", self.ground).as_bytes()))
    }

    pub(super) fn load(&self, key: &str) -> Option<ComputedState> {
        let saved = match self.read(key)? {
            Saved::As(other) => self.read(&other)?,
            own @ Saved::Point { .. } => own,
        };
        match saved {
            Saved::Point { snapshot, unread } => {
                Some(ComputedState { snapshot: Arc::new(snapshot), unread, missing: Vec::new() })
            }
            Saved::As(_) => None,
        }
    }

    fn read(&self, key: &str) -> Option<Saved<Snapshot>> {
        let is_key = key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = is_key.then(|| self.path(key))?;
        let saved = serde_json::from_slice(&sealed::read(&path, LONGEST_FILE_BYTES)?).ok()?;
        self.use_it(key);
        Some(saved)
    }

    pub(super) fn save(&self, key: &str, computed: &ComputedState) {
        let ComputedState { snapshot, unread, .. } = computed;
        self.write(key, &Saved::Point { snapshot: &**snapshot, unread: unread.clone() });
    }

    pub(super) fn save_as(&self, key: &str, other: &str) {
        self.write(key, &Saved::<&Snapshot>::As(other.to_owned()));
    }

    fn write(&self, key: &str, saved: &Saved<&Snapshot>) {
        let Ok(text) = serde_json::to_string(saved) else { return };
        sealed::write(&self.path(key), text.as_bytes());
        self.use_it(key);
    }

    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}.json"))
    }

    fn use_it(&self, key: &str) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
    }

    /// Deletes files that were not used for a long time.
    pub(super) fn sweep(&self) {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_used = path.file_stem().and_then(|it| it.to_str()).is_some_and(|it| used.contains(it));
            let age =
                entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|it| it.modified().ok()?.elapsed().ok());
            if !is_used && sealed::is_called(&path, "json") && age.is_some_and(|age| age > UNUSED) {
                drop(fs::remove_file(path));
            }
        }
    }
}

/// Returns a digest of the program, the settings, the rules, the prices, the day and the command line.
fn ground(session: &Session, asked: &str) -> String {
    let mut text = format!("{SHAPE} {}\n{asked}\n", sealed::program());
    text.push_str(&format!("{:?}\n{:?}\n", session.settings.terraform, session.policy.today));
    text.push_str(&format!("{:?} {:?}\n", session.scope.named, session.scope.here));
    for (path, file) in session.texts_of_settings() {
        text.push_str(&format!("{path:?} {}\n", to_hex(&sha256(file.as_bytes()))));
    }
    for (path, file) in prices() {
        text.push_str(&format!("{path:?} {}\n", to_hex(&sha256(file.as_bytes()))));
    }
    to_hex(&sha256(text.as_bytes()))
}

/// Adds the refreshed prices. A price file of the command line is part of the command line's digest.
fn prices() -> Vec<(String, String)> {
    let directory = cache::directory(&ci::process_variable);
    directory.ok().flatten().and_then(|it| cache::read(&it).ok()).unwrap_or_default()
}

/// Returns the content of a file that the command line names.
pub(in crate::cli) fn digest_of(path: &Path) -> String {
    fs::read(path).map(|bytes| to_hex(&sha256(&bytes))).unwrap_or_default()
}
