//! Declines fixes after which no pool would offer the machine that a pod selects.

use std::collections::HashMap;

use crate::inventory::{BillingRole, Fact, FactEdit, FactValue, Inventory, Key, Part, Resource};
use crate::rules::Finding;
use crate::source::{Span, matches};

/// The machines that fixes request for pools.
pub(super) struct PoolMachines<'i> {
    pools: HashMap<&'i str, &'i Resource>,
    requested: Vec<(String, Key, FactValue)>,
}

/// The facts of a pod by which it selects machines.
const SELECTED: [Key; 2] = [Key::Machine, Key::Accelerator];

impl<'i> PoolMachines<'i> {
    pub(super) fn new(findings: &[Finding], inventory: &'i Inventory) -> Self {
        let rented = inventory.resources.iter().filter(|it| it.role == BillingRole::Rented);
        let pools = rented.map(|it| (it.address.as_str(), it)).collect();
        let requested = findings.iter().filter_map(|finding| {
            let resource = inventory.resources.get(finding.resource?.0)?;
            let (key, value) = finding.fix.as_ref()?.wishes.iter().find_map(selected)?;
            (resource.role == BillingRole::Rented).then(|| (resource.address.clone(), key, value.clone()))
        });
        PoolMachines { requested: requested.collect(), pools }
    }

    /// Returns why a pod must not select another machine: the pool that it selects does not offer the machine.
    pub(super) fn refusal(&self, wishes: &[FactEdit], pod: &Resource) -> Option<(Span, String)> {
        let (key, wanted) = wishes.iter().find_map(selected).filter(|_| pod.role == BillingRole::Requested)?;
        // Otherwise, the fix changes the pool itself.
        pod.fact(key).span().filter(|span| pod.body.contains(*span))?;
        let pools: Vec<&Resource> = pod.pools().filter_map(|pool| self.pools.get(pool).copied()).collect();
        let first = pools.first().filter(|_| !pools.iter().any(|pool| self.may_offer(pool, key, wanted)))?;
        Some((first.span, format!("{} does not offer {wanted}: change the pool", first.address)))
    }

    fn may_offer(&self, pool: &Resource, key: Key, wanted: &FactValue) -> bool {
        let is_wanted = |it: &(String, Key, FactValue)| it.0 == pool.address && it.1 == key && it.2 == *wanted;
        self.requested.iter().any(is_wanted)
            || match pool.fact(key) {
                Fact::Known(known) => known.value == *wanted,
                Fact::Unknown(_) if key == Key::Accelerator => true,
                // A pool of one accelerator does not offer each machine of its families.
                Fact::Unknown(unknown) if pool.fact(Key::Accelerator).value().is_some() => {
                    unknown.candidates.contains(wanted)
                }
                Fact::Unknown(unknown) => {
                    let name = wanted.to_string();
                    unknown.candidates.is_empty() || unknown.candidates.iter().any(|it| matches(&it.to_string(), &name))
                }
                Fact::Absent => true,
            }
    }
}

fn selected(wish: &FactEdit) -> Option<(Key, &FactValue)> {
    let Part::Fact(key) = &wish.part else { return None };
    Some((*key, wish.value.as_ref()?)).filter(|(key, _)| SELECTED.contains(key))
}
