//! Parses YAML and JSON to trees with spans. Only this module imports the parser crate.
//!
//! A stream is first split at its document markers, which no YAML construct can hide. Therefore a syntax error in one
//! document is one diagnostic and affects no other. Aliases have a budget of nodes, and nesting has a limit.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Tag};

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, GoLines, Limits, ParserText, Span, from_base64};

use super::alias_keys;
use super::documents::documents;
use super::hole::{HOLE, HoleMeaning, Masked, TemplateDirective};
use super::json;
use super::node::{Node, NodeData, NodeEntry};
use super::remembered::{DocumentKey, DocumentResult, remembered};
use super::scalar;

/// The limit on nesting, so that recursion fits a small stack. Real manifests nest less than 40 levels.
const NESTING_LIMIT: usize = 128;
/// Mappings with more keys than this use a hash map.
const LONGEST_SEARCHED: usize = 12;
/// The limit on notes about duplicate keys in one document.
const REPEATED_KEYS_NAMED: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct YamlStream {
    /// Documents in order, without empty ones and those with syntax errors.
    pub documents: Vec<YamlDocument>,
    pub diagnostics: Vec<Diagnostic>,
    /// Comments for gpulint.
    pub comments: Vec<Span>,
    /// Whether template directives appear as mappings.
    pub has_directives: bool,
}

impl YamlStream {
    /// Returns the number of documents with syntax errors.
    pub(crate) fn broken(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.unreadable).count()
    }
}

#[derive(Debug)]
pub(crate) struct YamlDocument {
    pub root: Node,
    pub span: Span,
}

/// Parses all documents of a text.
pub(crate) fn read(file: FileId, text: &str) -> YamlStream {
    read_within(file, text, Limits::DEFAULT)
}

/// Parses with the user's limits.
pub(crate) fn read_within(file: FileId, text: &str, limits: Limits) -> YamlStream {
    read_those(file, text, limits, |_| true)
}

/// Parses only documents that a condition on their text selects.
pub(crate) fn read_those(file: FileId, text: &str, limits: Limits, is_wanted: impl Fn(&str) -> bool) -> YamlStream {
    let reading = Reading { file, original: text, text, holes: &[], limits, wraps_tags: false };
    reading.stream(is_wanted)
}

/// Parses JSON that is not YAML; `None` if it is not JSON either.
pub(crate) fn read_json(
    file: FileId,
    text: &str,
    limits: Limits,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<YamlStream> {
    let (plain, ranges) = json::values(text)?;
    let reading = Reading { file, original: text, text: &plain, holes: &[], limits, wraps_tags: false };
    Some(reading.stream_of(ranges, is_wanted))
}

/// Parses a language with its own tags. A tag becomes the only key of a mapping around its value: `!Ref a` is `{"!Ref":
/// a}`.
pub(crate) fn read_tagged(file: FileId, text: &str, limits: Limits) -> YamlStream {
    Reading { file, original: text, text, holes: &[], limits, wraps_tags: true }.stream(|_| true)
}

/// Parses one document that starts at `base` of a file; `None` for a syntax error.
pub(crate) fn read_at(file: FileId, base: usize, text: &str) -> Option<Node> {
    let range = documents(text).into_iter().next()?;
    let piece = text.get(range.clone())?;
    let Limits { nesting, yaml_nodes, .. } = Limits::DEFAULT;
    let base = base + range.start;
    let key = DocumentKey { file, base, nesting, most_nodes: yaml_nodes, wraps_tags: false, is_nested: true };
    let parse = || {
        let root = Builder::new(file, base, piece).run(piece);
        DocumentResult { root, notes: Vec::new(), comments: Vec::new(), has_directives: false }
    };
    remembered(key, piece, parse).root.ok()?
}

/// Parses one document, and also returns the nodes with anchors.
pub(crate) fn read_with_anchors(file: FileId, base: usize, text: &str) -> Option<(Node, Vec<Span>)> {
    let range = documents(text).into_iter().next()?;
    let piece = text.get(range.clone())?;
    let mut builder = Builder::new(file, base + range.start, piece);
    let root = builder.run(piece).ok()??;
    Some((root, builder.anchored))
}

/// Parses a template with masked directives; `original` is the text before masking.
pub(crate) fn read_masked(file: FileId, original: &str, masked: &Masked, limits: Limits) -> YamlStream {
    let reading = Reading { file, original, text: &masked.text, holes: &masked.holes, limits, wraps_tags: false };
    reading.stream(|_| true)
}

/// A text and the options for parsing it.
struct Reading<'t> {
    file: FileId,
    /// The text before its directives were masked.
    original: &'t str,
    text: &'t str,
    holes: &'t [TemplateDirective],
    limits: Limits,
    wraps_tags: bool,
}

impl Reading<'_> {
    fn stream(&self, is_wanted: impl Fn(&str) -> bool) -> YamlStream {
        self.stream_of(documents(self.text), is_wanted)
    }

    fn stream_of(&self, ranges: Vec<Range<usize>>, is_wanted: impl Fn(&str) -> bool) -> YamlStream {
        let mut stream = YamlStream::default();
        for range in ranges {
            let piece = &self.text[range.clone()];
            if !is_wanted(piece) {
                continue;
            }
            let mut parsed = self.document(piece, range.start);
            stream.has_directives |= parsed.has_directives;
            match parsed.root {
                Ok(root) => {
                    stream.diagnostics.append(&mut parsed.notes);
                    stream.comments.append(&mut parsed.comments);
                    if let Some(root) = root {
                        let span = Span::new(self.file, range.start, range.end);
                        stream.documents.push(YamlDocument { root, span });
                    }
                }
                Err(diagnostic) => stream.diagnostics.push(diagnostic),
            }
        }
        stream
    }

    /// Parses one document. The result for a template also depends on its directives, so it is not remembered.
    fn document(&self, piece: &str, base: usize) -> DocumentResult {
        if !self.holes.is_empty() {
            return self.parse(piece, base);
        }
        let Limits { nesting, yaml_nodes, .. } = self.limits;
        let (file, wraps_tags) = (self.file, self.wraps_tags);
        let key = DocumentKey { file, base, nesting, most_nodes: yaml_nodes, wraps_tags, is_nested: false };
        remembered(key, piece, || self.parse(piece, base))
    }

    fn parse(&self, piece: &str, base: usize) -> DocumentResult {
        let Reading { file, original, holes, limits, wraps_tags, .. } = *self;
        let build = |piece: &str| {
            let mut builder = Builder::new(file, base, piece);
            (builder.original, builder.holes, builder.limits) = (original, holes, limits);
            builder.wraps_tags = wraps_tags;
            let root = builder.run(piece);
            (builder, root)
        };
        let (mut builder, mut root) = build(piece);
        if root.is_err()
            && let Some((relaxed, keys)) = alias_keys::relaxed(piece, base)
            && let (other, Ok(read)) = build(&relaxed)
        {
            (builder, root) = (other, Ok(read.map(|node| alias_keys::named(&node, &keys))));
        }
        DocumentResult {
            root,
            notes: [builder.repeated_keys(), builder.merge_keys()].into_iter().flatten().collect(),
            comments: std::mem::take(&mut builder.comments),
            has_directives: builder.has_directives,
        }
    }
}

/// Builds a tree from parser events without recursion.
struct Builder<'s> {
    file: FileId,
    base: usize,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    anchored: Vec<Span>,
    spent: u32,
    repeated: Vec<Span>,
    /// Merge keys that override keys of the mapping itself.
    taking_over: Vec<Span>,
    comments: Vec<Span>,
    wants_comments: bool,
    has_directives: bool,
    /// Whether application tags become mappings.
    wraps_tags: bool,
    /// The text before its directives were masked.
    original: &'s str,
    holes: &'s [TemplateDirective],
    limits: Limits,
    words: Words,
    /// Empty lists for reuse.
    spare_lists: Vec<Vec<Node>>,
    spare_maps: Vec<Vec<NodeEntry>>,
}

/// Cache of recent keys and values. Most of a manifest is repeated, and equal strings share memory.
struct Words {
    recent: [Option<Arc<str>>; WORDS],
}

/// The size of the cache, a power of two.
const WORDS: usize = 256;
/// The limit on cached strings, because longer ones are rarely repeated.
const LONGEST_WORD: usize = 32;

impl Words {
    fn new() -> Self {
        Words { recent: [const { None }; WORDS] }
    }

    fn share(&mut self, text: &str) -> Arc<str> {
        let bytes = text.as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return text.into() };
        if bytes.len() > LONGEST_WORD {
            return text.into();
        }
        let middle = bytes.get(bytes.len() / 2).unwrap_or(first);
        let place = [*first, *middle, *last].iter().fold(bytes.len(), |sum, byte| sum * 31 + usize::from(*byte));
        let Some(known) = self.recent.get_mut(place % WORDS) else { return text.into() };
        match known {
            Some(known) if **known == *text => known.clone(),
            _ => known.insert(text.into()).clone(),
        }
    }
}

enum Open {
    List { start: usize, anchor: usize, tag: Option<String>, items: Vec<Node> },
    Map { start: usize, anchor: usize, tag: Option<String>, entries: Vec<NodeEntry>, key: Option<Node> },
}

impl<'s> Builder<'s> {
    fn new(file: FileId, base: usize, piece: &str) -> Self {
        Builder {
            file,
            base,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            anchored: Vec::new(),
            spent: 0,
            repeated: Vec::new(),
            taking_over: Vec::new(),
            comments: Vec::new(),
            wants_comments: memchr::memmem::find(piece.as_bytes(), b"gpulint").is_some(),
            has_directives: false,
            wraps_tags: false,
            original: "",
            holes: &[],
            limits: Limits::DEFAULT,
            words: Words::new(),
            spare_lists: Vec::new(),
            spare_maps: Vec::new(),
        }
    }

    fn run(&mut self, piece: &str) -> Result<Option<Node>, Diagnostic> {
        let Some(lines) = GoLines::of(piece) else { return self.pass(piece, None) };
        let mut done = Ok(None);
        for reading in lines.readings() {
            self.clear();
            done = self.pass(&reading.text, Some((&lines, &reading)));
            if done.is_ok() {
                break;
            }
        }
        done
    }

    /// Removes the results of an earlier attempt to parse the text.
    fn clear(&mut self) {
        (self.open, self.root, self.spent) = (Vec::new(), None, 0);
        (self.anchors, self.anchored, self.comments) = (HashMap::new(), Vec::new(), Vec::new());
        (self.repeated, self.taking_over, self.has_directives) = (Vec::new(), Vec::new(), false);
    }

    /// Parses a piece of the text. `lines` is the text before unusual line breaks were replaced.
    fn pass(&mut self, piece: &str, lines: Option<(&GoLines<'_>, &ParserText)>) -> Result<Option<Node>, Diagnostic> {
        let mut kept = 0;
        let nesting = NESTING_LIMIT.min(self.limits.nesting as usize);
        let mut options = granit_parser::options! {
            block_nesting_limit: nesting,
            flow_nesting_limit: nesting,
            emit_unresolved_aliases: true,
            max_buffered_comment_events: 1 << 20,
        };
        options.set_emit_comments(self.wants_comments);
        for step in Parser::new_from_str_with_options(piece, options) {
            let (event, span) = step.map_err(|error| {
                let at = error.marker().byte_offset().unwrap_or(0).min(piece.len());
                let message = match error.kind() {
                    ErrorKind::RecursionLimitExceeded => {
                        format!("this is nested more than {nesting} levels deep (`bounds.nesting`)")
                    }
                    _ => format!("this is not valid YAML: {}", error.info()),
                };
                Diagnostic::unreadable(message, self.span(at, at))
            })?;
            let (start, end) = span.byte_range().map_or((0, 0), |range| (range.start, range.end));
            let event = match (event, lines) {
                (Event::Scalar(text, style, anchor, tag), Some((lines, reading))) => {
                    if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
                        kept += reading.kept_in(start, end);
                    }
                    Event::Scalar(lines.meant(text, style, start, end), style, anchor, tag)
                }
                (event, _) => event,
            };
            self.take(event, start, end, piece)?;
        }
        if lines.is_some_and(|(_, reading)| reading.kept() != kept) {
            let message = "this is not valid YAML: a line ends within quotes (U+0085, U+2028 or U+2029)";
            return Err(Diagnostic::unreadable(message, self.span(0, 0)));
        }
        Ok(self.root.take())
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.base + start, self.base + end)
    }

    fn take(&mut self, event: Event<'_>, start: usize, end: usize, piece: &str) -> Result<(), Diagnostic> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let (text, plain) = match tag.as_deref().and_then(core_type) {
                    Some(CoreType::Binary) => (Cow::Owned(self.binary(&text, start, end)?), false),
                    Some(CoreType::Text) => (text, false),
                    Some(CoreType::Plain) => (text, true),
                    None => {
                        let plain = style == ScalarStyle::Plain && !self.is_letter_of_its_own(&text);
                        (text, plain)
                    }
                };
                let node = if self.holes.is_empty() || !text.contains(HOLE) {
                    Node::scalar(self.span(start, end), self.words.share(&text), plain)
                } else {
                    self.filled(&text, plain, start, end)
                };
                let own = self.own_tag(tag.as_deref());
                self.finish(wrapped(node, own.as_deref()), anchor)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                let items = self.spare_lists.pop().unwrap_or_default();
                let tag = self.own_tag(tag.as_deref());
                self.open.push(Open::List { start, anchor, tag, items });
            }
            Event::MappingStart(_, anchor, tag) => {
                let entries = self.spare_maps.pop().unwrap_or_default();
                let tag = self.own_tag(tag.as_deref());
                self.open.push(Open::Map { start, anchor, tag, entries, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(start, end, piece)?,
            Event::Alias(id) => {
                let span = self.span(start, end);
                match self.anchors.get(&id).cloned() {
                    Some(node) => self.finish(Node { span, ..node }, 0)?,
                    None => return Err(Diagnostic::unreadable("an alias is inside its own anchor", span)),
                }
            }
            Event::UnresolvedAlias(name) => {
                // `*.example.com` is not a valid alias. kubectl refuses it, but the rest of the document is still
                // useful.
                let node = Node::scalar(self.span(start, end), format!("*{name}"), false);
                self.finish(node, 0)?;
            }
            Event::Comment(text, _) if text.contains("gpulint") => self.comments.push(self.span(start, end)),
            _ => {}
        }
        Ok(())
    }

    /// Decodes base64.
    fn binary(&self, text: &str, start: usize, end: usize) -> Result<String, Diagnostic> {
        let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
        match from_base64(digits.take_while(|byte| *byte != b'=')) {
            Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            None => Err(Diagnostic::unreadable("the value after `!!binary` is not base64", self.span(start, end))),
        }
    }

    /// Returns a scalar with holes. A hole has the value of its directive, or else the directive as written.
    fn filled(&self, text: &str, plain: bool, start: usize, end: usize) -> Node {
        let span = self.span(start, end);
        let (start, end) = (self.base + start, self.base + end);
        let first = self.holes.partition_point(|hole| hole.range.start < start);
        let mut holes = self.holes.get(first..).unwrap_or_default().iter().take_while(|hole| hole.range.start < end);
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(HOLE) {
            let after = after.trim_start_matches('_');
            let Some(hole) = holes.next() else { break };
            let whole = out.is_empty() && before.is_empty() && after.is_empty();
            match &hole.meaning {
                HoleMeaning::Node(node) if whole => return node.clone(),
                HoleMeaning::Text(text) if whole => return Node::scalar(span, text.clone(), plain),
                HoleMeaning::Flag(flag) if whole => return Node::scalar(span, flag.to_string(), plain),
                meaning => {
                    out.push_str(before);
                    match meaning {
                        HoleMeaning::Text(text) => out.push_str(text),
                        HoleMeaning::Node(node) if node.text().is_some() => out.extend(node.text().map(|text| &**text)),
                        _ => out.push_str(self.original.get(hole.range.clone()).unwrap_or("{{ }}")),
                    }
                }
            }
            rest = after;
        }
        out.push_str(rest);
        Node::scalar(span, out, plain)
    }

    fn close(&mut self, start: usize, end: usize, piece: &str) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (node, anchor, tag) = match open {
            Open::List { start: from, anchor, tag, mut items } => {
                let to = items.last().map_or(end, |item| self.relative_end(item)).max(closing(piece, start, end));
                let node = Node::list(self.span(from, to), items.drain(..));
                self.spare_lists.push(items);
                (node, anchor, tag)
            }
            Open::Map { start: from, anchor, tag, mut entries, .. } => {
                let to = entries.last().map_or(end, |e| self.relative_end(&e.value)).max(closing(piece, start, end));
                let span = self.span(from, to);
                if !has_unique_keys(&entries) {
                    entries = self.resolve_merges(entries);
                }
                let node = Node::map(span, entries.drain(..));
                self.spare_maps.push(entries);
                (node, anchor, tag)
            }
        };
        self.finish(wrapped(node, tag.as_deref()), anchor)
    }

    /// Returns true if `y` or `n` is a string here. Only Go's library parses them as booleans. Readers of languages
    /// with tags (PyYAML, CloudFormation) parse them as strings, as values and as keys.
    fn is_letter_of_its_own(&self, text: &str) -> bool {
        self.wraps_tags && matches!(text, "y" | "Y" | "n" | "N")
    }

    /// Returns an application tag, if these are requested.
    fn own_tag(&self, tag: Option<&Tag>) -> Option<String> {
        let tag = tag.filter(|tag| self.wraps_tags && tag.handle() == "!" && !tag.suffix().is_empty())?;
        Some(format!("!{}", tag.suffix()))
    }

    fn relative_end(&self, node: &Node) -> usize {
        (node.span.end as usize).saturating_sub(self.base)
    }

    /// Adds a finished node to its parent.
    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        self.spent = self.spent.saturating_add(node.weight);
        let most = self.limits.yaml_nodes;
        if self.spent > most {
            let message =
                format!("with its aliases resolved, the document has more than {most} nodes (`bounds.yaml-nodes`)");
            return Err(Diagnostic::unreadable(message, node.span));
        }
        if anchor != 0 {
            self.anchored.push(node.span);
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            // A marker after an unusual line break begins a second document, which no program reads.
            None => drop(self.root.get_or_insert(node)),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, .. }) => match key.take() {
                None => *key = Some(node),
                Some(name) => {
                    self.has_directives |= name.text().is_none() && !matches!(name.data, NodeData::Scalar { .. });
                    entries.push(NodeEntry { key: key_text(&name), key_span: name.span, value: node });
                }
            },
        }
        Ok(())
    }

    /// Resolves merge keys at their positions, and keeps the last of duplicate keys, as kubectl does. A merge key after
    /// a key overrides it. In a list of mappings, the first one wins.
    fn resolve_merges(&mut self, entries: Vec<NodeEntry>) -> Vec<NodeEntry> {
        let mut settled = Settled { entries: Vec::with_capacity(entries.len()), places: HashMap::new() };
        for entry in entries {
            if &*entry.key == "<<" && !matches!(entry.value.data, NodeData::Scalar { .. }) {
                let maps = if entry.value.is_map() { std::slice::from_ref(&entry.value) } else { entry.value.items() };
                let mut given: HashSet<Arc<str>> = HashSet::new();
                for merged in maps.iter().flat_map(Node::entries).filter(|it| given.insert(it.key.clone())) {
                    if settled.put(merged.clone(), true) && self.taking_over.last() != Some(&entry.key_span) {
                        self.taking_over.push(entry.key_span);
                    }
                }
                continue;
            }
            let span = entry.key_span;
            if settled.put(entry, false) {
                self.repeated.push(span);
            }
        }
        settled.entries.into_iter().map(|(entry, _)| entry).collect()
    }

    fn merge_keys(&self) -> Option<Diagnostic> {
        let (&first, rest) = self.taking_over.split_first()?;
        let message = "kubectl lets this merge key override the keys before it: move the merge key above them";
        let note = Diagnostic::note(message, first);
        Some(rest.iter().take(REPEATED_KEYS_NAMED).fold(note, |note, &span| note.with_note(Some(span), "and this one")))
    }

    fn repeated_keys(&self) -> Option<Diagnostic> {
        let (&first, rest) = self.repeated.split_first()?;
        let message = match rest.len() {
            0 => "this key is set twice; the last one counts".to_owned(),
            more => format!("this key and {more} others are set twice; the last ones count"),
        };
        let note = Diagnostic::note(message, first);
        Some(rest.iter().take(REPEATED_KEYS_NAMED).fold(note, |note, &span| note.with_note(Some(span), "and this one")))
    }
}

/// Entries without duplicate keys. For each one, it is known whether a merge key added it.
struct Settled {
    entries: Vec<(NodeEntry, bool)>,
    places: HashMap<Arc<str>, usize>,
}

impl Settled {
    /// Adds an entry; returns whether it overrides one that was written directly.
    fn put(&mut self, entry: NodeEntry, merged: bool) -> bool {
        if let Some(known) = self.places.get(&entry.key).and_then(|&place| self.entries.get_mut(place)) {
            let was_merged = known.1;
            *known = (entry, merged);
            return !was_merged;
        }
        self.places.insert(entry.key.clone(), self.entries.len());
        self.entries.push((entry, merged));
        false
    }
}

/// Returns true if a mapping has no merge keys and no duplicate keys, as nearly all do.
fn has_unique_keys(entries: &[NodeEntry]) -> bool {
    if entries.iter().any(|entry| &*entry.key == "<<") {
        return false;
    }
    if entries.len() > LONGEST_SEARCHED {
        let mut known = HashSet::with_capacity(entries.len());
        return entries.iter().all(|entry| known.insert(&*entry.key));
    }
    let mut rest = entries;
    while let Some((first, others)) = rest.split_first() {
        if others.iter().any(|other| other.key == first.key) {
            return false;
        }
        rest = others;
    }
    true
}

fn wrapped(node: Node, tag: Option<&str>) -> Node {
    match tag {
        Some(tag) => Node::framed(tag, &node),
        None => node,
    }
}

/// The type of a scalar by a core tag of YAML.
enum CoreType {
    /// The scalar contains base64.
    Binary,
    Text,
    /// The scalar has the type that it would have without quotes.
    Plain,
}

fn core_type(tag: &Tag) -> Option<CoreType> {
    let name = percent_decoded(&format!("{}{}", tag.handle(), tag.suffix()));
    match name.strip_prefix("tag:yaml.org,2002:")? {
        "binary" => Some(CoreType::Binary),
        "str" => Some(CoreType::Text),
        "int" | "float" | "bool" | "null" => Some(CoreType::Plain),
        _ => None,
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the end of the closing bracket; a block collection ends with its last member.
fn closing(piece: &str, start: usize, end: usize) -> usize {
    match piece.as_bytes().get(start) {
        Some(b']' | b'}') if end > start => end,
        _ => 0,
    }
}

/// Returns the text of a key as Kubernetes reads it: `n:` is `"false"`. A template directive looks like a key that is a
/// collection.
fn key_text(node: &Node) -> Arc<str> {
    match &node.data {
        NodeData::Scalar { text, plain: true } => match scalar::boolean(text) {
            Some(flag) => flag.to_string().into(),
            None => text.clone(),
        },
        NodeData::Scalar { text, .. } => text.clone(),
        _ => "{{".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    fn parsed(text: &str) -> YamlStream {
        let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", text));
        read(sources.open("a.yaml").unwrap(), text)
    }

    #[test]
    fn spans_are_those_of_the_file() {
        let text = "\u{feff}---\né: 1\n---\nkey: [a, \"b\"] # c\nblock: |\n  x\nlast: {n: 1}\n";
        let stream = parsed(text);
        let root = &stream.documents[1].root;
        let snippet = |span: Span| &text[span.range()];
        let entry = root.entry("key").unwrap();
        assert_eq!((snippet(entry.key_span), snippet(entry.value.span)), ("key", "[a, \"b\"]"));
        assert_eq!(snippet(entry.value.items()[1].span), "\"b\"");
        assert_eq!(snippet(root.get("last").unwrap().span), "{n: 1}");
        assert!(snippet(root.span).starts_with("key:") && snippet(root.span).ends_with("{n: 1}"));
    }

    #[test]
    fn tags_of_an_application_are_mappings_where_they_are_wanted() {
        let text = "a: !Ref b\nc: !Join [x, [!GetAtt d.e, !!str 1]]\nf: !If {g: &h !Sub i, j: *h}\n";
        let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", text));
        let stream = read_tagged(sources.open("a.yaml").unwrap(), text, Limits::DEFAULT);
        let root = &stream.documents[0].root;
        assert_eq!(root.text_at("a.!Ref").map(|it| &**it), Some("b"));
        let joined = root.at("c.!Join").unwrap().items()[1].items();
        assert_eq!(joined[0].text_at("!GetAtt").map(|it| &**it), Some("d.e"));
        assert_eq!(joined[1].text().map(|it| &**it), Some("1"));
        assert_eq!(root.text_at("f.!If.j.!Sub").map(|it| &**it), Some("i"));
        assert_eq!(parsed(text).documents[0].root.text_at("a").map(|it| &**it), Some("b"));
    }

    #[test]
    fn an_alias_bomb_is_bounded() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let last = n - 1;
            let aliases = vec![format!("*a{last}"); 10].join(", ");
            text.push_str(&format!("a{n}: &a{n} [{aliases}]\n"));
        }
        text.push_str("---\nnext: 1\n");
        let stream = parsed(&text);
        assert_eq!((stream.documents.len(), stream.diagnostics.len()), (1, 1));
        assert!(stream.diagnostics[0].message.contains("nodes"), "{}", stream.diagnostics[0].message);
    }

    #[test]
    fn nesting_is_bounded() {
        for text in [
            "[".repeat(100_000),
            "- ".repeat(100_000),
            "{a: ".repeat(50_000),
            (0..3000).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
            "a: &a [*a]\n".to_owned(),
            "!!binary &x [[[".to_owned(),
        ] {
            assert!(parsed(&text).documents.is_empty());
        }
    }
}
