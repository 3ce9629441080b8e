//! What a meter said: rows of `gpulint-usage.csv` become facts of the resources that they are about.
//!
//! Text says what was asked for, a meter what was used. A row becomes facts only where it is sure which resource it is
//! about, where it is fresh and covers its window, and where the text still asks for what was measured: otherwise the facts
//! are unknown, with the reason. Every row and every resource that found no partner is told.

mod facts;
mod identity;
pub mod row;

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::diagnostic::Diagnostic;
use crate::inventory::{Fact, Inventory, Key, ResourceId, Value};
use crate::source::{Date, FileId, Sources, Span};

use identity::{Claim, claims};
use row::{FILE_NAME, OBSERVER, UsageRow};

/// What is told beside the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageOptions {
    /// The files, as paths of the tree.
    pub files: Vec<String>,
    /// Rows that end longer ago are no news of today.
    pub max_age_days: f64,
    /// Rows of fewer days say too little.
    pub min_days: f64,
    /// Which cluster or account the files of some paths are deployed to.
    pub clusters: Vec<(String, String)>,
}

impl Default for UsageOptions {
    fn default() -> Self {
        UsageOptions { files: vec![FILE_NAME.to_owned()], max_age_days: 30.0, min_days: 7.0, clusters: Vec::new() }
    }
}

/// A row with where it stands.
#[derive(Debug, Clone)]
pub struct MeasuredRow {
    pub row: UsageRow,
    pub span: Span,
}

/// Which row is about which resource, and what found no partner.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    pub rows: Vec<MeasuredRow>,
    /// The places of rows, by the resource that they are about.
    pub matched: BTreeMap<ResourceId, Vec<usize>>,
    /// Rows that are about nothing here, with the reason.
    pub unmatched: Vec<(usize, String)>,
    /// Resources without a measurement that can be used, with the reason.
    pub unmeasured: Vec<(ResourceId, String)>,
}

impl Measured {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Of something measured, so many have no measurement that can be used.
    pub fn in_short(&self) -> Option<String> {
        let open = self.unmeasured.len();
        let all = self.matched.len() + self.unmeasured.iter().filter(|(id, _)| !self.matched.contains_key(id)).count();
        (!self.is_empty() && all > 0).then(|| {
            let rows = self.unmatched.len();
            let rows = if rows == 0 { String::new() } else { format!("; {rows} rows match nothing") };
            format!("measured: {} of {all} resources, {open} without a measurement that can be used{rows}", all - open)
        })
    }
}

impl Measured {
    /// Resources have other places now, or none.
    pub fn keep(&mut self, moved: impl Fn(ResourceId) -> Option<ResourceId>) {
        let matched = std::mem::take(&mut self.matched);
        self.matched = matched.into_iter().filter_map(|(id, rows)| Some((moved(id)?, rows))).collect();
        let unmeasured = std::mem::take(&mut self.unmeasured);
        self.unmeasured = unmeasured.into_iter().filter_map(|(id, why)| Some((moved(id)?, why))).collect();
    }
}

/// Reads the files that are there, and fills the facts of what they are about.
pub fn measure(
    inventory: &mut Inventory,
    sources: &Sources,
    options: &UsageOptions,
    catalog: &Catalog,
    today: Option<Date>,
) -> Measured {
    let mut measured = Measured::default();
    for path in &options.files {
        // That a file which the settings name is there was looked after when they were read.
        let Ok(file) = sources.open(path) else { continue };
        read(inventory, sources, file, &mut measured.rows);
    }
    if measured.rows.is_empty() {
        return measured;
    }
    let claims = claims(inventory, sources, options, &measured.rows);
    let judge = facts::Judge { options, catalog, today };
    let mut used = vec![false; measured.rows.len()];
    for (id, claim) in claims {
        let Some(resource) = inventory.resources.get_mut(id.0) else { continue };
        match claim {
            Claim::Rows { places, is_sure } => {
                let rows: Vec<&MeasuredRow> = places.iter().filter_map(|at| measured.rows.get(*at)).collect();
                let unusable = judge.tell(resource, &rows, is_sure);
                places.iter().for_each(|at| mark(&mut used, *at));
                measured.matched.insert(id, places);
                measured.unmeasured.extend(unusable.map(|why| (id, why)));
            }
            Claim::Open { why, places } => {
                let span = places.first().and_then(|at| measured.rows.get(*at)).map_or(resource.span, |it| it.span);
                facts::forget(resource, &why, span);
                places.iter().for_each(|at| mark(&mut used, *at));
                for at in places {
                    measured.unmatched.push((at, why.clone()));
                }
                measured.unmeasured.push((id, why));
            }
            Claim::Nothing => {
                if let Some(span) = judge.was_watched(resource, &measured.rows, sources) {
                    resource.set(Key::MeasuredSeen, Fact::written(Value::Flag(false), span));
                }
                measured.unmeasured.push((id, "no row is about it".to_owned()));
            }
        }
    }
    for (at, it) in measured.rows.iter().enumerate() {
        if !used.get(at).copied().unwrap_or(true) && it.row.kind != OBSERVER {
            measured.unmatched.push((at, "nothing here has this name".to_owned()));
        }
    }
    measured.unmatched.sort();
    measured.unmatched.dedup_by_key(|(at, _)| *at);
    measured
}

fn mark(used: &mut [bool], at: usize) {
    if let Some(it) = used.get_mut(at) {
        *it = true;
    }
}

fn read(inventory: &mut Inventory, sources: &Sources, file: FileId, rows: &mut Vec<MeasuredRow>) {
    let text = sources.text(file);
    let lines: Vec<(usize, usize)> = spans_of_lines(&text);
    let place = |line: usize| {
        let (start, end) = lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        Span::new(file, start, end)
    };
    let wrong = match row::read(&text) {
        Ok((found, wrong)) => {
            rows.extend(found.into_iter().map(|row| MeasuredRow { span: place(row.line), row }));
            wrong
        }
        Err(error) => vec![error],
    };
    for error in wrong {
        inventory.diagnostics.push(
            Diagnostic::unreadable(error.message, place(error.line))
                .with_help("`gpulint usage show --columns` lists what a row may hold"),
        );
    }
}

fn spans_of_lines(text: &str) -> Vec<(usize, usize)> {
    let mut start = 0;
    let line = |line: &str| {
        let (from, to) = (start, start + line.trim_end_matches(['\n', '\r']).len());
        start += line.len();
        (from, to)
    };
    text.split_inclusive('\n').map(line).collect()
}
