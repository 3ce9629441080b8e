//! Reads Vast's marketplace: for each accelerator, the cheapest offer of one GPU from a verified host.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalog::{Catalog, Money};
use crate::http::{Error, HttpMethod, HttpRequest};

use super::access::{Access, FetchedPrices, PriceSource, malformed};
use super::row::PriceRow;

/// The minimum reliability of a host. Offers of less reliable hosts are ignored.
const LEAST_RELIABILITY: f64 = 0.9;

pub(super) fn fetch(catalog: &Catalog, access: &Access<'_>) -> Result<FetchedPrices, Error> {
    (access.progress)("Vast offers");
    let client = access.client(PriceSource::Vast, access.bearer())?;
    let query = json!({
        "verified": { "eq": true }, "rentable": { "eq": true }, "rented": { "eq": false }, "num_gpus": { "eq": 1 },
        "type": "on-demand", "order": [["dph_total", "asc"]], "limit": 2000,
    });
    let request = HttpRequest::new(HttpMethod::Post, ["api", "v0", "bundles"]).json(query).repeatable();
    let reply = client.send(&request)?.json()?;
    let offers = reply.get("offers").and_then(Value::as_array).ok_or_else(|| malformed("Vast lists no offers"))?;
    let mut cheapest: BTreeMap<String, PriceRow> = BTreeMap::new();
    for offer in offers {
        let Some(row) = read(catalog, offer, &access.today) else { continue };
        match cheapest.get_mut(&row.machine) {
            Some(known) => {
                // The cheapest on-demand offer and the cheapest bid can be from two hosts.
                known.spot = [known.spot, row.spot].into_iter().flatten().min();
                known.on_demand = [known.on_demand, row.on_demand].into_iter().flatten().min();
            }
            None => drop(cheapest.insert(row.machine.clone(), row)),
        }
    }
    Ok(FetchedPrices { rows: cheapest.into_values().collect(), ..FetchedPrices::default() })
}

fn read(catalog: &Catalog, offer: &Value, today: &str) -> Option<PriceRow> {
    let number = |key: &str| offer.get(key).and_then(Value::as_f64);
    let is = |key: &str, expected: bool| offer.get(key).and_then(Value::as_bool) == Some(expected);
    let verified = offer.get("verification").and_then(Value::as_str).is_none_or(|state| state == "verified");
    let reliable = number("reliability2").is_none_or(|share| share >= LEAST_RELIABILITY);
    if number("num_gpus") != Some(1.0) || !is("rentable", true) || is("rented", true) || !verified || !reliable {
        return None;
    }
    let accelerator = catalog.accelerator(offer.get("gpu_name")?.as_str()?)?;
    let price = number("dph_total").filter(|price| *price > 0.0)?;
    let bid = number("min_bid").filter(|bid| *bid > 0.0 && *bid <= price);
    Some(PriceRow {
        machine: accelerator.name.to_owned(),
        region: "*".to_owned(),
        accelerator: accelerator.name.to_owned(),
        accelerator_count: 1.0,
        on_demand: Some(Money::from_usd(price)),
        spot: bid.map(Money::from_usd),
        as_of: today.to_owned(),
        spot_as_of: bid.map_or(String::new(), |_| today.to_owned()),
        spot_basis: bid.map_or(String::new(), |_| "list".to_owned()),
        source: "Vast API".to_owned(),
        confidence: "medium".to_owned(),
        notes: "single GPU; lowest offer of a verified host".to_owned(),
        ..PriceRow::default()
    })
}
