//! Finds changes in objects that decide how many pods of other objects run: objects that copy workloads to clusters, and
//! jobs that call `kubectl`.

use std::collections::BTreeSet;
use std::ops::Range;

use regex::Regex;

use super::change::{ChangedLine, lines};
use super::changed_files::ChangedFiles;
use crate::source::static_regex;

static_regex!(
/// Objects that copy other objects to clusters, with their API groups.
static COPIERS: Regex = r#"(?m)^\s*["']?kind["']?\s*:\s*["']?(?:(?:Cluster)?PropagationPolicy|(?:Cluster)?ResourcePlacement|Placement|PlacementRule|ManifestWorkReplicaSet|FederatedDeployment|ReplicaSchedulingPreference)\b"#);
static_regex!(
static GROUPS: Regex = r"\b(?:karmada|open-cluster-management|kubernetes-fleet|kubefed)\.io\b");
static_regex!(
/// The selected objects, and the next part of a policy.
static SELECTED: Regex = r"(?s)resourceSelectors.*?(?:\bplacement\b|\bpolicy\b|\z)");
static_regex!(static KIND: Regex = r"\bkind\W+(\w+)");
static_regex!(static NAME: Regex = r"\bname\W+([\w.-]+)");
static_regex!(
/// The own name of an object.
static OWN_NAME: Regex = r#"(?m)metadata["']?\s*:\s*(?:\{[^}]*?|\n(?:\s+.*\n)*?\s+)["']?name["']?\s*:\s*["']?([\w.-]+)"#);

/// Returns why the change of a copying object has an unknown effect. `text` is the whole object.
pub(super) fn copied(changed: &ChangedFiles, text: &str) -> Option<String> {
    if !COPIERS.is_match(text) || !GROUPS.is_match(text) {
        return None;
    }
    let workloads = workloads(changed);
    let concerns = match SELECTED.find(text).map(|found| found.as_str()) {
        Some(selected) => {
            let kinds: Vec<&str> = names(&KIND, selected).collect();
            let is_each_named = !kinds.is_empty() && names(&NAME, selected).count() >= kinds.len();
            !is_each_named || kinds.contains(&"Namespace") || names(&NAME, selected).any(|it| workloads.contains(it))
        }
        None => {
            let own = OWN_NAME.captures(text).and_then(|it| it.get(1)).map(|it| it.as_str());
            let is_named = |path: &String| {
                changed.head.text(path).is_some_and(|text| own.is_some_and(|own| words(&text).any(|it| it == own)))
            };
            !workloads.is_empty() && changed.speaking.iter().any(is_named)
        }
    };
    concerns.then(|| "it decides to how many clusters objects with accelerators are copied".to_owned())
}

fn names<'t>(pattern: &'static Regex, text: &'t str) -> impl Iterator<Item = &'t str> {
    pattern.captures_iter(text).filter_map(|it| Some(it.get(1)?.as_str()))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)))
}

/// Returns the names of objects with accelerators.
fn workloads<'c>(changed: &ChangedFiles<'c>) -> BTreeSet<&'c str> {
    let addresses = changed.resources().iter().map(|it| it.address.split(':').next().unwrap_or_default());
    addresses.filter_map(|address| address.rsplit('/').next()).collect()
}

static_regex!(
/// A command that changes other objects, and may change their number.
static COMMANDS: Regex = r"\b(?:kubectl|oc)\s[^|;&]*?\b(?:scale|autoscale|patch|replace|apply|create|delete|set resources)\b");
static_regex!(
/// An object that a command names with its kind.
static TARGETS: Regex = r"\b(?:deploy|deployments?|sts|statefulsets?|rs|replicasets?|rollouts?)(?:\.[a-z0-9.]+)?[ /]+([a-z][\w.-]*)");
static_regex!(static COUNTS: Regex = r"--replicas[= ]+(\S+)");
static_regex!(static CALLS: Regex = r#"^\s*(?:-\s+)?["']?(?:command|args|script|source)["']?\s*:"#);
static_regex!(static TIMES: Regex = r#"^\s*["']?(?:schedule|schedules|suspend|timeZone|timezone|parallelism|completions)["']?\s*:"#);

/// Returns the first changed line of a manifest that changes what a job does to other objects, or when, with the
/// command. `part` are the lines of the object.
pub(super) fn commanded(
    changed: &ChangedFiles,
    text: &str,
    part: &Range<usize>,
    new: &[ChangedLine],
    has_gone: bool,
) -> Option<(usize, String)> {
    if !(text.contains("kubectl") || text.contains("oc ")) || !text.contains("apiVersion") {
        return None;
    }
    let called = called(text);
    let flat = flat(text, &called);
    let command = COMMANDS.find(&flat)?.as_str().split_whitespace();
    let command = command.clone().next().zip(command.last()).map(|(program, verb)| format!("{program} {verb}"))?;
    let targets: Vec<&str> = names(&TARGETS, &flat).collect();
    let workloads = workloads(changed);
    let concerns = targets.is_empty() || targets.iter().any(|it| workloads.contains(it)) || flat.contains('$');
    // A new job that only sets workloads to zero saves their cost.
    let is_new = new.len() >= part.len() && !has_gone;
    let mut counts = names(&COUNTS, &flat).peekable();
    let only_stops = is_new && counts.peek().is_some() && counts.all(|it| it == "0");
    if !concerns || only_stops {
        return None;
    }
    let decides =
        |line: &&ChangedLine| called.contains(&line.number.saturating_sub(part.start)) || TIMES.is_match(line.text);
    let line = new.iter().find(decides)?.number;
    Some((line, format!("it changes other objects by `{command}`, and gpulint cannot read the effect")))
}

/// Returns the numbers of lines with commands and their arguments.
fn called(text: &str) -> BTreeSet<usize> {
    let mut called = BTreeSet::new();
    let mut open: Option<usize> = None;
    for line in lines(text) {
        let own = line.indent();
        let is_item = line.text.trim_start().starts_with('-');
        open = open.filter(|key| line.text.trim().is_empty() || own > *key || own == *key && is_item);
        if CALLS.is_match(line.text) {
            // In `- command: …`, the key begins after the dash.
            open = Some(if is_item { own + 2 } else { own });
        }
        if open.is_some() {
            called.insert(line.number);
        }
    }
    called
}

/// Returns the words of commands on one line, without brackets and quotes.
fn flat(text: &str, called: &BTreeSet<usize>) -> String {
    let mut flat = String::new();
    for line in lines(text).filter(|line| called.contains(&line.number)) {
        let line = line.text.trim_start().trim_start_matches("- ");
        flat.extend(line.chars().map(|c| if "\"',[]\\".contains(c) { ' ' } else { c }));
        flat.push(' ');
    }
    flat.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_jobs_are_found_in_each_form() {
        for text in [
            "command: [kubectl, scale, --replicas=2, deployment/llm]",
            "    command:\n    - kubectl\n    - scale\n    - deployment/llm\n    - --replicas\n    - \"2\"\n    image: x",
            "  - args: [\"-c\", \"kubectl -n ml scale deploy/llm --replicas=2\"]",
            "args:\n- |\n  set -e\n  kubectl scale deployment/llm --replicas 2",
        ] {
            let flat = flat(text, &called(text));
            assert!(COMMANDS.is_match(&flat), "{flat}");
            assert_eq!(names(&COUNTS, &flat).collect::<Vec<_>>(), ["2"], "{flat}");
            assert_eq!(names(&TARGETS, &flat).collect::<Vec<_>>(), ["llm"], "{flat}");
        }
        let text = "image: kubectl:scale\ncommand: [ls]\nenv: kubectl scale";
        assert!(!COMMANDS.is_match(&flat(text, &called(text))));
    }
}
