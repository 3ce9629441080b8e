//! A test editor for the language server protocol: it opens and changes files, sends requests, and stores messages.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Editor {
    process: Child,
    input: Option<ChildStdin>,
    told: Receiver<Value>,
    /// Received messages that the test has not used yet.
    kept: Vec<Value>,
    next: i64,
    pub(super) folder: PathBuf,
    /// The server's answer to the initialization.
    pub(super) greeting: Value,
}

/// Returns the capabilities of most editors.
pub(super) fn able() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "textDocument": {
            "codeAction": { "resolveSupport": { "properties": ["edit"] } },
            "inlayHint": {},
        },
        "workspace": { "workspaceEdit": { "documentChanges": true }, "inlayHint": { "refreshSupport": true } },
    })
}

impl Editor {
    pub(super) fn start(folder: &Path) -> Editor {
        Self::start_with(folder, &json!({ "capabilities": able() }), "")
    }

    /// Starts with additional initialization options, and with a separate directory of programs.
    pub(super) fn start_with(folder: &Path, more: &Value, programs: &str) -> Editor {
        let folder = folder.to_owned();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        if !programs.is_empty() {
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{programs}:{path}"));
        }
        command.env("GPULINT_CACHE_DIR", folder.join("no-cache"));
        let mut process =
            command.arg("server").current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (said, told) = channel();
        std::thread::spawn(move || {
            let mut output = output;
            while let Some(message) = message(&mut output) {
                if said.send(message).is_err() {
                    break;
                }
            }
        });
        let mut editor = Editor { process, input, told, kept: Vec::new(), next: 0, folder, greeting: Value::Null };
        let mut greeting = json!({ "processId": null, "rootUri": editor.uri(""), "capabilities": {} });
        for (key, value) in more.as_object().unwrap() {
            greeting[key] = value.clone();
        }
        editor.greeting = editor.ask("initialize", greeting).unwrap();
        editor.say("initialized", json!({}));
        editor
    }

    pub(super) fn uri(&self, path: &str) -> String {
        let path = self.folder.join(path);
        let path = path.to_str().unwrap().trim_end_matches('/');
        let escaped = path.replace('%', "%25").replace(' ', "%20").replace('#', "%23").replace('?', "%3F");
        format!("file://{escaped}")
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    /// Sends bytes as they are, which need not be a message.
    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(super) fn say(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    /// Returns the answer, or the error message.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.put(method, params);
        self.answer(id)
    }

    pub(super) fn put(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        self.send(json!({ "id": self.next, "method": method, "params": params }));
        self.next
    }

    pub(super) fn answer(&mut self, id: i64) -> Result<Value, String> {
        let answer = self.wait(|it| it["id"] == id && it.get("method").is_none());
        match answer.get("error") {
            Some(error) => Err(error["message"].as_str().unwrap_or_default().to_owned()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Drops all messages so far.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        let _ = self.told.try_iter().count();
    }

    /// Returns the first unused message that matches.
    pub(super) fn wait(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&is_wanted) {
            return self.kept.remove(at);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            match self.told.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    if message.get("method").is_some() && message.get("id").is_some() {
                        self.send(json!({ "id": message["id"], "result": null }));
                    }
                    if is_wanted(&message) {
                        return message;
                    }
                    self.kept.push(message);
                }
                Err(RecvTimeoutError::Timeout) => panic!("nothing came; there was {:#?}", self.kept),
                Err(RecvTimeoutError::Disconnected) => panic!("the server has gone; it said {:#?}", self.kept),
            }
        }
    }

    /// Returns the diagnostics of a file so far, each with its version.
    pub(super) fn told_of(&mut self, path: &str) -> Vec<Value> {
        self.kept.extend(self.told.try_iter());
        let uri = self.uri(path);
        let is_of = |it: &&Value| it["method"] == "textDocument/publishDiagnostics" && it["params"]["uri"] == uri;
        self.kept.iter().filter(is_of).map(|it| it["params"].clone()).collect()
    }

    pub(super) fn open(&mut self, path: &str) -> String {
        let text = std::fs::read_to_string(self.folder.join(path)).unwrap();
        self.open_as(path, &text);
        text
    }

    pub(super) fn open_as(&mut self, path: &str, text: &str) {
        let uri = self.uri(path);
        let item = json!({ "uri": uri, "languageId": "whatever", "version": 1, "text": text });
        self.say("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Replaces a whole file.
    pub(super) fn replace(&mut self, path: &str, version: i32, text: &str) {
        let document = json!({ "uri": self.uri(path), "version": version });
        self.say("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
    }

    /// Replaces a part of a file.
    pub(super) fn change(&mut self, path: &str, version: i32, from: (u32, u32), to: (u32, u32), text: &str) {
        let document = json!({ "uri": self.uri(path), "version": version });
        let range = range(from, to);
        let change = json!({ "range": range, "text": text });
        self.say("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    pub(super) fn close(&mut self, path: &str) {
        let uri = self.uri(path);
        self.say("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Returns the diagnostics for a version of a file.
    pub(super) fn diagnostics(&mut self, path: &str, version: i32) -> Vec<Value> {
        let uri = self.uri(path);
        let is_it = |it: &Value| {
            it["method"] == "textDocument/publishDiagnostics"
                && it["params"]["uri"] == uri
                && it["params"]["version"] == version
        };
        self.wait(is_it)["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// Returns the next diagnostics of a file that is not open.
    pub(super) fn diagnostics_of_closed(&mut self, path: &str) -> Vec<Value> {
        let uri = self.uri(path);
        let is_it = |it: &Value| it["method"] == "textDocument/publishDiagnostics" && it["params"]["uri"] == uri;
        self.wait(is_it)["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// Returns each price with its line.
    pub(super) fn prices(&mut self, path: &str) -> Vec<(u64, String)> {
        let uri = self.uri(path);
        let params = json!({ "textDocument": { "uri": uri }, "range": range((0, 0), (100_000, 0)) });
        let hints = self.ask("textDocument/inlayHint", params).unwrap();
        let hint = |it: &Value| (it["position"]["line"].as_u64().unwrap(), it["label"].as_str().unwrap().to_owned());
        hints.as_array().unwrap().iter().map(hint).collect()
    }

    pub(super) fn hover(&mut self, path: &str, line: u32, character: u32) -> Option<String> {
        let params = json!({ "textDocument": { "uri": self.uri(path) }, "position": place(line, character) });
        let told = self.ask("textDocument/hover", params).unwrap();
        told["contents"]["value"].as_str().map(str::to_owned)
    }

    pub(super) fn actions(&mut self, path: &str, range: &Value, only: &[&str]) -> Vec<Value> {
        let context = match only {
            [] => json!({ "diagnostics": [] }),
            only => json!({ "diagnostics": [], "only": only }),
        };
        let params = json!({ "textDocument": { "uri": self.uri(path) }, "range": range, "context": context });
        self.ask("textDocument/codeAction", params).unwrap().as_array().unwrap().clone()
    }

    /// Returns the text of a file after an action.
    pub(super) fn applied(&mut self, action: &Value, path: &str, text: &str) -> Result<String, String> {
        let resolved = self.ask("codeAction/resolve", action.clone())?;
        let uri = self.uri(path);
        let changes = resolved["edit"]["documentChanges"].as_array().unwrap();
        let edits = changes.iter().find(|it| it["textDocument"]["uri"] == uri).map(|it| it["edits"].clone());
        Ok(with_edits(text, edits.unwrap_or_default().as_array().map(Vec::as_slice).unwrap_or_default()))
    }

    /// Shuts the server down, and returns its exit status.
    pub(super) fn leave(mut self) -> ExitStatus {
        self.ask("shutdown", Value::Null).unwrap();
        self.say("exit", Value::Null);
        self.end()
    }

    /// Disconnects without a shutdown message.
    pub(super) fn vanish(mut self) -> ExitStatus {
        self.input = None;
        self.end()
    }

    pub(super) fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(super) fn place(line: u32, character: u32) -> Value {
    json!({ "line": line, "character": character })
}

pub(super) fn range(from: (u32, u32), to: (u32, u32)) -> Value {
    json!({ "start": place(from.0, from.1), "end": place(to.0, to.1) })
}

/// Applies edits that do not overlap to a text. Columns are in UTF-16.
fn with_edits(text: &str, edits: &[Value]) -> String {
    let offset = |at: &Value| {
        let (line, character) = (at["line"].as_u64().unwrap(), at["character"].as_u64().unwrap());
        let start: usize = text.split_inclusive('\n').take(usize::try_from(line).unwrap()).map(str::len).sum();
        let mut passed = 0;
        let mut offset = start;
        for letter in text[start..].chars() {
            if passed >= character {
                break;
            }
            passed += letter.len_utf16() as u64;
            offset += letter.len_utf8();
        }
        offset
    };
    let mut places: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|it| (offset(&it["range"]["start"]), offset(&it["range"]["end"]), it["newText"].as_str().unwrap()))
        .collect();
    places.sort();
    let mut changed = text.to_owned();
    for (start, end, new) in places.into_iter().rev() {
        changed.replace_range(start..end, new);
    }
    changed
}

fn message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length:") {
                    length = value.trim().parse().ok()?;
                }
            }
        }
    }
    let mut text = vec![0; length];
    output.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
