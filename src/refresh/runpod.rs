//! RunPod's list of GPU types: a price in the secure and one in the community cloud, for one GPU.

use serde_json::{Value, json};

use crate::catalog::{Catalog, Money};
use crate::http::{Error, HttpRequest, Method};

use super::access::{Access, Fetched, PriceSource, malformed};
use super::row::PriceRow;

const QUERY: &str = "query { gpuTypes { id displayName memoryInGb securePrice communityPrice secureSpotPrice \
                     communitySpotPrice lowestPrice(input: { gpuCount: 1 }) { minVcpu minMemory } } }";

pub(super) fn fetch(catalog: &Catalog, access: &Access<'_>) -> Result<Fetched, Error> {
    (access.progress)("RunPod GPU types");
    let client = access.client(PriceSource::Runpod, access.bearer())?;
    let request = HttpRequest::new(Method::Post, ["graphql"]).json(json!({ "query": QUERY })).repeatable();
    let reply = client.send(&request)?.json()?;
    let types = reply.pointer("/data/gpuTypes").and_then(Value::as_array);
    let types = types.ok_or_else(|| malformed("RunPod lists no GPU types"))?;
    let mut fetched = Fetched::default();
    for entry in types {
        let name = |key: &str| entry.get(key).and_then(Value::as_str).and_then(|name| catalog.accelerator(name));
        let Some(accelerator) = name("displayName").or_else(|| name("id")) else { continue };
        let number = |path: &str| entry.pointer(path).and_then(Value::as_f64).filter(|value| *value > 0.0);
        for (cloud, price, spot) in
            [("secure", "/securePrice", "/secureSpotPrice"), ("community", "/communityPrice", "/communitySpotPrice")]
        {
            let row = PriceRow {
                machine: format!("{cloud}/{}", accelerator.name),
                region: "*".to_owned(),
                accelerator: accelerator.name.to_owned(),
                accelerator_count: 1.0,
                vcpus: number("/lowestPrice/minVcpu"),
                memory_gib: number("/lowestPrice/minMemory"),
                on_demand: number(price).map(Money::from_usd),
                spot: number(spot).map(Money::from_usd),
                as_of: access.today.clone(),
                spot_as_of: number(spot).map_or(String::new(), |_| access.today.clone()),
                spot_basis: number(spot).map_or(String::new(), |_| "list".to_owned()),
                source: "RunPod GraphQL".to_owned(),
                confidence: "high".to_owned(),
                notes: format!("{cloud} cloud"),
                ..PriceRow::default()
            };
            if row.has_price() {
                fetched.rows.push(row);
            }
        }
    }
    Ok(fetched)
}
