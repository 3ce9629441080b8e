//! Finds the place in a source file from which a part of a built document comes: a manifest or a patch of a
//! kustomization, or the values of a chart.

use crate::languages::yaml::{Node, NodeData};
use crate::source::{Edit, SourceFiles, Span};

use super::declining::{Result, left_alone};
use super::paper::EditedDocument;
use super::{Document, chart_values};

const DEEPEST: usize = 64;

/// Returns the document at a place, if its file is a document and no program or text with one inside.
fn document_at(sources: &SourceFiles, place: Span) -> Result<Document<'_>> {
    let path = sources.path(place.file);
    match ["yaml", "yml", "json"].iter().any(|end| path.ends_with(&format!(".{end}"))) {
        true => Document::around(place, sources),
        false => left_alone("it is inside a string, or another program generated it"),
    }
}

/// How a node of the source is edited.
pub(super) type SourceEdit<'e> = &'e dyn Fn(&EditedDocument<'_>, &Node) -> Result<Edit>;

/// Edits the scalar from which a scalar of a built document comes unchanged.
pub(super) fn at_scalar(sources: &SourceFiles, node: &Node, edit: SourceEdit<'_>) -> Result<Edit> {
    let Some(text) = node.text() else { return left_alone("the value is not a single value") };
    let place = sources.origin(node.span);
    if chart_values::is_template(sources, place) {
        return left_alone("a template of its chart computes or sets the value");
    }
    let document = document_at(sources, place)?;
    let mut found: Vec<(&Node, Vec<&str>)> = Vec::new();
    scalars(&document.root, place, text, &mut Vec::new(), &mut found);
    let [(scalar, keys)] = found.as_slice() else {
        return left_alone("its value does not come unchanged from one place");
    };
    document.is_own(scalar)?;
    chart_values::demand_single_use(sources, node.span, place, keys)?;
    edit(&document.paper(), scalar)
}

/// Edits the mapping from which a mapping of a built document comes.
pub(super) fn at_map(sources: &SourceFiles, map: &Node, edit: SourceEdit<'_>) -> Result<Edit> {
    let mut last = left_alone("the mapping has no keys in a file");
    for entry in map.entries() {
        let place = sources.origin(entry.key_span);
        let document = match document_at(sources, place) {
            Ok(document) => document,
            Err(declined) => {
                last = Err(declined);
                continue;
            }
        };
        let mut keys = Vec::new();
        match map_with(&document.root, &entry.key, place, &mut keys) {
            Some(source) => {
                document.is_own(source)?;
                chart_values::demand_single_use(sources, entry.key_span, place, &keys)?;
                return edit(&document.paper(), source);
            }
            None => last = left_alone("its mapping was not found in the file that it comes from"),
        }
    }
    last
}

/// Edits the list from which a list of a built document comes, at its first item.
pub(super) fn at_list(sources: &SourceFiles, list: &Node, edit: SourceEdit<'_>) -> Result<Edit> {
    let Some(first) = list.items().first() else { return left_alone("the list to add to is empty") };
    let head = first.entries().first().map_or(first.span, |entry| entry.key_span);
    let place = sources.origin(head);
    let document = document_at(sources, place)?;
    let (mut here, mut found) = (&document.root, None);
    let mut keys: Vec<&str> = Vec::new();
    for _ in 0..DEEPEST {
        if matches!(here.data, NodeData::List(_)) {
            found = Some(here);
        }
        let named = here.entries().iter().find(|entry| entry.value.span.contains(place));
        keys.extend(named.map(|entry| &*entry.key).filter(|_| found.is_none()));
        match here.inner().find(|inner| inner.span.contains(place)) {
            Some(inner) => here = inner,
            None => break,
        }
    }
    let Some(source) = found.filter(|source| source.items().len() == list.items().len()) else {
        return left_alone("its list was not found in one file");
    };
    document.is_own(source)?;
    chart_values::demand_single_use(sources, head, place, &keys)?;
    edit(&document.paper(), source)
}

/// Collects the scalars with a value that overlap a place, with the keys above them.
fn scalars<'n>(
    node: &'n Node,
    place: Span,
    text: &str,
    keys: &mut Vec<&'n str>,
    found: &mut Vec<(&'n Node, Vec<&'n str>)>,
) {
    if keys.len() > DEEPEST {
        return;
    }
    if node.text().is_some_and(|own| **own == *text) && (place.contains(node.span) || node.span.contains(place)) {
        found.push((node, keys.clone()));
    }
    for entry in node.entries().iter().filter(|entry| overlaps(entry.value.span, place)) {
        keys.push(&entry.key);
        scalars(&entry.value, place, text, keys, found);
        keys.pop();
    }
    node.items().iter().filter(|item| overlaps(item.span, place)).for_each(|item| {
        keys.push("");
        scalars(item, place, text, keys, found);
        keys.pop();
    });
}

fn overlaps(one: Span, other: Span) -> bool {
    one.file == other.file && one.start <= other.end && other.start <= one.end
}

/// Returns the innermost mapping with a key at a place.
fn map_with<'n>(root: &'n Node, key: &str, place: Span, keys: &mut Vec<&'n str>) -> Option<&'n Node> {
    let (mut here, mut found) = (root, None);
    let mut above: Vec<&str> = Vec::new();
    for _ in 0..DEEPEST {
        if here.entry(key).is_some_and(|entry| overlaps(entry.span(), place)) {
            found = Some(here);
            keys.clone_from(&above);
        }
        let Some(inner) = here.inner().find(|inner| inner.span.contains(place)) else { break };
        let named = here.entries().iter().find(|entry| entry.value.span == inner.span);
        above.push(named.map_or("", |entry| &entry.key));
        here = inner;
    }
    found
}
