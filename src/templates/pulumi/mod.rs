//! Front end for Pulumi: reads YAML programs, and Pulumi's output for programs in other languages.
//!
//! Most Pulumi providers are generated from those of Terraform. A type has the same words in another order. Attributes
//! have the same words too, and lists have a plural. Therefore the names need no table.

pub(in crate::templates) mod names;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::document::{DocResource, NestingProblem};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::hcl::value::HclValue;
use crate::languages::pulumi::{PulumiProgram, PulumiStack, state};
use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, Span, file_name, join, parent};

use super::driver::{DeploymentSettings, TemplateLanguage, TemplateShelf};
use super::names::{TypeNaming, small};
use super::reading::{TemplateInput, TemplateReading, TemplatesByPath};
use super::resources::ProviderResources;

/// A project with a YAML program, or Pulumi's output for a program in any language.
pub(super) enum PulumiSource {
    Program(PulumiProgram),
    Output { resources: Vec<DocResource>, span: Span },
}

#[derive(Default)]
pub(super) struct PulumiReader {
    stacks: Vec<DeploymentSettings<PulumiStack>>,
}

impl TemplateLanguage for PulumiReader {
    type Template = PulumiSource;
    type Place = PulumiStack;

    fn names(&self) -> &'static dyn TypeNaming {
        &names::Pulumi
    }

    fn span(template: &PulumiSource) -> Span {
        match template {
            PulumiSource::Program(program) => program.span(),
            PulumiSource::Output { span, .. } => *span,
        }
    }

    fn parse(&mut self, input: TemplateInput<'_>, reading: &mut TemplateReading) -> TemplatesByPath<PulumiSource> {
        let mut all = TemplatesByPath::new();
        for path in input.candidates {
            let Some(source) = self.source(input, path, reading) else { continue };
            reading.taken.insert(path.clone());
            all.insert(path.clone(), Arc::new(source));
        }
        all
    }

    fn deployments(
        &mut self,
        _: TemplateInput<'_>,
        _: &TemplatesByPath<PulumiSource>,
        _: &mut TemplateReading,
    ) -> Vec<DeploymentSettings<PulumiStack>> {
        std::mem::take(&mut self.stacks)
    }

    fn evaluate(
        &self,
        template: &Arc<PulumiSource>,
        settings: &DeploymentSettings<PulumiStack>,
        _: &TemplateShelf<'_, PulumiSource>,
        budget: &Rc<EvaluationBudget>,
    ) -> (Vec<DocResource>, Vec<NestingProblem>) {
        let resources = match &**template {
            PulumiSource::Program(program) => program.resources(&settings.place, budget),
            PulumiSource::Output { resources, .. } => resources.clone(),
        };
        (resources, Vec::new())
    }

    fn providers(
        &self,
        settings: &DeploymentSettings<PulumiStack>,
        resources: Vec<DocResource>,
    ) -> Vec<ProviderResources> {
        let mut packages: BTreeMap<String, Vec<DocResource>> = BTreeMap::new();
        for it in resources {
            packages.entry(names::package(&it.kind).to_owned()).or_default().push(it);
        }
        let of_package = |(package, resources): (String, Vec<DocResource>)| {
            let settings = settings.place.values.iter().filter_map(|(key, value)| {
                let key = key.strip_prefix(&*package)?.strip_prefix(':')?;
                Some((small(key), value.clone()))
            });
            ProviderResources { provider: names::provider(&package), settings: settings.collect(), resources }
        };
        packages.into_iter().map(of_package).collect()
    }
}

impl PulumiReader {
    /// Parses a candidate and its stacks; `None` if it is another file.
    fn source(&mut self, input: TemplateInput<'_>, path: &str, reading: &mut TemplateReading) -> Option<PulumiSource> {
        let (root, comments) = root(input.sources, path)?;
        if let Some((resources, stack)) = state(&root) {
            let variant = stack.to_string();
            self.stacks.push(DeploymentSettings { variant, ..DeploymentSettings::defaults(path) });
            return Some(PulumiSource::Output { resources, span: root.span });
        }
        let main = main_of(input.sources, path, &root);
        let program = PulumiProgram::of(&root, main.as_ref().map(|(root, _)| root))?;
        reading.comments.extend(comments);
        reading.comments.extend(main.into_iter().flat_map(|(_, comments)| comments));
        self.stacks.extend(stacks(input, path, &mut reading.comments));
        Some(PulumiSource::Program(program))
    }
}

fn root(sources: &SourceFiles, path: &str) -> Option<(Node, Vec<Span>)> {
    let file = sources.open(path).ok()?;
    let stream = yaml::read_within(file, &sources.text(file), sources.limits());
    Some((stream.documents.first()?.root.clone(), stream.comments))
}

/// Returns the program of a project that has it in another folder.
fn main_of(sources: &SourceFiles, path: &str, project: &Node) -> Option<(Node, Vec<Span>)> {
    let folder = project.text_at("main").map_or("", |it| it);
    let folder = join(parent(path), folder)?;
    ["Main.yaml", "main.yaml"].iter().find_map(|name| root(sources, &join(&folder, name)?))
}

/// Returns the stacks of a project that have a file with their configuration.
fn stacks(input: TemplateInput<'_>, project: &str, comments: &mut Vec<Span>) -> Vec<DeploymentSettings<PulumiStack>> {
    let mut all = Vec::new();
    for path in input.paths.iter().filter(|it| parent(it) == parent(project)) {
        let name = file_name(path).strip_prefix("Pulumi.");
        let name = name.and_then(|it| it.strip_suffix(".yaml").or_else(|| it.strip_suffix(".yml")));
        let Some(name) = name else { continue };
        let Some((root, found)) = root(input.sources, path) else { continue };
        comments.extend(found);
        let config = root.get("config").map(Node::entries).unwrap_or_default().iter();
        let values = config.map(|entry| (entry.key.clone(), configured(&entry.value)));
        let place = PulumiStack { name: Some(HclValue::text(name, root.span)), values: values.collect() };
        let (file, variant) = (Some(path.clone()), name.to_owned());
        all.push(DeploymentSettings { place, file, variant, ..DeploymentSettings::defaults(project) });
    }
    all
}

fn configured(node: &Node) -> HclValue {
    use crate::languages::hcl::value::{HclData, HclNumber, ObjectMembers};
    match (node.entries(), node.items()) {
        ([only], _) if &*only.key == "secure" => HclValue::unknown("the value is an encrypted secret", node.span),
        (entries @ [_, ..], _) => {
            let known = entries.iter().map(|entry| (entry.key.clone(), configured(&entry.value))).collect();
            HclValue::new(HclData::Object(Arc::new(ObjectMembers { known, rest: None })), node.span)
        }
        (_, items @ [_, ..]) => HclValue::tuple(items.iter().map(configured).collect(), node.span),
        _ => match (node.text(), node.flag()) {
            (None, _) => HclValue::null(node.span),
            (_, Some(flag)) => HclValue::bool(flag, node.span),
            (Some(text), None) => match HclNumber::parse(text) {
                Some(number) => HclValue::number(number, node.span),
                None => HclValue::text(text.clone(), node.span),
            },
        },
    }
}
