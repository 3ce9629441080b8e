//! Which machine writes tokens for the least money, and below which traffic others write them for less.

use std::collections::BTreeSet;

use super::demand::{ASSUMED_ANSWER, ASSUMED_PROMPT, FactReader};
use super::speed::{Load, Speed, SpeedRange};
use super::{Choice, Market, MarketPlace};
use crate::catalog::{Catalog, Hosted};
use crate::inventory::Resource;

/// What a server must reach.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokenWish {
    pub ms_per_token: Option<f64>,
    pub tokens_per_day: Option<f64>,
    /// Requests at a time; as many as it takes where nothing is said.
    pub concurrency: Option<f64>,
}

/// A configuration with its speed and what its tokens cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Priced {
    pub choice: Choice,
    pub speed: Speed,
    /// Dollars for a million tokens, when it is busy all the time.
    pub at_load: SpeedRange,
    /// The same at the traffic that was given.
    pub at_traffic: Option<f64>,
    /// How it stands to the cheapest.
    pub beside_cheapest: Standing,
}

/// What may be said of two costs for each token. Measured: at a gap of half as much again the direction was right in nine of
/// ten cases, at less in seven, below a quarter hardly more often than not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Cheapest,
    AboutTheSame,
    ProbablyDearer,
    Dearer,
}

impl Standing {
    pub fn of(gap: f64) -> Standing {
        match gap {
            gap if gap >= 1.5 => Standing::Dearer,
            gap if gap >= 1.25 => Standing::ProbablyDearer,
            _ => Standing::AboutTheSame,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Standing::Cheapest => "cheapest",
            Standing::AboutTheSame => "about the same",
            Standing::ProbablyDearer => "probably dearer",
            Standing::Dearer => "dearer",
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ByToken {
    /// The cheapest for each token first.
    pub priced: Vec<Priced>,
    /// Why others have no number: how many, and why.
    pub without: Vec<(usize, &'static str)>,
    pub too_slow: usize,
}

/// Everything that holds the model, in the order of what a token costs.
pub fn by_token(
    resource: &Resource,
    catalog: &Catalog,
    market: &Market<'_>,
    places: &[MarketPlace<'_>],
    wanted: &TokenWish,
) -> ByToken {
    let mut found = ByToken::default();
    let Ok(demand) = FactReader::new(resource).demand(catalog) else { return found };
    let load = wanted.concurrency.map_or(Load::Full(None), Load::Given);
    for choice in places.iter().flat_map(|place| market.configurations(&demand, place)) {
        // The whole machine is paid for, so all of it may work.
        let speed = demand.speed(catalog, &choice.accelerator, choice.count, choice.devices, load);
        match speed {
            Err(why) => match found.without.iter_mut().find(|(_, other)| *other == why) {
                Some((count, _)) => *count += 1,
                None => found.without.push((1, why)),
            },
            Ok(speed) if !reaches(&speed, wanted) => found.too_slow += 1,
            Ok(speed) => found.priced.push(priced(choice, speed, wanted)),
        }
    }
    let cost = |it: &Priced| it.at_traffic.unwrap_or(it.at_load.expected);
    found
        .priced
        .sort_by(|one, two| cost(one).total_cmp(&cost(two)).then_with(|| one.choice.machine.cmp(&two.choice.machine)));
    // Of each machine the way to run it that costs least.
    let mut seen = BTreeSet::new();
    found.priced.retain(|it| seen.insert((it.choice.provider.clone(), it.choice.machine.clone())));
    let least = found.priced.first().map(cost);
    for (place, one) in found.priced.iter_mut().enumerate() {
        let gap = least.map_or(1.0, |least| cost(one) / least);
        one.beside_cheapest = if place == 0 { Standing::Cheapest } else { Standing::of(gap) };
    }
    found
}

/// Only what is surely fast enough: estimates of one answer are right within a factor of two.
fn reaches(speed: &Speed, wanted: &TokenWish) -> bool {
    let slowest = speed.ms_per_token.ceiling.max(2.0 * speed.ms_per_token.expected);
    wanted.ms_per_token.is_none_or(|most| slowest <= most)
        && wanted.tokens_per_day.is_none_or(|least| speed.tokens_per_second.floor * 86_400.0 >= least)
}

fn priced(choice: Choice, speed: Speed, wanted: &TokenWish) -> Priced {
    let hour = choice.per_hour.usd();
    let millions = speed.tokens_per_second.times(3600.0 / 1e6);
    let at_load = SpeedRange {
        floor: hour / millions.ceiling,
        expected: hour / millions.expected,
        ceiling: hour / millions.floor,
    };
    let at_traffic = wanted.tokens_per_day.map(|tokens| hour * 24.0 / (tokens / 1e6));
    Priced { choice, speed, at_load, at_traffic, beside_cheapest: Standing::AboutTheSame }
}

/// The same model at those who serve it to everybody.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakEven<'c> {
    pub host: Hosted<'c>,
    pub hosts: usize,
    /// Dollars for a million written tokens, with the prompts that belong to them.
    pub per_million: f64,
    /// Millions of written tokens a day below which the host is cheaper.
    pub millions_per_day: f64,
    /// Whether the machine could write so many, as far as its range goes.
    pub in_reach: bool,
}

/// Fewer hosts have no middle worth the name.
const LEAST_HOSTS: usize = 3;

/// Below which traffic the middle one of a model's hosts costs less than a machine that runs all day.
pub fn break_even<'c>(catalog: &'c Catalog, model: &str, priced: &Priced) -> Option<BreakEven<'c>> {
    let prompts = ASSUMED_PROMPT / ASSUMED_ANSWER;
    let cost = |host: &Hosted<'_>| host.output + prompts * host.input;
    let mut hosts = catalog.hosted(model);
    if hosts.len() < LEAST_HOSTS {
        return None;
    }
    hosts.sort_by(|one, two| cost(one).total_cmp(&cost(two)).then_with(|| one.host.cmp(two.host)));
    let host = *hosts.get((hosts.len() - 1) / 2)?;
    let per_million = cost(&host);
    let millions_per_day = priced.choice.per_hour.usd() * 24.0 / per_million;
    let most = priced.speed.tokens_per_second.ceiling * 86_400.0 / 1e6;
    (per_million > 0.0).then_some(BreakEven {
        host,
        hosts: hosts.len(),
        per_million,
        millions_per_day,
        in_reach: millions_per_day <= most,
    })
}
