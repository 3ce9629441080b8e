//! The second half of reading: what follows from facts together, once all text is read.
//!
//! Front ends see one object at a time. Here the inventory is finished, in an order that matters:
//!
//! 1. runs are settled, and each resource learns whether sums count it;
//! 2. labels by which people declare a fact are read: what is declared is stronger than what is recognized; what the settings
//!    say of traffic fills in the rest;
//! 3. each resource learns where it is deployed from, which decides what may be joined;
//! 4. machines tell their accelerators, CPUs and memory; what rents none is left out;
//! 5. pods are joined to their pools, and pools learn from their pods what they are for;
//! 6. providers and regions that the text leaves open are inferred, or assumed and marked so;
//! 7. files that hold no resource are searched for what stands beside them: queues, quotas, metrics.
//!
//! It asks no price. What it leaves does not change any more, but for one thing that only prices tell: which of two
//! alternatives sums count (`pricing::count_dearer`).

mod allocatable;
mod capacity;

mod commitments;
mod homes;
mod instances;
mod machines;
mod pools;
mod purposes;
mod shared_limits;
mod surroundings;
mod traffic;

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::inventory::{Inventory, Key, Skipped, lease, programs};
use crate::runs;
use crate::source::{Date, Sources, Span};

pub use allocatable::{allocatable_cpus, allocatable_gib};
pub use capacity::{CapacityRequest, Exact, devices, possible_devices};
pub use machines::{LeftOut, UnknownMachine, complete_machines, plain, within};
pub use traffic::{ResourceFilter, Traffic};

/// What stands for what the text leaves open, and is then marked as assumed.
#[derive(Debug, Clone, Default)]
pub struct Defaults {
    pub provider: Option<String>,
    pub region: Option<String>,
    /// Of pods that name none.
    pub accelerator: Option<String>,
}

/// What an inventory is finished with.
pub struct Tools<'a> {
    pub catalog: &'a Catalog,
    pub defaults: &'a Defaults,
    pub runs: &'a runs::RunOptions,
    /// Labels by which the user's workloads declare a fact.
    pub declaring_labels: &'a BTreeMap<String, String>,
    /// What the settings say of the traffic of servers.
    pub traffic: &'a [Traffic],
    /// The day that the dates of labels are compared with.
    pub today: Option<Date>,
}

/// Finishes an inventory, and says what was left out of it. `plain` are those of the files at `paths`, sorted, that are
/// known to hold no sign of anything.
pub fn complete(
    inventory: &mut Inventory,
    sources: &Sources,
    paths: &[String],
    plain: &[String],
    tools: &Tools<'_>,
) -> LeftOut {
    runs::complete(inventory, tools.runs);
    // What a program keeps as a copy is nobody's to mend.
    let is_copy = |span: Span| runs::is_copy(&sources.path(span.file));
    inventory.diagnostics.retain(|it| !(it.unreadable && it.span.is_some_and(is_copy)));
    count_unread(inventory, sources);
    for resource in &mut inventory.resources {
        programs::declare(resource, tools.declaring_labels);
        traffic::settle_traffic(resource, tools.traffic);
        if resource.fact(Key::Schedule).is_absent() {
            resource.set(Key::Schedule, lease(resource, tools.declaring_labels, tools.today));
        }
    }
    homes::settle_homes(inventory, sources);
    let mut left_out = complete_machines(inventory, tools.catalog, tools.defaults);
    commitments::settle_commitments(inventory);
    instances::count_instances(inventory);
    left_out.unknown_machines.retain(|it| !is_copy(it.span));
    surroundings::find_surroundings(inventory, sources, paths, plain);
    left_out
}

/// What readers left out is counted with the files that were not read.
fn count_unread(inventory: &mut Inventory, sources: &Sources) {
    for it in &inventory.diagnostics {
        if let (Some((kind, words)), Some(span)) = (it.skips, it.span) {
            inventory.skipped.push(Skipped::new(kind, sources.path(span.file), words));
        }
    }
    inventory.skipped.sort();
}
