//! Findings about one resource that exclude each other: whoever follows one of them has no use for the other.

use std::collections::BTreeMap;

use crate::inventory::ResourceId;

use super::Finding;
use super::page::Page;

/// Where several rules tell what to do instead of the same thing, the one that comes first speaks, and the others become
/// notes of it.
pub(super) fn combine(pages: &[&Page], findings: &mut Vec<Finding>) {
    let yields: BTreeMap<&str, &[String]> = pages
        .iter()
        .filter(|page| !page.yields_to.is_empty())
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
    let mut moves: Vec<(usize, usize)> = Vec::new();
    for (place, finding) in findings.iter().enumerate() {
        let (Some(id), Some(others)) = (finding.resource, yields.get(finding.rule.as_str())) else { continue };
        let first = others.iter().find_map(|other| speaking.get(&(id, other.as_str())));
        moves.extend(first.map(|first| (place, *first)));
    }
    for (from, to) in &moves {
        let Some(finding) = findings.get(*from) else { continue };
        let note = (finding.span, format!("also {}: {}", finding.rule, finding.message));
        if let Some(first) = findings.get_mut(*to) {
            first.related.push(note);
        }
    }
    let mut gone = moves.into_iter().map(|(from, _)| from).peekable();
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
