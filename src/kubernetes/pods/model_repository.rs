//! A repository of models that a command of Triton names: whether the server batches what comes for them.

use std::sync::Arc;

use crate::inventory::programs::Setting;
use crate::inventory::{Fact, Origin};
use crate::source::{FileId, Span, lines_with_offsets};

use crate::kubernetes::objects::index::ObjectIndex;

/// The file of a model that says how it is served, in text of protocol buffers.
pub(super) const CONFIGURATION: &str = "config.pbtxt";

/// Backends whose models are batched by the server or not at all (documentation of Triton, 2026-11); others have batches of their own.
const BATCHED: [&str; 5] = ["onnxruntime", "tensorrt_plan", "pytorch", "tensorflow", "openvino"];

/// What the models say together: a request at a time where that holds for each of them that could be batched.
pub(super) fn settings(files: &[FileId], index: &ObjectIndex<'_>) -> Option<Vec<Setting>> {
    let sources = index.sources()?;
    let models: Vec<(Span, bool)> = files.iter().filter_map(|file| unbatched(*file, &sources.text(*file))).collect();
    let (span, _) = models.first().filter(|_| models.iter().all(|(_, alone)| *alone))?;
    let why = Origin::Inferred("a folder here has the name of its model repository".into());
    let value = Fact::known(Arc::from("1"), *span, why);
    Some(vec![Setting { path: "max_batch_size".to_owned(), value }])
}

/// Where it says that a model is not batched, or where it begins, and whether that is so; nothing where the backend batches by itself.
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
        // Without a size the server may work one out, and batch then.
        None => Some((head?, false)),
        Some(_) => Some((head?, !batches)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, Sources};

    #[test]
    fn a_model_is_batched_by_what_stands_at_the_top() {
        let file = Sources::new(MemoryTree::new().with("a", "")).open("a").unwrap();
        let alone = |text: &str| unbatched(file, text).map(|(_, alone)| alone);
        assert_eq!(alone("platform: \"onnxruntime_onnx\"\nmax_batch_size: 0\n"), Some(true));
        assert_eq!(alone("backend: \"pytorch\"\nmax_batch_size: 8 # of them\n"), Some(true));
        assert_eq!(alone("backend: \"pytorch\"\nmax_batch_size: 8\ndynamic_batching { }\n"), Some(false));
        assert_eq!(alone("backend: \"pytorch\"\nx {\n  max_batch_size: 0\n}\n"), Some(false));
        assert_eq!(alone("backend: \"vllm\"\nmax_batch_size: 0\n"), None);
    }
}
