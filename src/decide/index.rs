//! Quickly finds the suppressions that may cover a finding, because there may be thousands of both.

use std::collections::{BTreeSet, HashMap};

use super::SuppressionContext;
use super::cover::{CoverTarget, places};
use super::gather::Suppression;
use crate::inventory::ResourceId;
use crate::rules::Finding;
use crate::source::{FileId, Span};

/// The maximum number of dots and brackets in the address of a module call that a comment can cover.
const DEEPEST_CALL: usize = 200;

/// Suppressions of one rule that cover the same: the first one suppresses the finding.
pub(super) struct SuppressionGroup {
    /// The indexes of the suppressions, each with the index of the rule in it.
    pub(super) members: Vec<(usize, usize)>,
}

/// Groups of suppressions by place, for each rule separately.
#[derive(Default)]
pub(super) struct Index<'a> {
    pub(super) groups: Vec<SuppressionGroup>,
    files: HashMap<(&'a str, FileId), usize>,
    stretches: HashMap<(&'a str, FileId), Stretches>,
    calls: HashMap<(&'a str, &'a str), Vec<usize>>,
    resources: HashMap<(&'a str, ResourceId), Vec<usize>>,
    bodies: HashMap<(&'a str, Span), Vec<usize>>,
    patterns: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(suppressions: &'a [Suppression]) -> Self {
        let mut index = Index::default();
        let mut alike: HashMap<(&'a str, Span, &'a [String]), usize> = HashMap::new();
        for (at, suppression) in suppressions.iter().enumerate() {
            let mut named = BTreeSet::new();
            for (position, (rule, _)) in suppression.rules.iter().enumerate() {
                if named.insert(rule.as_str()) {
                    index.add(rule, &suppression.target, (at, position), &mut alike);
                }
            }
        }
        index.stretches.values_mut().for_each(Stretches::close);
        index
    }

    fn add(
        &mut self,
        rule: &'a str,
        target: &'a CoverTarget,
        member: (usize, usize),
        alike: &mut HashMap<(&'a str, Span, &'a [String]), usize>,
    ) {
        let new = self.groups.len();
        let group = match target {
            CoverTarget::File(file) => *self.files.entry((rule, *file)).or_insert(new),
            CoverTarget::Here { whole, calls } => *alike.entry((rule, *whole, calls)).or_insert(new),
            CoverTarget::Annotated { .. } | CoverTarget::Pattern { .. } => new,
        };
        if let Some(known) = self.groups.get_mut(group) {
            known.members.push(member);
            return;
        }
        self.groups.push(SuppressionGroup { members: vec![member] });
        match target {
            CoverTarget::File(_) => {}
            CoverTarget::Here { whole, calls } => {
                self.stretches.entry((rule, whole.file)).or_default().add(*whole, group);
                for call in calls {
                    self.calls.entry((rule, call)).or_default().push(group);
                }
            }
            CoverTarget::Annotated { resources, bodies } => {
                for &id in resources {
                    self.resources.entry((rule, id)).or_default().push(group);
                }
                for &body in bodies {
                    self.bodies.entry((rule, body)).or_default().push(group);
                }
            }
            CoverTarget::Pattern { .. } => self.patterns.entry(rule).or_default().push(group),
        }
    }

    /// Returns the groups that may cover a finding, including all that do.
    pub(super) fn near(&self, finding: &Finding, grounds: &SuppressionContext) -> BTreeSet<usize> {
        let rule = finding.rule.as_str();
        let mut near = BTreeSet::new();
        for span in places(finding, grounds) {
            let span = grounds.sources.origin(span);
            near.extend(self.files.get(&(rule, span.file)));
            if let Some(stretches) = self.stretches.get(&(rule, span.file)) {
                stretches.around(span.start, &mut near);
            }
        }
        if let Some(address) = finding.address(grounds.inventory) {
            let ends = address.match_indices(['.', '[']).map(|(at, _)| at);
            let calls = ends.take(DEEPEST_CALL).filter_map(|end| self.calls.get(&(rule, address.get(..end)?)));
            near.extend(calls.flatten());
        }
        near.extend(finding.resource.and_then(|id| self.resources.get(&(rule, id))).into_iter().flatten());
        near.extend(finding.piece.as_ref().and_then(|it| self.bodies.get(&(rule, it.body))).into_iter().flatten());
        near.extend(self.patterns.get(rule).into_iter().flatten());
        near
    }
}

/// Ranges of one file, sorted by start, in a tree that stores the furthest end below each node. The children of node
/// `n` are `2n` and `2n + 1`.
#[derive(Default)]
struct Stretches {
    all: Vec<(Span, usize)>,
    furthest: Vec<u32>,
    leaves: usize,
}

impl Stretches {
    fn add(&mut self, span: Span, group: usize) {
        self.all.push((span, group));
    }

    fn close(&mut self) {
        self.all.sort();
        self.leaves = self.all.len().next_power_of_two();
        self.furthest = vec![0; 2 * self.leaves];
        for (leaf, (span, _)) in self.furthest.iter_mut().skip(self.leaves).zip(&self.all) {
            *leaf = span.end;
        }
        for at in (1..self.leaves).rev() {
            let halves = self.furthest.get(2 * at..2 * at + 2).and_then(|halves| halves.iter().max().copied());
            if let (Some(place), Some(end)) = (self.furthest.get_mut(at), halves) {
                *place = end;
            }
        }
    }

    fn around(&self, place: u32, found: &mut BTreeSet<usize>) {
        let begun = self.all.partition_point(|(span, _)| span.start <= place);
        // The index of a node, with its first leaf and its number of leaves.
        let mut open = vec![(1, 0, self.leaves)];
        while let Some((at, first, leaves)) = open.pop() {
            if first >= begun || self.furthest.get(at).is_none_or(|&end| end <= place) {
                continue;
            }
            if leaves == 1 {
                found.extend(self.all.get(first).map(|(_, group)| *group));
                continue;
            }
            open.push((2 * at, first, leaves / 2));
            open.push((2 * at + 1, first + leaves / 2, leaves / 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    #[test]
    fn every_stretch_around_a_place_is_found() {
        let file = SourceFiles::new(MemoryTree::new().with("a", "text")).open("a").unwrap();
        for count in 0..20 {
            let mut stretches = Stretches::default();
            let spans: Vec<Span> = (0..count).map(|n| Span::new(file, n * 7 % 13, n * 7 % 13 + n * 5 % 11)).collect();
            spans.iter().enumerate().for_each(|(group, span)| stretches.add(*span, group));
            stretches.close();
            for place in 0..30 {
                let mut found = BTreeSet::new();
                stretches.around(place, &mut found);
                let around = spans.iter().enumerate().filter(|(_, span)| span.range().contains(&(place as usize)));
                assert_eq!(found, around.map(|(group, _)| group).collect(), "{count} {place}");
            }
        }
    }
}
