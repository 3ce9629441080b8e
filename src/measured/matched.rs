//! Defines the rows that were read, with their resources.

use std::collections::BTreeMap;

use super::paid::{Paid, PaidOptions};
use super::row::{FILE_NAME, UsageRow};
use crate::inventory::ResourceId;
use crate::source::Span;

/// The settings for usage metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageOptions {
    /// The usage files, as paths of the tree.
    pub files: Vec<String>,
    /// The age in days from which rows are outdated.
    pub max_age_days: f64,
    /// Rows with fewer days are not used.
    pub min_days: f64,
    /// The cluster or account to which files of a path pattern are deployed.
    pub clusters: Vec<(String, String)>,
    /// The settings for bills.
    pub paid: PaidOptions,
}

impl Default for UsageOptions {
    fn default() -> Self {
        UsageOptions {
            files: vec![FILE_NAME.to_owned()],
            max_age_days: 30.0,
            min_days: 7.0,
            clusters: Vec::new(),
            paid: PaidOptions::default(),
        }
    }
}

/// A row with its place.
#[derive(Debug, Clone)]
pub struct MeasuredRow {
    pub row: UsageRow,
    pub span: Span,
}

/// The matches between rows and resources, and everything without a match.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The number of files that were read, including unusable ones.
    pub files: usize,
    pub rows: Vec<MeasuredRow>,
    /// The indexes of rows by resource.
    pub matched: BTreeMap<ResourceId, Vec<usize>>,
    /// Rows that match no resource, with the reason.
    pub unmatched: Vec<(usize, String)>,
    /// Resources without a usable measurement, with the reason.
    pub unmeasured: Vec<(ResourceId, String)>,
    /// The matches of bills.
    pub paid: Paid,
}

impl Measured {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of resources with and without usable metrics, in one line.
    pub fn in_short(&self) -> Option<String> {
        let open = self.unmeasured.len();
        let all = self.matched.len() + self.unmeasured.iter().filter(|(id, _)| !self.matched.contains_key(id)).count();
        (!self.is_empty() && all > 0).then(|| {
            let rows = self.unmatched.len();
            let rows = if rows == 0 { String::new() } else { format!("; rows that match no resource: {rows}") };
            format!("usage metrics: {} of {all} resources, {open} without a usable measurement{rows}", all - open)
        })
    }
}

impl Measured {
    /// Updates the resource indexes after resources were moved or removed.
    pub fn keep(&mut self, moved: impl Fn(ResourceId) -> Option<ResourceId>) {
        self.paid.keep(&moved);
        let matched = std::mem::take(&mut self.matched);
        self.matched = matched.into_iter().filter_map(|(id, rows)| Some((moved(id)?, rows))).collect();
        let unmeasured = std::mem::take(&mut self.unmeasured);
        self.unmeasured = unmeasured.into_iter().filter_map(|(id, why)| Some((moved(id)?, why))).collect();
    }
}
