//! Which rows are believed. A refused row is told, and the row that was known before stays.

use crate::catalog::{Basis, Catalog, Money, PER_ACCELERATOR_USD};

use super::row::PriceRow;

/// A row that was not believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub machine: String,
    pub region: String,
    pub why: String,
}

/// So many are told; a list in which everything is refused is refused by the first as well.
const MOST_REJECTED: usize = 1000;

impl Rejected {
    /// Notes a row that was not believed, if it is not one of endlessly many.
    pub(super) fn note(self, to: &mut Vec<Rejected>) {
        if to.len() < MOST_REJECTED {
            to.push(self);
        }
    }
}

pub(super) struct Judged {
    pub(super) kept: Vec<PriceRow>,
    pub(super) rejected: Vec<Rejected>,
}

/// How much a price may change between two updates.
const MOST_CHANGE: f64 = 3.0;
/// What price lists say where they mean that there is none.
const PLACEHOLDERS_USD: [f64; 2] = [0.0, 700.0];

/// Judges rows one by one, and the answer as a whole: a list that has lost half of its machines is a broken answer.
pub(super) fn judge(
    provider: &str,
    catalog: &Catalog,
    rows: Vec<PriceRow>,
    accept_changes: bool,
) -> Result<Judged, String> {
    let mut regions: Vec<String> = rows.iter().map(|row| row.region.clone()).collect();
    regions.sort();
    regions.dedup();
    let Judged { kept, rejected } = judge_rows(provider, catalog, rows, accept_changes);
    let known = known_in(provider, catalog, &regions);
    let arrived = kept.len() + rejected.len();
    if arrived * 2 < known {
        return Err(format!("{provider} listed {arrived} machines where {known} are known: nothing was taken over"));
    }
    Ok(Judged { kept, rejected })
}

/// Judges rows one by one: of a list that need not be whole.
pub(super) fn judge_rows(provider: &str, catalog: &Catalog, rows: Vec<PriceRow>, accept_changes: bool) -> Judged {
    let mut judged = Judged { kept: Vec::new(), rejected: Vec::new() };
    for row in rows {
        match refusal(provider, catalog, &row, accept_changes) {
            Some(why) => judged.rejected.push(Rejected { machine: row.machine, region: row.region, why }),
            None => judged.kept.push(row),
        }
    }
    judged
}

fn refusal(provider: &str, catalog: &Catalog, row: &PriceRow, accept_changes: bool) -> Option<String> {
    let prices = [row.on_demand, row.spot, row.reserved_1y, row.reserved_3y];
    for price in prices.into_iter().flatten() {
        if price < Money::ZERO || PLACEHOLDERS_USD.contains(&price.usd()) {
            return Some(format!("{} is a placeholder", dollars(price)));
        }
    }
    for (what, price) in [("spot", row.spot), ("one year", row.reserved_1y), ("three years", row.reserved_3y)] {
        if let (Some(price), Some(on_demand)) = (price, row.on_demand)
            && price > on_demand
        {
            return Some(format!("{what} costs {}, more than {} on demand", dollars(price), dollars(on_demand)));
        }
    }
    if let Some(on_demand) = row.on_demand
        && !PER_ACCELERATOR_USD.contains(&(on_demand.usd() / row.accelerator_count))
    {
        let each = on_demand.times(1.0 / row.accelerator_count.max(f64::MIN_POSITIVE));
        return Some(format!("{} an hour for one accelerator cannot be", dollars(each)));
    }
    let known = catalog.machine(provider, &row.machine);
    let quote = known.as_ref().and_then(|machine| catalog.quote(machine, &row.region));
    let quote = quote.filter(|quote| matches!(quote.basis, Basis::Listed { .. } | Basis::Refreshed { .. }))?;
    let changes = [("on demand", quote.on_demand, row.on_demand), ("spot", quote.spot, row.spot)];
    changes.into_iter().filter(|_| !accept_changes).find_map(|(what, before, after)| {
        let (before, after) = (before?, after?);
        let ratio = after.usd() / before.usd();
        let is_wild = !(1.0 / MOST_CHANGE..=MOST_CHANGE).contains(&ratio);
        is_wild.then(|| format!("{what} went from {} to {}", dollars(before), dollars(after)))
    })
}

/// Machines that the catalog lists in these regions.
fn known_in(provider: &str, catalog: &Catalog, regions: &[String]) -> usize {
    let offers = catalog.offers().filter(|offer| offer.machine.provider == provider);
    offers.filter(|offer| regions.iter().any(|region| region.eq_ignore_ascii_case(offer.region))).count()
}

fn dollars(money: Money) -> String {
    format!("${:.4}", money.usd())
}
