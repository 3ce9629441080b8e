//! What stands beside a resource in the tree: its twin pool, a queue, classes of priority; and what a tree has at all.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use rayon::prelude::*;
use regex::bytes::Regex;

use crate::source::{Sources, Span, parent};

use super::fact::{Fact, Origin};
use super::key::{Key, Value};
use super::resource::{Inventory, Purchase, Resource, Role};

/// Something that a tree has or has not, and that is no accelerator itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// Something exports what the accelerators are doing.
    Metrics,
    /// A limit of what a namespace may ask for.
    Quota,
    /// A queue for batch work.
    Queue,
    /// Classes of priority.
    Priority,
    /// A budget with an alarm.
    Budget,
}

/// By which words each is known, in documents and in Terraform. Exporters and operators as their own charts and images are
/// called, 2026-11.
const WORDS: &[(Sign, &str)] = &[
    (Sign::Metrics, r"(?i-u:dcgm|gpu[-_]operator|nvidia_gpu\b|nvidia_smi_exporter|nvidia-gpu-exporter)"),
    (
        Sign::Metrics,
        r"(?i-u:amd-metrics-exporter|device-metrics-exporter|neuron-monitor|tpu-metrics|containerinsights)",
    ),
    (Sign::Quota, r#"(?-u:\bkind"?\s*[:=]\s*.?(ResourceQuota|ClusterQueue)\b|kubernetes_resource_quota)"#),
    (Sign::Queue, r#"(?-u:\bkind"?\s*[:=]\s*.?(LocalQueue|ClusterQueue)\b)"#),
    (Sign::Priority, r#"(?-u:\bkind"?\s*[:=]\s*.?PriorityClass\b|kubernetes_priority_class)"#),
    (Sign::Budget, r"(?-u:aws_budgets_budget|google_billing_budget|azurerm_consumption_budget|oci_budget_budget)"),
];

static PATTERNS: LazyLock<Vec<(Sign, Option<Regex>)>> =
    LazyLock::new(|| WORDS.iter().map(|(sign, words)| (*sign, Regex::new(words).ok())).collect());

/// Looks round in all files but those that are known to be plain, sorted: notes what the tree has, and tells each resource
/// what stands beside it.
pub fn look_round(inventory: &mut Inventory, sources: &Sources, paths: &[String], plain: &[String]) {
    if inventory.resources.is_empty() {
        return;
    }
    let mut found: Vec<(&String, Sign, usize, usize)> = paths
        .par_iter()
        .filter(|path| plain.binary_search(path).is_err())
        .flat_map_iter(|path| signs(sources, path))
        .collect();
    found.sort_unstable();
    let mut near: BTreeMap<(Sign, &str), Span> = BTreeMap::new();
    for (path, sign, start, end) in found {
        let Ok(file) = sources.open(path) else { continue };
        let span = Span::new(file, start, end);
        inventory.signs.entry(sign).or_insert(span);
        near.entry((sign, parent(path))).or_insert(span);
    }
    let directories: Vec<String> =
        inventory.resources.iter().map(|it| parent(&sources.path(it.span.file)).to_owned()).collect();
    for (resource, directory) in inventory.resources.iter_mut().zip(&directories) {
        for (sign, key) in [(Sign::Queue, Key::QueueHere), (Sign::Priority, Key::PriorityHere)] {
            if let Some(span) = near.get(&(sign, directory.as_str())) {
                resource.set(key, Fact::known(Value::Flag(true), *span, Origin::Resolved));
            }
        }
    }
    pair_twins(inventory, &directories);
}

/// The first place in a file of each sign, comments left out.
fn signs<'p>(sources: &Sources, path: &'p String) -> Vec<(&'p String, Sign, usize, usize)> {
    let found = |text: &[u8]| {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let patterns = if may_have_sign(text) { PATTERNS.as_slice() } else { &[] };
        for (sign, pattern) in patterns {
            let all = pattern.iter().flat_map(|it| it.find_iter(text));
            let mut outside = all.filter(|it| !is_comment(text.get(..it.start()).unwrap_or_default()));
            if let Some(it) = outside.next().filter(|_| seen.insert(*sign)) {
                found.push((path, *sign, it.start(), it.end()));
            }
        }
        found
    };
    sources.glance(path, found).unwrap_or_default()
}

/// Words of which one stands in every text that one of the patterns matches, in small letters.
const PARTS: [&[u8]; 18] = [
    b"dcgm",
    b"gpu-operator",
    b"gpu_operator",
    b"nvidia_gpu",
    b"nvidia_smi_exporter",
    b"nvidia-gpu-exporter",
    b"amd-metrics-exporter",
    b"device-metrics-exporter",
    b"neuron-monitor",
    b"tpu-metrics",
    b"containerinsights",
    b"resourcequota",
    b"clusterqueue",
    b"localqueue",
    b"kubernetes_resource_quota",
    b"priorityclass",
    b"kubernetes_priority_class",
    b"_budget",
];

/// A search of bytes that says no for most texts, without compiling a pattern.
pub fn may_have_sign(text: &[u8]) -> bool {
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    pairs.enumerate().any(|(at, (&first, &second))| {
        STARTS[usize::from(first)] & bit(second) != 0
            && PARTS.iter().any(|part| starts_with(text.get(at..).unwrap_or_default(), part))
    })
}

fn starts_with(text: &[u8], part: &[u8]) -> bool {
    text.get(..part.len()).is_some_and(|start| start.eq_ignore_ascii_case(part))
}

/// For each first letter of a part, small or large, the second letters, a bit each.
static STARTS: [u32; 256] = starts();

const fn starts() -> [u32; 256] {
    let mut starts = [0; 256];
    let mut at = 0;
    while at < PARTS.len() {
        let (first, second) = (PARTS[at][0], PARTS[at][1]);
        starts[first as usize] |= bit(second);
        starts[first.to_ascii_uppercase() as usize] |= bit(second);
        at += 1;
    }
    starts
}

/// Small and large letters have the same; other signs that share it are only compared in vain.
const fn bit(letter: u8) -> u32 {
    1 << (letter & 31)
}

/// Whether the line so far begins a comment.
fn is_comment(before: &[u8]) -> bool {
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_start();
    line.starts_with(b"#") || line.starts_with(b"//")
}

/// Pools of one directory with one accelerator, where one is on spot alone and another is not.
fn pair_twins(inventory: &mut Inventory, directories: &[String]) {
    let mut pools: HashMap<(&str, String), [Option<usize>; 2]> = HashMap::new();
    for (place, (resource, directory)) in inventory.resources.iter().zip(directories).enumerate() {
        if let Some((accelerator, is_spot)) = pool(resource) {
            let both = pools.entry((directory.as_str(), accelerator)).or_default();
            if let Some(one) = both.get_mut(usize::from(is_spot)) {
                one.get_or_insert(place);
            }
        }
    }
    let mut twins: Vec<(usize, String, Span)> = Vec::new();
    for (place, (resource, directory)) in inventory.resources.iter().zip(directories).enumerate() {
        let Some((accelerator, is_spot)) = pool(resource) else { continue };
        let twin = pools.get(&(directory.as_str(), accelerator)).and_then(|both| both.get(usize::from(!is_spot)));
        let twin = twin.copied().flatten().and_then(|at| inventory.resources.get(at));
        twins.extend(twin.map(|twin| (place, twin.address.clone(), twin.span)));
    }
    for (place, address, span) in twins {
        if let Some(resource) = inventory.resources.get_mut(place) {
            resource.set(Key::Twin, Fact::known(Value::text(address), span, Origin::Resolved));
        }
    }
}

/// What a pool must have in common with another for a pod to run on either, and whether it is on spot. A machine of its
/// own has no twin, and neither has a pool that no pod finds by labels.
fn pool(resource: &Resource) -> Option<(String, bool)> {
    let grows =
        resource.count.value().is_none_or(|range| range.ceiling > 1.0) || resource.flag(Key::Autoscaled) == Some(true);
    // A pool that may take machines with one of several has a twin where another may take the same ones.
    let accelerator = match resource.fact(Key::Accelerator) {
        Fact::Known(known) => known.value.to_string(),
        Fact::Unknown(unknown) if !unknown.candidates.is_empty() => {
            unknown.candidates.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ")
        }
        _ => return None,
    };
    let is_spot = match resource.purchase()? {
        Purchase::Spot => true,
        Purchase::OnDemand | Purchase::Mixed | Purchase::SpotOrOnDemand | Purchase::Reserved => false,
        _ => return None,
    };
    let labels = &resource.selector.labels;
    if resource.role != Role::Rented || !grows || labels.is_empty() {
        return None;
    }
    let mut common = accelerator;
    for (key, value) in labels.iter().filter(|(key, _)| !tells_pools_apart(key)) {
        common.push_str(&format!(" {key}={}", value.value().map_or("?", |value| value)));
    }
    Some((common, is_spot))
}

/// Labels that a provider gives each pool by itself, by a part of their key.
fn tells_pools_apart(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["nodepool", "nodegroup", "agentpool", "capacity", "spot", "priority", "instance-type"]
        .iter()
        .any(|part| key.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_has_words_that_compile() {
        assert!(PATTERNS.iter().all(|(_, pattern)| pattern.is_some()));
    }

    #[test]
    fn no_text_with_a_sign_is_ruled_out() {
        let words = "dcgm DCGM-exporter GPU-Operator gpu_operator nvidia_gpu nvidia_smi_exporter Nvidia-GPU-exporter \
                     AMD-metrics-exporter device-metrics-exporter neuron-monitor tpu-metrics ContainerInsights \
                     kubernetes_resource_quota kubernetes_priority_class aws_budgets_budget google_billing_budget \
                     azurerm_consumption_budget oci_budget_budget";
        let kinds =
            ["ResourceQuota", "ClusterQueue", "LocalQueue", "PriorityClass"].map(|kind| format!("kind: {kind}"));
        for text in words.split_whitespace().map(str::to_owned).chain(kinds) {
            let text = format!("x {text} y");
            let is_sign = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|it| it.is_match(text.as_bytes()));
            assert!(PATTERNS.iter().any(|(_, pattern)| is_sign(pattern)), "{text} is no sign");
            assert!(may_have_sign(text.as_bytes()), "{text} is ruled out");
        }
        assert!(!may_have_sign(b"kind: Deployment\nname: gpu\n"));
    }

    #[test]
    fn a_comment_is_no_sign() {
        assert!(is_comment(b"a: b\n  # install "));
        assert!(is_comment(b"// "));
        assert!(!is_comment(b"image: "));
    }
}
