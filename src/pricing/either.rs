//! If two tools or two declarations create the same resource, totals count only the more expensive one. Only one of
//! them is applied, and gpulint cannot know which.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::MoneyRange;
use crate::inventory::{Inventory, Resource, RunId};
use crate::source::Span;

use super::Bill;

/// The directory of a root, its deployment, and the address that it declares twice.
type Choice = (Option<Arc<str>>, Option<RunId>, Option<Arc<str>>);

/// The number of a declaration, or a tool.
type SideName = (usize, &'static str);

/// The resources of one tool or one declaration, with known prices.
#[derive(Default)]
struct Side {
    monthly: MoneyRange,
    first: Option<Span>,
}

/// Marks the resources that totals leave out. Resources without a price stay, so that the total is marked incomplete.
pub fn count_dearer(inventory: &mut Inventory, bill: &mut Bill) {
    if inventory.resources.iter().all(|it| it.only_by.is_none() && it.repeated.is_none()) {
        return;
    }
    let declared = |it: &Resource| it.repeated.as_ref().map(|it| it.address.clone());
    let key = |it: &Resource| -> Choice { (it.root.clone(), it.run.clone(), declared(it)) };
    let mut choices: BTreeMap<Choice, BTreeMap<SideName, Side>> = BTreeMap::new();
    for (resource, item) in inventory.resources.iter().zip(&bill.items) {
        let Some(name) = side_of(resource) else { continue };
        let side = choices.entry(key(resource)).or_default().entry(name).or_default();
        side.first = side.first.or(Some(resource.span));
        side.monthly += item.monthly.unwrap_or_default();
    }
    for (resource, item) in inventory.resources.iter_mut().zip(&bill.items) {
        let (Some(name), Some(sides)) = (side_of(resource), choices.get(&key(resource))) else { continue };
        let dearest = sides.iter().min_by_key(|(_, side)| Reverse((side.monthly.expected, side.monthly.ceiling)));
        if let Some((_, side)) = dearest.filter(|(dearer, _)| **dearer != name && item.monthly.is_some()) {
            resource.version_of = side.first;
        }
    }
    bill.sum_up(inventory);
}

/// Returns the tool or the declaration that alone creates a resource.
fn side_of(resource: &Resource) -> Option<SideName> {
    match &resource.repeated {
        Some(block) => Some((block.number, "")),
        None => Some((0, resource.only_by?)),
    }
}
