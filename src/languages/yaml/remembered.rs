//! Remembers parsed documents, for a process that reads many states of one tree. Most files are the same in the next
//! state. A document is parsed again unless its file number, its place and its whole text are equal.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::node::Node;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// The limit on values of all remembered documents, about 100 MB.
const MOST_NODES: usize = 500_000;

/// The result of parsing one document.
#[derive(Debug, Clone)]
pub(super) struct DocumentResult {
    pub(super) root: Result<Option<Node>, Diagnostic>,
    pub(super) notes: Vec<Diagnostic>,
    pub(super) comments: Vec<Span>,
    pub(super) has_directives: bool,
}

/// Everything except the content on which the result of parsing depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DocumentKey {
    pub(super) file: FileId,
    pub(super) base: usize,
    pub(super) nesting: u32,
    pub(super) most_nodes: u32,
    pub(super) wraps_tags: bool,
    /// Whether the document is a string of another document.
    pub(super) is_nested: bool,
}

static DOCUMENTS: OnceLock<Mutex<RememberedDocuments>> = OnceLock::new();

/// Remembers the documents of this process from now on.
pub(crate) fn remember_documents() {
    DOCUMENTS.get_or_init(Mutex::default);
}

/// Returns the remembered result for the same document, or parses the document.
pub(super) fn remembered(key: DocumentKey, text: &str, parse: impl FnOnce() -> DocumentResult) -> DocumentResult {
    let Some(documents) = DOCUMENTS.get() else { return parse() };
    let mut hasher = DefaultHasher::new();
    (key, text).hash(&mut hasher);
    let digest = hasher.finish();
    let known = documents.lock().unwrap_or_else(PoisonError::into_inner).get(digest, key, text);
    known.unwrap_or_else(|| {
        let parsed = parse();
        let mut documents = documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.add(digest, RememberedDocument { key, text: text.into(), parsed: parsed.clone(), used: 0 });
        parsed
    })
}

#[derive(Debug)]
struct RememberedDocument {
    key: DocumentKey,
    text: Box<str>,
    parsed: DocumentResult,
    /// The time of the last use.
    used: u64,
}

impl RememberedDocument {
    /// The number of bytes that count as one value.
    const BYTES_OF_NODE: usize = 128;

    fn nodes(&self) -> usize {
        let own = self.parsed.root.as_ref().ok().and_then(Option::as_ref).map_or(0, |root| root.weight as usize);
        1 + own + self.text.len() / Self::BYTES_OF_NODE
    }
}

#[derive(Debug, Default)]
struct RememberedDocuments {
    by_digest: HashMap<u64, RememberedDocument>,
    nodes: usize,
    clock: u64,
}

impl RememberedDocuments {
    fn get(&mut self, digest: u64, key: DocumentKey, text: &str) -> Option<DocumentResult> {
        self.clock += 1;
        let known = self.by_digest.get_mut(&digest).filter(|it| it.key == key && *it.text == *text)?;
        known.used = self.clock;
        Some(known.parsed.clone())
    }

    fn add(&mut self, digest: u64, document: RememberedDocument) {
        let nodes = document.nodes();
        if nodes > MOST_NODES / 8 {
            return;
        }
        if self.nodes + nodes > MOST_NODES {
            self.make_room();
        }
        self.clock += 1;
        self.nodes += nodes;
        let document = RememberedDocument { used: self.clock, ..document };
        if let Some(before) = self.by_digest.insert(digest, document) {
            self.nodes -= before.nodes();
        }
    }

    /// Drops the least recently used half.
    fn make_room(&mut self) {
        let mut used: Vec<u64> = self.by_digest.values().map(|it| it.used).collect();
        used.sort_unstable();
        let median = used.get(used.len() / 2).copied().unwrap_or_default();
        self.by_digest.retain(|_, it| it.used > median);
        self.nodes = self.by_digest.values().map(RememberedDocument::nodes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    fn parsed(weight: u32, file: FileId) -> DocumentResult {
        let root = Node { weight, ..Node::scalar(Span::new(file, 0, 1), "a", true) };
        DocumentResult { root: Ok(Some(root)), notes: Vec::new(), comments: Vec::new(), has_directives: false }
    }

    #[test]
    fn only_the_same_document_is_known_and_the_least_recent_ones_are_dropped() {
        let sources = SourceFiles::new(MemoryTree::new().with("a", "a"));
        let file = sources.open("a").unwrap();
        let key = |base| DocumentKey { file, base, nesting: 9, most_nodes: 9, wraps_tags: false, is_nested: false };
        let mut documents = RememberedDocuments::default();
        let weight = u32::try_from(MOST_NODES / 10).unwrap();
        let add = |documents: &mut RememberedDocuments, base: usize| {
            let document =
                RememberedDocument { key: key(base), text: "a".into(), parsed: parsed(weight, file), used: 0 };
            documents.add(base as u64, document);
        };
        (0..9).for_each(|base| add(&mut documents, base));
        assert!(documents.get(0, key(0), "a").is_some(), "the same document");
        assert!(documents.get(0, key(1), "a").is_none(), "another place");
        assert!(documents.get(0, key(0), "b").is_none(), "another text");
        add(&mut documents, 9);
        let known: Vec<bool> = (0..10).map(|base| documents.get(base as u64, key(base), "a").is_some()).collect();
        assert_eq!(known, [true, false, false, false, false, false, true, true, true, true]);
        assert!(documents.nodes <= MOST_NODES);
    }
}
