//! Reads newer disks, commitments and models from a file of prices.

use std::collections::BTreeSet;

use crate::catalog::{Catalog, DatedRow, Model, Models, Money, dated_text, read_dated, read_models};
use crate::http::Error;
use crate::source::{Date, csv_line};

use super::access::malformed;
use super::guard::{MOST_CHANGE, Rejected, is_near, not_dated, short};

/// The name of the table of models.
pub const MODELS: &str = "models";

/// The maximum factor by which the size of a model may change between two updates.
const MOST_GROWTH_OF_MODEL: f64 = 1.5;

/// The accepted rows of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableUpdate {
    /// The content of the cache file.
    pub text: String,
    pub arrived: usize,
    pub rejected: Vec<Rejected>,
}

/// Accepts the rows of a table of prices that are newer than the known ones. A rejected row keeps its known values.
pub(super) fn take(
    table: &str,
    text: &str,
    day: Date,
    catalog: &Catalog,
    accept_changes: bool,
) -> Result<TableUpdate, Error> {
    let arriving = read_dated(table, table, text).map_err(|error| malformed(error.to_string()))?;
    let known = catalog.dated_rows(table);
    let mut update = TableUpdate::default();
    let mut newer: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut rows: Vec<DatedRow> = Vec::new();
    for row in arriving {
        let before = known.get(&row.key);
        let is_newer = before.is_none_or(|before| row.as_of > before.as_of);
        match refusal(&row, before, day, catalog, accept_changes).filter(|_| is_newer) {
            Some(why) => {
                update.rejected.push(Rejected { machine: named(&row), region: String::new(), why });
                rows.extend(before.cloned());
            }
            None if is_newer => {
                update.arrived += 1;
                newer.insert(row.group.clone());
                rows.push(row);
            }
            None => rows.extend(before.cloned()),
        }
    }
    // Rows of one group are only complete together.
    rows.retain(|row| newer.contains(&row.group));
    let earlier = catalog.refreshed_rows(table);
    let kept = earlier.iter().filter(|row| !newer.contains(&row.group));
    update.text = dated_text(table, kept.chain(&rows));
    Ok(update)
}

fn refusal(
    row: &DatedRow,
    before: Option<&DatedRow>,
    day: Date,
    catalog: &Catalog,
    accept_changes: bool,
) -> Option<String> {
    if before.is_none() && !catalog.providers().contains(&row.provider.as_str()) {
        return Some(format!("`{}` is not a known provider", short(&row.provider)));
    }
    if let Some(why) = not_dated(&[&row.as_of], day) {
        return Some(why);
    }
    if row.amounts.iter().flatten().any(|amount| *amount < Money::ZERO) {
        return Some("its price is below zero".to_owned());
    }
    let pairs = before.into_iter().flat_map(|before| before.amounts.iter().zip(&row.amounts));
    let mut pairs = pairs.filter_map(|(before, after)| Some(((*before)?, (*after)?)));
    let (before, after) = pairs.find(|(before, after)| !is_near(before.usd(), after.usd(), MOST_CHANGE))?;
    (!accept_changes).then(|| format!("the price changed from ${} to ${}", before.decimal(), after.decimal()))
}

/// Accepts the models that are newer than the embedded ones.
pub(super) fn take_models(text: &str, day: Date) -> Result<TableUpdate, Error> {
    let table = read_models(MODELS, text).map_err(|error| malformed(error.to_string()))?;
    let mut update = TableUpdate { text: csv_line(&table.header), ..TableUpdate::default() };
    for row in table.rows {
        let row = match row {
            Ok(row) => row,
            Err(error) => {
                update.rejected.push(Rejected {
                    machine: format!("line {}", error.line),
                    region: String::new(),
                    why: error.message,
                });
                continue;
            }
        };
        if !Models::is_newer(&row.model) {
            continue;
        }
        let known = Models::embedded(&row.model.id);
        match other_model(&row.model, known.as_ref(), day) {
            Some(why) => update.rejected.push(Rejected { machine: short(&row.model.id), region: String::new(), why }),
            None => {
                update.arrived += 1;
                update.text.push_str(&csv_line(&row.cells));
            }
        }
    }
    Ok(update)
}

/// Returns why a row cannot be the known model with its name.
fn other_model(model: &Model, known: Option<&Model>, day: Date) -> Option<String> {
    if !model.id.chars().all(|letter| letter.is_ascii_graphic()) {
        return Some("the name is not a valid model".to_owned());
    }
    let of_size = |known: &Model| !is_near(known.params_b, model.params_b, MOST_GROWTH_OF_MODEL);
    not_dated(&[&model.as_of], day).or_else(|| {
        let known = known.filter(|known| of_size(known))?;
        Some(format!("its size changed from {} to {} billion parameters", known.params_b, model.params_b))
    })
}

fn named(row: &DatedRow) -> String {
    short(&row.key.join(" "))
}
