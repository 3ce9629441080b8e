//! Pods that hold accelerators while nothing runs: what their commands wait for.

use std::sync::LazyLock;

use crate::inventory::{Fact, Value};
use crate::source::{Expression, Span};
use crate::yaml::Node;

use super::pod::{Part, Pod};
use super::request;

/// A container that asks for accelerators and only waits, or lets people in: by its command.
pub(super) fn kept(pod: &Pod) -> Fact<Value> {
    let mut asking = pod.containers.iter().filter(|part| request::asks(part));
    let waits = asking.find_map(|part| waiting(part).or_else(|| let_in(part)));
    waits.map_or(Fact::Absent, |(why, span)| Fact::written(Value::text(why), span))
}

/// What a command waits for that never ends, and where it stands.
fn waiting(part: &Part) -> Option<(&'static str, Span)> {
    let lists: Vec<&Node> = ["command", "args"].iter().filter_map(|key| part.node.get(key)).collect();
    let words = lists.iter().flat_map(|list| list.items().iter().chain([*list])).filter_map(Node::text);
    let command = words.map(|word| &**word).collect::<Vec<_>>().join(" ");
    let waits = |way: &&Wait| way.words.iter().any(|word| command.contains(word)) && way.pattern.is_match(&command);
    Some((WAITS.iter().find(waits)?.why, lists.first()?.span))
}

/// A port that is called after notebooks lets people in.
fn let_in(part: &Part) -> Option<(&'static str, Span)> {
    let ports = part.node.get("ports").map(Node::items).unwrap_or_default();
    let of_notebooks =
        |port: &&Node| port.text_at("name").is_some_and(|name| matches!(&**name, "notebook" | "jupyter"));
    ports.iter().find(of_notebooks).map(|port| (PEOPLE, port.span))
}

/// Its command never does anything.
pub(super) fn only_sleeps(part: &Part) -> bool {
    waiting(part).is_some_and(|(why, _)| why == SLEEPS)
}

const SLEEPS: &str = "its command sleeps for ever";
const PEOPLE: &str = "people work in it";

/// A command that never ends and asks nothing of an accelerator.
struct Wait {
    /// One of them stands in every such command: patterns take longer to look for.
    words: &'static [&'static str],
    pattern: Expression,
    why: &'static str,
}

static WAITS: LazyLock<[Wait; 3]> = LazyLock::new(|| {
    // A loop counts where all that stands in it says something or sleeps: what runs between two pauses is work.
    let loops = r"while\s+(?:true|:|1|\[+\s*1\s*\]+)\s*;?\s*do\s+(?:(?:echo|printf|date|uptime|hostname|nvidia-smi|rocm-smi)\b[^;&|\n]*[;\n]\s*)*sleep\s+[^\s;&|]+(?:\s*&\s*wait\b[^;\n]*)?[\s;]*done\b";
    let stays = r"sleep\s+(?:infinity|inf|\d{6,}|\d+d)\b|tail\s+-f\s+/dev/null";
    let forever = format!(r"(?:^|[\s;&|(])(?:{stays}|{loops})");
    let login = r"(?:^|[\s/;&|])sshd(?:\s+-\w+)*\s+-\w*D";
    let desk = r"(?:^|[\s/;&|])(?:jupyter[- ](?:lab|notebook|server)|code-server)\b";
    let wait = |words, pattern: &str, why| Wait { words, pattern: Expression::new(pattern), why };
    [
        wait(&["sleep", "tail"], &forever, SLEEPS),
        wait(&["sshd"], login, "people log in to it"),
        wait(&["jupyter", "code-server"], desk, PEOPLE),
    ]
});
