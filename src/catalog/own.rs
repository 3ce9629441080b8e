//! Custom prices, which override those of the catalog.

use std::sync::Arc;

use super::Catalog;
use super::book::{self, Export};
use super::format::{TableError, millionths};
use super::machine::CatalogMachine;
use super::money::Money;
use super::table::covers;
use crate::source::csv_records;

/// Custom prices of a user: from a contract, or for own hardware.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnPrices {
    /// The lines in file order. The last one that matches a machine wins.
    rows: Arc<[OwnPrice]>,
}

/// One line of a price file. `provider`, `machine`, `accelerator` and `region` are patterns; blank matches everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OwnPrice {
    pub(super) line: usize,
    pub(super) provider: String,
    pub(super) machine: String,
    pub(super) accelerator: String,
    pub(super) region: String,
    accelerator_count: Option<f64>,
    pub(super) vcpus: Option<f64>,
    pub(super) memory_gib: Option<f64>,
    pub(super) on_demand: Option<Money>,
    pub(super) spot: Option<Money>,
    pub(super) reserved_1y: Option<Money>,
    pub(super) reserved_3y: Option<Money>,
    /// The dollars per unit of the prices' currency, in millionths.
    pub(super) usd_per_unit: i64,
    /// Whether the prices are for one accelerator instead of the machine.
    pub(super) per_accelerator: bool,
}

impl OwnPrices {
    /// Reads CSV with the header of a billing export, or of the price tables. Columns of the price tables can have any
    /// order and can be missing.
    pub(super) fn read(
        path: &str,
        text: &str,
        usd_per_unit: Option<f64>,
        catalog: &Catalog,
    ) -> Result<Self, TableError> {
        let error = |line: usize, message: String| TableError { path: path.to_owned(), line, message };
        let mut records = csv_records(text);
        let header = match records.next() {
            Some((line, header)) => header.map_err(|message| error(line, message))?,
            None => return Err(error(1, "the file is empty, and needs a header".into())),
        };
        let rate = (usd_per_unit.unwrap_or(1.0) * 1e6).round() as i64;
        if let Some(export) = Export::of(&header) {
            let mut billed = Vec::new();
            for (line, record) in records {
                let record = record.map_err(|message| error(line, message))?;
                let Some(it) = export.read(&record, catalog) else { continue };
                if usd_per_unit.is_none() && !matches!(it.currency.as_str(), "" | "USD") {
                    let what =
                        format!("it is billed in {}: set `prices.usd_per_unit` to the dollars per unit", it.currency);
                    return Err(error(line, what));
                }
                billed.push((line, it));
            }
            if billed.is_empty() {
                return Err(error(1, "this export has no hourly charge for a machine with accelerators".into()));
            }
            return Ok(OwnPrices { rows: book::rows(billed, rate).into() });
        }
        let usd_per_unit = rate;
        let mut rows = Vec::new();
        for (line, record) in records {
            let record = record.map_err(|message| error(line, message))?;
            if record.len() != header.len() {
                return Err(error(
                    line,
                    format!("the line has {} cells, but the header has {}", record.len(), header.len()),
                ));
            }
            let mut row = OwnPrice { line, usd_per_unit, ..OwnPrice::default() };
            for (column, cell) in header.iter().zip(record) {
                row.set(column, cell).map_err(|message| error(line, message))?;
            }
            let prices = [row.on_demand, row.spot, row.reserved_1y, row.reserved_3y];
            if prices.iter().all(Option::is_none) {
                return Err(error(line, "the line has no price".into()));
            }
            if prices.iter().flatten().any(|price| *price < Money::ZERO) {
                return Err(error(line, "a price is below zero".into()));
            }
            rows.push(row);
        }
        Ok(OwnPrices { rows: rows.into() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn find(&self, machine: &CatalogMachine<'_>, region: &str) -> Option<&OwnPrice> {
        self.rows.iter().rev().find(|row| {
            covers_or_blank(&row.provider, &machine.provider)
                && covers_or_blank(&row.machine, &machine.name)
                && covers_or_blank(&row.accelerator, &machine.accelerator)
                && covers_or_blank(&row.region, region)
        })
    }

    /// Returns the provider and the name of each machine that a line describes, without duplicates.
    pub(super) fn machines(&self) -> impl Iterator<Item = (&str, &str)> {
        let describes = |row: &&OwnPrice| row.accelerator_count.is_some() && !row.accelerator.is_empty();
        let rows = self.rows.iter().filter(describes).filter(|row| is_plain(&row.provider) && is_plain(&row.machine));
        let mut seen = std::collections::BTreeSet::new();
        rows.map(|row| (&*row.provider, &*row.machine)).filter(move |(provider, machine)| {
            seen.insert((provider.to_ascii_lowercase(), machine.to_ascii_lowercase()))
        })
    }

    /// Returns the regions in the lines for this machine. A line for any region counts as a region.
    pub(super) fn regions<'o>(&'o self, machine: &CatalogMachine<'_>) -> Vec<&'o str> {
        let is_of = |row: &&OwnPrice| {
            !row.machine.is_empty()
                && covers_or_blank(&row.provider, &machine.provider)
                && covers(&row.machine, &machine.name)
                && covers_or_blank(&row.accelerator, &machine.accelerator)
        };
        let describes_it = |row: &OwnPrice| {
            row.accelerator_count.is_some()
                && row.provider.eq_ignore_ascii_case(&machine.provider)
                && row.machine.eq_ignore_ascii_case(&machine.name)
        };
        let named = self.rows.iter().filter(is_of).filter_map(|row| match row.region.as_str() {
            "" => describes_it(row).then_some("*"),
            region => (is_plain(region) || describes_it(row)).then_some(region),
        });
        named.collect()
    }

    /// Returns the regions that the lines contain for a provider.
    pub(super) fn regions_of<'o>(&'o self, provider: &str) -> impl Iterator<Item = &'o str> {
        let of_it = self.rows.iter().filter(move |row| row.provider.eq_ignore_ascii_case(provider));
        of_it.map(|row| row.region.as_str()).filter(|region| is_plain(region))
    }

    /// Returns the line that describes a machine by its exact name, and its number of accelerators.
    pub(super) fn machine(&self, provider: &str, name: &str) -> Option<(&OwnPrice, f64)> {
        self.rows.iter().rev().find_map(|row| {
            let is_it = row.provider.eq_ignore_ascii_case(provider) && row.machine.eq_ignore_ascii_case(name);
            let count = row.accelerator_count.filter(|_| is_it && !row.accelerator.is_empty())?;
            Some((row, count))
        })
    }
}

impl OwnPrice {
    pub(super) fn of_machine(provider: String, machine: String, region: String, usd_per_unit: i64) -> Self {
        OwnPrice { provider, machine, region, usd_per_unit, ..OwnPrice::default() }
    }

    fn set(&mut self, column: &str, cell: String) -> Result<(), String> {
        let number = || match cell.as_str() {
            "" => Ok(None),
            cell => millionths(cell).map(Some).ok_or_else(|| format!("`{cell}` is not a number for `{column}`")),
        };
        let money = || number().map(|value| value.map(Money::from_micros));
        let count = || number().map(|value| value.map(|value| value as f64 / 1e6));
        match column {
            "provider" => self.provider = cell,
            "machine" => self.machine = cell,
            "accelerator" => self.accelerator = cell,
            "region" => self.region = cell,
            "accelerator_count" => self.accelerator_count = count()?,
            "vcpus" => self.vcpus = count()?,
            "memory_gib" => self.memory_gib = count()?,
            "on_demand_usd_per_hour" => self.on_demand = money()?,
            "spot_usd_per_hour" => self.spot = money()?,
            "reserved_1y_usd_per_hour" => self.reserved_1y = money()?,
            "reserved_3y_usd_per_hour" => self.reserved_3y = money()?,
            "per" => {
                self.per_accelerator = match cell.as_str() {
                    "" | "machine" => false,
                    "accelerator" => true,
                    other => return Err(format!("`per` must be machine or accelerator, not `{other}`")),
                }
            }
            "as_of" | "source" | "notes" => {}
            other => {
                return Err(format!(
                    "column `{other}` is not one of provider, machine, accelerator, region, accelerator_count, vcpus, \
                     memory_gib, on_demand_usd_per_hour, spot_usd_per_hour, reserved_1y_usd_per_hour, \
                     reserved_3y_usd_per_hour, per, as_of, source, notes"
                ));
            }
        }
        Ok(())
    }
}

/// Whether the string is a name and not a pattern.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(['*', '#'])
}

fn covers_or_blank(pattern: &str, name: &str) -> bool {
    pattern.is_empty() || covers(pattern, name)
}
