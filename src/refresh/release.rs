//! Reads a signed file with newer prices of many providers, so that users need not query each provider.
//!
//! The file contains tables, each after a line `# table NAME`; the table `prices` has a column `provider`. Its signature
//! is an Ed25519 signature over all bytes. Its rows are checked like the answers of providers. Its first line contains
//! its date: a file that is older than the last accepted one is rejected, even if it is signed, and a row that is older
//! than the known one is ignored.

use std::collections::BTreeMap;

use ring::signature::{ED25519, UnparsedPublicKey};

use crate::catalog::{Basis, Catalog, DATED_TABLES};
use crate::http::{Credential, Error, HttpErrorKind, HttpMethod, HttpRequest};
use crate::source::Date;

use super::access::{Access, MOST_ROWS, malformed};
use super::guard::Rejected;
use super::row::{self, PriceRow};
use super::tables::{self, MODELS, TableUpdate};
use super::{Update, guard};

/// The address of the file that the workflow `prices.yml` publishes each night.
pub const DAILY_PRICES: &str = "https://raw.githubusercontent.com/gpulint/gpulint/prices/prices.csv";
/// The public keys of that file.
pub const DAILY_KEYS: &str = include_str!("../../packaging/prices.keys");

/// The maximum size of a price file, which is more than all machines of all providers need.
pub const LONGEST_RELEASE_BYTES: u64 = 32 << 20;
/// The number of hexadecimal digits in a signature.
const SIGNATURE_DIGITS: usize = 128;
const KEY_DIGITS: usize = 64;
/// A file has one signature, or two while keys change. More only cost time.
const MOST_SIGNATURES: usize = 8;

const FIRST_LINE: &str = "# Prices of gpulint, ";
const TABLE_LINE: &str = "# table ";
const PRICES: &str = "prices";

/// The accepted rows of a file, and the number of ignored prices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceRelease {
    /// The prices of machines, by provider.
    pub updates: BTreeMap<String, Update>,
    /// Disks, commitments and models, by the name of the table.
    pub tables: BTreeMap<String, TableUpdate>,
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

/// Checks that the holder of one of the keys signed the bytes. Keys and signatures are lines of hexadecimal digits. There
/// are several while one key replaces another. Lines that begin with `#` are comments.
pub fn verify(bytes: &[u8], signatures: &str, keys: &str) -> Result<(), Error> {
    let unusable = |what: &str| Error::new(HttpErrorKind::Unusable, what.to_owned());
    let keys = lines(keys).map(|line| digits(line, KEY_DIGITS)).collect::<Option<Vec<_>>>().filter(|it| !it.is_empty());
    let keys = keys.ok_or_else(|| unusable("a key must have 64 hexadecimal digits"))?;
    let signatures = lines(signatures).take(MOST_SIGNATURES).map(|line| digits(line, SIGNATURE_DIGITS));
    let signatures = signatures.collect::<Option<Vec<_>>>().filter(|it| !it.is_empty());
    let signatures =
        signatures.ok_or_else(|| malformed("a signature must have 128 hexadecimal digits: no prices were updated"))?;
    let is_of = |key: &Vec<u8>| {
        let key = UnparsedPublicKey::new(&ED25519, key);
        signatures.iter().any(|signature| key.verify(bytes, signature).is_ok())
    };
    match keys.iter().any(is_of) {
        true => Ok(()),
        false => Err(malformed(
            "the signature does not match: another key signed the prices, or the file was changed; no prices were updated",
        )),
    }
}

/// Returns the lines of a file of keys or signatures without comments.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn digits(text: &str, count: usize) -> Option<Vec<u8>> {
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

/// Accepts newer rows. `earlier` contains the rows of earlier updates by provider, and `day` is the date of the file.
pub fn take(
    bytes: &[u8],
    day: Date,
    catalog: &Catalog,
    earlier: &[(String, String)],
    accept_changes: bool,
) -> Result<PriceRelease, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("the price file is not UTF-8 text"))?;
    let mut release = PriceRelease::default();
    for (table, text) in tables_of(text) {
        if table == PRICES {
            take_prices(&mut release, text, day, catalog, earlier, accept_changes)?;
            continue;
        }
        // A later version of the file may have tables that this program does not know.
        let taken = match table {
            MODELS => tables::take_models(text, day)?,
            table if DATED_TABLES.contains(&table) => tables::take(table, text, day, catalog, accept_changes)?,
            _ => continue,
        };
        release.tables.insert(table.to_owned(), taken);
    }
    match release.updates.is_empty() && release.tables.is_empty() && release.not_newer == 0 {
        true => Err(malformed("the file contains no prices of a known provider")),
        false => Ok(release),
    }
}

/// Returns the tables of a file. Rows before the first name of a table are prices.
fn tables_of(text: &str) -> Vec<(&str, &str)> {
    let mut tables = Vec::new();
    let (mut name, mut begin, mut at) = (PRICES, 0, 0);
    for line in text.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix(TABLE_LINE) {
            tables.push((name, text.get(begin..at).unwrap_or_default()));
            (name, begin) = (next.trim(), at + line.len());
        }
        at += line.len();
    }
    tables.push((name, text.get(begin..).unwrap_or_default()));
    tables.retain(|(_, rows)| rows.lines().any(|line| !line.starts_with('#') && !line.trim().is_empty()));
    tables
}

fn take_prices(
    release: &mut PriceRelease,
    text: &str,
    day: Date,
    catalog: &Catalog,
    earlier: &[(String, String)],
    accept_changes: bool,
) -> Result<(), Error> {
    let mut by_provider: BTreeMap<String, Vec<PriceRow>> = BTreeMap::new();
    for (provider, row) in row::read_with_provider(text) {
        // The provider's name becomes a file name, so it must be a known one.
        if catalog.providers().iter().any(|known| **known == *provider) {
            by_provider.entry(provider).or_default().push(row);
        }
    }
    for (provider, rows) in by_provider {
        if rows.len() > MOST_ROWS {
            return Err(malformed(format!("the file lists more than {MOST_ROWS} prices of {provider}")));
        }
        let all = rows.len();
        let newer: Vec<PriceRow> = rows.into_iter().filter(|row| is_newer(catalog, &provider, row)).collect();
        release.not_newer += all - newer.len();
        let refusal = |row: &PriceRow| guard::not_dated(&[&row.as_of, &row.spot_as_of], day);
        let (later, newer): (Vec<PriceRow>, Vec<PriceRow>) = newer.into_iter().partition(|row| refusal(row).is_some());
        let mut judged = guard::judge_rows(&provider, catalog, newer, accept_changes);
        judged.rejected.extend(later.iter().filter_map(|row| {
            let (machine, region) = (guard::short(&row.machine), guard::short(&row.region));
            Some(Rejected { machine, region, why: refusal(row)? })
        }));
        if judged.kept.is_empty() && judged.rejected.is_empty() {
            continue;
        }
        let before = earlier.iter().find(|(name, _)| *name == provider).map_or("", |(_, text)| text);
        let arrived = judged.kept.len();
        let rows = row::merge(row::read(before), judged.kept);
        release.updates.insert(provider, Update { rows, arrived, rejected: judged.rejected, notes: Vec::new() });
    }
    Ok(())
}

fn is_newer(catalog: &Catalog, provider: &str, row: &PriceRow) -> bool {
    let machine = catalog.machine(provider, &row.machine);
    let quote = machine.as_ref().and_then(|machine| catalog.quote(machine, &row.region));
    let listed = quote.filter(|quote| matches!(quote.basis, Basis::Listed { .. } | Basis::Refreshed { .. }));
    listed.is_none_or(|quote| latest(row) > quote.latest())
}

fn latest(row: &PriceRow) -> &str {
    row.as_of.as_str().max(&row.spot_as_of)
}
