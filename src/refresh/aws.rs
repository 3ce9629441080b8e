//! Reads the bulk price list of AWS: one file of hundreds of megabytes for each region, line by line.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error as IoError, ErrorKind, Read};

use serde_json::Value;

use crate::catalog::{AWS, Catalog, Money};
use crate::http::{Credential, Error, HttpClient, HttpMethod, HttpRequest};
use crate::source::{Date, csv_records};

use super::access::{Access, FetchedPrices, PriceSource, malformed};
use super::guard::Rejected;
use super::row::{PriceRow, Rows};
use super::spot;

/// A line of the list has about a thousand characters.
const LONGEST_LINE: u64 = 1 << 20;
/// The list of the largest region has about four hundred thousand lines.
const MOST_LINES: usize = 10_000_000;
/// The maximum number of prices in savings plans. A region has about 900 plans for 20 machines each.
const MOST_ITEMS: usize = 200_000;
/// A name such as `USE1-BoxUsage:p5.48xlarge` has 25 characters.
const LONGEST_NAME: usize = 200;

pub(super) fn fetch(catalog: &Catalog, access: &Access<'_>) -> Result<FetchedPrices, Error> {
    let client = access.client(PriceSource::AwsPrices, Credential::Anonymous)?;
    let offers = ask(&client, &["offers", "v1.0", "aws", "index.json"])?;
    let link = |name: &str| {
        let link = offers.pointer(&format!("/offers/AmazonEC2/{name}")).and_then(Value::as_str);
        link.ok_or_else(|| malformed(format!("the index of AWS lacks `{name}`")))
    };
    let regions = client.follow_link(link("currentRegionIndexUrl")?)?.json()?;
    let mut list = List { catalog, access, rows: BTreeMap::new(), rejected: Vec::new() };
    let mut notes = Vec::new();
    for region in access.regions_of(AWS, catalog) {
        let pointer = format!("/regions/{region}/currentVersionUrl");
        let Some(link) = regions.pointer(&pointer).and_then(Value::as_str) else {
            notes.push(format!("AWS lists no prices for {region}"));
            continue;
        };
        (access.progress)(&format!("AWS {region}"));
        list.read(&client, &region, link)?;
    }
    if let Err(error) = link("currentSavingsPlanIndexUrl").and_then(|link| list.savings(&client, link)) {
        notes.push(format!("prices of savings plans are missing: {}", error.message));
    }
    notes.extend(spot::add(&mut list.rows, catalog, access));
    let rows = list.rows.into_values().filter(PriceRow::has_price).collect();
    Ok(FetchedPrices { rows, rejected: list.rejected, notes })
}

fn ask(client: &HttpClient<'_>, path: &[&str]) -> Result<Value, Error> {
    client.send(&HttpRequest::new(HttpMethod::Get, path.to_vec()))?.json()
}

struct List<'a> {
    catalog: &'a Catalog,
    access: &'a Access<'a>,
    rows: Rows,
    rejected: Vec<Rejected>,
}

impl List<'_> {
    /// Reads the list of one region. The index contains its JSON address, and the CSV version has the same name.
    fn read(&mut self, client: &HttpClient<'_>, region: &str, link: &str) -> Result<(), Error> {
        let link = link.strip_suffix(".json").map_or(link.to_owned(), |stem| format!("{stem}.csv"));
        let mut found = Region::default();
        let reply = client.stream_link(&link, &mut |answer| {
            found = Region::default();
            found.read(self.catalog, region, answer)
        });
        reply?;
        if !found.complete {
            return Err(malformed(format!("the price list of AWS for {region} has no header")));
        }
        let day = self.day(region, &found.date)?;
        self.rejected.append(&mut found.rejected);
        for mut row in found.rows.into_values() {
            row.as_of.clone_from(&day);
            self.rows.insert((row.machine.clone(), row.region.clone()), row);
        }
        Ok(())
    }

    /// Returns the date of a list. A future date is an error, because the list would count as the newest one forever.
    fn day(&self, region: &str, said: &str) -> Result<String, Error> {
        if said.is_empty() {
            return Ok(self.access.today.clone());
        }
        let tomorrow = self.access.today.parse::<Date>().ok().and_then(|day| Date::from_unix_days(day.unix_days() + 1));
        match said.parse::<Date>() {
            Ok(day) if tomorrow.is_none_or(|tomorrow| day <= tomorrow) => Ok(day.to_string()),
            _ => Err(malformed(format!("the price list of AWS for {region} is marked as the list of {said}"))),
        }
    }

    /// Reads the prices of family plans without upfront payment, and uses those that are lower than a reservation.
    fn savings(&mut self, client: &HttpClient<'_>, link: &str) -> Result<(), Error> {
        let index = client.follow_link(link)?.json()?;
        let regions = index.get("regions").and_then(Value::as_array);
        for entry in regions.ok_or_else(|| malformed("the index of savings plans lists no regions"))? {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
            let region = text("regionCode");
            if !self.rows.keys().any(|(_, known)| known == region) {
                continue;
            }
            (self.access.progress)(&format!("AWS savings plans of {region}"));
            let mut plans = None;
            client.stream_link(text("versionUrl"), &mut |answer| {
                let answer = ShortTexts { inner: answer, since_quote: 0 };
                let read: Plans = serde_json::from_reader(BufReader::new(answer)).map_err(IoError::from)?;
                plans = Some(read);
                Ok(())
            })?;
            if let Some(plans) = plans {
                plans.apply(region, &mut self.rows);
            }
        }
        Ok(())
    }
}

/// The list of one region while it is read.
#[derive(Default)]
struct Region {
    header: Vec<String>,
    rows: BTreeMap<String, PriceRow>,
    rejected: Vec<Rejected>,
    date: String,
    complete: bool,
}

impl Region {
    fn read(&mut self, catalog: &Catalog, region: &str, answer: &mut dyn Read) -> std::io::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 16, answer);
        let mut line = String::new();
        for _ in 0..MOST_LINES {
            line.clear();
            if reader.by_ref().take(LONGEST_LINE).read_line(&mut line)? == 0 {
                return Ok(());
            }
            if !line.ends_with('\n') && line.len() as u64 >= LONGEST_LINE {
                return Err(IoError::new(ErrorKind::InvalidData, "a line of the list is too long"));
            }
            // Most lines are about machines without accelerators, so they are skipped before they are parsed.
            if self.complete && !line.contains("Instance Hour") && !line.contains("Reserved") {
                continue;
            }
            let Some((_, Ok(cells))) = csv_records(&line).next() else { continue };
            self.record(catalog, region, cells);
        }
        Err(IoError::new(ErrorKind::InvalidData, "the list is too long"))
    }

    fn record(&mut self, catalog: &Catalog, region: &str, cells: Vec<String>) {
        if !self.complete {
            match cells.first().map(String::as_str) {
                Some("SKU") => (self.header, self.complete) = (cells, true),
                Some("Publication Date") => {
                    self.date = cells.get(1).and_then(|date| date.get(..10)).unwrap_or_default().to_owned();
                }
                _ => {}
            }
            return;
        }
        let cell = |column: &str| {
            let at = self.header.iter().position(|name| name == column);
            at.and_then(|at| cells.get(at)).map(String::as_str).unwrap_or_default()
        };
        let is = |column: &str, expected: &str| cell(column) == expected;
        let is_plain = is("Operating System", "Linux")
            && is("Tenancy", "Shared")
            && is("CapacityStatus", "Used")
            && is("Pre Installed S/W", "NA")
            && is("License Model", "No License required")
            && (is("MarketOption", "OnDemand") || cell("MarketOption").is_empty())
            && is("Location Type", "AWS Region")
            && is("Region Code", region);
        if !is_plain || cell("Unit") == "Quantity" {
            return;
        }
        let name = cell("Instance Type");
        let Some(machine) = catalog.machine(AWS, name).filter(|machine| machine.name == name) else { return };
        if !is("Currency", "USD") || !is("Unit", "Hrs") {
            let why = format!("the price is in {} per {}", cell("Currency"), cell("Unit"));
            Rejected { machine: name.to_owned(), region: region.to_owned(), why }.note(&mut self.rejected);
            return;
        }
        let price = match cell("PricePerUnit").parse::<f64>() {
            // Products with another way of buying have the price zero.
            Ok(0.0) => return,
            Ok(price) if price.is_finite() => Money::from_usd(price),
            _ => {
                let why = format!("`{}` is not a valid price", cell("PricePerUnit"));
                Rejected { machine: name.to_owned(), region: region.to_owned(), why }.note(&mut self.rejected);
                return;
            }
        };
        let no_upfront = is("PurchaseOption", "No Upfront") && is("OfferingClass", "standard");
        let term = cell("LeaseContractLength");
        let term_type = cell("TermType");
        let row =
            self.rows.entry(name.to_owned()).or_insert_with(|| PriceRow::of(&machine, region, "", "AWS Price List"));
        match (term_type, term) {
            ("OnDemand", _) => row.on_demand = Some(price),
            ("Reserved", "1yr") if no_upfront => row.reserved_1y = Some(price),
            ("Reserved", "3yr") if no_upfront => row.reserved_3y = Some(price),
            _ => return,
        }
        if term_type == "Reserved" {
            row.reserved_basis = "list-no-upfront".to_owned();
        }
    }
}

/// A reader that limits the length of strings, because the JSON parser stores each string as a whole.
struct ShortTexts<R> {
    inner: R,
    since_quote: u64,
}

impl<R: Read> Read for ShortTexts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        self.since_quote = match bytes.iter().rposition(|byte| *byte == b'"') {
            Some(at) => (read - at) as u64,
            None => self.since_quote + read as u64,
        };
        if self.since_quote > LONGEST_LINE {
            return Err(IoError::new(ErrorKind::InvalidData, "a string of the list is too long"));
        }
        Ok(read)
    }
}

/// The required parts of a region's savings plans. The parser drops everything else.
#[derive(serde::Deserialize)]
struct Plans {
    #[serde(deserialize_with = "needed")]
    products: Vec<Product>,
    terms: Terms,
}

/// The size of the required part of an item. An item with size 0 is dropped.
trait Needed {
    fn needed(&self) -> usize;
}

/// Reads the required items of a list, up to a limit that no list of machines reaches.
fn needed<'de, D: serde::Deserializer<'de>, T: Needed + serde::Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Items<T>(std::marker::PhantomData<T>);
    impl<'de, T: Needed + serde::Deserialize<'de>> serde::de::Visitor<'de> for Items<T> {
        type Value = Vec<T>;

        fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            to.write_str("a list")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
            let (mut kept, mut size) = (Vec::new(), 0);
            while let Some(item) = items.next_element::<T>()? {
                size += item.needed();
                kept.extend(Some(item).filter(|item| item.needed() > 0));
                if size > MOST_ITEMS {
                    return Err(serde::de::Error::custom("a list of savings plans is too long"));
                }
            }
            Ok(kept)
        }
    }
    from.deserialize_seq(Items(std::marker::PhantomData))
}

impl Needed for Product {
    /// A plan with a family is for instances only. Other plans apply to all compute and cost more.
    fn needed(&self) -> usize {
        let Attributes { purchase_option, purchase_term, instance_type } = &self.attributes;
        let is_short = [&self.sku, purchase_term, instance_type].iter().all(|text| text.len() < LONGEST_NAME);
        usize::from(purchase_option == "No Upfront" && !instance_type.is_empty() && is_short)
    }
}

impl Needed for Plan {
    fn needed(&self) -> usize {
        if self.sku.len() < LONGEST_NAME { self.rates.len() } else { 0 }
    }
}

impl Needed for Rate {
    fn needed(&self) -> usize {
        let texts = [&self.discounted_usage_type, &self.discounted_rate.price];
        usize::from(self.is_linux_hour() && texts.iter().all(|text| text.len() < LONGEST_NAME))
    }
}

#[derive(serde::Deserialize)]
struct Product {
    sku: String,
    attributes: Attributes,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attributes {
    #[serde(default)]
    purchase_option: String,
    #[serde(default)]
    purchase_term: String,
    #[serde(default)]
    instance_type: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Terms {
    #[serde(deserialize_with = "needed")]
    savings_plan: Vec<Plan>,
}

#[derive(serde::Deserialize)]
struct Plan {
    sku: String,
    #[serde(deserialize_with = "needed")]
    rates: Vec<Rate>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rate {
    discounted_usage_type: String,
    #[serde(default)]
    discounted_operation: String,
    discounted_rate: DiscountedRate,
    #[serde(default)]
    unit: String,
}

#[derive(serde::Deserialize)]
struct DiscountedRate {
    price: String,
    currency: String,
}

impl Plans {
    fn apply(&self, region: &str, rows: &mut Rows) {
        for plan in &self.terms.savings_plan {
            let product = self.products.iter().find(|product| product.sku == plan.sku);
            let Some(attributes) = product.map(|product| &product.attributes) else { continue };
            for rate in plan.rates.iter().filter(|rate| rate.is_linux_hour()) {
                let Some((_, name)) = rate.discounted_usage_type.rsplit_once(':') else { continue };
                let Some(row) = rows.get_mut(&(name.to_owned(), region.to_owned())) else { continue };
                let Some(price) = rate.discounted_rate.price.parse().ok().map(Money::from_usd) else { continue };
                let to = match attributes.purchase_term.as_str() {
                    "1yr" => &mut row.reserved_1y,
                    "3yr" => &mut row.reserved_3y,
                    _ => continue,
                };
                if price > Money::ZERO && to.is_none_or(|known| price < known) {
                    *to = Some(price);
                    row.reserved_basis = "list-no-upfront".to_owned();
                }
            }
        }
    }
}

impl Rate {
    fn is_linux_hour(&self) -> bool {
        let linux = matches!(self.discounted_operation.as_str(), "RunInstances" | "");
        linux
            && self.unit == "Hrs"
            && self.discounted_rate.currency == "USD"
            && self.discounted_usage_type.contains("BoxUsage")
    }
}
