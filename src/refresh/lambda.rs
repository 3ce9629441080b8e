//! Reads Lambda's list of instance types. Each has one price for all regions, in cents.

use serde_json::Value;

use crate::catalog::{Catalog, Money};
use crate::http::{Error, HttpMethod, HttpRequest};

use super::access::{Access, FetchedPrices, PriceSource, malformed};
use super::row::PriceRow;

pub(super) fn fetch(catalog: &Catalog, access: &Access<'_>) -> Result<FetchedPrices, Error> {
    (access.progress)("Lambda instance types");
    let client = access.client(PriceSource::Lambda, access.bearer())?;
    let reply = client.send(&HttpRequest::new(HttpMethod::Get, ["api", "v1", "instance-types"]))?.json()?;
    let types =
        reply.get("data").and_then(Value::as_object).ok_or_else(|| malformed("Lambda lists no instance types"))?;
    let mut fetched = FetchedPrices::default();
    for (name, entry) in types {
        let Some(cents) = entry.pointer("/instance_type/price_cents_per_hour").and_then(Value::as_i64) else {
            continue;
        };
        let specs = entry.pointer("/instance_type/specs");
        let number = |key: &str| specs.and_then(|specs| specs.get(key)).and_then(Value::as_f64);
        let Some(count) = number("gpus").filter(|count| *count > 0.0) else { continue };
        let mut row = match catalog.machine("lambda", name) {
            Some(machine) => PriceRow::of(&machine, "*", &access.today, "Lambda API"),
            None => {
                let described = entry.pointer("/instance_type/gpu_description").and_then(Value::as_str);
                let Some(accelerator) = described.and_then(|text| described_accelerator(catalog, text)) else {
                    continue;
                };
                PriceRow { accelerator, ..new_row(name, &access.today) }
            }
        };
        row.accelerator_count = count;
        (row.vcpus, row.memory_gib) = (number("vcpus"), number("memory_gib"));
        row.on_demand = Some(Money::from_micros(cents.saturating_mul(10_000)));
        fetched.rows.push(row);
    }
    Ok(fetched)
}

fn new_row(name: &str, today: &str) -> PriceRow {
    PriceRow {
        machine: name.to_owned(),
        region: "*".to_owned(),
        as_of: today.to_owned(),
        source: "Lambda API".to_owned(),
        confidence: "high".to_owned(),
        ..PriceRow::default()
    }
}

/// Returns the accelerator of a description: `H100 (80 GB SXM5)` is an H100 with 80 GB.
fn described_accelerator(catalog: &Catalog, text: &str) -> Option<String> {
    let text = text.replace(['(', ')'], " ").replace(" GB", "GB");
    catalog.accelerator(&text).map(|known| known.name.to_owned())
}
