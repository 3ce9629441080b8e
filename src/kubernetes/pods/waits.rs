//! Finds pods whose commands show that they hold accelerators while nothing runs.

use std::sync::LazyLock;

use crate::inventory::{Fact, FactOrigin, FactValue, programs};
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
    let is_kept = |waiting: &Waiting| {
        waiting.kind != WaitKind::Naps || is_started_again(pod, object) || waiting.is_long && !ends_once(pod, object)
    };
    let waits = asking.find_map(|part| {
        let waiting = waiting(part, pod, index).filter(is_kept);
        waiting.map(|it| (it.why, it.span)).or_else(|| {
            let (why, span) = let_in(part, object)?;
            Some((why.to_owned(), span))
        })
    });
    waits.map_or(Fact::Absent, |(why, span)| Fact::written(FactValue::text(why), span))
}

/// Returns the seconds after which a pod ends, if its container with accelerators only sleeps and nothing restarts it.
pub(super) fn sleeps_for(pod: &Pod, object: &KubernetesObject<'_>, index: &ObjectIndex<'_>) -> Fact<FactValue> {
    let mut asking = pod.containers.iter().filter(|part| request::asks(part));
    let first = asking.next().filter(|_| ends_once(pod, object));
    let Some(it) = first.and_then(|part| waiting(part, pod, index)) else { return Fact::Absent };
    match it.ends_after.filter(|_| asking.next().is_none()) {
        Some(seconds) => {
            Fact::known(FactValue::Number(seconds), it.span, FactOrigin::Inferred("its command only sleeps".into()))
        }
        None => Fact::Absent,
    }
}

/// The reason why a command waits.
struct Waiting {
    kind: WaitKind,
    why: String,
    span: Span,
    /// The seconds after which the command ends, if it does nothing but sleep.
    ends_after: Option<f64>,
    /// Whether it sleeps for a day or more.
    is_long: bool,
}

/// Returns what a command waits for, with its place.
fn waiting(part: &PodContainer, pod: &Pod, index: &ObjectIndex<'_>) -> Option<Waiting> {
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
    let nap = || command.contains("sleep").then(|| NAP.first_group(&command)).flatten();
    let (kind, text) = match WAITS.iter().find(waits) {
        Some(way) => (way.kind, way.pattern.first_group(&command)),
        None => (WaitKind::Naps, Some(nap()?)),
    };
    let seconds = text.and_then(|text| seconds(&text)).filter(|seconds| *seconds < FOREVER);
    Some(match (kind, seconds) {
        (WaitKind::Sleeps | WaitKind::Naps, Some(seconds)) => {
            let why = format!("its command sleeps for {} at a time", duration(seconds));
            let ends_after = nap().map(|_| seconds);
            Waiting { kind: WaitKind::Naps, why, span, ends_after, is_long: seconds >= 86_400.0 }
        }
        (kind, _) => Waiting { kind, why: kind.reason().to_owned(), span, ends_after: None, is_long: true },
    })
}

/// Returns the seconds of a duration of `sleep`: `7200`, `28h`, `3d`.
fn seconds(text: &str) -> Option<f64> {
    let unit = match text.chars().last()? {
        'd' => 86_400.0,
        'h' => 3_600.0,
        'm' => 60.0,
        _ => 1.0,
    };
    Some(text.trim_end_matches(['s', 'm', 'h', 'd']).parse::<f64>().ok()? * unit)
}

/// Formats seconds in the largest unit that they contain at least twice.
fn duration(seconds: f64) -> String {
    let units = [(86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")];
    let (length, unit) = units.into_iter().find(|(length, _)| seconds >= 2.0 * length).unwrap_or((1.0, "seconds"));
    format!("{} {unit}", (seconds / length).round())
}

/// Returns whether a script has a line that ends with `&` and is not a pause.
fn leaves_running(script: &str) -> bool {
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let mut behind = lines.filter(|line| line.ends_with('&') && !line.ends_with("&&"));
    behind.any(|line| !line.starts_with("sleep"))
}

/// Returns whether the pod ends when its command ends.
fn ends_once(pod: &Pod, object: &KubernetesObject<'_>) -> bool {
    matches!(object.kind, "Job" | "CronJob" | "JobSet") || object.kind == "Pod" && !is_started_again(pod, object)
}

/// Returns whether Kubernetes restarts the container when its command ends.
fn is_started_again(pod: &Pod, object: &KubernetesObject<'_>) -> bool {
    const KINDS: [&str; 5] = ["Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"];
    KINDS.contains(&object.kind) && pod.spec.text_at("restartPolicy").is_none_or(|policy| &**policy == "Always")
}

/// Returns the port that gives users access to a notebook: by its name, or by its number if the object is named after
/// notebooks.
fn let_in(part: &PodContainer, object: &KubernetesObject<'_>) -> Option<(&'static str, Span)> {
    const NUMBERS: [f64; 2] = [8888.0, 8787.0];
    const NAMES: [&str; 3] = ["jupyter", "notebook", "rstudio"];
    if let Some(span) = image_of_notebooks(part) {
        return Some((PEOPLE, span));
    }
    let ports = part.node.get("ports").map(Node::items).unwrap_or_default();
    let is_called = object.name.as_ref().is_some_and(|name| NAMES.iter().any(|known| name.contains(known)));
    let of_notebooks = |port: &&Node| {
        let is_named = port.text_at("name").is_some_and(|name| matches!(&**name, "notebook" | "jupyter"));
        is_named
            || is_called && port.get("containerPort").and_then(Node::number).is_some_and(|it| NUMBERS.contains(&it))
    };
    ports.iter().find(of_notebooks).map(|port| (PEOPLE, port.span))
}

/// Returns the place of an image that starts a notebook or an editor, if the container has no command of its own.
pub(super) fn image_of_notebooks(part: &PodContainer) -> Option<Span> {
    let has_command = ["command", "args"].iter().any(|key| part.node.get(key).is_some());
    let image = part.node.get("image").filter(|_| !has_command)?;
    programs::is_notebook_image(image.text()?).then_some(image.span)
}

/// Returns whether the container's command never does anything.
pub(super) fn only_sleeps(part: &PodContainer, pod: &Pod, index: &ObjectIndex<'_>) -> bool {
    waiting(part, pod, index).is_some_and(|it| matches!(it.kind, WaitKind::Sleeps | WaitKind::Naps | WaitKind::Looks))
}

/// A longer sleep counts as endless: a year, in seconds.
const FOREVER: f64 = 31_536_000.0;

#[derive(Clone, Copy, PartialEq)]
enum WaitKind {
    Sleeps,
    /// Sleeps for a limited time.
    Naps,
    Looks,
    LetsIn,
    People,
}

impl WaitKind {
    fn reason(self) -> &'static str {
        match self {
            WaitKind::Sleeps | WaitKind::Naps => "its command sleeps forever",
            WaitKind::Looks => "its command lists the devices forever",
            WaitKind::LetsIn => "people log in to it",
            WaitKind::People => PEOPLE,
        }
    }
}

const PEOPLE: &str = "people work in it";

/// A command that never ends and does not use an accelerator.
struct Wait {
    /// Every such command contains one of these words. Searching for them is faster than the pattern.
    words: &'static [&'static str],
    /// The first group is the duration of a sleep.
    pattern: AdaptiveRegex,
    kind: WaitKind,
}

static NAP: LazyLock<AdaptiveRegex> = LazyLock::new(|| {
    let shell = r"(?:/\S*/)?(?:bash|sh|ash|dash)|-\w*c";
    let quiet =
        r"(?:echo|printf|export|set|trap|date|hostname|env|ls|nvidia-smi|rocm-smi)\b(?:'[^']*'|[^;&|\n'])*[;\n]";
    AdaptiveRegex::new(format!(
        r"^(?:\s|{shell}|{quiet})*(?:exec\s+)?sleep\s+(\d{{4,}}|\d+h|\d{{2,}}m|\d+d)(?:\s*&\s*wait)?[\s;]*$"
    ))
});

static WAITS: LazyLock<[Wait; 4]> = LazyLock::new(|| {
    // A loop counts only if all of its commands print or sleep. Any other command between two pauses is work.
    let loops = r"while\s+(?:true|:|1|\[+\s*1\s*\]+)\s*;?\s*do\s+(?:(?:echo|printf|date|uptime|hostname|nvidia-smi|rocm-smi)\b[^;&|\n]*[;\n]\s*)*sleep\s+[^\s;&|]+(?:\s*&\s*wait\b[^;\n]*)?[\s;]*done\b";
    let stays = r"sleep\s+(?:infinity|inf|(\d{6,}|\d+d))\b|tail\s+-f\s+/dev/null";
    let forever = format!(r"(?:^|[\s;&|(])(?:{stays}|{loops})");
    let looks = r"^\s*(?:(?:/\S*/)?(?:bash|sh)\s+-\w*c\s+)?(?:watch\s+(?:-\S+\s+(?:\d\S*\s+)?)*)?(?:nvidia-smi\s[^;&|]*(?:--loop|-l\b)|nvidia-smi\s+dmon|watch\s[^;&|]*(?:nvidia|rocm)-smi)[^;&|]*$";
    let login = r"(?:^|[\s/;&|])sshd(?:\s+-\w+)*\s+-\w*D";
    let desk = r"(?:^|[\s/;&|])(?:jupyter[- ](?:lab|notebook|server)|code-server)\b";
    let wait = |words, pattern: &str, kind| Wait { words, pattern: AdaptiveRegex::new(pattern), kind };
    [
        wait(&["sleep", "tail"], &forever, WaitKind::Sleeps),
        wait(&["nvidia-smi", "rocm-smi"], looks, WaitKind::Looks),
        wait(&["sshd"], login, WaitKind::LetsIn),
        wait(&["jupyter", "code-server"], desk, WaitKind::People),
    ]
});
