//! Adds up the metric points or hours that clouds and other tools report for a resource.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalog::Catalog;
use crate::measured::row::UsageRow;
use crate::source::Date;

/// The machine, endpoint or workload that a metric belongs to, as the cloud names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MetricTarget {
    pub(super) cluster: String,
    pub(super) namespace: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) container: String,
    pub(super) accelerator: String,
}

#[derive(Debug, Default)]
struct Sum {
    source: BTreeSet<String>,
    days: BTreeSet<Date>,
    window: Option<(Date, Date)>,
    gpus: Option<f64>,
    hours: Option<f64>,
    busy: f64,
    weight: f64,
    busy_max: Option<f64>,
    memory_gib: Option<f64>,
    idle: [f64; 2],
    devices: BTreeMap<String, BTreeSet<String>>,
    runs: Option<RunSums>,
}

/// The sums over the runs of a job.
#[derive(Debug, Default)]
struct RunSums {
    count: f64,
    failed_hours: f64,
    /// The hours that runs waited, and the number of these runs.
    waited: (f64, f64),
}

/// One run of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct FinishedRun {
    /// The hours of all its accelerators.
    pub(super) hours: f64,
    pub(super) has_failed: bool,
    /// The hours from its submission to its start.
    pub(super) waited: Option<f64>,
}

/// The sums for one kind of answer.
#[derive(Debug, Default)]
pub(super) struct Points {
    sums: BTreeMap<MetricTarget, Sum>,
    pub(super) refused: usize,
    pub(super) incomplete: BTreeSet<String>,
}

/// One value of a metric.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetricSample<'p> {
    pub(super) source: &'p str,
    /// The time of the point, in seconds since 1970. `seconds` is the time that it covers.
    pub(super) at: f64,
    pub(super) seconds: f64,
    pub(super) accelerators: f64,
    /// The utilization of one accelerator, from 0 to 1.
    pub(super) value: f64,
    /// Whether the value is a maximum instead of a mean.
    pub(super) is_most: bool,
}

/// The longest period for which a mean still shows idle minutes and peaks.
const SHORT_SECONDS: f64 = 300.0;

impl Points {
    pub(super) fn add(&mut self, named: &MetricTarget, point: MetricSample<'_>) {
        let day = day(point.at);
        let (Some(day), true) = (day, (0.0..=1.01).contains(&point.value)) else {
            self.refused += 1;
            return;
        };
        let value = point.value.min(1.0);
        let sum = self.sums.entry(named.clone()).or_default();
        sum.source.insert(point.source.to_owned());
        sum.days.insert(day);
        let is_short = point.seconds <= SHORT_SECONDS;
        if point.is_most || is_short {
            sum.busy_max = Some(sum.busy_max.unwrap_or_default().max(value));
        }
        if point.is_most {
            return;
        }
        let weight = point.seconds * point.accelerators;
        sum.busy += value * weight;
        sum.weight += weight;
        *sum.hours.get_or_insert(0.0) += weight / 3_600.0;
        if is_short {
            sum.idle = [sum.idle[0] + f64::from(u8::from(value < 0.02)) * weight, sum.idle[1] + weight];
        }
    }

    /// Adds the hours of a resource without its utilization.
    pub(super) fn hold(&mut self, named: &MetricTarget, source: &str, days: (Date, Date), hours: f64) {
        if !(hours.is_finite() && hours >= 0.0) {
            self.refused += 1;
            return;
        }
        let sum = self.sums.entry(named.clone()).or_default();
        sum.source.insert(source.to_owned());
        sum.days.extend((days.0.unix_days()..days.1.unix_days()).take(400).filter_map(Date::from_unix_days));
        sum.window = Some(sum.window.map_or(days, |it| (it.0.min(days.0), it.1.max(days.1))));
        *sum.hours.get_or_insert(0.0) += hours;
    }

    /// Adds a mean utilization for hours that `hold` already added.
    pub(super) fn mean(&mut self, named: &MetricTarget, value: f64, hours: f64) {
        if !(0.0..=1.01).contains(&value) || !hours.is_finite() {
            self.refused += 1;
            return;
        }
        let sum = self.sums.entry(named.clone()).or_default();
        sum.busy += value.min(1.0) * hours;
        sum.weight += hours;
    }

    pub(super) fn accelerators(&mut self, named: &MetricTarget, count: f64) {
        let sum = self.sums.entry(named.clone()).or_default();
        sum.gpus = Some(sum.gpus.unwrap_or_default().max(count)).filter(|it| *it > 0.0);
    }

    pub(super) fn device(&mut self, named: &MetricTarget, holder: &str, device: &str) {
        let sum = self.sums.entry(named.clone()).or_default();
        sum.devices.entry(holder.to_owned()).or_default().insert(device.to_owned());
    }

    /// Adds a run whose hours `hold` already added.
    pub(super) fn run(&mut self, named: &MetricTarget, run: FinishedRun) {
        let runs = self.sums.entry(named.clone()).or_default().runs.get_or_insert_default();
        runs.count += 1.0;
        if run.has_failed {
            runs.failed_hours += run.hours;
        }
        if let Some(hours) = run.waited.filter(|it| it.is_finite() && *it >= 0.0) {
            runs.waited = (runs.waited.0 + hours, runs.waited.1 + 1.0);
        }
    }

    pub(super) fn memory(&mut self, named: &MetricTarget, gib: f64) {
        let sum = self.sums.entry(named.clone()).or_default();
        sum.memory_gib = Some(sum.memory_gib.unwrap_or_default().max(gib));
    }

    /// Returns the rows. Resources without a window of their own share one, because a missing day was not measured.
    pub(super) fn rows(self, catalog: &Catalog) -> Vec<UsageRow> {
        let days = self.sums.values().flat_map(|it| &it.days);
        let (first, last) = (days.clone().min().copied(), days.max().copied());
        let all = first.zip(last.and_then(|it| Date::from_unix_days(it.unix_days() + 1)));
        let row = |(named, sum): (MetricTarget, Sum)| {
            let (from, to) = sum.window.or(all)?;
            let known = catalog.accelerator(&named.accelerator).map(|it| it.name.to_owned());
            let runs = sum.runs.as_ref();
            let most = sum.devices.values().map(BTreeSet::len).max().map(|it| it as f64);
            Some(UsageRow {
                accelerator: known.unwrap_or_else(|| named.accelerator.clone()),
                cluster: named.cluster,
                namespace: named.namespace,
                kind: named.kind,
                name: named.name,
                container: named.container,
                source: sum.source.into_iter().collect::<Vec<_>>().join("+"),
                from,
                to,
                gpus: sum.gpus.or(most),
                days: Some(sum.days.len() as f64),
                gpu_hours: sum.hours,
                coverage: Some((sum.days.len() as f64 / (to.since(from) as f64).max(1.0)).min(1.0)),
                busy: (sum.weight > 0.0).then(|| sum.busy / sum.weight),
                busy_max: sum.busy_max,
                idle: (sum.idle[1] > 0.0).then(|| sum.idle[0] / sum.idle[1]),
                memory_peak_gib: sum.memory_gib,
                runs: runs.map(|it| it.count),
                failed_gpu_hours: runs.map(|it| it.failed_hours),
                wait_hours: runs.filter(|it| it.waited.1 > 0.0).map(|it| it.waited.0 / it.waited.1),
                ..UsageRow::default()
            })
        };
        self.sums.into_iter().filter_map(row).collect()
    }
}

pub(super) fn day(at: f64) -> Option<Date> {
    let days = (at / 86_400.0).floor();
    (0.0..3e6).contains(&days).then(|| Date::from_unix_days(days as i64))?
}

/// Parses a time into seconds since 1970. It is a number or a string such as `2026-11-21T00:00:00+00:00`.
pub(super) fn moment(value: &Value) -> Option<f64> {
    if let Some(number) = value.as_f64() {
        return Some(number);
    }
    let text = value.as_str()?;
    let date: Date = text.get(..10)?.parse().ok()?;
    let number = |from: usize| text.get(from..from + 2)?.parse::<f64>().ok();
    let time = match text.get(10..11) {
        Some("T" | " ") => number(11)? * 3_600.0 + number(14)? * 60.0 + number(17)?,
        _ => 0.0,
    };
    let zone = text.get(19..).unwrap_or_default().trim_start_matches(|it: char| it == '.' || it.is_ascii_digit());
    let offset = match (zone.get(..1), zone.get(1..3), zone.get(4..6)) {
        (Some(sign @ ("+" | "-")), Some(hours), minutes) => {
            let minutes: f64 = minutes.and_then(|it| it.parse().ok()).unwrap_or_default();
            let seconds = hours.parse::<f64>().ok()? * 3_600.0 + minutes * 60.0;
            if sign == "-" { -seconds } else { seconds }
        }
        _ => 0.0,
    };
    Some(date.unix_days() as f64 * 86_400.0 + time - offset)
}

/// Parses a number, also if a command line tool wrote it as a string.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|it| it.is_finite())
}

pub(super) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the shortest time between two points, which is the time that each point covers.
pub(super) fn period(moments: &[f64]) -> Option<f64> {
    let mut sorted = moments.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gaps = sorted.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?));
    gaps.filter(|it| *it > 0.0).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_all_their_forms() {
        let at = |text: &str| moment(&Value::String(text.to_owned()));
        let midnight = Some(1_795_219_200.0);
        for text in [
            "2026-11-21T00:00:00Z",
            "2026-11-21T00:00:00+00:00",
            "2026-11-21T01:00:00.123+01:00",
            "2026-11-21",
            "2026-11-20 19:00:00-05:00",
        ] {
            assert_eq!(at(text), midnight, "{text}");
        }
        assert_eq!(at("yesterday"), None);
        assert_eq!(moment(&Value::from(1_795_219_200)), midnight);
    }
}
