//! Converts the answers of several days into rows. It uses only additive statistics, so that the order of days
//! and answers does not matter.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{Answered, Sample, SeriesLabels};
use super::fold::UsageSums;
use super::holder::{Holder, label};
use super::meter::{self, DeviceDay};
use super::observer::{self, HeldDay};
use super::owners::Owners;
use super::request::POINTS_A_DAY;
use super::server::{self, ServedDay};
use super::table::{self, Exporter};
use crate::catalog::Catalog;
use crate::measured::row::{OBSERVER, UsageRow};
use crate::source::Date;

/// The number of five-minute points in an hour.
const POINTS_AN_HOUR: f64 = 12.0;

/// The rows of a usage file, with warnings and notes about them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageReport {
    pub rows: Vec<UsageRow>,
    /// The missing data. gpulint writes an incomplete file only if the user allows it.
    pub incomplete: Vec<String>,
    pub notes: Vec<String>,
    /// The accelerator hours of all devices, of devices in use, and of devices that no workload used.
    pub hours: [f64; 3],
}

/// Collects the answers for several days, in any order.
pub(super) struct MeterDays<'c> {
    catalog: &'c Catalog,
    /// The chosen cluster if the answers contain several, and its name in the file.
    cluster: Option<String>,
    clusters: BTreeSet<String>,
    /// The days for which each exporter has an answer, and whether that answer contains data.
    days: BTreeMap<(&'static str, Date), bool>,
    devices: BTreeMap<(Holder, String), UsageSums>,
    nodes: BTreeMap<(String, String, String), UsageSums>,
    held: BTreeMap<Holder, BTreeMap<Date, HeldDay>>,
    served: BTreeMap<Holder, BTreeMap<Date, ServedDay>>,
    there: BTreeMap<String, BTreeMap<Date, f64>>,
    pub(super) owners: Owners,
    own: usize,
    notes: BTreeSet<String>,
    incomplete: BTreeSet<String>,
    refused: usize,
}

/// The key of a row: a workload's container on one kind of accelerator.
type RowKey = (String, String, String, String, String, String);

impl<'c> MeterDays<'c> {
    pub(super) fn new(catalog: &'c Catalog, cluster: Option<String>) -> MeterDays<'c> {
        MeterDays {
            catalog,
            cluster,
            clusters: BTreeSet::new(),
            days: BTreeMap::new(),
            devices: BTreeMap::new(),
            nodes: BTreeMap::new(),
            held: BTreeMap::new(),
            served: BTreeMap::new(),
            there: BTreeMap::new(),
            owners: Owners::default(),
            own: 0,
            notes: BTreeSet::new(),
            incomplete: BTreeSet::new(),
            refused: 0,
        }
    }

    pub(super) fn lacks(&mut self, what: String) {
        self.incomplete.insert(what);
    }

    /// Adds the answer of one exporter for one day.
    pub(super) fn take_day(&mut self, exporter: &'static Exporter, day: Date, samples: &[Sample]) {
        let is_measured = |it: &&Exporter| self.days.get(&(it.name, day)).copied().unwrap_or_default();
        if exporter.is_second && table::EXPORTERS.iter().filter(|it| it.is_meter()).any(|it| is_measured(&it)) {
            return;
        }
        let own: Vec<&Sample> = samples.iter().filter(|it| !self.is_of_another(&it.labels)).collect();
        let cluster = |labels: &SeriesLabels| self.cluster_of(labels);
        if exporter.name == table::OBSERVER {
            let said = observer::read(exporter, &own, &cluster);
            self.answered(exporter, day, !said.there.is_empty() || !said.held.is_empty());
            self.refused += said.refused;
            for (holder, held) in said.held {
                self.held.entry(holder).or_default().insert(day, held);
            }
            for (cluster, points) in said.there {
                self.there.entry(cluster).or_default().insert(day, points);
            }
        } else if exporter.is_meter() {
            let said = meter::read(exporter, &own, &cluster);
            self.answered(exporter, day, !said.devices.is_empty());
            self.own += said.own;
            self.refused += said.refused;
            self.notes.extend(said.notes);
            self.take_devices(exporter, day, said.devices);
        } else {
            let (pods, refused) = server::read(exporter, &own, &cluster);
            self.answered(exporter, day, !pods.is_empty());
            self.refused += refused;
            for (holder, served) in pods {
                self.served.entry(holder).or_default().entry(day).or_default().join(&served);
            }
        }
    }

    fn answered(&mut self, exporter: &'static Exporter, day: Date, any: bool) {
        *self.days.entry((exporter.name, day)).or_default() |= any;
    }

    fn take_devices(&mut self, exporter: &'static Exporter, day: Date, devices: Vec<DeviceDay>) {
        // AWS Neuron reports each core as a device. The number of a machine's cores gives the share of one core.
        let mut cores: BTreeMap<String, f64> = BTreeMap::new();
        for it in &devices {
            *cores.entry(it.node.clone()).or_default() += 1.0;
        }
        let mut of_nodes: BTreeMap<(String, String, String), BTreeMap<usize, f64>> = BTreeMap::new();
        let mut of_holders: BTreeMap<(Holder, String), (f64, f64)> = BTreeMap::new();
        for it in devices {
            let cores = cores.get(&it.node).copied().unwrap_or_default();
            let (accelerator, part) = meter::in_catalog(self.catalog, &it, cores);
            let node = (it.holder.cluster.clone(), it.node.clone(), accelerator.clone());
            let holder = (it.holder.clone(), accelerator);
            // Slices count as requested units. Cores are parts of a requested unit.
            let unit = if it.profile.is_empty() { part } else { 1.0 };
            *of_nodes.entry(node.clone()).or_default().entry(it.device).or_default() += it.points * unit;
            let (all, longest) = of_holders.entry(holder.clone()).or_default();
            (*all, *longest) = (*all + it.raw * unit, longest.max(it.raw));
            self.nodes.entry(node).or_default().add(exporter.name, day, &it, part);
            self.devices.entry(holder).or_default().add(exporter.name, day, &it, part);
        }
        for (node, devices) in of_nodes {
            let longest = devices.values().copied().fold(0.0, f64::max);
            self.nodes.entry(node).or_default().at_once(devices.values().sum(), longest);
        }
        for (holder, (all, longest)) in of_holders {
            self.devices.entry(holder).or_default().at_once(all, longest);
        }
    }

    /// Adds the label sets of owners and nodes.
    pub(super) fn take_series(&mut self, series: &[SeriesLabels]) {
        for labels in series {
            if !self.is_of_another(labels) {
                let cluster = self.cluster_of(labels);
                self.owners.take(labels, &cluster);
            }
        }
    }

    /// Adds an answer according to the name of its request.
    pub(super) fn take(&mut self, name: &str, day: Option<Date>, said: &Answered) -> Result<(), String> {
        match (said, table::exporter(name), day) {
            (Answered::Samples(samples), Some(exporter), Some(day)) => {
                self.take_day(exporter, day, samples);
                Ok(())
            }
            (Answered::Series(series), None, _) => {
                self.take_series(series);
                Ok(())
            }
            // An empty list can be an answer to either kind of request.
            (Answered::Samples(samples), None, _) if samples.is_empty() => Ok(()),
            (Answered::Names(_), ..) => Ok(()),
            _ => Err(format!("the file name does not match the content: `{name}`")),
        }
    }

    fn is_of_another(&self, labels: &SeriesLabels) -> bool {
        let said = cluster_label(labels);
        self.cluster.as_deref().is_some_and(|chosen| !said.is_empty() && said != chosen && self.clusters.len() > 1)
    }

    fn cluster_of(&self, labels: &SeriesLabels) -> String {
        let said = cluster_label(labels);
        let only = || self.clusters.first().filter(|_| self.clusters.len() == 1);
        match &self.cluster {
            Some(chosen) => chosen.clone(),
            // Some metrics of a cluster lack the cluster's name.
            None if said.is_empty() => only().cloned().unwrap_or_default(),
            None => said.to_owned(),
        }
    }

    pub(super) fn name_clusters(&mut self, names: &[String]) {
        self.clusters.extend(names.iter().filter(|it| !it.is_empty()).cloned());
    }

    /// Records the clusters before the first answer is added, so that data of two clusters never mix.
    pub(super) fn see_clusters(&mut self, samples: &[Sample]) {
        let named = samples.iter().map(|it| cluster_label(&it.labels)).filter(|it| !it.is_empty());
        self.clusters.extend(named.map(str::to_owned));
    }

    /// Returns the pods whose owners are needed: they use or request devices, or serve a model.
    pub(super) fn holders(&self) -> BTreeSet<&Holder> {
        let all = self.devices.keys().map(|(holder, _)| holder).chain(self.held.keys()).chain(self.served.keys());
        all.filter(|it| !it.pod.is_empty()).collect()
    }

    /// Returns the reason why the answers allow no conclusion.
    pub(super) fn refusal(&self) -> Option<String> {
        let named: Vec<&str> = self.clusters.iter().map(String::as_str).collect();
        if named.len() > 1 && !self.cluster.as_deref().is_some_and(|it| named.contains(&it)) {
            let named = named.join(", ");
            return Some(format!("the answers contain several clusters, and gpulint never adds clusters up: {named}"));
        }
        let pods: BTreeSet<(&str, &str)> = self
            .devices
            .keys()
            .map(|(it, _)| (it.namespace.as_str(), it.pod.as_str()))
            .filter(|it| !it.1.is_empty())
            .collect();
        let asked: BTreeSet<(&str, &str)> =
            self.held.keys().map(|it| (it.namespace.as_str(), it.pod.as_str())).collect();
        let observed = !self.there.is_empty();
        let nobody = pods.is_empty() && self.own > 0 && (!observed || !asked.is_empty());
        let strangers = !pods.is_empty() && !asked.is_empty() && pods.is_disjoint(&asked);
        (nobody || strangers).then(|| {
            "the labels of devices contain the exporter's own pod, not the pods that use the devices: let the exporter map \
             devices to pods (DCGM_EXPORTER_KUBERNETES=true, with the socket of the kubelet), and let its scrape keep \
             labels (honorLabels: true) or move them to exported_pod"
                .to_owned()
        })
    }

    /// Returns the rows for all days from `from` to `to`, exclusive.
    pub(super) fn report(mut self, from: Date, to: Date) -> UsageReport {
        self.find_gaps(from, to);
        if self.refused > 0 {
            self.incomplete.insert(format!("gpulint ignored {} impossible values", self.refused));
        }
        let mut rows = self.workloads(from, to);
        rows.extend(self.pools(from, to));
        rows.extend(self.observers(from, to));
        let all: f64 = self.nodes.values().map(|it| it.points).sum();
        let nobody: f64 = self.devices.iter().filter(|((it, _), _)| it.pod.is_empty()).map(|(_, it)| it.points).sum();
        let hours = [all, all - nobody, nobody].map(|points| points / POINTS_AN_HOUR);
        UsageReport {
            rows,
            incomplete: self.incomplete.into_iter().collect(),
            notes: self.notes.into_iter().collect(),
            hours,
        }
    }

    /// Records the days without samples of an exporter that has samples on other days. A day without requests is not
    /// a gap.
    fn find_gaps(&mut self, from: Date, to: Date) {
        let days: Vec<Date> = (from.unix_days()..to.unix_days()).filter_map(Date::from_unix_days).collect();
        let exporters: BTreeSet<&str> = self.days.iter().filter(|(_, any)| **any).map(|((name, _), _)| *name).collect();
        let asked = |day: &Date| self.held.values().any(|it| it.contains_key(day));
        let mut gaps = Vec::new();
        for name in exporters {
            let Some(exporter) = table::exporter(name) else { continue };
            let is_there = |day: &Date| self.days.get(&(exporter.name, *day)).copied();
            let nobody_asked = |day: &Date| is_there(day).is_some() && self.is_observed(*day) && !asked(day);
            // A model server may be scaled to zero, so only a missing answer is a gap.
            let lacks = |day: &&Date| match exporter.is_meter() || exporter.name == table::OBSERVER {
                true => !is_there(day).unwrap_or_default() && !nobody_asked(day),
                false => is_there(day).is_none(),
            };
            let missing: Vec<String> = days.iter().filter(lacks).map(Date::to_string).collect();
            if !missing.is_empty() {
                let some = missing.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
                let more = if missing.len() > 3 { ", …" } else { "" };
                gaps.push(format!("{name}: {} of {} days have no samples ({some}{more})", missing.len(), days.len()));
            }
        }
        self.incomplete.extend(gaps);
    }

    fn is_observed(&self, day: Date) -> bool {
        self.there.values().any(|it| it.contains_key(&day))
    }

    fn key(&self, holder: &Holder, accelerator: &str) -> RowKey {
        let (kind, name) = self.owners.of(holder);
        let (cluster, namespace, container) = (&holder.cluster, &holder.namespace, &holder.container);
        (cluster.clone(), namespace.clone(), kind, name, container.clone(), accelerator.to_owned())
    }

    fn workloads(&self, from: Date, to: Date) -> Vec<UsageRow> {
        let mut found: BTreeMap<RowKey, Workload> = BTreeMap::new();
        let mut accelerators: BTreeMap<&Holder, (&str, f64)> = BTreeMap::new();
        for ((holder, accelerator), fold) in self.devices.iter().filter(|((it, _), _)| !it.pod.is_empty()) {
            found.entry(self.key(holder, accelerator)).or_default().devices.join(fold);
            let most = accelerators.entry(holder).or_insert((accelerator, fold.points));
            if fold.points > most.1 {
                *most = (accelerator, fold.points);
            }
        }
        for (holder, days) in &self.held {
            let key = match accelerators.get(holder) {
                Some((accelerator, _)) => self.key(holder, accelerator),
                None => nearest(&found, self.key(holder, "")),
            };
            let workload = found.entry(key).or_default();
            for (day, held) in days {
                workload.ask(*day, held);
            }
        }
        for (holder, days) in &self.served {
            let key = nearest(&found, self.key(holder, ""));
            let served = &mut found.entry(key).or_default().served;
            for (day, it) in days {
                served.entry(*day).or_default().join(it);
            }
        }
        let row = |(key, workload): (RowKey, Workload)| self.workload_row(key, &workload, from, to);
        found.into_iter().map(row).collect()
    }

    fn workload_row(&self, key: RowKey, of: &Workload, from: Date, to: Date) -> UsageRow {
        let (cluster, namespace, kind, name, container, accelerator) = key;
        let window = (to.since(from) as f64).max(1.0);
        let days: BTreeSet<Date> = of.devices.days.iter().chain(of.served.keys()).copied().collect();
        let observed = !self.there.is_empty();
        let coverage = match of.asked > 0.0 {
            true => Some((of.devices.raw / of.asked).min(1.0)),
            false if observed => None,
            false => Some(days.len() as f64 / window),
        };
        let serving = |all: fn(&ServedDay) -> Option<f64>| of.served.values().filter_map(all).reduce(|a, b| a + b);
        let most = |all: fn(&ServedDay) -> Option<f64>| of.served.values().filter_map(all).reduce(f64::max);
        let seconds = of.served.len() as f64 * 86_400.0;
        let present = if of.present > 0.0 { of.present } else { of.devices.present };
        let spread = days.len().max(of.asked_days.len()) as f64 * POINTS_A_DAY;
        let mut row = UsageRow {
            cluster,
            namespace,
            kind,
            name,
            container,
            accelerator,
            gpus: if of.accelerators > 0.0 { Some(of.accelerators) } else { of.devices.accelerators() },
            from,
            to,
            days: Some(days.len() as f64),
            coverage,
            requests_per_s: serving(|it| it.requests).map(|it| it / seconds),
            tokens_per_s: serving(|it| it.tokens).map(|it| it / seconds),
            running_max: most(|it| it.running),
            waiting_max: most(|it| it.waiting),
            kv_peak: most(|it| it.cache),
            preemptions: serving(|it| it.preemptions),
            replicas: (present > 0.0).then(|| present / spread),
            source: self.source(&of.devices, !of.served.is_empty()),
            ..UsageRow::default()
        };
        of.devices.fill(&mut row);
        if of.shared && row.shared.is_none() {
            row.shared = Some(1.0);
        }
        row
    }

    fn source(&self, devices: &UsageSums, served: bool) -> String {
        let mut source = devices.source();
        if source.is_empty() {
            source = if served { "server" } else { "kube-state-metrics" }.to_owned();
        }
        if self.there.is_empty() { format!("{source} (days only: no kube-state-metrics)") } else { source }
    }

    /// Returns one row for each node pool, and one for the nodes without a known pool.
    fn pools(&self, from: Date, to: Date) -> Vec<UsageRow> {
        let mut pools: BTreeMap<(&str, &str, &str), (UsageSums, BTreeSet<&str>)> = BTreeMap::new();
        for ((cluster, node, accelerator), fold) in &self.nodes {
            let pool = self.owners.pool(cluster, node).unwrap_or_default();
            let (all, nodes) = pools.entry((cluster, pool, accelerator)).or_default();
            all.join(fold);
            nodes.insert(node);
        }
        let by_pod = self.devices.keys().any(|(it, _)| !it.pod.is_empty()) || !self.there.is_empty();
        let row = |((cluster, pool, accelerator), (fold, nodes)): ((&str, &str, &str), (UsageSums, BTreeSet<&str>))| {
            let days = (fold.days.len() as f64).max(1.0);
            let (kind, name) = if pool.is_empty() { ("Nodes", "(pool not known)") } else { ("NodePool", pool) };
            let mut row = UsageRow {
                cluster: cluster.to_owned(),
                kind: kind.to_owned(),
                name: name.to_owned(),
                accelerator: accelerator.to_owned(),
                gpus: fold.accelerators(),
                from,
                to,
                days: Some(fold.days.len() as f64),
                coverage: Some(days / (to.since(from) as f64).max(1.0)),
                replicas: (!nodes.is_empty()).then(|| fold.present / (days * POINTS_A_DAY)),
                unallocated: by_pod.then(|| fold.nobody / fold.points).filter(|it| it.is_finite()),
                source: fold.source(),
                ..UsageRow::default()
            };
            fold.fill(&mut row);
            // The rows of workloads report sharing, so the rows of pools do not.
            row.shared = None;
            row
        };
        pools.into_iter().map(row).collect()
    }

    fn observers(&self, from: Date, to: Date) -> Vec<UsageRow> {
        let window = (to.since(from) as f64).max(1.0);
        let row = |(cluster, days): (&String, &BTreeMap<Date, f64>)| UsageRow {
            cluster: cluster.clone(),
            kind: OBSERVER.to_owned(),
            name: "kube-state-metrics".to_owned(),
            from,
            to,
            days: Some(days.len() as f64),
            coverage: Some((days.values().sum::<f64>() / (window * POINTS_A_DAY)).min(1.0)),
            source: "kube-state-metrics".to_owned(),
            ..UsageRow::default()
        };
        self.there.iter().map(row).collect()
    }
}

/// The devices, requests and served traffic of a workload's container.
#[derive(Default)]
struct Workload {
    devices: UsageSums,
    served: BTreeMap<Date, ServedDay>,
    accelerators: f64,
    asked: f64,
    present: f64,
    asked_days: BTreeSet<Date>,
    shared: bool,
}

impl Workload {
    fn ask(&mut self, day: Date, held: &HeldDay) {
        self.accelerators = self.accelerators.max(held.accelerators);
        self.asked += held.points;
        self.present += held.present;
        self.asked_days.insert(day);
        self.shared |= held.shared;
    }
}

/// Returns the row that receives data without an accelerator: the row of the same container, or else the workload's
/// busiest row.
fn nearest(found: &BTreeMap<RowKey, Workload>, key: RowKey) -> RowKey {
    let same = found.iter().filter(|(it, _)| (&it.0, &it.1, &it.2, &it.3) == (&key.0, &key.1, &key.2, &key.3));
    let rank = |(it, of): &(&RowKey, &Workload)| (it.4 == key.4, of.devices.points);
    let best = same.max_by(|one, two| {
        let ((own, points), (other, more)) = (rank(one), rank(two));
        own.cmp(&other).then(points.total_cmp(&more))
    });
    best.map_or(key.clone(), |(it, _)| it.clone())
}

fn cluster_label(labels: &SeriesLabels) -> &str {
    let said = label(labels, "cluster");
    if said.is_empty() { label(labels, "cluster_name") } else { said }
}

impl UsageReport {
    /// Whether any row contains a measurement. The presence of kube-state-metrics alone does not count.
    pub fn has_measured(&self) -> bool {
        let any = |row: &UsageRow| row.gpu_hours.is_some() || row.busy.is_some() || row.running_max.is_some();
        self.rows.iter().any(any)
    }
}
