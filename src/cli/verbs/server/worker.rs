//! The worker thread, which reads and checks files. It takes all pending changes before it starts, so that for several
//! keystrokes only the last state is checked.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use gen_lsp_types::{CodeAction, Diagnostic};
use lsp_server::RequestId;

use super::actions::{ChosenAction, Edited, edits_of};
use super::client::{EditorClient, Preferences};
use super::diagnostics::{FolderDiagnostics, wrong_at};
use crate::cli::Failure;
use crate::cli::io::file_tree::below;
use crate::cli::workspace::Workspace;

/// The pause in typing after which the worker prepares a faster next check.
const AT_REST: Duration = Duration::from_secs(1);

/// A task for the worker.
pub(super) enum Task {
    /// A folder was opened, or its options changed.
    Open {
        folder: PathBuf,
        preferences: Preferences,
    },
    Close {
        folder: PathBuf,
    },
    /// The content of an open document, or `None` if it was closed.
    Text {
        folder: PathBuf,
        file: PathBuf,
        text: Option<(i32, String)>,
    },
    /// Files may have changed on the disk.
    Refresh {
        folder: PathBuf,
    },
    /// The editor requests the edits of these actions.
    Edits {
        id: RequestId,
        actions: Vec<CodeAction>,
        is_list: bool,
    },
}

/// A message of the worker.
pub(super) enum News {
    /// The check of a folder started.
    Began {
        folder: PathBuf,
    },
    Judged {
        folder: PathBuf,
        told: Arc<FolderDiagnostics>,
    },
    /// Invalid settings, or a bug in this program.
    Failed {
        folder: PathBuf,
        why: String,
        /// The positions of the errors in files.
        places: Vec<(PathBuf, Diagnostic)>,
    },
    Edits {
        id: RequestId,
        edited: Vec<Edited>,
        is_list: bool,
    },
}

struct Folder {
    preferences: Preferences,
    workspace: Workspace,
    versions: BTreeMap<String, i32>,
    /// Whether something changed since the last check.
    is_dirty: bool,
    may_have_changed_on_disk: bool,
}

pub(super) struct ServerWorker {
    client: EditorClient,
    tasks: Receiver<Task>,
    news: Sender<News>,
    folders: BTreeMap<PathBuf, Folder>,
}

impl ServerWorker {
    pub(super) fn new(client: EditorClient, tasks: Receiver<Task>, news: Sender<News>) -> ServerWorker {
        ServerWorker { client, tasks, news, folders: BTreeMap::new() }
    }

    /// Works until the main thread ends.
    pub(super) fn run(mut self) {
        loop {
            let next = if self.folders.values().any(|it| it.workspace.has_drifted()) {
                self.tasks.recv_timeout(AT_REST)
            } else {
                self.tasks.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match next {
                Ok(task) => {
                    self.take(task);
                    self.take_all();
                    self.judge_dirty();
                }
                Err(RecvTimeoutError::Timeout) => self.finish_pending(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn take_all(&mut self) {
        while let Ok(task) = self.tasks.try_recv() {
            self.take(task);
        }
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::Open { folder, preferences } => self.open(folder, preferences),
            Task::Close { folder } => drop(self.folders.remove(&folder)),
            Task::Text { folder, file, text } => {
                let Some(of) = self.folders.get_mut(&folder) else { return };
                let Some(path) = of.workspace.in_tree(&file) else { return };
                of.is_dirty = true;
                match text {
                    Some((version, text)) => {
                        of.versions.insert(path.clone(), version);
                        of.workspace.set(&path, Some(text.into_bytes()));
                    }
                    None => {
                        of.versions.remove(&path);
                        of.workspace.set(&path, None);
                    }
                }
            }
            Task::Refresh { folder } => {
                if let Some(of) = self.folders.get_mut(&folder) {
                    of.may_have_changed_on_disk = true;
                }
            }
            Task::Edits { id, actions, is_list } => {
                let edited = actions.into_iter().filter_map(|it| self.edits(it)).collect();
                self.send_news(News::Edits { id, edited, is_list });
            }
        }
    }

    fn open(&mut self, folder: PathBuf, preferences: Preferences) {
        match Workspace::new(preferences.asked(&folder)) {
            Ok(mut workspace) => {
                let before = self.folders.remove(&folder);
                let mut versions = BTreeMap::new();
                if let Some(before) = before {
                    versions = before.versions;
                    workspace.take_texts_of(&before.workspace);
                }
                let of = Folder { preferences, workspace, versions, is_dirty: true, may_have_changed_on_disk: false };
                self.folders.insert(folder, of);
            }
            Err(failure) => self.fail(folder, &failure),
        }
    }

    fn judge_dirty(&mut self) {
        let all: Vec<PathBuf> = self.folders.keys().cloned().collect();
        for folder in all {
            self.take_all();
            let Some(of) = self.folders.get_mut(&folder) else { continue };
            if std::mem::take(&mut of.may_have_changed_on_disk) {
                of.is_dirty |= of.workspace.refresh();
            }
            if !std::mem::take(&mut of.is_dirty) {
                continue;
            }
            self.judge(folder);
        }
    }

    fn judge(&mut self, folder: PathBuf) {
        self.send_news(News::Began { folder: folder.clone() });
        let encoding = self.client.encoding;
        let Some(of) = self.folders.get_mut(&folder) else { return };
        let told = guarded(|| {
            let judged = of.workspace.judge()?;
            Ok(FolderDiagnostics::of(judged, of.versions.clone(), &of.preferences, encoding))
        });
        match told {
            Ok(told) => self.send_news(News::Judged { folder, told: Arc::new(told) }),
            Err(failure) => self.fail(folder, &failure),
        }
    }

    fn finish_pending(&mut self) {
        let drifted = self.folders.iter_mut().filter(|(_, of)| of.workspace.has_drifted());
        let settled = drifted.map(|(folder, of)| {
            let done = guarded(|| of.workspace.keep_as_base());
            of.is_dirty |= matches!(done, Ok(true));
            (folder.clone(), done)
        });
        let failed: Vec<_> = settled.filter_map(|(folder, done)| Some((folder, done.err()?))).collect();
        failed.into_iter().for_each(|(folder, failure)| self.fail(folder, &failure));
    }

    /// Returns the current edits of an action, or `None` if its finding is gone or the edits have another effect.
    fn edits(&mut self, action: CodeAction) -> Option<Edited> {
        let chosen = ChosenAction::of(&action)?;
        let encoding = self.client.encoding;
        let of = self.folders.get_mut(&chosen.folder)?;
        let (workspace, versions) = (&mut of.workspace, &of.versions);
        guarded(|| edits_of(&chosen, workspace, versions, encoding)).ok().map(|edits| Edited { action, edits })
    }

    fn fail(&self, folder: PathBuf, failure: &Failure) {
        let root = self.folders.get(&folder).map(|it| it.workspace.root().to_owned()).unwrap_or_default();
        let places = failure.places().iter().map(|it| (below(&root, &it.path), wrong_at(it, self.client.encoding)));
        self.send_news(News::Failed { folder, why: failure.in_short(), places: places.collect() });
    }

    fn send_news(&self, news: News) {
        // If the editor has exited, messages are dropped.
        let _ = self.news.send(news);
    }
}

/// Catches panics, so that a bug does not end the editor's session.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::from_panic(&*panic)))
}
