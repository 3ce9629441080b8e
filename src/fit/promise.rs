//! Finds the machines that hold what a server promises: the time to the first token, the time per token, and the load.
//!
//! A promise surely holds only at the slow end of the estimates, and surely does not only at the fast end. The requests
//! at a time follow from the load: requests per second times the seconds that a request takes (Little's law).

use std::collections::BTreeMap;

use super::choose::{Market, MarketPlace, supports};
use super::demand::{FactReader, FitDemand};
use super::published::{Question, Quotation, matching};
use super::speed::{Coefficients, Load, MOST_REQUESTS, ServerSpeed};
use super::{FitChoice, ServerGoal};
use crate::catalog::{Catalog, Money, Precision};
use crate::inventory::{Key, Resource};

/// The factor by which a promise must be missed at the fast end. Measurements that the fit did not use were faster than the
/// fast end in 13 of 144 cases, by a factor of up to 1.5.
const SURELY_MISSED: f64 = 2.0;

/// The replicas above which gpulint names no number.
const MOST_REPLICAS: f64 = 1000.0;

/// The end of a range from which a time is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RangeEnd {
    Fast,
    Expected,
    Slow,
}

/// Whether a server holds a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromiseVerdict {
    /// The slow end of the estimate holds it.
    Holds,
    /// The promise is within the range of the estimate.
    Open,
    /// Half of the fast end of the estimate misses it.
    Misses,
}

impl PromiseVerdict {
    pub fn name(self) -> &'static str {
        match self {
            PromiseVerdict::Holds => "holds",
            PromiseVerdict::Open => "open",
            PromiseVerdict::Misses => "misses",
        }
    }
}

/// One copy of a model on its accelerators.
#[derive(Clone, Copy)]
pub(super) struct Replica<'a> {
    pub(super) demand: &'a FitDemand<'a>,
    pub(super) catalog: &'a Catalog,
    pub(super) coefficients: Option<&'a Coefficients>,
    pub(super) accelerator: &'a str,
    pub(super) devices: f64,
}

impl Replica<'_> {
    fn speed(&self, load: Load) -> Result<ServerSpeed, &'static str> {
        let all = (self.catalog, self.coefficients);
        self.demand.speed(all, self.accelerator, self.devices, self.devices, load)
    }

    /// Whether the replica keeps the limits of a promise with this many requests at a time.
    fn keeps(&self, goal: &ServerGoal, requests: f64, end: RangeEnd) -> Result<bool, &'static str> {
        let speed = self.speed(Load::Given(requests))?;
        let first = first_ms(&speed, end);
        // Requests that the memory does not hold wait for others.
        let is_held = speed.in_flight >= requests;
        Ok(is_held
            && goal.ms_to_first_token.is_none_or(|limit| first.is_some_and(|ms| ms <= limit))
            && goal.ms_per_token.is_none_or(|limit| token_ms(&speed, end) <= limit))
    }

    /// Returns the most requests at a time with which the replica keeps the limits, or `None` if one is too many.
    fn most_requests(&self, goal: &ServerGoal, end: RangeEnd) -> Result<Option<f64>, &'static str> {
        if !self.keeps(goal, 1.0, end)? {
            return Ok(None);
        }
        self.largest(self.most_held(), |requests| self.keeps(goal, requests, end)).map(Some)
    }

    /// Returns the most requests at a time that the replica accepts, as far as measurements cover them.
    fn most_held(&self) -> f64 {
        self.demand.concurrent.unwrap_or(MOST_REQUESTS).clamp(1.0, MOST_REQUESTS).floor()
    }

    /// Returns the largest whole number up to a maximum that has a property, if each smaller one has it, and 1 does.
    fn largest(&self, most: f64, has: impl Fn(f64) -> Result<bool, &'static str>) -> Result<f64, &'static str> {
        if has(most)? {
            return Ok(most);
        }
        let (mut least, mut most) = (1.0, most);
        while most - least > 1.0 {
            let middle = ((least + most) / 2.0_f64).floor();
            if has(middle)? { least = middle } else { most = middle }
        }
        Ok(least)
    }

    /// Returns the requests per second that the replica answers with this many requests at a time.
    fn requests_per_second(&self, requests: f64, end: RangeEnd) -> Result<f64, &'static str> {
        let speed = self.speed(Load::Given(requests))?;
        let (_, answer) = self.demand.lengths();
        let seconds = (first_ms(&speed, end).unwrap_or(0.0) + answer * token_ms(&speed, end)) / 1e3;
        Ok(requests / seconds)
    }

    /// Returns the replicas that hold a promise together. `None` if no number of replicas holds it.
    fn replicas(&self, goal: &ServerGoal, end: RangeEnd) -> Result<Option<f64>, &'static str> {
        let Some(rate) = goal.requests_per_second(self.demand.lengths().1) else {
            let is_kept = self.keeps(goal, goal.concurrency.unwrap_or(1.0), end)?;
            return Ok(is_kept.then_some(1.0));
        };
        let Some(most) = self.most_requests(goal, end)? else { return Ok(None) };
        let replicas = (rate / self.requests_per_second(most, end)? - 1e-9).ceil().max(1.0);
        Ok((replicas <= MOST_REPLICAS).then_some(replicas))
    }

    /// Returns the requests at a time of each of these replicas under the load of a goal, at one end of the range. `None`
    /// if there are more than the measurements cover, or more than the replica holds.
    fn requests_at_a_time(&self, goal: &ServerGoal, replicas: f64, end: RangeEnd) -> Result<Option<f64>, &'static str> {
        let Some(rate) = goal.requests_per_second(self.demand.lengths().1) else {
            return Ok(Some(goal.concurrency.unwrap_or(1.0)));
        };
        let is_less = |requests| Ok(self.requests_per_second(requests, end)? < rate / replicas);
        let most = self.most_held();
        if !is_less(1.0)? {
            return Ok(Some(1.0));
        }
        let below = self.largest(most, is_less)?;
        Ok(Some(below + 1.0).filter(|requests| *requests <= most))
    }

    /// Judges this many replicas.
    pub(super) fn judge(&self, goal: &ServerGoal, replicas: f64) -> Result<PromiseVerdict, &'static str> {
        if self.replicas(goal, RangeEnd::Slow)?.is_some_and(|needed| needed <= replicas) {
            return Ok(PromiseVerdict::Holds);
        }
        let is_missed = !self.keeps(goal, 1.0, RangeEnd::Fast)? || self.is_overloaded(goal, replicas)?;
        Ok(if is_missed { PromiseVerdict::Misses } else { PromiseVerdict::Open })
    }

    /// Whether the load surely exceeds what the replicas generate, or surely makes them too slow.
    fn is_overloaded(&self, goal: &ServerGoal, replicas: f64) -> Result<bool, &'static str> {
        let answer = self.demand.lengths().1;
        let Some(rate) = goal.requests_per_second(answer) else { return Ok(false) };
        let full = self.speed(Load::Full(self.demand.concurrent))?;
        if full.tokens_per_second.ceiling * SURELY_MISSED * replicas < rate * answer {
            return Ok(true);
        }
        match self.requests_at_a_time(goal, replicas, RangeEnd::Fast)? {
            // One request fewer may be enough, because the number is rounded up.
            Some(requests) => Ok(!self.keeps(goal, (requests - 1.0).max(1.0), RangeEnd::Fast)?),
            None => Ok(false),
        }
    }
}

fn first_ms(speed: &ServerSpeed, end: RangeEnd) -> Option<f64> {
    let range = speed.ms_to_first_token?;
    Some(match end {
        RangeEnd::Fast => range.floor / SURELY_MISSED,
        RangeEnd::Expected => range.expected,
        RangeEnd::Slow => range.ceiling,
    })
}

fn token_ms(speed: &ServerSpeed, end: RangeEnd) -> f64 {
    match end {
        RangeEnd::Fast => speed.ms_per_token.floor / SURELY_MISSED,
        RangeEnd::Expected => speed.ms_per_token.expected,
        RangeEnd::Slow => speed.slowest_ms_per_token(),
    }
}

/// Machines that hold a promise together.
#[derive(Debug, Clone, PartialEq)]
pub struct PromiseChoice {
    /// One of the machines.
    pub choice: FitChoice,
    pub region: String,
    pub precision: Precision,
    /// Whether the weights have fewer bits than the model is published in.
    pub is_quantized: bool,
    /// The copies of the model on all machines together.
    pub replicas: f64,
    pub machines: f64,
    /// The price of all machines on demand.
    pub per_hour: Money,
    /// The requests at a time of each replica.
    pub requests: f64,
    /// The speed of a replica with these requests.
    pub speed: ServerSpeed,
}

impl PromiseChoice {
    fn by_price(one: &Self, two: &Self) -> std::cmp::Ordering {
        let name = |it: &Self| (it.machines, it.choice.devices);
        one.per_hour
            .cmp(&two.per_hour)
            .then_with(|| name(one).partial_cmp(&name(two)).unwrap_or(std::cmp::Ordering::Equal))
            .then_with(|| one.choice.provider.cmp(&two.choice.provider))
            .then_with(|| one.choice.machine.cmp(&two.choice.machine))
            .then_with(|| one.region.cmp(&two.region))
    }
}

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ByPromise {
    /// The machines that surely hold the promise with weights as published, the cheapest first. Each machine is listed
    /// once, in its cheapest region.
    pub holding: Vec<PromiseChoice>,
    /// The same with weights of fewer bits.
    pub quantized: Vec<PromiseChoice>,
    /// Machines that hold the promise as expected, and not at the slow end of the range, with weights as published. They
    /// are cheaper than the first that surely holds it.
    pub unproved: Vec<PromiseChoice>,
    /// The configurations that surely miss the promise with any number of replicas.
    pub missing: usize,
    /// The reasons why other configurations have no number, each with its count.
    pub without: Vec<(usize, &'static str)>,
    /// The tokens of a prompt and of an answer on which all numbers depend.
    pub lengths: (f64, f64),
}

/// Finds all machines in these places on which a model holds a promise.
pub fn by_promise(
    resource: &Resource,
    catalog: &Catalog,
    market: &Market<'_>,
    places: &[MarketPlace<'_>],
    goal: &ServerGoal,
    may_quantize: bool,
) -> ByPromise {
    let mut found = ByPromise::default();
    let Ok(demand) = FactReader::new(resource).demand(catalog) else { return found };
    found.lengths = demand.lengths();
    let coefficients = Coefficients::of(catalog);
    let search = PromiseSearch { catalog, coefficients: coefficients.as_ref(), market, places, goal };
    let surely = search.run(&demand, RangeEnd::Slow, &mut found);
    found.holding = surely;
    let most = found.holding.first().map(|it| it.per_hour);
    let is_cheaper = |it: &PromiseChoice| most.is_none_or(|most| it.per_hour < most);
    let mut unused = ByPromise::default();
    found.unproved = search.run(&demand, RangeEnd::Expected, &mut unused);
    found.unproved.retain(is_cheaper);
    if may_quantize && demand.precision.is_full() {
        let fewer = FitDemand { precision: Precision::Fp8, ..demand.clone() };
        found.quantized = search.run(&fewer, RangeEnd::Slow, &mut unused);
        found.quantized.iter_mut().for_each(|it| it.is_quantized = true);
        found.quantized.retain(is_cheaper);
    }
    found
}

/// The promise of a resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedPromise {
    pub goal: ServerGoal,
    /// Whether the current pods or machines hold it, or why there is no estimate.
    pub verdict: Result<PromiseVerdict, &'static str>,
    /// The pods or machines of `FitAlternative::Holding`, if there is one.
    pub needed: Option<f64>,
}

/// Returns the cheapest configuration in a place that surely holds a promise, and its number. For pods, it is the part of
/// the machine that one pod uses; the price includes unused parts. A rented machine runs one copy of the model.
pub(super) fn cheapest_fleet(
    demand: &FitDemand<'_>,
    (catalog, coefficients): (&Catalog, Option<&Coefficients>),
    market: &Market<'_>,
    place: &MarketPlace<'_>,
    goal: &ServerGoal,
) -> Option<(FitChoice, f64)> {
    let is_pod = place.shared;
    let places = [MarketPlace { shared: false, ..place.clone() }];
    let search = PromiseSearch { catalog, coefficients, market, places: &places, goal };
    let found = search.run(demand, RangeEnd::Slow, &mut ByPromise::default()).into_iter();
    let one = found.into_iter().find(|it| is_pod || it.choice.count == it.choice.devices)?;
    let (count, needed) = if is_pod { (one.choice.devices, one.replicas) } else { (one.choice.count, one.machines) };
    let per_hour = one.per_hour.times(1.0 / needed);
    Some((FitChoice { count, per_hour, speed: Some(one.speed), ..one.choice }, needed))
}

/// Returns a published measurement of one replica under nearly the same load.
pub fn measurement<'c>(resource: &Resource, catalog: &'c Catalog, chosen: &PromiseChoice) -> Option<Quotation<'c>> {
    let demand = FactReader::new(resource).demand(catalog).ok()?;
    let (input_tokens, output_tokens) = demand.lengths();
    let question = Question {
        engine: resource.text(Key::Program)?,
        model: &demand.model.id,
        accelerator: &chosen.choice.accelerator,
        accelerators: chosen.choice.devices,
        tensor_parallel: Some(chosen.choice.devices),
        precision: chosen.precision.name(),
        input_tokens,
        output_tokens,
        concurrency: Some(chosen.requests),
        scenario: if chosen.requests > 1.0 { "fixed-concurrency" } else { "single-stream" },
        not_by: "",
    };
    matching(&question, catalog)
}

struct PromiseSearch<'a, 'c> {
    catalog: &'a Catalog,
    coefficients: Option<&'a Coefficients>,
    market: &'a Market<'c>,
    places: &'a [MarketPlace<'a>],
    goal: &'a ServerGoal,
}

/// The replicas that an accelerator needs, and the speed of each under its part of the load.
#[derive(Clone, Copy)]
struct Needed {
    replicas: f64,
    requests: f64,
    speed: ServerSpeed,
}

impl PromiseSearch<'_, '_> {
    /// Returns the machines that hold the promise at one end of the range, and counts the others.
    fn run(&self, demand: &FitDemand<'_>, end: RangeEnd, counts: &mut ByPromise) -> Vec<PromiseChoice> {
        let mut needs: BTreeMap<(String, u32), Option<Needed>> = BTreeMap::new();
        let mut cheapest: BTreeMap<(String, String), PromiseChoice> = BTreeMap::new();
        for place in self.places {
            for choice in self.market.all_configurations(demand, place) {
                let key = (choice.accelerator.clone(), choice.devices as u32);
                let needed = *needs.entry(key).or_insert_with(|| self.needed(demand, &choice, end, counts));
                let Some(found) = needed.and_then(|needed| self.fleet(demand, choice, place, needed)) else { continue };
                let key = (found.choice.provider.clone(), found.choice.machine.clone());
                match cheapest.get(&key) {
                    Some(known) if PromiseChoice::by_price(known, &found).is_le() => {}
                    _ => _ = cheapest.insert(key, found),
                }
            }
        }
        let mut found: Vec<PromiseChoice> = cheapest.into_values().collect();
        found.sort_by(PromiseChoice::by_price);
        found
    }

    fn needed(
        &self,
        demand: &FitDemand<'_>,
        choice: &FitChoice,
        end: RangeEnd,
        counts: &mut ByPromise,
    ) -> Option<Needed> {
        let devices = choice.devices / demand.data_parallel.max(1.0);
        let (catalog, coefficients) = (self.catalog, self.coefficients);
        let replica = Replica { demand, catalog, coefficients, accelerator: &choice.accelerator, devices };
        let found = replica.replicas(self.goal, end).and_then(|replicas| {
            let Some(replicas) = replicas else { return Ok(None) };
            let Some(requests) = replica.requests_at_a_time(self.goal, replicas, end)? else { return Ok(None) };
            Ok(Some(Needed { replicas, requests, speed: replica.speed(Load::Given(requests))? }))
        });
        match found {
            Ok(None) => counts.missing += 1,
            Ok(Some(_)) => {}
            Err(why) => match counts.without.iter_mut().find(|(_, other)| *other == why) {
                Some((count, _)) => *count += 1,
                None => counts.without.push((1, why)),
            },
        }
        found.ok().flatten()
    }

    /// Returns as many machines as the replicas need.
    fn fleet(
        &self,
        demand: &FitDemand<'_>,
        choice: FitChoice,
        place: &MarketPlace<'_>,
        needed: Needed,
    ) -> Option<PromiseChoice> {
        let device = self.catalog.hardware(&choice.accelerator)?;
        supports(&device, demand.precision).then_some(())?;
        let copies = (choice.count / choice.devices).floor().max(1.0);
        let machines = (needed.replicas / copies).ceil();
        Some(PromiseChoice {
            per_hour: choice.per_hour.times(machines),
            region: place.region.to_owned(),
            precision: demand.precision,
            is_quantized: false,
            replicas: needed.replicas,
            machines,
            requests: needed.requests,
            speed: needed.speed,
            choice,
        })
    }
}
