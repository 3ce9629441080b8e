//! Rows of the catalog, for `gpulint price`.

use serde::Serialize;

use super::Format;
use super::json::{self, Number};
use super::money::{usd, usd_per_hour};
use super::text::Table;
use crate::catalog::{Basis, Money, Offer};
use crate::pricing::HOURS_PER_MONTH;

#[derive(Serialize)]
struct Row<'a> {
    provider: &'a str,
    machine: &'a str,
    region: &'a str,
    accelerator: &'a str,
    count: Number,
    on_demand_usd_per_hour: Option<Number>,
    spot_usd_per_hour: Option<Number>,
    reserved_1y_usd_per_hour: Option<Number>,
    reserved_3y_usd_per_hour: Option<Number>,
    basis: String,
    as_of: &'a str,
    spot_as_of: &'a str,
    source: &'a str,
    confidence: &'a str,
}

/// The rows in a format; `None` where there is no such format for rows.
pub fn price(format: Format, offers: &[Offer]) -> Option<String> {
    match format {
        Format::Json => Some(json::print(&offers.iter().map(row).collect::<Vec<_>>())),
        Format::Text => Some(text(offers)),
        _ => None,
    }
}

fn row<'a>(offer: &'a Offer) -> Row<'a> {
    let (machine, quote) = (&offer.machine, &offer.quote);
    let number = |money: Option<Money>| money.map(Number::from);
    Row {
        provider: &machine.provider,
        machine: &machine.name,
        region: offer.region,
        accelerator: &machine.accelerator,
        count: Number(machine.count),
        on_demand_usd_per_hour: number(quote.on_demand),
        spot_usd_per_hour: number(quote.spot),
        reserved_1y_usd_per_hour: number(quote.reserved_1y),
        reserved_3y_usd_per_hour: number(quote.reserved_3y),
        basis: basis(&quote.basis),
        as_of: quote.as_of,
        spot_as_of: quote.spot_as_of,
        source: &quote.source,
        confidence: quote.confidence,
    }
}

/// How a price is known, in words.
pub(super) fn basis(basis: &Basis) -> String {
    match basis {
        Basis::Own { line } => format!("your own price, line {line}"),
        Basis::Refreshed { region } => format!("refreshed row of {region}"),
        Basis::Unknown => "not known".to_owned(),
        Basis::Listed { region: "*" } => "listed everywhere".to_owned(),
        Basis::Listed { region } => format!("listed in {region}"),
        Basis::Regional { from, factor } => format!("estimate: {from} × {}", *factor as f64 / 1e6),
        Basis::Elsewhere { from } => format!("estimate: as in {from}"),
    }
}

fn text(offers: &[Offer]) -> String {
    let headings = [
        "machine",
        "region",
        "accelerators",
        "on demand",
        "spot",
        "1 year",
        "3 years",
        "a month",
        "one GPU",
        "as of",
        "basis",
    ];
    let mut table = Table::new(&headings, 3..9);
    for Offer { machine, region, quote } in offers {
        let money = |money: Option<Money>| money.map_or("-".to_owned(), usd_per_hour);
        table.row(vec![
            format!("{} {}", machine.provider, machine.name),
            (*region).to_owned(),
            format!("{} × {}", Number(machine.count), machine.accelerator),
            money(quote.on_demand),
            money(quote.spot),
            money(quote.reserved_1y),
            money(quote.reserved_3y),
            quote.on_demand.map_or("-".to_owned(), |price| usd(price.times(HOURS_PER_MONTH))),
            money(quote.on_demand.filter(|_| machine.count > 0.0).map(|price| price.times(1.0 / machine.count))),
            quote.as_of.to_owned(),
            basis(&quote.basis),
        ]);
    }
    format!("{}dollars an hour, and a month of {HOURS_PER_MONTH} hours on demand\n", table.print())
}
