//! Reads Azure's retail prices: pages with on-demand, spot and reservation prices of each machine.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalog::{AZURE, Catalog, Money};
use crate::http::{Error, HttpErrorKind, HttpMethod, HttpRequest};

use super::access::{Access, FetchedPrices, LONGEST_LINK, MOST_ROWS, PriceSource, malformed};
use super::guard::Rejected;
use super::row::PriceRow;

/// A page has a thousand prices. All machines with accelerators in all regions fill about thirty pages.
const MOST_PAGES: usize = 500;
/// The hours of a term, because a reservation is listed with the price of the whole term.
const TERM_HOURS: [(&str, f64); 2] = [("1 Year", 8760.0), ("3 Years", 26_280.0)];

pub(super) fn fetch(catalog: &Catalog, access: &Access<'_>) -> Result<FetchedPrices, Error> {
    let client = access.client(PriceSource::Azure, crate::http::Credential::Anonymous)?;
    let mut meters = Meters { catalog, access, rows: BTreeMap::new(), rejected: Vec::new() };
    for region in access.regions_of(AZURE, catalog) {
        (access.progress)(&format!("Azure {region}"));
        let filter = format!(
            "serviceName eq 'Virtual Machines' and armRegionName eq '{}' and contains(armSkuName, 'Standard_N')",
            region.replace('\'', "''")
        );
        let request = HttpRequest::new(HttpMethod::Get, ["api", "retail", "prices"])
            .query("api-version", "2023-01-01-preview")
            .query("currencyCode", "USD")
            .query("$filter", filter);
        let mut page = client.send(&request)?.json()?;
        let mut seen = BTreeSet::new();
        loop {
            let items = page.get("Items").and_then(Value::as_array);
            for meter in items.ok_or_else(|| malformed("Azure's page has no items"))? {
                meters.read(meter);
            }
            if meters.rows.len() > MOST_ROWS {
                return Err(malformed(format!("Azure lists more than {MOST_ROWS} machines and regions")));
            }
            let Some(next) = page.get("NextPageLink").and_then(Value::as_str).filter(|link| !link.is_empty()) else {
                break;
            };
            if next.len() > LONGEST_LINK || !seen.insert(next.to_owned()) || seen.len() > MOST_PAGES {
                return Err(Error::new(HttpErrorKind::Malformed, "Azure's pages form a loop"));
            }
            page = client.follow_link(next)?.json()?;
        }
    }
    let rows = meters.rows.into_values().map(|(row, _)| row).filter(PriceRow::has_price).collect();
    Ok(FetchedPrices { rows, rejected: meters.rejected, notes: Vec::new() })
}

struct Meters<'a> {
    catalog: &'a Catalog,
    access: &'a Access<'a>,
    /// The rows, each with the start date of its on-demand price.
    rows: BTreeMap<(String, String), (PriceRow, String)>,
    rejected: Vec<Rejected>,
}

impl Meters<'_> {
    fn read(&mut self, meter: &Value) {
        let text = |key: &str| meter.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, region) = (text("armSkuName"), text("armRegionName"));
        let Some(machine) = self.catalog.machine(AZURE, name).filter(|_| !region.is_empty()) else { return };
        if is_decoy(meter) {
            return;
        }
        // Products with another way of buying have the price zero. The guard rejects negative prices.
        let Some(price) = meter.get("retailPrice").and_then(Value::as_f64).filter(|price| *price != 0.0) else {
            return;
        };
        if text("currencyCode") != "USD" || text("unitOfMeasure") != "1 Hour" {
            let why = format!("the price is in {} per {}", text("currencyCode"), text("unitOfMeasure"));
            Rejected { machine: name.to_owned(), region: region.to_owned(), why }.note(&mut self.rejected);
            return;
        }
        let today = &self.access.today;
        let since = text("effectiveStartDate").get(..10).unwrap_or_default();
        let new = || (PriceRow::of(&machine, region, today, "Azure Retail Prices API"), String::new());
        let (row, row_since) = self.rows.entry((name.to_ascii_lowercase(), region.to_owned())).or_insert_with(new);
        let price = Money::from_usd(price);
        match text("type") {
            "Consumption" if text("meterName").ends_with("Spot") => {
                row.spot = Some(price);
                (row.spot_as_of, row.spot_basis) = (today.clone(), "list".to_owned());
            }
            // Of two prices, the one with the later start date wins, unless that date is in the future.
            "Consumption" if row.on_demand.is_none() || (since > row_since.as_str() && since <= today.as_str()) => {
                row.on_demand = Some(price);
                *row_since = since.to_owned();
                for plan in meter.get("savingsPlan").and_then(Value::as_array).into_iter().flatten() {
                    let term = plan.get("term").and_then(Value::as_str).unwrap_or_default();
                    let price = plan.get("retailPrice").and_then(Value::as_f64).filter(|price| *price > 0.0);
                    price.into_iter().for_each(|price| commit(row, term, Money::from_usd(price), "savings-plan"));
                }
            }
            "Reservation" => {
                let term = text("reservationTerm");
                let hours = TERM_HOURS.iter().find(|(known, _)| *known == term).map(|(_, hours)| *hours);
                hours.into_iter().for_each(|hours| commit(row, term, price.times(1.0 / hours), "whole-term"));
            }
            _ => {}
        }
    }
}

/// Sets the price of a term to the cheaper one of reservation and savings plan.
fn commit(row: &mut PriceRow, term: &str, price: Money, basis: &str) {
    let to = match term {
        "1 Year" => &mut row.reserved_1y,
        "3 Years" => &mut row.reserved_3y,
        _ => return,
    };
    if to.is_none_or(|known| price < known) {
        *to = Some(price);
        row.reserved_basis = basis.to_owned();
    }
}

/// Whether the price is for another product of the same machine: Windows, low priority, cloud services, secondary.
fn is_decoy(meter: &Value) -> bool {
    let text = |key: &str| meter.get(key).and_then(Value::as_str).unwrap_or_default();
    let product = text("productName");
    product.contains("Windows")
        || product.contains("Cloud Services")
        || product.contains("CloudServices")
        || text("meterName").contains("Low Priority")
        || text("skuName").contains("Low Priority")
        || text("type") == "DevTestConsumption"
        || meter.get("isPrimaryMeterRegion").and_then(Value::as_bool) == Some(false)
        || meter.get("tierMinimumUnits").and_then(Value::as_f64).is_some_and(|units| units > 0.0)
}
