//! Reads the templates of any language: finds them and the settings of their deployments, evaluates each deployment, and
//! adds its resources to the inventory. A language defines only what differs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::inventory::{DeploymentRun, RunKind, UnsupportedFile};
use crate::languages::document::{DocLibrary, DocResource, NestingProblem};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::hcl::value::HclValue;
use crate::source::{FileId, SourceFiles, Span, each, file_name, join, parent};
use crate::terraform;

use super::located::{DeclaredParameters, beside, meant, undeclared};
use super::names::TypeNaming;
use super::reading::{ParameterValues, TemplateInput, TemplateOptions, TemplateReading, TemplatesByPath};
use super::resources::{DocumentPlace, ProviderResources};
use super::shares::{IncompleteDeployments, SpentByDeployments, not_nested, nothing_left};

/// The differences between the languages of templates.
pub(super) trait TemplateLanguage: Default {
    /// A template as written.
    type Template;
    /// The target of a deployment.
    type Place: Default;

    fn names(&self) -> &'static dyn TypeNaming;

    fn span(template: &Self::Template) -> Span;

    /// Returns the parameters of a template; `None` if the language does not declare any.
    fn declared(_: &Self::Template) -> Option<DeclaredParameters<'_>> {
        None
    }

    /// Parses the templates among the candidates.
    fn parse(&mut self, input: TemplateInput<'_>, reading: &mut TemplateReading) -> TemplatesByPath<Self::Template>;

    /// Returns the deployments whose settings a file contains. A template without any is deployed with its defaults.
    fn deployments(
        &mut self,
        input: TemplateInput<'_>,
        templates: &TemplatesByPath<Self::Template>,
        reading: &mut TemplateReading,
    ) -> Vec<DeploymentSettings<Self::Place>>;

    /// Returns the resources of a deployment, and the nested templates that were not evaluated.
    fn evaluate(
        &self,
        template: &Arc<Self::Template>,
        settings: &DeploymentSettings<Self::Place>,
        shelf: &TemplateShelf<'_, Self::Template>,
        budget: &Rc<EvaluationBudget>,
    ) -> (Vec<DocResource>, Vec<NestingProblem>);

    /// Returns the resources of each provider, with its settings.
    fn providers(
        &self,
        settings: &DeploymentSettings<Self::Place>,
        resources: Vec<DocResource>,
    ) -> Vec<ProviderResources>;

    /// Returns the part of a template that gpulint does not support.
    fn unsupported(&self, _path: &str, _template: &Self::Template) -> Option<UnsupportedFile> {
        None
    }
}

/// The settings of one deployment of a template.
#[derive(Default)]
pub(super) struct DeploymentSettings<P> {
    /// The path of the template.
    pub(super) template: String,
    pub(super) values: ParameterValues,
    pub(super) place: P,
    /// The file that contains the settings.
    pub(super) file: Option<String>,
    /// Further files with settings.
    pub(super) also: Vec<String>,
    /// The name that distinguishes the deployment from others in its folder.
    pub(super) variant: String,
}

impl<P: Default> DeploymentSettings<P> {
    /// Returns a deployment with the defaults of the template.
    pub(super) fn defaults(template: &str) -> Self {
        DeploymentSettings { template: template.into(), variant: file_name(template).into(), ..Self::default() }
    }

    /// Returns a deployment with the values of a parameter file.
    pub(super) fn with_file(template: &str, file: &str, values: ParameterValues) -> Self {
        let variant = format!("{}, {}", file_name(template), beside(file, parent(template)));
        DeploymentSettings { values, file: Some(file.into()), variant, ..Self::defaults(template) }
    }
}

/// Provides the templates of the tree to those that deploy them.
pub(super) struct TemplateShelf<'s, T> {
    pub(super) sources: &'s SourceFiles,
    templates: &'s TemplatesByPath<T>,
    /// Templates that were used.
    taken: RefCell<BTreeSet<String>>,
}

impl<'s, T> TemplateShelf<'s, T> {
    pub(super) fn new(sources: &'s SourceFiles, templates: &'s TemplatesByPath<T>) -> Self {
        TemplateShelf { sources, templates, taken: RefCell::default() }
    }
}

impl<T> DocLibrary<T> for TemplateShelf<'_, T> {
    fn document(&self, location: &HclValue) -> Option<Arc<T>> {
        let folder = parent(&self.sources.path(location.span.file)).to_owned();
        let path = meant(location, &folder, self.templates)?;
        self.taken.borrow_mut().insert(path.to_owned());
        self.templates.get(path).cloned()
    }

    fn text(&self, location: &HclValue) -> Option<Arc<str>> {
        let folder = parent(&self.sources.path(location.span.file)).to_owned();
        let file = self.sources.open(&join(&folder, &location.as_text()?)?).ok()?;
        Some((*self.sources.text(file)).into())
    }
}

/// Reads the templates of a language among `candidates`; `paths` are all files of the tree.
pub(super) fn read<L: TemplateLanguage>(
    sources: &SourceFiles,
    candidates: &[String],
    paths: &[String],
    options: &TemplateOptions,
) -> TemplateReading {
    let (mut language, input) = (L::default(), TemplateInput { sources, candidates, paths });
    let mut reading = TemplateReading::default();
    let templates = language.parse(input, &mut reading);
    if templates.is_empty() {
        return reading;
    }
    let mut by_template: BTreeMap<String, Vec<DeploymentSettings<L::Place>>> = BTreeMap::new();
    for it in language.deployments(input, &templates, &mut reading) {
        by_template.entry(it.template.clone()).or_default().push(it);
    }
    let made = evaluate_all(&language, sources, &templates, by_template, &mut reading);
    let nested = nested_only(&made);
    let stands_alone = |it: &Deployed<'_, L>| !nested.contains(&it.settings.template);
    let problems: BTreeSet<NestingProblem> =
        made.iter().filter(|it| stands_alone(it)).flat_map(|it| it.problems.iter().cloned()).collect();
    reading.inventory.diagnostics.extend(problems.iter().map(not_nested));
    let reported: BTreeSet<Span> = problems.into_iter().map(|it| it.at).collect();
    for Deployed { settings, template, resources, nested: inner, .. } in made.into_iter().filter(stands_alone) {
        reading.inventory.diagnostics.extend(extra_parameters::<L>(&settings, template));
        let path = &*settings.template;
        let inputs = inner.iter().map(String::as_str).chain([path]).chain(settings.file.as_deref());
        let inputs = inputs.chain(settings.also.iter().map(String::as_str));
        let run = DeploymentRun::new(RunKind::Stack, parent(path), Some(&settings.variant)).reading(inputs);
        for of_provider in language.providers(&settings, resources) {
            let place = DocumentPlace { run: &run.id, span: L::span(template), reported: &reported };
            of_provider.add(language.names(), place, options.adjust.as_deref(), &mut reading);
        }
        reading.inventory.foreign.extend(language.unsupported(path, template));
        reading.inventory.runs.push(run);
    }
    reading
}

/// Returns messages about the parameters of a deployment that its template does not declare.
fn extra_parameters<L: TemplateLanguage>(
    settings: &DeploymentSettings<L::Place>,
    template: &L::Template,
) -> Vec<Diagnostic> {
    match (L::declared(template), &settings.file) {
        (Some(declared), Some(file)) => undeclared(file, &settings.template, &settings.values, &declared),
        _ => Vec::new(),
    }
}

/// Evaluates each template once for each of its deployments, within the budget of all.
fn evaluate_all<'t, L: TemplateLanguage>(
    language: &L,
    sources: &SourceFiles,
    templates: &'t TemplatesByPath<L::Template>,
    mut by_template: BTreeMap<String, Vec<DeploymentSettings<L::Place>>>,
    reading: &mut TemplateReading,
) -> Vec<Deployed<'t, L>> {
    let mut spent = SpentByDeployments::default();
    let mut made = Vec::new();
    for (path, template) in templates {
        let all = by_template.remove(path).unwrap_or_else(|| vec![DeploymentSettings::defaults(path)]);
        let mut incomplete = IncompleteDeployments::default();
        for settings in all {
            let shelf = TemplateShelf::new(sources, templates);
            let Some(budget) = spent.next(sources.limits(), L::span(template)) else {
                incomplete.add(settings.file.as_deref(), Some(nothing_left(L::span(template))));
                continue;
            };
            let (resources, problems) = language.evaluate(template, &settings, &shelf, &budget);
            spent.add(&budget);
            spent.add_machines(resources.iter().filter(|it| terraform::may_rent(&language.names().of(it).is)).count());
            incomplete.add(settings.file.as_deref(), budget.exhausted().cloned());
            made.push(Deployed { settings, template, resources, problems, nested: shelf.taken.into_inner() });
        }
        reading.inventory.diagnostics.extend(incomplete.diagnostic());
    }
    made
}

/// An evaluated deployment.
struct Deployed<'t, L: TemplateLanguage> {
    settings: DeploymentSettings<L::Place>,
    template: &'t Arc<L::Template>,
    resources: Vec<DocResource>,
    problems: Vec<NestingProblem>,
    /// The templates that it contains.
    nested: BTreeSet<String>,
}

/// Returns the templates that are deployed with the parameters of their parent, and not by themselves. If templates
/// contain each other in a ring, the first of them is deployed by itself, so that none is lost.
fn nested_only<L: TemplateLanguage>(made: &[Deployed<'_, L>]) -> BTreeSet<String> {
    let mut nested: BTreeSet<String> = made.iter().flat_map(|it| &it.nested).cloned().collect();
    let mut inside: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for it in made {
        let of_template = inside.entry(&it.settings.template).or_default();
        of_template.extend(it.nested.iter().map(String::as_str));
    }
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let alone: Vec<&str> = inside.keys().copied().filter(|it| !nested.contains(*it)).collect();
    let in_rings = inside.keys().copied().filter(|it| nested.contains(*it)).collect::<Vec<_>>();
    for top in alone.into_iter().chain(in_rings) {
        if reached.contains(top) {
            continue;
        }
        nested.remove(top);
        let mut open = vec![top];
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(inside.get(next).into_iter().flatten());
            }
        }
    }
    nested
}

/// A file that belongs to the language.
pub(super) struct ParsedTemplate<T> {
    /// `None` if the file declares nothing, or if the language would refuse it.
    pub(super) template: Option<T>,
    pub(super) comments: Vec<Span>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<T> ParsedTemplate<T> {
    pub(super) fn empty() -> Self {
        ParsedTemplate { template: None, comments: Vec::new(), diagnostics: Vec::new() }
    }
}

/// Parses opened candidates in parallel. `parse` returns `None` for files of other languages.
pub(super) fn parse_each<T: Send>(
    opened: Vec<(&String, FileId)>,
    reading: &mut TemplateReading,
    parse: impl Fn(&str, FileId) -> Option<ParsedTemplate<T>> + Send + Sync,
) -> TemplatesByPath<T> {
    let mut all = TemplatesByPath::new();
    for (path, parsed) in each(opened, |(path, file)| (path, parse(path, file))) {
        let Some(parsed) = parsed else { continue };
        reading.taken.insert(path.clone());
        reading.comments.extend(parsed.comments);
        reading.inventory.diagnostics.extend(parsed.diagnostics);
        all.extend(parsed.template.map(|it| (path.clone(), Arc::new(it))));
    }
    all
}
