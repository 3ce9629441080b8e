//! Reads the starts and interruptions of a resource from its facts, the catalog and the settings.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::catalog::Catalog;
use crate::fit::Assessment;
use crate::fit::demand::FactReader;
use crate::fit::memory::{GIB, weight_bytes};
use crate::fit::training::checkpoint_bytes;
use crate::inventory::{BillingRole, Fact, Key, Purchase, Purpose, Range, Resource, Task};
use crate::pricing::{BillItem, HOURS_PER_MONTH, Period, interruption_shares};
use crate::resolve::plain;

use super::{Assumption, Change, MissingInput};

/// The inputs of a calculation, and the one thing that it changes.
#[derive(Debug, Clone)]
pub(super) struct LostWorkInputs<'a> {
    pub(super) resource: &'a Resource,
    pub(super) item: &'a BillItem,
    pub(super) fit: &'a Fact<Assessment>,
    pub(super) catalog: &'a Catalog,
    /// The accelerators of one pod or machine.
    pub(super) gpus: f64,
    pub(super) change: Change,
    /// The results of searches, which no change affects.
    pub(super) known: Rc<SearchedInputs<'a>>,
}

/// Inputs that need a search of the catalog.
#[derive(Debug, Default)]
pub(super) struct SearchedInputs<'a> {
    weights_gib: OnceCell<Result<f64, MissingInput>>,
    checkpoint_gib: OnceCell<Result<f64, MissingInput>>,
    band: OnceCell<Option<&'a str>>,
}

/// How often a machine is interrupted.
pub(super) enum InterruptionRate {
    Never(String),
    Unknown(MissingInput),
    /// The interruptions of one machine in an hour.
    PerHour(Range, String),
}

/// The checkpoints that outlive an interruption.
pub(super) enum SavedCheckpoints {
    EveryHours(f64),
    /// Checkpoints with an interval that is not known in hours.
    Sometimes(MissingInput),
    /// No checkpoints, for this reason.
    Nothing(String),
    Unknown(MissingInput),
}

const CHECKPOINT_MINUTES: &str = "gpulint.dev/checkpoint-minutes";

impl<'a> LostWorkInputs<'a> {
    pub(super) fn ends_by_itself(&self) -> bool {
        self.resource.flag(Key::EndsByItself) == Some(true)
    }

    pub(super) fn is_training(&self) -> bool {
        self.resource.purpose() == Some(Purpose::Training) || self.resource.task() == Some(Task::Train)
    }

    /// Returns the number of pods or machines.
    pub(super) fn count(&self) -> Result<Range, MissingInput> {
        self.item.count_of(self.resource).ok_or_else(|| {
            let why = self.resource.count.why().unwrap_or("it is not set");
            MissingInput::new(format!("the number of replicas is unknown: {why}"), "--var")
        })
    }

    /// Whether all pods or machines train one model together, so that losing one of them stops all.
    pub(super) fn is_gang(&self, count: Range) -> bool {
        self.is_training() && count.ceiling > 1.0 && self.resource.flag(Key::Search) != Some(true)
    }

    /// Returns the machines below a number of pods. Several pods that need only a part of a machine may share it.
    pub(super) fn machines(&self, count: Range) -> Range {
        let per_machine =
            self.resource.number(Key::NodeAccelerators).filter(|_| !self.is_rented()).unwrap_or(self.gpus);
        let packed = (count.floor * self.gpus / per_machine.max(self.gpus)).ceil();
        Range { floor: packed.min(count.floor), ..count }
    }

    pub(super) fn is_rented(&self) -> bool {
        self.resource.role == BillingRole::Rented
    }

    /// Returns the runs per month of work that ends by itself.
    pub(super) fn runs(&self) -> Option<f64> {
        let declared = || Some(self.resource.number(Key::StartsPerMonth)? / self.pods_of_run().ok()?.expected);
        self.item.runs_per_month.or_else(declared).filter(|runs| runs.is_finite())
    }

    /// Returns the pods or machines that one run starts.
    pub(super) fn pods_of_run(&self) -> Result<Range, MissingInput> {
        let all = self.resource.number(Key::Completions).unwrap_or(0.0);
        Ok(self.count()?.map(|count| count.max(all)))
    }

    /// Returns the period of the amounts.
    pub(super) fn per(&self) -> Period {
        if self.ends_by_itself() && self.runs().is_none() { Period::Run } else { Period::Month }
    }

    /// Returns the hours of one run, and how they are known.
    pub(super) fn run_hours(&self) -> Result<(Range, String), MissingInput> {
        let scale = self.scale(Assumption::RunLength);
        if let Some(run) = &self.item.run {
            let scale = if run.hours.floor < run.hours.expected { scale } else { 1.0 };
            return Ok((run.hours.map(|hours| hours * scale), run.because.clone()));
        }
        let training = self.fit.value().and_then(|it| it.placed.value()).and_then(|it| it.training.as_ref());
        if let Some(Ok(run)) = training {
            let hours = |days: f64| days * 24.0 * scale;
            let range = Range {
                floor: hours(run.days.floor),
                expected: hours(run.days.expected),
                ceiling: hours(run.days.ceiling),
            };
            return Ok((range, "estimated by its training tokens".to_owned()));
        }
        Err(MissingInput::new("the length of a run is unknown", "`hours_per_run` of [[usage]], or a time limit"))
    }

    /// Returns the hours that each pod or machine runs in the period.
    pub(super) fn hours(&self) -> Result<Range, MissingInput> {
        if self.ends_by_itself() {
            let runs = if self.per() == Period::Run { 1.0 } else { self.runs().unwrap_or(1.0) };
            return Ok(self.run_hours()?.0.map(|hours| hours * runs));
        }
        Ok(self.item.hours_range.unwrap_or(Range::exactly(HOURS_PER_MONTH)))
    }

    /// Whether an interruption ends the work for good.
    pub(super) fn is_never_retried(&self) -> bool {
        let is_off = self.resource.number(Key::Retries) == Some(0.0) || self.resource.flag(Key::Retried) == Some(false);
        self.ends_by_itself() && is_off
    }

    /// Returns how often each machine is interrupted.
    pub(super) fn interruption_rate(&self) -> InterruptionRate {
        if self.change == Change::NotInterrupted {
            return InterruptionRate::Never("it runs on demand".to_owned());
        }
        if let Some(each) = self.resource.number(Key::InterruptionsPerMonth) {
            let how = format!("{} interruptions per machine and month, declared", plain(each));
            return InterruptionRate::PerHour(Range::exactly(each / HOURS_PER_MONTH), how);
        }
        let share = match self.spot_share() {
            Ok(Some(share)) => share,
            Ok(None) => return InterruptionRate::Never("it does not run on spot".to_owned()),
            Err(missing) => return InterruptionRate::Unknown(missing),
        };
        let Some(band) = self.band() else {
            let why = "no interruption rate is known for this machine in this region";
            return InterruptionRate::Unknown(MissingInput::new(why, "gpulint.dev/interruptions-per-month"));
        };
        match interruption_shares(band) {
            Some((least, most)) => {
                let scale = self.scale(Assumption::Interruptions) / 100.0 / HOURS_PER_MONTH;
                let expected = most.map_or(least, |most| f64::midpoint(least, most));
                let band_range = Range { floor: least, expected, ceiling: most.unwrap_or(f64::INFINITY) };
                let how = format!("the provider takes back {band} of spot machines per month");
                InterruptionRate::PerHour(band_range.map(|end| end * scale).times(share), how)
            }
            None => {
                let why = format!("the interruption band `{band}` has no number");
                InterruptionRate::Unknown(MissingInput::new(why, "gpulint.dev/interruptions-per-month"))
            }
        }
    }

    /// Returns the band of interruptions that the provider publishes for this machine in this region.
    fn band(&self) -> Option<&'a str> {
        *self.known.band.get_or_init(|| self.find_band())
    }

    fn find_band(&self) -> Option<&'a str> {
        let (provider, machine) = (self.resource.text(Key::Provider)?, self.resource.text(Key::Machine)?);
        let region = self.catalog.region(provider, self.resource.text(Key::Region)?)?;
        let quote = self.catalog.quote(&self.catalog.machine(provider, machine)?, region)?;
        // The interruption rate of another region does not apply to this one.
        (!quote.basis.is_estimate() && !quote.interruption.is_empty()).then_some(quote.interruption)
    }

    /// Returns the share of the machines that is on spot, or `None` if none is.
    fn spot_share(&self) -> Result<Option<Range>, MissingInput> {
        if let Fact::Unknown(unknown) = self.resource.fact(Key::Purchase) {
            let why = format!("the way of buying is unknown: {}", unknown.why);
            return Err(MissingInput::new(why, "gpulint.dev/interruptions-per-month"));
        }
        match self.resource.purchase() {
            Some(Purchase::Spot) => Ok(Some(Range::exactly(1.0))),
            Some(Purchase::SpotOrOnDemand) => Ok(Some(Range { floor: 0.0, expected: 1.0, ceiling: 1.0 })),
            Some(Purchase::Mixed) => {
                let share = self.resource.number(Key::SpotShare).ok_or_else(|| {
                    MissingInput::new("the share of spot is unknown", "gpulint.dev/interruptions-per-month")
                })?;
                let base = self.resource.number(Key::OnDemandBase).unwrap_or(0.0);
                let of = |count: f64| if count > 0.0 { (count - base).max(0.0) / count * share } else { 0.0 };
                Ok(Some(self.count()?.map(of)).filter(|share| share.ceiling > 0.0))
            }
            _ => Ok(None),
        }
    }

    /// Returns the checkpoints from which work can continue after an interruption.
    pub(super) fn checkpoints(&self) -> SavedCheckpoints {
        if let Change::CheckpointEvery(hours) = self.change {
            return SavedCheckpoints::EveryHours(hours);
        }
        if let Some(place) = self.resource.text(Key::CheckpointLost) {
            return SavedCheckpoints::Nothing(format!("its checkpoints are {place}"));
        }
        if let Some(minutes) = self.resource.number(Key::CheckpointMinutes) {
            return SavedCheckpoints::EveryHours(minutes / 60.0);
        }
        let interval = self.resource.text(Key::CheckpointInterval);
        if interval == Some("no") {
            return SavedCheckpoints::Nothing("it writes no checkpoints".to_owned());
        }
        match (self.resource.fact(Key::Checkpoint), interval) {
            (Fact::Unknown(unknown), _) => {
                let why = format!("the place of its checkpoints is unknown: {}", unknown.why);
                SavedCheckpoints::Unknown(MissingInput::new(why, CHECKPOINT_MINUTES))
            }
            (_, Some(interval)) => {
                let why = format!("it writes a checkpoint every {interval} steps or epochs of unknown length");
                SavedCheckpoints::Sometimes(MissingInput::new(why, CHECKPOINT_MINUTES))
            }
            (Fact::Known(_), None) => {
                let why = "the time between two checkpoints is not set";
                SavedCheckpoints::Sometimes(MissingInput::new(why, CHECKPOINT_MINUTES))
            }
            (Fact::Absent, None) if self.resource.text(Key::Program).is_some() && !self.is_rented() => {
                SavedCheckpoints::Nothing("no location for checkpoints is set".to_owned())
            }
            (Fact::Absent, None) => {
                let why = "gpulint does not see whether it writes checkpoints";
                SavedCheckpoints::Unknown(MissingInput::new(why, CHECKPOINT_MINUTES))
            }
        }
    }

    /// Returns the size of the weights in GiB.
    pub(super) fn weights_gib(&self) -> Result<f64, MissingInput> {
        self.known.weights_gib.get_or_init(|| self.find_weights_gib()).clone()
    }

    fn find_weights_gib(&self) -> Result<f64, MissingInput> {
        if let Ok(demand) = FactReader::new(self.resource).demand(self.catalog) {
            return Ok(weight_bytes(&demand.model, demand.precision) / GIB);
        }
        let placed = self.fit.value().and_then(|it| it.placed.value());
        let assessed =
            placed.and_then(|it| Some(it.breakdown.get("weights")? * it.devices)).filter(|_| !self.is_training());
        let listed = || {
            let found = self.catalog.models().identify(self.resource.text(Key::Model)?)?;
            Some(found.model.params_b * 2e9 / GIB)
        };
        assessed.or_else(listed).ok_or_else(|| {
            let why = self.fit.why().unwrap_or("no model is declared");
            MissingInput::new(
                format!("the size of the weights is unknown: {why}"),
                "gpulint.dev/model or gpulint.dev/params",
            )
        })
    }

    /// Returns the size of a checkpoint in GiB: the trained weights with the states of the optimizer.
    pub(super) fn checkpoint_gib(&self) -> Result<f64, MissingInput> {
        self.known.checkpoint_gib.get_or_init(|| self.find_checkpoint_gib()).clone()
    }

    fn find_checkpoint_gib(&self) -> Result<f64, MissingInput> {
        match FactReader::new(self.resource).demand(self.catalog) {
            Ok(demand) if demand.task == Task::Train => Ok(checkpoint_bytes(&demand.on(1.0, 1.0, 1.0)) / GIB),
            Ok(_) => Err(MissingInput::new("the task of the model is not training", "gpulint.dev/task")),
            Err(missing) => {
                let why = missing.map_or("no model is declared".into(), |(why, _)| why);
                let why = format!("the size of a checkpoint is unknown: {why}");
                Err(MissingInput::new(why, "gpulint.dev/model and gpulint.dev/method"))
            }
        }
    }
}
