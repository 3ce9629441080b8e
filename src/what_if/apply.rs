//! Replaces the facts of resources with those of a scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::{Catalog, Recognized};
use crate::diagnostic::nearest;
use crate::inventory::programs::declares;
use crate::inventory::{BillingRole, Fact, FactOverrides, FactValue, Key, Purchase, Resource, RunId, UnknownFact};
use crate::kubernetes::{NodeLabel, node_label, word_of_label};
use crate::pricing::OWN_PROVIDER;
use crate::source::Span;

use super::changes::{WhatIfChanges, Wrong};
use super::instances::counted;
use super::scenario::WhatIfScenario;

/// The facts about a machine in addition to its name. Another machine replaces them.
const DESCRIBED: [Key; 9] = [
    Key::Accelerator,
    Key::AcceleratorCount,
    Key::AcceleratorMemory,
    Key::Vendor,
    Key::Cpus,
    Key::Memory,
    Key::Topology,
    Key::Processor,
    Key::MachineTypes,
];

/// The facts about a machine that are independent of its accelerators.
const OF_MACHINE: [Key; 4] = [Key::Cpus, Key::Memory, Key::MachineTypes, Key::Topology];

/// The same facts for a pod's machine. The number of requested accelerators stays, because it belongs to the pod.
const DESCRIBED_TO_PODS: [Key; 4] = [Key::Accelerator, Key::AcceleratorMemory, Key::Processor, Key::NodeAccelerators];

/// The facts that only the old provider has.
const OF_PROVIDER: [Key; 12] = [
    Key::Tenancy,
    Key::BilledAs,
    Key::Reservation,
    Key::UnusedShare,
    Key::HeldShare,
    Key::MaxPrice,
    Key::MaxPriceShare,
    Key::SpotOffered,
    Key::AllocationStrategy,
    Key::EvictionPolicy,
    Key::Zones,
    Key::Topology,
];

impl FactOverrides for WhatIfScenario {
    fn adjust(&self, mut resource: Resource, run: Option<&RunId>) -> Vec<Resource> {
        if !self.is_about(&resource, run) {
            return vec![resource];
        }
        let changing = Changing { changes: &self.changes, catalog: &self.catalog, own: &self.own };
        changing.place(&mut resource);
        changing.workload(&mut resource);
        match self.changes.count {
            Some(count) => {
                let today = self.instances.get(&resource.declared.block).copied().unwrap_or(1);
                counted(resource, count, today)
            }
            None => vec![resource],
        }
    }
}

impl WhatIfChanges {
    /// Returns the provider that a resource moves to: the requested one, or that of a machine that the current
    /// provider lacks.
    pub fn other_provider(&self, it: &Resource, catalog: &Catalog) -> Option<Arc<str>> {
        let now = it.text(Key::Provider);
        let is_other = |provider: &str| now.is_none_or(|now| !now.eq_ignore_ascii_case(provider));
        if let Some(provider) = &self.provider {
            return Some(provider.clone()).filter(|it| is_other(it));
        }
        let machine = self.machine.as_deref()?;
        now.filter(|now| catalog.machine(now, machine).is_none())?;
        Some(catalog.provider_of(machine)?.into()).filter(|it: &Arc<str>| is_other(it))
    }

    /// Refuses a region that the provider does not have. A provider without known regions accepts any.
    pub fn demand_region(&self, it: &Resource, catalog: &Catalog) -> Result<(), Wrong> {
        let Some(region) = &self.region else { return Ok(()) };
        let other = self.other_provider(it, catalog);
        let Some(provider) = other.as_deref().or_else(|| it.text(Key::Provider)) else { return Ok(()) };
        let all = catalog.regions(provider);
        let is_known = catalog.region(provider, region).is_some() || catalog.place_apart(provider, region).is_some();
        if is_known || all.is_empty() {
            return Ok(());
        }
        let near = nearest(region, all.iter().copied()).map(|near| format!("did you mean `{near}`? "));
        let help = format!("{}use one of {}", near.unwrap_or_default(), all.join(", "));
        Err(Wrong { why: format!("the catalog lists no region {region} of {provider}"), help })
    }
}

struct Changing<'s> {
    changes: &'s WhatIfChanges,
    catalog: &'s Catalog,
    own: &'s BTreeMap<String, String>,
}

impl Changing<'_> {
    /// Changes the machine, its place and its way of buying.
    fn place(&self, it: &mut Resource) {
        let changes = self.changes;
        let provider = changes.other_provider(it, self.catalog);
        if let Some(provider) = &provider {
            self.leave(it, provider);
        }
        let has_other_number = changes.accelerators.is_some() && it.role == BillingRole::Rented;
        if changes.machine.is_none() && (changes.accelerator.is_some() || has_other_number) {
            self.keep_accelerators(it);
        }
        if let Some(machine) = &changes.machine {
            let described: &[Key] = if it.role == BillingRole::Rented { &DESCRIBED } else { &DESCRIBED_TO_PODS };
            described.iter().for_each(|key| it.set(*key, Fact::Absent));
            set_fact(it, Key::Machine, FactValue::text(machine.clone()));
        }
        if let Some(accelerator) = &changes.accelerator {
            it.set(Key::AcceleratorMemory, Fact::Absent);
            it.set(Key::Vendor, Fact::Absent);
            set_fact(it, Key::Accelerator, FactValue::text(accelerator.clone()));
        }
        if let Some(count) = changes.accelerators {
            it.set(Key::Topology, Fact::Absent);
            set_fact(it, Key::AcceleratorCount, FactValue::Number(count));
        }
        if let Some(region) = &changes.region {
            set_fact(it, Key::Region, FactValue::text(region.clone()));
        }
        if let Some((purchase, years)) = changes.purchase {
            set_fact(it, Key::Purchase, purchase.into());
            if let Some(years) = years {
                set_fact(it, Key::CommitmentYears, FactValue::Number(years));
            }
        }
        self.labels_of_nodes(it);
    }

    fn leave(&self, it: &mut Resource, provider: &Arc<str>) {
        if self.changes.machine.is_none() {
            self.keep_accelerators(it);
            it.set(Key::Machine, Fact::Absent);
        }
        OF_PROVIDER.iter().for_each(|key| it.set(*key, Fact::Absent));
        it.set(Key::Region, Fact::Absent);
        if **provider == *OWN_PROVIDER {
            set_fact(it, Key::Purchase, Purchase::OnPrem.into());
        } else if it.purchase() == Some(Purchase::OnPrem) {
            set_fact(it, Key::Purchase, Purchase::OnDemand.into());
        }
        set_fact(it, Key::Provider, FactValue::text(provider.clone()));
    }

    /// Removes the machine and keeps its accelerators, or all its candidates, so that any machine with them is
    /// possible. A host to which accelerators are attached separately stays.
    fn keep_accelerators(&self, it: &mut Resource) {
        let machine = it.fact(Key::Machine).clone();
        let names: Vec<&str> = match &machine {
            Fact::Known(known) => known.value.as_text().into_iter().collect(),
            Fact::Unknown(unknown) => unknown.candidates.iter().filter_map(FactValue::as_text).collect(),
            Fact::Absent => return,
        };
        let Some(first) = names.first() else { return };
        let own = it.text(Key::Provider).or_else(|| self.catalog.provider_of(first)).unwrap_or_default().to_owned();
        let is_host = |cloud: &str| matches!(self.catalog.recognize(cloud, first), Recognized::Host(_));
        if is_host(&own) || own.is_empty() && self.catalog.assumed_clouds().into_iter().any(is_host) {
            return;
        }
        let machines = self.catalog.machines_among(&own, &names);
        one_of(it, Key::Accelerator, &machine, machines.iter().map(|it| FactValue::text(&*it.accelerator)));
        if it.role == BillingRole::Rented {
            one_of(it, Key::AcceleratorCount, &machine, machines.iter().map(|it| FactValue::Number(it.count)));
            OF_MACHINE.iter().for_each(|key| it.set(*key, Fact::Absent));
        }
        it.set(Key::Machine, Fact::Absent);
    }

    /// Adapts node labels, which describe the machine: a pool's labels follow its machine, and a pod's labels select
    /// a machine.
    fn labels_of_nodes(&self, it: &mut Resource) {
        let changes = self.changes;
        let machine = it.fact(Key::Machine).value().map(ToString::to_string);
        let is_other_machine = changes.machine.is_some() || machine.is_none();
        let has_other_chip = changes.accelerator.is_some() || is_other_machine;
        let labels = std::mem::take(&mut it.selector.labels);
        let kept = labels.into_iter().filter_map(|(key, fact)| {
            let span = fact.span()?;
            let written = |text: Option<&str>| Some(Fact::written(Arc::from(text?), span));
            let other = match node_label(&key) {
                Some(NodeLabel::Machine) if changes.machine.is_some() => written(machine.as_deref()),
                Some(NodeLabel::Accelerator) if changes.accelerator.is_some() => {
                    written(changes.accelerator.as_deref())
                }
                Some(NodeLabel::Machine | NodeLabel::PartOfMachine) if changes.moves() && is_other_machine => None,
                Some(NodeLabel::Accelerator) if changes.moves() && has_other_chip => None,
                Some(NodeLabel::Region) if changes.region.is_some() => written(changes.region.as_deref()),
                Some(NodeLabel::Zone) if changes.region.is_some() => None,
                Some(NodeLabel::Purchase) if let Some((purchase, _)) = changes.purchase => {
                    written(word_of_label(&key, purchase.name()))
                }
                _ => Some(fact),
            };
            Some((key, other?))
        });
        it.selector.labels = kept.collect();
    }

    /// Changes the workload.
    fn workload(&self, it: &mut Resource) {
        let says = |key: Key| self.changes.declared.iter().any(|(_, _, said, _)| *said == key);
        if says(Key::Model) && !says(Key::Parameters) {
            it.set(Key::Parameters, Fact::Absent);
            it.labels.entries.retain(|label, _| declares(label, self.own) != Some(Key::Parameters));
        }
        for (_, text, key, value) in &self.changes.declared {
            match value {
                Some(value) => set_fact(it, *key, value.clone()),
                None => it.set(*key, Fact::Absent),
            }
            for (label, fact) in &mut it.labels.entries {
                if declares(label, self.own) == Some(*key) {
                    let span = fact.span().unwrap_or(it.span);
                    *fact = Fact::written(text.clone(), span);
                }
            }
        }
    }
}

/// Sets a fact as if it were written at the fact's position, or at the resource if the fact has none.
fn set_fact(it: &mut Resource, key: Key, value: FactValue) {
    let span: Span = it.fact(key).span().unwrap_or(it.span);
    it.set(key, Fact::written(value, span));
}

/// Sets the value that all possible machines share, or else the value of each of them as a candidate.
fn one_of(it: &mut Resource, key: Key, machine: &Fact<FactValue>, values: impl Iterator<Item = FactValue>) {
    let mut all: Vec<FactValue> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    match (all.as_slice(), machine) {
        ([], _) => {}
        ([only], _) => set_fact(it, key, only.clone()),
        (_, Fact::Unknown(unknown)) => it.set(key, Fact::Unknown(UnknownFact { candidates: all, ..unknown.clone() })),
        _ => {}
    }
}
