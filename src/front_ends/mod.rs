//! Runs all front ends. Each adds resources to one inventory, and edits facts in its languages.

mod commands;
pub(crate) mod files;
mod front_end;
mod helm;
mod manifests;
mod scripts;
mod templates;
mod terraform;

use std::sync::Arc;

use crate::inventory::{Declined, FactEdit, FactValue, Resource};
use crate::source::{Edit, SourceFiles};
use crate::{AnalysisCache, AnalysisSettings, fix};

use front_end::{FrontEnd, FrontEndInput};
pub(crate) use front_end::{Reading, Writers};

/// The order matters: Terraform and scripts contain manifests, and files without a manifest may be templates
/// or pipelines that run commands.
static FRONT_ENDS: [&dyn FrontEnd; 8] = [
    &terraform::Terraform,
    &scripts::Scripts,
    &helm::HelmCommands,
    &manifests::Manifests,
    &commands::Commands,
    &templates::CLOUDFORMATION,
    &templates::AZURE,
    &templates::PULUMI,
];

/// Runs all front ends and returns one inventory.
pub(crate) fn read(
    sources: &SourceFiles,
    paths: &[String],
    settings: &AnalysisSettings,
    cache: &AnalysisCache,
) -> Reading {
    let mut wanted = settings.rules.raw();
    wanted.add(&settings.raw);
    let input = FrontEndInput { sources, paths, settings, cache, wanted };
    let mut reading = Reading::default();
    for front_end in FRONT_ENDS {
        front_end.read(&input, &mut reading);
    }
    reading.inventory.skipped.sort();
    reading.inventory.skipped.dedup();
    reading
}

fn of(resource: &Resource) -> Result<&'static dyn FrontEnd, Declined> {
    let made_from_text =
        || Declined::LeftAlone("gpulint cannot edit a plan: change the configuration that it was made from".to_owned());
    FRONT_ENDS.into_iter().find(|it| it.reads(resource)).ok_or_else(made_from_text)
}

impl fix::FactWriter for Writers<'_> {
    fn write(&self, resource: &Resource, wish: &FactEdit) -> Result<Vec<Edit>, Declined> {
        of(resource)?.write(self, resource, wish)
    }

    fn label(&self, resource: &Resource, labels: &[(Arc<str>, FactValue)]) -> Result<Vec<Edit>, Declined> {
        of(resource)?.label(self, resource, labels)
    }
}
