//! A row of the price tables, as text and in memory.

use std::collections::BTreeMap;

use crate::catalog::{CatalogMachine, Money};
use crate::source::{csv_line, csv_records};

/// The rows of one provider, by machine and region.
pub(super) type Rows = BTreeMap<(String, String), PriceRow>;

/// The prices of one machine in one region.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceRow {
    pub machine: String,
    pub region: String,
    pub accelerator: String,
    pub accelerator_count: f64,
    pub vcpus: Option<f64>,
    pub memory_gib: Option<f64>,
    pub on_demand: Option<Money>,
    pub spot: Option<Money>,
    pub reserved_1y: Option<Money>,
    pub reserved_3y: Option<Money>,
    pub as_of: String,
    pub spot_as_of: String,
    pub spot_basis: String,
    pub spot_interruption: String,
    pub reserved_basis: String,
    pub source: String,
    pub confidence: String,
    pub notes: String,
}

const COLUMNS: [&str; 18] = [
    "machine",
    "region",
    "accelerator",
    "accelerator_count",
    "vcpus",
    "memory_gib",
    "on_demand_usd_per_hour",
    "spot_usd_per_hour",
    "reserved_1y_usd_per_hour",
    "reserved_3y_usd_per_hour",
    "as_of",
    "spot_as_of",
    "spot_basis",
    "spot_interruption",
    "reserved_basis",
    "source",
    "confidence",
    "notes",
];

impl PriceRow {
    /// Returns a row without prices for a machine of the catalog.
    pub(super) fn of(machine: &CatalogMachine<'_>, region: &str, as_of: &str, source: &str) -> PriceRow {
        PriceRow {
            machine: machine.name.to_string(),
            region: region.to_owned(),
            accelerator: machine.accelerator.to_string(),
            accelerator_count: machine.count,
            vcpus: machine.cpus,
            memory_gib: machine.memory_gib,
            as_of: as_of.to_owned(),
            source: source.to_owned(),
            confidence: "high".to_owned(),
            ..PriceRow::default()
        }
    }

    pub(super) fn has_price(&self) -> bool {
        [self.on_demand, self.spot, self.reserved_1y, self.reserved_3y].iter().any(Option::is_some)
    }

    fn cells(&self) -> [String; 18] {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| Money::from_usd(value).decimal());
        let money = |value: Option<Money>| value.map(Money::decimal).unwrap_or_default();
        [
            self.machine.clone(),
            self.region.clone(),
            self.accelerator.clone(),
            number(Some(self.accelerator_count)),
            number(self.vcpus),
            number(self.memory_gib),
            money(self.on_demand),
            money(self.spot),
            money(self.reserved_1y),
            money(self.reserved_3y),
            self.as_of.clone(),
            self.spot_as_of.clone(),
            self.spot_basis.clone(),
            self.spot_interruption.clone(),
            self.reserved_basis.clone(),
            self.source.clone(),
            self.confidence.clone(),
            self.notes.clone(),
        ]
    }

    fn set(&mut self, column: &str, cell: &str) {
        let number = || cell.parse::<f64>().ok();
        let money = || number().map(Money::from_usd);
        let text = || cell.to_owned();
        match column {
            "machine" => self.machine = text(),
            "region" => self.region = text(),
            "accelerator" => self.accelerator = text(),
            "accelerator_count" => self.accelerator_count = number().unwrap_or_default(),
            "vcpus" => self.vcpus = number(),
            "memory_gib" => self.memory_gib = number(),
            "on_demand_usd_per_hour" => self.on_demand = money(),
            "spot_usd_per_hour" => self.spot = money(),
            "reserved_1y_usd_per_hour" => self.reserved_1y = money(),
            "reserved_3y_usd_per_hour" => self.reserved_3y = money(),
            "as_of" => self.as_of = text(),
            "spot_as_of" => self.spot_as_of = text(),
            "spot_basis" => self.spot_basis = text(),
            "spot_interruption" => self.spot_interruption = text(),
            "reserved_basis" => self.reserved_basis = text(),
            "source" => self.source = text(),
            "confidence" => self.confidence = text(),
            "notes" => self.notes = text(),
            _ => {}
        }
    }
}

/// Reads the rows of a cache file. Skips invalid rows, because an update can fetch them again.
pub(super) fn read(text: &str) -> Vec<PriceRow> {
    read_with_provider(text).into_iter().map(|(_, row)| row).collect()
}

/// Reads a table with a column `provider`, and returns the provider of each row. It is blank if the column is missing.
pub(super) fn read_with_provider(text: &str) -> Vec<(String, PriceRow)> {
    let mut records = csv_records(text);
    let Some((_, Ok(header))) = records.next() else { return Vec::new() };
    let mut rows = Vec::new();
    for (_, record) in records {
        let Ok(cells) = record else { continue };
        let mut row = PriceRow::default();
        let mut provider = String::new();
        for (column, cell) in header.iter().zip(&cells) {
            if column == "provider" {
                cell.clone_into(&mut provider);
            }
            row.set(column, cell);
        }
        if cells.len() == header.len() && !row.machine.is_empty() && row.has_price() {
            rows.push((provider, row));
        }
    }
    rows
}

pub(super) fn text(rows: &[PriceRow]) -> String {
    rows.iter().fold(csv_line(&COLUMNS), |text, row| text + &csv_line(&row.cells()))
}

/// Returns the newer rows, and older rows for other machines and regions, sorted.
pub(super) fn merge(older: Vec<PriceRow>, newer: Vec<PriceRow>) -> Vec<PriceRow> {
    let mut rows: BTreeMap<(String, String), PriceRow> = BTreeMap::new();
    for row in older.into_iter().chain(newer) {
        rows.insert((row.machine.to_ascii_lowercase(), row.region.to_ascii_lowercase()), row);
    }
    rows.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_survive_being_written_and_read() {
        let row = PriceRow {
            machine: "p4d.24xlarge".into(),
            region: "us-east-1".into(),
            accelerator: "A100-40GB".into(),
            accelerator_count: 0.166667,
            on_demand: Some(Money::from_usd(21.957642)),
            spot_interruption: ">20%".into(),
            source: "a, \"b\"".into(),
            ..PriceRow::default()
        };
        assert_eq!(read(&text(std::slice::from_ref(&row))), [row]);
    }

    #[test]
    fn a_newer_row_replaces_an_older_one_of_the_same_place() {
        let row = |region: &str, usd: f64| PriceRow {
            machine: "m".into(),
            region: region.into(),
            on_demand: Some(Money::from_usd(usd)),
            ..PriceRow::default()
        };
        let merged = merge(vec![row("a", 1.0), row("b", 2.0)], vec![row("a", 3.0)]);
        assert_eq!(merged, [row("a", 3.0), row("b", 2.0)]);
    }
}
