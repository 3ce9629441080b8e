//! Reads dynamic resource allocation: a pod names claims, a claim names device classes, a class names a driver.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, accelerators};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::pod::Pod;
use super::request::PodRequest;
use super::workload::FoundResource;
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::devices::{DEVICES, DeviceClass, LabelMeaning};

/// Returns the request of a pod's claims; `None` if it contains no accelerator.
pub(in crate::kubernetes) fn request(pod: &Pod, index: &ObjectIndex<'_>) -> Option<PodRequest> {
    let mut all: Option<PodRequest> = None;
    let more = pod.row.iter().flat_map(|row| &row.claims).filter_map(|path| path.first(&pod.spec));
    let listed = pod.spec.get("resourceClaims").into_iter().chain(more).flat_map(Node::items);
    for claim in listed.chain(&pod.claims) {
        let Some(one) = claimed(claim, index) else { continue };
        all = Some(match all {
            None => one,
            Some(mut sum) => {
                sum.add(&one);
                sum.shared.extend(one.shared);
                sum.claims.extend(one.claims);
                sum
            }
        });
    }
    all
}

/// Divides a claim that several pods name, so that each pod gets its share.
pub(in crate::kubernetes) fn share(found: &mut [(Arc<str>, FoundResource)]) {
    let mut users: HashMap<String, f64> = HashMap::new();
    for (_, found) in found.iter() {
        let pods = found.resource.count.value().map_or(1.0, |range| range.expected);
        for claim in &found.shared {
            *users.entry(claim.clone()).or_default() += pods;
        }
    }
    for (_, found) in found.iter_mut() {
        let most = found.shared.iter().filter_map(|claim| users.get(claim)).copied().fold(1.0, f64::max);
        if most <= 1.0 {
            continue;
        }
        let count = found.resource.fact(Key::AcceleratorCount).clone();
        if let Fact::Known(mut known) = count {
            known.value = FactValue::Number(known.value.as_number().unwrap_or(0.0) / most);
            known.origin = FactOrigin::Resolved;
            found.resource.set(Key::AcceleratorCount, Fact::Known(known));
        }
    }
}

fn claimed(claim: &Node, index: &ObjectIndex<'_>) -> Option<PodRequest> {
    let named = |key: &str| claim.text_at(key).or_else(|| claim.text_at(&format!("source.{key}")));
    let place = NamePlace::of(claim.span);
    if let Some(created) = claim.at("claimCreationSpec.devices") {
        return sum(created.items().iter(), claim.span, index);
    }
    if let Some(name) = named("resourceClaimTemplateName") {
        const KIND: &str = "resource.k8s.io/ResourceClaimTemplate";
        let Some(template) = index.find(KIND, name, place).or_else(|| index.filled_in(KIND, name, place)) else {
            return elsewhere(name, claim);
        };
        let mut request = devices(template.root.at("spec.spec")?, claim.span, index)?;
        request.claims.push(named_by(template));
        return Some(request);
    }
    let name = named("resourceClaimName")?;
    let Some(object) = index.find("resource.k8s.io/ResourceClaim", name, place) else {
        return elsewhere(name, claim);
    };
    let mut request = devices(object.root.get("spec")?, claim.span, index)?;
    request.shared.push(format!("{}:{}", index.path(object.head), object.address()));
    request.claims.push(named_by(object));
    Some(request)
}

/// Returns the request for a claim that is not defined in this tree and whose name suggests accelerators. Their number
/// and vendor are unknown.
fn elsewhere(name: &str, claim: &Node) -> Option<PodRequest> {
    let mut names = [Some(name), claim.text_at("name").map(|name| &**name)].into_iter().flatten();
    let device = DeviceClass { key: String::new(), vendor: String::new(), ..DeviceClass::default() };
    let why = format!("the claim `{}` is not in any file", amount::shorten(name));
    names.any(accelerators::are_in_name).then(|| PodRequest::new(&device, Fact::unknown(why, claim.span), claim.span))
}

/// Returns a claim with the place of its name.
fn named_by(object: &KubernetesObject<'_>) -> (String, Span) {
    (object.address(), object.root.at("metadata.name").map_or(object.head, |name| name.span))
}

/// Returns the devices that a claim requests, in all versions of the API.
fn devices(spec: &Node, span: Span, index: &ObjectIndex<'_>) -> Option<PodRequest> {
    let requests = spec.at("devices.requests").map(Node::items).unwrap_or_default();
    let old = spec.get("resourceClassName").map(|_| spec);
    sum(requests.iter().chain(old), span, index)
}

fn sum<'n>(requests: impl Iterator<Item = &'n Node>, span: Span, index: &ObjectIndex<'_>) -> Option<PodRequest> {
    let mut all: Option<PodRequest> = None;
    for request in requests {
        let choice = request.get("firstAvailable").and_then(|choices| choices.items().first());
        let exact = request.get("exactly").or(choice).unwrap_or(request);
        let Some(mut one) = device(exact, span, index) else { continue };
        if request.get("firstAvailable").is_some_and(|choices| choices.items().len() > 1) {
            one.weaken("the first of several alternatives; the scheduler may choose another");
        }
        all = Some(match all {
            None => one,
            Some(mut sum) => {
                sum.add(&one);
                sum
            }
        });
    }
    all
}

fn device(exact: &Node, span: Span, index: &ObjectIndex<'_>) -> Option<PodRequest> {
    let class = exact.get("deviceClassName").or(exact.get("resourceClassName"))?;
    let name = class.text()?;
    let mut selectors: Vec<&Node> = expressions(exact.get("selectors"));
    let device = match DEVICES.class(name) {
        Some(device) => device,
        None => {
            let object = index.find("resource.k8s.io/DeviceClass", name, NamePlace::of(class.span))?;
            let own = expressions(object.root.at("spec.selectors"));
            let driver = own.iter().find_map(|text| driver(text.text()?))?;
            selectors.extend(own);
            driver
        }
    };
    let count = match exact.text_at("allocationMode") {
        Some(mode) if &**mode == "All" => Fact::unknown("the claim requests all devices of a node", class.span),
        _ => exact.get("count").map_or(Fact::written(1.0, class.span), amount::number),
    };
    let mut request = PodRequest::new(device, count, span);
    for selector in selectors {
        select(&mut request, selector);
    }
    if device.slice && request.slice.is_none() {
        request.count = Fact::unknown("the claim requests a slice of a device and sets no size", class.span);
    }
    Some(request)
}

fn expressions(selectors: Option<&Node>) -> Vec<&Node> {
    selectors.map(Node::items).unwrap_or_default().iter().filter_map(|item| item.at("cel.expression")).collect()
}

/// Returns the device of the driver that a class requests.
fn driver(expression: &str) -> Option<&'static DeviceClass> {
    quoted(expression).find_map(|text| DEVICES.class(text))
}

/// Reads the product and the profile from a selector.
fn select(request: &mut PodRequest, selector: &Node) {
    let Some(expression) = selector.text() else { return };
    for part in expression.split("&&") {
        let Some(value) = quoted(part).last() else { continue };
        if (part.contains("productName") || part.contains(".model")) && part.contains("==") {
            request.chip = Fact::written(value.into(), selector.span);
        } else if part.contains("profile") && part.contains("==") {
            request.slice = Some((value.into(), selector.span));
        } else if part.contains("productName") {
            let chips = DEVICES.names.iter().filter(|name| name.fact == LabelMeaning::Accelerator);
            if let Some(chip) = chips.into_iter().find_map(|name| name.find(value)) {
                let origin = FactOrigin::Inferred("found in an expression over product names".into());
                request.chip = Fact::known(chip.into(), selector.span, origin);
            }
        }
    }
}

/// Returns the string literals of an expression.
fn quoted(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(['"', '\'']).skip(1).step_by(2)
}
