//! Reads RunPod's list of GPU types: a price per card in the secure and in the community cloud. A machine with several
//! cards costs as many times as much. Its processors and memory are listed for each number of cards.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalog::{Accelerator, Catalog, Money};
use crate::http::{Error, HttpMethod, HttpRequest};

use super::access::{Access, FetchedPrices, PriceSource, malformed};
use super::guard::Rejected;
use super::row::PriceRow;

/// The numbers of cards for which the tables have machines.
const COUNTS: [u32; 4] = [1, 2, 4, 8];

/// The field names of one cloud.
struct Cloud {
    name: &'static str,
    price: &'static str,
    spot: &'static str,
    most_cards: &'static str,
}

const CLOUDS: [Cloud; 2] = [
    Cloud { name: "secure", price: "securePrice", spot: "secureSpotPrice", most_cards: "maxGpuCountSecureCloud" },
    Cloud {
        name: "community",
        price: "communityPrice",
        spot: "communitySpotPrice",
        most_cards: "maxGpuCountCommunityCloud",
    },
];

fn query() -> String {
    let shapes =
        COUNTS.map(|count| format!("of{count}: lowestPrice(input: {{ gpuCount: {count} }}) {{ minVcpu minMemory }}"));
    let fields = CLOUDS.map(|cloud| [cloud.price, cloud.spot, cloud.most_cards].join(" "));
    format!(
        "query {{ gpuTypes {{ id displayName memoryInGb maxGpuCount {} {} }} }}",
        fields.join(" "),
        shapes.join(" ")
    )
}

pub(super) fn fetch(catalog: &Catalog, access: &Access<'_>) -> Result<FetchedPrices, Error> {
    (access.progress)("RunPod GPU types");
    let client = access.client(PriceSource::Runpod, access.bearer())?;
    let request = HttpRequest::new(HttpMethod::Post, ["graphql"]).json(json!({ "query": query() })).repeatable();
    let reply = client.send(&request)?.json()?;
    let types = reply.pointer("/data/gpuTypes").and_then(Value::as_array);
    let types = types.ok_or_else(|| malformed("RunPod lists no GPU types"))?;
    let mut fetched = FetchedPrices::default();
    for entry in types {
        let name = |key: &str| entry.get(key).and_then(Value::as_str).and_then(|name| catalog.accelerator(name));
        // Variants of a card can have the same display name, but not the same id.
        let Some(accelerator) = name("id").or_else(|| name("displayName")) else { continue };
        if let Some(why) = another_card(entry, &accelerator) {
            let machine = accelerator.name.to_owned();
            Rejected { machine, region: "*".to_owned(), why }.note(&mut fetched.rejected);
            continue;
        }
        let rows = CLOUDS.iter().flat_map(|cloud| COUNTS.map(|count| (cloud, count)));
        let rows = rows.filter_map(|(cloud, count)| row(catalog, &accelerator, entry, cloud, count, &access.today));
        fetched.rows.extend(rows);
    }
    reject_several_prices(&mut fetched);
    Ok(fetched)
}

/// Rejects machines with several prices: RunPod sells several cards that are one accelerator of the tables.
fn reject_several_prices(fetched: &mut FetchedPrices) {
    let mut machines: BTreeMap<String, Vec<PriceRow>> = BTreeMap::new();
    for row in std::mem::take(&mut fetched.rows) {
        machines.entry(row.machine.clone()).or_default().push(row);
    }
    for (machine, mut rows) in machines {
        let first = rows.swap_remove(0);
        if rows.iter().all(|it| (it.on_demand, it.spot) == (first.on_demand, first.spot)) {
            fetched.rows.push(first);
            continue;
        }
        let why = format!("RunPod sells {} cards with this name at different prices", rows.len() + 1);
        Rejected { machine, region: "*".to_owned(), why }.note(&mut fetched.rejected);
    }
}

/// Returns an error if the memory does not match, because a part of a card has the name of the whole card.
fn another_card(entry: &Value, accelerator: &Accelerator<'_>) -> Option<String> {
    let memory = entry.get("memoryInGb").and_then(Value::as_f64).filter(|memory| *memory > 0.0)?;
    let (known, name) = (accelerator.memory_gib, accelerator.name);
    let is_other = known > 0.0 && !(0.6..=1.6).contains(&(memory / known));
    is_other.then(|| format!("it is listed with {memory} GB, but {name} has {known} GB"))
}

fn row(
    catalog: &Catalog,
    accelerator: &Accelerator<'_>,
    entry: &Value,
    cloud: &Cloud,
    count: u32,
    today: &str,
) -> Option<PriceRow> {
    let number = |key: &str| entry.get(key).and_then(Value::as_f64);
    let most = number(cloud.most_cards).or_else(|| number("maxGpuCount"));
    // If the maximum number of cards per machine is unknown, only one card is certain.
    if f64::from(count) > most.unwrap_or(1.0).max(1.0) {
        return None;
    }
    let price = |key: &str| number(key).filter(|usd| *usd != 0.0).map(|usd| Money::from_usd(usd * f64::from(count)));
    let spot = price(cloud.spot);
    let name = accelerator.name;
    let machine = if count == 1 { format!("{}/{name}", cloud.name) } else { format!("{}/{count}x{name}", cloud.name) };
    // The answer contains no processors and memory for a machine that is sold out.
    let known = catalog.machine("runpod", &machine);
    let shape = |key: &str| entry.pointer(&format!("/of{count}/{key}")).and_then(Value::as_f64).filter(|it| *it > 0.0);
    let by_the_card = format!("{} cloud; sold by the card: {count} times the price of one", cloud.name);
    let row = PriceRow {
        region: "*".to_owned(),
        accelerator: name.to_owned(),
        accelerator_count: f64::from(count),
        vcpus: shape("minVcpu").or_else(|| known.as_ref()?.cpus),
        memory_gib: shape("minMemory").or_else(|| known.as_ref()?.memory_gib),
        on_demand: price(cloud.price),
        spot,
        as_of: today.to_owned(),
        spot_as_of: spot.map_or(String::new(), |_| today.to_owned()),
        spot_basis: spot.map_or(String::new(), |_| "list".to_owned()),
        source: "RunPod GraphQL".to_owned(),
        confidence: if count == 1 { "high" } else { "derived" }.to_owned(),
        notes: if count == 1 { format!("{} cloud", cloud.name) } else { by_the_card },
        machine,
        ..PriceRow::default()
    };
    row.has_price().then_some(row)
}
