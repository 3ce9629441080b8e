//! Terraform and Kubernetes as one: text of both becomes one inventory, and a fact is written where its language has it.

pub(crate) mod files;

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{
    Declined, Fact, Foreign, FrontEnd, Inventory, Range, Resource, RunId, Value, Wish, is_script, language_of_script,
};
use crate::source::{Edit, FileId, Sources, Span, each};
use crate::{Settings, fix, kubernetes, terraform};

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
    let terraform::TerraformReading { mut inventory, embedded, blocks, roots, plans, mut comments } =
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
    inventory.unlisted.extend(kubernetes.unlisted);
    inventory.foreign.extend(kubernetes.foreign);
    inventory.foreign.extend(scripts(sources, paths));
    inventory.skipped.sort();
    inventory.skipped.dedup();
    Reading { inventory, blocks, roots, plans, comments, plain }
}

/// Files that no reader looks at, in languages that can rent machines.
fn scripts(sources: &Sources, paths: &[String]) -> Vec<Foreign> {
    let called = paths.iter().filter(|path| is_script(path)).collect();
    let looked = each(called, |path: &String| {
        let language = sources.glance(path, |text| language_of_script(path, text)).ok().flatten()?;
        Some(Foreign { path: path.clone(), language })
    });
    looked.into_iter().flatten().collect()
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
