//! Detects template files.

use crate::languages::cloudformation::CloudTemplate;
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, SourceFiles};
use crate::templates::driver::ParsedTemplate;

/// Marks of other template languages. A file with one of them is not a template yet. Double braces alone may belong to
/// a Systems Manager document.
const FILLED_IN: [&str; 2] = ["{% ", "{%- "];

/// The first key of most YAML templates, and of nothing else.
const VERSION: &str = "AWSTemplateFormatVersion:";

/// Parses a candidate; `None` if it is another file.
pub(super) fn parse(sources: &SourceFiles, path: &str, file: FileId) -> Option<ParsedTemplate<CloudTemplate>> {
    let text = sources.text(file);
    if FILLED_IN.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let stream = yaml::read_tagged(file, &text, sources.limits());
    if stream.has_directives {
        return None;
    }
    let template = stream.documents.first().and_then(|it| CloudTemplate::of(&it.root));
    let (comments, diagnostics) = (stream.comments, stream.diagnostics);
    // JSON without declarations, such as a service description, names types and creates none.
    let is_data = || path.ends_with(".json") && !stream.documents.iter().any(|it| declares(&it.root));
    match template {
        Some(_) => Some(ParsedTemplate { template, comments, diagnostics }),
        None if stream.documents.is_empty() => {
            let refused = ParsedTemplate { template, comments: Vec::new(), diagnostics };
            text.starts_with(VERSION).then_some(refused)
        }
        None => is_data().then(ParsedTemplate::empty),
    }
}

/// Returns true if any part has a CloudFormation type: a fragment that other templates include has one.
fn declares(root: &Node) -> bool {
    let is_type = |node: &Node| node.text_at("Type").is_some_and(|it| it.starts_with("AWS::"));
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if is_type(node) {
            return true;
        }
        open.extend(node.inner());
    }
    false
}
