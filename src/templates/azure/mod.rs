//! Front end for Azure Resource Manager templates and Bicep: finds them, their nested templates and the parameters of
//! each deployment, and adds their resources to the inventory.

mod files;
mod given;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inventory::{DeploymentRun, RunKind};
use crate::languages::azure::{AzureDeployment, AzurePlace, AzureTemplate};
use crate::languages::document::DocResource;
use crate::languages::hcl::value::HclValue;
use crate::source::{SourceFiles, file_name, parent};

use super::located::beside;
use super::names::AZURE;
use super::reading::{TemplateOptions, TemplateReading};
use super::resources::Applied;
use files::{AzureTemplates, DeploymentTemplates};
use given::DeploymentParameters;

/// A separate deployment: a template with its parameters.
struct Deployment<'t> {
    path: &'t str,
    template: &'t Arc<AzureTemplate>,
    given: BTreeMap<Arc<str>, HclValue>,
    /// The path of its parameter file.
    parameters: Option<&'t str>,
}

/// Reads the templates among `candidates`; `paths` are all files of the tree.
pub fn read(
    sources: &SourceFiles,
    candidates: &[String],
    paths: &[String],
    options: &TemplateOptions,
) -> TemplateReading {
    let mut reading = TemplateReading::default();
    let templates = files::parse(sources, candidates, &mut reading);
    if templates.is_empty() {
        return reading;
    }
    let given = given::find(sources, paths, &templates, &mut reading);
    let deployments: Vec<Deployment<'_>> =
        templates.iter().flat_map(|(path, template)| deployments_of(path, template, &given)).collect();
    let made: Vec<_> = deployments.iter().map(|it| it.make(sources, &templates)).collect();
    // A nested template is deployed with the parameters of its parent, and not by itself.
    let nested: BTreeSet<&str> = made.iter().flat_map(|(_, nested)| nested).map(String::as_str).collect();
    for (deployment, (resources, inputs)) in deployments.iter().zip(&made) {
        if !nested.contains(deployment.path) {
            deployment.add(resources, inputs, options, &mut reading);
        }
    }
    reading.taken.extend(templates.into_keys());
    reading
}

/// Returns one deployment for each parameter file of a template, or one with its defaults.
fn deployments_of<'t>(
    path: &'t str,
    template: &'t Arc<AzureTemplate>,
    given: &'t [DeploymentParameters],
) -> Vec<Deployment<'t>> {
    let deployment = |given: Option<&'t DeploymentParameters>| Deployment {
        path,
        template,
        given: given.map(|it| it.values.clone()).unwrap_or_default(),
        parameters: given.map(|it| it.path.as_str()),
    };
    let mut all: Vec<_> = given.iter().filter(|it| it.template == path).map(|it| deployment(Some(it))).collect();
    if all.is_empty() {
        all.push(deployment(None));
    }
    all
}

impl Deployment<'_> {
    /// Returns the resources of a deployment, and the other files that it used.
    fn make(&self, sources: &SourceFiles, templates: &AzureTemplates) -> (Vec<DocResource>, BTreeSet<String>) {
        let shelf = DeploymentTemplates { sources, templates, outermost: self.path, taken: RefCell::default() };
        let steps = sources.limits().evaluation_steps;
        let (template, given) = (self.template.clone(), self.given.clone());
        let deployment = AzureDeployment::new(template, given, AzurePlace::default(), &shelf, steps);
        let resources = deployment.resources();
        drop(deployment);
        (resources, shelf.taken.into_inner())
    }

    fn add(
        &self,
        resources: &[DocResource],
        nested: &BTreeSet<String>,
        options: &TemplateOptions,
        reading: &mut TemplateReading,
    ) {
        let variant = match self.parameters {
            Some(parameters) => format!("{}, {}", file_name(self.path), beside(parameters, parent(self.path))),
            None => file_name(self.path).to_owned(),
        };
        let inputs = nested.iter().map(String::as_str).chain([self.path]).chain(self.parameters);
        let run = DeploymentRun::new(RunKind::Stack, parent(self.path), Some(&variant)).reading(inputs);
        let applied = Applied {
            table: &*AZURE,
            provider: "azurerm",
            settings: Vec::new(),
            run: &run.id,
            span: self.template.span(),
        };
        applied.add(resources, options.adjust.as_deref(), reading);
        reading.inventory.runs.push(run);
    }
}
