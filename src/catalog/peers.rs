//! Compares a price with others: of the same machine in other regions, and of the same accelerator at other providers.
//!
//! Both `catalog verify` and `catalog update` use these checks: for the tables, and for the answers of providers.

use std::collections::BTreeMap;

use super::money::Money;
use super::quote::Offer;

/// The minimum number of known prices in a group before one of them can differ too much.
const FEWEST: usize = 3;
/// A price that differs from other regions by this factor is for another product, or lacks a part.
const MOST_REGIONAL: f64 = 5.0;
/// Parts cost about the same everywhere. A sum that is lower than others by this factor lacks a part.
const MOST_COMPOSED: f64 = 3.0;
/// The plausible prices of an accelerator, as multiples of the median of all its providers.
const CHEAPEST: f64 = 0.5;
const DEAREST: f64 = 3.0;

/// The reason to doubt a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceDoubt {
    /// The spot price is not below the on-demand price.
    Spot,
    /// The price differs from those of the same machine in other regions.
    Region,
    /// The sum lacks one of its parts.
    Part,
    /// Other providers charge far more for the same accelerator.
    Cheap,
    /// Other providers charge far less for the same accelerator.
    Dear,
    /// Another machine name has the same properties and the same price.
    Twin,
}

impl PriceDoubt {
    pub const ALL: [PriceDoubt; 6] =
        [PriceDoubt::Spot, PriceDoubt::Region, PriceDoubt::Part, PriceDoubt::Cheap, PriceDoubt::Dear, PriceDoubt::Twin];

    /// Returns the name that `exceptions.csv` uses.
    pub fn name(self) -> &'static str {
        match self {
            PriceDoubt::Spot => "spot",
            PriceDoubt::Region => "region",
            PriceDoubt::Part => "part",
            PriceDoubt::Cheap => "cheap",
            PriceDoubt::Dear => "dear",
            PriceDoubt::Twin => "twin",
        }
    }
}

/// The prices of one machine in one region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeerPrice<'a> {
    pub provider: &'a str,
    pub machine: &'a str,
    /// The region. `*` means everywhere.
    pub region: &'a str,
    pub accelerator: &'a str,
    pub count: f64,
    pub cpus: Option<f64>,
    pub memory_gib: Option<f64>,
    pub on_demand: Option<Money>,
    pub spot: Option<Money>,
    pub reserved_1y: Option<Money>,
    pub reserved_3y: Option<Money>,
    /// Whether the prices are sums of parts.
    pub is_composed: bool,
}

impl<'a> PeerPrice<'a> {
    pub fn of(offer: &'a Offer<'_>) -> Self {
        let Offer { machine, region, quote } = offer;
        PeerPrice {
            provider: &machine.provider,
            machine: &machine.name,
            region,
            accelerator: &machine.accelerator,
            count: machine.count,
            cpus: machine.cpus,
            memory_gib: machine.memory_gib,
            on_demand: quote.on_demand,
            spot: quote.spot,
            reserved_1y: quote.reserved_1y,
            reserved_3y: quote.reserved_3y,
            is_composed: quote.spot_basis == COMPOSED,
        }
    }

    fn ways(&self) -> [(&'static str, Option<Money>); 4] {
        [
            ("on demand", self.on_demand),
            ("spot", self.spot),
            ("one year", self.reserved_1y),
            ("three years", self.reserved_3y),
        ]
    }

    fn each(&self) -> Option<f64> {
        let price = self.on_demand?.usd();
        (self.count > 0.0).then(|| price / self.count)
    }
}

/// The mark of a row whose price is a sum of parts.
pub const COMPOSED: &str = "composed";

/// A price that is implausible compared with others.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    pub check: PriceDoubt,
    pub told: String,
}

/// The usual prices by machine and by accelerator.
pub struct Peers<'a> {
    /// The median over regions for each way of buying a machine, if enough regions sell it.
    machines: BTreeMap<(&'a str, &'a str), [Option<f64>; 4]>,
    /// The on-demand price per accelerator of a machine: the median over regions.
    each: BTreeMap<(&'a str, &'a str), f64>,
    /// The median over providers, and the number of these providers.
    accelerators: BTreeMap<&'a str, (f64, usize)>,
    /// The first of several names with the same properties.
    first: BTreeMap<Same<'a>, &'a str>,
}

/// The properties that make two machines equal: provider, region, accelerator, and the numbers in millionths.
type Same<'a> = (&'a str, &'a str, &'a str, [i64; 4]);

impl<'a> Peers<'a> {
    /// Collects the usual prices. If several names have the same properties, the first one is not a duplicate.
    pub fn of(rows: &[PeerPrice<'a>]) -> Self {
        let mut by_machine: BTreeMap<(&str, &str), Vec<&PeerPrice<'a>>> = BTreeMap::new();
        let mut first: BTreeMap<Same<'a>, &'a str> = BTreeMap::new();
        for row in rows {
            by_machine.entry((row.provider, row.machine)).or_default().push(row);
            if let Some(same) = same(row) {
                first.entry(same).or_insert(row.machine);
            }
        }
        let machines = by_machine.iter().map(|(key, rows)| (*key, usual(rows))).collect();
        let each: BTreeMap<_, _> = by_machine
            .iter()
            .filter_map(|(key, rows)| Some((*key, median(rows.iter().filter_map(|row| row.each()).collect())?)))
            .collect();
        let mut by_accelerator: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
        for ((provider, machine), price) in &each {
            let rows = by_machine.get(&(*provider, *machine));
            let Some(row) = rows.and_then(|rows| rows.first()) else { continue };
            by_accelerator.entry(row.accelerator).or_default().entry(*provider).or_default().push(*price);
        }
        let accelerators = by_accelerator.into_iter().filter_map(|(accelerator, providers)| {
            let count = providers.len();
            Some((accelerator, (median(providers.into_values().filter_map(median).collect())?, count)))
        });
        Peers { machines, accelerators: accelerators.collect(), each, first }
    }

    /// Returns the doubts about a row. A doubt about the whole machine is returned for each of its rows.
    pub fn doubts(&self, row: &PeerPrice<'_>) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        doubts.extend(spot(row));
        for at in 0..4 {
            doubts.extend(self.elsewhere(row, at));
        }
        doubts.extend(self.accelerator(row));
        doubts.extend(self.twin(row));
        doubts
    }

    fn elsewhere(&self, row: &PeerPrice<'_>, at: usize) -> Option<Doubt> {
        let (way, price) = *row.ways().get(at)?;
        let (price, usual) = (price?.usd(), (*self.machines.get(&(row.provider, row.machine))?.get(at)?)?);
        let ratio = price / usual;
        let told = format!("{way} costs ${price}, but usually ${usual} in other regions");
        if !(1.0 / MOST_REGIONAL..=MOST_REGIONAL).contains(&ratio) {
            return Some(Doubt { check: PriceDoubt::Region, told });
        }
        (row.is_composed && ratio < 1.0 / MOST_COMPOSED)
            .then(|| Doubt { check: PriceDoubt::Part, told: format!("{told}: a part of the price is missing") })
    }

    fn accelerator(&self, row: &PeerPrice<'_>) -> Option<Doubt> {
        let (usual, providers) = *self.accelerators.get(row.accelerator)?;
        let each = *self.each.get(&(row.provider, row.machine))?;
        let check = match each / usual {
            ratio if ratio < CHEAPEST => PriceDoubt::Cheap,
            ratio if ratio > DEAREST => PriceDoubt::Dear,
            _ => return None,
        };
        let name = row.accelerator;
        let told = format!("one {name} costs ${each:.3}, but the median of {providers} providers is ${usual:.3}");
        (providers >= FEWEST).then_some(Doubt { check, told })
    }

    fn twin(&self, row: &PeerPrice<'_>) -> Option<Doubt> {
        let first = self.first.get(&same(row)?)?;
        (*first != row.machine).then(|| Doubt {
            check: PriceDoubt::Twin,
            told: format!("it duplicates {first}: same machine and same price"),
        })
    }
}

fn spot(row: &PeerPrice<'_>) -> Option<Doubt> {
    let (spot, on_demand) = (row.spot?, row.on_demand?);
    (spot >= on_demand).then(|| Doubt {
        check: PriceDoubt::Spot,
        told: format!("spot costs ${}, not less than ${} on demand", spot.usd(), on_demand.usd()),
    })
}

/// Returns the properties to compare, or `None` if one of them is unknown.
fn same<'a>(row: &PeerPrice<'a>) -> Option<Same<'a>> {
    let millionths = |value: f64| (value * 1e6).round() as i64;
    let shape = [millionths(row.count), millionths(row.cpus?), millionths(row.memory_gib?), row.on_demand?.micros()];
    Some((row.provider, row.region, row.accelerator, shape))
}

fn usual(rows: &[&PeerPrice<'_>]) -> [Option<f64>; 4] {
    std::array::from_fn(|at| {
        let prices: Vec<f64> =
            rows.iter().filter_map(|row| Some(row.ways().get(at)?.1?.usd())).filter(|price| *price > 0.0).collect();
        if prices.len() < FEWEST { None } else { median(prices) }
    })
}

/// Returns the median. Of two middle values, it returns the lower one, because that is an existing price.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(provider: &'static str, machine: &'static str, region: &'static str, usd: f64) -> PeerPrice<'static> {
        PeerPrice {
            provider,
            machine,
            region,
            accelerator: "H100-80GB",
            count: 8.0,
            cpus: Some(192.0),
            memory_gib: Some(2048.0),
            on_demand: Some(Money::from_usd(usd)),
            spot: Some(Money::from_usd(usd * 0.4)),
            reserved_1y: Some(Money::from_usd(usd * 0.7)),
            reserved_3y: Some(Money::from_usd(usd * 0.5)),
            is_composed: true,
        }
    }

    fn sound() -> Vec<PeerPrice<'static>> {
        vec![
            row("aws", "p5", "a", 50.0),
            row("aws", "p5", "b", 55.0),
            row("aws", "p5", "c", 60.0),
            row("gcp", "a3", "a", 88.0),
            row("gcp", "a3", "b", 90.0),
            row("gcp", "a3", "c", 99.0),
            row("small", "h100", "*", 32.0),
        ]
    }

    fn checks(poisoned: PeerPrice<'static>) -> Vec<PriceDoubt> {
        let mut rows = sound();
        rows.push(poisoned);
        Peers::of(&rows).doubts(&poisoned).into_iter().map(|doubt| doubt.check).collect()
    }

    #[test]
    fn rows_that_agree_are_not_doubted() {
        let rows = sound();
        let peers = Peers::of(&rows);
        for row in &rows {
            assert_eq!(peers.doubts(row), [], "{row:?}");
        }
        assert_eq!(checks(row("aws", "p5", "d", 100.0)), []);
    }

    #[test]
    fn a_poisoned_row_is_doubted_for_what_is_wrong_with_it() {
        let sane = row("gcp", "a3", "d", 95.0);
        let spot = |usd| Some(Money::from_usd(usd));
        assert_eq!(checks(PeerPrice { spot: spot(95.0), ..sane }), [PriceDoubt::Spot]);
        assert_eq!(checks(PeerPrice { spot: spot(3.85), ..sane }), [PriceDoubt::Region]);
        assert_eq!(checks(PeerPrice { spot: spot(11.0), ..sane }), [PriceDoubt::Part]);
        assert_eq!(checks(PeerPrice { spot: spot(11.0), is_composed: false, ..sane }), []);
        assert_eq!(checks(PeerPrice { reserved_1y: spot(9.0), ..sane }), [PriceDoubt::Region]);
        assert_eq!(checks(row("cheap", "h100", "*", 10.0)), [PriceDoubt::Cheap]);
        assert_eq!(checks(row("dear", "h100", "*", 300.0)), [PriceDoubt::Dear]);
        assert_eq!(checks(row("small", "h100-again", "*", 32.0)), [PriceDoubt::Twin]);
    }

    #[test]
    fn two_providers_are_no_measure_of_a_third() {
        let rows = [row("aws", "p5", "a", 50.0), row("small", "h100", "*", 10.0)];
        assert_eq!(Peers::of(&rows).doubts(&rows[1]), []);
    }
}
