//! Reads the model repository that a Triton command names, to find out whether the server batches requests.

use std::sync::Arc;

use crate::inventory::programs::ProgramSetting;
use crate::inventory::{Fact, FactOrigin};
use crate::languages::yaml::Node;
use crate::source::{FileId, Span, lines_with_offsets};

use crate::kubernetes::objects::index::ObjectIndex;

/// The file with the serving configuration of a model, in protocol buffer text.
pub(super) const CONFIGURATION: &str = "config.pbtxt";

/// Backends whose models only the server can batch (documentation of Triton, 2026-11). Other backends have their own
/// batching.
const BATCHED: [&str; 5] = ["onnxruntime", "tensorrt_plan", "pytorch", "tensorflow", "openvino"];

/// Returns the fact that requests are not batched, if this is true for every model that could be batched. The
/// configurations are files of the tree, or entries of mounted ConfigMaps.
pub(super) fn settings(files: &[FileId], mounted: &[&Node], index: &ObjectIndex<'_>) -> Option<Vec<ProgramSetting>> {
    let sources = index.sources()?;
    let of_file = files.iter().filter_map(|file| unbatched(*file, &sources.text(*file)));
    // The lines of a text in YAML have other places than in the file.
    let of_entry = mounted.iter().filter_map(|node| Some((node.span, unbatched(node.span.file, node.text()?)?.1)));
    let models: Vec<(Span, bool)> = of_file.chain(of_entry).collect();
    let (span, _) = models.first().filter(|_| models.iter().all(|(_, alone)| *alone))?;
    let why = FactOrigin::Inferred("a folder or a mounted ConfigMap here is its model repository".into());
    let value = Fact::known(Arc::from("1"), *span, why);
    Some(vec![ProgramSetting { path: "max_batch_size".to_owned(), value }])
}

/// Returns the place that disables batching, or the start of the model, and whether batching is disabled; `None` if the
/// backend batches itself.
fn unbatched(file: FileId, text: &str) -> Option<(Span, bool)> {
    let (mut size, mut backend, mut batches, mut head) = (None, "", false, None);
    let mut depth = 0usize;
    for (at, line) in lines_with_offsets(text) {
        let said = line.split('#').next().unwrap_or_default().trim_end();
        let words = said.trim_start();
        let start = at + said.len() - words.len();
        if words.is_empty() {
            continue;
        }
        let span = Span::new(file, start, start + words.len());
        head.get_or_insert(span);
        if depth == 0 {
            let name = words.split([':', '{', ' ']).next().unwrap_or_default();
            let value = words.split_once(':').map_or("", |(_, value)| value.trim().trim_matches('"'));
            match name {
                "max_batch_size" => size = Some((value, span)),
                "platform" | "backend" => backend = value,
                "dynamic_batching" | "sequence_batching" => batches = true,
                _ => {}
            }
        }
        let count = |all: [char; 2]| words.matches(all).count();
        depth = (depth + count(['{', '['])).saturating_sub(count(['}', ']']));
    }
    if !BATCHED.iter().any(|known| backend.starts_with(known)) {
        return None;
    }
    match size {
        Some(("0", span)) => Some((span, true)),
        // If no batch size is set, the server may choose one and batch.
        None => Some((head?, false)),
        Some(_) => Some((head?, !batches)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    #[test]
    fn a_model_is_batched_by_what_stands_at_the_top() {
        let file = SourceFiles::new(MemoryTree::new().with("a", "")).open("a").unwrap();
        let alone = |text: &str| unbatched(file, text).map(|(_, alone)| alone);
        assert_eq!(alone("platform: \"onnxruntime_onnx\"\nmax_batch_size: 0\n"), Some(true));
        assert_eq!(alone("backend: \"pytorch\"\nmax_batch_size: 8 # of them\n"), Some(true));
        assert_eq!(alone("backend: \"pytorch\"\nmax_batch_size: 8\ndynamic_batching { }\n"), Some(false));
        assert_eq!(alone("backend: \"pytorch\"\nx {\n  max_batch_size: 0\n}\n"), Some(false));
        assert_eq!(alone("backend: \"vllm\"\nmax_batch_size: 0\n"), None);
    }
}
