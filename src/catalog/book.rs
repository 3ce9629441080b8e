//! Extracts billed unit prices from a billing export, with the columns of FOCUS or of AWS's reports.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Catalog;
use super::clouds::AWS;
use super::format::millionths;
use super::money::Money;
use super::own::OwnPrice;

/// A column of an export, named differently in FOCUS and in AWS's cost and usage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Provider,
    Region,
    Machine,
    Description,
    Price,
    Unit,
    Way,
    Kind,
    Currency,
    Start,
    System,
    Usage,
}

/// If a file has several of these columns, the first name wins.
const NAMES: [(Column, &[&str]); 12] = [
    (Column::Provider, &["serviceprovidername", "providername", "publishername"]),
    (Column::Region, &["regionid", "product_region_code", "product_region"]),
    (Column::Machine, &["skupricedetails", "product_instance_type"]),
    (Column::Description, &["chargedescription", "line_item_line_item_description"]),
    (Column::Price, &["contractedunitprice", "listunitprice", "line_item_unblended_rate"]),
    (Column::Unit, &["pricingunit", "pricing_unit"]),
    (Column::Way, &["pricingcategory", "pricing_term"]),
    (Column::Kind, &["chargecategory", "line_item_line_item_type"]),
    (Column::Currency, &["billingcurrency", "line_item_currency_code"]),
    (Column::Start, &["chargeperiodstart", "line_item_usage_start_date"]),
    (Column::System, &["product_operating_system"]),
    (Column::Usage, &["line_item_usage_type"]),
];

/// The positions of the columns in an export.
pub(super) struct Export {
    at: Vec<(Column, Vec<usize>)>,
    is_aws: bool,
}

/// A billed price for one hour of one machine.
pub(super) struct Billed {
    pub(super) provider: String,
    pub(super) machine: String,
    pub(super) region: String,
    pub(super) currency: String,
    price: Money,
    is_spot: bool,
    start: String,
}

impl Export {
    /// Returns the columns, or `None` if the header is not that of an export.
    pub(super) fn of(header: &[String]) -> Option<Export> {
        let place = |name: &&str| header.iter().position(|it| it.trim().eq_ignore_ascii_case(name));
        let at: Vec<(Column, Vec<usize>)> =
            NAMES.iter().map(|(column, names)| (*column, names.iter().filter_map(place).collect())).collect();
        let export = Export { at, is_aws: place(&"line_item_unblended_rate").is_some() };
        (export.has(Column::Price) && export.has(Column::Unit) && export.has(Column::Kind)).then_some(export)
    }

    fn has(&self, column: Column) -> bool {
        self.at.iter().any(|(it, places)| *it == column && !places.is_empty())
    }

    fn cell<'r>(&self, record: &'r [String], column: Column) -> &'r str {
        let places = self.at.iter().find(|(it, _)| *it == column).map_or(&[][..], |(_, places)| places);
        let cells = places.iter().filter_map(|place| record.get(*place)).map(|cell| cell.trim());
        cells.into_iter().find(|cell| !cell.is_empty()).unwrap_or_default()
    }

    /// Returns the price of a machine with accelerators. `None` if the line is about something else, or about hours
    /// that a commitment covers.
    pub(super) fn read(&self, record: &[String], catalog: &Catalog) -> Option<Billed> {
        let cell = |column| self.cell(record, column);
        if !cell(Column::Kind).eq_ignore_ascii_case("usage") || !is_an_hour(cell(Column::Unit)) {
            return None;
        }
        let details: Option<Value> = serde_json::from_str(cell(Column::Machine)).ok();
        let detail = |name: &str| details.as_ref().and_then(|it| it.get(name)).and_then(Value::as_str);
        let system = detail("OperatingSystem").unwrap_or(cell(Column::System));
        let is_windows = |text: &str| text.to_ascii_lowercase().contains("windows");
        if is_windows(system) || is_windows(cell(Column::Description)) {
            return None;
        }
        let is_spot = match cell(Column::Way).to_ascii_lowercase().as_str() {
            "standard" | "ondemand" | "on demand" => false,
            "dynamic" | "spot" => true,
            "" if self.is_aws => cell(Column::Usage).contains("SpotUsage"),
            _ => return None,
        };
        let provider = if self.is_aws { AWS } else { catalog.billed_by(cell(Column::Provider))? };
        let plain = (details.is_none() && self.is_aws).then(|| cell(Column::Machine));
        let named = detail("InstanceType").or_else(|| detail("x_InstanceType")).or(plain);
        let machine = match named {
            Some(name) => catalog.machine(provider, name)?,
            None => cell(Column::Description).split_whitespace().find_map(|word| catalog.machine(provider, word))?,
        };
        let price = millionths(cell(Column::Price)).filter(|price| *price > 0)?;
        Some(Billed {
            provider: provider.to_owned(),
            machine: machine.name.to_string(),
            region: catalog.region(provider, cell(Column::Region))?.to_owned(),
            currency: cell(Column::Currency).to_ascii_uppercase(),
            price: Money::from_micros(price),
            is_spot,
            start: cell(Column::Start).to_owned(),
        })
    }
}

/// Returns one row for each machine and region. If there are several prices, the one that was billed last wins.
pub(super) fn rows(billed: Vec<(usize, Billed)>, usd_per_unit: i64) -> Vec<OwnPrice> {
    let mut rows: BTreeMap<(String, String, String), (OwnPrice, [String; 2])> = BTreeMap::new();
    for (line, it) in billed {
        let key = (it.provider.clone(), it.machine.clone(), it.region.clone());
        let fresh = || (OwnPrice::of_machine(it.provider, it.machine, it.region, usd_per_unit), Default::default());
        let (row, last) = rows.entry(key).or_insert_with(fresh);
        let last = &mut last[usize::from(it.is_spot)];
        if it.start < *last {
            continue;
        }
        *last = it.start;
        row.line = line;
        *(if it.is_spot { &mut row.spot } else { &mut row.on_demand }) = Some(it.price);
    }
    rows.into_values().map(|(row, _)| row).collect()
}

/// Whether the quantity of a bill in this unit is a number of hours.
pub fn is_an_hour(unit: &str) -> bool {
    matches!(unit.to_ascii_lowercase().as_str(), "h" | "hr" | "hrs" | "hour" | "hours" | "1 hour" | "1 hr")
}

impl Catalog {
    /// Returns the provider for a name in exports, such as `Amazon Web Services` or `Nebius B.V.`.
    pub fn billed_by(&self, name: &str) -> Option<&str> {
        self.provider_called(name.split([' ', '.', '-']).next()?)
    }
}
