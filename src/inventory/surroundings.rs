//! What stands beside a resource in the tree: its twin pool, a queue, classes of priority; and what a tree has at all.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::source::{Needles, Sources, Span, each, parent};

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
    let paths = paths.iter().filter(|path| plain.binary_search(path).is_err());
    let mut found: Vec<(&String, Sign, usize, usize)> =
        each(paths.collect(), |path| signs(sources, path)).into_iter().flatten().collect();
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

/// Words of which one stands in every text that one of the patterns matches, whatever their case; cut before three letters
/// that are rare in other text, by which they are found.
const PARTS: [(&str, &str); 11] = [
    ("d", "cgm"),
    ("g", "pu-operator"),
    ("g", "pu_operator"),
    ("nvid", "ia_gpu"),
    ("nvid", "ia_smi_exporter"),
    ("nvidia-g", "pu-exporter"),
    ("amd-metri", "cs-exporter"),
    ("device-metri", "cs-exporter"),
    ("neuro", "n-monitor"),
    ("t", "pu-metrics"),
    ("containerinsig", "hts"),
];

/// The same of words that are written in one way.
const EXACT: [&str; 7] = [
    "ResourceQuota",
    "ClusterQueue",
    "LocalQueue",
    "kubernetes_resource_quota",
    "PriorityClass",
    "kubernetes_priority_class",
    "_budget",
];

/// What every text with a sign has, as letters that all stand beside each other.
static RARE: LazyLock<Needles> = LazyLock::new(|| {
    let three: BTreeSet<&str> = PARTS.iter().filter_map(|(_, rest)| rest.get(..3)).collect();
    let words = EXACT.map(str::to_owned).into_iter().chain(three.into_iter().flat_map(in_any_case));
    Needles::new(&words.collect::<Vec<_>>())
});

/// A word of a few letters, in small and in large ones.
fn in_any_case(word: &str) -> Vec<String> {
    word.chars().fold(vec![String::new()], |made, letter| {
        let cases: BTreeSet<char> = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()].into();
        let longer = |start: &String| cases.iter().map(|it| format!("{start}{it}")).collect::<Vec<_>>();
        made.iter().flat_map(longer).collect()
    })
}

/// A search of bytes that says no for most texts.
pub fn may_have_sign(text: &[u8]) -> bool {
    RARE.any(text, |word, at| word < EXACT.len() || PARTS.iter().any(|part| stands_at(text, at, part)))
}

fn stands_at(text: &[u8], at: usize, (before, rest): &(&str, &str)) -> bool {
    let is = |range: std::ops::Range<usize>, part: &str| {
        text.get(range).is_some_and(|there| there.eq_ignore_ascii_case(part.as_bytes()))
    };
    is(at..at + rest.len(), rest) && at.checked_sub(before.len()).is_some_and(|start| is(start..at, before))
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
        Purchase::OnDemand
        | Purchase::Mixed
        | Purchase::SpotOrOnDemand
        | Purchase::Reserved
        | Purchase::CapacityReservation => false,
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
        assert_eq!(in_any_case("a-b"), ["A-B", "A-b", "a-B", "a-b"]);
    }

    #[test]
    fn a_comment_is_no_sign() {
        assert!(is_comment(b"a: b\n  # install "));
        assert!(is_comment(b"// "));
        assert!(!is_comment(b"image: "));
    }
}
