//! Defines the input of a report: the results of the other modules for one tree.

use std::borrow::Cow;

use super::views::paths::ShownPaths;
use crate::catalog::Currency;
use crate::compare::EvaluatedState;
use crate::decide::{Decided, Verdict};
use crate::fit::Assessment;
use crate::inventory::{BillingRole, DeploymentRun, Fact, FactOrigin, Inventory, Key, Resource, ResourceId, RunKind};
use crate::measured::Measured;
use crate::pricing::{Bill, Period};
use crate::resolve::UnknownMachine;
use crate::rules::{Finding, RuleTotal, Rules, Undetermined};
use crate::source::{Date, SourceFiles};

/// Everything that a report can contain.
pub struct Report<'a> {
    pub sources: &'a SourceFiles,
    pub paths: &'a ShownPaths,
    /// The paths for code hosts, which identify a file by its path in the repository.
    pub hosted_paths: &'a ShownPaths,
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    /// The model assessment of each resource; empty in a saved report.
    pub fits: &'a [Fact<Assessment>],
    pub findings: &'a [Decided],
    pub rules: &'a Rules,
    pub undetermined: &'a [Undetermined],
    /// The totals that rules check one by one, such as budgets.
    pub totals: &'a [(String, RuleTotal)],
    pub unknown_machines: &'a [UnknownMachine],
    /// The rows of usage metrics that match each resource.
    pub measured: &'a Measured,
    pub verdict: Verdict,
    pub catalog: PriceSources,
    /// True if there was nothing to check. This differs from a check without findings.
    pub is_empty: bool,
    /// The name of the report's subject.
    pub title: Option<&'a str>,
    /// The catalog for further prices; none in a saved report.
    pub market: Option<&'a crate::catalog::Catalog>,
    /// The currency for people.
    pub currency: Currency,
    /// The day from which ages and deadlines count.
    pub today: Date,
}

impl<'a> Report<'a> {
    /// Returns the input of a comparison.
    pub(crate) fn judged(&self) -> EvaluatedState<'a> {
        EvaluatedState {
            sources: self.sources,
            inventory: self.inventory,
            bill: self.bill,
            findings: self.findings,
            undetermined: self.undetermined,
            totals: self.totals,
        }
    }

    pub fn resource(&self, id: Option<ResourceId>) -> Option<&'a Resource> {
        self.inventory.resources.get(id?.0)
    }

    /// Returns the name of a deployment, relative to the current directory.
    pub(super) fn name_of(&self, run: &DeploymentRun) -> String {
        let folder = self.paths.show_directory(&run.folder);
        match (&run.given_name, &run.variant) {
            (Some(name), _) => name.to_string(),
            (None, Some(variant)) => format!("{folder} ({variant})"),
            (None, None) => folder,
        }
    }

    /// Returns the address of a resource, with its overlay if several overlays make an object of that name.
    pub(super) fn called(&self, resource: &'a Resource) -> Cow<'a, str> {
        let run = resource.run.as_ref().and_then(|run| self.inventory.run(run));
        let is_one_of_several = |run: &&DeploymentRun| match run.kind {
            RunKind::Kustomization => !run.uses.is_empty(),
            RunKind::Chart => run.variant.is_some(),
            _ => false,
        };
        match run.filter(is_one_of_several) {
            Some(run) => Cow::Owned(format!("{} ({})", resource.address, self.name_of(run))),
            None => Cow::Borrowed(&resource.address),
        }
    }

    /// Returns true if the sum contains an estimate.
    pub(super) fn is_estimated(&self, role: BillingRole, per: Period) -> bool {
        let items = self.inventory.resources.iter().zip(&self.bill.items);
        items.into_iter().any(|(it, item)| it.is_added() && it.role == role && item.per == per && item.is_estimated())
    }

    /// Returns the sort key of a finding: a path and a byte. File numbers depend on the order of reading.
    pub(in crate::report) fn order(&self, finding: &Finding) -> (String, u32) {
        let span = self.sources.origin(finding.span);
        (self.sources.path(span.file), span.start)
    }

    /// Returns resources whose region is assumed, with the reason.
    pub(super) fn assumed(&self) -> impl Iterator<Item = (&'a Resource, &'a str)> {
        self.inventory.resources.iter().filter_map(|it| match it.fact(Key::Region).origin()? {
            FactOrigin::Assumed(why) => Some((it, why.as_ref())),
            _ => None,
        })
    }
}

/// The prices that were used.
#[derive(Debug, Clone, Default)]
pub struct PriceSources {
    pub version: String,
    /// Date of the newest price.
    pub as_of: String,
}
