//! What is not at hand, by its name and by what it is given: whether it may ask for accelerators.

use crate::inventory::accelerators;
use crate::languages::yaml::{Node, NodeData};
use crate::source::Sources;

/// Programs that ask for accelerators.
const ASKING: [&str; 3] = ["vllm", "triton", "ollama"];
/// Words in the names of what serves those that ask, and asks for none itself.
const SERVING: [&str; 6] = ["plugin", "operator", "dcgm", "discovery", "exporter", "driver"];

/// Whether what is called so may ask for accelerators.
pub(super) fn may_ask(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    speaks(&name) && !has(&name, &SERVING)
}

/// Whether a file speaks of them outside of comments; one that cannot be read may.
pub(super) fn in_file(sources: &Sources, path: &str) -> bool {
    let of_them = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).to_ascii_lowercase();
        text.lines().any(|line| !line.trim_start().starts_with('#') && speaks(line))
    };
    sources.glance(path, of_them).unwrap_or(true)
}

/// The same of values.
pub(super) fn in_values(node: &Node) -> bool {
    let speaks = |text: &str| speaks(&text.to_ascii_lowercase());
    match &node.data {
        NodeData::Scalar { text, .. } => speaks(text),
        NodeData::List(items) => items.iter().any(in_values),
        NodeData::Map(entries) => entries.iter().any(|it| speaks(&it.key) || in_values(&it.value)),
    }
}

/// A text of small letters.
fn speaks(text: &str) -> bool {
    has(text, &ASKING) || accelerators::are_mentioned(text)
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}
