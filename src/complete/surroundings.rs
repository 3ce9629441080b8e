//! What stands beside a resource in the tree: its twin pool, a queue, classes of priority; and what a tree has at all.

use std::collections::{BTreeMap, HashMap};

use crate::inventory::{
    Fact, FrontEnd, Inventory, Key, Origin, Purchase, Resource, Role, Sign, Value, accelerators, signs,
};
use crate::source::{Sources, Span, each, is_below, parent};

use super::pools::is_pool;

/// Searches all files but those that are known to be plain, sorted: notes what the tree has, and tells each resource
/// what stands beside it.
pub(super) fn find_surroundings(inventory: &mut Inventory, sources: &Sources, paths: &[String], plain: &[String]) {
    if inventory.resources.is_empty() {
        return;
    }
    let paths = paths.iter().filter(|path| plain.binary_search(path).is_err());
    let found = each(paths.collect(), |path: &String| {
        let signs = sources.glance(path, signs).unwrap_or_default();
        signs.into_iter().map(|(sign, at)| (path, sign, at.start, at.end)).collect::<Vec<_>>()
    });
    let mut found: Vec<(&String, Sign, usize, usize)> = found.into_iter().flatten().collect();
    found.sort_unstable();
    let mut near: BTreeMap<(Sign, &str), Span> = BTreeMap::new();
    for (path, sign, start, end) in found {
        let Ok(file) = sources.open(path) else { continue };
        let span = Span::new(file, start, end);
        inventory.signs.entry(sign).or_insert(span);
        near.entry((sign, parent(path))).or_insert(span);
    }
    let directories: Vec<String> =
        inventory.resources.iter().map(|it| parent(&sources.path(it.span.file)).to_owned()).collect();
    for (resource, directory) in inventory.resources.iter_mut().zip(&directories) {
        for (sign, key) in [(Sign::Queue, Key::QueueHere), (Sign::Priority, Key::PriorityHere)] {
            if let Some(span) = near.get(&(sign, directory.as_str())) {
                resource.set(key, Fact::known(Value::Flag(true), *span, Origin::Resolved));
            }
        }
    }
    let switches: Vec<(Sign, &str, Span)> = near.iter().map(|(&(sign, folder), &span)| (sign, folder, span)).collect();
    for (resource, directory) in inventory.resources.iter_mut().zip(&directories) {
        apply_switches(resource, directory, &switches, sources);
    }
    pair_twins(inventory, &directories);
}

/// What a controller is told in one folder holds for what it looks after there, below it and around it.
fn apply_switches(resource: &mut Resource, directory: &str, switches: &[(Sign, &str, Span)], sources: &Sources) {
    let is_around = |folder: &str| folder == directory || is_below(folder, directory) || is_below(directory, folder);
    let told = |wanted: Sign| switches.iter().find(|(sign, folder, _)| *sign == wanted && is_around(folder));
    let because = |span: Span, what: &str| Origin::Inferred(format!("`{}` {what}", sources.path(span.file)).into());
    let is_notebook = resource.front_end == FrontEnd::Kubernetes && resource.kind == "Notebook";
    if let Some((.., span)) = told(Sign::Culling).filter(|_| is_notebook && resource.fact(Key::Schedule).is_absent()) {
        let origin = because(*span, "makes the notebook controller stop idle notebooks");
        resource.set(Key::Schedule, Fact::known(Value::text("its platform when it is idle"), *span, origin));
    }
    if let Some((.., span)) = told(Sign::NoScaleDown).filter(|_| is_scaled_by_cluster(resource)) {
        let origin = because(*span, "turns off scale-down of the cluster autoscaler");
        resource.set(Key::ScaleDown, Fact::known(Value::Flag(false), *span, origin));
    }
}

/// A pool that an autoscaler of one's own makes larger. Those of Google and Azure are their own business.
fn is_scaled_by_cluster(resource: &Resource) -> bool {
    let may_grow = resource.count.value().is_none_or(|range| range.ceiling > range.floor);
    let is_managed = matches!(resource.text(Key::Provider), Some("gcp" | "azure"));
    matches!(resource.front_end, FrontEnd::Terraform | FrontEnd::Template)
        && is_pool(resource)
        && may_grow
        && !is_managed
}

/// Pools of one directory with one accelerator, where one is on spot alone and another is not.
fn pair_twins(inventory: &mut Inventory, directories: &[String]) {
    let mut pools: HashMap<(&str, String), [Option<usize>; 2]> = HashMap::new();
    for (place, (resource, directory)) in inventory.resources.iter().zip(directories).enumerate() {
        if let Some((accelerator, is_spot)) = pool(resource) {
            let both = pools.entry((directory.as_str(), accelerator)).or_default();
            if let Some(one) = both.get_mut(usize::from(is_spot)) {
                one.get_or_insert(place);
            }
        }
    }
    let mut twins: Vec<(usize, String, Span)> = Vec::new();
    for (place, (resource, directory)) in inventory.resources.iter().zip(directories).enumerate() {
        let Some((accelerator, is_spot)) = pool(resource) else { continue };
        let twin = pools.get(&(directory.as_str(), accelerator)).and_then(|both| both.get(usize::from(!is_spot)));
        let twin = twin.copied().flatten().and_then(|at| inventory.resources.get(at));
        twins.extend(twin.map(|twin| (place, twin.address.clone(), twin.span)));
    }
    for (place, address, span) in twins {
        if let Some(resource) = inventory.resources.get_mut(place) {
            resource.set(Key::Twin, Fact::known(Value::text(address), span, Origin::Resolved));
        }
    }
}

/// What a pool must have in common with another for a pod to run on either, and whether it is on spot. A machine of its
/// own has no twin, and neither has a pool that no pod finds by labels.
fn pool(resource: &Resource) -> Option<(String, bool)> {
    let grows =
        resource.count.value().is_none_or(|range| range.ceiling > 1.0) || resource.flag(Key::Autoscaled) == Some(true);
    // A pool that may take machines with one of several has a twin where another may take the same ones.
    let accelerator = match resource.fact(Key::Accelerator) {
        Fact::Known(known) => known.value.to_string(),
        Fact::Unknown(unknown) if !unknown.candidates.is_empty() => {
            unknown.candidates.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ")
        }
        _ => return None,
    };
    let is_spot = match resource.purchase()? {
        Purchase::Spot => true,
        Purchase::OnDemand
        | Purchase::Mixed
        | Purchase::SpotOrOnDemand
        | Purchase::Reserved
        | Purchase::CapacityReservation => false,
        _ => return None,
    };
    let labels = &resource.selector.labels;
    if resource.role != Role::Rented || !grows || labels.is_empty() {
        return None;
    }
    let mut common = accelerator;
    for (key, value) in labels.iter().filter(|(key, _)| !accelerators::tells_pools_apart(key)) {
        common.push_str(&format!(" {key}={}", value.value().map_or("?", |value| value)));
    }
    Some((common, is_spot))
}
