//! Front end for Kubernetes manifests, charts, overlays, and manifests that other front ends found.

use std::sync::Arc;

use crate::inventory::{self, BillingRole, Declined, Fact, FactEdit, FactOverrides, FactValue, Key, Range, Resource};
use crate::kubernetes;
use crate::source::{Edit, FileId};

use super::front_end::{Carrier, FrontEnd, FrontEndInput, Reading, Writers, is_made_by};

pub(super) struct Manifests;

impl FrontEnd for Manifests {
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading) {
        let plans = &out.plans;
        let others: Vec<String> =
            input.paths.iter().filter(|path| plans.binary_search(path).is_err()).cloned().collect();
        let embedded = std::mem::take(&mut out.embedded);
        out.plain = add(input, out, &others, &embedded);
    }

    fn reads(&self, resource: &Resource) -> bool {
        is_made_by(resource, &[inventory::ReadBy::Kubernetes, inventory::ReadBy::Chart])
    }

    fn write(&self, writers: &Writers<'_>, resource: &Resource, wish: &FactEdit) -> Result<Vec<Edit>, Declined> {
        kubernetes::write(resource, wish, writers.sources)
    }

    fn label(
        &self,
        writers: &Writers<'_>,
        resource: &Resource,
        labels: &[(Arc<str>, FactValue)],
    ) -> Result<Vec<Edit>, Declined> {
        kubernetes::label(resource, labels, writers.sources)
    }
}

/// Adds the content of manifests, and returns the files without any sign of accelerators.
pub(super) fn add(
    input: &FrontEndInput<'_>,
    out: &mut Reading,
    paths: &[String],
    embedded: &[(FileId, String)],
) -> Vec<String> {
    let (settings, wanted) = (input.settings, &input.wanted);
    let options = kubernetes::KubernetesOptions {
        objects: wanted.objects.clone(),
        pods: wanted.pods,
        looks: input.cache.looks.clone(),
        installations: std::mem::take(&mut out.installations),
        ..settings.kubernetes.clone()
    };
    let options = match paths.is_empty() {
        // What helm and kustomize rendered belongs to files.
        true => kubernetes::KubernetesOptions { rendered: Vec::new(), ..options },
        false => options,
    };
    let read = kubernetes::read(input.sources, paths, embedded, &options);
    out.comments.extend(read.comments);
    let mut found = read.inventory;
    for (resource, made_of) in found.resources.iter_mut().zip(read.carriers) {
        if let Some(carrier) = out.carriers.get(&made_of.unwrap_or(resource.span.file)) {
            resource.root.clone_from(&carrier.root);
            resource.run = Some(carrier.run.clone());
            if let Some(region) = region_of(resource, carrier).filter(|_| resource.fact(Key::Region).is_absent()) {
                resource.set(Key::Region, region.clone());
            }
            resource.count = carrier
                .none
                .map_or(std::mem::take(&mut resource.count), |span| Fact::written(Range::exactly(0.0), span));
        }
    }
    for object in &mut found.objects {
        if let Some(carrier) = out.carriers.get(&object.span.file) {
            object.run = Some(carrier.run.clone());
        }
    }
    if let Some(scenario) = &settings.scenario {
        let read = std::mem::take(&mut found.resources).into_iter();
        found.resources = read.flat_map(|it| adjusted(scenario.as_ref(), it)).collect();
    }
    out.inventory.join(found);
    read.plain
}

/// Returns the region of a resource's cloud. Pools without a cloud are in the only cloud that the root configures.
fn region_of<'c>(resource: &Resource, carrier: &'c Carrier) -> Option<&'c Fact<FactValue>> {
    match resource.text(Key::Provider) {
        Some(cloud) => carrier.regions.get(cloud),
        None if resource.role == BillingRole::Rented && carrier.regions.len() == 1 => carrier.regions.values().next(),
        None => None,
    }
}

fn adjusted(scenario: &dyn FactOverrides, resource: Resource) -> Vec<Resource> {
    let run = resource.run.clone();
    scenario.adjust(resource, run.as_ref())
}
