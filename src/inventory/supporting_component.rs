//! Finds supporting components in the files: metrics exporters, queues, quotas, priority classes, budgets.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::Regex;

use crate::source::{Needles, compiled};

/// A supporting component, which has no accelerators itself. Rules report whether the files define it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SupportingComponent {
    /// An exporter of accelerator metrics.
    Metrics,
    /// A quota for a namespace.
    Quota,
    /// A queue for batch work.
    Queue,
    /// Priority classes.
    Priority,
    /// A budget with an alarm.
    Budget,
    /// The Kubeflow notebook controller, configured to stop idle notebooks.
    Culling,
    /// A cluster autoscaler that is configured to remove no machine.
    NoScaleDown,
    /// The chart of Karpenter on AWS.
    Karpenter,
    /// The queue from which Karpenter learns that AWS takes back spot machines.
    InterruptionQueue,
}

/// Patterns for each component in documents and Terraform, with words. Each match contains one of its words. A pattern
/// without words matches some of the `PARTS`. The names are those of the charts and images of exporters and operators,
/// 2026-11.
const WORDS: &[(SupportingComponent, &[&str], &str)] = &[
    (
        SupportingComponent::Metrics,
        &[],
        r"(?i-u:dcgm|gpu[-_]operator|nvidia_gpu\b|nvidia_smi_exporter|nvidia-gpu-exporter)",
    ),
    (
        SupportingComponent::Metrics,
        &[],
        r"(?i-u:amd-metrics-exporter|device-metrics-exporter|neuron-monitor|tpu-metrics|containerinsights)",
    ),
    (
        SupportingComponent::Quota,
        &["ResourceQuota", "ClusterQueue", "kubernetes_resource_quota"],
        r#"(?-u:\bkind"?\s*[:=]\s*.?(ResourceQuota|ClusterQueue)\b|kubernetes_resource_quota)"#,
    ),
    (
        SupportingComponent::Queue,
        &["ClusterQueue", "LocalQueue"],
        r#"(?-u:\bkind"?\s*[:=]\s*.?(LocalQueue|ClusterQueue)\b)"#,
    ),
    (
        SupportingComponent::Priority,
        &["PriorityClass", "kubernetes_priority_class"],
        r#"(?-u:\bkind"?\s*[:=]\s*.?PriorityClass\b|kubernetes_priority_class)"#,
    ),
    (
        SupportingComponent::Budget,
        &["_budget", "AWS::Budgets"],
        r"(?-u:aws_budgets_budget|AWS::Budgets::Budget\b|google_billing_budget|azurerm_consumption_budget|oci_budget_budget)",
    ),
    // Matches a container's variable, an entry of a map, a file of variables, or values of Kubeflow's chart.
    (
        SupportingComponent::Culling,
        &["ENABLE_CULLING", "enableCulling"],
        r#"(?-u:\b(?:ENABLE_CULLING|enableCulling)["']?(?:\s*[:=]|\s+value"?\s*[:=])\s*["']?true\b)"#,
    ),
    // Matches an argument, a chart value or a setting of a release.
    (
        SupportingComponent::NoScaleDown,
        &["scale-down-enabled"],
        r#"(?-u:\bscale-down-enabled["']?(?:\s*[:=]|\s+value"?\s*[:=])\s*["']?false\b)"#,
    ),
    (
        SupportingComponent::Karpenter,
        &["ecr.aws/karpenter", "charts.karpenter.sh"],
        r"(?-u:public\.ecr\.aws/karpenter\b|charts\.karpenter\.sh\b)",
    ),
    // Matches a chart value, an argument of `helm --set`, or a setting of a release, unless its value is empty.
    (
        SupportingComponent::InterruptionQueue,
        &["nterruptionQueue", "nterruption-queue", "nterruption_queue", "NTERRUPTION_QUEUE"],
        r#"(?i-u:interruption[-_]?queue(?:[-_]?name)?["']?(?:\s*[:=]|\s+value"?\s*[:=])\s*["']?[^\s"'])"#,
    ),
];

/// The patterns of `WORDS`. Most runs need none of them, and few need all.
static PATTERNS: [OnceLock<Regex>; WORDS.len()] = [const { OnceLock::new() }; WORDS.len()];

/// Returns the first place of each component. Comments do not count.
pub fn signs(text: &[u8]) -> Vec<(SupportingComponent, std::ops::Range<usize>)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let words = if may_have_sign(text) { WORDS } else { &[] };
    for ((sign, words, pattern), compiled_once) in words.iter().zip(&PATTERNS) {
        let may_match = match words {
            [] => has_part(text),
            words => words.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some()),
        };
        if !may_match {
            continue;
        }
        let all = compiled_once.get_or_init(|| compiled(Regex::new(pattern))).find_iter(text);
        let mut outside = all.filter(|it| !is_comment(text.get(..it.start()).unwrap_or_default()));
        if let Some(it) = outside.next().filter(|_| seen.insert(*sign)) {
            found.push((*sign, it.range()));
        }
    }
    found
}

/// Every match of a pattern contains one of these words, in any case. The search uses three rare letters of each word.
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

/// Byte sequences for a fast search. Every file with a component contains at least one of them.
struct RareWords {
    needles: Needles,
    /// The number of words that occur in only one spelling. The others are parts of `PARTS`.
    exact: usize,
}

static RARE: LazyLock<RareWords> = LazyLock::new(|| {
    let exact: BTreeSet<&str> = WORDS.iter().flat_map(|(_, words, _)| *words).copied().collect();
    let three: BTreeSet<&str> = PARTS.iter().filter_map(|(_, rest)| rest.get(..3)).collect();
    let words = exact.iter().map(|word| (*word).to_owned()).chain(three.into_iter().flat_map(in_any_case));
    RareWords { needles: Needles::new(&words.collect::<Vec<_>>()), exact: exact.len() }
});

/// Returns all spellings of a short word in lower and upper case.
fn in_any_case(word: &str) -> Vec<String> {
    word.chars().fold(vec![String::new()], |made, letter| {
        let cases: BTreeSet<char> = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()].into();
        let longer = |start: &String| cases.iter().map(|it| format!("{start}{it}")).collect::<Vec<_>>();
        made.iter().flat_map(longer).collect()
    })
}

/// Excludes most files with a fast byte search: returns false if a file certainly defines none of these components.
pub fn may_have_sign(text: &[u8]) -> bool {
    RARE.needles.any(text, |word, at| word < RARE.exact || is_part(text, at))
}

/// Returns whether one of the words that count in any case occurs.
fn has_part(text: &[u8]) -> bool {
    RARE.needles.any(text, |word, at| word >= RARE.exact && is_part(text, at))
}

fn is_part(text: &[u8], at: usize) -> bool {
    PARTS.iter().any(|part| stands_at(text, at, part))
}

fn stands_at(text: &[u8], at: usize, (before, rest): &(&str, &str)) -> bool {
    let is = |range: std::ops::Range<usize>, part: &str| {
        text.get(range).is_some_and(|there| there.eq_ignore_ascii_case(part.as_bytes()))
    };
    is(at..at + rest.len(), rest) && at.checked_sub(before.len()).is_some_and(|start| is(start..at, before))
}

/// Returns true if the line so far begins a comment.
fn is_comment(before: &[u8]) -> bool {
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_start();
    line.starts_with(b"#") || line.starts_with(b"//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_has_words_that_compile() {
        for (_, _, pattern) in WORDS {
            compiled(Regex::new(pattern));
        }
    }

    #[test]
    fn no_text_with_a_sign_is_ruled_out() {
        let words = "dcgm DCGM-exporter GPU-Operator gpu_operator nvidia_gpu nvidia_smi_exporter Nvidia-GPU-exporter \
                     AMD-metrics-exporter device-metrics-exporter neuron-monitor tpu-metrics ContainerInsights \
                     kubernetes_resource_quota kubernetes_priority_class aws_budgets_budget google_billing_budget \
                     azurerm_consumption_budget oci_budget_budget";
        let kinds =
            ["ResourceQuota", "ClusterQueue", "LocalQueue", "PriorityClass"].map(|kind| format!("kind: {kind}"));
        let switches = [
            "ENABLE_CULLING=true",
            "enableCulling: true",
            "scale-down-enabled=false",
            "oci://public.ecr.aws/karpenter/karpenter",
            "interruptionQueue: spot",
            "settings.interruptionQueueName=spot",
            "INTERRUPTION_QUEUE=spot",
        ]
        .map(str::to_owned);
        for text in words.split_whitespace().map(str::to_owned).chain(kinds).chain(switches) {
            let text = format!("x {text} y");
            assert!(!signs(text.as_bytes()).is_empty(), "{text} is no sign");
            assert!(may_have_sign(text.as_bytes()), "{text} is ruled out");
        }
        assert!(signs(b"  interruptionQueue: \"\"\n").is_empty());
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
