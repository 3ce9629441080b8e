//! Finds pods whose commands show that they hold accelerators while nothing runs.

use std::sync::LazyLock;

use crate::inventory::{Fact, FactValue};
use crate::languages::yaml::Node;
use crate::source::{AdaptiveRegex, Span};

use super::containers;
use super::pod::{Pod, PodContainer};
use super::request;
use crate::kubernetes::objects::index::ObjectIndex;
use crate::kubernetes::objects::object::KubernetesObject;

/// Returns why a container with accelerators only waits, or gives users access, according to its command.
pub(super) fn kept(pod: &Pod, object: &KubernetesObject<'_>, index: &ObjectIndex<'_>) -> Fact<FactValue> {
    let mut asking = pod.containers.iter().filter(|part| request::asks(part));
    let waiting = |part| waiting(part, pod, index).filter(|(why, _)| *why != NAPS || is_started_again(pod, object));
    let waits = asking.find_map(|part| waiting(part).or_else(|| let_in(part, object)));
    waits.map_or(Fact::Absent, |(why, span)| Fact::written(FactValue::text(why), span))
}

/// Returns what an endless command waits for, with its place.
fn waiting(part: &PodContainer, pod: &Pod, index: &ObjectIndex<'_>) -> Option<(&'static str, Span)> {
    let lists: Vec<&Node> = ["command", "args"].iter().filter_map(|key| part.node.get(key)).collect();
    let words = lists.iter().flat_map(|list| list.items().iter().chain([*list])).filter_map(Node::text);
    let mut command = String::new();
    for word in words {
        command.push(' ');
        match containers::script(word, part, pod, index).and_then(Node::text) {
            // A background process of a script is work.
            Some(script) if leaves_running(script) => return None,
            Some(script) => command.push_str(script),
            None => command.push_str(word),
        }
    }
    let span = lists.first()?.span;
    let waits = |way: &&Wait| way.words.iter().any(|word| command.contains(word)) && way.pattern.is_match(&command);
    match WAITS.iter().find(waits) {
        Some(way) => Some((way.why, span)),
        None => naps(&command).then_some((NAPS, span)),
    }
}

/// Returns whether a script has a line that ends with `&` and is not a pause.
fn leaves_running(script: &str) -> bool {
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let mut behind = lines.filter(|line| line.ends_with('&') && !line.ends_with("&&"));
    behind.any(|line| !line.starts_with("sleep"))
}

/// Returns whether Kubernetes restarts the container when its command ends.
fn is_started_again(pod: &Pod, object: &KubernetesObject<'_>) -> bool {
    const KINDS: [&str; 5] = ["Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];
    KINDS.contains(&object.kind) && pod.spec.text_at("restartPolicy").is_none_or(|policy| &**policy == "Always")
}

/// Returns whether a command only sleeps, for a quarter of an hour or more.
fn naps(command: &str) -> bool {
    command.contains("sleep") && NAP.is_match(command)
}

/// Returns the port that gives users access to a notebook: by its name, or by its number if the object is named after
/// notebooks.
fn let_in(part: &PodContainer, object: &KubernetesObject<'_>) -> Option<(&'static str, Span)> {
    const NUMBERS: [f64; 2] = [8888.0, 8787.0];
    const NAMES: [&str; 3] = ["jupyter", "notebook", "rstudio"];
    let ports = part.node.get("ports").map(Node::items).unwrap_or_default();
    let is_called = object.name.as_ref().is_some_and(|name| NAMES.iter().any(|known| name.contains(known)));
    let of_notebooks = |port: &&Node| {
        let is_named = port.text_at("name").is_some_and(|name| matches!(&**name, "notebook" | "jupyter"));
        is_named
            || is_called && port.get("containerPort").and_then(Node::number).is_some_and(|it| NUMBERS.contains(&it))
    };
    ports.iter().find(of_notebooks).map(|port| (PEOPLE, port.span))
}

/// Returns whether the container's command never does anything.
pub(super) fn only_sleeps(part: &PodContainer, pod: &Pod, index: &ObjectIndex<'_>) -> bool {
    waiting(part, pod, index).is_some_and(|(why, _)| matches!(why, SLEEPS | NAPS | LOOKS))
}

const NAPS: &str = "its command only sleeps, and Kubernetes restarts it";
const LOOKS: &str = "its command lists the devices forever";
const SLEEPS: &str = "its command sleeps forever";
const PEOPLE: &str = "people work in it";

/// A command that never ends and does not use an accelerator.
struct Wait {
    /// Every such command contains one of these words. Searching for them is faster than the pattern.
    words: &'static [&'static str],
    pattern: AdaptiveRegex,
    why: &'static str,
}

static NAP: LazyLock<AdaptiveRegex> = LazyLock::new(|| {
    let shell = r"(?:/\S*/)?(?:bash|sh|ash|dash)|-\w*c";
    let quiet =
        r"(?:echo|printf|export|set|trap|date|hostname|env|ls|nvidia-smi|rocm-smi)\b(?:'[^']*'|[^;&|\n'])*[;\n]";
    AdaptiveRegex::new(format!(r"^(?:\s|{shell}|{quiet})*(?:exec\s+)?sleep\s+(?:\d{{4,}}|\d+h)(?:\s*&\s*wait)?[\s;]*$"))
});

static WAITS: LazyLock<[Wait; 4]> = LazyLock::new(|| {
    // A loop counts only if all of its commands print or sleep. Any other command between two pauses is work.
    let loops = r"while\s+(?:true|:|1|\[+\s*1\s*\]+)\s*;?\s*do\s+(?:(?:echo|printf|date|uptime|hostname|nvidia-smi|rocm-smi)\b[^;&|\n]*[;\n]\s*)*sleep\s+[^\s;&|]+(?:\s*&\s*wait\b[^;\n]*)?[\s;]*done\b";
    let stays = r"sleep\s+(?:infinity|inf|\d{6,}|\d+d)\b|tail\s+-f\s+/dev/null";
    let forever = format!(r"(?:^|[\s;&|(])(?:{stays}|{loops})");
    let looks = r"^\s*(?:(?:/\S*/)?(?:bash|sh)\s+-\w*c\s+)?(?:watch\s+(?:-\S+\s+(?:\d\S*\s+)?)*)?(?:nvidia-smi\s[^;&|]*(?:--loop|-l\b)|nvidia-smi\s+dmon|watch\s[^;&|]*(?:nvidia|rocm)-smi)[^;&|]*$";
    let login = r"(?:^|[\s/;&|])sshd(?:\s+-\w+)*\s+-\w*D";
    let desk = r"(?:^|[\s/;&|])(?:jupyter[- ](?:lab|notebook|server)|code-server)\b";
    let wait = |words, pattern: &str, why| Wait { words, pattern: AdaptiveRegex::new(pattern), why };
    [
        wait(&["sleep", "tail"], &forever, SLEEPS),
        wait(&["nvidia-smi", "rocm-smi"], looks, LOOKS),
        wait(&["sshd"], login, "people log in to it"),
        wait(&["jupyter", "code-server"], desk, PEOPLE),
    ]
});
