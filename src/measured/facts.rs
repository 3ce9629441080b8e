//! Turns rows of usage metrics into facts: usable ones become known, others unknown with a reason.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::matched::{MeasuredRow, UsageOptions};
use super::row::{OBSERVER, UsageRow};
use crate::catalog::Catalog;
use crate::inventory::{BillingRole, Fact, FactOrigin, FactValue, Key, Resource};
use crate::source::{Date, Span};

/// The shares of measured hours. Below the first one, a window is not usable; below the second one, it is less
/// certain.
const LEAST_COVERAGE: f64 = 0.5;
const GOOD_COVERAGE: f64 = 0.9;

/// Programs that allocate all memory of an accelerator at their start.
const PREALLOCATING: [&str; 10] =
    ["vllm", "sglang", "tgi", "lmdeploy", "trt-llm", "triton", "nim", "lorax", "aphrodite", "kserve-huggingface"];

/// Every fact that usage metrics can set.
const ALL: [Key; 21] = [
    Key::MeasuredBusy,
    Key::MeasuredBusyMax,
    Key::MeasuredIdle,
    Key::MeasuredUnits,
    Key::MeasuredMemory,
    Key::MeasuredCache,
    Key::MeasuredHours,
    Key::MeasuredDays,
    Key::MeasuredWindowDays,
    Key::MeasuredRequests,
    Key::MeasuredTokens,
    Key::MeasuredRunning,
    Key::MeasuredWaiting,
    Key::MeasuredPreemptions,
    Key::MeasuredReplicas,
    Key::MeasuredUnallocated,
    Key::MeasuredRuns,
    Key::MeasuredFailed,
    Key::MeasuredWait,
    Key::MeasuredWindow,
    Key::MeasuredSource,
];

/// Sets all measured facts to unknown with a reason.
pub(super) fn forget(resource: &mut Resource, why: &str, span: Span) {
    let why: Arc<str> = why.into();
    for key in ALL {
        resource.set(key, Fact::unknown(why.clone(), span));
    }
}

/// The limits that decide whether a row is usable.
pub(super) struct Judge<'a> {
    pub(super) options: &'a UsageOptions,
    pub(super) catalog: &'a Catalog,
    pub(super) today: Option<Date>,
}

/// The combined rows of one workload: its containers and parts.
struct Together {
    row: UsageRow,
    span: Span,
}

impl Judge<'_> {
    /// Sets the measured facts of a resource; returns why its rows cannot be used, if they cannot.
    pub(super) fn set_measured_facts(
        &self,
        resource: &mut Resource,
        rows: &[&MeasuredRow],
        is_sure: bool,
    ) -> Option<String> {
        let all = together(rows)?;
        resource.set(Key::MeasuredSeen, Fact::written(FactValue::Flag(true), all.span));
        if let Some(why) = self.unusable(resource, &all.row) {
            forget(resource, &why, all.span);
            return Some(why);
        }
        let row = &all.row;
        let coverage = row.coverage.unwrap_or_else(|| days(row) / window(row));
        let because = format!("measured by {}", row.source);
        let origin = match is_sure && coverage >= GOOD_COVERAGE {
            true => FactOrigin::Resolved,
            false if is_sure => {
                FactOrigin::Inferred(format!("{because}, {:.0}% of the hours measured", coverage * 100.0).into())
            }
            false => FactOrigin::Inferred(format!("{because}, matched by its name").into()),
        };
        self.set(resource, &all, &origin);
        resource.set(Key::MeasuredWindow, Fact::known(FactValue::text(format_window(row)), all.span, origin.clone()));
        resource.set(Key::MeasuredSource, Fact::known(FactValue::text(row.source.clone()), all.span, origin));
        None
    }

    fn set(&self, resource: &mut Resource, all: &Together, origin: &FactOrigin) {
        let (row, span) = (&all.row, all.span);
        let known = |value: f64| Fact::known(FactValue::Number(value), span, origin.clone());
        let shared = row.shared.is_some_and(|it| it > 0.0);
        let needed = [
            (Key::MeasuredBusy, row.busy, "busy"),
            (Key::MeasuredBusyMax, row.busy_max, "busy_max"),
            (Key::MeasuredIdle, row.idle, "idle"),
            (Key::MeasuredMemory, row.memory_peak_gib, "memory_peak_gib"),
            (Key::MeasuredHours, row.gpu_hours, "gpu_hours"),
        ];
        for (key, value, column) in needed {
            let fact = match value {
                _ if shared && key != Key::MeasuredHours => Fact::unknown(IS_SHARED, span),
                Some(_) if key == Key::MeasuredMemory && preallocates(resource).is_some() => {
                    let program = preallocates(resource).unwrap_or_default();
                    Fact::unknown(
                        format!(
                            "{program} allocates all memory at its start, so the measured memory is not what it needs"
                        ),
                        span,
                    )
                }
                Some(value) => known(value),
                None => Fact::unknown(format!("not measured: the row of the usage metrics has no `{column}`"), span),
            };
            resource.set(key, fact);
        }
        let others = [
            (Key::MeasuredUnits, row.sm_active),
            (Key::MeasuredCache, row.kv_peak),
            (Key::MeasuredDays, Some(days(row))),
            (Key::MeasuredWindowDays, Some(window(row))),
            (Key::MeasuredRequests, row.requests_per_s),
            (Key::MeasuredTokens, row.tokens_per_s),
            (Key::MeasuredRunning, row.running_max),
            (Key::MeasuredWaiting, row.waiting_max),
            (Key::MeasuredPreemptions, row.preemptions),
            (Key::MeasuredReplicas, row.replicas),
            (Key::MeasuredUnallocated, row.unallocated),
            (Key::MeasuredRuns, row.runs),
            (Key::MeasuredFailed, failed_share(row)),
            (Key::MeasuredWait, row.wait_hours),
        ];
        for (key, value) in others {
            resource.set(key, value.map_or(Fact::Absent, known));
        }
    }

    /// Returns why a row cannot be used.
    fn unusable(&self, resource: &Resource, row: &UsageRow) -> Option<String> {
        let coverage = row.coverage.unwrap_or_else(|| days(row) / window(row));
        let age = self.today.map(|today| today.since(row.to));
        match age {
            Some(age) if age as f64 > self.options.max_age_days => {
                let most = trimmed(self.options.max_age_days);
                return Some(format!(
                    "measured until {}, {age} days ago; gpulint ignores metrics after {most} days",
                    last_day(row)
                ));
            }
            Some(age) if age < -1 => return Some(format!("measured until {}, which is in the future", last_day(row))),
            _ => {}
        }
        if days(row) < self.options.min_days {
            let least = trimmed(self.options.min_days);
            return Some(format!("measured on {} days, minimum {least}", trimmed(days(row))));
        }
        if coverage < LEAST_COVERAGE {
            return Some(format!("only {:.0}% of its hours were measured", coverage * 100.0));
        }
        self.changed(resource, row)
    }

    /// Returns why the measurement is outdated: the configuration requests something else than what ran.
    pub(super) fn changed(&self, resource: &Resource, row: &UsageRow) -> Option<String> {
        let asked = resource.text(Key::Accelerator);
        let number = resource.number(Key::AcceleratorCount);
        let canonical = |name: &str| {
            let found = self.catalog.accelerator(name).map(|it| it.name.to_string());
            found.unwrap_or_else(|| name.to_owned())
        };
        let ran = Some(row.accelerator.as_str()).filter(|it| !it.is_empty()).map(canonical);
        let other = ran.as_ref().zip(asked).is_some_and(|(ran, asked)| *ran != canonical(asked));
        let more = row.gpus.zip(number).is_some_and(|(ran, asked)| (ran - asked).abs() > 0.01);
        if !other && !more {
            return replicas_changed(resource, row);
        }
        let said = |count: Option<f64>, name: Option<&str>| {
            let count = count.map(|count| format!("{} × ", trimmed(count))).unwrap_or_default();
            format!("{count}{}", name.unwrap_or("accelerators"))
        };
        Some(format!(
            "measured on {}, but the configuration now requests {}",
            said(row.gpus, ran.as_deref()),
            said(number, asked)
        ))
    }
}

/// Monitoring systems that ran all the time, and the namespaces that they saw.
pub(super) struct Observers<'r> {
    rows: Vec<&'r MeasuredRow>,
    /// Clusters and namespaces with metrics.
    seen: BTreeSet<(&'r str, &'r str)>,
    /// The part of them in which something without a name ran.
    nameless: BTreeSet<(&'r str, &'r str)>,
}

impl<'r> Observers<'r> {
    pub(super) fn new(rows: &'r [MeasuredRow], options: &UsageOptions, today: Option<Date>) -> Observers<'r> {
        let is_fresh = |row: &UsageRow| {
            today.is_none_or(|today| (0.0..=options.max_age_days).contains(&(today.since(row.to) as f64)))
        };
        let is_whole = |row: &UsageRow| row.coverage.unwrap_or(1.0) >= GOOD_COVERAGE && days(row) >= options.min_days;
        let (observers, others): (Vec<&MeasuredRow>, Vec<&MeasuredRow>) =
            rows.iter().partition(|it| it.row.kind == OBSERVER);
        let place = |it: &&'r MeasuredRow| (it.row.cluster.as_str(), it.row.namespace.as_str());
        Observers {
            nameless: others.iter().filter(|it| it.row.name.starts_with('(')).map(place).collect(),
            rows: observers.into_iter().filter(|it| is_whole(&it.row) && is_fresh(&it.row)).collect(),
            seen: others.iter().map(place).collect(),
        }
    }

    /// Returns the window and its place, if the monitoring system ran all the time and saw other workloads of the
    /// namespace. In this case, a workload that it did not see did not run.
    pub(super) fn watched(&self, resource: &Resource, cluster: Option<&str>) -> Option<(String, Span)> {
        if resource.role != BillingRole::Requested {
            return None;
        }
        let namespace = resource.metered.iter().find_map(|it| it.namespace.as_deref())?;
        let here = self.rows.iter().filter(|it| cluster.is_none_or(|cluster| cluster == it.row.cluster));
        let here: Vec<&&MeasuredRow> = here.collect();
        let [observer] = here.as_slice() else { return None };
        let place = (observer.row.cluster.as_str(), namespace);
        // A workload without a name may be this one.
        let is_watched = self.seen.contains(&place) && !self.nameless.contains(&place);
        is_watched.then(|| (format_window(&observer.row), observer.span))
    }
}

/// Returns why the measurement is outdated: the configuration sets another number of pods or machines than ran.
fn replicas_changed(resource: &Resource, row: &UsageRow) -> Option<String> {
    const NEAR: f64 = 0.1;
    let (ran, asked) = (row.replicas?, resource.count.value()?);
    // Jobs run only sometimes, and an autoscaler can be anywhere between minimum and maximum.
    let ends = resource.flag(Key::EndsByItself) == Some(true) || row.replicas == Some(0.0);
    let is_less = ran < asked.floor * (1.0 - NEAR) && !ends;
    let is_more = ran > asked.ceiling * (1.0 + NEAR);
    let said = if asked.floor == asked.ceiling {
        trimmed(asked.floor)
    } else {
        format!("{} to {}", trimmed(asked.floor), trimmed(asked.ceiling))
    };
    (is_less || is_more)
        .then(|| format!("measured on {} of them, but the configuration now requests {said}", trimmed(ran)))
}

/// Why a metric of a shared accelerator is unknown.
const IS_SHARED: &str = "several workloads share each accelerator, so its metrics belong to none of them alone";

/// Returns the share of the hours that ended in failed runs.
fn failed_share(row: &UsageRow) -> Option<f64> {
    let (failed, all) = row.failed_gpu_hours.zip(row.gpu_hours).filter(|(_, all)| *all > 0.0)?;
    Some((failed / all).min(1.0))
}

/// Returns the program, if it allocates all memory at its start.
fn preallocates(resource: &Resource) -> Option<String> {
    let program = resource.text(Key::Program)?;
    PREALLOCATING.contains(&program).then(|| program.to_owned())
}

fn window(row: &UsageRow) -> f64 {
    (row.to.since(row.from) as f64).max(1.0)
}

/// Returns the number of days with samples, or all days of the window if the row has no number.
fn days(row: &UsageRow) -> f64 {
    row.days.unwrap_or_else(|| window(row)).min(window(row))
}

/// Returns the last day of the window, because `to` is exclusive.
fn last_day(row: &UsageRow) -> Date {
    Date::from_unix_days(row.to.unix_days() - 1).unwrap_or(row.to)
}

/// Returns text such as `14 days to 2026-11-21, 99% of the hours measured`.
fn format_window(row: &UsageRow) -> String {
    let coverage = row.coverage.unwrap_or_else(|| days(row) / window(row));
    format!("{} days to {}, {:.0}% of the hours measured", trimmed(days(row)), last_day(row), coverage * 100.0)
}

fn trimmed(n: f64) -> String {
    format!("{}", (n * 10.0).round() / 10.0)
}

/// Combines containers and parts of one workload: adds hours, weights shares by hours, and takes the highest peaks.
fn together(rows: &[&MeasuredRow]) -> Option<Together> {
    let (first, rest) = rows.split_first()?;
    let mut all = first.row.clone();
    for it in rest {
        let other = &it.row;
        let (a, b) = (all.gpu_hours.unwrap_or(1.0), other.gpu_hours.unwrap_or(1.0));
        let mean = |one: Option<f64>, two: Option<f64>| match (one, two) {
            (Some(one), Some(two)) if a + b > 0.0 => Some((one * a + two * b) / (a + b)),
            _ => None,
        };
        let most = |one: Option<f64>, two: Option<f64>| one.zip(two).map(|(one, two)| one.max(two)).or(one).or(two);
        let sum = |one: Option<f64>, two: Option<f64>| one.zip(two).map(|(one, two)| one + two).or(one).or(two);
        all = UsageRow {
            gpus: if all.container == other.container { most(all.gpus, other.gpus) } else { sum(all.gpus, other.gpus) },
            from: all.from.min(other.from),
            to: all.to.max(other.to),
            days: most(all.days, other.days),
            busy: mean(all.busy, other.busy),
            idle: mean(all.idle, other.idle),
            sm_active: mean(all.sm_active, other.sm_active),
            tensor_active: mean(all.tensor_active, other.tensor_active),
            coverage: mean(all.coverage, other.coverage),
            busy_max: most(all.busy_max, other.busy_max),
            memory_peak_gib: most(all.memory_peak_gib, other.memory_peak_gib),
            kv_peak: most(all.kv_peak, other.kv_peak),
            waiting_max: most(all.waiting_max, other.waiting_max),
            shared: most(all.shared, other.shared),
            replicas: most(all.replicas, other.replicas),
            gpu_hours: sum(all.gpu_hours, other.gpu_hours),
            requests_per_s: sum(all.requests_per_s, other.requests_per_s),
            tokens_per_s: sum(all.tokens_per_s, other.tokens_per_s),
            running_max: sum(all.running_max, other.running_max),
            preemptions: sum(all.preemptions, other.preemptions),
            unallocated: mean(all.unallocated, other.unallocated),
            runs: sum(all.runs, other.runs),
            failed_gpu_hours: sum(all.failed_gpu_hours, other.failed_gpu_hours),
            wait_hours: mean(all.wait_hours, other.wait_hours),
            source: match all.source.split('+').any(|it| it == other.source) {
                true => all.source,
                false => format!("{}+{}", all.source, other.source),
            },
            ..all
        };
    }
    Some(Together { row: all, span: first.span })
}
