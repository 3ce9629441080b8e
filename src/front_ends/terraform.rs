//! Front end for Terraform, OpenTofu, Terragrunt, and their plans.

use std::sync::Arc;

use crate::inventory::{self, Declined, FactEdit, FactValue, Resource};
use crate::source::Edit;
use crate::terraform;

use super::front_end::{Carrier, FrontEnd, FrontEndInput, Reading, Writers, is_made_by};

pub(super) struct Terraform;

impl FrontEnd for Terraform {
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading) {
        let settings = input.settings;
        let options = terraform::TerraformOptions { raw: input.wanted.blocks, ..settings.terraform.clone() };
        let (scenario, shared) = (settings.scenario.as_deref(), &input.cache.terraform);
        let read = terraform::read_sharing(input.sources, input.paths, &options, scenario, shared);
        for it in read.embedded {
            let carrier = Carrier { root: it.root, run: it.run, none: it.none, regions: it.regions };
            out.carriers.insert(it.file, carrier);
            out.embedded.push((it.file, it.address));
        }
        out.inventory = read.inventory;
        (out.blocks, out.roots, out.plans, out.comments) = (read.blocks, read.roots, read.plans, read.comments);
    }

    fn reads(&self, resource: &Resource) -> bool {
        is_made_by(resource, &[inventory::ReadBy::Terraform])
    }

    fn write(&self, writers: &Writers<'_>, resource: &Resource, wish: &FactEdit) -> Result<Vec<Edit>, Declined> {
        writers.terraform.write(resource, wish)
    }

    fn label(
        &self,
        writers: &Writers<'_>,
        resource: &Resource,
        labels: &[(Arc<str>, FactValue)],
    ) -> Result<Vec<Edit>, Declined> {
        writers.terraform.label(resource, labels)
    }
}
