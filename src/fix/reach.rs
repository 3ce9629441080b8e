//! Finds the other resources that an edit would change, because they share a value.

use std::collections::{BTreeMap, HashMap};

use crate::inventory::{Inventory, Resource, ResourceId};
use crate::source::{Edit, FileId, Span};

/// The resources that use each place.
pub(super) struct Reach {
    /// The resources of each body. All instances of a block have the same body.
    by_body: HashMap<Span, Vec<ResourceId>>,
    /// Values outside of the body, by file and start.
    by_value: BTreeMap<FileId, BTreeMap<Span, Vec<ResourceId>>>,
}

/// The number of values before an edit that are checked for an overlap. Values are scalars, so they do not contain
/// each other.
const LOOKED_AT: usize = 64;

impl Reach {
    pub(super) fn new(inventory: &Inventory) -> Self {
        let mut reach = Reach { by_body: HashMap::new(), by_value: BTreeMap::new() };
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
    pub(super) fn touched(&self, edits: &[Edit], resource: &Resource) -> Vec<ResourceId> {
        let mut found: Vec<ResourceId> = Vec::new();
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
