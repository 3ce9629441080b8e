//! Handles several versions of one object: a base with its overlay, or alternatives in one directory. A cluster has
//! only one of them, so totals count one.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, Key, KnownFact, LinkKind, Resource};
use crate::source::{FileId, parent};

use crate::kubernetes::objects::index::distance;
use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::rows::amount::placeholder;

/// Marks all versions of an object except the one that counts. An object inside Terraform has no versions: two deployments
/// of one root create two objects.
pub(in crate::kubernetes) fn mark(embedded: &[(FileId, String)], found: &mut [(Arc<str>, FoundResource)]) {
    let embedded: HashSet<FileId> = embedded.iter().map(|(file, _)| *file).collect();
    let mut by_name: BTreeMap<((String, String), bool), Vec<usize>> = BTreeMap::new();
    for (place, (_, found)) in found.iter().enumerate() {
        // A name that is generated, or that contains a placeholder, does not identify an object.
        let fixed = found.name.as_ref().is_some_and(|name| placeholder(name).is_none())
            && !found.generated
            && !embedded.contains(&found.resource.span.file);
        if fixed {
            let identity = (found.resource.address.clone(), releases(&found.resource));
            by_name.entry((identity, found.is_overlay)).or_default().push(place);
        }
    }
    let bases: BTreeMap<&(String, String), &Vec<usize>> =
        by_name.iter().filter(|((_, overlay), _)| !overlay).map(|((address, _), places)| (address, places)).collect();
    let mut marks: Vec<(usize, usize)> = Vec::new();
    for ((address, overlay), places) in &by_name {
        if *overlay {
            let bases = bases.get(address).map(|places| places.as_slice()).unwrap_or_default();
            marks.extend(places.iter().filter_map(|&place| Some((place, nearest(found, place, bases)?))));
        } else {
            marks.extend(neighbours(found, places));
        }
    }
    for (place, counts) in marks {
        let Some(base) = found.get(counts).map(|(_, found)| found.resource.clone()) else { continue };
        if let Some((_, found)) = found.get_mut(place) {
            found.resource.version_of = Some(base.span);
            if found.is_only_patch {
                complete(&mut found.resource, &base);
            }
        }
    }
}

/// Returns the objects that release a resource, because two releases of one chart create two objects with the same
/// name.
fn releases(resource: &Resource) -> String {
    let by = resource.links.iter().filter(|link| link.kind == LinkKind::Settings && !link.to.contains(' '));
    by.map(|link| link.to.as_str()).collect::<Vec<_>>().join(" ")
}

/// Adds facts about nodes and number that an overlay does not set from its base.
fn complete(overlay: &mut Resource, base: &Resource) {
    const PLACED: [Key; 11] = [
        Key::Provider,
        Key::Region,
        Key::Machine,
        Key::Accelerator,
        Key::AcceleratorMemory,
        Key::Topology,
        Key::SharedBy,
        Key::Sharing,
        Key::Purchase,
        Key::Cpus,
        Key::Memory,
    ];
    // An overlay that changes the accelerator also means another machine.
    let moved = [Key::Machine, Key::Accelerator].iter().any(|key| !overlay.fact(*key).is_absent());
    let open = PLACED.into_iter().filter(|key| overlay.fact(*key).is_absent());
    let open: Vec<Key> = open.filter(|key| !moved || matches!(key, Key::Cpus | Key::Memory)).collect();
    for key in open {
        overlay.set(key, resolved(base.fact(key)));
    }
    if overlay.selector.labels.is_empty() {
        overlay.selector.labels.clone_from(&base.selector.labels);
    }
    if overlay.selector.taints.is_empty() {
        overlay.selector.taints.clone_from(&base.selector.taints);
    }
    if overlay.takes_its_count() {
        overlay.count = resolved(&base.count);
    }
}

fn resolved<T: Clone>(fact: &Fact<T>) -> Fact<T> {
    match fact.clone() {
        Fact::Known(known) => Fact::Known(KnownFact { origin: known.origin.weakest(FactOrigin::Resolved), ..known }),
        other => other,
    }
}

fn nearest(found: &[(Arc<str>, FoundResource)], place: usize, among: &[usize]) -> Option<usize> {
    let (path, _) = found.get(place)?;
    among.iter().copied().min_by_key(|&at| found.get(at).map(|(other, _)| distance(path, other)))
}

/// Compares objects with the same name in one directory. The one that requests most counts, and the others are its
/// alternatives. It is unknown which one is applied last.
fn neighbours(found: &[(Arc<str>, FoundResource)], places: &[usize]) -> Vec<(usize, usize)> {
    let mut by_directory: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &place in places {
        if let Some((path, _)) = found.get(place) {
            by_directory.entry(parent(path)).or_default().push(place);
        }
    }
    let asks = |place: usize| {
        let resource = &found.get(place)?.1.resource;
        let count = match &resource.count {
            Fact::Known(known) if known.value.ceiling.is_finite() => known.value.ceiling,
            Fact::Known(known) => known.value.expected.max(1.0),
            Fact::Unknown(_) | Fact::Absent => 1.0,
        };
        Some(count * resource.number(Key::AcceleratorCount).unwrap_or(1.0))
    };
    let mut marks = Vec::new();
    for places in by_directory.into_values().filter(|places| places.len() > 1) {
        // If several request as much, the first one counts.
        let most = places
            .iter()
            .copied()
            .rev()
            .max_by(|one, two| asks(*one).partial_cmp(&asks(*two)).unwrap_or(Ordering::Equal));
        let Some(counts) = most else { continue };
        marks.extend(places.into_iter().filter(|&place| place != counts).map(|place| (place, counts)));
    }
    marks
}
