//! Decides whether the model of a resource fits its accelerators, and finds alternatives.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::choose::{Market, MarketPlace, fits, largest_context};
use super::demand::{FactReader, FitDemand, MissingFact, slice_gib};
use super::estimate::{budget, estimate};
use super::memory::Estimate;
use super::promise::{PlacedPromise, PromiseVerdict, Replica, cheapest_fleet};
use super::published::{Question, Quotation, matching};
use super::speed::{Coefficients, Load, ServerSpeed};
use super::tokens::CostComparison;
use super::traffic::ServerGoal;
use super::training_run::{TrainingRun, training_run};
use super::workload::{Engine, Workload};
use super::{Assessment, FitAlternative, FitChoice, FitVerdict, Fraction, LIMITED, MARGIN, PlacedModel, verdict};
use crate::catalog::{AcceleratorHardware, Catalog, Precision};
use crate::inventory::{BillingRole, Fact, Inventory, Key, Resource, Task};
use crate::pricing::{Bill, BillItem, PricingSettings};

const FEW: usize = 32;

/// Assesses each resource, in the order of the inventory.
pub fn assess_all(
    inventory: &Inventory,
    bill: &Bill,
    catalog: &Catalog,
    settings: &PricingSettings,
) -> Vec<Fact<Assessment>> {
    let market = Market::new(catalog, settings);
    let unpriced = BillItem::default();
    let of = |(place, resource): (usize, &Resource)| {
        assess(resource, bill.items.get(place).unwrap_or(&unpriced), catalog, &market)
    };
    match inventory.resources.len() {
        // A few resources are assessed faster without other threads.
        0..FEW => inventory.resources.iter().enumerate().map(of).collect(),
        _ => inventory.resources.par_iter().enumerate().map(of).collect(),
    }
}

/// Assesses a resource. The result is absent if no model is configured, and unknown if a decisive value is unknown.
pub fn assess(resource: &Resource, item: &BillItem, catalog: &Catalog, market: &Market<'_>) -> Fact<Assessment> {
    let mut reader = FactReader::new(resource);
    let place_of = |key: Key, other: Key| {
        let span = resource.fact(key).span().or_else(|| resource.fact(other).span());
        span.unwrap_or(resource.span)
    };
    let demand = match reader.demand(catalog) {
        Ok(demand) => demand,
        Err(Some((why, key))) => return Fact::unknown(why, place_of(key, key)),
        Err(None) => return Fact::Absent,
    };
    let span = place_of(Key::Model, Key::Parameters);
    let given = Given::read(&mut reader, resource, catalog, &demand);
    let goal = ServerGoal::of(resource, catalog);
    let coefficients = if demand.task == Task::Serve { Coefficients::of(catalog) } else { None };
    let search = Search { demand: &demand, resource, item, catalog, market, goal, coefficients };
    let placed = match given.and_then(|given| judge(&demand, &given, &search)) {
        Ok(placed) => Fact::known(placed, span, reader.origin.clone()),
        Err(Some((why, key))) => Fact::unknown(why, place_of(key, Key::AcceleratorCount)),
        Err(None) => Fact::Absent,
    };
    // If the model does not fit with any plausible value, that is the result. Otherwise, a missing value makes it
    // unknown.
    let surely_not = placed.value().is_some_and(|placed| placed.verdict == FitVerdict::DoesNotFit);
    if let Some((why, key)) = demand.guessed().filter(|_| !surely_not) {
        return Fact::unknown(why, place_of(key, key));
    }
    let assessment = Assessment {
        model: demand.model.id.to_string(),
        task: demand.task,
        params_b: demand.model.params_b,
        precision: demand.precision.name(),
        context: demand.context,
        window_assumed: demand.window_assumed,
        concurrent: demand.concurrent,
        lengths: demand.lengths(),
        model_taken_for: reader.model_taken_for,
        placed,
    };
    Fact::known(assessment, span, reader.origin)
}

/// The accelerators that a resource has for its model.
struct Given<'c> {
    device: AcceleratorHardware<'c>,
    /// The accelerators that one copy of the model uses.
    used: f64,
    /// All accelerators that are available to one copy.
    all: f64,
}

impl<'c> Given<'c> {
    fn read(
        reader: &mut FactReader<'_>,
        resource: &Resource,
        catalog: &'c Catalog,
        demand: &FitDemand<'_>,
    ) -> Result<Self, MissingFact> {
        let (device, in_one) = reader.devices(catalog)?;
        let all = in_one * resource.number(Key::GroupSize).unwrap_or(1.0).max(1.0);
        let used = demand.devices_of_copy(all).max(1.0);
        if used > all {
            let why = format!("it is set to run on {used} accelerators, but has {all}");
            return Err(Some((why.into(), Key::TensorParallel)));
        }
        Ok(Given { device, used, all: (all / demand.data_parallel.max(1.0)).max(used) })
    }
}

fn judge(demand: &FitDemand<'_>, given: &Given<'_>, search: &Search<'_, '_>) -> Result<PlacedModel, MissingFact> {
    let tensor = if demand.tensor_parallel > 0.0 { demand.tensor_parallel } else { given.used };
    let busy = demand.on(given.used, tensor, demand.pipeline_parallel);
    // A server starts if one request with the whole context fits. Less memory for more requests only makes it slower.
    let workload = Workload { concurrent: 1.0, ..busy };
    let usable_gib = given.device.usable_gib;
    let holds_all = estimate(&busy).need() <= budget(&busy, usable_gib);
    let missing = || Some(("the settings of this workload contradict each other".into(), Key::Model));
    let mut verdict = verdict(&Workload { devices: given.all, ..workload }, usable_gib).ok_or_else(missing)?;
    if verdict == FitVerdict::DoesNotFit
        && !demand.needs_whole_context()
        && fits_with_less(demand, given.used, tensor, usable_gib)
    {
        verdict = FitVerdict::Borderline;
    }
    let fits = verdict != FitVerdict::DoesNotFit;
    let estimate = match fits {
        true => estimate(if holds_all { &busy } else { &workload }),
        // The memory of the smallest plausible workload shows how far the model is from fitting.
        false => estimate(&workload.lightest()),
    };
    let measured = search.measured(given);
    let (promise, holding) = search.promise(given, verdict).unzip();
    let estimated = search.speed(given, verdict);
    Ok(PlacedModel {
        verdict,
        not_said: if verdict == FitVerdict::Borderline { demand.unsaid.names() } else { Vec::new() },
        refuses: verdict == FitVerdict::DoesNotFit && refuses(demand) && !demand.may_be_quantized,
        devices: given.used,
        need_gib: estimate.need(),
        budget_gib: budget(&workload, usable_gib),
        breakdown: breakdown(&estimate, demand.unsaid.cache),
        fits_in_eight_bits: !fits && fits_in_eight_bits(demand, &workload, usable_gib),
        fits_limited: !fits && fits_limited(demand, &workload, usable_gib),
        instead: {
            let holding = holding.flatten().map(|choice| (FitAlternative::Holding, choice));
            search.instead(given, fits, &estimated).into_iter().chain(holding).collect()
        },
        promise,
        fraction: search.fraction(given),
        speed: match (&measured, estimated) {
            (Some(found), Ok(speed)) => Ok(ServerSpeed { tokens_per_second: found.range(), ..speed }),
            (_, estimated) => estimated,
        },
        measured_by: measured.filter(|_| estimated.is_ok()).map(|found| found.format_quotation()),
        training: search.training(given, verdict),
    })
}

/// Returns the needed memory by purpose. An unknown cache is missing.
fn breakdown(estimate: &Estimate, cache_is_unknown: bool) -> BTreeMap<&'static str, f64> {
    let mut parts = BTreeMap::from([
        ("weights", estimate.weights),
        ("activations", estimate.activations),
        ("optimizer", estimate.optimizer),
        ("overhead", estimate.overhead),
    ]);
    if !cache_is_unknown {
        parts.insert("kv", estimate.cache);
    }
    parts
}

fn fits_in_eight_bits(demand: &FitDemand<'_>, workload: &Workload<'_>, usable_gib: f64) -> bool {
    let eight = Workload { precision: Precision::Int8, ..*workload };
    demand.task == Task::Serve
        && demand.precision.is_full()
        && estimate(&eight).need() <= MARGIN * budget(&eight, usable_gib)
}

fn fits_limited(demand: &FitDemand<'_>, workload: &Workload<'_>, usable_gib: f64) -> bool {
    let limited = Workload { context: LIMITED, ..*workload };
    demand.task == Task::Serve
        && demand.whole_window
        && demand.context > LIMITED
        && estimate(&limited).need() <= MARGIN * budget(&limited, usable_gib)
}

/// Whether the model fits with a shorter context, which some engines choose by themselves.
fn fits_with_less(demand: &FitDemand<'_>, devices: f64, tensor: f64, usable_gib: f64) -> bool {
    const LEAST: f64 = 2048.0;
    let demand = FitDemand { context: demand.context.min(LEAST), ..demand.clone() };
    let workload = demand.on(devices, tensor, demand.pipeline_parallel);
    estimate(&workload).need() <= budget(&workload, usable_gib)
}

/// Whether the server refuses to start if its model does not fit. Other programs become slow or fail later.
fn refuses(demand: &FitDemand<'_>) -> bool {
    demand.task == Task::Serve && matches!(demand.engine, Engine::Pooled { .. }) && !demand.offloaded
}

/// The search for alternatives in the resource's region.
struct Search<'a, 'c> {
    demand: &'a FitDemand<'a>,
    resource: &'a Resource,
    item: &'a BillItem,
    catalog: &'a Catalog,
    market: &'a Market<'c>,
    /// The speed that alternatives must reach.
    goal: ServerGoal,
    /// The coefficients of the speed estimate, or `None` if the workload generates no tokens.
    coefficients: Option<Coefficients>,
}

impl Search<'_, '_> {
    /// Returns the cheapest alternatives, each with the change that it needs. Each costs less than the current
    /// configuration. If the model does not fit, there is also one on which it fits.
    fn instead(
        &self,
        given: &Given<'_>,
        fits: bool,
        speed: &Result<ServerSpeed, &str>,
    ) -> BTreeMap<FitAlternative, FitChoice> {
        let mut found = BTreeMap::new();
        if self.demand.guessed().is_some() {
            return found;
        }
        if !fits {
            found.extend(self.cheapest(self.demand).map(|choice| (FitAlternative::Larger, choice)));
        }
        // Fewer or slower devices make training longer, not cheaper.
        if self.demand.task == Task::Train {
            return found;
        }
        let smallest = self.cheaper(self.demand);
        let still_cheaper = |demand: Option<FitDemand<'_>>| {
            let choice = self.cheaper(&demand?)?;
            smallest.as_ref().is_none_or(|smallest| choice.per_hour < smallest.per_hour).then_some(choice)
        };
        let changed = [
            (FitAlternative::Quantized, self.in_eight_bits()),
            (FitAlternative::Halved, self.in_sixteen_bits()),
            (FitAlternative::Limited, self.with_less_context()),
        ];
        for (alternative, demand) in changed {
            found.extend(still_cheaper(demand).map(|choice| (alternative, choice)));
        }
        found.extend(smallest.map(|choice| (FitAlternative::Smallest, choice)));
        if let Ok(now) = speed {
            found.extend(self.narrower(given, now).map(|choice| (FitAlternative::Narrower, choice)));
            found.extend(self.cheapest_by_token(now).map(|choice| (FitAlternative::PerToken, choice)));
        }
        found
    }

    fn in_eight_bits(&self) -> Option<FitDemand<'_>> {
        let full = self.demand.task == Task::Serve && self.demand.precision.is_full();
        full.then(|| FitDemand { precision: Precision::Int8, ..self.demand.clone() })
    }

    fn in_sixteen_bits(&self) -> Option<FitDemand<'_>> {
        let single = self.demand.precision == Precision::Fp32;
        single.then(|| FitDemand { precision: Precision::Fp16, ..self.demand.clone() })
    }

    fn with_less_context(&self) -> Option<FitDemand<'_>> {
        let demand = self.demand;
        let open = demand.task == Task::Serve && demand.whole_window && demand.context > LIMITED;
        open.then(|| FitDemand { context: LIMITED, ..demand.clone() })
    }

    fn cheaper(&self, demand: &FitDemand<'_>) -> Option<FitChoice> {
        // A pod that shares its model with other pods has only a part of the cost that an alternative would replace.
        if self.resource.number(Key::GroupSize).is_some_and(|size| size > 1.0) {
            return None;
        }
        let now = self.item.per_hour?.expected;
        let choice = self.cheapest(demand)?;
        // A smaller machine with the same accelerators is not a smaller accelerator.
        let same = Some(&*choice.accelerator) == self.resource.text(Key::Accelerator)
            && self.resource.number(Key::AcceleratorCount) == Some(choice.devices);
        (choice.per_hour < now && !same).then_some(choice)
    }

    /// Returns the cheapest configuration. It must be fast enough if a speed is required, so its speed must be known.
    fn cheapest(&self, demand: &FitDemand<'_>) -> Option<FitChoice> {
        let place = place(self.resource, self.catalog);
        where_it_is(self.resource, self.catalog, &place, &|place| {
            if self.goal.asks_nothing() || demand.task != Task::Serve {
                return self.market.cheapest(demand, place).map(|choice| self.with_speed(demand, choice));
            }
            let all = self.market.configurations(demand, place).into_iter();
            all.map(|choice| self.with_speed(demand, choice)).find(|choice| self.is_fast_enough(choice))
        })
    }

    fn with_speed(&self, demand: &FitDemand<'_>, choice: FitChoice) -> FitChoice {
        let of_copy = choice.devices / demand.data_parallel.max(1.0);
        let load = Load::Full(demand.concurrent);
        let speed = demand
            .speed((self.catalog, self.coefficients.as_ref()), &choice.accelerator, choice.devices, of_copy, load)
            .ok();
        FitChoice { speed, ..choice }
    }

    fn is_fast_enough(&self, choice: &FitChoice) -> bool {
        if !self.goal.is_promise() {
            return choice.speed.is_some_and(|speed| self.goal.is_met(&speed, self.copies()));
        }
        // The speed at full load contains no time to the first token, and users do not wait for full load.
        let day = ServerGoal { ms_per_token: None, ..self.goal };
        let data_parallel = self.demand.data_parallel.max(1.0);
        let replica = Replica {
            demand: self.demand,
            catalog: self.catalog,
            coefficients: self.coefficients.as_ref(),
            accelerator: &choice.accelerator,
            devices: choice.devices / data_parallel,
        };
        choice.speed.is_some_and(|speed| day.is_met(&speed, self.copies()))
            && replica.judge(&self.goal, self.copies() * data_parallel) == Ok(PromiseVerdict::Holds)
    }

    /// Judges the declared limit on latency or load, and finds the cheapest configuration that holds it.
    fn promise(&self, given: &Given<'_>, verdict: FitVerdict) -> Option<(PlacedPromise, Option<FitChoice>)> {
        let goal = self.goal;
        if !goal.is_promise() || self.demand.task != Task::Serve {
            return None;
        }
        let is_whole = self.resource.number(Key::GroupSize).is_none_or(|size| size <= 1.0);
        let fleet = if is_whole && self.demand.data_parallel <= 1.0 { self.cheapest_fleet() } else { None };
        let (choice, needed) = fleet.unzip();
        let judged = if goal.is_unknown {
            Err("a limit of the promise is unknown")
        } else {
            // The conditions of the estimate at full load apply, too.
            self.speed(given, verdict).and_then(|_| self.judge_promise(given))
        };
        Some((PlacedPromise { goal, verdict: judged, needed }, choice))
    }

    /// Judges the current pods or machines: they surely miss the promise if the most of them do, and surely hold it if
    /// the fewest do.
    fn judge_promise(&self, given: &Given<'_>) -> Result<PromiseVerdict, &'static str> {
        let accelerator = self.resource.text(Key::Accelerator).unwrap_or(given.device.name);
        let (catalog, coefficients) = (self.catalog, self.coefficients.as_ref());
        let replica = Replica { demand: self.demand, catalog, coefficients, accelerator, devices: given.used };
        let count = self.item.count_of(self.resource).ok_or("the number of replicas is unknown")?;
        let copies = self.demand.data_parallel.max(1.0);
        let judged = |machines: f64| replica.judge(&self.goal, machines * copies);
        Ok(match (judged(count.floor)?, judged(count.ceiling)?) {
            (PromiseVerdict::Holds, _) => PromiseVerdict::Holds,
            (_, PromiseVerdict::Misses) => PromiseVerdict::Misses,
            _ => PromiseVerdict::Open,
        })
    }

    /// Returns the cheapest configuration that surely holds the promise, and its number. Only a known provider has
    /// machines that the files can name.
    fn cheapest_fleet(&self) -> Option<(FitChoice, f64)> {
        let provider = self.resource.text(Key::Provider)?;
        let region = self.resource.text(Key::Region).unwrap_or_else(|| self.catalog.base_region(provider));
        let place = MarketPlace { provider, region, ..place(self.resource, self.catalog) };
        cheapest_fleet(self.demand, (self.catalog, self.coefficients.as_ref()), self.market, &place, &self.goal)
    }

    /// The number of pods or machines that share the traffic.
    fn copies(&self) -> f64 {
        let count = self.item.count_of(self.resource);
        count.map_or(1.0, |count| count.expected).max(1.0)
    }

    /// Returns the same accelerators with fewer for each copy, if they generate more tokens in total.
    fn narrower(&self, given: &Given<'_>, now: &ServerSpeed) -> Option<FitChoice> {
        if given.used < 2.0 || self.demand.pipeline_parallel > 1.0 {
            return None;
        }
        let all = given.used * self.demand.data_parallel.max(1.0);
        let accelerator = self.resource.text(Key::Accelerator)?;
        let fewer = [1u32, 2, 4].into_iter().filter(|devices| f64::from(*devices) < given.used);
        let choices = fewer.filter_map(|devices| {
            let (need_gib, budget_gib) = fits(self.demand, &given.device, devices)?;
            let (of_copy, load) = (f64::from(devices), Load::Full(self.demand.concurrent));
            let speed =
                self.demand.speed((self.catalog, self.coefficients.as_ref()), accelerator, all, of_copy, load).ok()?;
            Some(FitChoice {
                provider: self.resource.text(Key::Provider).unwrap_or_default().to_owned(),
                machine: self.resource.text(Key::Machine).unwrap_or_default().to_owned(),
                accelerator: accelerator.to_owned(),
                count: self.resource.number(Key::AcceleratorCount)?,
                devices: of_copy,
                per_hour: self.item.per_hour?.expected,
                machine_per_hour: self.item.per_hour?.expected,
                need_gib,
                budget_gib,
                speed: Some(speed),
                largest_context: None,
            })
        });
        let rate = |choice: &FitChoice| choice.speed.map_or(0.0, |speed| speed.tokens_per_second.expected);
        let is_better = |choice: &FitChoice| {
            rate(choice) > now.tokens_per_second.expected
                && (self.goal.ms_per_token.is_none() && !self.goal.is_promise() || self.is_fast_enough(choice))
        };
        choices.filter(is_better).max_by(|one, two| rate(one).total_cmp(&rate(two)))
    }

    /// Returns the configuration with the lowest cost per token in the resource's region, if the current one is
    /// clearly more expensive.
    fn cheapest_by_token(&self, now: &ServerSpeed) -> Option<FitChoice> {
        if self.resource.number(Key::GroupSize).is_some_and(|size| size > 1.0) {
            return None;
        }
        let cost = |choice: &FitChoice| {
            let rate = choice.speed.map_or(0.0, |speed| speed.tokens_per_second.expected);
            choice.per_hour.usd() / rate
        };
        let least = |place: &MarketPlace<'_>| {
            let all = self.market.configurations(self.demand, place).into_iter();
            let fast =
                all.map(|choice| self.with_speed(self.demand, choice)).filter(|choice| self.is_fast_enough(choice));
            fast.min_by(|one, two| cost(one).total_cmp(&cost(two)))
        };
        let place = MarketPlace { whole: true, ..place(self.resource, self.catalog) };
        let choice = where_it_is(self.resource, self.catalog, &place, &least)?;
        let is_same = Some(&*choice.accelerator) == self.resource.text(Key::Accelerator);
        let now = self.item.per_hour?.expected.usd() / now.tokens_per_second.expected;
        (!is_same && CostComparison::of(now / cost(&choice)) == CostComparison::Dearer).then_some(choice)
    }

    /// Returns the speed at full load.
    fn speed(&self, given: &Given<'_>, verdict: FitVerdict) -> Result<ServerSpeed, &'static str> {
        if verdict == FitVerdict::DoesNotFit {
            return Err("it does not fit");
        }
        let one_of_many = self.resource.number(Key::GroupSize).is_some_and(|size| size > 1.0);
        let part = self.resource.fact(Key::Slice).value().is_some()
            || self.resource.number(Key::AcceleratorCount).is_some_and(|count| count < 1.0);
        if one_of_many || part {
            return Err("gpulint does not estimate parts of accelerators, or one model on several machines");
        }
        let accelerator = self.resource.text(Key::Accelerator).unwrap_or(given.device.name);
        // Accelerators beyond the declared parallelism do no work.
        let at_work = given.used * self.demand.data_parallel.max(1.0);
        self.demand.speed(
            (self.catalog, self.coefficients.as_ref()),
            accelerator,
            at_work,
            given.used,
            Load::Full(self.demand.concurrent),
        )
    }

    /// Returns a published measurement of the same server. The lengths of prompts and answers must be declared.
    fn measured(&self, given: &Given<'_>) -> Option<Quotation<'_>> {
        let demand = self.demand;
        let lengths = demand.prompt.zip(demand.answer)?;
        let question = Question {
            engine: match self.resource.text(Key::Program)? {
                "trt-llm" => "TensorRT-LLM",
                program => program,
            },
            model: &demand.model.id,
            accelerator: self.resource.text(Key::Accelerator)?,
            accelerators: given.used * demand.data_parallel.max(1.0),
            tensor_parallel: Some(given.used).filter(|_| demand.pipeline_parallel <= 1.0),
            precision: demand.precision.name(),
            input_tokens: lengths.0,
            output_tokens: lengths.1,
            concurrency: None,
            scenario: "offline-max",
            not_by: "",
        };
        matching(&question, self.catalog)
    }

    /// Returns the duration of the declared training run.
    fn training(&self, given: &Given<'_>, verdict: FitVerdict) -> Option<Result<TrainingRun, &'static str>> {
        if self.demand.task != Task::Train {
            return None;
        }
        let accelerator = self.resource.text(Key::Accelerator).unwrap_or(given.device.name);
        let run = training_run(self.resource, self.demand, self.catalog, accelerator)?;
        // The verdict covers only the accelerators that surely hold one model. More machines may share the model, so
        // it may still fit.
        let of_all = run.as_ref().is_ok_and(|run| run.accelerators <= given.all);
        Some(if verdict == FitVerdict::DoesNotFit && of_all { Err("it does not fit") } else { run })
    }

    /// Returns the smallest slice of the same accelerator on which it fits, if it uses a single device.
    fn fraction(&self, given: &Given<'_>) -> Option<Fraction> {
        let whole =
            self.resource.fact(Key::Slice).is_absent() && self.resource.number(Key::AcceleratorCount) == Some(1.0);
        if self.demand.task == Task::Train || given.used > 1.0 || !whole {
            return None;
        }
        let accelerator = self.resource.text(Key::Accelerator)?;
        let workload = self.demand.on(1.0, 1.0, 1.0);
        let need_gib = estimate(&workload).need();
        let fitting = self.catalog.slices_of(accelerator).filter_map(|slice| {
            let budget_gib = budget(&workload, slice_gib(&slice));
            let fits = need_gib <= MARGIN * budget_gib && slice.max_instances > 1;
            fits.then(|| Fraction {
                profile: slice.profile.to_owned(),
                instances: slice.max_instances,
                need_gib,
                budget_gib,
            })
        });
        fitting.max_by(|one, two| one.instances.cmp(&two.instances).then(two.budget_gib.total_cmp(&one.budget_gib)))
    }
}

/// Searches in the region of a resource, or in those that gpulint assumes for it.
pub(super) fn where_it_is(
    resource: &Resource,
    catalog: &Catalog,
    place: &MarketPlace<'_>,
    find: &dyn Fn(&MarketPlace<'_>) -> Option<FitChoice>,
) -> Option<FitChoice> {
    if let Some(provider) = resource.text(Key::Provider) {
        let region = resource.text(Key::Region).unwrap_or_else(|| catalog.base_region(provider));
        return find(&MarketPlace { provider, region, ..place.clone() });
    }
    // A pod without a provider has the median price of the clouds, so its alternative has the median price, too.
    let in_cloud = |provider| find(&MarketPlace { provider, region: catalog.base_region(provider), ..place.clone() });
    let mut choices: Vec<FitChoice> = catalog.assumed_clouds().into_iter().filter_map(in_cloud).collect();
    choices.sort_by_key(|choice| choice.per_hour);
    let middle = choices.len().checked_sub(1)? / 2;
    choices.into_iter().nth(middle)
}

/// Returns the requirements of a machine in addition to its accelerators, independent of the provider.
pub(super) fn place<'r>(resource: &'r Resource, catalog: &'r Catalog) -> MarketPlace<'r> {
    let machine = resource.text(Key::Machine).unwrap_or_default();
    let accelerator = resource.text(Key::Accelerator).and_then(|name| catalog.accelerator(name));
    let shared = resource.role == BillingRole::Requested;
    let asked = |key| if shared { resource.number(key).unwrap_or(0.0) } else { 0.0 };
    MarketPlace {
        vendor: accelerator.map_or("", |known| known.vendor),
        processor: Some(accelerator.map_or("", |known| known.processor)),
        purchase: resource.purchase(),
        shared,
        service: if machine.starts_with("ml.") { "ml." } else { "" },
        cpus: asked(Key::Cpus),
        memory_gib: asked(Key::Memory),
        ..MarketPlace::default()
    }
}

/// Sets the speed of each configuration, and the largest context that fits.
pub fn complete_options(resource: &Resource, catalog: &Catalog, options: &mut [FitChoice]) {
    let Ok(demand) = FactReader::new(resource).demand(catalog) else { return };
    let coefficients = Coefficients::of(catalog);
    for choice in options {
        let Some(device) = catalog.hardware(&choice.accelerator) else { continue };
        let speed = demand.speed(
            (catalog, coefficients.as_ref()),
            &choice.accelerator,
            choice.count,
            choice.devices,
            Load::Full(None),
        );
        choice.speed = speed.ok();
        let tensor_parallel = choice.devices / demand.data_parallel.max(1.0);
        choice.largest_context = largest_context(&demand, &device, tensor_parallel as u32);
    }
}

/// Returns all configurations in these places on which the model fits with a margin, the cheapest first. Returns none
/// if a required value is not set.
pub fn options(
    resource: &Resource,
    catalog: &Catalog,
    market: &Market<'_>,
    places: &[MarketPlace<'_>],
) -> Vec<FitChoice> {
    let demand = FactReader::new(resource).demand(catalog);
    let Some(demand) = demand.ok().filter(|demand| demand.guessed().is_none()) else { return Vec::new() };
    let mut choices: Vec<FitChoice> = places.iter().flat_map(|place| market.configurations(&demand, place)).collect();
    choices.sort_by(|one, two| one.per_hour.cmp(&two.per_hour).then_with(|| one.machine.cmp(&two.machine)));
    choices
}
