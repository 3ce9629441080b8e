//! Finds the other resources that an edit would change, because they share a value.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::inventory::{Inventory, Resource, ResourceId};
use crate::source::{Edit, FileId, SourceFiles, Span, line_end, line_start};

/// The resources that use each place.
pub(super) struct Reach {
    /// The resources of each body. All instances of a block have the same body.
    by_body: HashMap<Span, Vec<ResourceId>>,
    /// Values outside of the body, by file and start.
    by_value: BTreeMap<FileId, BTreeMap<Span, Vec<ResourceId>>>,
    /// The parts of built documents, by the file that they come from.
    by_origin: OnceCell<HashMap<FileId, Vec<(Span, ResourceId)>>>,
}

/// The number of values before an edit that are checked for an overlap. Values are scalars, so they do not contain
/// each other.
const LOOKED_AT: usize = 64;

impl Reach {
    pub(super) fn new(inventory: &Inventory) -> Self {
        let mut reach = Reach { by_body: HashMap::new(), by_value: BTreeMap::new(), by_origin: OnceCell::new() };
        for (at, resource) in inventory.resources.iter().enumerate() {
            let id = ResourceId(at);
            reach.by_body.entry(resource.body).or_default().push(id);
            let labels = resource.labels.entries.values().map(|fact| fact.defined());
            let facts = resource.facts().map(|(_, fact)| fact.defined()).chain([resource.count.defined()]);
            for span in facts.chain(labels).flatten().filter(|span| !resource.body.contains(*span)) {
                let ids = reach.by_value.entry(span.file).or_default().entry(span).or_default();
                if ids.last() != Some(&id) {
                    ids.push(id);
                }
            }
        }
        reach
    }

    /// Returns the other resources that an edit would change.
    pub(super) fn touched(
        &self,
        edits: &[Edit],
        resource: &Resource,
        inventory: &Inventory,
        sources: &SourceFiles,
    ) -> Vec<ResourceId> {
        let mut found: Vec<ResourceId> = Vec::new();
        if sources.origin(resource.body) != resource.body {
            let parts = self.by_origin.get_or_init(|| by_origin(inventory, sources));
            for edit in edits {
                let line = line_around(edit.span, sources);
                let parts = parts.get(&edit.span.file).into_iter().flatten();
                let near = parts.filter(|(part, _)| part.start < line.end && line.start < part.end);
                found.extend(near.map(|(_, id)| *id));
            }
        }
        let inside = |edit: &Edit| resource.body.contains(edit.span);
        if edits.iter().any(inside) {
            found.extend(self.by_body.get(&resource.body).into_iter().flatten());
        }
        for edit in edits.iter().filter(|edit| !inside(edit)) {
            let Some(values) = self.by_value.get(&edit.span.file) else { continue };
            let after = Span { start: edit.span.end.saturating_add(1), end: 0, ..edit.span };
            let near = values.range(..after).rev().take(LOOKED_AT);
            let touched = near.filter(|(span, _)| edit.span.start < span.end && span.start < edit.span.end.max(1));
            found.extend(touched.flat_map(|(_, ids)| ids));
        }
        found.sort();
        found.dedup();
        found
    }
}

fn by_origin(inventory: &Inventory, sources: &SourceFiles) -> HashMap<FileId, Vec<(Span, ResourceId)>> {
    let mut parts: HashMap<FileId, Vec<(Span, ResourceId)>> = HashMap::new();
    let mut seen: HashSet<(Span, ResourceId)> = HashSet::new();
    for (at, resource) in inventory.resources.iter().enumerate() {
        for origin in sources.origins(resource.body.file) {
            if seen.insert((origin, ResourceId(at))) {
                parts.entry(origin.file).or_default().push((origin, ResourceId(at)));
            }
        }
    }
    parts
}

/// Returns the line of an edit. Added lines belong to the line before them.
fn line_around(span: Span, sources: &SourceFiles) -> Span {
    let text = sources.text(span.file);
    let range = span.range();
    Span::new(span.file, line_start(&text, range.start), line_end(&text, range.end))
}
