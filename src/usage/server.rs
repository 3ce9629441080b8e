//! Reads one day of metrics of model servers.

use std::collections::BTreeMap;

use super::answer::{Sample, SeriesLabels};
use super::holder::{Holder, label};
use super::request::STATISTIC;
use super::table::{Exporter, Fills};

/// The traffic that one pod served on one day.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ServedDay {
    pub(super) requests: Option<f64>,
    pub(super) tokens: Option<f64>,
    pub(super) running: Option<f64>,
    pub(super) waiting: Option<f64>,
    pub(super) cache: Option<f64>,
    pub(super) preemptions: Option<f64>,
}

/// Returns the served traffic by pod, and the number of impossible values.
pub(super) fn read(
    exporter: &Exporter,
    samples: &[&Sample],
    cluster: &dyn Fn(&SeriesLabels) -> String,
) -> (BTreeMap<Holder, ServedDay>, usize) {
    let (mut pods, mut refused) = (BTreeMap::<Holder, ServedDay>::new(), 0);
    for sample in samples {
        let labels = &sample.labels;
        let Some((_, name)) = label(labels, STATISTIC).split_once(':') else { continue };
        let Some((_, metric)) = exporter.metric(name) else { continue };
        // The cache usage is a ratio, although its name says `perc`.
        let is_share = metric.fills == Fills::Cache;
        if !(sample.value.is_finite() && sample.value >= 0.0) || is_share && sample.value > 1.01 {
            refused += 1;
            continue;
        }
        let holder = Holder::of(labels, &cluster(labels));
        if holder.pod.is_empty() {
            continue;
        }
        pods.entry(holder).or_default().add(metric.fills, sample.value);
    }
    (pods, refused)
}

impl ServedDay {
    /// Adds a value. Parts of a server and finish reasons add up. For the cache, the fullest part counts.
    fn add(&mut self, fills: Fills, value: f64) {
        let place = match fills {
            Fills::Requests => &mut self.requests,
            Fills::Tokens => &mut self.tokens,
            Fills::Running => &mut self.running,
            Fills::Waiting => &mut self.waiting,
            Fills::Preemptions => &mut self.preemptions,
            Fills::Cache => {
                let most = self.cache.unwrap_or_default().max(value.min(1.0));
                self.cache = Some(most);
                return;
            }
            _ => return,
        };
        *place = Some(place.unwrap_or_default() + value);
    }

    /// Adds another pod of the same workload on the same day.
    pub(super) fn join(&mut self, other: &ServedDay) {
        let all = [
            (Fills::Requests, other.requests),
            (Fills::Tokens, other.tokens),
            (Fills::Running, other.running),
            (Fills::Waiting, other.waiting),
            (Fills::Preemptions, other.preemptions),
            (Fills::Cache, other.cache),
        ];
        for (fills, value) in all {
            if let Some(value) = value {
                self.add(fills, value);
            }
        }
    }
}
