//! Completes the inventory with facts that follow from several files together.
//!
//! Each front end reads one object at a time. This module then completes the inventory, in this order:
//!
//! 1. Finalize the deployments, and set for each resource whether totals count it.
//! 2. Read the labels with which users declare facts. A declared fact overrides a recognized one. The traffic settings
//!    fill in the rest.
//!    Read the scripts of the tree that machines start, and the sweeps of search agents.
//! 3. Set the folder and the tools that deploy each resource, which decide the possible pod-to-pool matches.
//! 4. Derive accelerators, CPUs and memory from machine types, and leave out resources without accelerators.
//! 5. Match pods to their pools, and derive the purpose of each pool from its pods.
//! 6. Infer missing providers and regions, or assume them and mark them as assumed.
//! 7. Search files without resources for related components: queues, quotas, metrics.
//!
//! This module uses no prices. Its result is final, except for the choice between alternatives, which needs prices
//! (`pricing::count_dearer`).

mod allocatable;
mod capacity;

mod commitments;
mod homes;
mod instances;
mod machines;
mod of_root;
mod pools;
mod purposes;
mod requests;
mod shared_limits;
mod started_scripts;
mod surroundings;
mod sweeps;
mod traffic;

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::inventory::{Inventory, Key, SkippedFile, lease, programs};
use crate::runs;
use crate::source::{Date, SourceFiles, Span};

pub use allocatable::{allocatable_cpus, allocatable_gib};
pub use capacity::{CapacityRequest, Exact, devices, possible_devices};
pub use machines::{OmittedResources, UnknownMachine, complete_machines, plain, share_of_limit};
pub use traffic::{ResourceFilter, Traffic};

/// Values that replace missing settings. Facts that use them are marked as assumed.
#[derive(Debug, Clone, Default)]
pub struct Defaults {
    pub provider: Option<String>,
    pub region: Option<String>,
    /// The accelerator of pods that name none.
    pub accelerator: Option<String>,
}

/// The inputs for the completion of an inventory.
pub struct Tools<'a> {
    pub catalog: &'a Catalog,
    pub defaults: &'a Defaults,
    pub runs: &'a runs::RunOptions,
    /// The labels with which the user's workloads declare facts.
    pub declaring_labels: &'a BTreeMap<String, String>,
    /// The traffic of servers, from the settings.
    pub traffic: &'a [Traffic],
    /// The day with which dates in labels are compared.
    pub today: Option<Date>,
}

/// Completes an inventory, and returns what was left out. `plain` lists the files among the sorted `paths` that contain
/// no related components.
pub fn complete(
    inventory: &mut Inventory,
    sources: &SourceFiles,
    paths: &[String],
    plain: &[String],
    tools: &Tools<'_>,
) -> OmittedResources {
    runs::complete(inventory, tools.runs);
    // Users cannot fix files that a program keeps as copies.
    let is_copy = |span: Span| runs::is_copy(&sources.path(span.file));
    inventory.diagnostics.retain(|it| !(it.unreadable && it.span.is_some_and(is_copy)));
    count_unread(inventory, sources);
    for resource in &mut inventory.resources {
        programs::declare(resource, tools.declaring_labels);
        traffic::apply_traffic(resource, tools.traffic);
        if resource.fact(Key::Schedule).is_absent() {
            resource.set(Key::Schedule, lease(resource, tools.declaring_labels, tools.today));
        }
    }
    started_scripts::follow_started_scripts(inventory, sources, paths);
    sweeps::follow_sweeps(inventory, sources, paths);
    homes::note_deployers(inventory, sources);
    let mut left_out = complete_machines(inventory, tools.catalog, tools.defaults);
    commitments::subtract_commitments(inventory);
    instances::count_instances(inventory);
    requests::sum_requests(inventory);
    left_out.unknown_machines.retain(|it| !is_copy(it.span));
    surroundings::find_surroundings(inventory, sources, paths, plain);
    left_out
}

/// Adds the resources that the readers left out to the count of unread files.
fn count_unread(inventory: &mut Inventory, sources: &SourceFiles) {
    for it in &inventory.diagnostics {
        if let (Some((kind, words)), Some(span)) = (it.skips, it.span) {
            inventory.skipped.push(SkippedFile::new(kind, sources.path(span.file), words));
        }
    }
    inventory.skipped.sort();
}
