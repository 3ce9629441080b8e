//! How many hours of a month something runs.

use crate::inventory::{Key, Range, Resource};

use super::complete::plain;
use super::cron::starts_per_month;
use super::{HOURS_PER_MONTH, Settings, Step};

/// What the configuration says about the hours of some resources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// A pattern of addresses, `*` for any text; every resource where this is missing.
    pub address: Option<String>,
    /// A label that the resource must carry, with its value.
    pub label: Option<(String, String)>,
    pub hours_per_month: Option<f64>,
    pub runs_per_month: Option<f64>,
    /// Of one run; the time limit of the text where this is missing.
    pub hours_per_run: Option<f64>,
}

impl Usage {
    fn covers(&self, resource: &Resource) -> bool {
        let address = self.address.as_ref().is_none_or(|pattern| crate::catalog::covers(pattern, &resource.address));
        let label = self.label.as_ref().is_none_or(|(key, value)| {
            let carried = resource.labels.entries.get(key).and_then(|fact| fact.value());
            carried.is_some_and(|carried| **carried == **value)
        });
        address && label
    }

    fn hours(&self, limit: Option<f64>) -> Option<(f64, String)> {
        if let Some(hours) = self.hours_per_month {
            return Some((hours, format!("{} hours a month, by `usage` of the configuration", plain(hours))));
        }
        let runs = self.runs_per_month?;
        let each = self.hours_per_run.or(limit)?;
        let text = format!("{} runs of {} hours a month, by `usage` of the configuration", plain(runs), plain(each));
        Some((runs * each, text))
    }
}

/// Hours of a month, and what says so where it is not the whole month.
pub(super) fn hours(resource: &Resource, settings: &Settings) -> (Range, Option<Step>) {
    let limit = resource.number(Key::TimeLimit).map(|seconds| seconds / 3600.0).filter(|hours| *hours >= 0.0);
    let usage = settings.usage.iter().rev().find(|usage| usage.covers(resource));
    if let Some((hours, text)) = usage.and_then(|usage| usage.hours(limit)) {
        let hours = hours.clamp(0.0, HOURS_PER_MONTH);
        return (Range::exactly(hours), Some(Step { text, result: None }));
    }
    let always = Range::exactly(HOURS_PER_MONTH);
    let from_none = Range { floor: 0.0, ..always };
    let said = |text: String| Some(Step { text, result: None });
    let ends = resource.flag(Key::EndsByItself) == Some(true);
    let starts = resource.text(Key::Cron).and_then(starts_per_month);
    match limit {
        Some(limit) if starts.is_some() => {
            let starts = starts.unwrap_or_default();
            let most = (starts * limit).min(HOURS_PER_MONTH);
            let text = format!("{} starts a month of at most {} hours each", plain(tenths(starts)), plain(limit));
            (Range { floor: 0.0, expected: most, ceiling: most }, said(text))
        }
        Some(limit) if ends && limit < HOURS_PER_MONTH => {
            let text = format!("at most {} hours a run, and one run a month unless `usage` says more", plain(limit));
            (Range { floor: 0.0, expected: limit, ceiling: limit }, said(text))
        }
        _ if ends => {
            let text = match starts {
                Some(starts) => format!("{} starts a month: how long each runs is not known", plain(tenths(starts))),
                None => "it ends by itself: how long it runs is not known".to_owned(),
            };
            (from_none, said(text))
        }
        _ => {
            if let Some(schedule) = resource.text(Key::Schedule) {
                return (from_none, said(format!("stopped by {schedule}: how many hours remain is not known")));
            }
            match resource.number(Key::IdleMinutes) {
                Some(minutes) => (from_none, said(format!("stopped after {} idle minutes", plain(minutes)))),
                None => (always, None),
            }
        }
    }
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
