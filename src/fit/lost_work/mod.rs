//! GPU-hours and dollars that go into cold starts, interruptions and repeated work.
//!
//! `inputs` reads what the files, the catalog and the settings say about a resource. `cold_start` calculates the
//! seconds of one start, `amounts` the four parts of the lost work, and `remedies` what would reduce them. An input that
//! is unknown makes its part unknown, and names the label or setting that declares it.

mod amounts;
mod assumptions;
mod cold_start;
mod inputs;
mod remedies;

use std::rc::Rc;

use crate::catalog::{Catalog, Money};
use crate::inventory::{Fact, Key, Range, Resource};
use crate::pricing::{BillItem, Period};

use super::Assessment;
use amounts::total;
pub use assumptions::Assumption;
pub use cold_start::StartTerm;
use inputs::LostWorkInputs;
pub use remedies::LostWorkRemedy;

/// Everything that starts and interruptions of one resource cost, in the period `per`.
#[derive(Debug, Clone)]
pub struct LostWork<'a> {
    inputs: LostWorkInputs<'a>,
    /// A month, or one run of work whose runs per month are unknown.
    pub per: Period,
    /// The terms of one planned cold start, in order.
    pub start: Vec<StartTerm>,
    /// The seconds of one planned cold start.
    pub start_seconds: Result<Range, MissingInput>,
    pub parts: [(LostWorkPart, LostAmount); 4],
    /// The price of one accelerator for an hour, in dollars.
    pub usd_per_gpu_hour: Option<Range>,
    /// The sum of the known parts in GPU-hours. `None` if no part is known.
    pub gpu_hours: Option<Range>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostWorkPart {
    /// Planned starts: until a replica or a run works.
    Starting,
    /// Starts after interruptions.
    Restarting,
    /// Work since the last checkpoint, or since the beginning, that is done again.
    Repeating,
    /// Training that waits for its checkpoints.
    Writing,
}

impl LostWorkPart {
    pub const ALL: [LostWorkPart; 4] =
        [LostWorkPart::Starting, LostWorkPart::Restarting, LostWorkPart::Repeating, LostWorkPart::Writing];

    pub fn name(self) -> &'static str {
        match self {
            LostWorkPart::Starting => "starting",
            LostWorkPart::Restarting => "restarting",
            LostWorkPart::Repeating => "repeating",
            LostWorkPart::Writing => "writing",
        }
    }
}

/// The amount of one part.
#[derive(Debug, Clone, PartialEq)]
pub enum LostAmount {
    Known {
        gpu_hours: Range,
        /// How the number follows from its inputs.
        how: String,
    },
    Unknown(MissingInput),
    /// The part does not exist for this resource, for this reason.
    None(String),
}

impl LostAmount {
    pub fn gpu_hours(&self) -> Option<Range> {
        match self {
            LostAmount::Known { gpu_hours, .. } => Some(*gpu_hours),
            LostAmount::Unknown(_) | LostAmount::None(_) => None,
        }
    }
}

/// An unknown input, and how to declare it.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingInput {
    pub why: String,
    /// The label or setting, such as `gpulint.dev/image-gib`.
    pub declare: &'static str,
}

impl MissingInput {
    fn new(why: impl Into<String>, declare: &'static str) -> MissingInput {
        MissingInput { why: why.into(), declare }
    }
}

/// The sum of the known parts if one assumption is half or twice as large.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    pub assumption: Assumption,
    /// The expected GPU-hours.
    pub half: f64,
    pub double: f64,
}

fn has_known_work(resource: &Resource) -> bool {
    const KEYS: [Key; 5] =
        [Key::Program, Key::ColdStartSeconds, Key::StartsPerMonth, Key::CheckpointMinutes, Key::InterruptionsPerMonth];
    KEYS.into_iter().any(|key| !resource.fact(key).is_absent())
}

/// A difference from the files: one assumption, or a remedy.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Nothing,
    Scaled(Assumption, f64),
    WeightsKept,
    ImageStreamed,
    /// Checkpoints that outlive an interruption, with these hours between them.
    CheckpointEvery(f64),
    NotInterrupted,
}

impl<'a> LostWork<'a> {
    /// Returns the lost work of a resource with a known program or with declared starts or interruptions. `None` for
    /// other resources, such as pools.
    pub fn of(
        resource: &'a Resource,
        item: &'a BillItem,
        fit: &'a Fact<Assessment>,
        catalog: &'a Catalog,
    ) -> Option<LostWork<'a>> {
        let gpus = resource.number(Key::AcceleratorCount).filter(|gpus| *gpus > 0.0)?;
        let never_runs = resource.count.value().is_some_and(|count| count.ceiling <= 0.0);
        if !has_known_work(resource) || never_runs {
            return None;
        }
        let known = Rc::default();
        let inputs = LostWorkInputs { resource, item, fit, catalog, gpus, change: Change::Nothing, known };
        let start = inputs.planned_start();
        let usd_per_gpu_hour = item.hourly().map(|hour| {
            let each = |money: Money| money.usd() / gpus;
            Range { floor: each(hour.floor), expected: each(hour.expected), ceiling: each(hour.ceiling) }
        });
        let parts = inputs.parts();
        let gpu_hours = total(&parts);
        Some(LostWork {
            per: inputs.per(),
            start_seconds: inputs.seconds(&start),
            start,
            usd_per_gpu_hour,
            parts,
            gpu_hours,
            inputs,
        })
    }

    /// Returns the dollars of the known parts together. `None` if the price or every part is unknown.
    pub fn usd(&self) -> Option<Range> {
        Some(self.gpu_hours?.times(self.usd_per_gpu_hour?))
    }

    /// Returns the amount of a part.
    pub fn part(&self, which: LostWorkPart) -> Option<&LostAmount> {
        self.parts.iter().find(|(part, _)| *part == which).map(|(_, amount)| amount)
    }

    /// Returns how the sum changes with each assumption that it uses.
    pub fn sensitivity(&self) -> Vec<Sensitivity> {
        self.gpu_hours.map(|sum| self.inputs.sensitivity(sum.expected)).unwrap_or_default()
    }

    /// Returns what would reduce the sum, the cheapest first.
    pub fn remedies(&self) -> Vec<LostWorkRemedy> {
        remedies::remedies(&self.inputs, self.usd_per_gpu_hour)
    }

    /// Returns the hours between two checkpoints that lose the least, by Young and Daly.
    pub fn best_interval(&self) -> Option<f64> {
        self.inputs.best_interval()
    }

    /// Returns the dollars that this interval saves.
    pub fn interval_saves(&self) -> Option<Range> {
        self.dollars(remedies::interval(&self.inputs)?.gpu_hours?)
    }

    /// Returns the dollars that a volume for the weights saves.
    pub fn cache_saves(&self) -> Option<Range> {
        self.dollars(remedies::cache(&self.inputs)?.gpu_hours?)
    }

    /// Whether a part is unknown, so that the sum is a minimum.
    pub fn is_partial(&self) -> bool {
        self.parts.iter().any(|(_, amount)| matches!(amount, LostAmount::Unknown(_)))
    }

    /// Returns the dollars of GPU-hours, if the price is known.
    pub fn dollars(&self, gpu_hours: Range) -> Option<Range> {
        Some(gpu_hours.times(self.usd_per_gpu_hour?))
    }
}
