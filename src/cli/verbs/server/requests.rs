//! Answers requests of the editor. A request about a document is answered from the last results, if they describe its
//! newest version, or else after the next check.

use std::path::Path;
use std::time::Instant;

use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Request, RequestId};
use serde_json::{Value, json};

use super::actions::{ChosenAction, Edited, actions_at, workspace_edit};
use super::client::PriceDisplay;
use super::diagnostics::{KnownText, LineCost};
use super::editor::LanguageServer;
use super::hover::{explained, hover};
use super::pages::completion;
use super::place::{path_of, real};
use super::worker::Task;

enum Known {
    Now(KnownText),
    /// The document is still being checked.
    Later,
    Never,
}

impl LanguageServer<'_> {
    pub(super) fn take_request(&mut self, request: Request) {
        match request.method.as_str() {
            "textDocument/inlayHint"
            | "textDocument/codeLens"
            | "textDocument/hover"
            | "textDocument/codeAction"
            | "textDocument/completion" => self.about_a_text(Instant::now(), request),
            "codeAction/resolve" => self.resolve(request),
            method => {
                let why = format!("the server does not support `{method}`");
                self.refuse(request.id, ErrorCode::MethodNotFound, &why);
            }
        }
    }

    /// Answers a request about a document, or queues it until the results are known.
    fn about_a_text(&mut self, since: Instant, request: Request) {
        let uri = request.params.get("textDocument").and_then(|it| it.get("uri")).and_then(Value::as_str);
        let Some(uri) = uri.map(str::to_owned) else {
            return self.refuse(request.id, ErrorCode::InvalidParams, "the request names no document");
        };
        match self.known(&uri) {
            Known::Now(about) => self.answer_about(request, &uri, &about),
            Known::Later => self.waiting.push((since, request)),
            Known::Never => self.answer(request.id, &Value::Null),
        }
    }

    fn known(&self, uri: &str) -> Known {
        // For a closed document, the last results apply.
        let open = self.documents.get(uri);
        let Some(file) = open.map(|it| it.path.clone()).or_else(|| Some(real(&path_of(uri)?))) else {
            return Known::Never;
        };
        let Some(folder) = self.folder_of(&file) else { return Known::Never };
        let Some(of) = self.folders.get(&folder) else { return Known::Never };
        let Some(told) = of.told.clone() else { return Known::Later };
        let Some(path) = file.strip_prefix(&told.judged.session.scope.root).ok().and_then(Path::to_str) else {
            return Known::Never;
        };
        if told.versions.get(path).copied() != open.map(|it| it.version) {
            return Known::Later;
        }
        let path = path.to_owned();
        Known::Now(KnownText { told, folder, file, path })
    }

    /// Answers queued requests with new results.
    pub(super) fn ask_again(&mut self) {
        for (since, request) in std::mem::take(&mut self.waiting) {
            self.about_a_text(since, request);
        }
    }

    /// Answers queued requests if there will be no results.
    pub(super) fn give_up_waiting(&mut self) {
        for (_, request) in std::mem::take(&mut self.waiting) {
            self.answer(request.id, &Value::Null);
        }
    }

    pub(super) fn cancel(&mut self, params: &Value) {
        let id = params.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        let Some(id) = id else { return };
        let before = self.waiting.len();
        self.waiting.retain(|(_, request)| request.id != id);
        if self.waiting.len() < before {
            self.refuse(id, ErrorCode::RequestCanceled, "cancelled");
        }
    }

    fn answer_about(&mut self, request: Request, uri: &str, about: &KnownText) {
        let Request { id, method, params } = request;
        let result = match method.as_str() {
            "textDocument/inlayHint" => serde_json::from_value(params).map(|it| self.hints(about, &it)),
            "textDocument/codeLens" => Ok(self.lenses(about)),
            "textDocument/hover" => serde_json::from_value::<lsp::HoverParams>(params).map(|it| {
                let at = it.text_document_position_params.position;
                let text = &self.text(uri, about);
                json!(hover(about, text, at, self.client.encoding))
            }),
            "textDocument/completion" => serde_json::from_value::<lsp::CompletionParams>(params).map(|it| {
                let at = it.text_document_position_params.position;
                let text = &self.text(uri, about);
                json!(completion((&about.told.judged, &about.path), text, at, self.client.encoding))
            }),
            _ => match serde_json::from_value(params) {
                Ok(params) => return self.actions(id, about, &params),
                Err(error) => Err(error),
            },
        };
        match result {
            Ok(result) => self.answer(id, &result),
            Err(error) => self.refuse(id, ErrorCode::InvalidParams, &error.to_string()),
        }
    }

    /// Returns a document as the editor has it, or else as it was read from disk.
    fn text(&self, uri: &str, about: &KnownText) -> String {
        let sources = &about.told.judged.session.sources;
        let read = || {
            let file = sources.has(&about.path).then(|| sources.open(&about.path).ok()).flatten();
            file.map_or_else(String::new, |file| sources.text(file).to_string())
        };
        self.documents.get(uri).map_or_else(read, |it| it.text.clone())
    }

    fn hints(&self, about: &KnownText, params: &lsp::InlayHintParams) -> Value {
        if self.preferences.shown_as(&self.client) != PriceDisplay::Hints {
            return Value::Array(Vec::new());
        }
        let is_asked = |line: u32| params.range.start.line <= line && line <= params.range.end.line;
        let prices = about.told.prices(&about.path, self.client.encoding).into_iter();
        let hint = |price: LineCost| {
            let tooltip = explained(about, &price.resources);
            lsp::InlayHint {
                position: price.at,
                label: lsp::Label::String(price.label),
                kind: None,
                text_edits: None,
                tooltip: Some(lsp::Tooltip::MarkupContent(tooltip)),
                padding_left: Some(true),
                padding_right: None,
                data: None,
            }
        };
        json!(prices.filter(|price| is_asked(price.at.line)).map(hint).collect::<Vec<_>>())
    }

    fn lenses(&self, about: &KnownText) -> Value {
        if self.preferences.shown_as(&self.client) != PriceDisplay::Lens {
            return Value::Array(Vec::new());
        }
        let prices = about.told.prices(&about.path, self.client.encoding).into_iter();
        let lens = |price: LineCost| {
            let start = lsp::Position { line: price.at.line, character: 0 };
            json!({
                "range": lsp::Range { start, end: price.at },
                "command": { "title": price.label, "command": "" },
            })
        };
        Value::Array(prices.map(lens).collect())
    }

    fn actions(&mut self, id: RequestId, about: &KnownText, params: &lsp::CodeActionParams) {
        let context = (params.context.only.as_deref(), params.context.diagnostics.as_slice());
        let encoding = self.client.encoding;
        let actions = actions_at(&about.told, &about.folder, &about.file, params.range, context, encoding);
        if self.client.resolves_edits {
            return self.answer(id, &actions);
        }
        // An editor that does not resolve actions later gets their edits now.
        let _ = self.tasks.send(Task::Edits { id, actions, is_list: true });
    }

    fn resolve(&mut self, request: Request) {
        let action: Option<lsp::CodeAction> = serde_json::from_value(request.params).ok();
        match action.filter(|it| ChosenAction::of(it).is_some_and(|it| self.folders.contains_key(&it.folder))) {
            Some(it) => {
                let _ = self.tasks.send(Task::Edits { id: request.id, actions: vec![it], is_list: false });
            }
            None => self.refuse(request.id, ErrorCode::InvalidParams, "the server does not know this code action"),
        }
    }

    /// Answers with actions and their edits. An action without an edit is refused, or left out of a list.
    pub(super) fn answer_with_edits(&mut self, id: RequestId, edited: &[Edited], is_list: bool) {
        let with_edit = |it: &Edited| {
            let edit = Some(workspace_edit(&it.edits, &self.documents, self.client.takes_versions));
            lsp::CodeAction { edit, ..it.action.clone() }
        };
        let changing: Vec<lsp::CodeAction> = edited.iter().filter(|it| !it.edits.is_empty()).map(with_edit).collect();
        match changing.first() {
            _ if is_list => self.answer(id, &changing),
            Some(action) => self.answer(id, action),
            None => {
                let why = "gpulint did not apply the edit, because it would have another effect than intended";
                self.refuse(id, ErrorCode::RequestFailed, why);
            }
        }
    }
}
