//! Terraform and Kubernetes as one: text of both becomes one inventory, and a fact is written where its language has it.

pub(crate) mod files;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::inventory::{
    AZURE_TEMPLATE, Adjust, BICEP, CALL_OF_SLURM, CDK, CLOUDFORMATION, Declined, Fact, Foreign, FrontEnd,
    HEAD_OF_PROGRAM, Inventory, Language, PULUMI, Range, Resource, Run, RunId, RunKind, Value, WRITTEN_BY_PULUMI, Wish,
    is_program, is_script, languages_of_script,
};
use crate::source::{Edit, FileId, Sources, Span, each, is_below, join, parent};
use crate::{Settings, fix, kubernetes, slurm, templates, terraform};

/// What both found.
pub(crate) struct Reading {
    pub(crate) inventory: Inventory,
    pub(crate) blocks: Vec<terraform::Block>,
    pub(crate) roots: Vec<terraform::Root>,
    pub(crate) plans: Vec<String>,
    pub(crate) comments: Vec<Span>,
    /// Files, sorted, that are known to hold no sign of anything.
    pub(crate) plain: Vec<String>,
}

/// The root and the run of text that Terraform carries, and where it says that there is none of it.
type Carrier = (Option<Arc<str>>, RunId, Option<Span>);

/// Both front ends, as one inventory.
pub(crate) fn read(sources: &Sources, paths: &[String], settings: &Settings) -> Reading {
    let mut wanted = settings.rules.raw();
    wanted.add(&settings.raw);
    let terraform::TerraformReading { mut inventory, embedded, mut blocks, roots, plans, mut comments } =
        terraform::read(sources, paths, &options_of_terraform(settings, wanted.blocks));
    let others: Vec<String> = paths.iter().filter(|path| plans.binary_search(path).is_err()).cloned().collect();
    let mut carriers: HashMap<FileId, Carrier> =
        embedded.iter().map(|it| (it.file, (it.root.clone(), it.run.clone(), it.none))).collect();
    let mut embedded: Vec<(FileId, String)> = embedded.into_iter().map(|it| (it.file, it.address)).collect();
    let scripts = scripts(sources, paths, &settings.kubernetes.looks);
    for (path, job) in scripts.jobs {
        let run = Run::new(RunKind::Manifests, parent(&path), Some("Slurm"));
        carriers.insert(job, (None, run.id.clone(), None));
        match inventory.runs.iter_mut().find(|it| it.id == run.id) {
            Some(known) => known.inputs.push(path.as_str().into()),
            None => inventory.runs.push(run.reading([path.as_str()])),
        }
        embedded.push((job, path));
    }
    let options = kubernetes::Options { objects: wanted.objects, pods: wanted.pods, ..settings.kubernetes.clone() };
    let kubernetes = kubernetes::read(sources, &others, &embedded, &options);
    comments.extend(kubernetes.comments);
    let plain = kubernetes.plain;
    let made_of = kubernetes.carriers;
    let mut kubernetes = kubernetes.inventory;
    for (resource, made_of) in kubernetes.resources.iter_mut().zip(made_of) {
        if let Some((root, run, none)) = carriers.get(&made_of.unwrap_or(resource.span.file)) {
            resource.root.clone_from(root);
            resource.run = Some(run.clone());
            resource.count =
                none.map_or(std::mem::take(&mut resource.count), |span| Fact::written(Range::exactly(0.0), span));
        }
    }
    for object in &mut kubernetes.objects {
        if let Some((_, run, _)) = carriers.get(&object.span.file) {
            object.run = Some(run.clone());
        }
    }
    if let Some(scenario) = &settings.scenario {
        let read = std::mem::take(&mut kubernetes.resources).into_iter();
        kubernetes.resources = read.flat_map(|it| adjusted(scenario.as_ref(), it)).collect();
    }
    inventory.runs.extend(kubernetes.runs);
    inventory.objects.extend(kubernetes.objects);
    inventory.resources.extend(kubernetes.resources);
    inventory.diagnostics.extend(kubernetes.diagnostics);
    inventory.skipped.extend(kubernetes.skipped);
    inventory.unjudged.extend(kubernetes.unjudged);
    inventory.unlisted.extend(kubernetes.unlisted);
    inventory.foreign.extend(kubernetes.foreign);
    inventory.foreign.extend(scripts.foreign);
    for templates in read_templates(sources, paths, settings, &inventory.foreign) {
        add_templates(templates.inventory, &templates.taken, &mut inventory);
        comments.extend(templates.comments);
        blocks.extend(templates.blocks);
    }
    inventory.skipped.sort();
    inventory.skipped.dedup();
    Reading { inventory, blocks, roots, plans, comments, plain }
}

/// Reads the templates among files that were found to be in a language of their own.
fn read_templates(
    sources: &Sources,
    paths: &[String],
    settings: &Settings,
    foreign: &[Foreign],
) -> [templates::TemplateReading; 3] {
    let of = |languages: &[&str]| {
        let candidates = foreign.iter().filter(|it| languages.contains(&it.language.name));
        candidates.map(|it| it.path.clone()).collect::<Vec<_>>()
    };
    let options = templates::TemplateOptions { adjust: settings.scenario.clone() };
    [
        templates::read(sources, &of(&[CLOUDFORMATION]), paths, &options),
        templates::read_azure(sources, &of(&[AZURE_TEMPLATE, BICEP]), paths, &options),
        templates::read_pulumi(sources, &of(&[PULUMI, WRITTEN_BY_PULUMI]), paths, &options),
    ]
}

/// Adds what templates say; what was read is foreign no more.
fn add_templates(read: Inventory, taken: &BTreeSet<String>, inventory: &mut Inventory) {
    // A program is read by what it wrote beside it.
    let wrote = |path: &str| {
        let written = join(parent(path), CDK_OUT);
        written.is_some_and(|folder| taken.iter().any(|taken| is_below(taken, &folder)))
    };
    let is_written = |it: &Foreign| match it.language.name {
        CDK => wrote(&it.path),
        PULUMI => taken.iter().any(|taken| parent(&it.path).is_empty() || is_below(taken, parent(&it.path))),
        _ => false,
    };
    inventory.foreign.retain(|it| !(taken.contains(&it.path) || !taken.is_empty() && is_written(it)));
    inventory.foreign.extend(read.foreign);
    inventory.resources.extend(read.resources);
    inventory.runs.extend(read.runs);
    inventory.diagnostics.extend(read.diagnostics);
    inventory.unlisted.extend(read.unlisted);
}

/// Where `cdk synth` writes, without a word.
const CDK_OUT: &str = "cdk.out";

fn options_of_terraform(settings: &Settings, raw: bool) -> terraform::Options {
    terraform::Options { raw, adjust: settings.scenario.clone(), ..settings.terraform.clone() }
}

fn adjusted(scenario: &dyn Adjust, resource: Resource) -> Vec<Resource> {
    let run = resource.run.clone();
    scenario.adjust(resource, run.as_ref())
}

/// Files that neither front end looks at.
struct Scripts {
    /// What is told of them.
    foreign: Vec<Foreign>,
    /// Jobs of Slurm, as text for the Kubernetes front end.
    jobs: Vec<(String, FileId)>,
}

fn scripts(sources: &Sources, paths: &[String], looks: &kubernetes::Looks) -> Scripts {
    let called = paths.iter().filter(|path| is_script(path)).collect();
    let looked = each(called, |path: &String| {
        let languages = looks.languages(path, || languages_of(sources, path));
        (!languages.is_empty()).then_some((path, languages))
    });
    let mut scripts = Scripts { foreign: Vec::new(), jobs: Vec::new() };
    // One after the other: the numbers of files must not depend on threads.
    for (path, languages) in looked.into_iter().flatten() {
        let may_be_job = languages.iter().any(|it| it.name == CALL_OF_SLURM)
            && sources.glance(path, |text| memchr::memmem::find(text, slurm::MARK).is_some()).unwrap_or(false);
        let job = may_be_job.then(|| slurm::read(sources, path)).flatten();
        let untold = languages.into_iter().filter(|it| job.is_none() || it.name != CALL_OF_SLURM);
        scripts.foreign.extend(untold.map(|language| Foreign { path: path.clone(), language }));
        scripts.jobs.extend(job.map(|job| (path.clone(), job)));
    }
    scripts
}

fn languages_of(sources: &Sources, path: &str) -> Vec<&'static Language> {
    let look = |text: &[u8]| languages_of_script(path, text);
    let found = match is_program(path) {
        true => sources.glance_at_head(path, HEAD_OF_PROGRAM, look),
        false => sources.glance(path, look),
    };
    found.unwrap_or_default()
}

/// Both front ends, as those who know how a fact is written.
pub(crate) struct Writers<'a> {
    sources: &'a Sources,
    terraform: terraform::Writer<'a>,
}

impl<'a> Writers<'a> {
    pub(crate) fn new(sources: &'a Sources, blocks: &'a [terraform::Block], roots: &'a [terraform::Root]) -> Self {
        Writers { sources, terraform: terraform::Writer::new(sources, blocks, roots) }
    }
}

impl fix::Writer for Writers<'_> {
    fn write(&self, resource: &Resource, wish: &Wish) -> Result<Vec<Edit>, Declined> {
        match resource.front_end {
            FrontEnd::Terraform => self.terraform.write(resource, wish),
            FrontEnd::Plan => Err(made_from_text()),
            FrontEnd::Kubernetes | FrontEnd::Chart => kubernetes::write(resource, wish, self.sources),
            FrontEnd::Template => templates::write(resource, wish, self.sources, &self.terraform),
        }
    }

    fn label(&self, resource: &Resource, labels: &[(Arc<str>, Value)]) -> Result<Vec<Edit>, Declined> {
        match resource.front_end {
            FrontEnd::Terraform => self.terraform.label(resource, labels),
            FrontEnd::Plan => Err(made_from_text()),
            FrontEnd::Kubernetes | FrontEnd::Chart => kubernetes::label(resource, labels, self.sources),
            FrontEnd::Template => Err(Declined::LeftAlone("labels are not written into templates".to_owned())),
        }
    }
}

fn made_from_text() -> Declined {
    Declined::LeftAlone("a plan is made from text: change that".to_owned())
}
