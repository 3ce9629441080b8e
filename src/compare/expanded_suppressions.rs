//! Finds suppressions that cover more than before. A suppression covers only the findings for which it was written, so
//! the others are new until the suppression is rewritten.

use std::collections::{HashMap, HashSet};

use super::EvaluatedState;
use crate::decide::{self, Decided, Listed};
use crate::inventory::{Key, ResourceId};
use crate::source::{SourceFiles, Span};

/// A suppression of one state, identified by its file and its wording.
type Words = (String, String);

fn words(sources: &SourceFiles, span: Span) -> Words {
    (sources.path_of(span), sources.snippet(span).trim().to_owned())
}

/// Returns how often each suppression occurs in a state.
fn counts(sources: &SourceFiles, all: &[Listed]) -> HashMap<Words, usize> {
    let mut counts = HashMap::new();
    // A suppression of several rules is listed once.
    for span in all.iter().map(|it| it.span).collect::<HashSet<_>>() {
        *counts.entry(words(sources, span)).or_default() += 1;
    }
    counts
}

/// Both states with their suppressions and the findings in them.
pub(super) struct SuppressionStates<'a> {
    pub(super) before: &'a EvaluatedState<'a>,
    pub(super) earlier: &'a [Listed],
    pub(super) after: &'a EvaluatedState<'a>,
    pub(super) later: &'a [Listed],
    /// The earlier resource of each later one.
    pub(super) selves: &'a HashMap<ResourceId, ResourceId>,
    /// Resources whose cost clearly rose.
    pub(super) grown: &'a HashSet<ResourceId>,
}

/// Findings whose suppressions cover more than before, by index.
#[derive(Default)]
pub(super) struct ExpandedSuppressions {
    /// Findings whose suppression is unchanged. They count as new.
    pub(super) reopened: Vec<usize>,
    /// Findings whose suppression the change rewrites. The change accepts them.
    pub(super) renewed: Vec<usize>,
}

impl SuppressionStates<'_> {
    /// Returns the findings of suppressions that cover more than before.
    pub(super) fn outgrown(&self) -> ExpandedSuppressions {
        let (before, after) = (counts(self.before.sources, self.earlier), counts(self.after.sources, self.later));
        let is_old = |span: Span| {
            let words = words(self.after.sources, span);
            before.get(&words).is_some_and(|there| after.get(&words).is_none_or(|now| now <= there))
        };
        let mut known: HashMap<(&str, Option<ResourceId>), Vec<&Decided>> = HashMap::new();
        for it in self.before.findings.iter().filter(|it| !it.counts()) {
            known.entry((&it.finding.rule, it.finding.resource)).or_default().push(it);
        }
        let covers_more = |it: &Decided, by: Span| {
            let Some(id) = it.finding.resource else { return false };
            let Some(earlier) = self.selves.get(&id) else {
                // A pattern in the settings also covers future resources; a comment covers only what is below it.
                return !self.after.sources.path(by.file).ends_with(".toml");
            };
            let accepted = known.get(&(it.finding.rule.as_str(), Some(*earlier)));
            let same = |one: &Decided| decide::evidence_of(&one.finding) == decide::evidence_of(&it.finding);
            self.grown.contains(&id)
                || self.is_another(*earlier, id)
                || accepted.is_none_or(|all| !all.iter().any(|one| same(one)))
        };
        let mut outgrown = ExpandedSuppressions::default();
        for (at, it) in self.after.findings.iter().enumerate() {
            let Some(by) = it.suppressed.as_ref().map(|by| by.span).filter(|by| covers_more(it, *by)) else { continue };
            if is_old(by) { outgrown.reopened.push(at) } else { outgrown.renewed.push(at) }
        }
        outgrown
    }

    /// Returns true if the machine type or the accelerators changed.
    fn is_another(&self, earlier: ResourceId, later: ResourceId) -> bool {
        let (before, after) = (&self.before.inventory.resources, &self.after.inventory.resources);
        let (Some(before), Some(after)) = (before.get(earlier.0), after.get(later.0)) else { return true };
        let keys = [Key::Machine, Key::Accelerator, Key::AcceleratorCount];
        keys.into_iter().any(|key| before.fact(key).value() != after.fact(key).value())
    }

    /// Returns the suppressions that the change removes: their rules and places.
    pub(super) fn removed(&self) -> Vec<(String, Span)> {
        // A suppression whose wording changed is not removed.
        let key = |sources: &SourceFiles, it: &Listed| (sources.path_of(it.span), it.rules.clone());
        let mut after: HashMap<_, usize> = HashMap::new();
        for it in self.later {
            *after.entry(key(self.after.sources, it)).or_default() += 1;
        }
        let mut gone = Vec::new();
        for it in self.earlier {
            let left = after.entry(key(self.before.sources, it)).or_default();
            match left.checked_sub(1) {
                Some(less) => *left = less,
                None => {
                    gone.push((it.rules.join(", "), it.span));
                }
            }
        }
        gone.sort();
        gone.dedup();
        gone
    }
}

/// Removes the suppression from a finding, with a note about it.
pub(super) fn reopen(decided: &mut Decided) {
    let Some(by) = decided.suppressed.take() else { return };
    let note = "this suppression was written for the state before the change".to_owned();
    decided.finding.related.push((by.span, note));
    let renew =
        "its suppression was written for the state before the change: if it still applies, update its reason or date";
    decided.finding.help = Some(match decided.finding.help.take() {
        Some(help) => format!("{help}; {renew}"),
        None => renew.to_owned(),
    });
}
