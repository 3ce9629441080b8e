//! The front ends as one: each adds what it reads to one inventory, and writes a fact where its language has it.

pub(crate) mod files;
mod manifests;
mod scripts;
mod templates;
mod terraform;

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{self, Declined, Inventory, Resource, RunId, Value, WantedRaw, Wish};
use crate::source::{Edit, FileId, Sources, Span};
use crate::{Settings, fix};

/// What all of them found.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) inventory: Inventory,
    pub(crate) blocks: Vec<crate::terraform::Block>,
    pub(crate) roots: Vec<crate::terraform::Root>,
    pub(crate) plans: Vec<String>,
    pub(crate) comments: Vec<Span>,
    /// Files, sorted, that are known to hold no sign of anything.
    pub(crate) plain: Vec<String>,
    /// Manifests that a front end found in its own files, for the one that reads manifests: the file, and its address.
    embedded: Vec<(FileId, String)>,
    /// Who applies these.
    carriers: HashMap<FileId, Carrier>,
}

/// Who applies a manifest that stands in another language.
#[derive(Clone)]
struct Carrier {
    root: Option<Arc<str>>,
    run: RunId,
    /// Where it says that there is none of it.
    none: Option<Span>,
}

/// What there is to read.
struct Input<'a> {
    sources: &'a Sources,
    paths: &'a [String],
    settings: &'a Settings,
    wanted: WantedRaw,
}

/// Reads the languages of one family, and writes them.
trait FrontEnd: Sync {
    /// Adds what its files say; what front ends before it left for it is in `out`.
    fn read(&self, input: &Input<'_>, out: &mut Reading);

    /// Whether it reads what a resource stands in.
    fn reads(&self, resource: &Resource) -> bool;

    fn write(&self, writers: &Writers<'_>, resource: &Resource, wish: &Wish) -> Result<Vec<Edit>, Declined>;

    fn label(
        &self,
        writers: &Writers<'_>,
        resource: &Resource,
        labels: &[(Arc<str>, Value)],
    ) -> Result<Vec<Edit>, Declined>;
}

/// In the order in which they hand on what they find: Terraform and scripts hold manifests, and files in which no manifest
/// was found may be templates.
static FRONT_ENDS: [&dyn FrontEnd; 6] = [
    &terraform::Terraform,
    &scripts::Scripts,
    &manifests::Manifests,
    &templates::CLOUDFORMATION,
    &templates::AZURE,
    &templates::PULUMI,
];

/// All front ends, as one inventory.
pub(crate) fn read(sources: &Sources, paths: &[String], settings: &Settings) -> Reading {
    let mut wanted = settings.rules.raw();
    wanted.add(&settings.raw);
    let input = Input { sources, paths, settings, wanted };
    let mut reading = Reading::default();
    for front_end in FRONT_ENDS {
        front_end.read(&input, &mut reading);
    }
    reading.inventory.skipped.sort();
    reading.inventory.skipped.dedup();
    reading
}

/// All front ends, as those who know how a fact is written.
pub(crate) struct Writers<'a> {
    sources: &'a Sources,
    terraform: crate::terraform::Writer<'a>,
}

impl<'a> Writers<'a> {
    pub(crate) fn new(
        sources: &'a Sources,
        blocks: &'a [crate::terraform::Block],
        roots: &'a [crate::terraform::Root],
    ) -> Self {
        Writers { sources, terraform: crate::terraform::Writer::new(sources, blocks, roots) }
    }
}

fn of(resource: &Resource) -> Result<&'static dyn FrontEnd, Declined> {
    let made_from_text = || Declined::LeftAlone("a plan is made from text: change that".to_owned());
    FRONT_ENDS.into_iter().find(|it| it.reads(resource)).ok_or_else(made_from_text)
}

impl fix::Writer for Writers<'_> {
    fn write(&self, resource: &Resource, wish: &Wish) -> Result<Vec<Edit>, Declined> {
        of(resource)?.write(self, resource, wish)
    }

    fn label(&self, resource: &Resource, labels: &[(Arc<str>, Value)]) -> Result<Vec<Edit>, Declined> {
        of(resource)?.label(self, resource, labels)
    }
}

fn is_made_by(resource: &Resource, makers: &[inventory::FrontEnd]) -> bool {
    makers.contains(&resource.front_end)
}
