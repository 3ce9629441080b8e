//! The tables of prices next to those of machines: disks and commitments. A file of newer prices can replace their rows.

use std::collections::BTreeMap;

use super::Catalog;
use super::format::{ColumnKind, CsvFile, SCHEMAS, TableError, TableSchema};
use super::money::Money;
use super::table::{CatalogBlock, Cells};
use crate::source::csv_line;

/// The names of these tables.
pub const DATED_TABLES: [&str; 3] = ["commitments", "disks", "disk_speed"];

/// A row of such a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedRow {
    pub provider: String,
    /// The cells that lookups use. Rows of one group are only complete together, such as the sizes of a disk.
    pub group: Vec<String>,
    /// The group, and the number that distinguishes its rows.
    pub key: Vec<String>,
    pub as_of: String,
    /// The prices, in the order of the columns.
    pub amounts: Vec<Option<Money>>,
    cells: Vec<String>,
}

impl DatedRow {
    fn of(schema: &TableSchema, mut row: Cells<'_>) -> Self {
        let mut dated = DatedRow {
            provider: String::new(),
            group: Vec::new(),
            key: Vec::new(),
            as_of: String::new(),
            amounts: Vec::new(),
            cells: Vec::new(),
        };
        for (at, (column, kind)) in schema.columns.iter().enumerate() {
            let cell = match kind {
                ColumnKind::Text => row.text().to_owned(),
                ColumnKind::Number => {
                    let amount = row.money();
                    if column.starts_with("usd_per_") {
                        dated.amounts.push(amount);
                    }
                    amount.map(Money::decimal).unwrap_or_default()
                }
            };
            match *column {
                "provider" => dated.provider.clone_from(&cell),
                "as_of" => dated.as_of.clone_from(&cell),
                _ => {}
            }
            if at < schema.keys {
                dated.key.push(cell.to_ascii_lowercase());
                if *kind == ColumnKind::Text {
                    dated.group.push(cell.to_ascii_lowercase());
                }
            }
            dated.cells.push(cell);
        }
        dated
    }
}

/// Reads the rows of a table. `path` is for messages.
pub fn read_dated(table: &str, path: &str, text: &str) -> Result<Vec<DatedRow>, TableError> {
    let block = CatalogBlock::load(&[CsvFile { path, stem: table, text }])?;
    Ok(rows_of(&block, table))
}

/// Returns rows in the form of a table file.
pub fn dated_text<'r>(table: &str, rows: impl IntoIterator<Item = &'r DatedRow>) -> String {
    let columns: Vec<&str> = schema(table).columns.iter().map(|(column, _)| *column).collect();
    rows.into_iter().fold(csv_line(&columns), |text, row| text + &csv_line(&row.cells))
}

fn schema(table: &str) -> &'static TableSchema {
    SCHEMAS.iter().find(|schema| schema.name == table).unwrap_or(&SCHEMAS[0])
}

fn rows_of(block: &CatalogBlock, table: &str) -> Vec<DatedRow> {
    let schema = schema(table);
    block.table(table).rows().map(|row| DatedRow::of(schema, row)).collect()
}

impl Catalog {
    /// Returns the rows of a table that lookups can return, by key.
    pub fn dated_rows(&self, table: &str) -> BTreeMap<Vec<String>, DatedRow> {
        let newest = |row: &DatedRow| {
            let keys: Vec<&str> = row.group.iter().map(String::as_str).collect();
            let rows = self.newest_rows(table, &keys);
            rows.map(|row| DatedRow::of(schema(table), row)).collect::<Vec<_>>()
        };
        let mut all = BTreeMap::new();
        for block in [Some(&self.block), self.refreshed.as_ref()].into_iter().flatten() {
            let rows = rows_of(block, table);
            let groups: BTreeMap<&Vec<String>, &DatedRow> = rows.iter().map(|row| (&row.group, row)).collect();
            all.extend(groups.into_values().flat_map(newest).map(|row| (row.key.clone(), row)));
        }
        all
    }

    /// Returns the rows of a table that an earlier update brought.
    pub fn refreshed_rows(&self, table: &str) -> Vec<DatedRow> {
        self.refreshed.as_ref().map_or_else(Vec::new, |block| rows_of(block, table))
    }

    /// Returns the rows with these keys: the refreshed ones, unless the embedded ones are newer.
    pub(super) fn newest_rows<'c>(&'c self, table: &str, keys: &[&str]) -> impl Iterator<Item = Cells<'c>> + use<'c> {
        let rows_in = |block: &'c CatalogBlock| {
            let table = block.table(table);
            (table, table.range(keys))
        };
        let (embedded, known) = rows_in(&self.block);
        let refreshed = self.refreshed.as_ref().map(rows_in);
        let newer = refreshed
            .filter(|(table, rows)| !rows.is_empty() && table.as_of(rows.start) >= embedded.as_of(known.start));
        let (table, rows) = newer.unwrap_or((embedded, known));
        rows.map(move |index| table.row(index))
    }
}
