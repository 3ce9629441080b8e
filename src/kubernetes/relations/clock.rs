//! Applies CronJobs that scale workloads at fixed times with `kubectl scale`.

use std::sync::Arc;

use crate::inventory::{Fact, Link, LinkKind, ScheduleEntry, ScheduledSize, programs};
use crate::kubernetes::objects::index::distance;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::pods::chart_objects::is_made;
use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::rows::amount;
use crate::languages::yaml::Node;
use crate::source::Span;

use super::nearby;

/// The limit on commands of a tree; further ones are not read.
const MOST: usize = 2_000;

/// A workload that a CronJob scales.
pub(in crate::kubernetes) struct ClockScaler {
    path: Arc<str>,
    address: String,
    span: Span,
    kind: &'static str,
    name: String,
    namespace: Option<Arc<str>>,
    entry: ScheduleEntry,
}

impl ClockScaler {
    /// Returns the workloads that an object scales at fixed times.
    pub(in crate::kubernetes) fn find(path: &Arc<str>, object: &KubernetesObject<'_>) -> Vec<ClockScaler> {
        if object.kind != "CronJob" || object.root.at("spec.suspend").and_then(Node::flag) == Some(true) {
            return Vec::new();
        }
        let Some(schedule) = object.root.at("spec.schedule") else { return Vec::new() };
        let pod = object.root.at("spec.jobTemplate.spec.template.spec");
        let containers = pod.and_then(|pod| pod.get("containers")).map(Node::items).unwrap_or_default();
        let mut all = Vec::new();
        for part in containers {
            let lists = ["command", "args"].into_iter().filter_map(|key| part.get(key));
            let words: Vec<&str> = lists.flat_map(Node::items).filter_map(Node::text).map(|text| &**text).collect();
            for command in programs::scale_commands(&words) {
                let count = match command.replicas {
                    Some(count) => Fact::written(count, part.span),
                    None => Fact::unknown("a command sets it to a value that is not in the file", part.span),
                };
                let change = ScheduledSize::Set { min: count.clone(), desired: count.clone(), max: count };
                let entry = ScheduleEntry {
                    at: known(schedule),
                    zone: object.root.at("spec.timeZone").map_or(Fact::Absent, known),
                    change,
                    span: part.span,
                };
                let namespace = command.namespace.as_deref().map(Into::into).or_else(|| object.namespace.clone());
                all.extend(command.targets.into_iter().map(|(kind, name)| ClockScaler {
                    path: path.clone(),
                    address: object.address(),
                    span: part.span,
                    kind,
                    name,
                    namespace: namespace.clone(),
                    entry: entry.clone(),
                }));
            }
        }
        all
    }

    fn scales(&self, found: &FoundResource) -> bool {
        let is_own = found.kind == self.kind && found.name.as_deref() == Some(&*self.name);
        let same_space = match (&self.namespace, &found.namespace) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        same_space && (is_own || is_made(found.made.as_ref(), self.kind, &self.name))
    }
}

fn known(node: &Node) -> Fact<Arc<str>> {
    let Some(text) = node.text() else { return Fact::Absent };
    match amount::placeholder(text) {
        Some(why) => Fact::unknown(why, node.span),
        None => Fact::written(text.clone(), node.span),
    }
}

/// Adds each scheduled size to the nearest workload with the target name.
pub(in crate::kubernetes) fn apply(scalers: &[ClockScaler], found: &mut [(Arc<str>, FoundResource)]) {
    for scaler in scalers.iter().take(MOST) {
        let targets = || found.iter().enumerate().filter(|(_, (_, it))| scaler.scales(it));
        let is_only = nearby::is_one_folder(targets().map(|(_, (to, _))| &**to));
        let near = targets().filter_map(|(at, (to, _))| {
            Some((distance(&scaler.path, to), at, nearby::why(&scaler.path, to, is_only)?))
        });
        let Some((_, at, why)) = near.min_by_key(|(far, at, _)| (*far, *at)) else { continue };
        let Some((_, target)) = found.get_mut(at) else { continue };
        let link = Link { kind: LinkKind::Stop, to: scaler.address.clone(), span: scaler.span, why };
        target.resource.links.push(link);
        target.resource.shifts.push(scaler.entry.clone());
    }
}
