//! Turns usage metrics, the rows of `gpulint-usage.csv`, into facts of the resources that they match.
//!
//! Files show what is requested, and metrics show what was used. A row becomes facts only if it matches exactly one
//! resource, is recent and covers its window, and if the configuration still requests what was measured. Otherwise the
//! facts are unknown, with the reason. Reports list every row and every resource without a match.

mod facts;
mod identity;
mod lines;
mod matched;
pub mod paid;
pub mod row;

pub use matched::{Measured, MeasuredRow, UsageOptions};

use std::collections::HashMap;

use crate::catalog::Catalog;
use crate::inventory::{Fact, FactValue, Inventory, Key, MeterName, Resource};
use crate::source::{Date, FileId, SourceFiles, Span};

use identity::{Claim, claims, cluster_of};
use lines::{spans_of_lines, wrong_rows};
use row::{OBSERVER, UsageError, UsageRow};

/// Matches metrics and bills with resources.
pub fn measure(
    inventory: &mut Inventory,
    sources: &SourceFiles,
    options: &UsageOptions,
    catalog: &Catalog,
    today: Option<Date>,
) -> Measured {
    let paid = paid::fill_billed_facts(inventory, sources, &options.paid, catalog, today, |it| {
        cluster_of(it, sources, options)
    });
    Measured { paid, ..metered(inventory, sources, options, catalog, today) }
}

/// Reads the available files, and sets the facts of matching resources.
fn metered(
    inventory: &mut Inventory,
    sources: &SourceFiles,
    options: &UsageOptions,
    catalog: &Catalog,
    today: Option<Date>,
) -> Measured {
    let mut measured = Measured::default();
    for path in &options.files {
        // Reading the settings already checked that a configured file exists.
        let Ok(file) = sources.open(path) else { continue };
        measured.files += 1;
        read(inventory, sources, file, &mut measured.rows);
    }
    if measured.rows.is_empty() {
        return measured;
    }
    let claims = claims(inventory, sources, options, &measured.rows);
    let judge = facts::Judge { options, catalog, today };
    let observers = facts::Observers::new(&measured.rows, options, today);
    let mut used = vec![false; measured.rows.len()];
    let mut unseen = Vec::new();
    for (id, claim) in claims {
        let Some(resource) = inventory.resources.get_mut(id.0) else { continue };
        match claim {
            Claim::Rows { places, is_sure } => {
                let rows: Vec<&MeasuredRow> = places.iter().filter_map(|at| measured.rows.get(*at)).collect();
                let unusable = judge.set_measured_facts(resource, &rows, is_sure);
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
                let watched = observers.watched(resource, cluster_of(resource, sources, options));
                unseen.extend(watched.map(|watched| (id, watched)));
                measured.unmeasured.push((id, "no row of the usage metrics matches it".to_owned()));
            }
        }
    }
    for (at, it) in measured.rows.iter().enumerate() {
        if !used.get(at).copied().unwrap_or(true) && it.row.kind != OBSERVER {
            measured.unmatched.push((at, "no resource here has this name".to_owned()));
        }
    }
    for (id, (window, span)) in unseen {
        let Some(resource) = inventory.resources.get_mut(id.0) else { continue };
        let seen = match renamed(resource, &measured, &judge) {
            Some((name, row)) => Fact::unknown(format!("it may be the workload that was measured as {name}"), row),
            None => Fact::written(FactValue::Flag(false), span),
        };
        resource.set(Key::MeasuredSeen, seen);
        resource.set(Key::MeasuredWindow, Fact::written(FactValue::text(window), span));
    }
    measured.unmatched.sort();
    measured.unmatched.dedup_by_key(|(at, _)| *at);
    measured
}

/// Returns an unmatched row of the same kind, namespace and accelerators: the workload may have had another name when
/// it was measured.
fn renamed(resource: &Resource, measured: &Measured, judge: &facts::Judge<'_>) -> Option<(String, Span)> {
    let alike = |row: &UsageRow, it: &MeterName| {
        it.kind.as_deref() == Some(row.kind.as_str()) && it.namespace.as_deref() == Some(row.namespace.as_str())
    };
    let unmatched = measured.unmatched.iter().filter_map(|(at, _)| measured.rows.get(*at));
    let is_it =
        |row: &UsageRow| resource.metered.iter().any(|name| alike(row, name)) && judge.changed(resource, row).is_none();
    let found = { unmatched }.find(|it| is_it(&it.row))?;
    Some((format!("{}/{}/{}", found.row.namespace, found.row.kind, found.row.name), found.span))
}

fn mark(used: &mut [bool], at: usize) {
    if let Some(it) = used.get_mut(at) {
        *it = true;
    }
}

fn read(inventory: &mut Inventory, sources: &SourceFiles, file: FileId, rows: &mut Vec<MeasuredRow>) {
    let text = sources.text(file);
    let lines: Vec<(usize, usize)> = spans_of_lines(&text);
    let place = |line: usize| {
        let (start, end) = lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        Span::new(file, start, end)
    };
    let wrong = match row::read(&text) {
        Ok((found, mut wrong)) => {
            let mut known: HashMap<String, usize> = HashMap::new();
            for row in found {
                match known.insert(row.identity(), row.line) {
                    None => rows.push(MeasuredRow { span: place(row.line), row }),
                    // Reports rows with the same identity: two clusters without names, or one cluster that was added
                    // twice.
                    Some(before) => wrong.push(UsageError {
                        line: row.line,
                        message: format!(
                            "line {before} has the same workload and days, so gpulint ignores this row; if they are two workloads, set `cluster`"
                        ),
                    }),
                }
            }
            wrong
        }
        Err(error) => vec![error],
    };
    wrong_rows(inventory, wrong, place, "list the columns: `gpulint usage show --columns`");
}
