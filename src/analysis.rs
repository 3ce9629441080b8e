//! Contains everything that gpulint finds in one tree, and can restrict it to some files.

use std::collections::BTreeSet;

use crate::fit::Assessment;
use crate::inventory::{Fact, Inventory, ResourceId};
use crate::measured::Measured;
use crate::pricing::{Bill, Side};
use crate::resolve::OmittedResources;
use crate::rules::{FailedRule, Finding, RuleContext, RuleTotal, Undetermined};
use crate::source::{SourceFiles, Span};
use crate::{AnalysisSettings, kubernetes, terraform};

/// Results of reading one tree that speed up the analysis of another state of it. They never change its result.
#[derive(Debug, Clone, Default)]
pub struct AnalysisCache {
    pub terraform: terraform::SharedTerraform,
    pub looks: kubernetes::ScanCache,
}

/// The analysis of a tree: its resources, their prices, and its findings.
#[derive(Debug, Default)]
pub struct Analysis {
    pub inventory: Inventory,
    /// Every evaluated Terraform block, whether or not it has to do with accelerators.
    pub blocks: Vec<terraform::EvaluatedBlock>,
    /// The directories that were read as Terraform roots.
    pub roots: Vec<terraform::RootOverview>,
    /// The Terraform plans and states among the files.
    pub plans: Vec<String>,
    pub bill: Bill,
    /// Comments that may contain directives for gpulint.
    pub comments: Vec<Span>,
    /// Whether each resource's model fits it, in the order of the inventory.
    pub fits: Vec<Fact<Assessment>>,
    /// Machines whose type is unknown. gpulint counts them as machines without accelerators.
    pub left_out: OmittedResources,
    /// The rows of usage metrics that match each resource.
    pub measured: Measured,
    pub findings: Vec<Finding>,
    pub undetermined: Vec<Undetermined>,
    /// The totals that rules check one by one, such as budgets, each with its rule.
    pub totals: Vec<(String, RuleTotal)>,
    /// Rules that could not be evaluated.
    pub broken_rules: Vec<FailedRule>,
}

impl Analysis {
    /// Returns the context in which rules evaluate the tree.
    pub fn world<'a>(&'a self, settings: &'a AnalysisSettings) -> RuleContext<'a> {
        RuleContext {
            inventory: &self.inventory,
            bill: &self.bill,
            fit: &self.fits,
            today: settings.today,
            delta: None,
            before: None,
            catalog: &settings.catalog,
            pricing: &settings.pricing,
        }
    }

    /// Returns one side of a comparison.
    pub fn side<'a>(&'a self, sources: &'a SourceFiles) -> Side<'a> {
        Side { sources, inventory: &self.inventory, bill: &self.bill }
    }

    /// Frees large parts that are needed only during the analysis: blocks that call no module. Another state of the
    /// tree may reuse them.
    pub fn hand_over_blocks(&mut self, shared: &terraform::SharedTerraform) {
        self.blocks = shared.take_blocks(&self.roots, std::mem::take(&mut self.blocks));
        self.roots.iter_mut().for_each(|root| root.blocks = 0..0);
    }

    /// Removes all resources that have no fact in these files, and everything that belongs to them. Returns which
    /// resources remain.
    pub fn keep(&mut self, sources: &SourceFiles, files: &BTreeSet<String>) -> RetainedResources {
        let stands = |span: Span| files.contains(&sources.path_of(span));
        let kept: Vec<bool> = self.inventory.resources.iter().map(|it| it.places().any(stands)).collect();
        let mut moved: Vec<Option<ResourceId>> = Vec::with_capacity(kept.len());
        let mut next = 0;
        for keep in &kept {
            moved.push(keep.then_some(ResourceId(next)));
            next += usize::from(*keep);
        }
        let moves = RetainedResources { moved };
        self.findings.retain_mut(|it| moves.keeps(&mut it.resource, || stands(it.span)));
        self.undetermined.retain_mut(|it| moves.keeps(&mut it.resource, || stands(it.span)));
        self.left_out.unknown_machines.retain(|it| stands(it.span));
        self.inventory.diagnostics.retain(|it| it.span.is_none_or(stands));
        self.inventory.skipped.retain(|it| files.contains(&it.path));
        self.inventory.unjudged.retain(|it| files.contains(&it.path));
        self.inventory.unlisted.retain(|it| stands(it.span));
        let mut keep = kept.iter().copied();
        self.inventory.resources.retain(|_| keep.next().unwrap_or(true));
        let mut keep = kept.iter().copied();
        self.bill.items.retain(|_| keep.next().unwrap_or(true));
        let mut keep = kept.iter().copied();
        self.fits.retain(|_| keep.next().unwrap_or(true));
        self.measured.keep(|id| moves.moved.get(id.0).copied().flatten());
        self.bill.sum_up(&self.inventory);
        moves
    }
}

/// The resources that remain, with their new indexes.
pub struct RetainedResources {
    moved: Vec<Option<ResourceId>>,
}

impl RetainedResources {
    /// Returns true if an entry remains: because of its resource, or because of its place if it has no resource.
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
