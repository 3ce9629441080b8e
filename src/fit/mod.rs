//! Decides whether a model fits an accelerator, and finds the cheapest machine that it fits. All functions are pure.
//!
//! `estimate` calculates the memory of a workload on each device, `demand` reads a workload from the facts of a
//! resource, `choose` finds the cheapest configuration, `readings` lists plausible values of unset settings, and
//! `assess` combines these. `config_beside` reads models from a config.json next to the files, `by_measure` uses usage
//! metrics instead of a model, `generation` compares hardware only, `server` reads the settings of a model server, and
//! `cases` evaluates the estimator.
//!
//! `speed` estimates the tokens per second of a server, `published` finds published measurements, and `speed_cases`
//! evaluates both. `training_run` estimates the days of training. `tokens` finds the lowest cost per token, and
//! `promise` the machines that hold limits on latency under a load. `traffic` calculates the required speed, and
//! `unit_costs` the cost of a unit of work. `lost_work` calculates the cost of cold starts, interruptions and repeated
//! work.

mod assess;
mod by_measure;
mod case_rows;
pub mod cases;
mod choose;
mod config_beside;
mod demand;
mod estimate;
mod generation;
mod hosted;
pub mod lost_work;
mod memory;
pub mod promise;
pub mod published;
mod readings;
mod server;
pub mod speed;
pub mod speed_cases;
pub mod tokens;
mod traffic;
mod training;
mod training_run;
mod unit_costs;
mod workload;

use std::collections::BTreeMap;

use crate::catalog::Money;
use crate::inventory::{Fact, Task};

pub use assess::{assess, assess_all, complete_options, options};
pub use by_measure::{
    BUSY_AT_MOST, CACHE_MARGIN, MEMORY_MARGIN, Smaller, smaller, smaller_for_requests, smaller_server,
};
pub use choose::{Market, MarketPlace};
pub use config_beside::with_configs_beside;
pub use demand::{ASSUMED_ANSWER, ASSUMED_PROMPT, FitDemand, bytes_of_cached_value};
pub use estimate::{budget, cache_bytes, estimate};
pub use generation::{entry_machine, successor};
pub use hosted::{MiddleHost, host_of, middle_host};
pub use memory::{Estimate, weight_bytes};
pub use promise::{PlacedPromise, measurement};
pub use server::{ServerSettings, server_settings};
pub use speed::ServerSpeed;
pub use traffic::{PromisedLoad, ServerGoal, cost_of_tokens, format_rate, tokens_per_day};
pub use training_run::{TrainingRun, by_tokens, cost_per_run};
pub use unit_costs::{UnitCosts, placed};
pub use workload::{Engine, Optimizer, Recompute, Sharding, Training, TuningMethod, Workload, WorkloadDefaults};

/// The maximum share of the memory budget that a recommendation fills.
pub const MARGIN: f64 = 0.90;

/// The model of a resource, and whether it fits the resource's accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The model's name in the catalog.
    pub model: String,
    pub task: Task,
    pub params_b: f64,
    /// The precision of the weights in memory.
    pub precision: &'static str,
    /// The tokens that must fit. If nothing limits them, this is the model's whole window.
    pub context: f64,
    /// Whether the number of context tokens is unknown.
    pub window_assumed: bool,
    /// The configured number of requests at a time.
    pub concurrent: Option<f64>,
    /// The declared or assumed tokens of a prompt and of an answer.
    pub lengths: (f64, f64),
    /// The reason why the model was not found by its exact name.
    pub model_taken_for: Option<String>,
    /// The result on the resource's accelerators, which is unknown if these are unknown.
    pub placed: Fact<PlacedModel>,
}

/// The result for a model on its accelerators. Memory is in GiB for each accelerator.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedModel {
    pub verdict: FitVerdict,
    /// Whether the program refuses to start, because it is a server that needs all of this memory at once.
    pub refuses: bool,
    /// The readable names of unset values, if the verdict is open.
    pub not_said: Vec<&'static str>,
    /// The devices that one copy of the model uses.
    pub devices: f64,
    pub need_gib: f64,
    pub budget_gib: f64,
    /// The needed memory by purpose, such as weights, kv, activations and overhead.
    pub breakdown: BTreeMap<&'static str, f64>,
    /// Whether the model would fit with 8-bit weights and a margin, and does not fit now.
    pub fits_in_eight_bits: bool,
    /// Whether the model would fit with a limit of `LIMITED` tokens, and does not fit now.
    pub fits_limited: bool,
    /// Other configurations of the same provider on which the model fits with a margin.
    pub instead: BTreeMap<FitAlternative, FitChoice>,
    /// The smallest slice of the same accelerator on which the model fits with a margin.
    pub fraction: Option<Fraction>,
    /// The speed of one machine or pod at full load, or why it is unknown.
    pub speed: Result<ServerSpeed, &'static str>,
    /// The source of a published measurement of the same server, if the rate is that measurement and not an estimate.
    pub measured_by: Option<String>,
    /// The declared limit on latency or load, if there is one.
    pub promise: Option<PlacedPromise>,
    /// The duration of the declared training run, or why it is unknown. `None` means that no training tokens are
    /// declared.
    pub training: Option<Result<TrainingRun, &'static str>>,
}

/// The change that an alternative needs in addition to another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FitAlternative {
    /// No other change: the cheapest configuration that costs less.
    Smallest,
    /// 8-bit weights, if the current ones have more bits and the change makes the alternative cheaper.
    Quantized,
    /// 16-bit weights, if the current ones have 32 bits.
    Halved,
    /// A limit of `LIMITED` tokens, if nothing limits the context and the limit makes the alternative cheaper.
    Limited,
    /// No other change: the cheapest configuration, for a model that does not fit now.
    Larger,
    /// Fewer accelerators for each copy of the model, so that the same accelerators run more copies.
    Narrower,
    /// No other change: the configuration with the lowest cost per token.
    PerToken,
    /// Another number of pods or machines: the cheapest configuration that surely holds the promise.
    Holding,
}

impl FitAlternative {
    pub const ALL: [FitAlternative; 8] = [
        FitAlternative::Smallest,
        FitAlternative::Quantized,
        FitAlternative::Halved,
        FitAlternative::Limited,
        FitAlternative::Larger,
        FitAlternative::Narrower,
        FitAlternative::PerToken,
        FitAlternative::Holding,
    ];
}

/// A context limit in tokens that most requests do not reach.
pub const LIMITED: f64 = 8_192.0;

/// A part of an accelerator on which the model fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fraction {
    /// The profile of the slice, such as `1g.10gb`.
    pub profile: String,
    /// The number of such slices on one accelerator.
    pub instances: u32,
    pub need_gib: f64,
    pub budget_gib: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitVerdict {
    Fits,
    Borderline,
    DoesNotFit,
}

impl FitVerdict {
    pub fn name(self) -> &'static str {
        match self {
            FitVerdict::Fits => "fits",
            FitVerdict::Borderline => "borderline",
            FitVerdict::DoesNotFit => "does-not-fit",
        }
    }
}

/// Returns whether a workload surely fits, surely does not fit, or is too close to the limit. `None` means that
/// numbers are missing.
pub fn verdict(workload: &Workload<'_>, usable_gib: f64) -> Option<FitVerdict> {
    let said = compare(workload, usable_gib)?;
    let used = workload.tensor_parallel * workload.pipeline_parallel;
    if said == FitVerdict::DoesNotFit && workload.task == Task::Serve && workload.devices > used {
        // There are more devices than the declared parallelism uses, and an undeclared setting may use them.
        let all = Workload { tensor_parallel: workload.devices / workload.pipeline_parallel, ..*workload };
        if compare(&all, usable_gib)? != FitVerdict::DoesNotFit {
            return Some(FitVerdict::Borderline);
        }
    }
    Some(said)
}

/// Returns `Fits` if all plausible workloads fit, and `DoesNotFit` if none does.
fn compare(workload: &Workload<'_>, usable_gib: f64) -> Option<FitVerdict> {
    // Trainers that choose their own micro-batch fill the card, so many running jobs are close to the limit.
    let upper = if workload.task == Task::Train { 1.25 } else { 1.15 };
    let budget = budget(workload, usable_gib);
    let share = |reading: &Workload<'_>| estimate(reading).need() / budget;
    let (least, usual) = (share(&workload.lightest()), share(workload));
    let most = workload.heavier().map(|reading| share(&reading)).fold(usual, f64::max);
    if !(least + usual + most).is_finite() || budget <= 0.0 {
        return None;
    }
    Some(match () {
        () if least > upper => FitVerdict::DoesNotFit,
        () if usual <= MARGIN && most <= 1.0 => FitVerdict::Fits,
        () => FitVerdict::Borderline,
    })
}

/// A configuration that can replace the current one.
#[derive(Debug, Clone, PartialEq)]
pub struct FitChoice {
    pub provider: String,
    pub machine: String,
    pub accelerator: String,
    /// The accelerators that are billed: those of the machine, or those of the pod's part of it.
    pub count: f64,
    /// The accelerators that the workload uses.
    pub devices: f64,
    /// The price of what is billed: the machine, or the pod's part of it.
    pub per_hour: Money,
    /// The price of the machine.
    pub machine_per_hour: Money,
    pub need_gib: f64,
    pub budget_gib: f64,
    /// The estimated speed of the workload on this configuration, if there is an estimate.
    pub speed: Option<ServerSpeed>,
    /// The largest context in tokens that fits with a margin, if it was asked for and the cache is known.
    pub largest_context: Option<f64>,
}
