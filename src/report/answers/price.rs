//! Rows of the catalog, for `gpulint price`.

use serde::Serialize;

use crate::catalog::{Basis, Catalog, Class, Currency, Money, Offer, is_stale};
use crate::pricing::HOURS_PER_MONTH;
use crate::report::Format;
use crate::report::formats::json;
use crate::report::formats::json::Number;
use crate::report::formats::text::TextTable;
use crate::source::Date;

/// What was looked up.
pub struct Prices<'a> {
    pub catalog: &'a Catalog,
    pub offers: &'a [Offer<'a>],
    /// A month, one GPU and one GiB are told for spot instead of on demand.
    pub on_spot: bool,
    /// The day by which ages are judged.
    pub today: Date,
}

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
    accelerator_memory_gib: Option<Number>,
    stale: bool,
    retired: Option<&'a str>,
}

/// The rows in a format; `None` where there is no such format for rows.
pub fn price(format: Format, prices: &Prices<'_>) -> Option<String> {
    match format {
        Format::Json => Some(json::print(&prices.offers.iter().map(|offer| row(prices, offer)).collect::<Vec<_>>())),
        Format::Text => Some(text(prices)),
        _ => None,
    }
}

impl Prices<'_> {
    /// Of one whole accelerator.
    fn memory_gib(&self, offer: &Offer<'_>) -> Option<f64> {
        let known = self.catalog.accelerator(&offer.machine.accelerator)?;
        Some(known.memory_gib).filter(|gib| *gib > 0.0)
    }

    fn is_stale(&self, offer: &Offer<'_>) -> bool {
        match self.on_spot {
            true => is_stale(offer.quote.spot_as_of, Class::Spot, self.today),
            false => is_stale(offer.quote.as_of, self.catalog.class(&offer.machine.provider), self.today),
        }
    }
}

fn row<'a>(prices: &'a Prices<'_>, offer: &'a Offer<'_>) -> Row<'a> {
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
        accelerator_memory_gib: prices.memory_gib(offer).map(Number),
        stale: prices.is_stale(offer),
        retired: prices.catalog.retired(machine),
    }
}

/// How a price is known, in words.
pub(in crate::report) fn basis(basis: &Basis) -> String {
    match basis {
        Basis::Own { line, .. } => format!("your own price, line {line}"),
        Basis::Refreshed { region } => format!("refreshed row of {region}"),
        Basis::Unknown => "not known".to_owned(),
        Basis::Listed { region: "*" } => "listed everywhere".to_owned(),
        Basis::Listed { region } => format!("listed in {region}"),
        Basis::Regional { from, factor } => format!("estimate: {from} × {}", *factor as f64 / 1e6),
        Basis::Elsewhere { from } => format!("estimate: as in {from}"),
    }
}

fn text(prices: &Prices<'_>) -> String {
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
        "one GiB",
        "as of",
        "basis",
    ];
    let mut table = TextTable::new(&headings, 3..10);
    let mut has_old = false;
    for offer in prices.offers {
        let Offer { machine, region, quote } = offer;
        let money = |money: Option<Money>| money.map_or("-".to_owned(), |money| Currency::USD.per_hour(money));
        let price = if prices.on_spot { quote.spot } else { quote.on_demand };
        let each = price.filter(|_| machine.count > 0.0).map(|price| price.times(1.0 / machine.count));
        let gib = each.zip(prices.memory_gib(offer)).map(|(each, gib)| each.times(1.0 / gib));
        let is_old = prices.is_stale(offer);
        has_old |= is_old;
        let date = if prices.on_spot { quote.spot_as_of } else { quote.as_of };
        let retired = prices.catalog.retired(machine);
        let retired = retired.map(|since| format!(", retired {since}").trim_end().to_owned()).unwrap_or_default();
        table.row(vec![
            format!("{} {}", machine.provider, machine.name),
            (*region).to_owned(),
            format!("{} × {}", Number(machine.count), machine.accelerator),
            money(quote.on_demand),
            money(quote.spot),
            money(quote.reserved_1y),
            money(quote.reserved_3y),
            price.map_or("-".to_owned(), |price| Currency::USD.amount(price.times(HOURS_PER_MONTH))),
            money(each),
            money(gib),
            format!("{date}{}", if is_old { " old" } else { "" }),
            format!("{}{retired}", basis(&quote.basis)),
        ]);
    }
    let bought = if prices.on_spot { "spot" } else { "on demand" };
    let old = if has_old { "; old prices may have moved: `gpulint catalog update`" } else { "" };
    format!(
        "{}dollars an hour; a month of {HOURS_PER_MONTH} hours, one GPU and one GiB of its memory {bought}{old}\n",
        table.print()
    )
}
