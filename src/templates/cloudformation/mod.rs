//! Front end for CloudFormation and SAM: finds templates, their nested templates and the parameters of each stack, and
//! adds their resources to the inventory.

mod assembly;
mod files;
mod given;

use std::rc::Rc;
use std::sync::Arc;

use crate::inventory::UnsupportedFile;
use crate::languages::cloudformation::{AccountAndRegion, CloudTemplate, StackInstance};
use crate::languages::document::{DocResource, EvaluationState, NestingProblem};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::table::MADE_BY_MACRO;
use crate::source::{Span, join, parent};

use super::driver::{DeploymentSettings, ParsedTemplate, TemplateLanguage, TemplateShelf, parse_each};
use super::located::DeclaredParameters;
use super::names::{CLOUDFORMATION, TypeNaming};
use super::passed::{self, DeployTarget, PassedDeployment};
use super::reading::{TemplateInput, TemplateReading, TemplatesByPath};
use super::resources::ProviderResources;
use assembly::{Assemblies, MANIFEST};

#[derive(Default)]
pub(super) struct CloudFormationReader {
    assemblies: Assemblies,
}

impl TemplateLanguage for CloudFormationReader {
    type Template = CloudTemplate;
    type Place = AccountAndRegion;

    fn names(&self) -> &'static dyn TypeNaming {
        &*CLOUDFORMATION
    }

    fn span(template: &CloudTemplate) -> Span {
        template.span()
    }

    fn declared(template: &CloudTemplate) -> Option<DeclaredParameters<'_>> {
        Some(template.parameters().collect())
    }

    fn parse(&mut self, input: TemplateInput<'_>, reading: &mut TemplateReading) -> TemplatesByPath<CloudTemplate> {
        let sources = input.sources;
        let mut opened = Vec::new();
        for path in input.candidates {
            let Ok(file) = sources.open(path) else { continue };
            let synthesized = self.assemblies.of(sources, path);
            reading.comments.extend(synthesized.iter().flat_map(|it| it.comments(sources)));
            opened.push((path, synthesized.and_then(|it| it.traced(sources, file)).unwrap_or(file)));
        }
        parse_each(opened, reading, |path, file| {
            let describes = || self.assemblies.describes(path).then(ParsedTemplate::empty);
            files::parse(sources, path, file).or_else(describes)
        })
    }

    /// Returns a stack for each parameter file, or with the manifest of the program that generates the template.
    fn deployments(
        &mut self,
        input: TemplateInput<'_>,
        templates: &TemplatesByPath<CloudTemplate>,
        _: &mut TemplateReading,
    ) -> Vec<DeploymentSettings<AccountAndRegion>> {
        let mut all = given::find(input, templates);
        let passed = passed::find(input, &|path| templates.contains_key(path), DeployTarget::CloudFormation);
        let place =
            |it: &PassedDeployment| AccountAndRegion { region: it.region.clone(), ..AccountAndRegion::default() };
        passed::join::<Self>(&mut all, passed, templates, |path| given::values(input.sources, path), place);
        for path in templates.keys() {
            let Some(synthesized) = self.assemblies.of(input.sources, path) else { continue };
            let (values, place) = (synthesized.parameters.clone(), synthesized.place.clone());
            let file = join(parent(path), MANIFEST);
            all.retain(|it| it.template != *path);
            all.push(DeploymentSettings { values, place, file, ..DeploymentSettings::defaults(path) });
        }
        all
    }

    fn evaluate(
        &self,
        template: &Arc<CloudTemplate>,
        settings: &DeploymentSettings<AccountAndRegion>,
        shelf: &TemplateShelf<'_, CloudTemplate>,
        budget: &Rc<EvaluationBudget>,
    ) -> (Vec<DocResource>, Vec<NestingProblem>) {
        let state = EvaluationState::new(budget, template.span());
        let (values, place) = (settings.values.clone(), settings.place.clone());
        let stack = StackInstance::new(template.clone(), values, place, shelf, state);
        (stack.resources(), stack.problems())
    }

    fn providers(
        &self,
        settings: &DeploymentSettings<AccountAndRegion>,
        resources: Vec<DocResource>,
    ) -> Vec<ProviderResources> {
        let region = settings.place.region.iter().map(|it| ("region".to_owned(), it.clone()));
        vec![ProviderResources { provider: "aws", settings: region.collect(), resources }]
    }

    fn unsupported(&self, path: &str, template: &CloudTemplate) -> Option<UnsupportedFile> {
        template.has_macros.then(|| UnsupportedFile::new(path, &MADE_BY_MACRO))
    }
}
