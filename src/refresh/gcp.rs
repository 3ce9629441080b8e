//! Reads Google Cloud's SKUs: the price of a machine is the sum of cores, memory, accelerators and local disks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalog::{Catalog, CatalogMachine, GCP, Money, covers};
use crate::http::{Credential, Error, HttpErrorKind, HttpMethod, HttpRequest};

use super::access::{Access, FetchedPrices, LONGEST_LINK, MOST_ROWS, PriceSource, malformed};
use super::guard::Rejected;
use super::row::PriceRow;

/// The service ID of Compute Engine.
const SERVICE: &str = "6F81-5844-456A";
/// A page has five thousand SKUs, and the service has about forty thousand.
const MOST_PAGES: usize = 100;
const HOURS_PER_MONTH: i128 = 730;
const BILLION: i128 = 1_000_000_000;
/// The maximum price of a part, because an accelerator costs only some dollars per hour.
const DEAREST_PART_USD: i128 = 1000;
const LOCAL_DISK: &str = "SSD backed Local Storage";

/// The SKUs of a machine family, and the local disk that each accelerator includes.
struct Family {
    pattern: &'static str,
    core: &'static str,
    memory: &'static str,
    accelerator: &'static str,
    disk_gib: i128,
}

/// The source is Google's page of accelerator-optimized machine types and the descriptions of its SKUs, 2026-05.
const FAMILIES: &[Family] = &[
    family("a2-highgpu-*", "A2", "Nvidia Tesla A100 GPU", 0),
    family("a2-megagpu-*", "A2", "Nvidia Tesla A100 GPU", 0),
    family("a2-ultragpu-*", "A2", "Nvidia Tesla A100 80GB GPU", 375),
    family("a3-highgpu-*", "A3", "Nvidia H100 80GB GPU", 750),
    Family {
        core: "A3Plus Instance Core",
        memory: "A3Plus Instance Ram",
        ..family("a3-megagpu-*", "A3", "Nvidia H100 80GB Plus GPU", 750)
    },
    Family {
        core: "A3Ultra Instance Core",
        memory: "A3Ultra Instance Ram",
        ..family("a3-ultragpu-*", "A3", "Nvidia H200 141GB GPU", 1500)
    },
    family("g2-standard-*", "G2", "Nvidia L4 GPU", 0),
];

const fn family(pattern: &'static str, series: &'static str, accelerator: &'static str, disk_gib: i128) -> Family {
    let (core, memory) = match series.as_bytes() {
        b"A2" => ("A2 Instance Core", "A2 Instance Ram"),
        b"A3" => ("A3 Instance Core", "A3 Instance Ram"),
        _ => ("G2 Instance Core", "G2 Instance Ram"),
    };
    Family { pattern, core, memory, accelerator, disk_gib }
}

pub(super) fn fetch(catalog: &Catalog, access: &Access<'_>) -> Result<FetchedPrices, Error> {
    let credential = match access.key.clone() {
        Some(value) => Credential::Header { name: "x-goog-api-key", value },
        None => Credential::Anonymous,
    };
    let client = access.client(PriceSource::Gcp, credential)?;
    let mut meters = Meters::default();
    let mut token = String::new();
    let mut seen = BTreeSet::new();
    loop {
        (access.progress)(&format!("Google Cloud SKUs, page {}", seen.len() + 1));
        let mut request =
            HttpRequest::new(HttpMethod::Get, ["v1", "services", SERVICE, "skus"]).query("currencyCode", "USD");
        if !token.is_empty() {
            request = request.query("pageToken", &token);
        }
        let page = client.send(&request)?.json()?;
        let skus = page.get("skus").and_then(Value::as_array);
        for sku in skus.ok_or_else(|| malformed("a page of Google Cloud has no SKUs"))? {
            meters.read(sku);
        }
        token = page.get("nextPageToken").and_then(Value::as_str).unwrap_or_default().to_owned();
        if token.is_empty() {
            break;
        }
        if meters.on_demand.len() + meters.spot.len() > MOST_ROWS {
            return Err(malformed(format!("Google Cloud lists more than {MOST_ROWS} SKUs and regions")));
        }
        if token.len() > LONGEST_LINK || !seen.insert(token.clone()) || seen.len() > MOST_PAGES {
            return Err(Error::new(HttpErrorKind::Malformed, "Google Cloud's pages form a loop"));
        }
    }
    let rows = catalog.machines_of(GCP);
    let rows = rows.flat_map(|machine| meters.rows(&machine, &access.today)).collect();
    Ok(FetchedPrices { rows, rejected: meters.rejected, notes: Vec::new() })
}

/// Prices in billionths of a dollar, by SKU and region.
#[derive(Default)]
struct Meters {
    on_demand: BTreeMap<(String, String), i128>,
    spot: BTreeMap<(String, String), i128>,
    rejected: Vec<Rejected>,
}

impl Meters {
    fn read(&mut self, sku: &Value) {
        let text = |path: &str| sku.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let description = text("/description");
        let Some((part, is_spot)) = part_of(description, text("/category/usageType")) else { return };
        let Some(expression) = sku.pointer("/pricingInfo/0/pricingExpression") else { return };
        let regions = sku.get("serviceRegions").and_then(Value::as_array).into_iter().flatten();
        let regions: Vec<&str> = regions.filter_map(Value::as_str).collect();
        let rate = expression.get("tieredRates").and_then(Value::as_array).and_then(|rates| rates.last());
        let Some(price) = rate.and_then(|rate| rate.get("unitPrice")) else { return };
        let currency = price.get("currencyCode").and_then(Value::as_str).unwrap_or_default();
        let unit = expression.get("usageUnit").and_then(Value::as_str).unwrap_or_default();
        let expected = match part {
            LOCAL_DISK => "GiBy.mo",
            part if part.ends_with("Ram") => "GiBy.h",
            _ => "h",
        };
        if currency != "USD" || unit != expected {
            let why = format!("{description} has a price in {currency} per {unit}");
            let region = regions.join(" ");
            Rejected { machine: part.to_owned(), region, why }.note(&mut self.rejected);
            return;
        }
        let Some(price) = billionths(price) else {
            let (region, why) = (regions.join(" "), format!("{description} has an impossible price"));
            Rejected { machine: part.to_owned(), region, why }.note(&mut self.rejected);
            return;
        };
        let to = if is_spot { &mut self.spot } else { &mut self.on_demand };
        for region in regions.into_iter().filter(|_| price > 0) {
            to.insert((part.to_owned(), region.to_owned()), price);
        }
    }

    /// Returns the rows of a machine in each region that has all of its parts.
    fn rows(&self, machine: &CatalogMachine<'_>, today: &str) -> Vec<PriceRow> {
        let Some(family) = FAMILIES.iter().find(|family| covers(family.pattern, &machine.name)) else {
            return Vec::new();
        };
        let regions: BTreeSet<&str> =
            self.on_demand.keys().chain(self.spot.keys()).map(|(_, region)| &**region).collect();
        let mut rows = Vec::new();
        for region in regions {
            let mut row = PriceRow::of(machine, region, today, "Cloud Billing Catalog API");
            row.on_demand = self.sum(&self.on_demand, family, machine, region);
            row.spot = self.sum(&self.spot, family, machine, region);
            if row.spot.is_some() {
                (row.spot_as_of, row.spot_basis) = (today.to_owned(), "composed".to_owned());
            }
            if row.has_price() {
                rows.push(row);
            }
        }
        rows
    }

    fn sum(
        &self,
        prices: &BTreeMap<(String, String), i128>,
        family: &Family,
        machine: &CatalogMachine<'_>,
        region: &str,
    ) -> Option<Money> {
        let price = |part: &str| prices.get(&(part.to_owned(), region.to_owned())).copied();
        // If a region or spot has no price of its own for local disks, the base region's price applies.
        let base = || self.on_demand.get(&(LOCAL_DISK.to_owned(), "us-central1".to_owned())).copied();
        let disk = match family.disk_gib {
            0 => 0,
            _ => price(LOCAL_DISK).or_else(base)?,
        };
        let (cores, memory, count) = (machine.cpus? as i128, machine.memory_gib? as i128, machine.count as i128);
        let host = cores * price(family.core)? + memory * price(family.memory)?;
        let disks = (family.disk_gib * count * disk + HOURS_PER_MONTH / 2) / HOURS_PER_MONTH;
        let billionths = host + count * price(family.accelerator)? + disks;
        i64::try_from((billionths + 500) / 1000).ok().map(Money::from_micros)
    }
}

/// Returns a price in billionths of a dollar, or `None` if it is implausible. Google sends whole dollars as a string.
fn billionths(price: &Value) -> Option<i128> {
    let units = price.get("units").and_then(Value::as_str).map_or(Some(0), |units| units.parse::<i64>().ok())?;
    let nanos = price.get("nanos").and_then(Value::as_i64).unwrap_or_default();
    let price = i128::from(units) * BILLION + i128::from(nanos);
    (0..=DEAREST_PART_USD * BILLION).contains(&price).then_some(price)
}

/// Returns the SKU in a description, if machines consist of it. Discounts, commitments and reservations contain its
/// name in a longer description.
fn part_of(description: &str, usage: &str) -> Option<(&'static str, bool)> {
    let parts =
        || FAMILIES.iter().flat_map(|family| [family.core, family.memory, family.accelerator]).chain([LOCAL_DISK]);
    let named = |text: &str, after: &str| {
        parts().find(|part| text.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(after)))
    };
    match usage {
        "OnDemand" => Some((named(description, " running in ")?, false)),
        "Preemptible" => {
            let host = description.strip_prefix("Spot Preemptible ");
            let part = match host {
                Some(host) => named(host, " running in "),
                None => named(description, " attached to Spot Preemptible VMs"),
            };
            Some((part?, true))
        }
        _ => None,
    }
}
