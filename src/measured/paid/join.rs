//! Matches rows of a bill with resources. A charge matches a resource only if both have the same name and nothing else
//! has it. Charges without a match are listed, so that both lists add up to the file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::matched::{NoPartner, Paid, is_other_machine};
use super::row::{KeyKind, PaidRow};
use crate::catalog::Catalog;
use crate::inventory::{Inventory, Key, ResourceId};
use crate::source::matches;

/// The identity that several rows share: provider, kind of key, key, region and machine.
type PaidIdentity<'r> = (&'r str, KeyKind, &'r str, &'r str, &'r str);

/// The parts of a name on the bill.
struct PaidName<'r> {
    cluster: &'r str,
    namespace: &'r str,
    kind: &'r str,
    name: &'r str,
}

impl<'r> PaidName<'r> {
    fn of(row: &'r PaidRow) -> PaidName<'r> {
        let mut name = PaidName { cluster: "", namespace: "", kind: "", name: &row.key };
        match row.key_kind {
            KeyKind::Workload => {
                let mut parts = row.key.splitn(4, '/');
                let mut next = || parts.next().unwrap_or_default();
                name = PaidName { cluster: next(), namespace: next(), kind: next(), name: next() };
            }
            KeyKind::Pool => {
                if let Some((cluster, pool)) = row.key.rsplit_once('/') {
                    (name.cluster, name.name) = (cluster, pool);
                }
            }
            _ => {}
        }
        name
    }
}

/// Resources by the names that a bill may use.
struct PaidIndex<'i> {
    inventory: &'i Inventory,
    catalog: &'i Catalog,
    by_name: HashMap<&'i str, Vec<ResourceId>>,
    /// Resources whose name begins with this prefix.
    begins: Vec<(&'i str, ResourceId)>,
    by_label: HashMap<(&'i str, &'i str), Vec<ResourceId>>,
    clusters: HashMap<ResourceId, &'i str>,
}

impl<'i> PaidIndex<'i> {
    fn new(
        inventory: &'i Inventory,
        catalog: &'i Catalog,
        cluster: impl Fn(usize) -> Option<&'i str>,
    ) -> PaidIndex<'i> {
        let (by_name, by_label, clusters) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut index = PaidIndex { inventory, catalog, by_name, begins: Vec::new(), by_label, clusters };
        for (at, resource) in inventory.resources.iter().enumerate().filter(|(_, it)| it.is_added()) {
            let id = ResourceId(at);
            for name in &resource.metered {
                match name.name.contains('*') {
                    true => index.begins.push((&name.name, id)),
                    false => index.by_name.entry(&name.name).or_default().push(id),
                }
            }
            for (key, value) in &resource.labels.entries {
                let Some(value) = value.value() else { continue };
                index.by_label.entry((key, value)).or_default().push(id);
            }
            index.clusters.extend(cluster(at).map(|cluster| (id, cluster)));
        }
        index
    }

    /// Returns the resources that a row may match, or why there is none, if the reason is not only the name.
    fn find(&self, row: &PaidRow) -> Result<BTreeSet<ResourceId>, NoPartner> {
        let name = PaidName::of(row);
        let named: Vec<ResourceId> = match row.key_kind {
            KeyKind::Unmatched => Vec::new(),
            KeyKind::Tag => {
                let label = name.name.split_once('=');
                label.and_then(|label| self.by_label.get(&label)).cloned().unwrap_or_default()
            }
            _ => {
                let begun = self.begins.iter().filter(|(form, _)| matches(form, name.name)).map(|(_, id)| *id);
                self.by_name.get(name.name).into_iter().flatten().copied().chain(begun).collect()
            }
        };
        let mut found: BTreeSet<ResourceId> = { named }.into_iter().filter(|id| self.fits(*id, row, &name)).collect();
        // A label is not a name, so a billed machine of another type than the resource's is another machine with the
        // same label.
        if row.key_kind == KeyKind::Tag {
            let labelled = found.first().copied();
            found.retain(|id| {
                !self.inventory.resources.get(id.0).is_some_and(|it| is_other_machine(it, row, self.catalog))
            });
            if let Some(id) = labelled.filter(|_| found.is_empty()) {
                return Err(NoPartner::OtherMachine(self.address(id).to_owned()));
            }
        }
        if found.len() < 2 {
            return Ok(found);
        }
        // The same name in two regions is two resources.
        let is_here = |id: &&ResourceId| {
            let resource = self.inventory.resources.get(id.0);
            resource.and_then(|it| it.text(Key::Region)).is_none_or(|it| it == row.region)
        };
        let here: BTreeSet<ResourceId> = found.iter().filter(is_here).copied().collect();
        Ok(if here.is_empty() { found } else { here })
    }

    fn address(&self, id: ResourceId) -> &'i str {
        self.inventory.resources.get(id.0).map_or("", |it| it.address.as_str())
    }

    fn fits(&self, id: ResourceId, row: &PaidRow, name: &PaidName<'_>) -> bool {
        let Some(resource) = self.inventory.resources.get(id.0) else { return false };
        let cluster = self.clusters.get(&id).copied().unwrap_or_default();
        let is_cluster = name.cluster.is_empty() || cluster.is_empty() || name.cluster == cluster;
        let is_provider = resource.text(Key::Provider).is_none_or(|it| it == row.provider);
        is_cluster
            && is_provider
            && match row.key_kind {
                KeyKind::Tag => true,
                KeyKind::Workload => resource.metered.iter().any(|it| {
                    let is_kind = it.kind.as_deref().is_some_and(|kind| name.kind.is_empty() || kind == name.kind);
                    is_kind && it.namespace.as_deref().is_none_or(|namespace| namespace == name.namespace)
                }),
                _ => resource.metered.iter().any(|it| {
                    it.kind.as_deref().is_none_or(|kind| kind == "NodePool" && row.key_kind == KeyKind::Pool)
                }),
            }
    }
}

/// Assigns each row to its resource.
pub(super) fn join<'i>(
    paid: &mut Paid,
    inventory: &'i Inventory,
    catalog: &'i Catalog,
    cluster: impl Fn(usize) -> Option<&'i str>,
) {
    let index = PaidIndex::new(inventory, catalog, cluster);
    let mut identities: BTreeMap<PaidIdentity<'_>, Vec<usize>> = BTreeMap::new();
    for (at, it) in paid.rows.iter().enumerate() {
        let row = &it.row;
        identities.entry((&row.provider, row.key_kind, &row.key, &row.region, &row.machine)).or_default().push(at);
    }
    let mut claims: BTreeMap<ResourceId, Vec<(&PaidIdentity<'_>, &Vec<usize>)>> = BTreeMap::new();
    let (mut unmatched, mut unpaid) = (Vec::new(), BTreeMap::new());
    for (identity, places) in &identities {
        let Some(row) = places.first().and_then(|at| paid.rows.get(*at)) else { continue };
        let (found, why) = match index.find(&row.row) {
            Ok(found) if found.len() == 1 => {
                found.iter().for_each(|only| claims.entry(*only).or_default().push((identity, places)));
                continue;
            }
            Ok(found) if found.is_empty() && identity.1 == KeyKind::Unmatched => (found, NoPartner::Unnamed),
            Ok(found) if found.is_empty() => (found, NoPartner::Nowhere),
            Ok(found) => {
                let first: Vec<&str> = found.iter().take(3).map(|id| index.address(*id)).collect();
                let why = NoPartner::Several(found.len(), first.join(", "));
                (found, why)
            }
            Err(why) => (BTreeSet::new(), why),
        };
        // A label that several resources share identifies none of them.
        if identity.1 != KeyKind::Tag {
            unpaid.extend(found.iter().map(|id| (*id, format!("charges for {}: {why}", row.row.shown()))));
        }
        unmatched.extend(places.iter().map(|at| (*at, why.clone())));
    }
    let mut matched: BTreeMap<ResourceId, Vec<usize>> = BTreeMap::new();
    for (id, all) in claims {
        let clusters: BTreeSet<&str> =
            all.iter().filter_map(|(it, _)| Some(it.2.rsplit_once('/')?.0).filter(|_| it.1 == KeyKind::Pool)).collect();
        let places = all.iter().flat_map(|(_, places)| places.iter().copied());
        if clusters.len() > 1 {
            let names: Vec<&str> = clusters.into_iter().collect();
            let why = NoPartner::Clusters(names.join(", "));
            unmatched.extend(places.map(|at| (at, why.clone())));
            unpaid.insert(id, why.to_string());
            continue;
        }
        matched.insert(id, places.collect());
    }
    unmatched.sort();
    (paid.matched, paid.unmatched, paid.unpaid) = (matched, unmatched, unpaid);
}
