//! Applies the fixes of findings in memory, and verifies them by a check.
//!
//! A new check of the edited files verifies each edit. An edit with any other effect is
//! withdrawn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cli::Failure;
use crate::cli::session::judged::{Identity, JudgedTree, Texts};
use crate::diagnostic::Level;
use crate::fix;
use crate::inventory::{CountedAs, LinkKind, Resource};
use crate::rules::{Finding, Safety};
use crate::source::{Edit, FileId};

/// The most rounds. A fix can make another one possible, but never in more rounds.
const MOST_ROUNDS: usize = 10;

/// The fixes to apply, and the function that repeats the check.
pub(in crate::cli) struct Fixing<'a> {
    pub(in crate::cli) limit: Safety,
    pub(in crate::cli) is_wanted: &'a dyn Fn(&Identity) -> bool,
    pub(in crate::cli) is_writable: &'a dyn Fn(&JudgedTree, FileId) -> bool,
    /// Checks the tree with these file contents.
    pub(in crate::cli) judge: &'a mut dyn FnMut(&Texts) -> Result<Arc<JudgedTree>, Failure>,
}

/// The fixes that were applied so far.
#[derive(Default)]
pub(in crate::cli) struct Fixes {
    pub(in crate::cli) texts: Texts,
    /// The original contents of the edited files.
    pub(in crate::cli) originals: Texts,
    pub(in crate::cli) fixed: Vec<Identity>,
    /// The resources for which a fix saves money.
    pub(in crate::cli) cheaper: BTreeSet<String>,
    /// The withdrawn fixes with their reasons.
    pub(in crate::cli) given_up: BTreeMap<Identity, String>,
}

impl Fixes {
    /// Applies all possible fixes, and returns the resulting state.
    pub(in crate::cli) fn make(
        fixing: &mut Fixing<'_>,
        first: Arc<JudgedTree>,
    ) -> Result<(Fixes, Arc<JudgedTree>), Failure> {
        let mut fixes = Fixes::default();
        let mut state = first;
        for _ in 0..MOST_ROUNDS {
            match fixes.round(fixing, &state)? {
                Some(after) => state = after,
                None => break,
            }
        }
        Ok((fixes, state))
    }

    /// Applies the edits that work together, or returns `None` if no edit has the intended effect.
    fn round(&mut self, fixing: &mut Fixing<'_>, state: &JudgedTree) -> Result<Option<Arc<JudgedTree>>, Failure> {
        loop {
            let chosen = fix::compatible(self.fixable(fixing, state));
            if chosen.is_empty() {
                return Ok(None);
            }
            let mut texts = self.texts.clone();
            let changed = fix::texts(&state.session.sources, &chosen);
            texts.extend(changed.into_iter().map(|(path, text)| (path, text.into_bytes())));
            let after = (fixing.judge)(&texts)?;
            let wrong = wrong(state, &after, &chosen);
            if wrong.is_empty() {
                for file in chosen.iter().flat_map(|it| &it.edits).map(|edit| edit.span.file) {
                    let (path, text) = (state.session.sources.path(file), state.session.sources.text(file));
                    self.originals.entry(path).or_insert_with(|| text.as_bytes().to_vec());
                }
                let cheaper = chosen.iter().filter(|it| it.saves.is_some()).flat_map(|it| state.resources(it));
                self.cheaper.extend(cheaper.map(|resource| resource.address.clone()));
                self.fixed.extend(chosen.iter().map(|it| state.identity(it)));
                self.texts = texts;
                return Ok(Some(after));
            }
            // Each round withdraws an edit, so the loop ends.
            self.given_up.extend(wrong);
        }
    }

    /// Whether a finding can be fixed: it counts, its fix is safe enough, and its file is writable.
    fn fixable<'s>(&self, fixing: &Fixing<'_>, state: &'s JudgedTree) -> Vec<&'s Finding> {
        let is_fixable = |it: &&Finding| {
            let identity = state.identity(it);
            it.safety().is_some_and(|safety| safety <= fixing.limit)
                && it.edits.iter().all(|edit| (fixing.is_writable)(state, edit.span.file))
                && (fixing.is_wanted)(&identity)
                && !self.given_up.contains_key(&identity)
        };
        state.counting().filter(is_fixable).collect()
    }
}

/// Returns the fixes whose effects differ from the intended ones, with these effects.
fn wrong(before: &JudgedTree, after: &JudgedTree, chosen: &[&Finding]) -> BTreeMap<Identity, String> {
    let mut wrong = BTreeMap::new();
    let left: BTreeSet<Identity> =
        after.findings.iter().filter(|it| !it.finding.edits.is_empty()).map(|it| after.identity(&it.finding)).collect();
    let undone = chosen.iter().map(|it| before.identity(it)).filter(|it| left.contains(it));
    wrong.extend(undone.map(|it| (it, "fix withdrawn: the finding remains after the edit".to_owned())));
    let changed = changed_elsewhere(before, after, chosen);
    let broken = after.analysis.inventory.diagnostics.len() > before.analysis.inventory.diagnostics.len();
    for finding in chosen {
        let files: BTreeSet<String> =
            finding.edits.iter().map(|edit| before.session.sources.path(edit.span.file)).collect();
        if broken || !files.is_disjoint(&changed) {
            wrong.insert(
                before.identity(finding),
                "fix withdrawn: the edit would change something else, too".to_owned(),
            );
        }
    }
    if wrong.is_empty() { brought(before, after, chosen) } else { wrong }
}

/// Returns fixes that add or worsen a finding of their resource. Of several fixes of one resource, the last is
/// withdrawn: the others can be correct without it.
fn brought(before: &JudgedTree, after: &JudgedTree, chosen: &[&Finding]) -> BTreeMap<Identity, String> {
    let mut given_up: BTreeMap<&str, (Identity, String)> = BTreeMap::new();
    let worse = worse_findings(before, after);
    for finding in chosen {
        let Some(address) = finding.address(&before.analysis.inventory) else { continue };
        // A note does not outweigh a saving: most notes about spot are opinions that are off by default.
        let outweighs = |level: &Level| *level > Level::Note || finding.saves.is_none();
        if let Some((_, news)) = worse.get(address).filter(|(level, _)| outweighs(level)) {
            let why = format!("fix withdrawn: after the edit, {news}");
            given_up.insert(address, (before.identity(finding), why));
        }
    }
    given_up.into_values().collect()
}

/// Returns the worst finding of each address that is new, or has a higher level. A finding about
/// further savings is allowed, because the next round can fix it.
fn worse_findings<'s>(before: &'s JudgedTree, after: &'s JudgedTree) -> BTreeMap<&'s str, (Level, String)> {
    let counting = |state: &'s JudgedTree| {
        let all = state.findings.iter().filter(|decided| decided.counts()).map(|decided| &decided.finding);
        all.filter_map(|it| Some((it.address(&state.analysis.inventory)?, it)))
    };
    let mut known: BTreeMap<(&str, &str), Level> = BTreeMap::new();
    for (address, finding) in counting(before) {
        let level = known.entry((address, &finding.rule)).or_insert(finding.level);
        *level = finding.level.max(*level);
    }
    let mut worse = BTreeMap::new();
    let is_harm = |finding: &Finding| finding.saves.is_none() || finding.level == Level::Error;
    for (address, finding) in counting(after).filter(|(_, finding)| is_harm(finding)) {
        if known.get(&(address, finding.rule.as_str())).is_none_or(|level| finding.level > *level) {
            let news = (finding.level, format!("{}: {}", finding.rule, finding.message));
            let known = worse.entry(address).or_insert_with(|| news.clone());
            if news.0 > known.0 {
                *known = news;
            }
        }
    }
    worse
}

/// Returns the files of resources with unintended changes of facts.
fn changed_elsewhere(before: &JudgedTree, after: &JudgedTree, chosen: &[&Finding]) -> BTreeSet<String> {
    let mut wished: BTreeSet<&str> =
        chosen.iter().flat_map(|it| before.resources(it)).map(|it| it.address.as_str()).collect();
    // A template costs nothing itself, and the writer edits it only for its one user.
    let edits: Vec<&Edit> = chosen.iter().flat_map(|it| &it.edits).collect();
    let templates = before
        .analysis
        .inventory
        .resources
        .iter()
        .filter(|it| it.count.value().is_some_and(|count| count.ceiling == 0.0));
    let edited = templates.filter(|it| edits.iter().any(|edit| it.body.contains(edit.span)));
    wished.extend(edited.map(|it| it.address.as_str()));
    let linked = |it: &Resource| {
        let to = |link: &crate::inventory::Link| link.kind == LinkKind::Pool && wished.contains(link.to.as_str());
        it.links.iter().any(to)
    };
    let facts = |state: &JudgedTree| -> BTreeMap<(String, String), String> {
        let all = state.analysis.inventory.resources.iter();
        // A base is not deployed itself.
        let deployed = all.filter(|it| it.counted != CountedAs::Base);
        let others = deployed.filter(|it| !wished.contains(it.address.as_str()) && !linked(it));
        others.map(|it| ((state.session.sources.path(it.span.file), it.address.clone()), shown(it))).collect()
    };
    let (before, after) = (facts(before), facts(after));
    let differs = |(key, facts): (&(String, String), &String)| (after.get(key) != Some(facts)).then(|| key.0.clone());
    let gone = before.iter().filter_map(differs);
    gone.chain(after.keys().filter(|key| !before.contains_key(*key)).map(|key| key.0.clone())).collect()
}

/// Returns the facts of a resource from its own file, without positions.
fn shown(resource: &Resource) -> String {
    let facts = resource.facts().map(|(key, fact)| format!("{}={:?};", key.name(), fact.value()));
    let labels = resource.labels.entries.iter().map(|(key, fact)| format!("{key}:{:?};", fact.value()));
    facts.chain(labels).collect::<String>() + &format!("{:?}", resource.count.value())
}
