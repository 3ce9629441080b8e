//! A directory that is checked repeatedly while its files change, on the disk or unsaved in an editor.
//!
//! gpulint retains the complete results of one state, the base. A later state reuses all results that depend on no
//! changed file, and has the same result as a full check. If settings change, or files are added or removed, gpulint
//! creates a new base.

mod stamps;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::args::{FailOnChoice, InputArguments, Selection};
use super::io::failure::Failure;
use super::io::file_tree::KnownDirectories;
use super::io::place::WorkingTree;
use super::session::Session;
use super::session::judged::{JudgedTree, Texts};
use stamps::Stamps;

/// If more files than this differ from the base, gpulint makes the current state the new base when it is idle.
const FEW: usize = 3;

/// The options with which a directory is checked.
#[derive(Debug, Default)]
pub(super) struct WorkspaceOptions {
    pub(super) input: InputArguments,
    pub(super) selection: Selection,
    pub(super) threshold: FailOnChoice,
}

pub(super) struct Workspace {
    asked: WorkspaceOptions,
    place: WorkingTree,
    /// The unsaved file contents in the editor, by path of the tree.
    texts: Texts,
    base: Option<Base>,
}

/// The base: a state with its results.
struct Base {
    judged: Arc<JudgedTree>,
    /// The editor's unsaved contents in this state.
    texts: Texts,
    stamps: Stamps,
    /// The files that changed on the disk since this state.
    elsewhere: HashSet<String>,
    /// The directories that later checks read, since gpulint last checked the disk for changes.
    directories: Arc<KnownDirectories>,
}

impl Workspace {
    pub(super) fn new(asked: WorkspaceOptions) -> Result<Workspace, Failure> {
        let beside: Vec<&Path> = asked.input.config.iter().map(PathBuf::as_path).collect();
        let place = WorkingTree::find(asked.input.here.as_deref(), &asked.input.paths, &beside)?;
        Ok(Workspace { asked, place, texts: Texts::new(), base: None })
    }

    /// Returns the root of the tree, with links followed.
    pub(super) fn root(&self) -> &Path {
        &self.place.root
    }

    /// Returns a file as a path of the tree, or `None` if gpulint may not read it.
    pub(super) fn in_tree(&self, file: &Path) -> Option<String> {
        let is_allowed = self.place.allowed.iter().any(|it| file.starts_with(it));
        self.place.in_tree(file).filter(|_| is_allowed)
    }

    /// Sets the editor's content of a file. `None` means that the content on the disk applies.
    pub(super) fn set(&mut self, path: &str, text: Option<Vec<u8>>) {
        match text {
            Some(text) => drop(self.texts.insert(path.to_owned(), text)),
            None => drop(self.texts.remove(path)),
        }
    }

    /// Returns the files that have a content from the editor.
    pub(super) fn texts(&self) -> HashSet<String> {
        self.texts.keys().cloned().collect()
    }

    /// Takes over the editor's contents from a workspace with other options for the same directory.
    pub(super) fn take_texts_of(&mut self, other: &Workspace) {
        self.texts.clone_from(&other.texts);
    }

    /// Returns whether relevant files changed on the disk.
    pub(super) fn refresh(&mut self) -> bool {
        let input = self.input();
        let Some(base) = &mut self.base else { return true };
        let session = &base.judged.session;
        // The next check reports invalid settings.
        let Ok(Session { files, .. }) = Session::open(&input) else {
            self.base = None;
            return true;
        };
        let on_disk = |path: &&String| !base.texts.contains_key(*path);
        let is_same_list = files.iter().filter(on_disk).eq(session.files.iter().filter(on_disk));
        let (changed, lists_differ) = base.stamps.changed(&self.place.root);
        let rests = changed.iter().any(|path| session.rests_on(path));
        if !is_same_list || lists_differ || rests {
            self.base = None;
            return true;
        }
        base.directories = KnownDirectories::shared();
        let has_changed = !changed.is_empty();
        base.elsewhere.extend(changed);
        has_changed
    }

    /// Returns the results for the current files.
    pub(super) fn judge(&mut self) -> Result<Arc<JudgedTree>, Failure> {
        let texts = self.texts.clone();
        if let Some(judged) = self.judge_with(&texts) {
            return Ok(judged);
        }
        self.base = None;
        let base = self.make_base()?;
        let judged = base.judged.clone();
        self.base = Some(base);
        Ok(judged)
    }

    /// Returns the results with these contents in addition to those of the editor. It does not store the contents.
    pub(super) fn imagine(&mut self, more: &Texts) -> Result<Arc<JudgedTree>, Failure> {
        let mut texts = self.texts.clone();
        texts.extend(more.iter().map(|(path, text)| (path.clone(), text.clone())));
        match self.judge_with(&texts) {
            Some(judged) => Ok(judged),
            None => JudgedTree::with_texts(&self.asked.input, (&self.asked.selection, &self.asked.threshold), &texts)
                .map(Arc::new),
        }
    }

    /// Whether so many files differ from the base that a new base saves time.
    pub(super) fn has_drifted(&self) -> bool {
        self.base.as_ref().is_some_and(|base| self.changed(base, &self.texts).len() > FEW)
    }

    /// Makes the current state the base. Returns whether it may differ from the state of the last `refresh`.
    pub(super) fn keep_as_base(&mut self) -> Result<bool, Failure> {
        let before = self.base.take().map(|base| base.stamps);
        self.base = Some(self.make_base()?);
        Ok(before.is_none_or(|mut stamps| {
            let (changed, lists_differ) = stamps.changed(&self.place.root);
            lists_differ || !changed.is_empty()
        }))
    }

    /// Returns the input options, with the editor's contents.
    fn input(&self) -> InputArguments {
        let given = self.texts.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
        InputArguments { given, ..self.asked.input.clone() }
    }

    fn make_base(&self) -> Result<Base, Failure> {
        let mut session = Session::judging(&self.input(), &self.asked.selection)?;
        // Some files may exist only in the editor.
        session.add_files(self.texts.keys().filter(|path| session.may_hold(path)).cloned().collect());
        session.keep_for_edits();
        let began = SystemTime::now();
        let longest = session.sources.limits().file_bytes;
        let mut stamps = Stamps::of(&self.place.root, longest, session.files.iter().cloned());
        let judged = JudgedTree::of(session, &self.asked.threshold);
        stamps.add(&self.place.root, judged.session.sources.asked(), Some(began));
        Ok(Base {
            judged: Arc::new(judged),
            texts: self.texts.clone(),
            stamps,
            elsewhere: HashSet::new(),
            directories: KnownDirectories::shared(),
        })
    }

    /// Returns the results of the base with these contents, or `None` if there is no base or settings may have
    /// changed.
    fn judge_with(&self, texts: &Texts) -> Option<Arc<JudgedTree>> {
        let base = self.base.as_ref()?;
        let changed = self.changed(base, texts);
        if changed.is_empty() {
            return Some(base.judged.clone());
        }
        let session = &base.judged.session;
        let is_gone = |path: &String| !texts.contains_key(path) && !session.is_on_disk(path);
        if changed.iter().any(|path| session.rests_on(path) || is_gone(path)) {
            return None;
        }
        Some(Arc::new(JudgedTree::of(session.edited(texts, changed, &base.directories), &self.asked.threshold)))
    }

    /// Returns the files that differ from the base.
    fn changed(&self, base: &Base, texts: &Texts) -> HashSet<String> {
        let sources = &base.judged.session.sources;
        let is_new = |(path, text): &(&String, &Vec<u8>)| match base.texts.get(*path) {
            Some(before) => before != *text,
            None => {
                let known = sources.has(path).then(|| sources.open(path).ok()).flatten();
                known.is_none_or(|file| sources.text(file).as_bytes() != text.as_slice())
                    || base.elsewhere.contains(*path)
            }
        };
        let mut changed: HashSet<String> = texts.iter().filter(is_new).map(|(path, _)| path.clone()).collect();
        changed.extend(base.texts.keys().filter(|path| !texts.contains_key(*path)).cloned());
        changed.extend(base.elsewhere.iter().filter(|path| !texts.contains_key(*path)).cloned());
        changed
    }
}
