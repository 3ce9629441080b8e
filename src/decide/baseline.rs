//! Reads and writes baselines: findings that were accepted together, so that only new ones count.
//!
//! An entry has a rule, a file, a resource, and the facts behind the finding. It has no line, because lines move. If a
//! fact changes or the cost grows, the finding is open again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compare::WorseThreshold;
use super::fingerprint::{hash, identity};
use super::{Decided, Decision};
use crate::catalog::Money;
use crate::inventory::Inventory;
use crate::pricing::Bill;
use crate::rules::{FactEvidence, Finding, Rules};
use crate::source::{Date, SourceFiles};

/// The default file name.
pub const FILE_NAME: &str = ".gpulint-baseline.json";

const VERSION: u32 = 1;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baseline {
    entries: BTreeMap<Key, Accepted>,
}

/// The rule, the file relative to the baseline's directory, the address, and the facts of the rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: String,
    path: String,
    address: String,
    fingerprint: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Accepted {
    count: usize,
    /// The monthly cost of the resource at that time.
    usd_per_month: Option<f64>,
    since: Date,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    entries: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    path: String,
    address: Option<String>,
    fingerprint: String,
    count: usize,
    usd_per_month: Option<f64>,
    since: String,
}

/// The context of findings, and the names of their files in a baseline.
pub struct BaselineView<'a> {
    pub sources: &'a SourceFiles,
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    /// Makes a path of the tree relative to the baseline's directory.
    pub show: &'a dyn Fn(&str) -> String,
}

impl Baseline {
    /// Reads a baseline file, or returns a description of its error.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.version != VERSION {
            return Err(format!("its version is {}, and this gpulint reads version {VERSION}", document.version));
        }
        let mut baseline = Baseline::default();
        for entry in document.entries {
            let since = entry.since.parse()?;
            let (rule, path, fingerprint) = (entry.rule, entry.path, entry.fingerprint);
            let key = Key { rule, path, address: entry.address.unwrap_or_default(), fingerprint };
            baseline.entries.insert(key, Accepted { count: entry.count, usd_per_month: entry.usd_per_month, since });
        }
        Ok(baseline)
    }

    /// Writes the file, sorted, one entry per line, so that its diff is readable.
    pub fn write(&self) -> String {
        let lines = self.entries.iter().filter_map(|(key, accepted)| {
            let entry = Entry {
                rule: key.rule.clone(),
                path: key.path.clone(),
                address: Some(key.address.clone()).filter(|address| !address.is_empty()),
                fingerprint: key.fingerprint.clone(),
                count: accepted.count,
                usd_per_month: accepted.usd_per_month,
                since: accepted.since.to_string(),
            };
            serde_json::to_string(&entry).ok()
        });
        let lines: Vec<String> = lines.map(|line| format!("    {line}")).collect();
        format!("{{\n  \"version\": {VERSION},\n  \"entries\": [\n{}\n  ]\n}}\n", lines.join(",\n"))
    }

    /// Creates entries for everything that counts now. Earlier entries keep their date.
    #[must_use]
    pub fn from_findings(findings: &[Decided], view: &BaselineView, before: &Baseline, today: Date) -> Baseline {
        let mut baseline = Baseline::default();
        for decided in findings.iter().filter(|decided| decided.suppressed.is_none()) {
            let key = view.key(&decided.finding);
            let cost = view.cost(&decided.finding);
            let since = before.entries.get(&key).map_or(today, |accepted| accepted.since);
            let entry = baseline.entries.entry(key).or_insert(Accepted { count: 0, usd_per_month: cost, since });
            entry.count += 1;
            entry.usd_per_month = match (entry.usd_per_month, cost) {
                (Some(one), Some(other)) => Some(one.max(other)),
                (one, other) => one.or(other),
            };
        }
        baseline
    }

    /// Updates rule names to their current names.
    #[must_use]
    pub fn renamed(&self, rules: &Rules) -> Baseline {
        let entries = self.entries.iter().map(|(key, accepted)| {
            let key = Key { rule: rules.current(&key.rule).to_owned(), ..key.clone() };
            (key, accepted.clone())
        });
        Baseline { entries: entries.collect() }
    }

    /// Marks the findings that the baseline accepts, except those of rules in `is_fixed`.
    pub fn apply(
        &self,
        decision: &mut Decision,
        view: &BaselineView,
        growth: WorseThreshold,
        is_fixed: impl Fn(&str) -> bool,
    ) {
        let mut left: BTreeMap<Key, usize> = self.entries.iter().map(|(key, it)| (key.clone(), it.count)).collect();
        for decided in decision.findings.iter_mut().filter(|decided| decided.suppressed.is_none()) {
            let key = view.key(&decided.finding);
            let Some(accepted) = self.entries.get(&key).filter(|_| !is_fixed(&key.rule)) else { continue };
            let Some(left) = left.get_mut(&key).filter(|left| **left > 0) else { continue };
            let grown = match (accepted.usd_per_month, view.cost(&decided.finding)) {
                (Some(before), Some(now)) => growth.is_dearer(before, now),
                (None, Some(now)) => now > 0.0,
                (_, None) => false,
            };
            if !grown {
                *left -= 1;
                decided.baselined = Some(accepted.since);
            }
        }
    }

    /// Keeps only entries that are still found; returns how many it removed.
    #[must_use]
    pub fn pruned(&self, findings: &[Decided], view: &BaselineView) -> (Baseline, usize) {
        let now = Baseline::from_findings(findings, view, self, Date::default());
        let mut kept = self.clone();
        kept.entries.retain(|key, _| now.entries.contains_key(key));
        for (key, accepted) in &mut kept.entries {
            let count = now.entries.get(key).map_or(0, |it| it.count);
            accepted.count = accepted.count.min(count);
        }
        let gone = self.entries.len() - kept.entries.len();
        (kept, gone)
    }

    /// Returns the number of accepted findings.
    pub fn len(&self) -> usize {
        self.entries.values().map(|it| it.count).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl BaselineView<'_> {
    fn key(&self, finding: &Finding) -> Key {
        let (rule, path, address) = identity(finding, self.sources, self.inventory);
        let fingerprint = fingerprint(finding);
        Key { rule, path: (self.show)(&path), address, fingerprint }
    }

    fn cost(&self, finding: &Finding) -> Option<f64> {
        if let Some(total) = &finding.total {
            return total.amount.map(whole_cents);
        }
        let item = self.bill.items.get(finding.resource?.0)?;
        item.amount.map(|range| whole_cents(range.expected))
    }
}

fn whole_cents(money: Money) -> f64 {
    (money.usd() * 100.0).round() / 100.0
}

/// Returns the facts of the rule without money: prices change independently and have their own tolerance.
pub fn fingerprint(finding: &Finding) -> String {
    let is_fact = |evidence: &&FactEvidence| !evidence.fact.starts_with("bill") && !evidence.fact.contains("usd");
    let mut parts: Vec<String> =
        finding.evidence.iter().filter(is_fact).map(|it| format!("{}={}", it.fact, it.value)).collect();
    parts.sort();
    parts.dedup();
    hash(&parts)
}
