//! The time that a resource runs: hours per month, hours per job run, or unknown.

use crate::inventory::{BillingRole, Key, Purchase, Range, Resource};

use super::cron::starts_per_month;
use super::week::week;
use super::{HOURS_PER_MONTH, Period, PricingSettings};
use crate::resolve::{ResourceFilter, plain};

/// The `[[usage]]` settings of some resources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    pub about: ResourceFilter,
    pub hours_per_month: Option<f64>,
    pub runs_per_month: Option<f64>,
    /// The length of one run. Without it, the time limit in the files applies.
    pub hours_per_run: Option<f64>,
}

impl Usage {
    /// Whether the entry sets hours, and not only starts or interruptions.
    pub fn sets_hours(&self) -> bool {
        self.hours_per_month.or(self.runs_per_month).or(self.hours_per_run).is_some()
    }

    fn hours(&self, limit: Option<f64>) -> Option<(f64, String)> {
        if let Some(hours) = self.hours_per_month {
            return Some((hours, format!("{} hours a month, from [[usage]] in the settings", plain(hours))));
        }
        let runs = self.runs_per_month?;
        let each = self.hours_per_run.or(limit)?;
        let text = format!("{} runs of {} hours a month, from [[usage]] in the settings", plain(runs), plain(each));
        Some((runs * each, text))
    }
}

/// The time for which a resource is billed.
#[derive(Debug, Clone)]
pub(super) struct Runtime {
    pub(super) per: Period,
    /// The hours of each replica in the period.
    pub(super) hours: Range,
    /// The hours of all replicas together, if a schedule sets their number at each time.
    pub(super) together: Option<Range>,
    /// The reason for the hours, if they are not simply the whole month.
    pub(super) because: Option<String>,
    /// The starts per month, if the files set them but not how long each run takes.
    pub(super) starts: Option<f64>,
    /// The runs per month of work that ends by itself, if the files or the settings set them.
    pub(super) runs: Option<f64>,
    /// The starts of all replicas per month, if a weekly schedule sets them.
    pub(super) replica_starts: Option<f64>,
    /// The fact that sets the hours, unless the settings do.
    pub(super) of: Option<Key>,
    /// Whether machines and their disks are removed while they do not run.
    pub(super) takes_away: bool,
}

impl Runtime {
    fn new(per: Period, hours: Range, because: impl Into<Option<String>>) -> Self {
        Runtime {
            per,
            hours,
            together: None,
            because: because.into(),
            starts: None,
            runs: None,
            replica_starts: None,
            of: None,
            takes_away: false,
        }
    }

    /// Describes the number and the hours that the amount is calculated from, for the steps.
    pub(super) fn sum(&self, count: Range) -> String {
        let hours = if self.hours.expected == 1.0 { "hour" } else { "hours" };
        match &self.together {
            Some(together) => format!("x {} hours in total", plain(together.expected)),
            None => format!("x {} x {} {hours}", count_in_words(count), plain(self.hours.expected)),
        }
    }

    fn by(self, key: Key) -> Self {
        Runtime { of: Some(key), ..self }
    }

    fn up_to(per: Period, hours: f64, because: String) -> Self {
        Runtime::new(per, Range { floor: 0.0, expected: hours, ceiling: hours }, because)
    }
}

/// Formats a count, such as `2` or `2 (from 1 to any number)`.
pub(super) fn count_in_words(count: Range) -> String {
    if count.floor == count.ceiling {
        return plain(count.expected);
    }
    let ceiling = if count.ceiling.is_finite() { plain(count.ceiling) } else { "any number".into() };
    format!("{} (from {} to {ceiling})", plain(count.expected), plain(count.floor))
}

/// Returns how long a resource with this number of replicas runs, and how often it starts.
pub(super) fn runtime(resource: &Resource, settings: &PricingSettings, count: Option<Range>) -> Runtime {
    let usage = settings.usage.iter().rev().find(|usage| usage.about.covers(resource));
    let starts = starts_a_month(resource);
    let runs = usage.and_then(|usage| usage.runs_per_month).or(starts);
    Runtime { runs, ..hours_of(resource, usage, starts, count) }
}

fn hours_of(resource: &Resource, usage: Option<&Usage>, starts: Option<f64>, count: Option<Range>) -> Runtime {
    let limit = limit_of_run(resource, count);
    if let Some((hours, text)) = usage.and_then(|usage| usage.hours(limit)) {
        return Runtime::new(Period::Month, Range::exactly(hours.clamp(0.0, HOURS_PER_MONTH)), text);
    }
    match (limit, starts) {
        (Some(limit), Some(starts)) => {
            let most = (starts * limit).min(HOURS_PER_MONTH);
            let text = format!("{} starts a month of at most {} hours each", plain(tenths(starts)), plain(limit));
            return Runtime::up_to(Period::Month, most, text).by(Key::Cron);
        }
        (None, Some(starts)) => {
            let text = format!("{} starts a month of unknown length", plain(tenths(starts)));
            let runtime = Runtime::new(Period::Hour, Range::exactly(1.0), text).by(Key::Cron);
            return Runtime { starts: Some(tenths(starts)), ..runtime };
        }
        _ => {}
    }
    if is_booked(resource) {
        return booked(limit).by(if limit.is_some() { Key::TimeLimit } else { Key::Purchase });
    }
    if resource.flag(Key::EndsByItself) == Some(true) {
        return until_it_ends(resource, limit).by(if limit.is_some() { Key::TimeLimit } else { Key::EndsByItself });
    }
    let runtime = scheduled(resource, count);
    match resource.number(Key::HeldShare).filter(|_| runtime.because.is_some()) {
        Some(share) => reserved_while_stopped(&runtime, share),
        None => runtime,
    }
}

/// Returns the length of one run and its source: the settings, or else a time limit as the maximum.
pub(super) fn hours_of_run(
    resource: &Resource,
    settings: &PricingSettings,
    count: Option<Range>,
) -> Option<(Range, String)> {
    let usage = settings.usage.iter().rev().find(|usage| usage.about.covers(resource));
    if let Some(hours) = usage.and_then(|usage| usage.hours_per_run).filter(|hours| *hours > 0.0) {
        return Some((Range::exactly(hours), format!("{} hours a run, from [[usage]] in the settings", plain(hours))));
    }
    let hours = limit_of_run(resource, count).filter(|hours| *hours > 0.0)?;
    Some((Range { floor: 0.0, expected: hours, ceiling: hours }, format!("at most {} hours a run", plain(hours))))
}

/// Returns how often its schedule starts a run.
pub(super) fn starts_a_month(resource: &Resource) -> Option<f64> {
    resource.text(Key::Cron).and_then(starts_per_month)
}

/// Returns the hours after which a run is stopped.
pub(super) fn limit_of_run(resource: &Resource, count: Option<Range>) -> Option<f64> {
    let limit = resource.number(Key::TimeLimit).map(|seconds| seconds / 3600.0).filter(|hours| *hours >= 0.0);
    limit.map(|hours| hours * rounds(resource, count))
}

/// Returns how many rounds of pods run one after another, if the time limit applies to each pod.
fn rounds(resource: &Resource, count: Option<Range>) -> f64 {
    let (of_all, of_each) = (resource.fact(Key::TimeLimit), resource.fact(Key::PodTimeLimit));
    let is_of_each = !of_each.is_absent() && of_all.span() == of_each.span();
    let completions = resource.number(Key::Completions).filter(|_| is_of_each);
    let at_once = count.map(|count| count.ceiling).filter(|at_once| *at_once > 0.0);
    completions.zip(at_once).map_or(1.0, |(all, at_once)| (all / at_once).ceil().max(1.0))
}

/// Adds the share that a reservation bills while the resource does not run.
fn reserved_while_stopped(runtime: &Runtime, share: f64) -> Runtime {
    let paid = |hours: f64| hours + (HOURS_PER_MONTH - hours) * share;
    let hours = Range {
        floor: paid(runtime.hours.floor),
        expected: paid(runtime.hours.expected),
        ceiling: paid(runtime.hours.ceiling),
    };
    let stops = runtime.because.as_deref().unwrap_or_default();
    let text = format!("its reservation is billed even while it does not run ({stops})");
    let replica_starts = runtime.replica_starts;
    Runtime { replica_starts, ..Runtime::new(Period::Month, hours, text) }.by(Key::HeldShare)
}

/// Whether the capacity is paid for in advance.
fn is_booked(resource: &Resource) -> bool {
    matches!(resource.purchase(), Some(Purchase::CapacityBlock | Purchase::Calendar))
}

fn booked(hours: Option<f64>) -> Runtime {
    match hours {
        Some(hours) => {
            Runtime::new(Period::Run, Range::exactly(hours), format!("booked and paid for {} hours", plain(hours)))
        }
        None => {
            let text = "it is booked for an unknown time".to_owned();
            Runtime::new(Period::Hour, Range::exactly(1.0), text)
        }
    }
}

fn until_it_ends(resource: &Resource, limit: Option<f64>) -> Runtime {
    // An autoscaled pool may be full all the time.
    let is_pool = resource.role == BillingRole::Rented && resource.flag(Key::Autoscaled) == Some(true);
    match limit {
        _ if is_pool => {
            let text = "it ends by itself, after an unknown time".to_owned();
            Runtime::up_to(Period::Month, HOURS_PER_MONTH, text)
        }
        // A limit of more than a month does not limit the monthly cost.
        Some(limit) if limit >= HOURS_PER_MONTH => {
            let text = format!("its time limit of {} hours is longer than a month", plain(limit));
            Runtime::up_to(Period::Month, HOURS_PER_MONTH, text)
        }
        Some(limit) => Runtime::up_to(Period::Run, limit, format!("at most {} hours a run", plain(limit))),
        None => {
            let text = "it ends by itself, after an unknown time".to_owned();
            Runtime::new(Period::Hour, Range::exactly(1.0), text)
        }
    }
}

fn scheduled(resource: &Resource, count: Option<Range>) -> Runtime {
    let always = Range::exactly(HOURS_PER_MONTH);
    let unknown = |why: String| Runtime::up_to(Period::Month, HOURS_PER_MONTH, why).by(Key::Schedule);
    match week(resource, count.unwrap_or(Range::exactly(1.0))) {
        Some(Ok(week)) => {
            let expected = count.map_or(1.0, |count| count.expected);
            let each = if expected > 0.0 { week.hours.expected / expected } else { week.hours.expected };
            let runtime = Runtime::new(Period::Month, Range::exactly(each), week.text);
            let together = Some(week.hours);
            let replica_starts = Some(week.replica_starts);
            Runtime { together, replica_starts, takes_away: week.takes_away, ..runtime }.by(Key::Schedule)
        }
        Some(Err(why)) => unknown(format!("{why}: the remaining hours are unknown")),
        None => match (resource.text(Key::Schedule), resource.number(Key::IdleMinutes)) {
            (Some(schedule), _) => unknown(format!("stopped by {schedule}: the remaining hours are unknown")),
            (None, Some(minutes)) => {
                unknown(format!("stopped after {} idle minutes", plain(minutes))).by(Key::IdleMinutes)
            }
            (None, None) => Runtime::new(Period::Month, always, None),
        },
    }
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
