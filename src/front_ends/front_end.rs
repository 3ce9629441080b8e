//! Defines the interface of a front end, its input and its output.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::inventory::{
    self, Declined, DeploymentRun, Fact, FactEdit, FactValue, Inventory, Resource, RunId, WantedRaw,
};
use crate::source::{Edit, FileId, SourceFiles, Span};
use crate::{AnalysisCache, AnalysisSettings};

/// The findings of all front ends.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) inventory: Inventory,
    pub(crate) blocks: Vec<crate::terraform::EvaluatedBlock>,
    pub(crate) roots: Vec<crate::terraform::RootOverview>,
    pub(crate) plans: Vec<String>,
    pub(crate) comments: Vec<Span>,
    /// Sorted files without any sign of accelerators.
    pub(crate) plain: Vec<String>,
    /// Manifests that other front ends found in their files, for the front end that reads manifests: the file, and the
    /// address of the resource.
    pub(super) embedded: Vec<(FileId, String)>,
    /// The commands that install charts of the tree.
    pub(super) installations: Vec<crate::kubernetes::ChartInstallation>,
    /// The resources that apply these manifests.
    pub(super) carriers: HashMap<FileId, Carrier>,
}

impl Reading {
    /// Adds manifests that a front end made of a file, as a part of a deployment.
    pub(super) fn carry(&mut self, made: FileId, run: DeploymentRun, path: &str) {
        self.carriers.insert(made, Carrier::of_run(&run.id));
        match self.inventory.runs.iter_mut().find(|it| it.id == run.id) {
            Some(known) => known.inputs.push(path.into()),
            None => self.inventory.runs.push(run.reading([path])),
        }
    }
}

/// The resource that applies a manifest in another language.
#[derive(Clone)]
pub(super) struct Carrier {
    pub(super) root: Option<Arc<str>>,
    pub(super) run: RunId,
    /// The place that sets the number of this resource to zero, if any.
    pub(super) none: Option<Span>,
    /// The region that its configuration of each cloud sets.
    pub(super) regions: Arc<BTreeMap<&'static str, Fact<FactValue>>>,
}

impl Carrier {
    /// Returns a deployment that sets nothing for its manifests.
    pub(super) fn of_run(run: &RunId) -> Carrier {
        Carrier { root: None, run: run.clone(), none: None, regions: Arc::default() }
    }
}

/// The input of front ends.
pub(super) struct FrontEndInput<'a> {
    pub(super) sources: &'a SourceFiles,
    pub(super) paths: &'a [String],
    pub(super) settings: &'a AnalysisSettings,
    pub(super) cache: &'a AnalysisCache,
    pub(super) wanted: WantedRaw,
}

/// Reads and edits the languages of one family.
pub(super) trait FrontEnd: Sync {
    /// Adds the content of the front end's files to `out`, which contains the files that earlier front ends left for
    /// it.
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading);

    /// Returns true if this front end read the file of a resource, and therefore edits it.
    fn reads(&self, _: &Resource) -> bool {
        false
    }

    fn write(&self, _: &Writers<'_>, _: &Resource, _: &FactEdit) -> Result<Vec<Edit>, Declined> {
        Err(Declined::LeftAlone("gpulint does not edit files in this language".to_owned()))
    }

    fn label(&self, _: &Writers<'_>, _: &Resource, _: &[(Arc<str>, FactValue)]) -> Result<Vec<Edit>, Declined> {
        Err(Declined::LeftAlone("gpulint does not add labels in this language".to_owned()))
    }
}

/// All front ends as writers. A writer knows how to edit a fact.
pub(crate) struct Writers<'a> {
    pub(super) sources: &'a SourceFiles,
    pub(super) terraform: crate::terraform::TerraformWriter<'a>,
    pub(super) templates: crate::templates::EditedTemplates,
}

impl<'a> Writers<'a> {
    pub(crate) fn new(
        sources: &'a SourceFiles,
        blocks: &'a [crate::terraform::EvaluatedBlock],
        roots: &'a [crate::terraform::RootOverview],
    ) -> Self {
        let terraform = crate::terraform::TerraformWriter::new(sources, blocks, roots);
        Writers { sources, terraform, templates: crate::templates::EditedTemplates::default() }
    }
}

pub(super) fn is_made_by(resource: &Resource, makers: &[inventory::ReadBy]) -> bool {
    makers.contains(&resource.front_end)
}
