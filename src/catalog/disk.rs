//! The monthly price of a disk by kind and size.

use super::Catalog;
use super::clouds::{AWS, AZURE, GCP};
use super::money::Money;
use super::table::Cells;

/// The monthly price of a disk of some size.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskPrice<'c> {
    pub kind: &'c str,
    /// The region of the price. If the requested region is a different one, the price is an estimate.
    pub region: &'c str,
    pub per_month: Money,
    /// The price per GiB, for disks that are sold this way.
    pub per_gib: Option<Money>,
    /// The size that is billed, for disks that are sold only in some sizes.
    pub size_gib: Option<f64>,
    pub as_of: &'c str,
    pub source: &'c str,
}

/// A property of a disk that is billed separately from its size, by its name in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meter {
    Iops,
    MibPerSecond,
}

impl Meter {
    pub fn name(self) -> &'static str {
        match self {
            Meter::Iops => "iops",
            Meter::MibPerSecond => "mib_per_second",
        }
    }
}

/// The prices for the speed of a kind of disk. Each step sets the price per unit above an amount.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskSpeedPrice<'c> {
    /// The region of the prices. If the requested region is a different one, the price is an estimate.
    pub region: &'c str,
    /// The amount that the price of the disk includes.
    pub included: f64,
    steps: Vec<(f64, Money)>,
    pub as_of: &'c str,
    pub source: &'c str,
}

impl DiskSpeedPrice<'_> {
    /// Returns the monthly price of this amount.
    pub fn price(&self, amount: f64) -> Money {
        let ends = self.steps.iter().skip(1).map(|(above, _)| *above).chain([f64::INFINITY]);
        let parts = self.steps.iter().zip(ends);
        parts.fold(Money::ZERO, |sum, ((above, each), end)| sum + each.times((amount.min(end) - above).max(0.0)))
    }
}

struct Row<'c> {
    kind: &'c str,
    region: &'c str,
    up_to_gib: Option<f64>,
    usd_per_gib_month: Option<Money>,
    usd_per_month: Option<Money>,
    as_of: &'c str,
    source: &'c str,
}

impl Catalog {
    /// Returns a disk by its type. Without a type, the provider's default type applies.
    pub fn disk(&self, provider: &str, kind: Option<&str>, region: &str, gib: f64) -> Option<DiskPrice<'_>> {
        let usual = match provider {
            AWS => "gp3",
            GCP => "pd-balanced",
            AZURE => "Premium_LRS",
            _ => return None,
        };
        let rows = |region: &str| self.newest_rows("disks", &[provider, kind.unwrap_or(usual), region]).peekable();
        let mut here = rows(region);
        if here.peek().is_none() {
            here = rows(self.base_region(provider));
        }
        // Disks that are sold by size cost as much as the next larger size.
        let mut sizes = here.map(read);
        let row = sizes.find(|row| row.up_to_gib.is_none_or(|most| gib <= most))?;
        let per_month = row.usd_per_month.or_else(|| row.usd_per_gib_month.map(|price| price.times(gib)))?;
        Some(DiskPrice {
            kind: row.kind,
            region: row.region,
            per_month,
            per_gib: row.usd_per_gib_month,
            size_gib: row.up_to_gib,
            as_of: row.as_of,
            source: row.source,
        })
    }

    /// Returns the prices for the speed of a kind of disk. `None` if there is no separate or no known price.
    pub fn disk_speed(&self, provider: &str, kind: &str, region: &str, meter: Meter) -> Option<DiskSpeedPrice<'_>> {
        let rows = |region: &str| self.newest_rows("disk_speed", &[provider, kind, region, meter.name()]).peekable();
        let mut here = rows(region);
        if here.peek().is_none() {
            here = rows(self.base_region(provider));
        }
        let mut speed: Option<DiskSpeedPrice<'_>> = None;
        for mut row in here {
            let (_provider, _kind, region, _meter) = (row.text(), row.text(), row.text(), row.text());
            let (above, each) = (row.number()?, row.money()?);
            let (as_of, source) = (row.text(), row.text());
            let first = || DiskSpeedPrice { region, included: above, steps: Vec::new(), as_of, source };
            speed.get_or_insert_with(first).steps.push((above, each));
        }
        speed
    }
}

fn read(mut row: Cells<'_>) -> Row<'_> {
    let (_provider, kind, region, up_to_gib) = (row.text(), row.text(), row.text(), row.number());
    let (usd_per_gib_month, usd_per_month) = (row.money(), row.money());
    let (as_of, source) = (row.text(), row.text());
    Row { kind, region, up_to_gib, usd_per_gib_month, usd_per_month, as_of, source }
}
