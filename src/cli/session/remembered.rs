//! The cache of `diff --staged`, by git object id: classifications of manifests, and small
//! file contents. A commit changes few files of a large repository, and the others need not be read again.
//!
//! The cache cannot be forged: only this user's gpulint can seal it, the file is for one build of this program and for
//! the same options, and each entry was verified against its object id. Deleting the cache only costs time.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cli::io::git::TreeEntries;
use crate::cli::io::git_objects::is_called;
use crate::cli::io::memory::{Memory, Remembered, id_of};
use crate::cli::io::{cache, ci, sealed};
use crate::cli::session::Session;
use crate::kubernetes::{Look, ScanCache, is_manifest};
use crate::source::{sha256, to_hex};

/// The version of the cache's format.
const SHAPE: u32 = 1;
/// The longest content that is cached. Longer files are rare.
const LONGEST_TEXT_BYTES: usize = 64 << 10;
const MOST_TEXT_BYTES: usize = 48 << 20;
/// The most entries of the cache.
const MOST_LOOKS: usize = 1 << 20;
/// The largest size of the cache.
const LONGEST_FILE_BYTES: u64 = 128 << 20;
/// The cache is rewritten if at least one in this many entries is new. Fewer new entries are cheap to read again.
const PART: usize = 100;
/// The most cache files, and the age from which unused files are deleted.
const MOST_FILES: usize = 32;
const UNUSED: Duration = Duration::from_secs(60 * 86_400);

/// The entries of the index, with cached knowledge of their contents.
pub(in crate::cli) struct StagedFiles {
    pub(in crate::cli) index: TreeEntries,
    pub(in crate::cli) memory: Arc<Memory>,
    /// The cache file, or `None` if this system has no cache directory.
    path: Option<PathBuf>,
    ground: String,
}

impl StagedFiles {
    pub(super) fn of(session: &Session, index: TreeEntries) -> StagedFiles {
        let ground = ground(session);
        let path = cache::remembered_directory(&ci::process_variable).map(|it| it.join(name(session, &ground)));
        let id_bytes = index.ids().next().map_or(0, |(_, id)| id.len() / 2);
        let bytes = path.as_deref().and_then(|it| sealed::read(it, LONGEST_FILE_BYTES));
        let memory = bytes.and_then(|it| Memory::read(it, &ground, id_bytes)).unwrap_or_default();
        StagedFiles { index, memory: Arc::new(memory), path, ground }
    }

    /// Returns the cached classifications of these files.
    pub(super) fn looks(&self, files: &[String]) -> ScanCache {
        let known = files.iter().filter(|path| is_manifest(path)).filter_map(|path| {
            let code = self.memory.look(&id_of(self.index.id(path)?)?, Look::class(path))?;
            Some((path.clone(), Look::from_code(code)?))
        });
        ScanCache::remembered(known.collect())
    }

    /// Writes new results of this state to the cache.
    pub(super) fn keep(&self, session: &Session) {
        let Some(path) = &self.path else { return };
        let looks = &session.cache.looks;
        let new: HashMap<String, Look> = looks.new_ones().into_iter().collect();
        let read = self.new_texts(session);
        if (new.len() + read.len()) * PART < session.files.len() || new.len() + read.len() == 0 {
            return;
        }
        let mut kept = Remembered::default();
        let mut bytes = 0;
        for file in &session.files {
            let Some(id) = self.index.id(file).and_then(id_of) else { continue };
            if is_manifest(file) && kept.looks.len() < MOST_LOOKS {
                let class = Look::class(file);
                let code = new.get(file).map(|it| it.code()).or_else(|| self.memory.look(&id, class));
                kept.looks.extend(code.map(|code| ((id.clone(), class), code)));
            }
            let text = read.get(file.as_str()).map(|it| it.as_bytes()).or_else(|| self.memory.text(&id));
            if let Some(text) = text.filter(|it| bytes + it.len() <= MOST_TEXT_BYTES) {
                bytes += text.len();
                kept.texts.insert(id, text);
            }
        }
        sealed::write(path, &kept.to_bytes(&self.ground));
        sweep(path);
    }

    /// Returns small contents that were read, match their object id, and are not cached yet.
    fn new_texts<'s>(&self, session: &'s Session) -> HashMap<&'s str, Arc<str>> {
        let text = |path: &'s String| {
            if !session.sources.has(path) {
                return None;
            }
            let text = session.sources.text(session.sources.open(path).ok()?);
            let id = self.index.id(path).filter(|_| text.len() <= LONGEST_TEXT_BYTES)?;
            let is_new = self.memory.text(&id_of(id)?).is_none() && is_called(text.as_bytes(), id);
            is_new.then_some((path.as_str(), text))
        };
        session.files.iter().filter_map(text).collect()
    }
}

/// Returns a digest of everything except the content on which a classification depends.
fn ground(session: &Session) -> String {
    let (wanted, largest) = (session.settings.rules.raw(), session.sources.limits().file_bytes);
    to_hex(&sha256(format!("{SHAPE} {}\n{wanted:?} {largest}", sealed::program()).as_bytes()))
}

/// Returns the name of the cache file for a repository and the command line's options.
fn name(session: &Session, ground: &str) -> String {
    let repository = to_hex(&sha256(session.scope.root.to_string_lossy().as_bytes()));
    let part = |digest: &str| digest.chars().take(16).collect::<String>();
    format!("{}-{}.texts", part(&repository), part(ground))
}

/// Deletes old cache files, and all but the newest.
fn sweep(written: &Path) {
    let Some(directory) = written.parent() else { return };
    let age = |path: &Path| fs::symlink_metadata(path).ok()?.modified().ok()?.elapsed().ok();
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|it| it.is_file() && sealed::is_called(it, "texts"));
    let mut files: Vec<(Duration, PathBuf)> = files.map(|it| (age(&it).unwrap_or_default(), it)).collect();
    files.sort();
    for (_, path) in
        files.iter().enumerate().filter(|(place, (age, _))| *place >= MOST_FILES || *age > UNUSED).map(|it| it.1)
    {
        drop(fs::remove_file(path));
    }
}
