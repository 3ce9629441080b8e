//! A suppression accepts what it was written for. What it covers beyond that is new, until somebody writes it anew.

use std::collections::{HashMap, HashSet};

use crate::decide::{self, Decided, Listed};
use crate::inventory::{Key, ResourceId};
use crate::pricing::Delta;
use crate::report::Report;
use crate::source::{Sources, Span};

/// A suppression of one state, by its file and its words.
type Words = (String, String);

fn words(sources: &Sources, span: Span) -> Words {
    (sources.path(sources.origin(span).file), sources.snippet(span).trim().to_owned())
}

/// How often each suppression stands in a state.
fn counts(sources: &Sources, all: &[Listed]) -> HashMap<Words, usize> {
    let mut counts = HashMap::new();
    // One that names several rules is listed once.
    for span in all.iter().map(|it| it.span).collect::<HashSet<_>>() {
        *counts.entry(words(sources, span)).or_default() += 1;
    }
    counts
}

/// Both states with their suppressions and the findings in them.
pub(in crate::cli) struct States<'a> {
    pub(in crate::cli) before: &'a Report<'a>,
    pub(in crate::cli) earlier: &'a [Listed],
    pub(in crate::cli) after: &'a Report<'a>,
    pub(in crate::cli) later: &'a [Listed],
    pub(in crate::cli) delta: &'a Delta,
    /// Resources that became clearly dearer.
    pub(in crate::cli) grown: &'a HashSet<ResourceId>,
}

/// Places of findings of which a suppression covers more than it did before.
#[derive(Default)]
pub(in crate::cli) struct Outgrown {
    /// It was written for what stood there before: they are new.
    pub(in crate::cli) reopened: Vec<usize>,
    /// Somebody has written it anew: they are accepted by the change.
    pub(in crate::cli) renewed: Vec<usize>,
}

impl States<'_> {
    /// The findings of which a suppression covers more than it did before.
    pub(in crate::cli) fn outgrown(&self) -> Outgrown {
        let (before, after) = (counts(self.before.sources, self.earlier), counts(self.after.sources, self.later));
        let is_old = |span: Span| {
            let words = words(self.after.sources, span);
            before.get(&words).is_some_and(|there| after.get(&words).is_none_or(|now| now <= there))
        };
        let mut known: HashMap<(&str, Option<ResourceId>), Vec<&Decided>> = HashMap::new();
        for it in self.before.findings.iter().filter(|it| !it.counts()) {
            known.entry((&it.finding.rule, it.finding.resource)).or_default().push(it);
        }
        let selves: HashMap<ResourceId, ResourceId> =
            self.delta.changes.iter().filter_map(|change| change.after.zip(change.before)).collect();
        let covers_more = |it: &Decided, by: Span| {
            let Some(id) = it.finding.resource else { return false };
            let Some(earlier) = selves.get(&id) else {
                // A pattern of the settings is for whatever may come; a comment is for what stands below it.
                return !self.after.sources.path(by.file).ends_with(".toml");
            };
            let accepted = known.get(&(it.finding.rule.as_str(), Some(*earlier)));
            let same = |one: &Decided| decide::evidence_of(&one.finding) == decide::evidence_of(&it.finding);
            self.grown.contains(&id)
                || self.is_another(*earlier, id)
                || accepted.is_none_or(|all| !all.iter().any(|one| same(one)))
        };
        let mut outgrown = Outgrown::default();
        for (at, it) in self.after.findings.iter().enumerate() {
            let Some(by) = it.suppressed.as_ref().map(|by| by.span).filter(|by| covers_more(it, *by)) else { continue };
            if is_old(by) { outgrown.reopened.push(at) } else { outgrown.renewed.push(at) }
        }
        outgrown
    }

    /// Another machine, or other accelerators.
    fn is_another(&self, earlier: ResourceId, later: ResourceId) -> bool {
        let (Some(before), Some(after)) = (self.before.resource(Some(earlier)), self.after.resource(Some(later)))
        else {
            return true;
        };
        let keys = [Key::Machine, Key::Accelerator, Key::AcceleratorCount];
        keys.into_iter().any(|key| before.fact(key).value() != after.fact(key).value())
    }

    /// What a reader must know: suppressions that are not there any more.
    pub(in crate::cli) fn removed(&self) -> Vec<String> {
        // Other words of the same are no removal.
        let key = |sources: &Sources, it: &Listed| (sources.path(sources.origin(it.span).file), it.rules.clone());
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
                    let at = self.before.paths.locate(self.before.sources, it.span);
                    gone.push(format!("a suppression was removed: {} at {}:{}", it.rules.join(", "), at.path, at.line));
                }
            }
        }
        gone.sort();
        gone.dedup();
        gone
    }
}

/// Takes the suppression away, and says so.
pub(in crate::cli) fn reopen(decided: &mut Decided) {
    let Some(by) = decided.suppressed.take() else { return };
    let note = "this suppression was written for what stood here before the change".to_owned();
    decided.finding.related.push((by.span, note));
    let renew =
        "its suppression was written for what stood here before: renew the reason or the date if it still holds";
    decided.finding.help = Some(match decided.finding.help.take() {
        Some(help) => format!("{help}; {renew}"),
        None => renew.to_owned(),
    });
}
