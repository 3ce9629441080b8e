//! What a report is made of: the results of the other rooms about one tree.

use std::borrow::Cow;

use super::views::paths::Paths;
use crate::catalog::Currency;
use crate::compare::Judged;
use crate::complete::UnknownMachine;
use crate::decide::{Decided, Verdict};
use crate::fit::Assessment;
use crate::inventory::{Fact, Inventory, Key, Origin, Resource, ResourceId, Role, Run, RunKind};
use crate::measured::Measured;
use crate::pricing::{Bill, Period};
use crate::rules::{Finding, Rules, Total, Undetermined};
use crate::source::{Date, Sources};

/// Everything that a report may tell.
pub struct Report<'a> {
    pub sources: &'a Sources,
    pub paths: &'a Paths,
    /// The same for what code hosts read: they know a file by its path in the repository.
    pub hosted_paths: &'a Paths,
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    /// What is known of each resource's model; a saved report has none.
    pub fits: &'a [Fact<Assessment>],
    pub findings: &'a [Decided],
    pub rules: &'a Rules,
    pub undetermined: &'a [Undetermined],
    /// What rules about everything speak of one by one, such as budgets.
    pub totals: &'a [(String, Total)],
    pub unknown_machines: &'a [UnknownMachine],
    /// Which row of measured use is about which resource.
    pub measured: &'a Measured,
    pub verdict: Verdict,
    pub catalog: Catalog,
    /// Nothing was there to check: that is no clean tree.
    pub is_empty: bool,
    /// What it is about, as somebody names it.
    pub title: Option<&'a str>,
    /// In which other things are looked up; a saved report has none.
    pub market: Option<&'a crate::catalog::Catalog>,
    /// In which people read amounts.
    pub currency: Currency,
    /// The day by which dates are judged.
    pub today: Date,
}

impl<'a> Report<'a> {
    /// What a comparison looks at.
    pub(crate) fn judged(&self) -> Judged<'a> {
        Judged {
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

    /// What people call a run, as seen from the running directory.
    pub(super) fn name_of(&self, run: &Run) -> String {
        let folder = self.paths.show_directory(&run.folder);
        match (&run.given_name, &run.variant) {
            (Some(name), _) => name.to_string(),
            (None, Some(variant)) => format!("{folder} ({variant})"),
            (None, None) => folder,
        }
    }

    /// The address of a resource, with the overlay that makes it: others may make one of the same name.
    pub(super) fn called(&self, resource: &'a Resource) -> Cow<'a, str> {
        let run = resource.run.as_ref().and_then(|run| self.inventory.run(run));
        let is_one_of_several = |run: &&Run| match run.kind {
            RunKind::Kustomization => !run.uses.is_empty(),
            RunKind::Chart => run.variant.is_some(),
            _ => false,
        };
        match run.filter(is_one_of_several) {
            Some(run) => Cow::Owned(format!("{} ({})", resource.address, self.name_of(run))),
            None => Cow::Borrowed(&resource.address),
        }
    }

    /// Some of what such a sum counts is estimated.
    pub(super) fn is_estimated(&self, role: Role, per: Period) -> bool {
        let items = self.inventory.resources.iter().zip(&self.bill.items);
        items.into_iter().any(|(it, item)| it.is_added() && it.role == role && item.per == per && item.is_estimated())
    }

    /// Resources whose region is a setting and not in the text, and which setting.
    /// Where a finding stands, to sort by: a path and a byte. The numbers of files depend on which one was read first.
    pub(in crate::report) fn order(&self, finding: &Finding) -> (String, u32) {
        let span = self.sources.origin(finding.span);
        (self.sources.path(span.file), span.start)
    }

    pub(super) fn assumed(&self) -> impl Iterator<Item = (&'a Resource, &'a str)> {
        self.inventory.resources.iter().filter_map(|it| match it.fact(Key::Region).origin()? {
            Origin::Assumed(why) => Some((it, why.as_ref())),
            _ => None,
        })
    }
}

/// Which prices were used.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub version: String,
    /// Date of the newest row.
    pub as_of: String,
}
