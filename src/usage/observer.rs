//! One day of kube-state-metrics: the requested accelerators of each container, and the hours that were observed.

use std::collections::BTreeMap;

use super::answer::{Sample, SeriesLabels};
use super::holder::{Holder, first, label};
use super::request::{POINTS_A_DAY, STATISTIC};
use super::table::{Exporter, Fills};

/// The accelerators that one container requested on one day.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HeldDay {
    /// The accelerators that the container requests at a time.
    pub(super) accelerators: f64,
    /// The five-minute points, each multiplied by its accelerators.
    pub(super) points: f64,
    /// The five-minute points at which the container existed.
    pub(super) present: f64,
    /// Whether the container requests a share of a device.
    pub(super) shared: bool,
    /// The requested part of a device, such as `1g.5gb`.
    pub(super) profile: String,
}

#[derive(Debug, Default)]
pub(super) struct ObserverDay {
    pub(super) held: BTreeMap<Holder, HeldDay>,
    /// The five-minute points at which kube-state-metrics was running, by cluster.
    pub(super) there: BTreeMap<String, f64>,
    pub(super) refused: usize,
}

pub(super) fn read(exporter: &Exporter, samples: &[&Sample], cluster: &dyn Fn(&SeriesLabels) -> String) -> ObserverDay {
    let mut day = ObserverDay::default();
    let mut by_pod: BTreeMap<(Holder, String, String), HeldDay> = BTreeMap::new();
    for sample in samples {
        let labels = &sample.labels;
        let Some((statistic, name)) = label(labels, STATISTIC).split_once(':') else { continue };
        let Some((_, metric)) = exporter.metric(name) else { continue };
        if !(sample.value.is_finite() && sample.value >= 0.0) {
            day.refused += 1;
            continue;
        }
        let cluster = cluster(labels);
        if metric.fills == Fills::Observer {
            let there = day.there.entry(cluster).or_default();
            *there = there.max(sample.value.min(POINTS_A_DAY));
            continue;
        }
        let resource = label(labels, "resource").to_owned();
        let pod = first(labels, &["uid", "node"]).to_owned();
        let held = by_pod.entry((Holder::of(labels, &cluster), pod, resource.clone())).or_default();
        held.shared = resource.ends_with("_shared");
        held.profile = profile(&resource);
        match statistic {
            "max" => held.accelerators = sample.value,
            "points" => held.present = sample.value,
            "sum" => held.points = sample.value,
            _ => {}
        }
    }
    for ((holder, ..), one) in by_pod {
        let held = day.held.entry(holder).or_default();
        held.accelerators = held.accelerators.max(one.accelerators);
        held.points += one.points;
        held.present += one.present;
        held.shared |= one.shared;
        if !one.profile.is_empty() {
            held.profile = one.profile;
        }
    }
    day
}

/// Converts a resource name into a profile: `nvidia_com_mig_1g_5gb` → `1g.5gb`
fn profile(resource: &str) -> String {
    let profile = resource.strip_prefix("nvidia_com_mig_").unwrap_or_default();
    profile.replacen('_', ".", 1)
}
