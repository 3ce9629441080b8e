//! Checks fetched prices. A rejected price is reported, and the known price stays.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Basis, COMPOSED, Catalog, Money, Offer, PER_ACCELERATOR_USD, PeerPrice, Peers};

use super::row::PriceRow;
use crate::source::Date;

/// A row that the guard rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub machine: String,
    pub region: String,
    pub why: String,
}

/// The maximum number of reported rows. A list with more errors is already recognizable as broken.
const MOST_REJECTED: usize = 1000;

impl Rejected {
    /// Adds a rejected row to the report, up to the maximum number.
    pub(super) fn note(self, to: &mut Vec<Rejected>) {
        if to.len() < MOST_REJECTED {
            to.push(self);
        }
    }
}

pub(super) struct GuardedPrices {
    pub(super) kept: Vec<PriceRow>,
    pub(super) rejected: Vec<Rejected>,
}

/// The maximum factor by which a price may change between two updates.
pub(super) const MOST_CHANGE: f64 = 3.0;
/// Values in price lists that mean a missing price.
const PLACEHOLDERS_USD: [f64; 2] = [0.0, 700.0];

/// The name `Standard_NC128lds_xl_RTXPRO6000BSE_v6` has 37 characters.
const LONGEST_NAME: usize = 100;

/// Checks each row, and the whole answer: a list that lost half of its machines is incomplete.
pub(super) fn judge(
    provider: &str,
    catalog: &Catalog,
    rows: Vec<PriceRow>,
    accept_changes: bool,
) -> Result<GuardedPrices, String> {
    let mut regions: Vec<String> = rows.iter().map(|row| row.region.clone()).collect();
    regions.sort();
    regions.dedup();
    let GuardedPrices { kept, rejected } = judge_rows(provider, catalog, rows, accept_changes);
    let known = known_in(provider, catalog, &regions);
    let arrived = kept.len() + rejected.len();
    if arrived * 2 < known {
        return Err(format!(
            "{provider} listed only {arrived} machines, and gpulint knows {known}: no prices were updated"
        ));
    }
    Ok(GuardedPrices { kept, rejected })
}

/// Checks each row of a list that need not be complete.
pub(super) fn judge_rows(
    provider: &str,
    catalog: &Catalog,
    mut rows: Vec<PriceRow>,
    accept_changes: bool,
) -> GuardedPrices {
    rows.iter_mut().for_each(forget_what_saves_nothing);
    let prices = prices_of_places(&rows);
    let alone = |row: &PriceRow| {
        let refusal = || refusal(provider, catalog, row, accept_changes);
        no_machine(provider, catalog, row).or_else(|| twice(&prices, row)).or_else(refusal)
    };
    let mut verdicts: Vec<Option<String>> = rows.iter().map(alone).collect();
    if !accept_changes {
        beside_others(provider, catalog, &rows, &mut verdicts);
    }
    let mut judged = GuardedPrices { kept: Vec::new(), rejected: Vec::new() };
    for (row, verdict) in rows.into_iter().zip(verdicts) {
        match verdict {
            Some(why) => {
                judged.rejected.push(Rejected { machine: short(&row.machine), region: short(&row.region), why })
            }
            None => judged.kept.push(row),
        }
    }
    judged
}

/// Rejects rows that differ too much from accepted rows, from other providers and from unchanged rows. Rejected rows
/// are not used for comparison.
fn beside_others(provider: &str, catalog: &Catalog, rows: &[PriceRow], verdicts: &mut [Option<String>]) {
    let believed = rows.iter().zip(verdicts.iter()).filter(|(_, verdict)| verdict.is_none()).map(|(row, _)| row);
    let believed: Vec<&PriceRow> = believed.collect();
    let here: BTreeSet<(&str, &str)> = believed.iter().map(|row| (&*row.machine, &*row.region)).collect();
    let arrives = |it: &Offer<'_>| provider == it.machine.provider && here.contains(&(&*it.machine.name, it.region));
    let others: Vec<Offer<'_>> = catalog.offers().filter(|it| is_listed(it) && !arrives(it)).collect();
    // Known machine names come before new ones.
    let mut arrived: Vec<PeerPrice<'_>> = believed.into_iter().map(|row| priced(provider, row)).collect();
    arrived.sort_by_key(|row| catalog.machine(provider, row.machine).is_none());
    let all: Vec<PeerPrice<'_>> = others.iter().map(PeerPrice::of).chain(arrived).collect();
    let peers = Peers::of(&all);
    for (row, verdict) in rows.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_none()) {
        *verdict = stands_out(catalog, &peers, &priced(provider, row));
    }
}

/// Removes a spot price that equals the on-demand price, as Azure lists it for some machines without spot.
fn forget_what_saves_nothing(row: &mut PriceRow) {
    if row.spot.is_some() && row.spot == row.on_demand {
        (row.spot, row.spot_as_of, row.spot_basis) = (None, String::new(), String::new());
    }
}

fn is_listed(offer: &Offer<'_>) -> bool {
    matches!(offer.quote.basis, Basis::Listed { .. } | Basis::Refreshed { .. })
}

/// Returns why a price is implausible compared with others, unless the catalog explains it.
fn stands_out(catalog: &Catalog, peers: &Peers<'_>, row: &PeerPrice<'_>) -> Option<String> {
    let doubts = peers.doubts(row).into_iter();
    doubts.filter(|doubt| !catalog.is_exception(doubt.check, row)).map(|doubt| doubt.told).next()
}

fn priced<'a>(provider: &'a str, row: &'a PriceRow) -> PeerPrice<'a> {
    PeerPrice {
        provider,
        machine: &row.machine,
        region: &row.region,
        accelerator: &row.accelerator,
        count: row.accelerator_count,
        cpus: row.vcpus,
        memory_gib: row.memory_gib,
        on_demand: row.on_demand,
        spot: row.spot,
        reserved_1y: row.reserved_1y,
        reserved_3y: row.reserved_3y,
        is_composed: row.spot_basis == COMPOSED,
    }
}

/// Returns why a row cannot be a machine, or is another machine than the known one with this name.
fn no_machine(provider: &str, catalog: &Catalog, row: &PriceRow) -> Option<String> {
    let is_name = |name: &str, more: &str| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "._/-".contains(letter) || more.contains(letter);
        !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(fits)
    };
    // Some providers have display names as regions, such as `East Coast (NY2)`. `*` means everywhere.
    if !is_name(&row.machine, "") || !is_name(&row.region, " ()*") {
        return Some("the name is not a valid machine or region".to_owned());
    }
    let count = row.accelerator_count;
    let (known, name) = (catalog.accelerator(&row.accelerator), &row.accelerator);
    if known.is_none_or(|known| known.name != *name) || !count.is_finite() || count <= 0.0 {
        return Some(format!("no machine has {count} × `{}`", short(name)));
    }
    let known = catalog.machine(provider, &row.machine)?;
    let is_same = known.accelerator == *name && (known.count - count).abs() < 1e-3;
    (!is_same).then(|| format!("it is listed with {count} {name}, before with {} {}", known.count, known.accelerator))
}

/// Returns all listed on-demand prices of each machine in each region.
fn prices_of_places(rows: &[PriceRow]) -> BTreeMap<(String, String), BTreeSet<Money>> {
    let mut prices: BTreeMap<_, BTreeSet<Money>> = BTreeMap::new();
    for row in rows {
        prices.entry(place(row)).or_default().extend(row.on_demand);
    }
    prices
}

/// Rejects a machine with two prices, because it is unknown which one applies.
fn twice(prices: &BTreeMap<(String, String), BTreeSet<Money>>, row: &PriceRow) -> Option<String> {
    let prices = prices.get(&place(row)).filter(|prices| prices.len() > 1)?;
    Some(format!("it is listed at {} and at {}", dollars(*prices.first()?), dollars(*prices.last()?)))
}

fn place(row: &PriceRow) -> (String, String) {
    (row.machine.to_ascii_lowercase(), row.region.to_ascii_lowercase())
}

/// Shortens a provider's text to one line.
pub(super) fn short(name: &str) -> String {
    name.chars().take(LONGEST_NAME).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn refusal(provider: &str, catalog: &Catalog, row: &PriceRow, accept_changes: bool) -> Option<String> {
    cannot_be(row).or_else(|| changed(provider, catalog, row).filter(|_| !accept_changes))
}

/// Returns why a price is implausible for such a machine, whatever it cost before.
fn cannot_be(row: &PriceRow) -> Option<String> {
    let later = [("spot", row.spot), ("one year", row.reserved_1y), ("three years", row.reserved_3y)];
    let later = || later.into_iter().filter_map(|(way, price)| Some((way, price?)));
    for (way, price) in row.on_demand.map(|price| ("on demand", price)).into_iter().chain(later()) {
        if PLACEHOLDERS_USD.contains(&price.usd()) {
            return Some(format!("{} is a placeholder", dollars(price)));
        }
        if price < Money::ZERO {
            return Some(format!("{way} costs {}, which is impossible", dollars(price)));
        }
    }
    if let Some(on_demand) = row.on_demand {
        if let Some((way, price)) = later().find(|(_, price)| *price > on_demand) {
            return Some(format!("{way} costs {}, more than {} on demand", dollars(price), dollars(on_demand)));
        }
        if !PER_ACCELERATOR_USD.contains(&(on_demand.usd() / row.accelerator_count)) {
            let each = on_demand.times(1.0 / row.accelerator_count);
            return Some(format!("{} an hour for one accelerator is impossible", dollars(each)));
        }
    }
    let most = PER_ACCELERATOR_USD.end() * row.accelerator_count.max(1.0);
    let (way, price) = later().find(|(_, price)| price.usd() > most)?;
    Some(format!("{way} costs {}, which is impossible", dollars(price)))
}

/// Returns why a price is implausible, if it changed by more than the maximum factor since the last update.
fn changed(provider: &str, catalog: &Catalog, row: &PriceRow) -> Option<String> {
    let known = catalog.machine(provider, &row.machine)?;
    let quote = catalog.quote(&known, &row.region);
    let quote = quote.filter(|quote| matches!(quote.basis, Basis::Listed { .. } | Basis::Refreshed { .. }))?;
    let changes = [("on demand", quote.on_demand, row.on_demand), ("spot", quote.spot, row.spot)];
    changes.into_iter().find_map(|(what, before, after)| {
        let (before, after) = (before?, after?);
        let is_wild = !is_near(before.usd(), after.usd(), MOST_CHANGE);
        is_wild.then(|| format!("the {what} price changed from {} to {}", dollars(before), dollars(after)))
    })
}

/// Whether a value changed by at most a factor.
pub(super) fn is_near(before: f64, after: f64, most: f64) -> bool {
    before == after || (1.0 / most..=most).contains(&(after / before))
}

/// Returns why the dates of a row are not those of a file of this day. Blank ones do not count, but one must be there.
pub(super) fn not_dated(dates: &[&str], day: Date) -> Option<String> {
    let mut days = dates.iter().filter(|date| !date.is_empty()).map(|date| date.parse::<Date>()).peekable();
    let is_dated = days.peek().is_some() && days.all(|date| date.is_ok_and(|date| date <= day));
    let latest = dates.iter().max().copied().unwrap_or_default();
    (!is_dated).then(|| format!("its date {} is invalid, or later than the date of the file", short(latest)))
}

/// Returns the number of machines that the catalog lists in these regions.
fn known_in(provider: &str, catalog: &Catalog, regions: &[String]) -> usize {
    let offers = catalog.offers().filter(|offer| offer.machine.provider == provider);
    offers.filter(|offer| regions.iter().any(|region| region.eq_ignore_ascii_case(offer.region))).count()
}

fn dollars(money: Money) -> String {
    format!("${:.4}", money.usd())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a row of a machine and a region that the catalog does not list.
    fn row(machine: &str, region: &str, accelerator: &str, count: f64, usd: f64) -> PriceRow {
        PriceRow {
            machine: machine.into(),
            region: region.into(),
            accelerator: accelerator.into(),
            accelerator_count: count,
            on_demand: Some(Money::from_usd(usd)),
            ..PriceRow::default()
        }
    }

    fn why(provider: &str, row: &PriceRow) -> String {
        let mut judged = judge_rows(provider, &Catalog::embedded(), vec![row.clone()], false);
        judged.rejected.pop().map(|it| it.why).unwrap_or_default()
    }

    #[test]
    fn what_stands_out_beside_what_is_known_is_refused() {
        let spot = |usd| Some(Money::from_usd(usd));
        let p5 = row("p5.48xlarge", "xx-new-1", "H100-80GB", 8.0, 60.0);
        assert_eq!(why("aws", &p5), "");
        let poisoned = PriceRow { on_demand: spot(9.0), ..p5.clone() };
        assert!(why("aws", &poisoned).starts_with("on demand costs $9, but usually $"), "{}", why("aws", &poisoned));
        let a3 = row("a3-ultragpu-8g", "xx-new1", "H200", 8.0, 90.0);
        let parts = |usd| PriceRow { spot: spot(usd), spot_basis: COMPOSED.into(), ..a3.clone() };
        assert_eq!(why("gcp", &parts(40.0)), "");
        assert!(why("gcp", &parts(3.85)).ends_with("in other regions"), "{}", why("gcp", &parts(3.85)));
        assert!(why("gcp", &parts(11.0)).ends_with("a part of the price is missing"), "{}", why("gcp", &parts(11.0)));
        let cheap = row("gpu_16x_h100", "*", "H100-80GB", 16.0, 16.0);
        assert!(why("lambda", &cheap).starts_with("one H100-80GB costs $1.000"), "{}", why("lambda", &cheap));
        let dear = PriceRow { on_demand: spot(800.0), ..cheap.clone() };
        assert!(why("lambda", &dear).starts_with("one H100-80GB costs $50.000"), "{}", why("lambda", &dear));
        let (vcpus, memory_gib) = (Some(192.0), Some(2048.0));
        let twin = PriceRow { vcpus, memory_gib, ..row("p5.again", "us-east-1", "H100-80GB", 8.0, 55.04) };
        assert_eq!(why("aws", &twin), "it duplicates p5.48xlarge: same machine and same price");
    }

    #[test]
    fn a_spot_price_that_saves_nothing_is_none() {
        let same = PriceRow {
            spot: Some(Money::from_usd(60.0)),
            spot_basis: "list".into(),
            ..row("p5.48xlarge", "xx-new-1", "H100-80GB", 8.0, 60.0)
        };
        let judged = judge_rows("aws", &Catalog::embedded(), vec![same], false);
        assert_eq!(judged.kept.first().map(|row| (row.spot, row.spot_basis.as_str())), Some((None, "")));
    }

    #[test]
    fn who_accepts_changes_is_not_kept_from_them() {
        let cheap = row("gpu_16x_h100", "*", "H100-80GB", 16.0, 16.0);
        assert_eq!(judge_rows("lambda", &Catalog::embedded(), vec![cheap], true).kept.len(), 1);
    }
}
