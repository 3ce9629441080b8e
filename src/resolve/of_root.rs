//! Assigns what belongs to a whole root to one of its resources, so that it counts once: shared volumes, volumes next
//! to machines, and budgets.

use std::collections::HashSet;
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Inventory, Key, Resource, Volume};

/// Leaves each volume with the first resource that uses it and that is not switched off, and everything of the root with
/// its first machine. A second call changes nothing.
pub(super) fn share_of_root(inventory: &mut Inventory) {
    let mut used = HashSet::new();
    let mut nearby: HashSet<*const Volume> = HashSet::new();
    let mut budgets = HashSet::new();
    for resource in &mut inventory.resources {
        let has_budget = !resource.fact(Key::CloudBudget).is_absent();
        if resource.volumes.is_empty() && resource.nearby_volumes.is_empty() && !has_budget {
            continue;
        }
        if resource.is_switched_off() {
            resource.volumes.clear();
            resource.nearby_volumes = Arc::default();
            resource.set(Key::CloudBudget, Fact::Absent);
            continue;
        }
        let place = (resource.root.clone(), resource.run.as_ref().map(|run| run.as_str().to_owned()));
        // Claims of different namespaces may have the same name.
        let declared = |volume: &Volume| volume.disk.gib.span().map(|span| (span.file, span.start));
        resource.volumes.retain(|volume| used.insert((place.clone(), volume.name.clone(), declared(volume))));
        if has_budget && !budgets.insert(place) {
            resource.set(Key::CloudBudget, Fact::Absent);
        }
        if !nearby.insert(resource.nearby_volumes.as_ptr()) {
            resource.nearby_volumes = Arc::default();
        }
        list_unused(resource);
    }
}

/// Lists the disks of the root that nothing attaches, with their sizes.
fn list_unused(resource: &mut Resource) {
    let unused = resource.nearby_volumes.iter().filter(|volume| volume.is_unused);
    let text = |volume: &Volume| match volume.disk.gib.value().and_then(FactValue::as_number) {
        Some(gib) => format!("{} ({gib} GiB)", volume.name),
        None => volume.name.to_string(),
    };
    if let Some(unknown) = unused.clone().find(|volume| volume.disk.count.is_unknown()) {
        resource.set(Key::UnusedDisks, unknown.disk.count.clone());
        return;
    }
    let all: Vec<Arc<str>> = unused.clone().map(|volume| text(volume).into()).collect();
    let span = unused.clone().find_map(|volume| volume.disk.gib.span());
    if let Some(span) = span.filter(|_| !all.is_empty()) {
        resource.set(Key::UnusedDisks, Fact::known(FactValue::List(all), span, FactOrigin::Resolved));
    }
}
