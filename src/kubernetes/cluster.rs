//! Describes the tables of kinds, devices and node labels for policies of a cluster.

use super::rows::devices::{DEVICES, LabelMeaning};
use super::rows::path::{ManifestPath, ManifestStep};
use super::rows::table::{Factor, KINDS, KindRow, Pods};
use super::rows::writing::KindConstant;

/// The place of pods in an object.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterPods {
    pub steps: Vec<ManifestStep>,
    /// Whether the path leads to a template, and not to a pod specification.
    pub is_template: bool,
    pub count: ClusterCount,
}

/// The number of pods.
#[derive(Debug, Clone, PartialEq)]
pub enum ClusterCount {
    /// The object does not determine the number.
    Unknown,
    /// The number at a path, by default 1. `most` limits it; a flag at one of `suspended` stops all pods.
    Field { at: Option<Vec<ManifestStep>>, most: Option<Vec<ManifestStep>>, suspended: Vec<Vec<ManifestStep>> },
    /// Other fields determine the number.
    Other,
}

/// The resource keys of accelerators.
#[derive(Debug, Clone, Default)]
pub struct ClusterDevices {
    /// Keys, each with its vendor, that request whole devices or slices.
    pub keys: Vec<(String, String)>,
    /// The same for keys with `*`.
    pub patterns: Vec<(String, String)>,
    /// Keys and patterns of the shares that are requested of the devices of another key.
    pub shares: Vec<String>,
    /// Keys and patterns of devices that are parts of an accelerator.
    pub partial: Vec<String>,
    /// Keys of shares that request a device on their own.
    pub alone: Vec<String>,
    /// Keys and patterns that name the accelerator or a slice of it.
    pub named: Vec<String>,
    /// Annotations that request a device.
    pub annotations: Vec<String>,
    /// Variables that give a container the devices of its node, each with the values that give none, and the beginning
    /// of the names of runtime classes that read it.
    pub variables: Vec<(String, Vec<String>, String)>,
}

/// A node label.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterLabel {
    pub key: String,
    pub fact: Option<LabelMeaning>,
    /// The meaning of each value; empty if the values mean themselves.
    pub map: Vec<(String, String)>,
    /// Whether the label has one meaning for any value, several values in one string, or another unit.
    pub is_special: bool,
}

/// Returns the API groups in which gpulint knows a kind, without groups of values and commands.
pub fn cluster_groups(kind: &str) -> Vec<&'static str> {
    let rows = KINDS.known().iter().map(|known| known.row()).filter(|row| row.kind == kind && !row.is_of_values());
    rows.flat_map(|row| row.groups.iter().map(String::as_str)).collect()
}

/// Returns the places of the pods of a kind; an error if an API server cannot find all of them by their path.
pub fn cluster_pods(group: &str, kind: &str) -> Result<Vec<ClusterPods>, String> {
    let unknown =
        || format!("gpulint knows the pods of {kind} only by their shape, which the API server cannot search");
    let row = KINDS.find(group, kind).ok_or_else(unknown)?;
    let complicated =
        || format!("the pods of {kind} depend on more than their templates, which the API server cannot evaluate");
    if row.others || row.borrows.is_some() || !row.values.is_empty() || row.stopped.is_some() {
        return Err(complicated());
    }
    let mut found = Vec::new();
    for pods in &row.pods {
        found.push(place(row, pods).ok_or_else(complicated)?);
    }
    for holds in row.holds.iter().filter(|holds| !holds.apart) {
        let (Some(at), Some(kind), true) = (&holds.at, &holds.kind, holds.count.is_empty() && holds.enabled.is_none())
        else {
            return Err(complicated());
        };
        let (group, kind) = kind.rsplit_once('/').unwrap_or(("", kind));
        for inner in cluster_pods(group, kind)? {
            found.push(inner.within(at.steps(), row));
        }
    }
    Ok(found)
}

fn place(row: &KindRow, pods: &Pods) -> Option<ClusterPods> {
    let path = pods.template.as_ref().or(pods.spec.as_ref())?;
    let is_plain = pods.containers.is_empty() && pods.resources.is_empty() && pods.limits.is_empty();
    let is_plain = is_plain && pods.selectors.is_empty() && pods.around.is_none() && pods.terms.is_none();
    let is_plain = is_plain && pods.amount.is_none() && pods.devices.is_empty() && pods.claims.is_empty();
    let is_plain =
        is_plain && pods.patch.is_none() && pods.keys.is_empty() && pods.enabled.is_none() && pods.unless.is_none();
    let count = count(row, pods);
    is_plain.then(|| ClusterPods { steps: path.steps(), is_template: pods.template.is_some(), count })
}

fn count(row: &KindRow, pods: &Pods) -> ClusterCount {
    let suspended = row.suspended.iter().map(|path| path.steps()).collect();
    match pods.count.as_slice() {
        _ if row.template => ClusterCount::Other,
        [] => ClusterCount::Field { at: None, most: None, suspended },
        [Factor { unknown: Some(_), .. }] => ClusterCount::Unknown,
        [Factor { at: Some(at), most, .. }] if pods.count.first().is_some_and(is_plain_factor) => {
            ClusterCount::Field { at: Some(at.steps()), most: most.as_ref().map(|path| path.steps()), suspended }
        }
        _ => ClusterCount::Other,
    }
}

/// Returns true if the number is in one field, which another one may limit.
fn is_plain_factor(factor: &Factor) -> bool {
    let has_range =
        factor.min.is_some() || factor.max.is_some() || !factor.or_min.is_empty() || !factor.or_max.is_empty();
    let differs = factor.less_if.is_some() || factor.more_if.is_some() || factor.scaled_if.is_some();
    !has_range && !differs && !factor.open && factor.max_default.is_none() && factor.default.is_none_or(|it| it == 1.0)
}

impl ClusterPods {
    /// Returns the place of the pods of an object that is a part of another one.
    fn within(self, outer: Vec<ManifestStep>, row: &KindRow) -> ClusterPods {
        let moved = |path: Vec<ManifestStep>| outer.iter().cloned().chain(path).collect::<Vec<_>>();
        let count = match self.count {
            ClusterCount::Field { at, most, suspended } => {
                let own = row.suspended.iter().map(|path| path.steps());
                let suspended = own.chain(suspended.into_iter().map(moved)).collect();
                ClusterCount::Field { at: at.map(moved), most: most.map(moved), suspended }
            }
            other => other,
        };
        ClusterPods { steps: moved(self.steps), is_template: self.is_template, count }
    }
}

/// The places of the node labels of a pool whose machine types only these labels determine.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterPool {
    /// Lists of `{key, operator, values}`.
    pub requirements: Vec<Vec<ManifestStep>>,
    /// Mappings.
    pub labels: Vec<Vec<ManifestStep>>,
    /// The way of buying if no label sets one.
    pub purchase: Option<String>,
}

/// Facts of a pool that do not depend on its machine type.
const ASIDE: [&str; 5] = ["autoscaled", "flexible", "idle_minutes", "scale_down", "purchase"];

/// Returns the pool of a kind; `None` if its objects have pods, or if other fields determine the machine type.
pub fn cluster_pool(group: &str, kind: &str) -> Option<ClusterPool> {
    let row = KINDS.find(group, kind).filter(|row| row.pods.is_empty() && row.holds.is_empty())?;
    let [machines] = row.machines.as_slice() else { return None };
    let is_plain = machines.each.is_none() && machines.runs.is_none() && !machines.requirements.is_empty();
    if !is_plain || !machines.facts.keys().all(|fact| ASIDE.contains(&fact.as_str())) {
        return None;
    }
    let purchase = match machines.facts.get("purchase").map(|sources| sources.0.as_slice()) {
        None => None,
        Some([source]) if source.at.0.is_empty() => match source.default.as_ref()? {
            KindConstant::Text(text) => Some(text.clone()),
            _ => return None,
        },
        Some(_) => return None,
    };
    let steps = |paths: &[ManifestPath]| paths.iter().map(ManifestPath::steps).collect();
    Some(ClusterPool { requirements: steps(&machines.requirements), labels: steps(&machines.labels), purchase })
}

/// Returns the resource keys of accelerators.
pub fn cluster_devices() -> ClusterDevices {
    let mut all = ClusterDevices::default();
    for device in DEVICES.all() {
        let entry = (device.key.clone(), device.vendor.clone());
        if device.shared || device.per.is_some() {
            all.partial.push(device.key.clone());
        }
        if device.slice || device.named || device.chip.is_some() {
            all.named.push(device.key.clone());
        }
        if device.key.contains('*') { all.patterns.push(entry) } else { all.keys.push(entry) }
    }
    all.keys.extend(DEVICES.whole_classes().map(|(key, device)| (key, device.vendor.clone())));
    all.shares.extend(DEVICES.all_shares().map(|share| share.key.clone()));
    let alone = DEVICES.all_shares().filter(|share| share.vendor.is_some());
    all.alone.extend(alone.map(|share| share.key.clone()));
    all.annotations.extend(DEVICES.all_annotations().map(str::to_owned));
    let variables = DEVICES.unrequested.iter();
    all.variables.extend(variables.map(|way| (way.variable.clone(), way.none.clone(), way.runtime.clone())));
    for list in [&mut all.shares, &mut all.partial, &mut all.named, &mut all.alone, &mut all.annotations] {
        list.sort();
    }
    all.keys.sort();
    all.patterns.sort();
    all
}

/// Returns all node labels with a meaning.
pub fn cluster_labels() -> Vec<ClusterLabel> {
    let labels = DEVICES.all_labels().map(|label| ClusterLabel {
        key: label.key.clone(),
        fact: label.fact,
        map: label.map.iter().map(|(from, to)| (from.clone(), to.clone())).collect(),
        is_special: label.any.is_some() || label.split.is_some() || label.scale.is_some(),
    });
    let mut labels: Vec<ClusterLabel> = labels.collect();
    labels.sort_by(|a, b| a.key.cmp(&b.key));
    labels
}

/// Returns patterns of the names of pools and classes that reveal a machine or an accelerator.
pub fn names_of_pools() -> Vec<&'static str> {
    DEVICES.names.iter().map(|name| name.written.as_str()).collect()
}
