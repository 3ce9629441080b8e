//! A scenario: changes, and the resources to which they apply.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::inventory::{Inventory, Resource, RunId};

use super::changes::WhatIfChanges;
use super::instances::is_instance;

/// The changes of some resources.
#[derive(Debug, Clone)]
pub struct WhatIfScenario {
    /// The changed resources, each by its deployment and its address in it.
    about: BTreeSet<(Option<RunId>, String)>,
    pub(super) changes: WhatIfChanges,
    /// The number of machines that each block creates by its count. It is one if deployments differ.
    pub(super) instances: BTreeMap<Arc<str>, usize>,
    pub(super) catalog: Catalog,
    /// The user's own labels that declare a fact.
    pub(super) own: BTreeMap<String, String>,
}

impl WhatIfScenario {
    /// `today` is the current inventory, and `own` contains the user's own labels that declare a fact.
    pub fn new(
        about: BTreeSet<String>,
        changes: WhatIfChanges,
        today: &Inventory,
        catalog: &Catalog,
        own: &BTreeMap<String, String>,
    ) -> WhatIfScenario {
        let meant: Vec<&Resource> = today.resources.iter().filter(|it| about.contains(&it.address)).collect();
        let instances = instances(&meant);
        let about = meant.iter().map(|it| (it.run.clone(), address_in_run(it, today).to_owned())).collect();
        WhatIfScenario { about, changes, instances, catalog: catalog.clone(), own: own.clone() }
    }

    pub(super) fn is_about(&self, it: &Resource, run: Option<&RunId>) -> bool {
        self.about.contains(&(run.cloned(), it.address.clone()))
    }
}

/// Returns the address without the suffix of a variant or of one of two tools, as in `aws_instance.a
/// (env/prod.tfvars)` or `aws_instance.a (Terraform)`.
fn address_in_run<'r>(it: &'r Resource, today: &Inventory) -> &'r str {
    let without = |address: &'r str, name: Option<&str>| {
        name.and_then(|name| address.strip_suffix(&format!(" ({name})"))).unwrap_or(address)
    };
    let variant = it.run.as_ref().and_then(|run| today.run(run)?.variant.as_deref());
    without(without(&it.address, variant), it.only_by)
}

fn instances(meant: &[&Resource]) -> BTreeMap<Arc<str>, usize> {
    let mut by_run: BTreeMap<(Arc<str>, Option<RunId>), usize> = BTreeMap::new();
    for it in meant.iter().filter(|it| is_instance(it)) {
        *by_run.entry((it.declared.block.clone(), it.run.clone())).or_default() += 1;
    }
    let mut instances: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for ((block, _), number) in by_run {
        let known = instances.entry(block).or_insert(number);
        if *known != number {
            *known = 1;
        }
    }
    instances
}
