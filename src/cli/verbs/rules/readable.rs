//! Checks that the files of an example are valid in their language. A check of a repository skips files without
//! accelerators, even invalid ones, but in an example every line must be valid.

use crate::cli::session::in_memory_tree::describe_mistake;
use crate::languages::yaml::{self, Node};
use crate::rules::ExampleFile;
use crate::source::SourceFiles;

/// Fields of a pod that must be lists.
const LISTS: [&str; 6] = ["containers", "initContainers", "env", "volumes", "volumeMounts", "tolerations"];

/// Refuses files that an API server or a JSON parser would reject.
pub(super) fn demand(sources: &SourceFiles, files: &[ExampleFile]) -> Result<(), String> {
    let is_read = |file: &&ExampleFile| [".yaml", ".yml", ".json"].iter().any(|ending| file.path.ends_with(ending));
    // The content of a template is unknown before rendering.
    for file in files.iter().filter(is_read).filter(|file| !file.text.contains("{{")) {
        let Ok(id) = sources.open(&file.path) else { continue };
        let stream = yaml::read(id, &file.text);
        let broken = stream.diagnostics.iter().find(|it| it.unreadable);
        if let Some((wrong, span)) = broken.and_then(|wrong| Some((wrong, wrong.span?))) {
            let is_json = file.path.ends_with(".json");
            let why = if is_json { "the file is not valid JSON".to_owned() } else { describe_mistake(wrong) };
            return Err(refused(file, sources.locate(span).line, &why));
        }
        let built_in = stream.documents.iter().map(|it| &it.root).filter(|root| is_built_in(root));
        if let Some((field, node)) = built_in.flat_map(wrong_shapes).next() {
            let line = sources.locate(node.span).line;
            return Err(refused(file, line, &format!("`{field}` must be a list, not a mapping")));
        }
    }
    Ok(())
}

pub(super) fn refused(file: &ExampleFile, line: usize, why: &str) -> String {
    format!("line {} of the rule file: gpulint cannot read `{}`: {why}", file.line + line, file.path)
}

/// Whether the object has a built-in Kubernetes kind, whose schema is known.
fn is_built_in(root: &Node) -> bool {
    let version = root.text_at("apiVersion").map(|text| &**text).unwrap_or_default();
    matches!(version.split('/').next(), Some("v1" | "apps" | "batch"))
}

/// Returns fields that must be lists but are mappings, with their values.
fn wrong_shapes(node: &Node) -> Vec<(&str, &Node)> {
    let mut wrong = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        for entry in node.entries() {
            if LISTS.contains(&&*entry.key) && entry.value.is_map() {
                wrong.push((&*entry.key, &entry.value));
            }
            // Labels and data can have any keys.
            if !matches!(&*entry.key, "labels" | "annotations" | "data" | "stringData") {
                open.push(&entry.value);
            }
        }
        open.extend(node.items());
    }
    wrong
}
