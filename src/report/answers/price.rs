//! Writes prices of the catalog, for `gpulint price`.

use serde::Serialize;

use crate::catalog::{Basis, Catalog, Currency, Money, Offer, PriceClass, is_stale};
use crate::pricing::{HOURS_PER_MONTH, OWN_PROVIDER, Owned};
use crate::report::formats::json;
use crate::report::formats::json::WireNumber;
use crate::report::formats::text::TextTable;
use crate::report::{Format, ReportStyle, one_line};
use crate::source::Date;

/// The result of a price query.
pub struct PriceAnswer<'a> {
    pub catalog: &'a Catalog,
    pub offers: &'a [Offer<'a>],
    pub hardware: &'a [Hardware<'a>],
    /// True if the prices per month, per GPU and per GiB are spot prices, and not on demand.
    pub on_spot: bool,
    /// The day from which ages count.
    pub today: Date,
}

/// The user's own hardware, with the requested number of accelerators.
pub struct Hardware<'a> {
    pub accelerator: &'a str,
    pub count: f64,
    pub owned: &'a Owned,
}

#[derive(Serialize)]
struct Row<'a> {
    provider: &'a str,
    machine: &'a str,
    region: &'a str,
    accelerator: &'a str,
    count: WireNumber,
    on_demand_usd_per_hour: Option<WireNumber>,
    spot_usd_per_hour: Option<WireNumber>,
    reserved_1y_usd_per_hour: Option<WireNumber>,
    reserved_3y_usd_per_hour: Option<WireNumber>,
    basis: String,
    as_of: &'a str,
    spot_as_of: &'a str,
    source: &'a str,
    confidence: &'a str,
    accelerator_memory_gib: Option<WireNumber>,
    stale: bool,
    retired: Option<&'a str>,
}

/// Returns the prices in a format; `None` if the command does not support the format.
pub fn price(format: Format, prices: &PriceAnswer<'_>, style: ReportStyle) -> Option<String> {
    match format {
        Format::Json => Some(json::print(&rows(prices))),
        Format::Text => Some(text(prices, style)),
        _ => None,
    }
}

impl PriceAnswer<'_> {
    /// Returns the memory of one whole accelerator in GiB.
    fn memory_gib(&self, accelerator: &str) -> Option<f64> {
        let known = self.catalog.accelerator(accelerator)?;
        Some(known.memory_gib).filter(|gib| *gib > 0.0)
    }

    fn has_old_spot(&self, offer: &Offer<'_>) -> bool {
        offer.quote.spot.is_some() && is_stale(offer.quote.spot_as_of, PriceClass::Spot, self.today)
    }

    fn is_stale(&self, offer: &Offer<'_>) -> bool {
        match self.on_spot {
            true => self.has_old_spot(offer),
            false => is_stale(offer.quote.as_of, self.catalog.class(&offer.machine.provider), self.today),
        }
    }
}

fn rows<'a>(prices: &'a PriceAnswer<'_>) -> Vec<Row<'a>> {
    let own = prices.hardware.iter().map(|it| own_row(prices, it));
    own.chain(prices.offers.iter().map(|offer| row(prices, offer))).collect()
}

fn own_row<'a>(prices: &'a PriceAnswer<'_>, it: &'a Hardware<'_>) -> Row<'a> {
    Row {
        provider: OWN_PROVIDER,
        machine: it.accelerator,
        region: "*",
        accelerator: it.accelerator,
        count: WireNumber(it.count),
        on_demand_usd_per_hour: Some(it.owned.per_accelerator_hour.times(it.count).into()),
        spot_usd_per_hour: None,
        reserved_1y_usd_per_hour: None,
        reserved_3y_usd_per_hour: None,
        basis: OWN_HARDWARE.to_owned(),
        as_of: "",
        spot_as_of: "",
        source: &it.owned.how,
        confidence: "high",
        accelerator_memory_gib: prices.memory_gib(it.accelerator).map(WireNumber),
        stale: false,
        retired: None,
    }
}

const OWN_HARDWARE: &str = "your own hardware";

fn row<'a>(prices: &'a PriceAnswer<'_>, offer: &'a Offer<'_>) -> Row<'a> {
    let (machine, quote) = (&offer.machine, &offer.quote);
    let number = |money: Option<Money>| money.map(WireNumber::from);
    Row {
        provider: &machine.provider,
        machine: &machine.name,
        region: offer.region,
        accelerator: &machine.accelerator,
        count: WireNumber(machine.count),
        on_demand_usd_per_hour: number(quote.on_demand),
        spot_usd_per_hour: number(quote.spot),
        reserved_1y_usd_per_hour: number(quote.reserved_1y),
        reserved_3y_usd_per_hour: number(quote.reserved_3y),
        basis: basis(&quote.basis),
        as_of: quote.as_of,
        spot_as_of: quote.spot_as_of,
        source: &quote.source,
        confidence: quote.confidence,
        accelerator_memory_gib: prices.memory_gib(&machine.accelerator).map(WireNumber),
        stale: prices.is_stale(offer),
        retired: prices.catalog.retired(machine),
    }
}

/// Returns the basis of a price, in words.
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

const HEADINGS: [&str; 14] = [
    "machine",
    "region",
    "accelerators",
    "on demand",
    "spot",
    "1 year",
    "3 years",
    "per month",
    "per GPU",
    "per GiB",
    "as of",
    "spot as of",
    "basis",
    "source",
];

fn text(prices: &PriceAnswer<'_>, style: ReportStyle) -> String {
    let mut table = TextTable::new(&HEADINGS, 3..10);
    let mut sources = Sources::default();
    for it in prices.hardware {
        table.row(own_cells(prices, it, &mut sources));
    }
    for offer in prices.offers {
        table.row(cells(prices, offer, &mut sources));
    }
    let bought = if prices.on_spot { "spot" } else { "on demand" };
    let has_old = prices.offers.iter().any(|offer| prices.is_stale(offer) || prices.has_old_spot(offer));
    let old = if has_old { "; some prices are outdated, update: `gpulint catalog update`" } else { "" };
    format!(
        "{}{}dollars per hour; per month ({HOURS_PER_MONTH} hours), per GPU and per GiB of its memory: {bought}{old}\n",
        table.print_within(style.columns),
        sources.print(),
    )
}

/// The sources of the prices in a table, numbered in order of appearance.
#[derive(Default)]
struct Sources(Vec<String>);

impl Sources {
    fn number(&mut self, source: &str) -> String {
        if source.is_empty() {
            return String::new();
        }
        let at = self.0.iter().position(|known| known == source).unwrap_or_else(|| {
            self.0.push(source.to_owned());
            self.0.len() - 1
        });
        format!("[{}]", at + 1)
    }

    fn print(&self) -> String {
        self.0.iter().zip(1..).map(|(source, number)| format!("[{number}] {}\n", one_line(source))).collect()
    }
}

fn cells(prices: &PriceAnswer<'_>, offer: &Offer<'_>, sources: &mut Sources) -> Vec<String> {
    let Offer { machine, region, quote } = offer;
    let price = if prices.on_spot { quote.spot } else { quote.on_demand };
    let each = price.filter(|_| machine.count > 0.0).map(|price| price.times(1.0 / machine.count));
    let gib = each.zip(prices.memory_gib(&machine.accelerator)).map(|(each, gib)| each.times(1.0 / gib));
    let old = |date: &str, is_old| format!("{date}{}", if is_old { " outdated" } else { "" });
    let (class, today) = (prices.catalog.class(&machine.provider), prices.today);
    let spot_of = if quote.spot.is_some() { quote.spot_as_of } else { "" };
    let retired = prices.catalog.retired(machine);
    let retired = retired.map(|since| format!(", retired {since}").trim_end().to_owned()).unwrap_or_default();
    vec![
        format!("{} {}", machine.provider, machine.name),
        (*region).to_owned(),
        format!("{} × {}", WireNumber(machine.count), machine.accelerator),
        an_hour(quote.on_demand),
        an_hour(quote.spot),
        an_hour(quote.reserved_1y),
        an_hour(quote.reserved_3y),
        price.map_or("-".to_owned(), |price| Currency::USD.amount(price.times(HOURS_PER_MONTH))),
        an_hour(each),
        an_hour(gib),
        old(quote.as_of, is_stale(quote.as_of, class, today)),
        old(spot_of, prices.has_old_spot(offer)),
        format!("{}{retired}", basis(&quote.basis)),
        sources.number(&quote.source),
    ]
}

fn own_cells(prices: &PriceAnswer<'_>, it: &Hardware<'_>, sources: &mut Sources) -> Vec<String> {
    let each = it.owned.per_accelerator_hour;
    let whole = each.times(it.count);
    let gib = prices.memory_gib(it.accelerator).map(|gib| each.times(1.0 / gib));
    vec![
        OWN_PROVIDER.to_owned(),
        "*".to_owned(),
        format!("{} × {}", WireNumber(it.count), it.accelerator),
        an_hour(Some(whole)),
        "-".to_owned(),
        "-".to_owned(),
        "-".to_owned(),
        Currency::USD.amount(whole.times(HOURS_PER_MONTH)),
        an_hour(Some(each)),
        an_hour(gib),
        String::new(),
        String::new(),
        OWN_HARDWARE.to_owned(),
        sources.number(&it.owned.how),
    ]
}

fn an_hour(money: Option<Money>) -> String {
    money.map_or("-".to_owned(), |money| Currency::USD.per_hour(money))
}
