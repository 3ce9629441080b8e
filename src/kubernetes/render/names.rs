//! What is not at hand, by its name and by what it is given: whether it may ask for accelerators.

use crate::languages::yaml::{Node, NodeData};
use crate::source::Sources;

/// Words of what asks for accelerators.
const ASKING: [&str; 12] = [
    "gpu",
    "nvidia",
    "cuda",
    "neuron",
    "accelerator",
    "vllm",
    "triton",
    "ollama",
    "trainium",
    "amd.com",
    "habana",
    "google.com/tpu",
];
/// Words in the names of what serves those that ask, and asks for none itself.
const SERVING: [&str; 6] = ["plugin", "operator", "dcgm", "discovery", "exporter", "driver"];

/// Whether what is called so may ask for accelerators.
pub(super) fn may_ask(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    has(&name, &ASKING) && !has(&name, &SERVING)
}

/// Whether a file speaks of them outside of comments; one that cannot be read may.
pub(super) fn in_file(sources: &Sources, path: &str) -> bool {
    let speaks = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).to_ascii_lowercase();
        text.lines().any(|line| !line.trim_start().starts_with('#') && has(line, &ASKING))
    };
    sources.glance(path, speaks).unwrap_or(true)
}

/// The same of values.
pub(super) fn in_values(node: &Node) -> bool {
    let speaks = |text: &str| has(&text.to_ascii_lowercase(), &ASKING);
    match &node.data {
        NodeData::Scalar { text, .. } => speaks(text),
        NodeData::List(items) => items.iter().any(in_values),
        NodeData::Map(entries) => entries.iter().any(|it| speaks(&it.key) || in_values(&it.value)),
    }
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}
