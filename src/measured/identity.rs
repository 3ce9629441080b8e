//! Matches rows to resources. A row matches a resource only if both have the same name and no other resource or
//! workload has it.

use std::collections::{BTreeMap, BTreeSet};

use super::matched::{MeasuredRow, UsageOptions};
use super::row::{OBSERVER, UsageRow};
use crate::inventory::{Inventory, MeterName, Resource, ResourceId};
use crate::source::{SourceFiles, matches};

/// The result of matching a resource.
pub(super) enum Claim {
    /// These rows match, by index. `is_sure` is true if the name is exact and no other name is possible.
    Rows {
        places: Vec<usize>,
        is_sure: bool,
    },
    /// Several rows match and none is used, for this reason.
    Open {
        why: String,
        places: Vec<usize>,
    },
    Nothing,
}

/// One workload or group of machines, as monitoring names it.
type Identity<'r> = (&'r str, &'r str, &'r str, &'r str);

fn identity(row: &UsageRow) -> Identity<'_> {
    (&row.cluster, &row.namespace, &row.kind, &row.name)
}

/// Matches each resource in the total with rows.
pub(super) fn claims(
    inventory: &Inventory,
    sources: &SourceFiles,
    options: &UsageOptions,
    rows: &[MeasuredRow],
) -> Vec<(ResourceId, Claim)> {
    let index = RowIndex::new(rows);
    let mut found: Vec<(ResourceId, Vec<Identity<'_>>, bool)> = Vec::new();
    for (at, resource) in inventory.resources.iter().enumerate().filter(|(_, it)| it.is_added()) {
        let cluster = cluster_of(resource, sources, options);
        let (identities, is_sure) = index.find(resource, cluster);
        found.push((ResourceId(at), identities, is_sure));
    }
    let mut owners: BTreeMap<Identity<'_>, BTreeSet<usize>> = BTreeMap::new();
    for (id, identities, _) in &found {
        if let [only] = identities.as_slice() {
            owners.entry(*only).or_default().insert(id.0);
        }
    }
    let claim = |(id, identities, is_sure): (ResourceId, Vec<Identity<'_>>, bool)| {
        let places = |of: &[Identity<'_>]| of.iter().flat_map(|it| index.places(it)).collect::<Vec<usize>>();
        let claim = match identities.as_slice() {
            [] => Claim::Nothing,
            [only] => match owners.get(only).filter(|it| it.len() > 1) {
                Some(several) => {
                    Claim::Open { why: claimed_twice(inventory, only, several), places: places(&identities) }
                }
                None => Claim::Rows { places: places(&identities), is_sure },
            },
            several => Claim::Open { why: measured_twice(several), places: places(several) },
        };
        (id, claim)
    };
    found.into_iter().map(claim).collect()
}

/// Returns text such as `2 resources match the metrics of prod/Deployment/a: …`.
fn claimed_twice(inventory: &Inventory, identity: &Identity<'_>, several: &BTreeSet<usize>) -> String {
    let named = several.iter().take(2).filter_map(|at| inventory.resources.get(*at)).map(|it| it.address.as_str());
    let named: Vec<&str> = named.collect();
    format!("{} resources match the metrics of {}: {}", several.len(), shown(identity), named.join(", "))
}

/// Returns text such as `2 measured workloads match it: prod/a, dev/a`.
fn measured_twice(several: &[Identity<'_>]) -> String {
    let named: Vec<String> = several.iter().take(3).map(shown).collect();
    format!("{} measured workloads match it: {}", several.len(), named.join(", "))
}

fn shown((cluster, namespace, kind, name): &Identity<'_>) -> String {
    let parts = [cluster, namespace, kind, name].into_iter().filter(|it| !it.is_empty());
    parts.copied().collect::<Vec<_>>().join("/")
}

pub(super) fn cluster_of<'o>(resource: &Resource, sources: &SourceFiles, options: &'o UsageOptions) -> Option<&'o str> {
    let path = sources.path_of(resource.span);
    let holds = |pattern: &str| matches(pattern, &path) || matches(&format!("{pattern}/*"), &path);
    options.clusters.iter().find(|(pattern, _)| holds(pattern)).map(|(_, cluster)| cluster.as_str())
}

/// Rows by name.
struct RowIndex<'r> {
    /// All places of an identity: one for each container and window.
    places: BTreeMap<Identity<'r>, Vec<usize>>,
    by_name: BTreeMap<&'r str, BTreeSet<Identity<'r>>>,
    clusters: BTreeSet<&'r str>,
}

impl<'r> RowIndex<'r> {
    fn new(rows: &'r [MeasuredRow]) -> RowIndex<'r> {
        let mut index = RowIndex { places: BTreeMap::new(), by_name: BTreeMap::new(), clusters: BTreeSet::new() };
        for (at, it) in rows.iter().enumerate().filter(|(_, it)| it.row.kind != OBSERVER) {
            let identity = identity(&it.row);
            index.places.entry(identity).or_default().push(at);
            index.clusters.insert(&it.row.cluster);
            index.by_name.entry(&it.row.name).or_default().insert(identity);
        }
        index
    }

    fn places(&self, identity: &Identity<'_>) -> Vec<usize> {
        self.places.get(identity).cloned().unwrap_or_default()
    }

    /// Returns the identities that a resource may have, and whether they are exact names. The resource's names come
    /// before those of objects that its controller creates.
    fn find(&self, resource: &Resource, cluster: Option<&str>) -> (Vec<Identity<'r>>, bool) {
        for is_own in [true, false] {
            let names = resource.metered.iter().filter(|it| it.is_own == is_own);
            let mut found: BTreeSet<Identity<'r>> = names.flat_map(|name| self.of(name, cluster)).collect();
            // A name without cluster or namespace still matches if only one workload has it.
            if cluster.is_some() {
                let named: BTreeSet<Identity<'r>> = found.iter().filter(|it| !it.0.is_empty()).copied().collect();
                if !named.is_empty() {
                    found = named;
                }
            }
            if !found.is_empty() {
                let is_placed = resource.metered.iter().all(|it| it.kind.is_none() || it.namespace.is_some());
                let is_sure = is_own && (is_placed || self.clusters.len() <= 1);
                return (found.into_iter().collect(), is_sure);
            }
        }
        (Vec::new(), false)
    }

    fn of(&self, name: &MeterName, cluster: Option<&str>) -> Vec<Identity<'r>> {
        let fits = |identity: &&Identity<'r>| {
            let (of, namespace, kind, _) = **identity;
            let is_kind = match &name.kind {
                Some(wanted) => kind == &**wanted,
                None => namespace.is_empty() || is_machine(kind),
            };
            let is_place = name.namespace.as_deref().is_none_or(|it| namespace.is_empty() || it == namespace);
            is_kind && is_place && cluster.is_none_or(|it| of.is_empty() || it == of)
        };
        if let Some((prefix, _)) = name.name.split_once('*') {
            let near = self.by_name.range(prefix..).take_while(|(it, _)| it.starts_with(prefix));
            let near = near.filter(|(it, _)| matches(&name.name, it));
            return near.flat_map(|(_, all)| all.iter().filter(fits).copied()).collect();
        }
        self.by_name.get(name.name.as_str()).into_iter().flatten().filter(fits).copied().collect()
    }
}

/// Returns true for a kind that is measured outside of Kubernetes.
fn is_machine(kind: &str) -> bool {
    matches!(kind, "Instance" | "NodeGroup" | "NodePool" | "Endpoint" | "Notebook" | "Machine")
}
