//! Reads current spot prices of each AWS zone from EC2, as XML pages with a thousand prices each. This requires an
//! account.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Money;
use crate::http::{AwsKeys, Credential, Error, HttpClient, HttpMethod, HttpRequest};
use crate::source::moment;

use super::access::{Access, LONGEST_LINK, PriceSource, malformed};
use super::row::Rows;

const VERSION: &str = "2016-11-15";
const PRICES_PER_PAGE: usize = 1000;
/// A hundred machines in six zones fit on one page.
const MOST_PAGES: usize = 50;

/// The start and the amount of the price, by machine and zone.
type Zones = BTreeMap<(String, String), (String, Money)>;

/// Adds the price of the cheapest zone to the rows of a region.
pub(super) fn add(rows: &mut Rows, region: &str, keys: &AwsKeys, access: &Access<'_>) -> Result<(), Error> {
    let machines: Vec<String> =
        rows.keys().filter(|(_, at)| at == region).map(|(machine, _)| machine.clone()).collect();
    if machines.is_empty() {
        return Ok(());
    }
    (access.progress)(&format!("AWS spot prices of {region}"));
    let credential = Credential::Aws { keys: keys.clone(), region: region.to_owned(), service: "ec2" };
    let client = access.client_at(PriceSource::AwsSpotHistory, region, credential)?;
    let zones = ask(&client, &question(&machines, access.clock.now())?)?;
    let mut cheapest: BTreeMap<String, Money> = BTreeMap::new();
    for ((machine, _), (_, price)) in zones {
        let known = cheapest.entry(machine).or_insert(price);
        *known = price.min(*known);
    }
    for (machine, price) in cheapest {
        let Some(row) = rows.get_mut(&(machine, region.to_owned())) else { continue };
        row.spot = Some(price);
        (row.spot_as_of, row.spot_basis) = (access.today.clone(), "lowest-zone".to_owned());
    }
    Ok(())
}

/// Requests the current prices, with a time span that begins and ends now.
fn question(machines: &[String], unix_seconds: u64) -> Result<Vec<(String, String)>, Error> {
    let now = moment(unix_seconds).ok_or_else(|| malformed("the clock of this machine is wrong"))?;
    let fixed = [
        ("Action", "DescribeSpotPriceHistory"),
        ("Version", VERSION),
        ("ProductDescription.1", "Linux/UNIX"),
        ("StartTime", &now),
        ("EndTime", &now),
        ("MaxResults", &PRICES_PER_PAGE.to_string()),
    ];
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let named = machines.iter().enumerate().map(|(at, name)| (format!("InstanceType.{}", at + 1), name.clone()));
    Ok(fixed.into_iter().chain(named).collect())
}

fn ask(client: &HttpClient<'_>, question: &[(String, String)]) -> Result<Zones, Error> {
    let (mut zones, mut token, mut seen) = (Zones::new(), String::new(), BTreeSet::new());
    loop {
        let next = (!token.is_empty()).then(|| ("NextToken".to_owned(), token.clone()));
        let pairs = question.iter().cloned().chain(next);
        let form: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", coded(&value))).collect();
        let request = HttpRequest { accept: "*/*", ..HttpRequest::new(HttpMethod::Post, []) };
        let text = client.send(&request.form(form.join("&")).repeatable())?.text();
        // An answer without its end was cut off and must not count as complete.
        if !text.trim_end().ends_with("</DescribeSpotPriceHistoryResponse>") || !text.contains("<spotPriceHistorySet") {
            return Err(malformed("EC2 lists no spot prices"));
        }
        text.split("<item>").skip(1).for_each(|item| read(item, &mut zones));
        token = inside(&text, "nextToken").map(plain).unwrap_or_default();
        if token.is_empty() {
            return Ok(zones);
        }
        if token.len() > LONGEST_LINK || !seen.insert(token.clone()) || seen.len() > MOST_PAGES {
            return Err(malformed("EC2's pages of spot prices form a loop"));
        }
    }
}

/// Reads a price. If a zone has several prices, the one with the latest start wins.
fn read(item: &str, zones: &mut Zones) {
    let item = item.split("</item>").next().unwrap_or_default();
    let text = |name: &str| inside(item, name).unwrap_or_default();
    let price = text("spotPrice").parse::<f64>().ok().filter(|price| price.is_finite() && *price > 0.0);
    let (Some(price), "Linux/UNIX") = (price, text("productDescription")) else { return };
    let since = text("timestamp");
    let key = (text("instanceType").to_owned(), text("availabilityZone").to_owned());
    if zones.get(&key).is_none_or(|(known, _)| known.as_str() < since) {
        zones.insert(key, (since.to_owned(), Money::from_usd(price)));
    }
}

/// Returns the content of the first element with this name. The answer has no attributes and no nested names.
fn inside<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inside, _)| inside)
}

fn plain(text: &str) -> String {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    marks.iter().fold(text.to_owned(), |text, (mark, letter)| text.replace(mark, letter))
}

/// Encodes a value for a form.
fn coded(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let letter = |byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(letter).collect()
}
