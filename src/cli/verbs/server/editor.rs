//! The main thread of the language server: it tracks open documents and sends results to the editor.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, never, select, unbounded};
use gen_lsp_types as lsp;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::actions::action_kinds;
use super::client::{self, EditorClient, Preferences, PriceDisplay};
use super::diagnostics::FolderDiagnostics;
use super::documents::OpenTexts;
use super::place::{path_of, real, uri_of};
use super::worker::{News, ServerWorker, Task};
use crate::cli::io::place as tree_place;
use crate::cli::{ExitStatus, Failure};
use crate::languages::table::read_endings;

/// The longest check that shows no progress message.
const SHORT: Duration = Duration::from_millis(500);

/// The time that a request waits for the check of its document.
const PATIENCE: Duration = Duration::from_secs(10);

/// The files to watch: those that gpulint reads, and its settings, rules and prices.
fn watched() -> String {
    let own = [".hcl", ".toml", ".md", ".csv"];
    let endings: Vec<&str> = read_endings().into_iter().filter(|it| !own.contains(it)).chain(own).collect();
    format!("**/*{{{}}}", endings.join(","))
}

/// The numbers of message types in the protocol.
const ERROR: i32 = 1;
const LOG: i32 = 4;

/// Serves an editor until it exits. The exit code shows an exit without shutdown.
pub(super) fn serve(connection: &Connection) -> Result<ExitStatus, Failure> {
    let Some((server, tasks)) = begin(connection)? else { return Ok(ExitStatus::Failed) };
    server.go_on(&tasks)
}

/// Negotiates capabilities with the editor.
fn begin(connection: &Connection) -> Result<Option<(LanguageServer<'_>, Receiver<News>)>, Failure> {
    let Ok((id, params)) = connection.initialize_start() else { return Ok(None) };
    let params: lsp::InitializeParams = match serde_json::from_value(params) {
        Ok(params) => params,
        Err(error) => {
            let message = format!("the editor's `initialize` request is invalid: {error}");
            let refusal = Response::new_err(id, ErrorCode::InvalidParams as i32, message.clone());
            let _ = connection.sender.send(refusal.into());
            return Err(Failure::new(message));
        }
    };
    let client = EditorClient::of(&params.capabilities);
    let (preferences, wrong) = match Preferences::read(params.initialization_options.as_ref()) {
        Ok(preferences) => (preferences, None),
        Err(why) => (Preferences::default(), Some(why)),
    };
    let answer = json!({
        "capabilities": client::capabilities(&client, preferences.shown_as(&client), &action_kinds()),
        "serverInfo": { "name": "gpulint", "version": env!("CARGO_PKG_VERSION") },
    });
    if connection.initialize_finish(id, answer).is_err() {
        return Ok(None);
    }
    let (tasks, to_do) = unbounded();
    let (news, told) = unbounded();
    let worker = ServerWorker::new(client, to_do, news);
    std::thread::Builder::new()
        .name("worker".to_owned())
        .stack_size(WORKER_STACK)
        .spawn(move || worker.run())
        .map_err(|error| Failure::new(format!("the system cannot start a thread: {error}")))?;
    let mut server = LanguageServer {
        connection,
        client,
        preferences,
        tasks,
        documents: OpenTexts::default(),
        folders: BTreeMap::new(),
        waiting: Vec::new(),
        told_under: BTreeMap::new(),
        complaint: None,
        next_id: 0,
        settings_asked: None,
    };
    if let Some(why) = wrong {
        server.complain(&format!("gpulint ignores the editor's settings: {why}"));
    }
    for folder in client::folders(&params) {
        server.open_folder(folder);
    }
    server.watch_files();
    Ok(Some((server, told)))
}

/// The stack size of the worker, the same as that of a main thread.
const WORKER_STACK: usize = 8 << 20;

/// An open folder.
#[derive(Default)]
pub(super) struct Folder {
    /// The folder's path as the editor writes it, which can contain links.
    shown: PathBuf,
    /// Whether only a file of the folder was opened.
    is_implied: bool,
    pub(super) told: Option<Arc<FolderDiagnostics>>,
    /// The files with diagnostics in the editor.
    told_of: BTreeSet<PathBuf>,
    /// The files whose errors prevent the check of the folder.
    wrong: BTreeSet<PathBuf>,
    /// The start of the running check, and its progress token.
    began: Option<Instant>,
    progress: Option<String>,
}

pub(super) struct LanguageServer<'c> {
    connection: &'c Connection,
    pub(super) client: EditorClient,
    pub(super) preferences: Preferences,
    pub(super) tasks: Sender<Task>,
    pub(super) documents: OpenTexts,
    /// The open folders by path, with links followed.
    pub(super) folders: BTreeMap<PathBuf, Folder>,
    /// Requests about documents that are being checked.
    pub(super) waiting: Vec<(Instant, Request)>,
    /// The address under which diagnostics of a file were sent.
    told_under: BTreeMap<PathBuf, String>,
    /// The last error message, so that it is not repeated with each keystroke.
    complaint: Option<String>,
    next_id: i32,
    /// The pending request for the editor's settings.
    settings_asked: Option<RequestId>,
}

impl LanguageServer<'_> {
    fn go_on(mut self, news: &Receiver<News>) -> Result<ExitStatus, Failure> {
        loop {
            let timer = self.next_moment().map_or_else(never, crossbeam_channel::at);
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) => {
                        if request.method == "shutdown" {
                            return Ok(self.leave(request.id));
                        }
                        self.take_request(request);
                    }
                    Ok(Message::Notification(notification)) => {
                        if notification.method == "exit" {
                            return Ok(ExitStatus::Failed);
                        }
                        self.take_notification(notification);
                    }
                    Ok(Message::Response(response)) => self.take_response(response),
                    Err(_) => return Ok(ExitStatus::Failed),
                },
                recv(news) -> it => match it {
                    Ok(it) => self.take_news(it),
                    Err(_) => return Err(Failure::new("the worker thread has ended")),
                },
                recv(timer) -> _ => self.take_time(),
            }
        }
    }

    /// Answers the shutdown request, and waits for the exit notification.
    fn leave(&mut self, id: RequestId) -> ExitStatus {
        self.answer(id, &Value::Null);
        loop {
            match self.connection.receiver.recv_timeout(Duration::from_secs(30)) {
                Ok(Message::Notification(it)) if it.method == "exit" => return ExitStatus::Passed,
                Ok(Message::Request(request)) => {
                    self.refuse(request.id, ErrorCode::InvalidRequest, "the server has shut down");
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return ExitStatus::Failed,
            }
        }
    }

    fn take_notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => self.read(params, Self::did_open),
            "textDocument/didChange" => self.read(params, Self::did_change),
            "textDocument/didClose" => self.read(params, Self::did_close),
            "textDocument/didSave" => self.read(params, Self::did_save),
            "workspace/didChangeWatchedFiles" => self.refresh_all(),
            "workspace/didChangeWorkspaceFolders" => self.read(params, Self::did_change_folders),
            "workspace/didChangeConfiguration" => self.did_change_settings(&params),
            "$/cancelRequest" => self.cancel(&params),
            _ => {}
        }
    }

    fn read<T: DeserializeOwned>(&mut self, params: Value, take: impl FnOnce(&mut Self, T)) {
        match serde_json::from_value(params) {
            Ok(params) => take(self, params),
            Err(error) => self.log(&format!("a message of the editor is invalid: {error}")),
        }
    }

    fn did_open(&mut self, params: lsp::DidOpenTextDocumentParams) {
        let lsp::TextDocumentItem { uri, version, text, .. } = params.text_document;
        let Some(document) = self.documents.open(uri.as_ref(), version, text) else { return };
        let (file, text) = (document.path.clone(), document.text.clone());
        let folder = self.folder_for(&file);
        let _ = self.tasks.send(Task::Refresh { folder: folder.clone() });
        let _ = self.tasks.send(Task::Text { folder, file, text: Some((version, text)) });
    }

    fn did_change(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let lsp::DidChangeTextDocumentParams { text_document, content_changes } = params;
        let (uri, version) = (text_document.text_document_identifier.uri, text_document.version);
        let encoding = self.client.encoding;
        let Some(document) = self.documents.change(uri.as_ref(), version, content_changes, encoding) else { return };
        let (file, text) = (document.path.clone(), document.text.clone());
        if let Some(folder) = self.folder_of(&file) {
            let _ = self.tasks.send(Task::Text { folder, file, text: Some((version, text)) });
        }
    }

    fn did_close(&mut self, params: lsp::DidCloseTextDocumentParams) {
        let Some(document) = self.documents.close(params.text_document.uri.as_ref()) else { return };
        let Some(folder) = self.folder_of(&document.path) else { return };
        let is_implied = self.folders.get(&folder).is_some_and(|it| it.is_implied);
        if is_implied && !self.documents.all().any(|(_, it)| it.path.starts_with(&folder)) {
            return self.close_folder(&folder);
        }
        self.republish(&document.path, &folder);
        let _ = self.tasks.send(Task::Refresh { folder: folder.clone() });
        let _ = self.tasks.send(Task::Text { folder, file: document.path, text: None });
    }

    /// Updates the address of a file's diagnostics.
    fn republish(&mut self, file: &Path, folder: &Path) {
        let Some(of) = self.folders.get(folder) else { return };
        let diagnostics = of.told.as_ref().and_then(|told| told.diagnostics.get(file)).cloned().unwrap_or_default();
        let shown = of.shown.clone();
        if self.told_under.contains_key(file) {
            self.publish(file, folder, &shown, diagnostics);
        }
    }

    fn did_save(&mut self, params: lsp::DidSaveTextDocumentParams) {
        let file = self.documents.get(params.text_document.uri.as_ref()).map(|it| it.path.clone());
        if let Some(folder) = file.and_then(|file| self.folder_of(&file)) {
            let _ = self.tasks.send(Task::Refresh { folder });
        }
    }

    fn refresh_all(&self) {
        for folder in self.folders.keys() {
            let _ = self.tasks.send(Task::Refresh { folder: folder.clone() });
        }
    }

    fn did_change_folders(&mut self, params: lsp::DidChangeWorkspaceFoldersParams) {
        for gone in params.event.removed {
            if let Some(folder) = path_of(gone.uri.as_ref()) {
                self.close_folder(&real(&folder));
            }
        }
        for new in params.event.added {
            if let Some(folder) = path_of(new.uri.as_ref()) {
                self.open_folder(folder);
            }
        }
    }

    /// Reads settings from a message, or requests them.
    fn did_change_settings(&mut self, params: &Value) {
        let own = params.get("settings").and_then(|it| it.get("gpulint")).filter(|it| !it.is_null());
        match own {
            Some(own) => {
                let own = own.clone();
                self.prefer(&own);
            }
            None if self.client.has_settings => {
                let items = json!({ "items": [{ "section": "gpulint" }] });
                self.settings_asked = Some(self.ask("workspace/configuration", &items));
            }
            None => {}
        }
    }

    fn take_response(&mut self, response: Response) {
        if self.settings_asked.as_ref() != Some(&response.id) {
            return;
        }
        self.settings_asked = None;
        if let Ok(Value::Array(all)) = response.response_result
            && let Some(own) = all.first().filter(|it| !it.is_null())
        {
            self.prefer(own);
        }
    }

    fn prefer(&mut self, settings: &Value) {
        match Preferences::read(Some(settings)) {
            Ok(preferences) if preferences != self.preferences => {
                self.preferences = preferences;
                let all: Vec<PathBuf> = self.folders.keys().cloned().collect();
                for folder in all {
                    self.open_task(folder);
                }
            }
            Ok(_) => {}
            Err(why) => self.complain(&format!("gpulint ignores the editor's settings: {why}")),
        }
    }

    fn open_task(&self, folder: PathBuf) {
        let _ = self.tasks.send(Task::Open { folder, preferences: self.preferences.clone() });
    }

    /// Opens a folder. A folder inside another one is a part of it.
    fn open_folder(&mut self, shown: PathBuf) {
        let folder = real(&shown);
        let is_inside = self.folders.iter().any(|(it, of)| folder.starts_with(it) && !of.is_implied);
        if is_inside || !folder.is_dir() {
            return;
        }
        let inside: Vec<PathBuf> = self.folders.keys().filter(|it| it.starts_with(&folder)).cloned().collect();
        inside.iter().for_each(|it| self.close_folder(it));
        self.folders.insert(folder.clone(), Folder { shown, ..Folder::default() });
        self.open_task(folder.clone());
        self.send_texts(&folder);
    }

    /// Adds documents of the folder that are open already.
    fn send_texts(&self, folder: &Path) {
        for (_, it) in self.documents.all().filter(|(_, it)| it.path.starts_with(folder)) {
            let text = Some((it.version, it.text.clone()));
            let _ = self.tasks.send(Task::Text { folder: folder.to_owned(), file: it.path.clone(), text });
        }
    }

    fn close_folder(&mut self, folder: &Path) {
        let Some(closed) = self.folders.remove(folder) else { return };
        let _ = self.tasks.send(Task::Close { folder: folder.to_owned() });
        for file in &closed.told_of {
            self.publish(file, folder, &closed.shown, Vec::new());
        }
    }

    pub(super) fn folder_of(&self, file: &Path) -> Option<PathBuf> {
        self.folders.keys().find(|folder| file.starts_with(folder)).cloned()
    }

    /// Returns the folder of a file. Outside all folders, returns its repository, or else its directory.
    fn folder_for(&mut self, file: &Path) -> PathBuf {
        if let Some(folder) = self.folder_of(file) {
            return folder;
        }
        let directory = file.parent().unwrap_or(file);
        let folder = tree_place::repository(directory).unwrap_or(directory).to_owned();
        self.folders.insert(folder.clone(), Folder { shown: folder.clone(), is_implied: true, ..Folder::default() });
        self.open_task(folder.clone());
        folder
    }

    fn take_news(&mut self, news: News) {
        match news {
            News::Began { folder } => {
                if let Some(of) = self.folders.get_mut(&folder) {
                    of.began = Some(Instant::now());
                }
            }
            News::Judged { folder, told } => {
                self.end_progress(&folder);
                self.complaint = None;
                self.publish_folder(&folder, told);
                self.ask_again();
            }
            News::Failed { folder, why, places } => {
                self.end_progress(&folder);
                self.publish_settings_error(&folder, &why, places);
                self.give_up_waiting();
            }
            News::Edits { id, edited, is_list } => self.answer_with_edits(id, &edited, is_list),
        }
    }

    /// Reports errors in settings at their positions, or else as a message. Other diagnostics stay as they are.
    fn publish_settings_error(&mut self, folder: &Path, why: &str, places: Vec<(PathBuf, lsp::Diagnostic)>) {
        let Some(of) = self.folders.get_mut(folder).filter(|_| !places.is_empty()) else { return self.complain(why) };
        let shown = of.shown.clone();
        let mut by_file: BTreeMap<PathBuf, Vec<lsp::Diagnostic>> = BTreeMap::new();
        for (file, diagnostic) in places {
            by_file.entry(file).or_default().push(diagnostic);
        }
        of.told_of.extend(by_file.keys().cloned());
        of.wrong.extend(by_file.keys().cloned());
        for (file, diagnostics) in by_file {
            self.publish(&file, folder, &shown, diagnostics);
        }
    }

    /// Sends results, if they describe the current versions of the documents.
    fn publish_folder(&mut self, folder: &Path, told: Arc<FolderDiagnostics>) {
        let root = told.judged.session.scope.root.clone();
        let is_now = self.documents.all().filter(|(_, it)| it.path.starts_with(folder)).all(|(_, document)| {
            let path = document.path.strip_prefix(&root).ok().and_then(Path::to_str);
            path.is_none_or(|path| told.versions.get(path).is_none_or(|version| *version == document.version))
        });
        let Some(of) = self.folders.get_mut(folder).filter(|_| is_now) else { return };
        let now: BTreeSet<PathBuf> = told.diagnostics.keys().cloned().collect();
        let before = std::mem::replace(&mut of.told_of, now.clone());
        let last = of.told.replace(told.clone());
        let wrong = std::mem::take(&mut of.wrong);
        let shown = of.shown.clone();
        // Diagnostics are sent for each version of an open document, even empty ones, because some editors wait for
        // them.
        let open = self.documents.all().map(|(_, it)| it.path.clone()).filter(|it| it.starts_with(folder));
        let open: BTreeSet<PathBuf> = open.collect();
        let none = Vec::new();
        let of = |told: &FolderDiagnostics, file: &Path| told.diagnostics.get(file).cloned().unwrap_or_default();
        for file in now.iter().chain(before.difference(&now)).filter(|it| !open.contains(*it)) {
            let known = last.as_ref().map_or(&none, |it| it.diagnostics.get(file).unwrap_or(&none));
            if *known != of(&told, file) || wrong.contains(file) {
                self.publish(file, folder, &shown, of(&told, file));
            }
        }
        // Documents that were opened meanwhile get diagnostics after the next check.
        let is_judged = |file: &&PathBuf| {
            let open = self.documents.uri_of(file).and_then(|uri| self.documents.get(uri)).map(|it| it.version);
            told.version_of(file) == open
        };
        let judged: Vec<PathBuf> = open.iter().filter(is_judged).cloned().collect();
        for file in &judged {
            let version = told.version_of(file);
            let known = last.as_ref().map(|it| (it.version_of(file), of(it, file)));
            if known.is_none_or(|it| it != (version, of(&told, file))) || wrong.contains(file) {
                self.publish(file, folder, &shown, of(&told, file));
            }
        }
        self.refresh_prices();
        if let Some(last) = last {
            // Freeing the old state takes long, so another thread does it.
            rayon::spawn(move || drop(last));
        }
    }

    fn publish(&mut self, file: &Path, folder: &Path, shown: &Path, diagnostics: Vec<lsp::Diagnostic>) {
        let open = self.documents.uri_of(file);
        let version = open.and_then(|uri| self.documents.get(uri)).map(|it| it.version);
        let by_folder = || file.strip_prefix(folder).map_or_else(|_| file.to_owned(), |inside| shown.join(inside));
        let Some(uri) = open.map(str::to_owned).or_else(|| uri_of(&by_folder())) else { return };
        // An editor treats another spelling of the same address as another file.
        let before = match diagnostics.is_empty() {
            true => self.told_under.remove(file),
            false => self.told_under.insert(file.to_owned(), uri.clone()),
        };
        if let Some(before) = before.filter(|it| *it != uri) {
            let none = lsp::PublishDiagnosticsParams { uri: before.into(), version: None, diagnostics: Vec::new() };
            self.notify("textDocument/publishDiagnostics", &none);
        }
        self.notify(
            "textDocument/publishDiagnostics",
            &lsp::PublishDiagnosticsParams { uri: uri.into(), version, diagnostics },
        );
    }

    fn refresh_prices(&mut self) {
        match self.preferences.shown_as(&self.client) {
            PriceDisplay::Hints if self.client.refreshes_hints => {
                drop(self.ask("workspace/inlayHint/refresh", &Value::Null))
            }
            PriceDisplay::Lens if self.client.refreshes_lenses => {
                drop(self.ask("workspace/codeLens/refresh", &Value::Null))
            }
            _ => {}
        }
    }

    fn watch_files(&mut self) {
        if self.client.watches_files {
            let watchers = json!([{ "globPattern": watched() }]);
            let registration = json!({
                "id": "files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": { "watchers": watchers },
            });
            self.ask("client/registerCapability", &json!({ "registrations": [registration] }));
        }
    }

    /// Returns the time of the next task without a message.
    fn next_moment(&self) -> Option<Instant> {
        let running = self.folders.values().filter(|it| it.progress.is_none()).filter_map(|it| it.began);
        let shown = running.map(|began| began + SHORT).filter(|_| self.client.shows_progress);
        let waiting = self.waiting.iter().map(|(since, _)| *since + PATIENCE);
        shown.chain(waiting).min()
    }

    fn take_time(&mut self) {
        let now = Instant::now();
        let long = |it: &Folder| it.progress.is_none() && it.began.is_some_and(|began| began + SHORT <= now);
        let all: Vec<PathBuf> = self.folders.iter().filter(|(_, it)| long(it)).map(|(it, _)| it.clone()).collect();
        for folder in all {
            self.begin_progress(&folder);
        }
        let (over, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|it| it.0 + PATIENCE <= now);
        self.waiting = waiting;
        let over: Vec<(Instant, Request)> = over;
        over.into_iter().for_each(|(_, request)| self.answer(request.id, &Value::Null));
    }

    fn begin_progress(&mut self, folder: &Path) {
        let token = format!("gpulint-{}", self.next_id);
        self.ask("window/workDoneProgress/create", &json!({ "token": token }));
        let value = json!({ "kind": "begin", "title": "gpulint", "message": "reading", "cancellable": false });
        self.notify("$/progress", &json!({ "token": token, "value": value }));
        if let Some(of) = self.folders.get_mut(folder) {
            of.progress = Some(token);
        }
    }

    fn end_progress(&mut self, folder: &Path) {
        let Some(of) = self.folders.get_mut(folder) else { return };
        of.began = None;
        if let Some(token) = of.progress.take() {
            self.notify("$/progress", &json!({ "token": token, "value": { "kind": "end" } }));
        }
    }

    /// Shows a message to the user once.
    fn complain(&mut self, message: &str) {
        if self.complaint.as_deref() == Some(message) {
            return;
        }
        self.complaint = Some(message.to_owned());
        self.notify("window/showMessage", &json!({ "type": ERROR, "message": format!("gpulint: {message}") }));
    }

    fn log(&self, message: &str) {
        self.notify("window/logMessage", &json!({ "type": LOG, "message": message }));
    }

    fn notify(&self, method: &str, params: &impl Serialize) {
        let Ok(params) = serde_json::to_value(params) else { return };
        let _ = self.connection.sender.send(Notification { method: method.to_owned(), params }.into());
    }

    fn ask(&mut self, method: &str, params: &Value) -> RequestId {
        let id = RequestId::from(self.next_id);
        self.next_id += 1;
        let request = Request { id: id.clone(), method: method.to_owned(), params: params.clone() };
        let _ = self.connection.sender.send(request.into());
        id
    }

    pub(super) fn answer(&self, id: RequestId, result: &impl Serialize) {
        let response = match serde_json::to_value(result) {
            Ok(result) => Response { id, response_result: Ok(result) },
            Err(error) => Response::new_err(id, ErrorCode::InternalError as i32, error.to_string()),
        };
        let _ = self.connection.sender.send(response.into());
    }

    pub(super) fn refuse(&self, id: RequestId, code: ErrorCode, why: &str) {
        let _ = self.connection.sender.send(Response::new_err(id, code as i32, why.to_owned()).into());
    }
}
