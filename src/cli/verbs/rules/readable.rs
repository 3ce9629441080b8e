//! Whether the files of an example are what their language demands. A run passes over text that has nothing to do with
//! accelerators, however broken; in an example somebody means every line.

use crate::cli::session::imagined::told;
use crate::languages::yaml::{self, Node};
use crate::rules::ExampleFile;
use crate::source::Sources;

/// Fields of a pod that an API server takes as lists alone.
const LISTS: [&str; 6] = ["containers", "initContainers", "env", "volumes", "volumeMounts", "tolerations"];

/// What an API server, or any reader of JSON, would refuse of these files.
pub(super) fn demand(sources: &Sources, files: &[ExampleFile]) -> Result<(), String> {
    let is_read = |file: &&ExampleFile| [".yaml", ".yml", ".json"].iter().any(|ending| file.path.ends_with(ending));
    // What a template makes is known to whoever renders it.
    for file in files.iter().filter(is_read).filter(|file| !file.text.contains("{{")) {
        let Ok(id) = sources.open(&file.path) else { continue };
        let stream = yaml::read(id, &file.text);
        let broken = stream.diagnostics.iter().find(|it| it.unreadable);
        if let Some((wrong, span)) = broken.and_then(|wrong| Some((wrong, wrong.span?))) {
            let is_json = file.path.ends_with(".json");
            let why = if is_json { "the file is not valid JSON".to_owned() } else { told(wrong) };
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

/// Kinds of a cluster itself, of which the shape is known.
fn is_built_in(root: &Node) -> bool {
    let version = root.text_at("apiVersion").map(|text| &**text).unwrap_or_default();
    matches!(version.split('/').next(), Some("v1" | "apps" | "batch"))
}

/// The fields that should be lists and are mappings, with their values.
fn wrong_shapes(node: &Node) -> Vec<(&str, &Node)> {
    let mut wrong = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        for entry in node.entries() {
            if LISTS.contains(&&*entry.key) && entry.value.is_map() {
                wrong.push((&*entry.key, &entry.value));
            }
            // names of labels and keys of data are anybody's
            if !matches!(&*entry.key, "labels" | "annotations" | "data" | "stringData") {
                open.push(&entry.value);
            }
        }
        open.extend(node.items());
    }
    wrong
}
