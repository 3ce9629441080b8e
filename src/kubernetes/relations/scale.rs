//! Applies autoscalers, which control the number of other objects.

use std::sync::Arc;

use crate::inventory::{
    Fact, FactOrigin, FactValue, Key, KnownFact, Link, LinkKind, Range, ScheduleEntry, ScheduledSize, Until,
};
use crate::languages::yaml::Node;
use crate::source::Span;

use crate::kubernetes::objects::index::distance;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::pods::chart_objects::{MadeObject, is_made};
use crate::kubernetes::pods::workload::FoundResource;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::Scales;

use super::nearby;

/// An object that controls the number of another one.
#[derive(Debug)]
pub(in crate::kubernetes) struct Scaler {
    address: String,
    kind: Arc<str>,
    name: Arc<str>,
    namespace: Option<Arc<str>>,
    count: Fact<Range>,
    wakes: bool,
    looks_at: Fact<FactValue>,
    cooldown: Fact<FactValue>,
    shifts: Vec<ScheduleEntry>,
    /// The position of the target's name.
    span: Span,
}

impl Scaler {
    pub(in crate::kubernetes) fn new(object: &KubernetesObject<'_>, scales: &Scales) -> Option<Self> {
        let target = scales.target.first(object.root)?;
        let name = target.get("name")?;
        let kind = target.text_at("kind").cloned().or(scales.kind.as_ref().map(|kind| kind.as_str().into()))?;
        let read = |path: &Option<ManifestPath>| {
            let node = path.as_ref().and_then(|path| path.first(object.root));
            node.map_or(Fact::Absent, amount::number)
        };
        // A paused autoscaler has neither limits nor schedules.
        let held = read(&scales.held);
        let (min, max) = match &held {
            Fact::Absent => (read(&scales.min), read(&scales.max)),
            held => (held.clone(), held.clone()),
        };
        let count = match (min, max, scales.ceiling) {
            (Fact::Unknown(unknown), ..) | (_, Fact::Unknown(unknown), _) => Fact::unknown(unknown.why, unknown.span),
            (min, max, ceiling) => {
                let idle = read(&scales.idle).value().copied();
                let floor = idle.or(min.value().copied()).unwrap_or(scales.floor);
                let span = max.span().or(min.span()).unwrap_or(name.span);
                let ceiling = max.value().copied().or(ceiling).unwrap_or(f64::INFINITY);
                Fact::known(Range::between(floor, None, ceiling), span, FactOrigin::Resolved)
            }
        };
        Some(Scaler {
            shifts: if held.is_absent() { windows(object, scales) } else { Vec::new() },
            address: object.address(),
            kind,
            name: name.text()?.clone(),
            namespace: object.namespace.clone(),
            count,
            wakes: scales.wakes,
            looks_at: looks_at(object, scales),
            cooldown: read(&scales.cooldown).map(FactValue::Number),
            span: name.span,
        })
    }

    fn scales(&self, found: &FoundResource) -> bool {
        let same_space = match (&self.namespace, &found.namespace) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        let is_own = found.kind == *self.kind && found.name.as_deref() == Some(&self.name);
        (is_own || is_made(found.made.as_ref(), &self.kind, &self.name)) && same_space
    }
}

/// Returns the schedule of its time-based triggers.
fn windows(object: &KubernetesObject<'_>, scales: &Scales) -> Vec<ScheduleEntry> {
    let Some(windows) = &scales.windows else { return Vec::new() };
    let triggers = windows.each.all(object.root);
    let is_clock = |node: &Node| node.text_at("type").is_some_and(|kind| **kind == *windows.kind);
    let text = |node: Option<&Node>| match node.map(|node| (node.text(), node.span)) {
        Some((Some(text), span)) => match amount::placeholder(text) {
            Some(why) => Fact::unknown(why, span),
            None => Fact::written(text.clone(), span),
        },
        _ => Fact::Absent,
    };
    let shifts = triggers.iter().filter(|it| is_clock(it.node)).filter_map(|it| {
        let said = it.node.get("metadata")?;
        let count = said.get("desiredReplicas").map_or(Fact::Absent, amount::number);
        let change = ScheduledSize::AtLeast { count, until: Until::Cron(text(said.get("end"))) };
        Some(ScheduleEntry {
            at: text(said.get("start")),
            zone: text(said.get("timezone")),
            change,
            span: it.node.span,
        })
    });
    shifts.collect()
}

/// Returns the names of all metrics that it uses.
fn looks_at(object: &KubernetesObject<'_>, scales: &Scales) -> Fact<FactValue> {
    let found: Vec<_> = scales.metrics.iter().flat_map(|path| path.all(object.root)).collect();
    let mut names: Vec<Arc<str>> = Vec::new();
    for metric in &found {
        match metric.node.text().map(|text| (text, amount::placeholder(text))) {
            Some((_, Some(why))) => return Fact::unknown(why, metric.node.span),
            Some((text, None)) if !names.contains(text) => names.push(text.clone()),
            _ => {}
        }
    }
    match (found.first(), &scales.default_metric) {
        (Some(first), _) => Fact::written(FactValue::List(names), first.node.span),
        (None, Some(name)) => {
            Fact::known(FactValue::List(vec![name.as_str().into()]), object.head, FactOrigin::Default)
        }
        (None, None) => Fact::Absent,
    }
}

/// Applies each autoscaler to the nearest workload with the target name. Of two autoscalers for one workload, the
/// nearer one counts. If they are equally near, they are alternatives, and the first by path counts.
pub(in crate::kubernetes) fn apply(scalers: &[(Arc<str>, Scaler)], found: &mut [(Arc<str>, FoundResource)]) {
    let mut by_target: std::collections::HashMap<(&str, &str), Vec<usize>> = std::collections::HashMap::new();
    let names: Vec<(String, Option<Arc<str>>)> =
        found.iter().map(|(_, found)| (found.kind.clone(), found.name.clone())).collect();
    let made: Vec<(usize, MadeObject)> =
        found.iter().enumerate().filter_map(|(place, (_, it))| Some((place, it.made.clone()?))).collect();
    for (place, (kind, name)) in names.iter().enumerate() {
        if let Some(name) = name {
            by_target.entry((kind, name)).or_default().push(place);
        }
    }
    for (place, (kind, name)) in &made {
        by_target.entry((kind, name)).or_default().push(*place);
    }
    let mut chosen: Vec<(usize, usize, usize)> = Vec::new();
    for (number, (path, scaler)) in scalers.iter().enumerate() {
        let targets = by_target.get(&(&*scaler.kind, &*scaler.name)).map(Vec::as_slice).unwrap_or_default();
        let targets: Vec<(usize, &Arc<str>)> = targets
            .iter()
            .filter_map(|&at| found.get(at).filter(|(_, it)| scaler.scales(it)).map(|(to, _)| (at, to)))
            .collect();
        let is_only = nearby::is_one_folder(targets.iter().map(|(_, to)| &***to));
        let targets: Vec<(usize, usize)> = targets
            .into_iter()
            .filter(|(_, to)| nearby::why(path, to, is_only).is_some())
            .map(|(at, to)| (distance(path, to), at))
            .collect();
        let nearest = targets.iter().map(|(far, _)| *far).min();
        chosen.extend(targets.iter().filter(|(far, _)| Some(*far) == nearest).map(|&(far, at)| (at, far, number)));
    }
    chosen.sort_unstable();
    let mut last = None;
    for (at, _, number) in chosen {
        let (Some((to, found)), Some((path, scaler))) = (found.get_mut(at), scalers.get(number)) else { continue };
        let Some(why) = nearby::why(path, to, true) else { continue };
        let first = last != Some(at);
        last = Some(at);
        attach(found, scaler, first, why);
    }
}

fn attach(found: &mut FoundResource, scaler: &Scaler, decides: bool, why: Arc<str>) {
    let resource = &mut found.resource;
    // A cluster refuses an autoscaler with a maximum of 0, so the number of the workload applies.
    let allows_none = scaler.count.value().is_some_and(|range| range.ceiling < 1.0);
    let why = if allows_none {
        format!("{why}; Kubernetes refuses a maximum of 0, so it changes nothing").into()
    } else {
        why
    };
    resource.links.push(Link { kind: LinkKind::Autoscaler, to: scaler.address.clone(), span: scaler.span, why });
    if allows_none {
        return;
    }
    // A workload with 0 replicas does not run, unless its autoscaler starts from 0.
    let says_none = resource.count.value().is_some_and(|range| range.ceiling == 0.0);
    if !decides || says_none && !scaler.wakes {
        return;
    }
    resource.set(Key::Autoscaled, Fact::known(FactValue::Flag(true), scaler.span, FactOrigin::Resolved));
    resource.set(Key::AutoscaledOn, scaler.looks_at.clone());
    resource.set(Key::Cooldown, scaler.cooldown.clone());
    let stated = match &resource.count {
        Fact::Known(KnownFact { value, origin: FactOrigin::Written | FactOrigin::Resolved, .. }) => {
            Some(value.expected)
        }
        _ => None,
    };
    // The workload's own number is not the starting point of a schedule.
    let stated = stated.filter(|_| scaler.shifts.is_empty());
    resource.count = scaler.count.clone().map(|range| Range::between(range.floor, stated, range.ceiling));
    resource.shifts = scaler.shifts.clone();
}
