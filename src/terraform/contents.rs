//! Turns evaluated roots into resources, manifests and resources of unsupported types: the evaluator's `RootReader`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inventory::{
    FactOverrides, FactValue, Key, ReadBy, RepeatedBlock, Resource, RunId, RunKind, UnsupportedResource,
};
use crate::source::{SourceFiles, Span};

use super::code::module::ModuleCode;
use super::embedded::{self, Embedded};
use super::load::reader::{RootReader, RootToRead};
use super::load::root::LoadedRoot;
use super::load::shared::SharedRoots;
use super::{rows, unsupported};

/// The names of the two tools, which may read different files of a root.
const OPENTOFU: &str = "OpenTofu";
const TERRAFORM: &str = "Terraform";

/// The results that states of a tree share.
pub type SharedTerraform = SharedRoots<RootContents>;

/// The contents of one root.
#[derive(Debug, Clone)]
pub struct RootContents {
    pub(super) resources: Vec<Resource>,
    pub(super) embedded: Vec<Embedded>,
    /// The root's resources of unsupported types.
    pub(super) unlisted: Vec<UnsupportedResource>,
}

/// Reads the contents of roots with the what-if overrides of a scenario.
pub(super) struct ContentsReader<'o> {
    pub(super) sources: &'o SourceFiles,
    pub(super) adjust: Option<&'o dyn FactOverrides>,
}

impl ContentsReader<'_> {
    /// Returns the resources and the manifests of one deployment of a root.
    pub(super) fn of_run(&self, root: &LoadedRoot, directory: &str, run: &RunId) -> (Vec<Resource>, Vec<Embedded>) {
        let blocks = (root.blocks.as_slice(), root.switched_off.as_slice());
        let adjust = self.adjust.map(|adjust| (adjust, run));
        let resources = rows::resources(blocks, &root.default_maps, ReadBy::Terraform, adjust);
        let regions = rows::regions(root.clouds.iter().map(|it| &**it));
        (resources, embedded::manifests(self.sources, blocks, regions, Some(directory), run))
    }
}

impl RootReader for ContentsReader<'_> {
    type Contents = RootContents;

    fn read(&self, RootToRead { directory, label, root, module }: &RootToRead<'_>) -> RootContents {
        let (mut resources, embedded) = self.of_run(root, directory, &RunId::of(RunKind::Root, directory, *label));
        if module.is_of_alternatives {
            mark_alternatives(self.sources, module, &mut resources);
        }
        RootContents { resources, embedded, unlisted: unsupported::of_run(&root.blocks) }
    }

    fn add_differences(&self, own: &mut RootContents, terraform: RootContents) -> Option<Span> {
        let same: BTreeSet<String> = {
            let other: BTreeMap<&str, &Resource> =
                terraform.resources.iter().map(|it| (it.address.as_str(), it)).collect();
            let is_same = |it: &&Resource| {
                other.get(it.address.as_str()).is_some_and(|other| resource_signature(other) == resource_signature(it))
            };
            own.resources.iter().filter(is_same).map(|it| it.address.clone()).collect()
        };
        for resource in own.resources.iter_mut().filter(|it| !same.contains(&it.address)) {
            resource.only_by = Some(OPENTOFU);
        }
        let mut resources: Vec<Resource> =
            terraform.resources.into_iter().filter(|it| !same.contains(&it.address)).collect();
        let text = |it: &Embedded| (it.address.clone(), self.sources.text(it.file));
        let texts: BTreeSet<(String, Arc<str>)> = own.embedded.iter().map(text).collect();
        let embedded: Vec<Embedded> = terraform.embedded.into_iter().filter(|it| !texts.contains(&text(it))).collect();
        let first = resources.first().map(|it| it.span).or(embedded.first().map(|it| it.span));
        for resource in &mut resources {
            resource.address.push_str(" (Terraform)");
            resource.only_by = Some(TERRAFORM);
        }
        own.resources.extend(resources);
        own.embedded.extend(embedded);
        first
    }

    fn can_share(&self) -> bool {
        self.adjust.is_none()
    }
}

/// Marks each resource of alternative files with its file.
fn mark_alternatives(sources: &SourceFiles, module: &ModuleCode, resources: &mut [Resource]) {
    for resource in resources {
        let path = module.alternative_of(&resource.declared.block).map(|file| sources.path(file));
        let number = path.and_then(|path| module.files.iter().position(|it| **it == path));
        resource.repeated = number.map(|number| RepeatedBlock { address: "".into(), number: number + 1 });
    }
}

/// Returns the properties of a resource without their positions.
fn resource_signature(resource: &Resource) -> (Option<String>, BTreeMap<Key, Option<&FactValue>>) {
    let count = resource.count.value().map(|range| format!("{range:?}"));
    (count, resource.facts().map(|(key, fact)| (key, fact.value())).collect())
}
