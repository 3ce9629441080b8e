//! Front end for Azure Resource Manager templates and Bicep: finds them, their nested templates and the parameters of
//! each deployment, and adds their resources to the inventory.

use std::rc::Rc;
use std::sync::Arc;

use crate::languages::azure::{
    AzureDeployment, AzureTemplate, GivenByFile, given_by_bicep, given_by_json, without_comments,
};
use crate::languages::document::{DocResource, EvaluationState, NestingProblem};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::yaml;
use crate::source::{FileId, SourceFiles, Span, parent};

use super::driver::{DeploymentSettings, ParsedTemplate, TemplateLanguage, TemplateShelf, parse_each};
use super::located::{DeclaredParameters, meant, parameter_files, parameters_of};
use super::names::{AZURE, TypeNaming};
use super::passed::{self, DeployTarget};
use super::reading::{TemplateInput, TemplateReading, TemplatesByPath};
use super::resources::ProviderResources;
use super::shares::SpentByDeployments;

/// The ending of Bicep parameter files.
const PARAMETERS: &str = ".bicepparam";

/// The ending of Bicep files.
const BICEP: &str = ".bicep";

/// A string that every JSON parameter file contains.
const MARK: &[u8] = b"eploymentParameters.json";

#[derive(Default)]
pub(super) struct AzureReader {
    /// The steps and the memory of evaluating parameter files.
    spent: SpentByDeployments,
}

impl TemplateLanguage for AzureReader {
    type Template = AzureTemplate;
    type Place = ();

    fn names(&self) -> &'static dyn TypeNaming {
        &*AZURE
    }

    fn span(template: &AzureTemplate) -> Span {
        template.span()
    }

    fn declared(template: &AzureTemplate) -> Option<DeclaredParameters<'_>> {
        Some(template.parameters().collect())
    }

    fn parse(&mut self, input: TemplateInput<'_>, reading: &mut TemplateReading) -> TemplatesByPath<AzureTemplate> {
        let candidates = input.candidates.iter().filter(|it| !it.ends_with(PARAMETERS));
        let opened = candidates.filter_map(|path| Some((path, input.sources.open(path).ok()?)));
        parse_each(opened.collect(), reading, |path, file| parse(input.sources, path, file))
    }

    /// Returns a deployment for each parameter file.
    fn deployments(
        &mut self,
        input: TemplateInput<'_>,
        templates: &TemplatesByPath<AzureTemplate>,
        reading: &mut TemplateReading,
    ) -> Vec<DeploymentSettings<()>> {
        let mut all = Vec::new();
        for path in parameter_files(input, templates, Some(PARAMETERS), &[MARK]) {
            let Some(given) = given(&TemplateShelf::new(input.sources, templates), path, &mut self.spent) else {
                continue;
            };
            let template = match &given.template {
                Some(location) => meant(location, parent(path), templates),
                None => parameters_of(path, &given.values, templates, |it| it.parameters().collect()),
            };
            reading.comments.extend(given.comments);
            let Some(template) = template else { continue };
            reading.taken.insert(path.clone());
            all.push(DeploymentSettings::with_file(template, path, given.values));
        }
        let passed = passed::find(input, &|path| templates.contains_key(path), DeployTarget::Azure);
        let shelf = TemplateShelf::new(input.sources, templates);
        let read = |path: &str| Some(given(&shelf, path, &mut self.spent)?.values);
        passed::join::<Self>(&mut all, passed, templates, read, |_| ());
        all
    }

    fn evaluate(
        &self,
        template: &Arc<AzureTemplate>,
        settings: &DeploymentSettings<()>,
        shelf: &TemplateShelf<'_, AzureTemplate>,
        budget: &Rc<EvaluationBudget>,
    ) -> (Vec<DocResource>, Vec<NestingProblem>) {
        let state = EvaluationState::new(budget, template.span());
        let deployment = AzureDeployment::new(template.clone(), settings.values.clone(), shelf, state);
        (deployment.resources(), deployment.problems())
    }

    fn providers(&self, _: &DeploymentSettings<()>, resources: Vec<DocResource>) -> Vec<ProviderResources> {
        vec![ProviderResources { provider: "azurerm", settings: Vec::new(), resources }]
    }
}

/// Parses a candidate; `None` if it is another file.
fn parse(sources: &SourceFiles, path: &str, file: FileId) -> Option<ParsedTemplate<AzureTemplate>> {
    let text = sources.text(file);
    if path.ends_with(BICEP) {
        let (template, comments, diagnostics) = AzureTemplate::of_bicep(file, &text);
        return Some(ParsedTemplate { template: Some(template), comments, diagnostics });
    }
    let (text, comments) = without_comments(file, &text);
    let stream = yaml::read_within(file, &text, sources.limits());
    let template = AzureTemplate::of_json(&stream.documents.first()?.root)?;
    Some(ParsedTemplate { template: Some(template), comments, diagnostics: stream.diagnostics })
}

/// Parses a parameter file; `None` if it is another file.
fn given(shelf: &TemplateShelf<'_, AzureTemplate>, path: &str, spent: &mut SpentByDeployments) -> Option<GivenByFile> {
    let sources = shelf.sources;
    let file = sources.open(path).ok()?;
    let text = sources.text(file);
    if path.ends_with(PARAMETERS) {
        let budget = spent.next(sources.limits(), Span::new(file, 0, text.len()))?;
        let given = given_by_bicep(file, &text, shelf, &budget);
        spent.add(&budget);
        return Some(given);
    }
    let (text, _) = without_comments(file, &text);
    let stream = yaml::read_within(file, &text, sources.limits());
    given_by_json(&stream.documents.first()?.root)
}
