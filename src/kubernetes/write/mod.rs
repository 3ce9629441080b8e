//! Converts requested fact edits to edits of the manifest of a resource.
//!
//! The definitions of `kinds.toml` determine where a fact is read, and so where it is written. Edits replace bytes at
//! the positions of gpulint's own parser. Shared nodes (anchors), generated text and chart values are not edited.

mod argument;
mod beside;
mod ceiling;
mod chart_values;
mod declining;
mod directives;
mod machines;
mod origins;
mod paper;
mod pod;
mod row;
mod template_lines;

use std::sync::Arc;

use crate::inventory::{BillingRole, Declined, FactEdit, FactValue, Key, LinkKind, Part, Purchase, ReadBy, Resource};
use crate::languages::yaml::{self, AddedPiece, Node, NodeData};
use crate::source::{Edit, FileId, SourceFiles, Span};

use super::pods::workload;
use super::text::template_mask::has_directives;
use declining::{Result, inexpressible, left_alone};
use paper::EditedDocument;

/// Returns the edits that set the requested fact; empty if the manifest already sets it.
pub fn write(resource: &Resource, wish: &FactEdit, sources: &SourceFiles) -> Result<Vec<Edit>> {
    demand_rendered(resource, sources)?;
    let edits = match &wish.part {
        Part::Floor => floor(resource, wish, sources)?,
        Part::Ceiling => ceiling::write(resource, wish, sources)?,
        Part::Fact(Key::QuotaAccelerators) => return ceiling::quota(resource, wish, sources),
        part => {
            let document = Document::around(resource.body, sources)?;
            let paper = document.paper();
            match (part, &wish.value) {
                (Part::Label(_), None) => return left_alone("gpulint removes no labels"),
                (Part::Label(key), Some(value)) => return label(resource, &[(key.clone(), value.clone())], sources),
                (_, value) => fact(&document, &paper, resource, part, value.as_ref())?,
            }
        }
    };
    checked(edits, sources)
}

/// Declines the templates and the values of a chart that was not rendered.
fn demand_rendered(resource: &Resource, sources: &SourceFiles) -> Result<()> {
    match resource.front_end == ReadBy::Chart && sources.origin(resource.body) == resource.body {
        true => left_alone("a chart generates it: change its values or its template"),
        false => Ok(()),
    }
}

/// Returns the edits that set labels on the object itself, which restart no pods.
pub fn label(resource: &Resource, labels: &[(Arc<str>, FactValue)], sources: &SourceFiles) -> Result<Vec<Edit>> {
    demand_rendered(resource, sources)?;
    let document = Document::around(resource.body, sources)?;
    let object = document.object();
    let is_pods = resource.role == BillingRole::Requested;
    if !is_pods || workload::identify(object).is_none_or(|(object, _)| object.root.get("metadata").is_none()) {
        return inexpressible(resource, "labels");
    }
    let paper = document.paper();
    let known = object.get("metadata").and_then(|metadata| metadata.get("labels"));
    let (there, new): (Vec<_>, Vec<_>) =
        labels.iter().partition(|(key, _)| known.is_some_and(|known| known.entry(key).is_some()));
    let mut edits = Vec::new();
    for (key, value) in there {
        edits.push(set(&document, &paper, object, &["metadata", "labels", key], &AddedPiece::Text(value.to_string()))?);
    }
    if !new.is_empty() {
        let new = new.into_iter().map(|(key, value)| (key.to_string(), AddedPiece::Text(value.to_string()))).collect();
        edits.push(add(&document, &paper, object, &["metadata", "labels"], new)?);
    }
    checked(edits, sources)
}

/// Returns the sorted edits, if the result is valid YAML.
fn checked(edits: Vec<Edit>, sources: &SourceFiles) -> Result<Vec<Edit>> {
    let edits = Edit::joined(edits);
    let mut checked: Vec<(FileId, std::ops::Range<usize>)> = Vec::new();
    for edit in &edits {
        let at = edit.span.start as usize;
        if checked.iter().any(|(file, range)| *file == edit.span.file && range.contains(&at)) {
            continue;
        }
        // A template cannot be parsed. The whole fix is checked again later.
        if sources.path(edit.span.file).contains("/templates/") && has_directives(&sources.text(edit.span.file)) {
            continue;
        }
        let document = Document::around(edit.span, sources)?;
        document.still_parses(&edits)?;
        checked.push((edit.span.file, document.range));
    }
    Ok(edits)
}

/// A document, parsed again.
struct Document<'s> {
    /// The source files, if the document is built from others.
    sources: Option<&'s SourceFiles>,
    text: std::sync::Arc<str>,
    range: std::ops::Range<usize>,
    root: Node,
    /// Nodes that aliases may repeat.
    anchored: Vec<Span>,
    /// The position of the object in the document.
    body: Span,
}

impl<'s> Document<'s> {
    fn around(body: Span, sources: &'s SourceFiles) -> Result<Document<'s>> {
        let is_built = sources.origin(body) != body;
        let text = sources.text(body.file);
        let start = body.start as usize;
        // One file may have many objects with edits.
        let ranges = sources.pieces(body.file, yaml::documents);
        let place = ranges.partition_point(|range| range.end <= start);
        // An addition at the very end of a file belongs to its last document.
        let last = ranges.last().filter(|range| range.end == start);
        let Some(range) = ranges.get(place).filter(|range| range.contains(&start)).or(last).cloned() else {
            return left_alone("its document was not found");
        };
        let piece = text.get(range.clone()).unwrap_or_default();
        // An edit parses the document twice: before and after the change.
        if !sources.again(body.file, 2 * piece.len()) {
            return left_alone("its document has too many changes: run the fix again for the rest");
        }
        let Some((root, anchored)) = yaml::read_with_anchors(body.file, range.start, piece) else {
            return left_alone(if has_directives(piece) {
                "it is a template"
            } else {
                "its document cannot be parsed"
            });
        };
        if has_directives(piece) && !directives::are_inside_values(piece, range.start, &root) {
            return left_alone("it is a template");
        }
        Ok(Document { sources: is_built.then_some(sources), text, range, root, anchored, body })
    }

    fn paper(&self) -> EditedDocument<'_> {
        let own = self.text.get(self.range.clone()).unwrap_or_default();
        EditedDocument::new(&self.text, own, &self.root, self.sources)
    }

    /// Returns the object: the document, or an independent part of it.
    fn object(&self) -> &Node {
        fn find(node: &Node, body: Span, depth: usize) -> Option<&Node> {
            const DEEPEST: usize = 8;
            if node.span == body && node.is_map() {
                return Some(node);
            }
            let mut near = node.inner().filter(|inner| inner.span.contains(body) && depth < DEEPEST);
            near.find_map(|inner| find(inner, body, depth + 1))
        }
        find(&self.root, self.body, 0).unwrap_or(&self.root)
    }

    /// Checks that no alias repeats the node.
    fn is_own(&self, node: &Node) -> Result<()> {
        let inside = self.range.start <= node.span.start as usize && node.span.end as usize <= self.range.end;
        match inside && !self.anchored.iter().any(|anchor| anchor.contains(node.span)) {
            true if self.leads_to(node) => Ok(()),
            _ => left_alone("a YAML anchor uses it in other places too"),
        }
    }

    /// Returns whether a node is an alias, whose text is in another place.
    fn leads_to(&self, node: &Node) -> bool {
        let mut here = &self.root;
        while here.span != node.span || std::mem::discriminant(&here.data) != std::mem::discriminant(&node.data) {
            match here.inner().find(|inner| inner.span.contains(node.span)) {
                Some(inner) => here = inner,
                None => return false,
            }
        }
        true
    }

    fn still_parses(&self, edits: &[Edit]) -> Result<()> {
        let inside = |edit: &&Edit| {
            edit.span.file == self.body.file
                && self.range.start <= edit.span.start as usize
                && edit.span.end as usize <= self.range.end
        };
        let mut own: Vec<&Edit> = edits.iter().filter(inside).collect();
        own.sort_by_key(|edit| std::cmp::Reverse((edit.span.start, edit.span.end)));
        let mut text = self.text.get(self.range.clone()).unwrap_or_default().to_owned();
        for edit in own {
            let at = edit.span.start as usize - self.range.start..edit.span.end as usize - self.range.start;
            if text.get(at.clone()).is_none() {
                return left_alone("its document was not found");
            }
            text.replace_range(at, &edit.replacement);
        }
        match yaml::read_with_anchors(self.body.file, 0, &text) {
            Some(_) => Ok(()),
            None => left_alone("the result would not be valid YAML"),
        }
    }
}

/// Sets the value at a path of keys, and adds missing keys.
fn set(
    document: &Document,
    paper: &EditedDocument<'_>,
    root: &Node,
    keys: &[&str],
    value: &AddedPiece,
) -> Result<Edit> {
    let mut here = root;
    let mut rest = keys;
    while let Some((key, after)) = rest.split_first() {
        let Some(entry) = here.entry(key) else {
            document.is_own(here)?;
            return paper.insert(here, &[((*key).to_owned(), value.clone().below(after))]);
        };
        if matches!(entry.value.data, NodeData::Scalar { .. }) {
            document.is_own(here)?;
            return match (after.is_empty(), entry.value.text().is_some()) {
                (true, true) => paper.replace(&entry.value, value),
                (_, false) => paper.fill(here, entry, &value.clone().below(after)),
                (false, true) => left_alone(format!("`{key}` is not a mapping")),
            };
        }
        (here, rest) = (&entry.value, after);
    }
    left_alone("the field is not a single value")
}

/// Adds missing keys to the mapping at a path.
fn add(
    document: &Document,
    paper: &EditedDocument<'_>,
    root: &Node,
    keys: &[&str],
    new: Vec<(String, AddedPiece)>,
) -> Result<Edit> {
    match keys.iter().try_fold(root, |here, key| here.get(key).filter(|inner| inner.is_map())) {
        Some(map) => {
            document.is_own(map)?;
            paper.insert(map, &new)
        }
        None => set(document, paper, root, keys, &AddedPiece::Map(new)),
    }
}

fn piece(value: &FactValue) -> AddedPiece {
    match value {
        FactValue::Number(n) if n.fract() == 0.0 && n.abs() < 1e15 => AddedPiece::Number(format!("{n:.0}")),
        FactValue::Number(n) => AddedPiece::Number(n.to_string()),
        FactValue::Integer(n) => AddedPiece::Number(n.to_string()),
        FactValue::Flag(flag) => AddedPiece::Number(flag.to_string()),
        other => AddedPiece::Text(other.to_string()),
    }
}

fn fact(
    document: &Document,
    paper: &EditedDocument<'_>,
    resource: &Resource,
    part: &Part,
    value: Option<&FactValue>,
) -> Result<Vec<Edit>> {
    let Part::Fact(key) = part else { return inexpressible(resource, part) };
    let Some(value) = value else { return argument::without(document, paper, resource, *key) };
    match key {
        Key::AcceleratorCount => return pod::accelerators(document, paper, resource, value),
        Key::SharedMemory if value.as_flag() == Some(true) => return pod::shared_memory(document, paper, resource),
        Key::Purchase if Purchase::of(value) == Some(Purchase::Spot) && resource.role == BillingRole::Requested => {
            return pod::spot(document, paper, resource);
        }
        Key::Purchase if Purchase::of(value) == Some(Purchase::Spot) => {
            if let Some(edits) = machines::spot(document, paper, resource)? {
                return Ok(edits);
            }
        }
        Key::Purchase if Purchase::of(value) == Some(Purchase::OnDemand) && resource.role == BillingRole::Requested => {
            if let Some(edits) = pod::on_demand(document, paper, resource)? {
                return Ok(edits);
            }
        }
        Key::Priority => return pod::priority(document, paper, resource, value),
        _ => {}
    }
    if let Some(edits) = row::write(document, paper, resource, *key, value)? {
        return Ok(edits);
    }
    if let Some(edits) = argument::replaced(document, paper, resource, *key, value)? {
        return Ok(edits);
    }
    if resource.fact(*key).is_absent() {
        return argument::added(document, paper, resource, *key, value);
    }
    pod::written(document, paper, resource, *key, value)
}

/// Sets the minimum number: that of the autoscaler if there is one, otherwise the number itself.
fn floor(resource: &Resource, wish: &FactEdit, sources: &SourceFiles) -> Result<Vec<Edit>> {
    let Some(value) = wish.value.as_ref().filter(|value| value.as_number().is_some()) else {
        return left_alone("gpulint does not remove the number");
    };
    let nothing = value.as_number() == Some(0.0);
    if let Some(link) = resource.links.iter().find(|link| link.kind == LinkKind::Autoscaler) {
        let document = Document::around(link.span, sources)?;
        let scales = row::scaler_around(&document.root, link.span);
        let Some((object, row, scaler)) = scales else { return left_alone("its autoscaler was not found") };
        let Some(min) = &scaler.min else { return left_alone("its autoscaler has no minimum") };
        if nothing && row.scales.as_ref().is_some_and(|scales| scales.floor > 0.0) {
            return left_alone(format!("a {} always runs at least one: use KEDA or Knative", row.kind));
        }
        if nothing {
            beside::demand_zero(object, row)?;
        }
        let keys = min.keys().ok_or_else(|| Declined::LeftAlone("its autoscaler has several minimums".to_owned()))?;
        return Ok(vec![set(&document, &document.paper(), object, &keys, &piece(value))?]);
    }
    let document = Document::around(resource.body, sources)?;
    let near = resource.fact(Key::AcceleratorCount).span();
    if nothing && let Some((_, Some(row))) = workload::identify(document.object()) {
        beside::demand_zero(document.object(), row)?;
    }
    match row::floor(document.object(), near) {
        Some((_, _, false)) if nothing => left_alone("without an autoscaler, nothing would start it again"),
        Some((root, keys, _)) => {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            // Values of annotations are strings.
            let is_annotation = keys.contains(&"annotations");
            let new = if is_annotation { AddedPiece::Text(value.to_string()) } else { piece(value) };
            Ok(vec![set(&document, &document.paper(), root, &keys, &new)?])
        }
        None => inexpressible(resource, &Part::Floor),
    }
}

#[cfg(test)]
mod target_tests;
#[cfg(test)]
mod tests;
