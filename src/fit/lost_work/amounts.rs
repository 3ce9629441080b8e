//! The four parts of the lost work, in GPU-hours.

use crate::inventory::{Key, Purpose, Range};
use crate::pricing::Period;
use crate::resolve::plain;

use super::inputs::{InterruptionRate, LostWorkInputs, SavedCheckpoints};
use super::{Assumption, LostAmount, LostWorkPart, MissingInput};

/// The largest expected number of interruptions of one attempt for which the repeated work has a number. Above it, a
/// run without checkpoints would need more than 20 attempts.
const MOST_PER_ATTEMPT: f64 = 3.0;

/// Returns the sum of the known parts.
pub(super) fn total(parts: &[(LostWorkPart, LostAmount)]) -> Option<Range> {
    parts.iter().filter_map(|(_, amount)| amount.gpu_hours()).reduce(Range::plus)
}

/// How far an attempt without checkpoints gets, for a rate of interruptions per hour and its length in hours.
#[derive(Clone, Copy)]
struct Attempt {
    rate: f64,
    hours: f64,
}

impl Attempt {
    fn is_certain(self) -> bool {
        self.rate == 0.0 || self.hours == 0.0
    }

    /// Returns the expected interruptions until one attempt is complete.
    fn interruptions(self) -> f64 {
        if self.is_certain() { 0.0 } else { (self.rate * self.hours).exp_m1() }
    }

    /// Returns the expected hours that are done again: `(e^(rate × hours) - 1) / rate - hours`.
    fn repeated(self) -> f64 {
        match self {
            it if it.is_certain() => 0.0,
            it if it.rate.is_infinite() => f64::INFINITY,
            it => (it.interruptions() / it.rate - it.hours).max(0.0),
        }
    }

    /// Returns the expected hours that are lost if the first interruption ends the work.
    fn lost_without_retry(self) -> f64 {
        match self {
            it if it.is_certain() || it.rate.is_infinite() => 0.0,
            it => {
                let survives = (-it.rate * it.hours).exp();
                ((1.0 - survives) / it.rate - it.hours * survives).max(0.0)
            }
        }
    }
}

/// Combines the ends of two ranges.
fn ends(one: Range, other: Range, combine: impl Fn(f64, f64) -> f64) -> Range {
    Range {
        floor: combine(one.floor, other.floor),
        expected: combine(one.expected, other.expected),
        ceiling: combine(one.ceiling, other.ceiling),
    }
}

/// The interruptions of all machines, as far as they are known.
struct Interrupted {
    /// The number in the period.
    times: Range,
    /// The accelerators that one interruption stops.
    gpus: Range,
    how: String,
}

impl LostWorkInputs<'_> {
    /// Returns the four parts, in the order of `LostWorkPart::ALL`.
    pub(super) fn parts(&self) -> [(LostWorkPart, LostAmount); 4] {
        let amount = |part: Result<LostAmount, MissingInput>| part.unwrap_or_else(LostAmount::Unknown);
        LostWorkPart::ALL.map(|part| {
            let found = match part {
                LostWorkPart::Starting => self.starting(),
                LostWorkPart::Restarting => self.restarting(),
                LostWorkPart::Repeating => self.repeating(),
                LostWorkPart::Writing => self.writing(),
            };
            (part, amount(found))
        })
    }

    fn starting(&self) -> Result<LostAmount, MissingInput> {
        let seconds = self.seconds(&self.planned_start())?;
        let (starts, how) = self.planned_starts()?;
        let gpu_hours = starts.times(seconds).map(|all| all * self.gpus / 3600.0);
        let how = format!("{how} x {} x {} GPUs / 3600", format_range(seconds, "s"), plain(self.gpus));
        Ok(LostAmount::Known { gpu_hours, how })
    }

    /// Returns the starts of pods or machines in the period, apart from interruptions.
    fn planned_starts(&self) -> Result<(Range, String), MissingInput> {
        const DECLARE: &str = "gpulint.dev/starts-per-month";
        if self.ends_by_itself() {
            let pods = self.pods_of_run()?;
            return Ok(match self.runs() {
                Some(runs) => (pods.map(|pods| pods * runs), format!("{runs:.1} runs x {} pods", plain(pods.expected))),
                None => (pods, format!("1 run x {} pods", plain(pods.expected))),
            });
        }
        if let Some(starts) = self.resource.number(Key::StartsPerMonth) {
            return Ok((Range::exactly(starts), format!("{} declared starts", plain(starts))));
        }
        if let Some(starts) = self.item.replica_starts {
            return Ok((Range::exactly(starts), format!("{starts:.1} starts by its schedule")));
        }
        let why = match self.resource.flag(Key::Autoscaled) {
            Some(true) => "the files do not show how often the autoscaler starts replicas",
            _ => "the files do not show how often it starts",
        };
        Err(MissingInput::new(why, DECLARE))
    }

    /// Returns the interruptions in the period, or why there are none.
    fn interrupted(&self) -> Result<Result<Interrupted, String>, MissingInput> {
        let (rate, how) = match self.interruption_rate() {
            InterruptionRate::Never(why) => return Ok(Err(why)),
            InterruptionRate::Unknown(missing) => return Err(missing),
            InterruptionRate::PerHour(rate, how) => (rate, how),
        };
        let count = self.count()?;
        let is_gang = self.is_gang(count);
        let machines = if is_gang { self.machines(count) } else { count };
        let gpus = self.stopped_gpus(count);
        let has_attempts = self.repeats() && matches!(self.checkpoints(), SavedCheckpoints::Nothing(_));
        if !has_attempts || self.is_never_retried() {
            let hours = self.hours()?;
            let times = rate.times(machines).times(hours);
            let how = format!("{how} x {} machines x {} h / 730", plain(machines.expected), format_hours(hours));
            return Ok(Ok(Interrupted { times, gpus, how }));
        }
        let attempts = self.attempts(rate, machines, is_gang)?;
        let how = format!("{how}; a run of {} h starts again from its beginning", format_hours(self.run_hours()?.0));
        Ok(Ok(Interrupted { times: attempts.map_each(Attempt::interruptions), gpus, how }))
    }

    /// Returns the accelerators that one interruption stops: of all pods or machines that train together, or of the
    /// pods that run one copy of a model.
    fn stopped_gpus(&self, count: Range) -> Range {
        if self.is_gang(count) {
            return count.map(|count| count * self.gpus);
        }
        Range::exactly(self.gpus * self.resource.number(Key::GroupSize).unwrap_or(1.0).max(1.0))
    }

    fn restarting(&self) -> Result<LostAmount, MissingInput> {
        if self.is_never_retried() {
            return Ok(LostAmount::None("an interruption ends the work, and nothing starts it again".to_owned()));
        }
        let interrupted = match self.interrupted()? {
            Ok(interrupted) => interrupted,
            Err(why) => return Ok(LostAmount::None(why)),
        };
        let seconds = self.seconds(&self.restart())?;
        let gpu_hours = interrupted.times.times(seconds).times(interrupted.gpus).map(|all| all / 3600.0);
        let how = format!(
            "{} interruptions ({}) x {} x {} GPUs / 3600",
            format_range(interrupted.times, ""),
            interrupted.how,
            format_range(seconds, "s"),
            plain(interrupted.gpus.expected)
        );
        Ok(LostAmount::Known { gpu_hours, how })
    }

    /// Whether the work has a result that an interruption can lose.
    fn repeats(&self) -> bool {
        self.is_training() || self.resource.purpose() == Some(Purpose::Batch)
    }

    fn repeating(&self) -> Result<LostAmount, MissingInput> {
        if !self.repeats() {
            return Ok(LostAmount::None("a server repeats no work".to_owned()));
        }
        let rate = match self.interruption_rate() {
            InterruptionRate::Never(why) => return Ok(LostAmount::None(why)),
            InterruptionRate::Unknown(missing) => return Err(missing),
            InterruptionRate::PerHour(rate, _) => rate,
        };
        match self.checkpoints() {
            SavedCheckpoints::Unknown(missing) | SavedCheckpoints::Sometimes(missing) => Err(missing),
            SavedCheckpoints::EveryHours(interval) => self.repeating_since_checkpoint(interval),
            SavedCheckpoints::Nothing(why) => self.repeating_all(rate, &why),
        }
    }

    fn repeating_since_checkpoint(&self, interval: f64) -> Result<LostAmount, MissingInput> {
        let interrupted = match self.interrupted()? {
            Ok(interrupted) => interrupted,
            Err(why) => return Ok(LostAmount::None(why)),
        };
        let longest = self.run_hours().map_or(f64::INFINITY, |(hours, _)| hours.ceiling);
        let each = interval.min(longest) / 2.0;
        let gpu_hours = interrupted.times.times(interrupted.gpus).map(|all| all * each);
        let how = format!(
            "{} interruptions ({}) x half of {} h between checkpoints x {} GPUs",
            format_range(interrupted.times, ""),
            interrupted.how,
            format_number(interval),
            plain(interrupted.gpus.expected)
        );
        Ok(LostAmount::Known { gpu_hours, how })
    }

    fn repeating_all(&self, rate: Range, why: &str) -> Result<LostAmount, MissingInput> {
        let count = self.count()?;
        let is_gang = self.is_gang(count);
        let machines = if is_gang { self.machines(count) } else { count };
        let gpus = self.stopped_gpus(count);
        let attempts = self.attempts(rate, machines, is_gang)?;
        let (hours, formula) = match self.is_never_retried() {
            true => (attempts.map_each(Attempt::lost_without_retry), "(1 - e^-x) / rate - hours x e^-x"),
            false => (attempts.map_each(Attempt::repeated), "(e^x - 1) / rate - hours"),
        };
        let how = format!(
            "{why}: {formula} = {} h, with x = rate x hours = {}, x {} GPUs",
            format_hours(hours),
            format_number(attempts.rate.expected * attempts.hours.expected),
            plain(gpus.expected)
        );
        Ok(LostAmount::Known { gpu_hours: hours.times(gpus), how })
    }

    /// Returns the attempts of all runs of the period.
    fn attempts(&self, rate: Range, machines: Range, is_gang: bool) -> Result<Attempts, MissingInput> {
        let hours = self.run_hours()?.0;
        let rate = if is_gang { rate.times(machines) } else { rate };
        let runs = match (self.ends_by_itself(), self.per()) {
            (true, Period::Run) => 1.0,
            (true, _) => self.runs().unwrap_or(1.0),
            (false, _) => self.hours()?.expected / hours.expected.max(f64::MIN_POSITIVE),
        };
        if rate.expected * hours.expected > MOST_PER_ATTEMPT {
            let why = format!(
                "without checkpoints, {} interruptions are expected during one attempt: the work may never end",
                format_number(rate.expected * hours.expected)
            );
            return Err(MissingInput::new(why, "gpulint.dev/checkpoint-minutes"));
        }
        let together = if is_gang { Range::exactly(1.0) } else { machines };
        Ok(Attempts { rate, hours, runs: together.map(|pods| pods * runs) })
    }

    /// Returns the hours to write one checkpoint.
    pub(super) fn write_hours(&self) -> Result<Range, MissingInput> {
        let gib = Range::exactly(self.checkpoint_gib()?);
        Ok(self.seconds_to_move(gib, Assumption::CheckpointWrite)?.map(|seconds| seconds / 3600.0))
    }

    fn writing(&self) -> Result<LostAmount, MissingInput> {
        if !self.is_training() {
            return Ok(LostAmount::None("it does not train".to_owned()));
        }
        let interval = match self.checkpoints() {
            SavedCheckpoints::EveryHours(interval) => interval,
            SavedCheckpoints::Nothing(why) => return Ok(LostAmount::None(why)),
            SavedCheckpoints::Unknown(missing) | SavedCheckpoints::Sometimes(missing) => {
                return match self.interruption_rate() {
                    InterruptionRate::Never(why) => Ok(LostAmount::None(why)),
                    _ => Err(missing),
                };
            }
        };
        let (write, hours, count) = (self.write_hours()?, self.hours()?, self.count()?);
        let gpu_hours = hours.times(write).times(count).map(|all| all / interval * self.gpus);
        let how = format!(
            "{} h / {} h between checkpoints x {} per checkpoint x {} GPUs",
            format_hours(hours),
            format_number(interval),
            format_range(write.map(|hours| hours * 3600.0), "s"),
            plain(count.expected * self.gpus)
        );
        Ok(LostAmount::Known { gpu_hours, how })
    }

    /// Returns the hours between checkpoints that lose the least: the square root of 2 × time to write × hours between
    /// two interruptions (Young 1974, Daly 2006). It is at most the length of a run.
    pub(super) fn best_interval(&self) -> Option<f64> {
        let InterruptionRate::PerHour(rate, _) = self.interruption_rate() else { return None };
        if !self.is_training() {
            return None;
        }
        let count = self.count().ok()?;
        let machines = if self.is_gang(count) { self.machines(count).expected } else { 1.0 };
        let between = 1.0 / (rate.expected * machines);
        let best = (2.0 * self.write_hours().ok()?.expected * between).sqrt();
        let longest = self.run_hours().map_or(f64::INFINITY, |(hours, _)| hours.expected);
        Some(best.min(longest)).filter(|best| best.is_finite() && *best > 0.0)
    }
}

/// The attempts without checkpoints: interruptions per hour, hours of one run, and the runs of the period.
struct Attempts {
    rate: Range,
    hours: Range,
    runs: Range,
}

impl Attempts {
    fn map_each(&self, of_attempt: impl Fn(Attempt) -> f64) -> Range {
        ends(self.rate, self.hours, |rate, hours| of_attempt(Attempt { rate, hours })).times(self.runs)
    }
}

fn format_number(number: f64) -> String {
    match number {
        n if n.is_infinite() => "any number".to_owned(),
        n if n == 0.0 || n.abs() >= 100.0 => format!("{n:.0}"),
        n if n.abs() >= 1.0 => format!("{n:.1}"),
        n => format!("{n:.4}"),
    }
}

fn format_hours(hours: Range) -> String {
    if hours.floor == hours.ceiling {
        return format_number(hours.expected);
    }
    format!("{} ({} to {})", format_number(hours.expected), format_number(hours.floor), format_number(hours.ceiling))
}

fn format_range(range: Range, unit: &str) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    if range.floor == range.ceiling {
        return format!("{}{unit}", format_number(range.expected));
    }
    let [least, expected, most] = [range.floor, range.expected, range.ceiling].map(format_number);
    format!("{expected}{unit} ({least} to {most})")
}
