//! Handles objects that a cluster created from other objects, in the output of `kubectl get -o yaml`: pods of a
//! ReplicaSet, ReplicaSets of a Deployment. Only the owner counts if it is in the tree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::inventory::{Fact, Key, Link, LinkKind};
use crate::kubernetes::pods::workload::FoundResource;

type Name = (Option<Arc<str>>, Arc<str>, Arc<str>);

/// Removes objects whose owner is in the tree and requests as much, because a controller creates no more than its
/// owner sets. Objects count separately if they exceed this number, if their owner has no replicas, or if the owners
/// are a cycle.
pub(in crate::kubernetes) fn leave_out(found: &mut Vec<(Arc<str>, FoundResource)>) {
    if found.iter().all(|(_, it)| it.owners.is_empty()) {
        return;
    }
    let name = |it: &FoundResource| Some((it.namespace.clone(), Arc::from(it.kind.as_str()), it.name.clone()?));
    let mut here: HashMap<Name, Vec<usize>> = HashMap::new();
    for (place, (_, it)) in found.iter().enumerate() {
        if let Some(name) = name(it) {
            here.entry(name).or_default().push(place);
        }
    }
    let owners = |it: &FoundResource| -> Vec<Name> {
        let all = it.owners.iter().map(|(kind, owner)| (it.namespace.clone(), kind.clone(), owner.clone()));
        all.filter(|owner| here.contains_key(owner) && name(it).as_ref() != Some(owner)).collect()
    };
    let grounded = grounded(found, &owners, &name);
    let mut left: HashMap<(Name, String), f64> = HashMap::new();
    let mut out: HashMap<usize, usize> = HashMap::new();
    let mut stands_for: HashMap<Name, Name> = HashMap::new();
    for (place, (_, it)) in found.iter().enumerate() {
        let Some(asked) = accelerators(it) else { continue };
        let own = name(it);
        for owner in owners(it).into_iter().filter(|owner| grounded.contains(owner)) {
            if own.as_ref().is_some_and(|own| leads_to(&owner, own, &stands_for)) {
                continue;
            }
            let stands = here.get(&owner).map(Vec::as_slice).unwrap_or_default();
            let all = || stands.iter().filter_map(|&at| accelerators(&found.get(at)?.1)).sum();
            let left = left.entry((owner.clone(), it.kind.clone())).or_insert_with(all);
            let by = stands.first().filter(|_| *left >= asked && *left > 0.0);
            if let Some(by) = by {
                *left -= asked;
                out.insert(place, *by);
                stands_for.extend(own.map(|own| (own, owner)));
                break;
            }
        }
    }
    note_owner(found, &out);
    let mut place = 0;
    found.retain(|_| {
        place += 1;
        !out.contains_key(&(place - 1))
    });
}

/// Returns whether the owner chain of the first leads to the second, or is too long to decide.
fn leads_to(from: &Name, to: &Name, stands_for: &HashMap<Name, Name>) -> bool {
    const DEEPEST: usize = 16;
    let mut steps = std::iter::successors(Some(from), |name| stands_for.get(*name));
    steps.by_ref().take(DEEPEST).any(|name| name == to) || steps.next().is_some()
}

/// Returns the names of objects without an owner, and of everything that they own. All others are in cycles.
fn grounded(
    found: &[(Arc<str>, FoundResource)],
    owners: &impl Fn(&FoundResource) -> Vec<Name>,
    name: &impl Fn(&FoundResource) -> Option<Name>,
) -> HashSet<Name> {
    let mut owned: HashMap<Name, Vec<Name>> = HashMap::new();
    let mut open: Vec<Name> = Vec::new();
    for (_, it) in found {
        let Some(own) = name(it) else { continue };
        let owners = owners(it);
        if owners.is_empty() {
            open.push(own.clone());
        }
        for owner in owners {
            owned.entry(owner).or_default().push(own.clone());
        }
    }
    let mut grounded: HashSet<Name> = HashSet::new();
    while let Some(next) = open.pop() {
        if let Some(below) = owned.remove(&next) {
            open.extend(below);
        }
        grounded.insert(next);
    }
    grounded
}

/// Returns the maximum of its accelerators; `None` if it is unknown.
fn accelerators(it: &FoundResource) -> Option<f64> {
    let each = match it.resource.fact(Key::AcceleratorCount) {
        Fact::Absent => 1.0,
        known => known.value()?.as_number()?,
    };
    Some(it.resource.count.value()?.ceiling * each)
}

/// Adds links from owners to the removed objects.
fn note_owner(found: &mut [(Arc<str>, FoundResource)], out: &HashMap<usize, usize>) {
    let mut by_owner: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, owner) in out {
        let mut owner = owner;
        while let Some(above) = out.get(owner) {
            owner = above;
        }
        by_owner.entry(*owner).or_default().push(*place);
    }
    for (owner, mut places) in by_owner {
        places.sort_unstable();
        let Some((_, first)) = places.first().and_then(|&place| found.get(place)) else { continue };
        let why = match places.len() {
            1 => "it created this object, which is part of its cost".to_owned(),
            more => format!("it created this object and {} more, which are part of its cost", more - 1),
        };
        let (to, span) = (first.resource.address.clone(), first.resource.span);
        if let Some((_, stands)) = found.get_mut(owner) {
            stands.resource.links.push(Link { kind: LinkKind::Settings, to, span, why: why.into() });
        }
    }
}
