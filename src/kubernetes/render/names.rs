//! Decides whether a missing part may request accelerators, by its name and its values.

use crate::inventory::accelerators;
use crate::inventory::snake_case::snake_case;
use crate::languages::helm::{self, Chart};
use crate::languages::yaml::{Node, NodeData};
use crate::source::SourceFiles;

/// Programs that request accelerators.
const ASKING: [&str; 3] = ["vllm", "triton", "ollama"];
/// Words in the names of components that support accelerators without requesting any.
const SERVING: [&str; 6] = ["plugin", "operator", "dcgm", "discovery", "exporter", "driver"];

/// Returns whether a component with this name may request accelerators.
pub(super) fn may_ask(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    speaks(&name) && !has(&name, &SERVING)
}

/// Returns whether a file mentions accelerators outside comments. An unreadable file may mention them.
pub(super) fn in_file(sources: &SourceFiles, path: &str) -> bool {
    let of_them = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).to_ascii_lowercase();
        // Most files mention nothing, and one search of all lines is faster than a search of each.
        speaks(&text) && text.lines().any(|line| !line.trim_start().starts_with('#') && speaks(line))
    };
    sources.glance(path, of_them).unwrap_or(true)
}

/// Returns whether values mention accelerators.
pub(in crate::kubernetes) fn in_values(node: &Node) -> bool {
    let speaks = |text: &str| speaks(&text.to_ascii_lowercase());
    match &node.data {
        NodeData::Scalar { text, .. } => speaks(text),
        NodeData::List(items) => items.iter().any(in_values),
        NodeData::Map(entries) => entries.iter().any(|it| speaks(&it.key) || in_values(&it.value)),
    }
}

/// Returns whether the values below a key mention accelerators, for any place of the key.
pub(super) fn in_values_of(values: &Node, keys: &[&str]) -> bool {
    match &values.data {
        NodeData::Scalar { .. } => false,
        NodeData::List(items) => items.iter().any(|item| in_values_of(item, keys)),
        NodeData::Map(entries) => {
            let is_inside = |key: &str, value: &Node| {
                if keys.contains(&key) { in_values(value) } else { in_values_of(value, keys) }
            };
            entries.iter().any(|it| is_inside(&it.key, &it.value))
        }
    }
}

/// Returns whether a file of a chart mentions accelerators: its templates, its values, or those of its subcharts. A
/// packed subchart may.
pub(super) fn in_chart(sources: &SourceFiles, chart: &Chart) -> bool {
    let is_read =
        |path: &&String| path.contains("templates/") || path.ends_with("values.yaml") || path.ends_with(".tgz");
    chart.inputs.iter().filter(is_read).any(|path| path.ends_with(".tgz") || in_file(sources, path))
}

/// Returns whether no object of a template runs anything, regardless of the values. A ConfigMap may contain a pod for
/// another program.
pub(super) fn runs_nothing(sources: &SourceFiles, path: &str) -> bool {
    let kinds: Vec<&str> = helm::IDLE_KINDS.iter().copied().chain(["ConfigMap"]).collect();
    let is_idle = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let is_plain = || !accelerators::are_mentioned(&text.to_ascii_lowercase()) && !text.contains("containers");
        helm::makes_only(&text, helm::IDLE_KINDS) || helm::makes_only(&text, &kinds) && is_plain()
    };
    sources.glance(path, is_idle).unwrap_or(false)
}

/// Words in the names of values that determine the number of containers or their machines.
const DECIDING: [&str; 36] = [
    "affinity",
    "autoscaling",
    "class",
    "copies",
    "count",
    "enabled",
    "flavor",
    "flavour",
    "instance",
    "instances",
    "limits",
    "machine",
    "max",
    "min",
    "node",
    "nodes",
    "number",
    "parallelism",
    "pods",
    "pool",
    "profile",
    "replica",
    "replicas",
    "requests",
    "resources",
    "scale",
    "scaling",
    "selector",
    "shape",
    "shards",
    "size",
    "sku",
    "tolerations",
    "type",
    "worker",
    "workers",
];

/// Returns whether a value with this name may determine the number of accelerators or containers, or the machine.
pub(in crate::kubernetes) fn may_decide(name: &str) -> bool {
    let words = snake_case(name);
    let is_deciding = |word: &str| DECIDING.contains(&word);
    speaks(&words) || words.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_deciding)
}

/// Returns whether a lower-case string mentions accelerators.
fn speaks(text: &str) -> bool {
    has(text, &ASKING) || accelerators::are_mentioned(text)
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}
