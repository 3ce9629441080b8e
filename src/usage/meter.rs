//! One day of devices from one exporter: their pods, their hours and their utilization.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Sample, SeriesLabels};
use super::holder::{Holder, first, label};
use super::request::{POD, POINTS_A_DAY, STATISTIC};
use super::table::{Exporter, Fills, Metric, MetricUnit};
use crate::catalog::Catalog;

/// The most points in a day. If two readings of a measure have more, they come from two exporters or exporter
/// versions.
const MOST_POINTS: f64 = POINTS_A_DAY * 1.02;

/// The usage of one device by one container on one day.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DeviceDay {
    pub(super) holder: Holder,
    pub(super) node: String,
    pub(super) accelerator: String,
    /// The part of the device, such as `1g.5gb`.
    pub(super) profile: String,
    /// The five-minute points of the accelerator that count for this holder.
    pub(super) points: f64,
    /// The same points. A shared device counts in full for each holder.
    pub(super) raw: f64,
    /// The index of the device on this day.
    pub(super) device: usize,
    pub(super) busy: Option<f64>,
    pub(super) busy_max: Option<f64>,
    pub(super) idle: Option<f64>,
    pub(super) units: Option<f64>,
    pub(super) tensor: Option<f64>,
    pub(super) memory_gib: Option<f64>,
    pub(super) shared: bool,
    /// The measure, such as `GR_ENGINE_ACTIVE`.
    pub(super) measure: &'static str,
}

/// The devices of one exporter on one day, with notes about its metrics.
#[derive(Debug, Default)]
pub(super) struct MeterDay {
    pub(super) devices: Vec<DeviceDay>,
    /// The number of series whose pod is the exporter itself.
    pub(super) own: usize,
    /// The number of impossible values.
    pub(super) refused: usize,
    pub(super) notes: BTreeSet<String>,
}

/// The statistics of one metric.
#[derive(Debug, Clone, Default)]
struct Statistics {
    sum: Option<f64>,
    n: Option<f64>,
    max: Option<f64>,
    idle: Option<f64>,
    points: Option<f64>,
}

/// The key of a device or of a part of it: the labels of the device, and the part.
type DeviceKey = (Vec<String>, String);

#[derive(Debug, Default)]
struct Held {
    about: SeriesLabels,
    /// The statistics by metric and by exporter pod. A restarted exporter pod continues in another series.
    metrics: BTreeMap<(usize, String), Statistics>,
}

struct Reading<'a> {
    exporter: &'a Exporter,
    held: BTreeMap<(Holder, DeviceKey), Held>,
    /// The points at which a device existed, with or without a holder.
    there: BTreeMap<(DeviceKey, usize), f64>,
    most: BTreeMap<usize, f64>,
    is_whole: BTreeMap<usize, bool>,
    day: MeterDay,
}

/// The label that identifies a part of a device.
const PART: &str = "GPU_I_ID";

pub(super) fn read(exporter: &Exporter, samples: &[&Sample], cluster: &dyn Fn(&SeriesLabels) -> String) -> MeterDay {
    let mut reading = Reading {
        exporter,
        held: BTreeMap::new(),
        there: BTreeMap::new(),
        most: BTreeMap::new(),
        is_whole: BTreeMap::new(),
        day: MeterDay::default(),
    };
    let own = own_pods(samples);
    for sample in samples {
        reading.take(sample, &own, &cluster(&sample.labels));
    }
    reading.without_wholes_beside_parts();
    reading.finish()
}

/// Returns the pods whose series name another pod in `exported_pod`. They are exporters and use no device.
fn own_pods<'s>(samples: &[&'s Sample]) -> BTreeSet<&'s str> {
    let all = samples.iter().filter(|it| !label(&it.labels, "exported_pod").is_empty());
    all.map(|it| label(&it.labels, "pod")).filter(|it| !it.is_empty()).collect()
}

impl Reading<'_> {
    fn take(&mut self, sample: &Sample, own: &BTreeSet<&str>, cluster: &str) {
        let labels = &sample.labels;
        let Some((statistic, name)) = label(labels, STATISTIC).split_once(':') else { return };
        let Some((at, metric)) = self.exporter.metric(name) else { return };
        if !(sample.value.is_finite() && sample.value >= 0.0) {
            self.day.refused += 1;
            return;
        }
        let key = self.device(labels, cluster);
        if statistic == "device" {
            self.there.insert((key, at), sample.value);
            return;
        }
        if !key.1.is_empty() && !metric.parts {
            // For a part of a device, this metric is always zero.
            return;
        }
        let mut holder = Holder::of(labels, cluster);
        if own.contains(first(labels, POD)) || holder.measures() {
            self.day.own += usize::from(statistic == "n");
            holder = Holder::nobody(cluster);
        }
        if holder.pod.is_empty() {
            holder = Holder::nobody(cluster);
        }
        let held = self.held.entry((holder, key)).or_default();
        held.about
            .extend(self.exporter.about.iter().filter_map(|it| Some(((*it).to_owned(), labels.get(*it)?.clone()))));
        for name in ["Hostname", "hostname", "node_name", "instance_id"] {
            held.about.extend(labels.get(name).map(|it| (name.to_owned(), it.clone())));
        }
        let statistics = held.metrics.entry((at, label(labels, "pod").to_owned())).or_default();
        statistics.set(statistic, sample.value);
        if statistic == "max" {
            let most = self.most.entry(at).or_default();
            *most = most.max(sample.value);
            let is_whole = self.is_whole.entry(at).or_insert(true);
            *is_whole = *is_whole && sample.value.fract() == 0.0;
        }
    }

    fn device(&self, labels: &SeriesLabels, cluster: &str) -> DeviceKey {
        let whole = self.exporter.devices.iter().filter(|it| **it != PART);
        // Before version 4.8.3, dcgm-exporter calls the node `Hostname`, and since then `hostname`. Both are the same
        // node.
        let texts = whole.map(|name| label(labels, name).to_owned()).filter(|it| !it.is_empty());
        let mut whole: Vec<String> = std::iter::once(cluster.to_owned()).chain(texts).collect();
        whole.dedup();
        (whole, label(labels, PART).to_owned())
    }

    /// Removes a device that is also reported by its parts, because it would count twice.
    fn without_wholes_beside_parts(&mut self) {
        let cut: BTreeSet<Vec<String>> =
            self.held.keys().filter(|(_, key)| !key.1.is_empty()).map(|(_, key)| key.0.clone()).collect();
        self.held.retain(|(_, key), _| !(key.1.is_empty() && cut.contains(&key.0)));
        self.there.retain(|(key, _), _| !(key.1.is_empty() && cut.contains(&key.0)));
    }

    fn finish(mut self) -> MeterDay {
        let scales = self.scales();
        let mut by_device: BTreeMap<DeviceKey, Vec<DeviceDay>> = BTreeMap::new();
        let held = std::mem::take(&mut self.held);
        for ((holder, key), held) in held {
            if let Some(day) = device_day(self.exporter, &scales, holder, &held) {
                by_device.entry(key).or_default().push(day);
            }
        }
        for (at, (key, mut days)) in by_device.into_iter().enumerate() {
            let there = self.there(&key, &days);
            share(&mut days, there);
            days.iter_mut().for_each(|it| it.device = at);
            self.day.devices.append(&mut days);
        }
        self.day
    }

    /// Returns the points of a device on the day, by the preferred measure.
    fn there(&self, key: &DeviceKey, days: &[DeviceDay]) -> f64 {
        let measure = days.first().map_or("", |it| it.measure);
        let all = self.exporter.metrics.iter().enumerate().filter(|(_, it)| it.measure == measure);
        let points: Vec<f64> = all.filter_map(|(at, _)| self.there.get(&(key.clone(), at))).copied().collect();
        let (sum, most) = (points.iter().sum::<f64>(), points.iter().copied().fold(0.0, f64::max));
        let said = if sum > MOST_POINTS { most } else { sum };
        // If the answer lacks the points of the device, only the points of its holders are known.
        if said > 0.0 { said } else { days.iter().map(|it| it.points).sum() }
    }

    /// Returns the divisor that makes each metric a ratio, or `None` if the unit is unclear.
    fn scales(&mut self) -> BTreeMap<usize, Option<Scale>> {
        let mut scales = BTreeMap::new();
        for (at, metric) in self.exporter.metrics.iter().enumerate() {
            let Some(most) = self.most.get(&at).copied() else { continue };
            let scale = match metric.unit {
                MetricUnit::Percent if most <= 101.0 => Some(Scale { divisor: 100.0, idle: true }),
                MetricUnit::Ratio if most <= 1.01 => {
                    let is_whole = self.is_whole.get(&at).copied().unwrap_or_default();
                    let unclear = metric.doubtful && is_whole && most > 0.0;
                    if unclear {
                        self.note(
                            metric,
                            "is always 0 or 1, so it may be a ratio or a percentage: gpulint does not use it",
                        );
                    }
                    (!unclear).then_some(Scale { divisor: 1.0, idle: true })
                }
                MetricUnit::Ratio if most <= 101.0 => {
                    self.note(metric, "contains percentages under the name of a ratio: gpulint divides them by 100");
                    // The query counted points below 0.02 as idle, which is 0.02% here, so the idle share is
                    // unusable.
                    Some(Scale { divisor: 100.0, idle: false })
                }
                MetricUnit::Percent | MetricUnit::Ratio => {
                    self.note(metric, "is above 100%: gpulint does not use it");
                    self.day.refused += 1;
                    None
                }
                MetricUnit::PerGib(divisor) => Some(Scale { divisor, idle: true }),
                MetricUnit::Count | MetricUnit::Counter => Some(Scale { divisor: 1.0, idle: true }),
            };
            scales.insert(at, scale);
        }
        // A metric without a maximum has the unit of its definition.
        for (at, metric) in self.exporter.metrics.iter().enumerate() {
            let divisor = if metric.unit == MetricUnit::Percent { 100.0 } else { 1.0 };
            scales.entry(at).or_insert(Some(Scale { divisor, idle: true }));
        }
        scales
    }

    fn note(&mut self, metric: &Metric, what: &str) {
        self.day.notes.insert(format!("{} {what}", metric.name));
    }
}

#[derive(Debug, Clone, Copy)]
struct Scale {
    divisor: f64,
    idle: bool,
}

impl Statistics {
    fn set(&mut self, statistic: &str, value: f64) {
        match statistic {
            "sum" => self.sum = Some(value),
            "n" => self.n = Some(value),
            "max" => self.max = Some(value),
            "idle" => self.idle = Some(value),
            "points" => self.points = Some(value),
            _ => {}
        }
    }
}

/// Returns the readings of the preferred measure. Readings of two exporter versions on one day add up.
fn device_day(
    exporter: &Exporter,
    scales: &BTreeMap<usize, Option<Scale>>,
    holder: Holder,
    held: &Held,
) -> Option<DeviceDay> {
    let usable = |fills: Fills| -> Vec<(&'static Metric, &Statistics, Scale)> {
        let all = held.metrics.iter().filter_map(|((at, _), it)| {
            let metric = exporter.metrics.get(*at).filter(|it| it.fills == fills)?;
            let is_said = it.n.is_some_and(|n| n > 0.0) && it.sum.is_some() || it.max.is_some();
            let scale = (*scales.get(at)?)?;
            is_said.then_some((metric, it, scale))
        });
        let all: Vec<_> = all.collect();
        let measure = all.first().map(|(metric, ..)| metric.measure);
        all.into_iter().filter(|(metric, ..)| Some(metric.measure) == measure).collect()
    };
    let busy = usable(Fills::Busy);
    let measure = busy.first()?.0.measure;
    let points: Vec<f64> = busy.iter().map(|(_, it, _)| it.points.unwrap_or_default()).collect();
    let (sum, most) = (points.iter().sum::<f64>(), points.iter().copied().fold(0.0, f64::max));
    let has_idle = busy.iter().all(|(_, it, scale)| it.idle.is_some() && scale.idle);
    let idle: f64 = busy.iter().filter_map(|(_, it, _)| it.idle).sum();
    let peak = |all: &[(&Metric, &Statistics, Scale)]| {
        all.iter().filter_map(|(_, it, scale)| Some(it.max? / scale.divisor)).reduce(f64::max)
    };
    Some(DeviceDay {
        node: first(&held.about, &["node", "Hostname", "hostname", "node_name", "instance_id"]).to_owned(),
        accelerator: first(&held.about, &["modelName", "card_model", "card_series", "model", "instance_type"])
            .to_owned(),
        profile: label(&held.about, "GPU_I_PROFILE").to_owned(),
        points: if sum > MOST_POINTS { most } else { sum },
        raw: if sum > MOST_POINTS { most } else { sum },
        device: 0,
        busy: mean(&busy),
        busy_max: peak(&busy).map(|it| it.min(1.0)),
        idle: (has_idle && sum > 0.0).then(|| (idle / sum).min(1.0)),
        units: mean(&usable(Fills::Units)),
        tensor: mean(&usable(Fills::Tensor)),
        memory_gib: peak(&usable(Fills::Memory)),
        shared: false,
        measure,
        holder,
    })
}

fn mean(all: &[(&Metric, &Statistics, Scale)]) -> Option<f64> {
    let pairs = all.iter().filter_map(|(_, it, scale)| Some((it.sum? / scale.divisor, it.n?)));
    let (sum, n) = pairs.fold((0.0, 0.0), |(sum, n), (more, count)| (sum + more, n + count));
    (n > 0.0).then(|| (sum / n).min(1.0))
}

/// Divides the hours of a device among its pods if their points exceed those of the device. Its utilization then
/// belongs to no single pod.
fn share(days: &mut Vec<DeviceDay>, there: f64) {
    let held: f64 = days.iter().filter(|it| !it.holder.pod.is_empty()).map(|it| it.points).sum();
    let holders: BTreeSet<&Holder> = days.iter().map(|it| &it.holder).filter(|it| !it.pod.is_empty()).collect();
    let is_shared = holders.len() > 1 && held > there * 1.1 + 2.0;
    for day in days.iter_mut() {
        if day.holder.pod.is_empty() {
            // The exporter may report the device itself in addition to the pods that share it.
            day.points = day.points.min((there - held).max(0.0));
        } else if held > there && held > 0.0 {
            day.points *= there / held;
            day.shared = is_shared;
        }
    }
    days.retain(|it| !it.holder.pod.is_empty() || it.points > 0.0);
}

/// Returns the catalog name of an accelerator, and the share of one accelerator that the device is.
pub(super) fn in_catalog(catalog: &Catalog, day: &DeviceDay, cores: f64) -> (String, f64) {
    if let Some(machine) = catalog.machine(crate::catalog::AWS, &day.accelerator) {
        // For AWS Neuron, the measured device is a core.
        let part = if cores > 0.0 { machine.count / cores } else { 1.0 };
        return (machine.accelerator.into_owned(), part);
    }
    let Some(known) = catalog.accelerator(&day.accelerator) else {
        return (day.accelerator.chars().filter(|it| !it.is_control()).take(80).collect(), 1.0);
    };
    let slice = catalog.mig(known.name, &day.profile).filter(|_| !day.profile.is_empty());
    (known.name.to_owned(), slice.map_or(1.0, |it| 1.0 / f64::from(it.max_instances.max(1))))
}
