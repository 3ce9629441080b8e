//! The documents that are open in the editor.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gen_lsp_types::TextDocumentContentChangeEvent;

use super::place::{path_of, real};
use super::position::{Encoding, TextLines};

/// A document as the editor has it, saved or not.
pub(super) struct OpenText {
    /// The document's path with links followed.
    pub(super) path: PathBuf,
    pub(super) version: i32,
    pub(super) text: String,
}

/// Documents by the editor's addresses.
#[derive(Default)]
pub(super) struct OpenTexts(BTreeMap<String, OpenText>);

impl OpenTexts {
    pub(super) fn open(&mut self, uri: &str, version: i32, text: String) -> Option<&OpenText> {
        let path = real(&path_of(uri)?);
        self.0.insert(uri.to_owned(), OpenText { path, version, text });
        self.0.get(uri)
    }

    /// Applies changes in their order.
    pub(super) fn change(
        &mut self,
        uri: &str,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> Option<&OpenText> {
        let document = self.0.get_mut(uri)?;
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    document.text = whole.text;
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let lines = TextLines::of(&document.text, encoding);
                    let (start, end) = (lines.offset(part.range.start), lines.offset(part.range.end));
                    document.text.replace_range(start..end.max(start), &part.text);
                }
            }
        }
        document.version = version;
        Some(document)
    }

    pub(super) fn close(&mut self, uri: &str) -> Option<OpenText> {
        self.0.remove(uri)
    }

    pub(super) fn get(&self, uri: &str) -> Option<&OpenText> {
        self.0.get(uri)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &OpenText)> {
        self.0.iter().map(|(uri, document)| (uri.as_str(), document))
    }

    /// Returns the editor's address of a file.
    pub(super) fn uri_of(&self, path: &std::path::Path) -> Option<&str> {
        self.0.iter().find(|(_, document)| document.path == path).map(|(uri, _)| uri.as_str())
    }
}
