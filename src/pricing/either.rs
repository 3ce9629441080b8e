//! Of what only one of two tools makes, sums count the dearer: only one of the two is run, and nobody can tell which.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::Money;
use crate::inventory::{Inventory, Resource, RunId};
use crate::source::Span;

use super::Bill;

/// The directory of a root, and what is applied of it.
type Root = (Option<Arc<str>>, Option<RunId>);

/// What one tool alone makes of a root.
#[derive(Default)]
struct Side {
    monthly: Money,
    has_unknown: bool,
    first: Option<Span>,
}

/// Marks what sums leave out. Where a price is not known, nobody knows which is dearer, and all of it stays.
pub fn count_dearer(inventory: &mut Inventory, bill: &mut Bill) {
    if inventory.resources.iter().all(|it| it.only_by.is_none()) {
        return;
    }
    let key = |it: &Resource| -> Root { (it.root.clone(), it.run.clone()) };
    let mut roots: BTreeMap<Root, BTreeMap<&str, Side>> = BTreeMap::new();
    for (resource, item) in inventory.resources.iter().zip(&bill.items) {
        let Some(tool) = resource.only_by else { continue };
        let side = roots.entry(key(resource)).or_default().entry(tool).or_default();
        side.first = side.first.or(Some(resource.span));
        match item.monthly {
            Some(monthly) => side.monthly += monthly.expected,
            None => side.has_unknown = true,
        }
    }
    for resource in &mut inventory.resources {
        let (Some(tool), Some(sides)) = (resource.only_by, roots.get(&key(resource))) else { continue };
        if sides.values().any(|side| side.has_unknown) {
            continue;
        }
        let dearest = sides.iter().max_by_key(|(_, side)| side.monthly);
        if let Some((_, side)) = dearest.filter(|(dearer, _)| **dearer != tool) {
            resource.version_of = side.first;
        }
    }
    bill.sum_up(inventory);
}
