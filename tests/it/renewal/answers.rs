//! Creates complete answers of vendors from the tables: every machine at its table price.

use gpulint::catalog::{Catalog, Money};
use serde_json::{Map, Value, json};

use crate::forge::server::Answer;
use crate::refresh::read;

/// A machine in the region that an update requests.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sold {
    pub(super) machine: String,
    pub(super) accelerator: String,
    pub(super) count: f64,
    pub(super) cpus: Option<f64>,
    pub(super) memory_gib: Option<f64>,
    pub(super) on_demand: f64,
    pub(super) spot: Option<f64>,
}

/// Returns the machines that a provider sells on demand in a region, according to the tables.
pub(super) fn sold(provider: &str, region: &str) -> Vec<Sold> {
    let catalog = Catalog::embedded();
    let offers = catalog.offers().filter(|it| it.machine.provider == provider && it.region == region);
    let mut sold: Vec<Sold> = offers
        .filter_map(|it| {
            Some(Sold {
                machine: it.machine.name.to_string(),
                accelerator: it.machine.accelerator.to_string(),
                count: it.machine.count,
                cpus: it.machine.cpus,
                memory_gib: it.machine.memory_gib,
                on_demand: it.quote.on_demand?.usd(),
                spot: it.quote.spot.map(Money::usd),
            })
        })
        .collect();
    sold.sort_by(|one, other| one.machine.cmp(&other.machine));
    assert!(sold.len() > 5, "{provider} sells {} machines in {region}", sold.len());
    sold
}

/// Returns the lines of AWS's list for a region.
pub(super) fn aws_list(sold: &[Sold]) -> Answer {
    let fixture = String::from_utf8(read("aws/us-east-1.csv")).unwrap();
    let head: Vec<&str> = fixture.lines().take(6).collect();
    let columns: Vec<&str> = head[5].split(',').map(|name| name.trim_matches('"')).collect();
    let mut text = head.join("\n") + "\n";
    for it in sold {
        let cell = |column: &str| match column {
            "TermType" => "OnDemand".to_owned(),
            "PriceDescription" => format!("${} per On Demand Linux {} Instance Hour", it.on_demand, it.machine),
            "Unit" => "Hrs".to_owned(),
            "PricePerUnit" => format!("{:.10}", it.on_demand),
            "Currency" => "USD".to_owned(),
            "Location Type" => "AWS Region".to_owned(),
            "Instance Type" => it.machine.clone(),
            "Tenancy" => "Shared".to_owned(),
            "Operating System" => "Linux".to_owned(),
            "License Model" => "No License required".to_owned(),
            "CapacityStatus" => "Used".to_owned(),
            "Pre Installed S/W" => "NA".to_owned(),
            "Region Code" => "us-east-1".to_owned(),
            "MarketOption" => "OnDemand".to_owned(),
            _ => String::new(),
        };
        let cells: Vec<String> = columns.iter().map(|column| format!("\"{}\"", cell(column))).collect();
        text += &(cells.join(",") + "\n");
    }
    Answer::new(200, text)
}

/// Returns AWS's feed of spot prices, which is JSON inside a call.
pub(super) fn aws_spot(sold: &[Sold]) -> Answer {
    let on_spot = sold.iter().filter_map(|it| Some((it, it.spot?)));
    let sizes = on_spot.map(|(it, spot)| {
        json!({ "size": it.machine, "valueColumns": [{ "name": "linux", "prices": { "USD": spot.to_string() } }] })
    });
    let sizes: Vec<Value> = sizes.collect();
    let regions = json!([{ "region": "us-east", "instanceTypes": [{ "type": "gpuCurrentGen", "sizes": sizes }] }]);
    Answer::new(200, format!("callback({});", json!({ "config": { "regions": regions } })))
}

/// Returns an Azure meter.
pub(super) fn meter(machine: &str, region: &str, usd: f64, kind: &str) -> Value {
    json!({
        "currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": usd, "unitPrice": usd, "armRegionName": region,
        "effectiveStartDate": "2026-05-01T00:00:00Z", "meterName": format!("{machine}{kind}"),
        "productName": "Virtual Machines Series", "skuName": format!("{machine}{kind}"),
        "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": "Consumption",
        "isPrimaryMeterRegion": true, "armSkuName": machine,
    })
}

pub(super) fn azure_page(sold: &[Sold], region: &str) -> Answer {
    let meters = sold.iter().flat_map(|it| {
        let spot = it.spot.map(|spot| meter(&it.machine, region, spot, " Spot"));
        [Some(meter(&it.machine, region, it.on_demand, "")), spot].into_iter().flatten()
    });
    Answer::json(200, &json!({ "Items": meters.collect::<Vec<Value>>(), "NextPageLink": null }))
}

pub(super) fn lambda_types(sold: &[Sold]) -> Answer {
    let types: Map<String, Value> = sold
        .iter()
        .map(|it| {
            let cents = (it.on_demand * 100.0).round() as i64;
            let specs = json!({ "vcpus": it.cpus, "memory_gib": it.memory_gib, "gpus": it.count });
            let kind = json!({ "name": it.machine, "price_cents_per_hour": cents, "specs": specs });
            (it.machine.clone(), json!({ "instance_type": kind }))
        })
        .collect();
    Answer::json(200, &json!({ "data": types }))
}

pub(super) fn vast_offers(sold: &[Sold]) -> Answer {
    let offers = sold.iter().map(|it| {
        json!({
            "gpu_name": it.accelerator, "num_gpus": 1, "dph_total": it.on_demand, "min_bid": it.spot,
            "reliability2": 0.99, "verification": "verified", "rentable": true, "rented": false,
        })
    });
    Answer::json(200, &json!({ "offers": offers.collect::<Vec<Value>>() }))
}

/// Returns RunPod's cards. The maximum number per machine in each cloud is that of the tables.
pub(super) fn runpod_cards(sold: &[Sold]) -> Answer {
    let catalog = Catalog::embedded();
    let mut cards: Map<String, Value> = Map::new();
    for it in sold {
        let (cloud, machine) = it.machine.split_once('/').unwrap();
        let field =
            |secure: &str, community: &str| if cloud == "secure" { secure.to_owned() } else { community.to_owned() };
        let memory = catalog.accelerator(&it.accelerator).unwrap().memory_gib;
        let card = cards
            .entry(it.accelerator.clone())
            .or_insert_with(|| json!({ "displayName": it.accelerator, "memoryInGb": memory }));
        if machine == it.accelerator {
            card[field("securePrice", "communityPrice")] = it.on_demand.into();
        }
        let most = field("maxGpuCountSecureCloud", "maxGpuCountCommunityCloud");
        card[most.as_str()] = card[most.as_str()].as_f64().unwrap_or(1.0).max(it.count).into();
        card[format!("of{}", it.count)] = json!({ "minVcpu": it.cpus, "minMemory": it.memory_gib });
    }
    Answer::json(
        200,
        &json!({ "data": { "gpuTypes": cards.into_iter().map(|(_, card)| card).collect::<Vec<Value>>() } }),
    )
}

/// Returns a Google Cloud meter, in billionths of a dollar.
pub(super) fn sku(description: &str, usage: &str, unit: &str, region: &str, nanos: u64) -> Value {
    let price = json!({
        "currencyCode": "USD", "units": (nanos / 1_000_000_000).to_string(), "nanos": nanos % 1_000_000_000
    });
    json!({
        "description": description, "category": { "usageType": usage }, "serviceRegions": [region],
        "pricingInfo": [{ "pricingExpression": { "usageUnit": unit, "tieredRates": [{ "unitPrice": price }] } }],
    })
}
