//! Finds accelerators in Terraform and Kubernetes text, prices them and says what is wasteful.
//!
//! `ARCHITECTURE.md` draws the rooms and the arrows between them. This file is the spine that calls them in order.

pub mod catalog;
pub mod cli;
pub mod config;
pub mod decide;
pub mod diagnostic;
pub mod fit;
pub mod fix;
pub mod forge;
mod helm;
pub mod http;
pub mod inventory;
pub mod kubernetes;
mod kustomize;
pub mod pricing;
pub mod refresh;
pub mod report;
pub mod rules;
pub mod runs;
pub mod source;
mod template;
pub mod terraform;
mod yaml;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use catalog::Catalog;
use diagnostic::Diagnostic;
use fit::Assessment;
use inventory::{
    Counted, Declined, Fact, Foreign, FrontEnd, Inventory, Range, Resource, ResourceId, RunId, Skipped, Value,
    WantedRaw, Wish,
};
use pricing::{Bill, LeftOut};
use rules::{Broken, Finding, Rules, Undetermined, World};
use source::{Date, Edit, FileId, Sources, Span, each};

/// What the rooms are told beside the text.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub terraform: terraform::Options,
    pub kubernetes: kubernetes::Options,
    pub runs: runs::Options,
    pub pricing: pricing::Settings,
    pub catalog: Catalog,
    pub rules: Arc<Rules>,
    /// What is wanted as it is written, beside what the rules look at.
    pub raw: WantedRaw,
    /// Labels by which the user's workloads declare a fact: `acme.example/llm` → `model`.
    pub declaring_labels: BTreeMap<String, String>,
    /// The day that dates are compared with.
    pub today: Option<Date>,
}

/// What a tree of text says: its resources, their price, and what is wasteful about them.
#[derive(Debug, Default)]
pub struct Analysis {
    pub inventory: Inventory,
    /// Every evaluated Terraform block, whether or not it has to do with accelerators.
    pub blocks: Vec<terraform::Block>,
    /// The directories that were read as Terraform roots.
    pub roots: Vec<terraform::Root>,
    /// The plans and states among the files.
    pub plans: Vec<String>,
    pub bill: Bill,
    /// Comments that may speak to gpulint.
    pub comments: Vec<Span>,
    /// Whether each resource's model fits it, in the order of the inventory.
    pub fits: Vec<Fact<Assessment>>,
    /// What was taken for a machine without accelerators because its type cannot be known.
    pub left_out: LeftOut,
    pub findings: Vec<Finding>,
    pub undetermined: Vec<Undetermined>,
    /// Rules that could not be evaluated.
    pub broken_rules: Vec<Broken>,
}

/// Reads the files at `paths` and concludes everything that follows from them. A pure function of text and settings.
pub fn analyze(sources: &Sources, paths: &[String], settings: &Settings) -> Analysis {
    let Reading { mut inventory, blocks, roots, plans, comments, plain } = read(sources, paths, settings);
    runs::complete(&mut inventory, &settings.runs);
    tell_unread(sources, &mut inventory);
    for resource in &mut inventory.resources {
        inventory::programs::declare(resource, &settings.declaring_labels);
    }
    inventory::settle_homes(&mut inventory, sources);
    let left_out = pricing::complete(&mut inventory, &settings.catalog, &settings.pricing);
    inventory::look_round(&mut inventory, sources, paths, &plain);
    let mut bill = pricing::bill(&inventory, &settings.catalog, &settings.pricing);
    pricing::count_dearer(&mut inventory, &mut bill);
    let fits = fit::assess_all(&inventory, &bill, &settings.catalog, &settings.pricing);
    let world = World {
        inventory: &inventory,
        bill: &bill,
        fit: &fits,
        today: settings.today,
        delta: None,
        catalog: &settings.catalog,
        pricing: &settings.pricing,
    };
    let judgement = settings.rules.judge(&world, sources);
    let mut findings = judgement.findings;
    let mut undetermined = judgement.undetermined;
    findings.retain(|it| is_judged(&inventory, it.resource));
    undetermined.retain(|it| is_judged(&inventory, it.resource));
    findings.extend(unreadable(&inventory, &settings.rules));
    let writers = Writers { sources, terraform: terraform::Writer::new(sources, &blocks, &roots) };
    fix::plan(&mut findings, &inventory, sources, &writers);
    Analysis {
        findings,
        undetermined,
        broken_rules: judgement.failures,
        inventory,
        blocks,
        roots,
        plans,
        comments,
        bill,
        fits,
        left_out,
    }
}

/// Nobody applies a base in whose place others stand, nor what the settings exclude: they are told, not judged.
fn is_judged(inventory: &Inventory, resource: Option<ResourceId>) -> bool {
    let resource = resource.and_then(|id| inventory.resources.get(id.0));
    resource.is_none_or(|it| !matches!(it.counted, Counted::Base | Counted::Excluded))
}

/// Both front ends, as those who know how a fact is written.
struct Writers<'a> {
    sources: &'a Sources,
    terraform: terraform::Writer<'a>,
}

impl fix::Writer for Writers<'_> {
    fn write(&self, resource: &Resource, wish: &Wish) -> Result<Vec<Edit>, Declined> {
        match resource.front_end {
            FrontEnd::Terraform => self.terraform.write(resource, wish),
            FrontEnd::Plan => Err(made_from_text()),
            FrontEnd::Kubernetes | FrontEnd::Chart => kubernetes::write(resource, wish, self.sources),
        }
    }

    fn label(&self, resource: &Resource, labels: &[(Arc<str>, Value)]) -> Result<Vec<Edit>, Declined> {
        match resource.front_end {
            FrontEnd::Terraform => self.terraform.label(resource, labels),
            FrontEnd::Plan => Err(made_from_text()),
            FrontEnd::Kubernetes | FrontEnd::Chart => kubernetes::label(resource, labels, self.sources),
        }
    }
}

fn made_from_text() -> Declined {
    Declined::LeftAlone("a plan is made from text: change that".to_owned())
}

/// Files that no reader looks at, in languages that can rent machines.
fn scripts(sources: &Sources, paths: &[String]) -> Vec<Foreign> {
    let called = paths.iter().filter(|path| inventory::is_script(path)).collect();
    let looked = each(called, |path: &String| {
        let language = sources.glance(path, |text| inventory::language_of_script(path, text)).ok().flatten()?;
        Some(Foreign { path: path.clone(), language })
    });
    looked.into_iter().flatten().collect()
}

/// What readers left out is counted with the files that were not read.
fn tell_unread(sources: &Sources, inventory: &mut Inventory) {
    for it in &inventory.diagnostics {
        if let (Some(what), Some(span)) = (&it.unread, it.span) {
            inventory.skipped.push(Skipped { path: sources.path(span.file), reason: what.clone() });
        }
    }
    inventory.skipped.sort();
}

/// Text that Terraform or kubectl would refuse, or that is more than may be read.
fn unreadable(inventory: &Inventory, rules: &Rules) -> Vec<Finding> {
    let refused = inventory.diagnostics.iter().filter(|it| it.unreadable);
    let say = |it: &Diagnostic| {
        let mut finding = rules.say("unreadable", it.message.clone(), it.help.clone(), it.span?)?;
        let notes = it.notes.iter().filter_map(|(span, note)| Some(((*span)?, note.clone())));
        finding.related.extend(notes);
        Some(finding)
    };
    refused.filter_map(say).collect()
}

impl Analysis {
    /// What rules see of it.
    pub fn world<'a>(&'a self, settings: &'a Settings) -> World<'a> {
        World {
            inventory: &self.inventory,
            bill: &self.bill,
            fit: &self.fits,
            today: settings.today,
            delta: None,
            catalog: &settings.catalog,
            pricing: &settings.pricing,
        }
    }

    /// Lets go of what is large and only asked for while a state is looked at: blocks that call no module.
    pub fn let_go(&mut self) {
        self.blocks.retain(|block| block.keyword == "module");
        self.blocks.shrink_to_fit();
        self.roots.iter_mut().for_each(|root| root.blocks = 0..0);
    }

    /// Keeps what stands in these files: resources of which some fact does, and what is said about them.
    pub fn keep(&mut self, sources: &Sources, files: &BTreeSet<String>) -> Kept {
        let stands = |span: Span| files.contains(&sources.path(sources.origin(span).file));
        let kept: Vec<bool> = self.inventory.resources.iter().map(|it| it.places().any(stands)).collect();
        let mut moved: Vec<Option<ResourceId>> = Vec::with_capacity(kept.len());
        let mut next = 0;
        for keep in &kept {
            moved.push(keep.then_some(ResourceId(next)));
            next += usize::from(*keep);
        }
        let moves = Kept { moved };
        self.findings.retain_mut(|it| moves.keeps(&mut it.resource, || stands(it.span)));
        self.undetermined.retain_mut(|it| moves.keeps(&mut it.resource, || stands(it.span)));
        self.left_out.unknown_machines.retain(|it| stands(it.span));
        self.inventory.diagnostics.retain(|it| it.span.is_none_or(stands));
        self.inventory.skipped.retain(|it| files.contains(&it.path));
        self.inventory.unjudged.retain(|it| files.contains(&it.path));
        let mut keep = kept.iter().copied();
        self.inventory.resources.retain(|_| keep.next().unwrap_or(true));
        let mut keep = kept.iter().copied();
        self.bill.items.retain(|_| keep.next().unwrap_or(true));
        let mut keep = kept.iter().copied();
        self.fits.retain(|_| keep.next().unwrap_or(true));
        self.bill.sum_up(&self.inventory);
        moves
    }
}

/// Which resources were kept, and their new places.
pub struct Kept {
    moved: Vec<Option<ResourceId>>,
}

impl Kept {
    /// Whether something is kept that was said about a resource, or about the text itself.
    pub fn keeps(&self, resource: &mut Option<ResourceId>, stands: impl FnOnce() -> bool) -> bool {
        match resource {
            Some(id) => {
                *resource = self.moved.get(id.0).copied().flatten();
                resource.is_some()
            }
            None => stands(),
        }
    }
}

struct Reading {
    inventory: Inventory,
    blocks: Vec<terraform::Block>,
    roots: Vec<terraform::Root>,
    plans: Vec<String>,
    comments: Vec<Span>,
    /// Files that `look_round` need not look at.
    plain: Vec<String>,
}

/// The root and the run of text that Terraform carries, and where it says that there is none of it.
type Carrier = (Option<Arc<str>>, RunId, Option<Span>);

/// Both front ends, as one inventory.
fn read(sources: &Sources, paths: &[String], settings: &Settings) -> Reading {
    let mut wanted = settings.rules.raw();
    wanted.add(&settings.raw);
    let terraform::Reading { mut inventory, embedded, blocks, roots, plans, mut comments } =
        terraform::read(sources, paths, &terraform::Options { raw: wanted.blocks, ..settings.terraform.clone() });
    let others: Vec<String> = paths.iter().filter(|path| plans.binary_search(path).is_err()).cloned().collect();
    let carriers: HashMap<FileId, Carrier> =
        embedded.iter().map(|it| (it.file, (it.root.clone(), it.run.clone(), it.none))).collect();
    let embedded: Vec<(FileId, String)> = embedded.into_iter().map(|it| (it.file, it.address)).collect();
    let options = kubernetes::Options { objects: wanted.objects, ..settings.kubernetes.clone() };
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
    inventory.runs.extend(kubernetes.runs);
    inventory.objects.extend(kubernetes.objects);
    inventory.resources.extend(kubernetes.resources);
    inventory.diagnostics.extend(kubernetes.diagnostics);
    inventory.skipped.extend(kubernetes.skipped);
    inventory.unjudged.extend(kubernetes.unjudged);
    inventory.foreign.extend(kubernetes.foreign);
    inventory.foreign.extend(scripts(sources, paths));
    inventory.skipped.sort();
    inventory.skipped.dedup();
    Reading { inventory, blocks, roots, plans, comments, plain }
}
