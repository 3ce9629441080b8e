//! What a front end is, what it is given, and what it adds.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{self, Declined, Inventory, Resource, RunId, Value, WantedRaw, Wish};
use crate::source::{Edit, FileId, Sources, Span};
use crate::{AnalysisCache, Settings};

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
    pub(super) embedded: Vec<(FileId, String)>,
    /// Who applies these.
    pub(super) carriers: HashMap<FileId, Carrier>,
}

/// Who applies a manifest that stands in another language.
#[derive(Clone)]
pub(super) struct Carrier {
    pub(super) root: Option<Arc<str>>,
    pub(super) run: RunId,
    /// Where it says that there is none of it.
    pub(super) none: Option<Span>,
}

/// What there is to read.
pub(super) struct FrontEndInput<'a> {
    pub(super) sources: &'a Sources,
    pub(super) paths: &'a [String],
    pub(super) settings: &'a Settings,
    pub(super) cache: &'a AnalysisCache,
    pub(super) wanted: WantedRaw,
}

/// Reads the languages of one family, and writes them.
pub(super) trait FrontEnd: Sync {
    /// Adds what its files say; what front ends before it left for it is in `out`.
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading);

    /// Whether it reads what a resource stands in, and so writes it.
    fn reads(&self, _: &Resource) -> bool {
        false
    }

    fn write(&self, _: &Writers<'_>, _: &Resource, _: &Wish) -> Result<Vec<Edit>, Declined> {
        Err(Declined::LeftAlone("gpulint does not edit files in this language".to_owned()))
    }

    fn label(&self, _: &Writers<'_>, _: &Resource, _: &[(Arc<str>, Value)]) -> Result<Vec<Edit>, Declined> {
        Err(Declined::LeftAlone("gpulint does not add labels to templates".to_owned()))
    }
}

/// All front ends, as those who know how a fact is written.
pub(crate) struct Writers<'a> {
    pub(super) sources: &'a Sources,
    pub(super) terraform: crate::terraform::Writer<'a>,
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

pub(super) fn is_made_by(resource: &Resource, makers: &[inventory::FrontEnd]) -> bool {
    makers.contains(&resource.front_end)
}
