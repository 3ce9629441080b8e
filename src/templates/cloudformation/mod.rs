//! Front end for CloudFormation and SAM: finds templates, their nested templates and the parameters of each stack, and
//! adds their resources to the inventory.

mod assembly;
mod files;
mod given;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inventory::{DeploymentRun, RunKind, UnsupportedFile};
use crate::languages::cloudformation::{AccountAndRegion, CloudTemplate, StackInstance};
use crate::languages::document::DocResource;
use crate::languages::hcl::value::HclValue;
use crate::languages::table::MADE_BY_MACRO;
use crate::source::{SourceFiles, file_name, join, parent};

use super::located::beside;
use super::names::CLOUDFORMATION;
use super::reading::{TemplateOptions, TemplateReading};
use super::resources::Applied;
use assembly::{Assemblies, MANIFEST, Synthesized};
use files::{StackTemplates, TemplatesByPath};
use given::StackParameters;

/// A separate stack: a template with its parameters.
struct Stack<'t> {
    path: &'t str,
    template: &'t Arc<CloudTemplate>,
    given: BTreeMap<Arc<str>, HclValue>,
    /// The path of its parameter file.
    parameters: Option<&'t str>,
    /// The generating program's manifest for the stack.
    manifest: Option<String>,
    place: AccountAndRegion,
}

/// The resources of a stack, and its nested templates.
struct Made {
    resources: Vec<DocResource>,
    nested: BTreeSet<String>,
}

/// Reads the templates among `candidates`; `paths` are all files of the tree.
pub fn read(
    sources: &SourceFiles,
    candidates: &[String],
    paths: &[String],
    options: &TemplateOptions,
) -> TemplateReading {
    let mut reading = TemplateReading::default();
    let mut assemblies = Assemblies::default();
    let templates = files::parse(sources, candidates, &mut assemblies, &mut reading);
    if templates.is_empty() {
        return reading;
    }
    let given = given::find(sources, paths, &templates);
    let mut stacks: Vec<Stack<'_>> = Vec::new();
    for (path, template) in &templates {
        match assemblies.of(sources, path) {
            Some(synthesized) => stacks.push(Stack::synthesized(path, template, synthesized)),
            None => stacks.extend(stacks_of(path, template, &given)),
        }
    }
    let made: Vec<Made> = stacks.iter().map(|stack| stack.make(sources, &templates)).collect();
    // A nested template is created with the parameters of its parent, and not by itself.
    let nested: BTreeSet<&str> = made.iter().flat_map(|it| &it.nested).map(String::as_str).collect();
    for (stack, made) in stacks.iter().zip(&made).filter(|(stack, _)| !nested.contains(stack.path)) {
        stack.add(made, options, &mut reading);
    }
    reading.taken.extend(templates.into_keys());
    reading
}

/// Returns one stack for each parameter file of a template, or one with its defaults.
fn stacks_of<'t>(path: &'t str, template: &'t Arc<CloudTemplate>, given: &'t [StackParameters]) -> Vec<Stack<'t>> {
    let stack = |given: Option<&'t StackParameters>| Stack {
        path,
        template,
        given: given.map(|it| it.values.clone()).unwrap_or_default(),
        parameters: given.map(|it| it.path.as_str()),
        manifest: None,
        place: AccountAndRegion::default(),
    };
    let mut all: Vec<Stack<'t>> = given.iter().filter(|it| it.template == path).map(|it| stack(Some(it))).collect();
    if all.is_empty() {
        all.push(stack(None));
    }
    all
}

impl<'t> Stack<'t> {
    /// Returns the stack with the settings of its manifest.
    fn synthesized(path: &'t str, template: &'t Arc<CloudTemplate>, synthesized: &Synthesized) -> Self {
        let Synthesized { place, parameters, .. } = synthesized.clone();
        let manifest = join(parent(path), MANIFEST);
        Stack { path, template, given: parameters, parameters: None, manifest, place }
    }
}

impl Stack<'_> {
    fn make(&self, sources: &SourceFiles, templates: &TemplatesByPath) -> Made {
        let shelf = StackTemplates { sources, templates, outermost: self.path, taken: RefCell::default() };
        let steps = sources.limits().evaluation_steps;
        let instance = StackInstance::new(self.template.clone(), self.given.clone(), self.place.clone(), &shelf, steps);
        let resources = instance.resources();
        drop(instance);
        Made { resources, nested: shelf.taken.into_inner() }
    }

    fn add(&self, made: &Made, options: &TemplateOptions, reading: &mut TemplateReading) {
        let variant = match self.parameters {
            Some(parameters) => format!("{}, {}", file_name(self.path), beside(parameters, parent(self.path))),
            None => file_name(self.path).to_owned(),
        };
        let inputs = made.nested.iter().map(String::as_str).chain([self.path]);
        let inputs = inputs.chain(self.parameters).chain(self.manifest.as_deref());
        let run = DeploymentRun::new(RunKind::Stack, parent(self.path), Some(&variant)).reading(inputs);
        let applied = Applied {
            table: &*CLOUDFORMATION,
            provider: "aws",
            settings: self.place.region.iter().map(|it| ("region".to_owned(), it.clone())).collect(),
            run: &run.id,
            span: self.template.span(),
        };
        applied.add(&made.resources, options.adjust.as_deref(), reading);
        if self.template.has_macros {
            reading.inventory.foreign.push(UnsupportedFile::new(self.path, &MADE_BY_MACRO));
        }
        reading.inventory.runs.push(run);
    }
}
