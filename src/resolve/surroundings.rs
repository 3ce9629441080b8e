//! Finds the components near a resource: its twin pool, a queue, priority classes. Also finds components of the whole
//! tree.

use std::collections::{BTreeMap, HashMap};

use crate::inventory::{
    BillingRole, Fact, FactOrigin, FactValue, Inventory, Key, Purchase, ReadBy, Resource, SupportingComponent,
    accelerators, signs,
};
use crate::source::{SourceFiles, Span, each, is_below, parent};

use super::pools::is_pool;

/// Searches all files except the sorted `plain` ones. Records the components of the tree, and sets on each resource
/// the components near it.
pub(super) fn find_surroundings(inventory: &mut Inventory, sources: &SourceFiles, paths: &[String], plain: &[String]) {
    if inventory.resources.is_empty() {
        return;
    }
    let paths = paths.iter().filter(|path| plain.binary_search(path).is_err());
    let found = each(paths.collect(), |path: &String| {
        let signs = sources.glance(path, signs).unwrap_or_default();
        signs.into_iter().map(|(sign, at)| (path, sign, at.start, at.end)).collect::<Vec<_>>()
    });
    let mut found: Vec<(&String, SupportingComponent, usize, usize)> = found.into_iter().flatten().collect();
    found.sort_unstable();
    let mut near: BTreeMap<(SupportingComponent, &str), Span> = BTreeMap::new();
    for (path, sign, start, end) in found {
        let Ok(file) = sources.open(path) else { continue };
        let span = Span::new(file, start, end);
        inventory.signs.entry(sign).or_insert(span);
        near.entry((sign, parent(path))).or_insert(span);
    }
    let directories: Vec<String> =
        inventory.resources.iter().map(|it| parent(&sources.path(it.span.file)).to_owned()).collect();
    for (resource, directory) in inventory.resources.iter_mut().zip(&directories) {
        for (sign, key) in
            [(SupportingComponent::Queue, Key::QueueHere), (SupportingComponent::Priority, Key::PriorityHere)]
        {
            if let Some(span) = near.get(&(sign, directory.as_str())) {
                resource.set(key, Fact::known(FactValue::Flag(true), *span, FactOrigin::Resolved));
            }
        }
    }
    let switches: Vec<(SupportingComponent, &str, Span)> =
        near.iter().map(|(&(sign, folder), &span)| (sign, folder, span)).collect();
    for (resource, directory) in inventory.resources.iter_mut().zip(&directories) {
        apply_switches(resource, directory, &switches, sources);
    }
    pair_twins(inventory, &directories);
}

/// Applies the settings of controllers to a resource. A setting applies to its folder, to the folders below and to the
/// folders above.
fn apply_switches(
    resource: &mut Resource,
    directory: &str,
    switches: &[(SupportingComponent, &str, Span)],
    sources: &SourceFiles,
) {
    let is_around = |folder: &str| folder == directory || is_below(folder, directory) || is_below(directory, folder);
    let told =
        |wanted: SupportingComponent| switches.iter().find(|(sign, folder, _)| *sign == wanted && is_around(folder));
    let because = |span: Span, what: &str| FactOrigin::Inferred(format!("`{}` {what}", sources.path(span.file)).into());
    let is_notebook = resource.front_end == ReadBy::Kubernetes && resource.kind == "Notebook";
    if let Some((.., span)) =
        told(SupportingComponent::Culling).filter(|_| is_notebook && resource.fact(Key::Schedule).is_absent())
    {
        let origin = because(*span, "makes the notebook controller stop idle notebooks");
        resource.set(Key::Schedule, Fact::known(FactValue::text("its platform when it is idle"), *span, origin));
    }
    if let Some((.., span)) = told(SupportingComponent::NoScaleDown).filter(|_| is_scaled_by_cluster(resource)) {
        let origin = because(*span, "turns off scale-down of the cluster autoscaler");
        resource.set(Key::ScaleDown, Fact::known(FactValue::Flag(false), *span, origin));
    }
}

/// Returns whether an autoscaler in the cluster controls the size of the pool. Google and Azure manage the autoscalers
/// of their pools themselves.
fn is_scaled_by_cluster(resource: &Resource) -> bool {
    let may_grow = resource.count.value().is_none_or(|range| range.ceiling > range.floor);
    let is_managed = matches!(resource.text(Key::Provider), Some("gcp" | "azure"));
    matches!(resource.front_end, ReadBy::Terraform | ReadBy::Template) && is_pool(resource) && may_grow && !is_managed
}

/// Pairs pools of one directory with the same accelerator, if one uses spot only and the other does not.
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
            resource.set(Key::Twin, Fact::known(FactValue::text(address), span, FactOrigin::Resolved));
        }
    }
}

/// Returns the properties that two pools must share so that a pod can run on either, and whether the pool is on spot.
/// Single machines have no twin, nor have pools that pods do not select by labels.
fn pool(resource: &Resource) -> Option<(String, bool)> {
    let grows =
        resource.count.value().is_none_or(|range| range.ceiling > 1.0) || resource.flag(Key::Autoscaled) == Some(true);
    // A pool that allows several machine types has a twin if another pool allows the same ones.
    let accelerator = match resource.fact(Key::Accelerator) {
        Fact::Known(known) => known.value.to_string(),
        Fact::Unknown(unknown) if !unknown.candidates.is_empty() => {
            unknown.candidates.iter().map(FactValue::to_string).collect::<Vec<_>>().join(" or ")
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
    if resource.role != BillingRole::Rented || !grows || labels.is_empty() {
        return None;
    }
    let mut common = accelerator;
    for (key, value) in labels.iter().filter(|(key, _)| !accelerators::identifies_pool(key)) {
        common.push_str(&format!(" {key}={}", value.value().map_or("?", |value| value)));
    }
    Some((common, is_spot))
}
