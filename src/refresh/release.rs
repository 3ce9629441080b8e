//! The prices of many vendors in one file that somebody signed, so that nobody has to ask ten of them.
//!
//! The file is a table of prices with a column `provider`. Its signature is that of Ed25519 over all of its bytes. What it
//! holds is judged as what a vendor answers is, and a row that is older than the one that is known is not taken over: an
//! earlier file, signed as well, brings no earlier prices back.

use std::collections::BTreeMap;

use ring::signature::{ED25519, UnparsedPublicKey};

use crate::catalog::{Basis, Catalog};
use crate::http::{Credential, Error, HttpErrorKind, HttpRequest, Method};

use super::access::{Access, malformed};
use super::row::{self, PriceRow};
use super::{Update, guard};

/// More than all machines of all providers take.
pub const LONGEST_RELEASE_BYTES: u64 = 32 << 20;
/// In hexadecimal digits.
const SIGNATURE_DIGITS: usize = 128;
const KEY_DIGITS: usize = 64;

/// What a release brought, by provider, and what was left as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceRelease {
    pub updates: BTreeMap<String, Update>,
    /// Rows that say nothing newer than what is known.
    pub not_newer: usize,
}

/// The bytes of a release and its signature from an address: the signature lies beside it and ends in `.sig`.
pub fn fetch(address: &str, access: &Access<'_>) -> Result<(Vec<u8>, String), Error> {
    (access.progress)("signed prices");
    let origin = crate::http::HttpOrigin::parse(address, access.http.allow_plain_http)?;
    let beside = format!("{}.sig", origin.path());
    let client = crate::http::Client::new(origin, Credential::Anonymous, access.http.clone(), access.clock)?;
    let request = || HttpRequest { accept: "*/*", ..HttpRequest::new(Method::Get, []) };
    let bytes = client.send(&request())?.body;
    let signature = client.at(&beside).send(&request())?.text();
    Ok((bytes, signature))
}

/// Whether the bytes were signed by the holder of a key. Key and signature are hexadecimal; lines that begin with `#` are
/// remarks.
pub fn verify(bytes: &[u8], signature: &str, key: &str) -> Result<(), Error> {
    let unusable = |what: &str| Error::new(HttpErrorKind::Unusable, what.to_owned());
    let key = digits(key, KEY_DIGITS).ok_or_else(|| unusable("the key is not one of 64 hexadecimal digits"))?;
    let signature = digits(signature, SIGNATURE_DIGITS)
        .ok_or_else(|| malformed("the signature is not one of 128 hexadecimal digits: nothing was taken over"))?;
    UnparsedPublicKey::new(&ED25519, key)
        .verify(bytes, &signature)
        .map_err(|_| malformed("the prices were not signed by the holder of this key: nothing was taken over"))
}

fn digits(text: &str, count: usize) -> Option<Vec<u8>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let text: String = lines.collect();
    if text.len() != count || !text.is_ascii() {
        return None;
    }
    (0..count / 2).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

/// Takes over what is newer. `earlier` are the rows that earlier updates brought, by provider.
pub fn take(
    bytes: &[u8],
    catalog: &Catalog,
    earlier: &[(String, String)],
    accept_changes: bool,
) -> Result<PriceRelease, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("the prices are no text"))?;
    let mut release = PriceRelease::default();
    let mut by_provider: BTreeMap<String, Vec<PriceRow>> = BTreeMap::new();
    for (provider, row) in row::read_with_provider(text) {
        // The name becomes that of a file.
        if catalog.providers().iter().any(|known| **known == *provider) {
            by_provider.entry(provider).or_default().push(row);
        }
    }
    if by_provider.is_empty() {
        return Err(malformed("the release holds no prices of a provider that is known"));
    }
    for (provider, rows) in by_provider {
        let all = rows.len();
        let newer: Vec<PriceRow> = rows.into_iter().filter(|row| is_newer(catalog, &provider, row)).collect();
        release.not_newer += all - newer.len();
        let judged = guard::judge_rows(&provider, catalog, newer, accept_changes);
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
    listed.is_none_or(|quote| {
        let latest = |one: &str, other: &str| one.max(other).to_owned();
        latest(&row.as_of, &row.spot_as_of) > latest(quote.as_of, quote.spot_as_of)
    })
}
