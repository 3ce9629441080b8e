//! Defines the rows of bills, with their resources.

use std::collections::BTreeMap;
use std::fmt;

use super::month::BillMonth;
use super::options::PaidOptions;
use super::row::{Charge, PaidRow};
use super::sums::PaidSums;
use crate::catalog::Catalog;
use crate::inventory::{Key, Resource, ResourceId};
use crate::source::Span;

/// A row with its place.
#[derive(Debug, Clone)]
pub struct PaidEntry {
    pub row: PaidRow,
    pub span: Span,
}

/// The matches between rows and resources, and everything without a match.
#[derive(Debug, Clone, Default)]
pub struct Paid {
    /// The number of files that were read, including unusable ones.
    pub files: usize,
    pub rows: Vec<PaidEntry>,
    /// The indexes of rows by resource.
    pub matched: BTreeMap<ResourceId, Vec<usize>>,
    /// Rows that match no resource, with the reason.
    pub unmatched: Vec<(usize, NoPartner)>,
    /// Resources whose billed cost is unknown although rows may match them, with the reason.
    pub unpaid: BTreeMap<ResourceId, String>,
    pub options: PaidOptions,
}

/// The reason why a row matches no resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoPartner {
    /// The bill contains no name for the charge.
    Unnamed,
    /// No resource has the name on the bill.
    Nowhere,
    /// The only resource with this label requests another machine: its address.
    OtherMachine(String),
    /// Several resources have the name: their number, and the first addresses.
    Several(usize, String),
    /// The resource was billed in these clusters under one name.
    Clusters(String),
    /// The resource is not part of this analysis.
    Aside,
}

impl NoPartner {
    /// Returns the name of the reason in JSON.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            NoPartner::Unnamed => "unnamed",
            NoPartner::Nowhere => "nowhere",
            NoPartner::OtherMachine(_) => "other_machine",
            NoPartner::Several(..) => "several",
            NoPartner::Clusters(_) => "clusters",
            NoPartner::Aside => "aside",
        }
    }

    /// Returns true if no file here defines the billed machine.
    pub(super) fn is_nowhere(&self) -> bool {
        matches!(self, NoPartner::Unnamed | NoPartner::Nowhere | NoPartner::OtherMachine(_))
    }
}

impl fmt::Display for NoPartner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPartner::Unnamed => f.write_str("the bill contains no name for it"),
            NoPartner::Nowhere => f.write_str("no resource here has this name"),
            NoPartner::OtherMachine(address) => write!(f, "{address} has this label but requests another machine type"),
            NoPartner::Several(count, first) => write!(f, "{count} resources here match it: {first}"),
            NoPartner::Clusters(names) => {
                write!(f, "billed in several clusters: {names}; set the right one in `measured.clusters`")
            }
            NoPartner::Aside => f.write_str("its resource is not part of this report"),
        }
    }
}

impl Paid {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows of a resource.
    pub fn of(&self, id: ResourceId) -> impl Iterator<Item = &PaidEntry> {
        self.matched.get(&id).into_iter().flatten().filter_map(|at| self.rows.get(*at))
    }

    /// Returns the billed cost of a resource in a month; none without charges.
    pub fn sums(&self, id: ResourceId, month: BillMonth) -> Result<Option<PaidSums>, String> {
        match self.unpaid.get(&id) {
            Some(why) => Err(why.clone()),
            None => self.options.sums(self.of(id).map(|it| &it.row), month),
        }
    }

    /// Returns the months that every provider billed in full, the last one first.
    pub fn closed_months(&self) -> Vec<BillMonth> {
        let mut months: BTreeMap<BillMonth, bool> = BTreeMap::new();
        for it in &self.rows {
            *months.entry(it.row.month).or_default() |= it.row.open;
        }
        months.into_iter().rev().filter(|(_, is_open)| !is_open).map(|(month, _)| month).collect()
    }

    /// Returns the days of a month that the bill of a provider covers, from its start; none if its rows do not
    /// contain them.
    pub fn billed_days(&self, provider: &str, month: BillMonth) -> Option<f64> {
        let rows = || self.rows.iter().map(|it| &it.row).filter(|it| it.provider == provider && it.month == month);
        let told = rows().filter_map(|it| it.billed_days).max();
        match rows().any(|it| it.open) {
            true => told.map(|days| days.as_f64().clamp(0.0, month.days())),
            false => rows().next().map(|_| month.days()),
        }
    }

    /// Returns the last closed month of a provider.
    pub(super) fn last_month(&self, provider: &str) -> Option<BillMonth> {
        let rows = self.rows.iter().map(|it| &it.row).filter(|it| it.provider == provider && !it.open);
        rows.map(|row| row.month).max()
    }

    /// Returns another machine type that the bill of a month contains for the resource.
    pub fn other_machine(
        &self,
        id: ResourceId,
        resource: &Resource,
        month: BillMonth,
        catalog: &Catalog,
    ) -> Option<String> {
        let mut rows = self.of(id).map(|it| &it.row).filter(|it| it.month == month && it.charge == Charge::Usage);
        rows.find(|row| is_other_machine(resource, row, catalog)).map(|row| row.machine.clone())
    }

    /// Returns the mean number of machines that commitments covered in a month.
    pub(super) fn committed_machines(&self, id: ResourceId, resource: &Resource, month: BillMonth) -> Option<f64> {
        let is_used = |row: &&PaidRow| row.month == month && row.charge == Charge::Usage;
        let hours = self.of(id).map(|it| &it.row).filter(is_used).map(|row| {
            // If a bill names only accelerators, its hours are accelerator hours.
            let part = match (row.machine.is_empty(), row.gpus, resource.number(Key::AcceleratorCount)) {
                (true, Some(gpus), Some(count)) if count > 0.0 => gpus / count,
                _ => 1.0,
            };
            row.committed.unwrap_or_default().as_f64() * part
        });
        Some(hours.sum::<f64>() / month.hours()).filter(|it| it.is_finite())
    }

    /// Updates the resource indexes after resources were moved or removed.
    pub(in crate::measured) fn keep(&mut self, moved: &impl Fn(ResourceId) -> Option<ResourceId>) {
        let matched = std::mem::take(&mut self.matched);
        for (id, places) in matched {
            match moved(id) {
                Some(id) => _ = self.matched.insert(id, places),
                None => self.unmatched.extend(places.into_iter().map(|at| (at, NoPartner::Aside))),
            }
        }
        self.unmatched.sort();
        let unpaid = std::mem::take(&mut self.unpaid);
        self.unpaid = unpaid.into_iter().filter_map(|(id, why)| Some((moved(id)?, why))).collect();
    }
}

/// Returns true if the row is for another machine type than the configuration requests.
pub(super) fn is_other_machine(resource: &Resource, row: &PaidRow, catalog: &Catalog) -> bool {
    let Some(asked) = resource.text(Key::Machine) else { return false };
    let canonical =
        |name: &str| catalog.machine(&row.provider, name).map_or_else(|| name.to_owned(), |it| it.name.to_string());
    !row.machine.is_empty() && !canonical(&row.machine).eq_ignore_ascii_case(&canonical(asked))
}
