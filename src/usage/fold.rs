//! Adds up the measured days of devices.

use std::collections::BTreeSet;

use super::meter::DeviceDay;
use crate::measured::row::UsageRow;
use crate::source::Date;

/// The number of five-minute points in an hour.
const POINTS_AN_HOUR: f64 = 12.0;

/// A time-weighted mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, value: Option<f64>, weight: f64) {
        if let Some(value) = value {
            self.sum += value * weight;
            self.weight += weight;
        }
    }

    fn join(&mut self, other: Mean) {
        self.sum += other.sum;
        self.weight += other.weight;
    }

    fn value(self) -> Option<f64> {
        (self.weight > 0.0).then(|| (self.sum / self.weight).clamp(0.0, 1.0))
    }
}

/// The measurements of some devices over some days.
#[derive(Debug, Clone, Default)]
pub(super) struct UsageSums {
    /// The five-minute points, in whole accelerators.
    pub(super) points: f64,
    /// The same points in requested devices and parts. A shared device counts in full for each pod.
    pub(super) raw: f64,
    /// The points at which no pod used the device.
    pub(super) nobody: f64,
    /// Points at which the pod or the node existed.
    pub(super) present: f64,
    pub(super) days: BTreeSet<Date>,
    busy: Mean,
    busy_max: Option<f64>,
    idle: Mean,
    units: Mean,
    tensor: Mean,
    memory_gib: Option<f64>,
    shared: bool,
    measures: BTreeSet<(&'static str, &'static str)>,
    profiles: BTreeSet<String>,
    /// The maximum accelerators of one pod or node.
    most: f64,
}

impl UsageSums {
    pub(super) fn add(&mut self, exporter: &'static str, day: Date, device: &DeviceDay, part: f64) {
        // A pod that lived between two points has no points, but its measurements count.
        let weight = (device.points * part).max(1e-6);
        self.points += device.points * part;
        self.raw += device.raw;
        if device.holder.pod.is_empty() {
            self.nobody += device.points * part;
        }
        self.days.insert(day);
        self.busy.add(device.busy, weight);
        self.idle.add(device.idle, weight);
        self.units.add(device.units, weight);
        self.tensor.add(device.tensor, weight);
        self.busy_max = most(self.busy_max, device.busy_max);
        self.memory_gib = most(self.memory_gib, device.memory_gib);
        self.shared |= device.shared;
        self.measures.insert((exporter, device.measure));
        if !device.profile.is_empty() {
            self.profiles.insert(device.profile.clone());
        }
    }

    /// Adds one day: the points of all devices, and those of the device with the most. A device that was present half
    /// of the day counts as half.
    pub(super) fn at_once(&mut self, all: f64, longest: f64) {
        self.present += longest;
        if longest > 0.0 {
            self.most = self.most.max(all / longest);
        }
    }

    /// Adds the devices of another pod or node.
    pub(super) fn join(&mut self, other: &UsageSums) {
        self.points += other.points;
        self.raw += other.raw;
        self.nobody += other.nobody;
        self.present += other.present;
        self.days.extend(&other.days);
        self.busy.join(other.busy);
        self.idle.join(other.idle);
        self.units.join(other.units);
        self.tensor.join(other.tensor);
        self.busy_max = most(self.busy_max, other.busy_max);
        self.memory_gib = most(self.memory_gib, other.memory_gib);
        self.shared |= other.shared;
        self.measures.extend(&other.measures);
        self.profiles.extend(other.profiles.iter().cloned());
        self.most = self.most.max(other.most);
    }

    pub(super) fn accelerators(&self) -> Option<f64> {
        // A difference of one point comes from the scrape, not from a part of a device.
        let whole = self.most.round();
        let said = if (self.most - whole).abs() < 0.1 { whole } else { (self.most * 100.0).round() / 100.0 };
        (said > 0.0).then_some(said)
    }

    /// Returns the sources of the measurements, such as `dcgm:GR_ENGINE_ACTIVE`.
    pub(super) fn source(&self) -> String {
        let all: Vec<String> =
            self.measures.iter().map(|(exporter, measure)| format!("{exporter}:{measure}")).collect();
        all.join("+")
    }

    /// Writes the device measurements into a row.
    pub(super) fn fill(&self, row: &mut UsageRow) {
        if self.days.is_empty() {
            return;
        }
        row.gpu_hours = Some(self.points / POINTS_AN_HOUR);
        row.busy = self.busy.value();
        row.busy_max = self.busy_max;
        row.idle = self.idle.value();
        row.sm_active = self.units.value();
        row.tensor_active = self.tensor.value();
        row.memory_peak_gib = self.memory_gib;
        row.shared = self.shared.then_some(1.0);
        if !self.profiles.is_empty() {
            let all: Vec<&str> = self.profiles.iter().map(String::as_str).collect();
            row.note = format!("MIG {}", all.join(" "));
        }
    }
}

fn most(one: Option<f64>, two: Option<f64>) -> Option<f64> {
    one.zip(two).map(|(one, two)| one.max(two)).or(one).or(two)
}
