//! Finds the machine with the lowest cost per token, and the traffic below which others are cheaper.

use std::collections::BTreeSet;

use super::demand::FactReader;
use super::hosted::MiddleHost;
use super::speed::{Coefficients, Load, ServerSpeed, SpeedRange};
use super::traffic::{ServerGoal, cost_of_tokens};
use super::{FitChoice, Market, MarketPlace};
use crate::catalog::Catalog;
use crate::inventory::{Key, Resource};

/// A configuration with its speed and its cost per token.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenCost {
    pub choice: FitChoice,
    pub speed: ServerSpeed,
    /// Dollars per million tokens at full load.
    pub at_load: SpeedRange,
    /// Dollars per million tokens at the given traffic.
    pub at_traffic: Option<f64>,
    /// The comparison with the cheapest configuration.
    pub beside_cheapest: CostComparison,
}

/// The comparison of two costs per token. In measurements, a gap of 50% had the right direction in nine of
/// ten cases, a smaller gap in seven, and a gap below 25% in hardly more than half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostComparison {
    Cheapest,
    AboutTheSame,
    ProbablyDearer,
    Dearer,
}

impl CostComparison {
    pub fn of(gap: f64) -> CostComparison {
        match gap {
            gap if gap >= 1.5 => CostComparison::Dearer,
            gap if gap >= 1.25 => CostComparison::ProbablyDearer,
            _ => CostComparison::AboutTheSame,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            CostComparison::Cheapest => "cheapest",
            CostComparison::AboutTheSame => "about the same",
            CostComparison::ProbablyDearer => "probably dearer",
            CostComparison::Dearer => "dearer",
        }
    }
}

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ByToken {
    /// The configurations, those with the lowest cost per token first.
    pub priced: Vec<TokenCost>,
    /// The reasons why other configurations have no number, each with its count.
    pub without: Vec<(usize, &'static str)>,
    pub too_slow: usize,
    /// Whether the number of requests is unset, so that each server gets as many as it accepts.
    pub at_full_load: bool,
    /// The tokens of a prompt and of an answer on which all numbers depend.
    pub lengths: (f64, f64),
}

/// Returns all configurations on which the model fits, sorted by the cost per token.
pub fn by_token(
    resource: &Resource,
    catalog: &Catalog,
    market: &Market<'_>,
    places: &[MarketPlace<'_>],
    wanted: &ServerGoal,
) -> ByToken {
    let mut found = ByToken::default();
    let Ok(demand) = FactReader::new(resource).demand(catalog) else { return found };
    found.lengths = demand.lengths();
    let coefficients = Coefficients::of(catalog);
    found.at_full_load = wanted.concurrency.is_none();
    let load = wanted.concurrency.map_or(Load::Full(None), Load::Given);
    let machine = resource.text(Key::Machine);
    let name_of = |name: &str| catalog.hardware(name).map(|it| it.name);
    let accelerator = resource.text(Key::Accelerator).filter(|_| machine.is_none()).and_then(name_of);
    let is_wanted = |choice: &FitChoice| {
        machine.is_none_or(|name| name.eq_ignore_ascii_case(&choice.machine))
            && accelerator.is_none_or(|name| *name == *choice.accelerator)
    };
    for choice in places.iter().flat_map(|place| market.configurations(&demand, place)).filter(is_wanted) {
        // The whole machine is billed, so all of its accelerators may work.
        let speed =
            demand.speed((catalog, coefficients.as_ref()), &choice.accelerator, choice.count, choice.devices, load);
        match speed {
            Err(why) => match found.without.iter_mut().find(|(_, other)| *other == why) {
                Some((count, _)) => *count += 1,
                None => found.without.push((1, why)),
            },
            Ok(speed) if !wanted.is_met(&speed, 1.0) => found.too_slow += 1,
            Ok(speed) => found.priced.push(priced(choice, speed, wanted)),
        }
    }
    let cost = |it: &TokenCost| it.at_traffic.unwrap_or(it.at_load.expected);
    found
        .priced
        .sort_by(|one, two| cost(one).total_cmp(&cost(two)).then_with(|| one.choice.machine.cmp(&two.choice.machine)));
    // Keeps only the cheapest way to run the model on each machine.
    let mut seen = BTreeSet::new();
    found.priced.retain(|it| seen.insert((it.choice.provider.clone(), it.choice.machine.clone())));
    let least = found.priced.first().map(cost);
    for (place, one) in found.priced.iter_mut().enumerate() {
        let gap = least.map_or(1.0, |least| cost(one) / least);
        one.beside_cheapest = if place == 0 { CostComparison::Cheapest } else { CostComparison::of(gap) };
    }
    found
}

fn priced(choice: FitChoice, speed: ServerSpeed, wanted: &ServerGoal) -> TokenCost {
    let hour = choice.per_hour.usd();
    let at_load = cost_of_tokens(speed.tokens_per_second, hour, hour, hour);
    let at_traffic = wanted.tokens_per_day.map(|tokens| hour * 24.0 / (tokens / 1e6));
    TokenCost { choice, speed, at_load, at_traffic, beside_cheapest: CostComparison::AboutTheSame }
}

/// The traffic, in millions of generated tokens a day, below which a hosting service is cheaper than a machine that
/// always runs.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakEven<'c> {
    pub host: MiddleHost<'c>,
    pub millions_per_day: f64,
    /// Whether the machine can generate this many tokens, at the maximum of its range.
    pub in_reach: bool,
}

/// Compares a machine with the median host of its model.
pub fn break_even<'c>(host: MiddleHost<'c>, priced: &TokenCost) -> BreakEven<'c> {
    let millions_per_day = priced.choice.per_hour.usd() * 24.0 / host.per_million;
    let most = priced.speed.tokens_per_second.ceiling * 86_400.0 / 1e6;
    BreakEven { host, millions_per_day, in_reach: millions_per_day <= most }
}
