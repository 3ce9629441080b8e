//! Reads spot prices of AWS from the spot advisor, from the price feed and, with the keys of an account, from each
//! zone. Later sources override earlier ones.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::catalog::{AWS, Basis, Catalog, Money};
use crate::http::{Credential, Error, HttpMethod, HttpRequest};

use super::access::{Access, PriceSource, malformed};
use super::row::{PriceRow, Rows};
use super::spot_history;

/// The price feed still uses old names for the first regions.
const OLD_REGIONS: [(&str, &str); 6] = [
    ("us-east", "us-east-1"),
    ("us-west", "us-west-1"),
    ("eu-ireland", "eu-west-1"),
    ("apac-sin", "ap-southeast-1"),
    ("apac-syd", "ap-southeast-2"),
    ("apac-tokyo", "ap-northeast-1"),
];

/// Adds spot prices to rows with an on-demand price. Returns a note for each source that fails; its rows then use the
/// known spot prices if no other source has them.
pub(super) fn add(rows: &mut Rows, catalog: &Catalog, access: &Access<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    (access.progress)("AWS spot");
    if let Err(error) = advisor(rows, access) {
        notes.push(format!("data of the spot advisor is missing: {}", error.message));
    }
    if let Err(error) = feed(rows, access) {
        notes.push(format!("the feed of spot prices is missing: {}", error.message));
    }
    if let Some(keys) = &access.aws {
        let regions: BTreeSet<String> = rows.keys().map(|(_, region)| region.clone()).collect();
        for region in regions {
            if let Err(error) = spot_history::add(rows, &region, keys, access) {
                notes.push(format!("spot prices of the zones in {region} are missing: {}", error.message));
            }
        }
    }
    if !notes.is_empty() {
        rows.values_mut().filter(|row| row.spot.is_none()).for_each(|row| keep(row, catalog));
    }
    notes
}

/// Uses the known spot price with its own date.
fn keep(row: &mut PriceRow, catalog: &Catalog) {
    let Some(machine) = catalog.machine(AWS, &row.machine) else { return };
    let quote = catalog.quote(&machine, &row.region);
    let listed = quote.filter(|quote| matches!(quote.basis, Basis::Listed { .. } | Basis::Refreshed { .. }));
    let Some(quote) = listed.filter(|quote| quote.spot < row.on_demand) else { return };
    row.spot = quote.spot;
    quote.spot_as_of.clone_into(&mut row.spot_as_of);
    quote.spot_basis.clone_into(&mut row.spot_basis);
    quote.interruption.clone_into(&mut row.spot_interruption);
}

fn advisor(rows: &mut Rows, access: &Access<'_>) -> Result<(), Error> {
    let client = access.client(PriceSource::AwsAdvisor, Credential::Anonymous)?;
    let data = client.send(&HttpRequest::new(HttpMethod::Get, ["spot-advisor-data.json"]))?.json()?;
    let regions = data.get("spot_advisor").and_then(Value::as_object);
    let regions = regions.ok_or_else(|| malformed("the spot advisor lists no regions"))?;
    let label = |index: u64| -> Option<&str> {
        let ranges = data.get("ranges")?.as_array()?;
        ranges.iter().find(|range| range.get("index").and_then(Value::as_u64) == Some(index))?.get("label")?.as_str()
    };
    for ((machine, region), row) in rows.iter_mut() {
        let entry = regions.get(region).and_then(|systems| systems.get("Linux")).and_then(|it| it.get(machine));
        let (Some(entry), Some(on_demand)) = (entry, row.on_demand) else { continue };
        let Some(saved) = entry.get("s").and_then(Value::as_i64).filter(|saved| (1..100).contains(saved)) else {
            continue;
        };
        row.spot = Some(on_demand.scaled((100 - saved) * 10_000));
        (row.spot_as_of, row.spot_basis) = (access.today.clone(), "advisor-saving".to_owned());
        row.spot_interruption = entry.get("r").and_then(Value::as_u64).and_then(label).unwrap_or_default().to_owned();
    }
    Ok(())
}

fn feed(rows: &mut Rows, access: &Access<'_>) -> Result<(), Error> {
    let client = access.client(PriceSource::AwsSpot, Credential::Anonymous)?;
    let text = client.send(&HttpRequest::new(HttpMethod::Get, ["spot.js"]))?.text();
    let data: Value =
        serde_json::from_str(without_callback(&text)).map_err(|_| malformed("the feed of spot prices is not JSON"))?;
    let regions = data.pointer("/config/regions").and_then(Value::as_array);
    for region in regions.ok_or_else(|| malformed("the feed of spot prices lists no regions"))? {
        let name = region.get("region").and_then(Value::as_str).unwrap_or_default();
        let name = OLD_REGIONS.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
        for (machine, price) in sizes(region) {
            let Some(row) = rows.get_mut(&(machine.to_owned(), name.to_owned())) else { continue };
            row.spot = Some(price);
            (row.spot_as_of, row.spot_basis) = (access.today.clone(), "list".to_owned());
        }
    }
    Ok(())
}

fn sizes(region: &Value) -> impl Iterator<Item = (&str, Money)> {
    let types = region.get("instanceTypes").and_then(Value::as_array).into_iter().flatten();
    let sizes = types.filter_map(|it| it.get("sizes")?.as_array()).flatten();
    sizes.filter_map(|size| {
        let columns = size.get("valueColumns")?.as_array()?;
        let linux = columns.iter().find(|column| column.get("name").and_then(Value::as_str) == Some("linux"))?;
        // The value `N/A*` means that there is no price.
        let price: f64 = linux.pointer("/prices/USD")?.as_str()?.parse().ok()?;
        Some((size.get("size")?.as_str()?, Money::from_usd(price))).filter(|_| price > 0.0)
    })
}

/// Returns the JSON inside `callback({...});`.
fn without_callback(text: &str) -> &str {
    let text = text.trim().trim_end_matches(';');
    match (text.find('('), text.strip_suffix(')')) {
        (Some(open), Some(inner)) if !text.starts_with(['{', '[']) => inner.get(open + 1..).unwrap_or_default(),
        _ => text,
    }
}
