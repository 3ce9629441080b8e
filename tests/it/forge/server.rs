//! A web server on the loopback address that records every request.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// The path without the query.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    /// Names are in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Option<Value> {
        (!self.body.is_empty()).then(|| serde_json::from_slice(&self.body).expect("a body that is no JSON was sent"))
    }

    pub(crate) fn is_write(&self) -> bool {
        // A GraphQL query uses the same method as a write.
        let is_question = || String::from_utf8_lossy(&self.body).contains("query { viewer");
        self.method != "GET" && !is_question()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Close the connection without an answer.
    pub(crate) hang_up: bool,
    /// The pause after each byte of the body.
    pub(crate) pause: Option<Duration>,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Answer::new(status, body.to_string()).with("content-type", "application/json; charset=utf-8")
    }

    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Answer { status, headers: Vec::new(), body: body.into(), hang_up: false, pause: None }
    }

    pub(crate) fn hang_up() -> Self {
        Answer { hang_up: true, ..Answer::new(0, "") }
    }

    pub(crate) fn slowly(mut self, pause: Duration) -> Self {
        self.pause = Some(pause);
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }
}

pub(crate) type Handler = Box<dyn FnMut(&Received) -> Answer + Send>;

/// Serves until the test ends.
pub(crate) struct Server {
    pub(crate) address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    pub(crate) fn start(handler: impl FnMut(&Received) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(Box::new(handler)));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, handler) = (kept.clone(), handler.clone());
                std::thread::spawn(move || serve(stream, &kept, &handler));
            }
        });
        Server { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Returns `METHOD path` of every request.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.received().iter().map(|it| format!("{} {}", it.method, it.path)).collect()
    }

    pub(crate) fn writes(&self) -> usize {
        self.received().iter().filter(|it| it.is_write()).count()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Received>>, handler: &Mutex<Handler>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(received) = read(&mut reader) else { return };
    kept.lock().unwrap().push(received.clone());
    // If a handler panics, the server must still answer, because clients repeat a request without an answer.
    let answer = match handler.lock() {
        Ok(mut handler) => handler(&received),
        Err(_) => Answer::new(418, "an earlier request broke the test server"),
    };
    if !answer.hang_up {
        let _ = write(stream, &answer);
    }
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split_whitespace();
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let query = pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect();
    Some(Received { method, path: path.to_owned(), query, headers, body })
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        let code = (byte == b'%').then(|| [rest.next().unwrap(), rest.next().unwrap()]);
        let byte = code.map_or(byte, |code| u8::from_str_radix(std::str::from_utf8(&code).unwrap(), 16).unwrap());
        bytes.push(byte);
    }
    String::from_utf8(bytes).unwrap()
}

fn write(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\n", answer.status);
    if answer.status != 204 {
        head.push_str(&format!("content-length: {}\r\n", answer.body.len()));
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let Some(pause) = answer.pause else { return stream.write_all(&answer.body) };
    for byte in &answer.body {
        stream.write_all(&[*byte])?;
        std::thread::sleep(pause);
    }
    Ok(())
}
