//! Reads a signed file with the prices of many providers, so that users need not query each provider.
//!
//! The file is a price table with a column `provider`. Its signature is an Ed25519 signature over all bytes. Its prices
//! are checked like the answers of providers. Its first line contains its date: a file that is older than the last
//! accepted one is rejected, even if it is signed, and a price that is older than the known one is ignored.

use std::collections::BTreeMap;

use ring::signature::{ED25519, UnparsedPublicKey};

use crate::catalog::{Basis, Catalog};
use crate::http::{Credential, Error, HttpErrorKind, HttpMethod, HttpRequest};
use crate::source::Date;

use super::access::{Access, MOST_ROWS, malformed};
use super::guard::Rejected;
use super::row::{self, PriceRow};
use super::{Update, guard};

/// The maximum size of a price file, which is more than all machines of all providers need.
pub const LONGEST_RELEASE_BYTES: u64 = 32 << 20;
/// The number of hexadecimal digits in a signature.
const SIGNATURE_DIGITS: usize = 128;
const KEY_DIGITS: usize = 64;

const FIRST_LINE: &str = "# Prices of gpulint, ";

/// The prices of a release, by provider, and the number of ignored rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceRelease {
    pub updates: BTreeMap<String, Update>,
    /// The number of rows that are not newer than the known prices.
    pub not_newer: usize,
}

/// Downloads a release and its signature. The signature has the same address with the suffix `.sig`.
pub fn fetch(address: &str, access: &Access<'_>) -> Result<(Vec<u8>, String), Error> {
    (access.progress)("signed prices");
    let origin = crate::http::HttpOrigin::parse(address, access.http.allow_plain_http)?;
    let beside = format!("{}.sig", origin.path());
    let client = crate::http::HttpClient::new(origin, Credential::Anonymous, access.http.clone(), access.clock)?;
    let request = || HttpRequest { accept: "*/*", ..HttpRequest::new(HttpMethod::Get, []) };
    let bytes = client.send(&request())?.body;
    let signature = client.at(&beside).send(&request())?.text();
    Ok((bytes, signature))
}

/// Checks that the holder of the key signed the bytes. Key and signature are hexadecimal; lines that begin with `#` are
/// comments.
pub fn verify(bytes: &[u8], signature: &str, key: &str) -> Result<(), Error> {
    let unusable = |what: &str| Error::new(HttpErrorKind::Unusable, what.to_owned());
    let key = digits(key, KEY_DIGITS).ok_or_else(|| unusable("the key must have 64 hexadecimal digits"))?;
    let signature = digits(signature, SIGNATURE_DIGITS)
        .ok_or_else(|| malformed("the signature must have 128 hexadecimal digits: no prices were updated"))?;
    UnparsedPublicKey::new(&ED25519, key)
        .verify(bytes, &signature)
        .map_err(|_| malformed("the signature does not match: another key signed the prices, or the file was changed; no prices were updated"))
}

fn digits(text: &str, count: usize) -> Option<Vec<u8>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let text: String = lines.collect();
    if text.len() != count || !text.is_ascii() {
        return None;
    }
    (0..count / 2).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

/// Returns the date of a file. A future date is an error, because it would block all other files until then.
pub fn day(bytes: &[u8], today: Date) -> Result<Date, Error> {
    let line = bytes.split(|byte| *byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok());
    let day = line.and_then(|line| line.strip_prefix(FIRST_LINE)?.trim().parse::<Date>().ok());
    let day = day.ok_or_else(|| malformed("the file has no date of its prices: no prices were updated"))?;
    // Clocks differ, and in the east it can already be tomorrow.
    if day.since(today) > 1 {
        return Err(malformed(format!("the prices are of {day}, which is in the future: no prices were updated")));
    }
    Ok(day)
}

/// Accepts newer prices. `earlier` contains the rows of earlier updates by provider, and `day` is the date of the file.
pub fn take(
    bytes: &[u8],
    day: Date,
    catalog: &Catalog,
    earlier: &[(String, String)],
    accept_changes: bool,
) -> Result<PriceRelease, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("the price file is not UTF-8 text"))?;
    let mut release = PriceRelease::default();
    let mut by_provider: BTreeMap<String, Vec<PriceRow>> = BTreeMap::new();
    for (provider, row) in row::read_with_provider(text) {
        // The provider's name becomes a file name, so it must be a known one.
        if catalog.providers().iter().any(|known| **known == *provider) {
            by_provider.entry(provider).or_default().push(row);
        }
    }
    if by_provider.is_empty() {
        return Err(malformed("the file contains no prices of a known provider"));
    }
    for (provider, rows) in by_provider {
        if rows.len() > MOST_ROWS {
            return Err(malformed(format!("the file lists more than {MOST_ROWS} prices of {provider}")));
        }
        let all = rows.len();
        let newer: Vec<PriceRow> = rows.into_iter().filter(|row| is_newer(catalog, &provider, row)).collect();
        release.not_newer += all - newer.len();
        let (later, newer): (Vec<PriceRow>, Vec<PriceRow>) = newer.into_iter().partition(|row| !is_dated(row, day));
        let mut judged = guard::judge_rows(&provider, catalog, newer, accept_changes);
        judged.rejected.extend(later.into_iter().map(|row| {
            let why = format!("its date {} is invalid, or later than the date of the file", guard::short(latest(&row)));
            Rejected { machine: guard::short(&row.machine), region: guard::short(&row.region), why }
        }));
        if judged.kept.is_empty() && judged.rejected.is_empty() {
            continue;
        }
        let before = earlier.iter().find(|(name, _)| *name == provider).map_or("", |(_, text)| text);
        let arrived = judged.kept.len();
        let rows = row::merge(row::read(before), judged.kept);
        release.updates.insert(provider, Update { rows, arrived, rejected: judged.rejected, notes: Vec::new() });
    }
    Ok(release)
}

fn is_newer(catalog: &Catalog, provider: &str, row: &PriceRow) -> bool {
    let machine = catalog.machine(provider, &row.machine);
    let quote = machine.as_ref().and_then(|machine| catalog.quote(machine, &row.region));
    let listed = quote.filter(|quote| matches!(quote.basis, Basis::Listed { .. } | Basis::Refreshed { .. }));
    listed.is_none_or(|quote| latest(row) > quote.as_of.max(quote.spot_as_of))
}

fn latest(row: &PriceRow) -> &str {
    row.as_of.as_str().max(&row.spot_as_of)
}

/// Whether a row has a date, and no date after that of the file.
fn is_dated(row: &PriceRow, day: Date) -> bool {
    let dates = [&row.as_of, &row.spot_as_of].into_iter().filter(|date| !date.is_empty());
    let mut days = dates.map(|date| date.parse::<Date>()).peekable();
    days.peek().is_some() && days.all(|date| date.is_ok_and(|date| date <= day))
}
