//! Parses the documents that fixes edit, each once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::azure::{without_comments, written_resources};
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, SourceFiles, Span};

use super::braces::BraceSyntax;

/// The documents that fixes edit.
#[derive(Default)]
pub struct EditedTemplates {
    files: RefCell<HashMap<FileId, Rc<ParsedDocument>>>,
}

/// A document with its parts.
pub(super) struct ParsedDocument {
    pub(super) text: Arc<str>,
    /// The syntax of a document with braces, and its text with blanks in place of comments.
    pub(super) braces: Option<(BraceSyntax, String)>,
    pub(super) content: DocumentContent,
}

pub(super) enum DocumentContent {
    Tree(Node),
    /// The type and the object of each resource, by its place.
    Bicep(HashMap<Span, (Arc<str>, Node)>),
    /// A document with a syntax error.
    Nothing,
}

impl EditedTemplates {
    /// Returns the document of a file. The type of a resource shows its language.
    pub(super) fn document(&self, sources: &SourceFiles, file: FileId, kind: &str) -> Rc<ParsedDocument> {
        let parse = || Rc::new(ParsedDocument::of(sources, file, kind));
        self.files.borrow_mut().entry(file).or_insert_with(parse).clone()
    }
}

impl ParsedDocument {
    fn of(sources: &SourceFiles, file: FileId, kind: &str) -> ParsedDocument {
        let text = sources.text(file);
        if sources.path(file).ends_with(".bicep") {
            let written = written_resources(file, &text);
            let braces = Some((BraceSyntax::Bicep, blanked(&text, &written.comments)));
            return ParsedDocument { text, braces, content: DocumentContent::Bicep(written.by_place) };
        }
        let plain = match is_of_azure(kind) {
            true => without_comments(file, &text).0.into_owned(),
            false => text.to_string(),
        };
        let stream = match is_of_cloudformation(kind) {
            true => yaml::read_tagged(file, &text, sources.limits()),
            false => yaml::read_within(file, &plain, sources.limits()),
        };
        let root = stream.documents.into_iter().next().map(|document| document.root);
        let content = root.map_or(DocumentContent::Nothing, DocumentContent::Tree);
        let is_json = plain.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        ParsedDocument { text, braces: is_json.then_some((BraceSyntax::Json, plain)), content }
    }
}

/// Returns true for `AWS::EC2::Instance`.
pub(super) fn is_of_cloudformation(kind: &str) -> bool {
    kind.contains("::")
}

/// Returns true for `Microsoft.Compute/virtualMachines`. Types of Pulumi have colons.
pub(super) fn is_of_azure(kind: &str) -> bool {
    !kind.contains(':')
}

/// Replaces comments by blanks.
fn blanked(text: &str, comments: &[Span]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for comment in comments {
        for byte in bytes.get_mut(comment.range()).into_iter().flatten() {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
