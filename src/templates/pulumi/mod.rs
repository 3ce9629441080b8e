//! Front end for Pulumi: reads YAML programs, and Pulumi's output for programs in other languages.
//!
//! Most Pulumi providers are generated from those of Terraform. A type has the same words in another order. Attributes
//! have the same words too, and lists have a plural. Therefore the names need no table.

mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inventory::{DeploymentRun, RunKind};
use crate::languages::document::DocResource;
use crate::languages::hcl::value::HclValue;
use crate::languages::pulumi::{PulumiProgram, PulumiStack, state};
use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, Span, file_name, join, parent};

use super::reading::{TemplateOptions, TemplateReading};
use super::resources::Applied;

/// Reads projects and Pulumi's output among `candidates`; `paths` are all files of the tree.
pub fn read(
    sources: &SourceFiles,
    candidates: &[String],
    paths: &[String],
    options: &TemplateOptions,
) -> TemplateReading {
    let mut reading = TemplateReading::default();
    for path in candidates {
        let Some((root, comments)) = root(sources, path) else { continue };
        if let Some((resources, stack)) = state(&root) {
            let made = Made {
                path,
                variant: stack.to_string(),
                inputs: Vec::new(),
                settings: BTreeMap::new(),
                span: root.span,
            };
            made.add(&resources, options, &mut reading);
            reading.taken.insert(path.clone());
            continue;
        }
        let main = main_of(sources, path, &root);
        let Some(program) = PulumiProgram::of(&root, main.as_ref().map(|(root, _)| root)) else { continue };
        reading.comments.extend(comments);
        reading.comments.extend(main.into_iter().flat_map(|(_, comments)| comments));
        for (file, stack) in stacks(sources, path, paths, &mut reading.comments) {
            let resources = program.resources(&stack, sources.limits().evaluation_steps);
            let variant = stack.name.as_ref().and_then(HclValue::as_text).map(|it| it.into_owned());
            let variant = variant.unwrap_or_else(|| file_name(path).to_owned());
            let span = program.span();
            let made = Made { path, variant, inputs: file.into_iter().collect(), settings: stack.values, span };
            made.add(&resources, options, &mut reading);
        }
        reading.taken.insert(path.clone());
    }
    reading
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

/// Returns the stacks of a project, each with its file; one without configuration if there is none.
fn stacks<'p>(
    sources: &SourceFiles,
    project: &str,
    paths: &'p [String],
    comments: &mut Vec<Span>,
) -> Vec<(Option<&'p str>, PulumiStack)> {
    let name = |path: &'p str| {
        let name = file_name(path).strip_prefix("Pulumi.")?;
        name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"))
    };
    let mut all = Vec::new();
    for path in paths.iter().filter(|it| parent(it) == parent(project)) {
        let Some(name) = name(path) else { continue };
        let Some((root, said)) = root(sources, path) else { continue };
        comments.extend(said);
        let config = root.get("config").map(Node::entries).unwrap_or_default().iter();
        let values = config.map(|entry| (entry.key.clone(), configured(&entry.value)));
        let stack = PulumiStack { name: Some(HclValue::text(name, root.span)), values: values.collect() };
        all.push((Some(path.as_str()), stack));
    }
    if all.is_empty() {
        all.push((None, PulumiStack::default()));
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

/// A stack and its inputs.
struct Made<'m> {
    path: &'m str,
    variant: String,
    inputs: Vec<&'m str>,
    settings: BTreeMap<Arc<str>, HclValue>,
    span: Span,
}

impl Made<'_> {
    fn add(&self, resources: &[DocResource], options: &TemplateOptions, reading: &mut TemplateReading) {
        let inputs = self.inputs.iter().copied().chain([self.path]);
        let run = DeploymentRun::new(RunKind::Stack, parent(self.path), Some(&self.variant)).reading(inputs);
        let packages: BTreeSet<&str> = resources.iter().map(|it| names::package(&it.kind)).collect();
        for package in packages {
            let of_package = resources.iter().filter(|it| names::package(&it.kind) == package);
            let of_package: Vec<DocResource> = of_package.cloned().collect();
            let settings = self.settings.iter().filter_map(|(key, value)| {
                let key = key.strip_prefix(package)?.strip_prefix(':')?;
                Some((super::names::small(key), value.clone()))
            });
            let applied = Applied {
                table: &names::Pulumi,
                provider: names::provider(package),
                settings: settings.collect(),
                run: &run.id,
                span: self.span,
            };
            applied.add(&of_package, options.adjust.as_deref(), reading);
        }
        reading.inventory.runs.push(run);
    }
}
