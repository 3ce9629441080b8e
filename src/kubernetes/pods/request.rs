//! Computes the accelerators that one pod requests: sums over containers, maxima over init containers, shares of
//! devices.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin};
use crate::languages::yaml::Node;
use crate::source::{AdaptiveRegex, Span};

use super::claims;
use super::pod::{Pod, PodContainer};
use crate::kubernetes::objects::index::ObjectIndex;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::devices::{DEVICES, DeviceClass};
use crate::kubernetes::rows::table::KeyedAmount;

/// The reason why the requested share of a device is unknown if slices have several sizes.
pub(in crate::kubernetes) const SIZES: &str = "the pod requests slices of several sizes";

/// The resource key for fields that contain only a number of GPUs.
const USUAL: &str = "nvidia.com/gpu";

/// The accelerators that a pod requests.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct PodRequest {
    pub count: Fact<f64>,
    /// The resource key of whole devices. `None` for parts of devices and for claims.
    pub key: Option<Arc<str>>,
    pub slice: Option<(Arc<str>, Span)>,
    pub vendor: String,
    /// The accelerator, if the request determines it.
    pub chip: Fact<Arc<str>>,
    pub provider: Option<String>,
    pub span: Span,
    /// Device claims that other pods may use, too.
    pub shared: Vec<String>,
    /// All claims, with the places of their names.
    pub claims: Vec<(String, Span)>,
}

/// Returns the request of a pod; `None` if it contains no accelerator.
pub(in crate::kubernetes) fn accelerators(pod: &Pod, index: &ObjectIndex<'_>) -> Option<PodRequest> {
    let mut sum = Tally::default();
    for part in &pod.containers {
        sum.add(part, pod);
    }
    let mut most = sum;
    let mut staying = Tally::default();
    for init in &pod.init {
        let mut own = Tally::default();
        own.add(&init.part, pod);
        match init.stays {
            true => staying.join(own),
            false => most.raise(own.while_others_run(&staying)),
        }
    }
    most.apart(pod);
    most.request().or_else(|| annotated(pod)).or_else(|| claims::request(pod, index))
}

/// Returns whether this container requests accelerators.
pub(in crate::kubernetes) fn asks(part: &PodContainer) -> bool {
    let sides = ["limits", "requests"].into_iter().filter_map(|side| part.resources.as_ref()?.get(side));
    sides.flat_map(Node::entries).any(|entry| DEVICES.is_asked_by(&entry.key))
        || part.node.at("resources.claims").is_some()
        || part.apart
}

/// Returns the share of a device that a scheduler reads from an annotation.
fn annotated(pod: &Pod) -> Option<PodRequest> {
    let annotations = pod.frame.as_ref()?.at("metadata.annotations")?;
    let (entry, device) =
        annotations.entries().iter().find_map(|entry| Some((entry, DEVICES.annotation(&entry.key)?)))?;
    let span = entry.span();
    let count = if device.shared {
        Fact::unknown("the share of a device depends on its memory", span)
    } else {
        amount::amount(&entry.value)
    };
    Some(PodRequest::new(device, count, span))
}

impl PodRequest {
    pub(in crate::kubernetes) fn new(device: &DeviceClass, count: Fact<f64>, span: Span) -> Self {
        PodRequest {
            count,
            key: None,
            slice: None,
            vendor: device.vendor.clone(),
            chip: device.chip.as_ref().map_or(Fact::Absent, |chip| Fact::written(chip.as_str().into(), span)),
            provider: device.provider.clone(),
            span,
            shared: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// Adds the devices of another claim.
    pub(in crate::kubernetes) fn add(&mut self, other: &PodRequest) {
        let size = |request: &PodRequest| request.slice.as_ref().map(|(size, _)| size.clone());
        self.count = match size(self) == size(other) {
            true => plus(std::mem::take(&mut self.count), other.count.clone()),
            false => Fact::unknown(SIZES, self.span),
        };
    }

    /// Marks the request as inferred.
    pub(in crate::kubernetes) fn weaken(&mut self, why: &str) {
        let origin = FactOrigin::Inferred(why.into());
        if let Fact::Known(known) = &mut self.count {
            known.origin = known.origin.clone().weakest(origin.clone());
        }
        if let Fact::Known(known) = &mut self.chip {
            known.origin = known.origin.clone().weakest(origin);
        }
    }
}

/// Amounts by resource key.
#[derive(Debug, Clone, Default)]
struct Tally {
    amounts: BTreeMap<Arc<str>, (Fact<f64>, Span)>,
}

impl Tally {
    fn add(&mut self, part: &PodContainer, pod: &Pod) {
        let Some(resources) = &part.resources else { return };
        let mut own: BTreeMap<&str, (Fact<f64>, Span)> = BTreeMap::new();
        for side in ["limits", "requests"] {
            for entry in resources.get(side).map(Node::entries).unwrap_or_default() {
                let key = pod.long_key(&entry.key);
                if DEVICES.device(key).is_some() || DEVICES.share(key).is_some() {
                    let span = entry.span();
                    own.entry(key).or_insert_with(|| (asked(&entry.value, part, span), span));
                }
            }
        }
        let share = share(&own);
        if !own.keys().any(|key| DEVICES.device(key).is_some())
            && let Some((key, (amount, span))) = own.iter().find(|(key, _)| DEVICES.shared(key).is_some())
        {
            let device = amount.clone().map(|amount| if amount > 0.0 { 1.0 } else { 0.0 });
            self.put(key, scaled(device, DEVICES.shared(key), share.as_ref(), *span), *span);
        }
        for (key, (count, span)) in own {
            if let Some((device, _)) = DEVICES.device(key) {
                self.put(key, scaled(count, Some(device), share.as_ref(), span), span);
            }
        }
    }

    /// Adds requests that are defined outside containers: a key and an amount in separate fields, or single devices.
    fn apart(&mut self, pod: &Pod) {
        let Some(row) = pod.row else { return };
        if let Some(amount) = &row.amount
            && let Some((count, span)) = amount_of(amount, &pod.spec)
        {
            let key = amount.key.as_ref().and_then(|path| path.first(&pod.spec)?.text());
            let key = key.map_or(amount.is.as_deref().unwrap_or(USUAL), |key| pod.long_key(key));
            // The request of a container counts instead, if it has the same key.
            if DEVICES.device(key).is_some() && !self.amounts.contains_key(key) {
                self.put(key, count, span);
            }
        }
        for found in row.devices.iter().flat_map(|path| path.all(&pod.spec)) {
            let Some(name) = found.node.text() else { continue };
            let known = DEVICES.device(name).is_some();
            self.put(if known { name } else { USUAL }, Fact::written(1.0, found.node.span), found.node.span);
        }
    }

    fn put(&mut self, key: &str, count: Fact<f64>, span: Span) {
        match self.amounts.get_mut(key) {
            Some((sum, _)) => *sum = plus(std::mem::take(sum), count),
            None => {
                self.amounts.insert(key.into(), (count, span));
            }
        }
    }

    fn join(&mut self, other: Tally) {
        for (key, (count, span)) in other.amounts {
            self.put(&key, count, span);
        }
    }

    /// Returns the amounts that are needed while other containers run, for each key that this container requests.
    fn while_others_run(mut self, others: &Tally) -> Tally {
        for (key, (count, _)) in &mut self.amounts {
            if let Some((more, _)) = others.amounts.get(key) {
                *count = plus(std::mem::take(count), more.clone());
            }
        }
        self
    }

    fn raise(&mut self, other: Tally) {
        for (key, (count, span)) in other.amounts {
            match self.amounts.get(&key) {
                Some((known, _)) if known.value() >= count.value() || known.is_unknown() => {}
                _ => {
                    self.amounts.insert(key, (count, span));
                }
            }
        }
    }

    /// Returns the request. The key with the largest amount determines the device, and slices of several sizes are
    /// added up.
    fn request(self) -> Option<PodRequest> {
        let asked = |count: &Fact<f64>| count.value() != Some(&0.0) && !count.is_absent();
        let mut wanted: Vec<_> = self.amounts.into_iter().filter(|(_, (count, _))| asked(count)).collect();
        let amount = |count: &Fact<f64>| count.value().copied().unwrap_or(0.0);
        wanted.sort_by(|(_, (a, _)), (_, (b, _))| amount(b).total_cmp(&amount(a)));
        let mut wanted = wanted.into_iter();
        let (key, (mut count, span)) = wanted.next()?;
        let (device, rest) = DEVICES.device(&key).or_else(|| Some((DEVICES.shared(&key)?, "")))?;
        for (other, (more, _)) in wanted {
            let Some((also, size)) = DEVICES.device(&other) else { continue };
            if also.vendor == device.vendor && also.slice == device.slice {
                count = plus(count, more);
                if device.slice && size != rest {
                    count = Fact::unknown(SIZES, span);
                }
            }
        }
        let mut request = PodRequest::new(device, count, span);
        let is_whole = !device.slice && !device.shared && device.per.is_none();
        request.key = is_whole.then(|| key.clone());
        request.slice = device.slice.then(|| (Arc::from(rest), span));
        if device.named {
            let name = key.rsplit('/').next().unwrap_or(rest);
            request.chip = Fact::written(name.into(), span);
        }
        Some(request)
    }
}

/// Returns an amount. In a container with an image, a key without an amount makes the request unknown. Elsewhere, it
/// removes the amount of other layers.
fn asked(amount: &Node, part: &PodContainer, span: Span) -> Fact<f64> {
    match amount::amount(amount) {
        Fact::Absent if part.node.text_at("image").is_some() => Fact::unknown("no amount is set", span),
        other => other,
    }
}

/// Returns an amount outside containers, or its default.
fn amount_of(amount: &KeyedAmount, spec: &Node) -> Option<(Fact<f64>, Span)> {
    if let Some(node) = amount.count.first(spec) {
        return Some((written(node, amount.pattern.as_deref())?, node.span));
    }
    let default = amount.default.as_ref()?;
    let span = default.beside.first(spec)?.span;
    Some((Fact::known(default.is, span, FactOrigin::Default), span))
}

/// Returns an amount. If `part` is given, the amount is a part of a string: `nvidia-gpu-l4:2`.
fn written(node: &Node, part: Option<&str>) -> Option<Fact<f64>> {
    let Some(part) = part else { return Some(amount::amount(node)) };
    let number = AdaptiveRegex::new(part).first_group(node.text()?)?.parse().ok()?;
    Some(Fact::written(number, node.span))
}

pub(in crate::kubernetes) fn plus(a: Fact<f64>, b: Fact<f64>) -> Fact<f64> {
    match (a, b) {
        (Fact::Known(mut a), Fact::Known(b)) => {
            a.value += b.value;
            Fact::Known(a)
        }
        (Fact::Unknown(unknown), _) | (_, Fact::Unknown(unknown)) => Fact::Unknown(unknown),
        (Fact::Absent, other) | (other, Fact::Absent) => other,
    }
}

/// Returns the share of a device that a container requests: `Ok` with a fraction, `Err` if it depends on the device.
fn share(own: &BTreeMap<&str, (Fact<f64>, Span)>) -> Option<Result<f64, Span>> {
    let mut open = None;
    let mut known: Option<f64> = None;
    for (key, (amount, span)) in own {
        let Some(share) = DEVICES.share(key) else { continue };
        match (share.whole, amount.value()) {
            (Some(whole), Some(amount)) => {
                let part = (amount / whole).min(1.0);
                known = Some(known.map_or(part, |other| other.max(part)));
            }
            _ => open = Some(*span),
        }
    }
    known.map(Ok).or(open.map(Err))
}

fn scaled(count: Fact<f64>, device: Option<&DeviceClass>, part: Option<&Result<f64, Span>>, span: Span) -> Fact<f64> {
    let Some(device) = device else { return Fact::Absent };
    match part {
        _ if count.value() == Some(&0.0) => count,
        Some(Ok(part)) => count.map(|count| count * part),
        Some(Err(span)) => Fact::unknown("the share of a device depends on its memory", *span),
        None if device.shared => Fact::unknown("the device is shared, and the size of a share is not set here", span),
        None => count.map(|count| count / device.per.unwrap_or(1.0)),
    }
}
