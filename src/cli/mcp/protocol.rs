//! Messages of the Model Context Protocol: one JSON-RPC 2.0 object per line. Versions up to 2025-11-25 begin with a
//! handshake. Since 2026-07-28, each request contains its version. The server supports both.

use std::io::{self, BufRead, Read};

use serde_json::{Map, Value, json};

/// The versions that begin with a handshake, the newest first: modelcontextprotocol.io/specification, read 2026-11-26.
/// Tools have had structured answers since the oldest of them.
const HANDSHAKES: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// The version that each request contains.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// The longest message that is read.
const LONGEST_BYTES: u64 = 1 << 20;

/// The keys for the version in a request, and for the server in an answer.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Error codes: those of JSON-RPC, and one of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorCode {
    NoJson = -32700,
    NoRequest = -32600,
    NoMethod = -32601,
    BadParameters = -32602,
    UnknownVersion = -32022,
}

/// A message of a client.
#[derive(Debug, PartialEq)]
pub(super) enum ClientMessage {
    Request(RpcRequest),
    /// The client cancels a request.
    Cancelled(Value),
    /// A message that needs no answer.
    Nothing,
    /// An invalid message, with the error to answer.
    Wrong(Value),
}

#[derive(Debug, PartialEq)]
pub(super) struct RpcRequest {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) parameters: Map<String, Value>,
    /// Whether the request contains its version.
    is_modern: bool,
}

impl ClientMessage {
    pub(super) fn read(line: &str) -> ClientMessage {
        let message = match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(message)) => message,
            Ok(_) => {
                return ClientMessage::Wrong(failed(
                    &Value::Null,
                    ErrorCode::NoRequest,
                    "each message must be one JSON object on one line",
                ));
            }
            Err(error) => {
                return ClientMessage::Wrong(failed(
                    &Value::Null,
                    ErrorCode::NoJson,
                    &format!("the message is not valid JSON: {error}"),
                ));
            }
        };
        let id = message.get("id").cloned();
        let named = message.get("method").and_then(Value::as_str);
        // A response, which needs no reaction because this server sends no requests.
        if named.is_none() && (message.contains_key("result") || message.contains_key("error")) {
            return ClientMessage::Nothing;
        }
        let is_id = |id: &Value| id.is_string() || id.is_number();
        let shown = id.clone().filter(is_id).unwrap_or(Value::Null);
        let wrong = |code, why: &str| ClientMessage::Wrong(failed(&shown, code, why));
        let Some(method) = named else { return wrong(ErrorCode::NoRequest, "a request needs a `method`") };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return wrong(ErrorCode::NoRequest, "`jsonrpc` is \"2.0\"");
        }
        let parameters = match message.get("params") {
            None => Map::new(),
            Some(Value::Object(parameters)) => parameters.clone(),
            Some(_) => return wrong(ErrorCode::BadParameters, "`params` must be an object"),
        };
        match id {
            None if method == "notifications/cancelled" => {
                ClientMessage::Cancelled(parameters.get("requestId").cloned().unwrap_or_default())
            }
            None => ClientMessage::Nothing,
            Some(id) if is_id(&id) => ClientMessage::Request(RpcRequest::new(id, method, parameters)),
            Some(_) => wrong(ErrorCode::NoRequest, "`id` must be a string or a number"),
        }
    }
}

impl RpcRequest {
    fn new(id: Value, method: &str, parameters: Map<String, Value>) -> RpcRequest {
        let is_modern = parameters.get("_meta").is_some_and(|it| it.get(VERSION_KEY).is_some());
        RpcRequest { id, method: method.to_owned(), parameters, is_modern }
    }

    /// Returns an error if the server cannot answer in the version of the request.
    pub(super) fn refused(&self) -> Option<Value> {
        let said = self.parameters.get("_meta")?;
        let version = said.get(VERSION_KEY)?;
        let Some(version) = version.as_str() else {
            return Some(self.fail(ErrorCode::BadParameters, "the protocol version must be a string"));
        };
        if version != WITHOUT_HANDSHAKE {
            let data = json!({ "supported": [WITHOUT_HANDSHAKE], "requested": version });
            let message = "this protocol version needs a handshake first";
            return Some(error(&self.id, ErrorCode::UnknownVersion, message, Some(data)));
        }
        let has_capabilities = said.get(CAPABILITIES_KEY).is_some_and(Value::is_object);
        (!has_capabilities)
            .then(|| self.fail(ErrorCode::BadParameters, &format!("`_meta` has no `{CAPABILITIES_KEY}`")))
    }

    pub(super) fn fail(&self, code: ErrorCode, message: &str) -> Value {
        failed(&self.id, code, message)
    }

    /// Returns the answer to the request.
    pub(super) fn answer(&self, result: Value) -> Value {
        let mut result = result;
        if let (true, Value::Object(result)) = (self.is_modern, &mut result) {
            result.insert("resultType".to_owned(), json!("complete"));
            result.insert("_meta".to_owned(), json!({ SERVER_KEY: server_info() }));
        }
        json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
    }

    /// Returns an answer that stays valid while this server runs.
    pub(super) fn lasting_answer(&self, result: Value) -> Value {
        const HOUR_MS: u32 = 3_600_000;
        let mut result = result;
        if let (true, Value::Object(result)) = (self.is_modern, &mut result) {
            result.insert("ttlMs".to_owned(), json!(HOUR_MS));
            result.insert("cacheScope".to_owned(), json!("public"));
        }
        self.answer(result)
    }

    /// Answers the handshake with the requested version, or with the newest version that has a handshake.
    pub(super) fn handshake(&self, instructions: &str) -> Value {
        let wished = self.parameters.get("protocolVersion").and_then(Value::as_str);
        let spoken = HANDSHAKES.iter().find(|it| Some(**it) == wished);
        let version = spoken.or(HANDSHAKES.first());
        self.answer(json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": instructions,
        }))
    }

    /// Answers `server/discover`, the first request of clients without a handshake.
    pub(super) fn discovery(&self, instructions: &str) -> Value {
        self.lasting_answer(json!({
            "supportedVersions": [WITHOUT_HANDSHAKE],
            "capabilities": capabilities(),
            "instructions": instructions,
        }))
    }
}

fn capabilities() -> Value {
    json!({ "tools": {} })
}

fn server_info() -> Value {
    json!({ "name": "gpulint", "title": "gpulint", "version": env!("CARGO_PKG_VERSION") })
}

fn failed(id: &Value, code: ErrorCode, message: &str) -> Value {
    error(id, code, message, None)
}

fn error(id: &Value, code: ErrorCode, message: &str, data: Option<Value>) -> Value {
    let mut error = json!({ "code": code as i32, "message": message });
    if let (Some(data), Value::Object(error)) = (data, &mut error) {
        error.insert("data".to_owned(), data);
    }
    let mut answer = Map::from_iter([("jsonrpc".to_owned(), json!("2.0")), ("error".to_owned(), error)]);
    // If the request is unknown, the answer has no id.
    if !id.is_null() {
        answer.insert("id".to_owned(), id.clone());
    }
    Value::Object(answer)
}

/// Returns the next line, an error to answer for an invalid line, or `None` at the end of the input.
pub(super) fn next_line(input: &mut impl BufRead) -> io::Result<Option<Result<String, Value>>> {
    let mut line = Vec::new();
    if input.by_ref().take(LONGEST_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if !line.ends_with(b"\n") && line.len() as u64 == LONGEST_BYTES {
        skip_line(input)?;
        let why = format!("a message must not have more than {LONGEST_BYTES} bytes");
        return Ok(Some(Err(failed(&Value::Null, ErrorCode::NoRequest, &why))));
    }
    let text = String::from_utf8(line);
    Ok(Some(text.map_err(|_| failed(&Value::Null, ErrorCode::NoJson, "a message must be UTF-8"))))
}

/// Skips to the end of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let there = input.fill_buf()?;
        if there.is_empty() {
            return Ok(());
        }
        let end = memchr::memchr(b'\n', there);
        let length = end.map_or(there.len(), |at| at + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(());
        }
    }
}
