//! The rows of bills, and which resource each is about.

use std::collections::BTreeMap;

use super::month::BillMonth;
use super::options::PaidOptions;
use super::row::{Charge, PaidRow};
use super::sums::PaidSums;
use crate::catalog::Catalog;
use crate::inventory::{Key, Resource, ResourceId};
use crate::source::Span;

/// A row with where it stands.
#[derive(Debug, Clone)]
pub struct PaidEntry {
    pub row: PaidRow,
    pub span: Span,
}

/// Which row is about which resource, and what found no partner.
#[derive(Debug, Clone, Default)]
pub struct Paid {
    /// Files that were read, whatever came of them.
    pub files: usize,
    pub rows: Vec<PaidEntry>,
    /// The places of rows, by the resource that they are about.
    pub matched: BTreeMap<ResourceId, Vec<usize>>,
    /// Rows that are about nothing here, with the reason.
    pub unmatched: Vec<(usize, String)>,
    /// Resources of which is not known what was paid for them although rows may be about them, with the reason.
    pub unpaid: BTreeMap<ResourceId, String>,
    pub options: PaidOptions,
}

impl Paid {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows that are about a resource.
    pub fn of(&self, id: ResourceId) -> impl Iterator<Item = &PaidEntry> {
        self.matched.get(&id).into_iter().flatten().filter_map(|at| self.rows.get(*at))
    }

    /// What was paid for a resource in a month; nothing where nothing was.
    pub fn sums(&self, id: ResourceId, month: BillMonth) -> Result<Option<PaidSums>, String> {
        match self.unpaid.get(&id) {
            Some(why) => Err(why.clone()),
            None => self.options.sums(self.of(id).map(|it| &it.row), month),
        }
    }

    /// Months of which the whole was billed by every provider that billed it, the last one first.
    pub fn closed_months(&self) -> Vec<BillMonth> {
        let mut months: BTreeMap<BillMonth, bool> = BTreeMap::new();
        for it in &self.rows {
            *months.entry(it.row.month).or_default() |= it.row.open;
        }
        months.into_iter().rev().filter(|(_, is_open)| !is_open).map(|(month, _)| month).collect()
    }

    /// The last one of a provider.
    pub(super) fn last_month(&self, provider: &str) -> Option<BillMonth> {
        let rows = self.rows.iter().map(|it| &it.row).filter(|it| it.provider == provider && !it.open);
        rows.map(|row| row.month).max()
    }

    /// What else a machine was called than the text calls it, in a month.
    pub fn other_machine(
        &self,
        id: ResourceId,
        resource: &Resource,
        month: BillMonth,
        catalog: &Catalog,
    ) -> Option<String> {
        let mut rows = self.of(id).map(|it| &it.row).filter(|it| it.month == month);
        rows.find_map(|row| other_machine(resource, row, catalog))
    }

    /// Resources have other places now, or none.
    pub(in crate::measured) fn keep(&mut self, moved: &impl Fn(ResourceId) -> Option<ResourceId>) {
        let matched = std::mem::take(&mut self.matched);
        for (id, places) in matched {
            match moved(id) {
                Some(id) => _ = self.matched.insert(id, places),
                None => self
                    .unmatched
                    .extend(places.into_iter().map(|at| (at, "what it is about is not looked at".to_owned()))),
            }
        }
        self.unmatched.sort();
        let unpaid = std::mem::take(&mut self.unpaid);
        self.unpaid = unpaid.into_iter().filter_map(|(id, why)| Some((moved(id)?, why))).collect();
    }
}

/// Why the money of a row is not that of a machine that the text asks for, if it is not.
fn other_machine(resource: &Resource, row: &PaidRow, catalog: &Catalog) -> Option<String> {
    let asked = resource.text(Key::Machine)?;
    let canonical =
        |name: &str| catalog.machine(&row.provider, name).map_or_else(|| name.to_owned(), |it| it.name.to_string());
    let is_other = !row.machine.is_empty() && !canonical(&row.machine).eq_ignore_ascii_case(&canonical(asked));
    (is_other && row.charge == Charge::Usage).then(|| row.machine.clone())
}
