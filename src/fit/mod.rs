//! Decides whether a model fits an accelerator, and finds the cheapest machine that it fits. All functions are pure.
//!
//! `estimate` calculates the memory of a workload on each device, `demand` reads a workload from the facts of a resource, `choose`
//! finds the cheapest configuration, `readings` lists plausible values of unset settings, and `assess`
//! combines these. `config_beside` reads models from a config.json next to the files, `by_measure` uses
//! usage metrics instead of a model, and `cases` evaluates the estimator.
//!
//! `speed` estimates the tokens per second of a server, `published` finds published measurements, and `speed_cases` evaluates
//! both. `training_run` estimates the days of training. `tokens` finds the lowest cost per token. `traffic`
//! calculates the required speed, and `unit_costs` the cost of a unit of work.

mod assess;
mod by_measure;
mod case_rows;
pub mod cases;
mod choose;
mod config_beside;
mod demand;
mod estimate;
mod hardware;
mod hosted;
mod memory;
pub mod published;
mod readings;
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

pub use assess::{assess, assess_all, options};
pub use by_measure::{BUSY_AT_MOST, CACHE_MARGIN, MEMORY_MARGIN, Smaller, smaller, smaller_server};
pub use choose::{Market, MarketPlace};
pub use config_beside::with_configs_beside;
pub use demand::{ASSUMED_ANSWER, ASSUMED_PROMPT, FitDemand};
pub use estimate::{budget, cache_bytes, estimate};
pub use hardware::{AcceleratorHardware, device};
pub use hosted::{MiddleHost, host_of, middle_host};
pub use memory::{Estimate, weight_bytes};
pub use speed::ServerSpeed;
pub use traffic::{ServerGoal, cost_of_tokens, tokens_per_day};
pub use training_run::{TrainingRun, by_tokens, cost_per_run};
pub use unit_costs::{UnitCosts, placed};
pub use workload::{Engine, Optimizer, Recompute, Sharding, Training, TuningMethod, Workload, WorkloadDefaults};

/// Share of the budget that a recommendation fills at most.
pub const MARGIN: f64 = 0.90;

/// What a resource's model is, and whether it fits the accelerators that it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The model as the table names it.
    pub model: String,
    pub task: Task,
    pub params_b: f64,
    /// Of the weights as they are held.
    pub precision: &'static str,
    /// Tokens that must be held; the model's whole window where nothing limits them.
    pub context: f64,
    /// Nothing says how many tokens these are.
    pub window_assumed: bool,
    /// Requests that it is told to answer at a time.
    pub concurrent: Option<f64>,
    /// Tokens of a prompt and of an answer, as declared or else assumed.
    pub lengths: (f64, f64),
    /// Why the model is not simply the one of the name that the text says.
    pub model_taken_for: Option<String>,
    /// On its accelerators; unknown where these are.
    pub placed: Fact<PlacedModel>,
}

/// A model on its accelerators, with the numbers in GiB for each of them.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedModel {
    pub verdict: FitVerdict,
    /// The program will not start: it is a server that needs all of this at once.
    pub refuses: bool,
    /// What nothing says, where the verdict is open; as people call it.
    pub not_said: Vec<&'static str>,
    /// Devices that one copy of the model uses.
    pub devices: f64,
    pub need_gib: f64,
    pub budget_gib: f64,
    /// weights, kv, activations, overhead, ...
    pub breakdown: BTreeMap<&'static str, f64>,
    /// With weights in eight bits it would fit these accelerators with a margin, and as it is it does not fit.
    pub fits_in_eight_bits: bool,
    /// With a limit of `LIMITED` tokens it would fit them, and without any it does not.
    pub fits_limited: bool,
    /// Other configurations of the same provider that hold it with a margin.
    pub instead: BTreeMap<FitAlternative, FitChoice>,
    /// The smallest slice of the same accelerator on which it fits with a margin.
    pub fraction: Option<Fraction>,
    /// How fast one machine or pod of it answers at full load, or why that is not said.
    pub speed: Result<ServerSpeed, &'static str>,
    /// Who measured the same server, where its rate is that instead of an estimate.
    pub measured_by: Option<String>,
    /// How long the run of declared tokens takes, or why that is not said; nothing where none are declared.
    pub training: Option<Result<TrainingRun, &'static str>>,
}

/// What else would be changed, beside the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FitAlternative {
    /// Nothing: the cheapest that costs less.
    Smallest,
    /// Weights in eight bits, where these have more and it is cheaper than without.
    Quantized,
    /// Weights in sixteen bits, where these have 32.
    Halved,
    /// A limit of `LIMITED` tokens, where nothing limits the context and it is cheaper than without.
    Limited,
    /// Nothing: the cheapest there is, where it does not fit what it has.
    Larger,
    /// Fewer accelerators for each copy of the model, and so more copies on as many.
    Narrower,
    /// Nothing: the cheapest for each token that it writes.
    PerToken,
}

impl FitAlternative {
    pub const ALL: [FitAlternative; 7] = [
        FitAlternative::Smallest,
        FitAlternative::Quantized,
        FitAlternative::Halved,
        FitAlternative::Limited,
        FitAlternative::Larger,
        FitAlternative::Narrower,
        FitAlternative::PerToken,
    ];
}

/// Tokens of context that most requests stay below.
pub const LIMITED: f64 = 8_192.0;

/// A part of an accelerator that could be used instead of all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fraction {
    /// `1g.10gb`
    pub profile: String,
    /// So many of them are one accelerator.
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

/// Fits with room to spare, surely not, or too near the edge to say. `None` where numbers are missing.
pub fn verdict(workload: &Workload<'_>, usable_gib: f64) -> Option<FitVerdict> {
    let said = compare(workload, usable_gib)?;
    let used = workload.tensor_parallel * workload.pipeline_parallel;
    if said == FitVerdict::DoesNotFit && workload.task == Task::Serve && workload.devices > used {
        // More devices than the declared parallelism uses: something that is not declared may use them too.
        let all = Workload { tensor_parallel: workload.devices / workload.pipeline_parallel, ..*workload };
        if compare(&all, usable_gib)? != FitVerdict::DoesNotFit {
            return Some(FitVerdict::Borderline);
        }
    }
    Some(said)
}

/// Fits where all plausible readings do, does not where none does.
fn compare(workload: &Workload<'_>, usable_gib: f64) -> Option<FitVerdict> {
    // Trainers that choose their own micro-batch fill the card: many jobs that run stand at its edge.
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

/// A configuration that could be used instead.
#[derive(Debug, Clone, PartialEq)]
pub struct FitChoice {
    pub provider: String,
    pub machine: String,
    pub accelerator: String,
    /// Accelerators that are paid for: of the machine, or of the pod's part of it.
    pub count: f64,
    /// Accelerators that the workload uses.
    pub devices: f64,
    pub per_hour: Money,
    pub need_gib: f64,
    pub budget_gib: f64,
    /// How fast the workload is on it, where that is estimated.
    pub speed: Option<ServerSpeed>,
}
