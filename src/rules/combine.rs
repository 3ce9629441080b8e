//! Merges findings that one edit fixes: findings of rules that exclude each other, and of one missing field of an
//! object.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::inventory::{Inventory, ReadBy, ResourceId};
use crate::source::Span;

use super::Finding;
use super::page::RuleFile;

/// Reports a field that a whole object lacks only once, even if it has several kinds of pods. The other findings become
/// notes of the first.
pub fn combine_lacks(inventory: &Inventory, findings: &mut Vec<Finding>) {
    let mut first: HashMap<(String, Span), usize> = HashMap::new();
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings.drain(..) {
        let resource = finding.resource.and_then(|id| inventory.resources.get(id.0));
        let lacks = resource.filter(|it| it.front_end == ReadBy::Kubernetes && finding.span == it.span);
        let Some(resource) = lacks else {
            kept.push(finding);
            continue;
        };
        let key = (finding.rule.clone(), resource.body);
        let known = first.get(&key).and_then(|place| kept.get_mut(*place)).filter(|it| is_answered_with(&finding, it));
        let Some(known) = known else {
            first.entry(key).or_insert(kept.len());
            kept.push(finding);
            continue;
        };
        known.also.extend(finding.resource);
        known.related.push((finding.span, format!("also {}: {}", resource.address, finding.message)));
        known.is_estimated |= finding.is_estimated;
        if let (Some(saves), Some(more)) = (&known.saves, finding.saves) {
            known.saves = Some(*saves + more);
        }
    }
    *findings = kept;
}

/// Returns true if the same edits fix both findings, and their savings are for the same period.
fn is_answered_with(finding: &Finding, first: &Finding) -> bool {
    let is_alike = (finding.level, finding.confidence) == (first.level, first.confidence);
    is_alike
        && finding.edits == first.edits
        && finding.per == first.per
        && finding.saves.is_some() == first.saves.is_some()
}

/// Follows the moves to a finding that stays. Rules that yield to each other in a circle end the search.
fn reported(moves: &BTreeMap<usize, usize>, from: usize) -> usize {
    let mut place = from;
    for _ in 0..moves.len() {
        let Some(next) = moves.get(&place) else { break };
        place = *next;
    }
    place
}

/// Returns true if a finding can become a note of another one. A saving is never hidden behind a finding without one.
fn states_enough(finding: &Finding, first: Option<&Finding>) -> bool {
    finding.saves.is_none() || first.is_some_and(|it| it.saves.is_some())
}

/// If several rules offer alternatives to the same setting, only the rule with the highest rank reports a finding. The
/// findings of the others become notes.
///
/// A rule that a pack enforces always reports its own finding. Otherwise, a suppression of the higher rule's finding
/// would also suppress it.
pub(super) fn combine(pages: &[&RuleFile], forced: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    let yields: BTreeMap<&str, &[String]> = pages
        .iter()
        .filter(|page| !page.yields_to.is_empty() && !forced.contains(&page.name))
        .map(|page| (page.name.as_str(), page.yields_to.as_slice()))
        .collect();
    if yields.is_empty() {
        return;
    }
    let mut speaking: BTreeMap<(ResourceId, &str), usize> = BTreeMap::new();
    for (place, finding) in findings.iter().enumerate() {
        if let Some(id) = finding.resource {
            speaking.insert((id, finding.rule.as_str()), place);
        }
    }
    let mut moves: BTreeMap<usize, usize> = BTreeMap::new();
    for (place, finding) in findings.iter().enumerate() {
        let (Some(id), Some(others)) = (finding.resource, yields.get(finding.rule.as_str())) else { continue };
        let mut higher = others.iter().filter_map(|other| speaking.get(&(id, other.as_str())));
        let first = higher.find(|first| states_enough(finding, findings.get(**first)));
        moves.extend(first.map(|first| (place, *first)));
    }
    for from in moves.keys() {
        let Some(finding) = findings.get(*from) else { continue };
        let note = (finding.span, format!("also {}: {}", finding.rule, finding.message));
        if let Some(first) = findings.get_mut(reported(&moves, *from)) {
            first.related.push(note);
        }
    }
    let mut gone = moves.into_keys().peekable();
    let mut place = 0;
    findings.retain(|_| {
        let stays = gone.peek() != Some(&place);
        if !stays {
            gone.next();
        }
        place += 1;
        stays
    });
}
