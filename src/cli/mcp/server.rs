//! The server loop. It answers messages at once, runs calls on other threads, and enforces the time limit of each call.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::answer;
use super::protocol::{ClientMessage, ErrorCode, RpcRequest, next_line};
use super::tools::{McpTool, TOOLS};
use crate::cli::io::{output, secrets};
use crate::languages::table::READ;

/// The most calls that run at the same time. Each uses all processors.
const MOST_RUNNING: usize = 2;
/// The most calls that wait to start.
const MOST_WAITING: usize = 32;
/// The stack size of a call, because parsers of nested files expect the stack of a main thread.
const STACK_BYTES: usize = 16 << 20;

fn instructions() -> String {
    format!(
        "gpulint reads {READ}. It reports the cost of GPUs and other accelerators in them, and which part of it is waste. \
         Begin with `check`. `explain` and `what_if` take the addresses and rule names of its answer. gpulint reads the files \
         on the disk, changes none, and connects to no cloud: amounts are list prices, and null is unknown."
    )
}

enum Event {
    Line(Result<String, Value>),
    /// The client closed the input.
    End,
    /// A thread finished the call with this number, with this answer.
    Done(u64, Value),
}

/// A call that has no answer yet.
struct Call {
    number: u64,
    request: RpcRequest,
    until: Instant,
    work: Option<Work>,
}

struct Work {
    tool: &'static McpTool,
    arguments: Map<String, Value>,
}

struct Server {
    events: Sender<Event>,
    /// The time limit of an answer.
    time: Duration,
    count: u64,
    calls: VecDeque<Call>,
    /// The number of working threads, including those whose call was cancelled: a thread cannot be ended.
    running: usize,
    has_reader: bool,
}

/// Answers until the input ends.
pub(super) fn serve(time: Duration) {
    let (events, happened) = mpsc::channel();
    let lines = events.clone();
    std::thread::spawn(move || read(&lines));
    let mut server = Server { events, time, count: 0, calls: VecDeque::new(), running: 0, has_reader: true };
    server.run(&happened);
}

fn read(events: &Sender<Event>) {
    let mut input = std::io::stdin().lock();
    while let Ok(Some(line)) = next_line(&mut input) {
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::End);
}

impl Server {
    fn run(&mut self, happened: &Receiver<Event>) {
        let mut is_open = true;
        while self.has_reader && (is_open || !self.calls.is_empty()) {
            let first = self.calls.iter().map(|call| call.until).min();
            let wait = first.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            match happened.recv_timeout(wait) {
                Ok(Event::Line(Ok(line))) if line.trim().is_empty() => {}
                Ok(Event::Line(Ok(line))) => self.hear(ClientMessage::read(&line)),
                Ok(Event::Line(Err(refusal))) => self.send(&refusal),
                Ok(Event::Done(number, result)) => self.done(number, result),
                Ok(Event::End) => is_open = false,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.give_up();
            self.start();
        }
    }

    fn hear(&mut self, message: ClientMessage) {
        match message {
            ClientMessage::Request(request) => self.asked(request),
            // A cancelled request gets no answer.
            ClientMessage::Cancelled(id) => self.calls.retain(|call| call.request.id != id),
            ClientMessage::Wrong(refusal) => self.send(&refusal),
            ClientMessage::Nothing => {}
        }
    }

    fn asked(&mut self, request: RpcRequest) {
        if let Some(refusal) = request.refused() {
            return self.send(&refusal);
        }
        let answer = match request.method.as_str() {
            "initialize" => request.handshake(&instructions()),
            "server/discover" => request.discovery(&instructions()),
            "ping" => request.answer(json!({})),
            "tools/list" => {
                let tools: Vec<Value> = TOOLS.iter().map(McpTool::describe).collect();
                request.lasting_answer(json!({ "tools": tools }))
            }
            "tools/call" => match self.called(request) {
                Some(refusal) => refusal,
                None => return,
            },
            method => {
                let method: String = method.chars().take(100).collect();
                request.fail(ErrorCode::NoMethod, &format!("unknown method `{method}`"))
            }
        };
        self.send(&answer);
    }

    /// Queues a call, or returns the answer to an invalid one.
    fn called(&mut self, request: RpcRequest) -> Option<Value> {
        let name = request.parameters.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(tool) = McpTool::named(name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let name: String = name.chars().take(100).collect();
            let why = format!("unknown tool `{name}`; the tools are {}", names.join(", "));
            return Some(request.fail(ErrorCode::BadParameters, &why));
        };
        let arguments = match request.parameters.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Some(request.fail(ErrorCode::BadParameters, "`arguments` must be an object")),
        };
        if self.calls.len() >= MOST_RUNNING + MOST_WAITING {
            let why = "too many calls are waiting: try again when some have been answered";
            return Some(request.answer(answer::failed(why)));
        }
        self.count += 1;
        let until = Instant::now() + self.time;
        self.calls.push_back(Call { number: self.count, request, until, work: Some(Work { tool, arguments }) });
        None
    }

    /// Starts queued calls up to the limit.
    fn start(&mut self) {
        while self.running < MOST_RUNNING {
            let next = self.calls.iter_mut().find_map(|call| Some((call.number, call.work.take()?)));
            let Some((number, Work { tool, arguments })) = next else { return };
            let events = self.events.clone();
            let work = move || {
                let result = answer::answer(tool, &arguments);
                let _ = events.send(Event::Done(number, result));
            };
            let thread = std::thread::Builder::new().name(tool.name.to_owned()).stack_size(STACK_BYTES);
            self.running += 1;
            if thread.spawn(work).is_err() {
                self.done(number, answer::failed("the system cannot start another thread: try again later"));
            }
        }
    }

    fn done(&mut self, number: u64, result: Value) {
        self.running = self.running.saturating_sub(1);
        if let Some(at) = self.calls.iter().position(|call| call.number == number)
            && let Some(call) = self.calls.remove(at)
        {
            self.send(&call.request.answer(result));
        }
    }

    /// Answers calls that exceed the time limit with an error.
    fn give_up(&mut self) {
        let now = Instant::now();
        while let Some(at) = self.calls.iter().position(|call| call.until <= now)
            && let Some(call) = self.calls.remove(at)
        {
            let seconds = self.time.as_secs();
            let why = format!("no answer within {seconds} seconds. Ask about a smaller folder: set `path`");
            self.send(&call.request.answer(answer::failed(&why)));
        }
    }

    fn send(&mut self, message: &Value) {
        // Answers to a model leave the machine, so secrets are removed.
        if output::send(&secrets::without_forms(&message.to_string())).is_err() {
            self.has_reader = false;
        }
    }
}
