//! Edits a document in its file, or in the files from which it is built.

use std::ops::Range;

use crate::inventory::Declined;
use crate::languages::yaml::{AddedPiece, EditedFile, Node, NodeEntry};
use crate::source::{Edit, SourceFiles, Span};

use super::declining::{Result, left_alone};
use super::{chart_values, origins, template_lines};

/// A document that is edited.
pub(super) struct EditedDocument<'t> {
    text: &'t str,
    file: EditedFile<'t>,
    /// The source files, if the document is built from others. The edits then go to those files.
    sources: Option<&'t SourceFiles>,
}

impl<'t> EditedDocument<'t> {
    /// `own` is the document of the file that is edited.
    pub(super) fn new(text: &'t str, own: &str, root: &Node, sources: Option<&'t SourceFiles>) -> EditedDocument<'t> {
        EditedDocument { text, file: EditedFile::new(text, own, root), sources }
    }

    /// Returns what the file has at a place.
    pub(super) fn text_of(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Replaces a scalar, and keeps its quotes.
    pub(super) fn replace(&self, node: &Node, new: &AddedPiece) -> Result<Edit> {
        match self.sources {
            Some(sources) => origins::at_scalar(sources, node, &|paper, node| paper.replace(node, new)),
            None => self.file.replace(node, new).map_err(Declined::from),
        }
    }

    /// Replaces a scalar by a mapping in brackets.
    pub(super) fn exchange(&self, node: &Node, new: &AddedPiece) -> Result<Edit> {
        match self.sources {
            Some(sources) => origins::at_scalar(sources, node, &|paper, node| paper.exchange(node, new)),
            None => self.file.exchange(node, new).map_err(Declined::from),
        }
    }

    /// Adds keys after the others.
    pub(super) fn insert(&self, map: &Node, new: &[(String, AddedPiece)]) -> Result<Edit> {
        let Some(sources) = self.sources else { return self.file.insert(map, new).map_err(Declined::from) };
        let in_file = origins::at_map(sources, map, &|paper, map| paper.insert(map, new));
        let is_template = |entry: &NodeEntry| chart_values::is_template(sources, sources.origin(entry.key_span));
        match in_file {
            Err(_) if map.entries().iter().any(is_template) => self.insert_in_template(sources, map, new),
            other => other,
        }
    }

    /// Adds keys to a mapping of a document that a template builds.
    fn insert_in_template(&self, sources: &SourceFiles, map: &Node, new: &[(String, AddedPiece)]) -> Result<Edit> {
        let lines = |column: usize| self.file.lines(new, column);
        let keys: Vec<&str> = new.iter().map(|(key, _)| key.as_str()).collect();
        template_lines::before_entry(sources, self.text, map, &keys, &lines)
    }

    /// Adds a value to a key without one: `labels:`.
    pub(super) fn fill(&self, map: &Node, entry: &NodeEntry, value: &AddedPiece) -> Result<Edit> {
        if self.sources.is_some() {
            return left_alone("the value is not a mapping");
        }
        self.file.fill(map, entry, value).map_err(Declined::from)
    }

    /// Adds an item after the others.
    pub(super) fn append(&self, list: &Node, item: &AddedPiece) -> Result<Edit> {
        match self.sources {
            Some(sources) => origins::at_list(sources, list, &|paper, list| paper.append(list, item)),
            None => self.file.append(list, item).map_err(Declined::from),
        }
    }

    /// Removes items.
    pub(super) fn without_items(&self, list: &Node, gone: Range<usize>) -> Result<Vec<Edit>> {
        if self.sources.is_some() {
            return left_alone("its arguments are in a file that another program builds");
        }
        self.file.without_items(list, gone).map_err(Declined::from)
    }
}
