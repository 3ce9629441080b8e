//! What a comparison of the index remembers for the next one, by what git calls a text: what a manifest is good for, and small
//! texts that were read. Of a repository with many files a commit changes few, and nothing of the others is looked at again.
//!
//! What is remembered cannot be wrong: only this user's gpulint can seal it, the file is for one build of this program and for
//! the same questions, and each of its texts was called what it is kept by. Deleting it changes nothing but the time.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cli::session::Session;
use crate::cli::world::git::Entries;
use crate::cli::world::git_objects::is_called;
use crate::cli::world::memory::{Memory, Remembered, id_of};
use crate::cli::world::{cache, ci, sealed};
use crate::kubernetes::{Look, Looks, is_manifest};
use crate::source::{sha256, to_hex};

/// The shape of what is kept: raised when it changes.
const SHAPE: u32 = 1;
/// Longer texts are few, and are read where they are needed.
const LONGEST_TEXT_BYTES: usize = 64 << 10;
const MOST_TEXT_BYTES: usize = 48 << 20;
/// More files than any repository has that is read at all.
const MOST_LOOKS: usize = 1 << 20;
/// What is remembered at most.
const LONGEST_FILE_BYTES: u64 = 128 << 20;
/// It is written anew where one in so many of what it holds is new: a commit brings few, and they are soon looked at.
const PART: usize = 100;
/// So many repositories, each with the questions that were asked last; and what no run has written for so long goes.
const MOST_FILES: usize = 32;
const UNUSED: Duration = Duration::from_secs(60 * 86_400);

/// The list of the index, with what is known of its texts.
pub(in crate::cli) struct StagedFiles {
    pub(in crate::cli) index: Entries,
    pub(in crate::cli) memory: Arc<Memory>,
    /// Where it is kept; nowhere where this system has no place for what can be made again.
    path: Option<PathBuf>,
    ground: String,
}

impl StagedFiles {
    pub(super) fn of(session: &Session, index: Entries) -> StagedFiles {
        let ground = ground(session);
        let path = cache::remembered_directory(&ci::process_variable).map(|it| it.join(name(session, &ground)));
        let id_bytes = index.ids().next().map_or(0, |(_, id)| id.len() / 2);
        let bytes = path.as_deref().and_then(|it| sealed::read(it, LONGEST_FILE_BYTES));
        let memory = bytes.and_then(|it| Memory::read(it, &ground, id_bytes)).unwrap_or_default();
        StagedFiles { index, memory: Arc::new(memory), path, ground }
    }

    /// What is known of the manifests among these files.
    pub(super) fn looks(&self, files: &[String]) -> Looks {
        let known = files.iter().filter(|path| is_manifest(path)).filter_map(|path| {
            let code = self.memory.look(&id_of(self.index.id(path)?)?, Look::class(path))?;
            Some((path.clone(), Look::from_code(code)?))
        });
        Looks::remembered(known.collect())
    }

    /// Remembers what this state of a tree was found to be, where that is more than was known.
    pub(in crate::cli) fn keep(&self, session: &Session) {
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

    /// Small texts that were read, are what git calls so, and were not known.
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

/// Everything that what is found of a text depends on beside the text.
fn ground(session: &Session) -> String {
    let (wanted, largest) = (session.settings.rules.raw(), session.sources.limits().file_bytes);
    to_hex(&sha256(format!("{SHAPE} {}\n{wanted:?} {largest}", sealed::program()).as_bytes()))
}

/// One file for a repository and for what was asked of it.
fn name(session: &Session, ground: &str) -> String {
    let repository = to_hex(&sha256(session.scope.root.to_string_lossy().as_bytes()));
    let part = |digest: &str| digest.chars().take(16).collect::<String>();
    format!("{}-{}.texts", part(&repository), part(ground))
}

/// Takes away what was not written for long, and all but the newest.
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
