//! Proves fixes: compares the tree before and after the edits. A fix is right if its finding is gone because the waste is
//! gone, its cost falls as promised, and nothing else changes for the worse.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::catalog::{Money, MoneyRange};
use crate::cli::session::judged::{Identity, JudgedTree};
use crate::diagnostic::Level;
use crate::inventory::{CountedAs, Key, Part, Resource, ResourceId};
use crate::pricing::Period;
use crate::rules::Finding;
use crate::source::Edit;

/// Returns the fixes whose effects differ from the intended ones, with these effects.
pub(super) fn wrong(before: &JudgedTree, after: &JudgedTree, chosen: &[&Finding]) -> BTreeMap<Identity, String> {
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
        let is_pool = |pool: &String| before.resources(finding).any(|it| it.address == *pool);
        let by_it = |it: &&ChangedElsewhere| match it.pools.is_empty() {
            true => files.contains(&it.file),
            false => it.pools.iter().any(is_pool),
        };
        let why = match changed.iter().find(by_it) {
            Some(it) if it.pools.is_empty() => format!("the edit would also change {}", it.address),
            Some(it) => format!("after the edit, {} no longer runs on it", it.address),
            None if broken => "after the edit, gpulint reads less of the files".to_owned(),
            None => continue,
        };
        wrong.insert(before.identity(finding), format!("fix withdrawn: {why}"));
    }
    if wrong.is_empty() {
        wrong = brought(before, after, chosen);
    }
    if wrong.is_empty() { unproved(before, after, chosen) } else { wrong }
}

/// Returns fixes whose resource the next run knows less about, or whose saving it does not show. Of several fixes of one
/// resource, the last is withdrawn.
fn unproved(before: &JudgedTree, after: &JudgedTree, chosen: &[&Finding]) -> BTreeMap<Identity, String> {
    let place = |state: &JudgedTree, it: &Resource| (state.session.sources.path(it.span.file), it.address.clone());
    let resources = after.analysis.inventory.resources.iter().enumerate();
    let known: HashMap<(String, String), ResourceId> =
        resources.map(|(at, it)| (place(after, it), ResourceId(at))).collect();
    let mut by_resource: BTreeMap<ResourceId, Vec<&Finding>> = BTreeMap::new();
    for finding in chosen {
        if let Some(id) = finding.resource {
            by_resource.entry(id).or_default().push(finding);
        }
    }
    let mut given_up = BTreeMap::new();
    for (id, findings) in by_resource {
        let Some(resource) = before.analysis.inventory.resources.get(id.0) else { continue };
        let Some(last) = findings.last() else { continue };
        let why = match known.get(&place(before, resource)) {
            None => Some("after the edit, its resource is not found".to_owned()),
            Some(later) => {
                let wanted = findings.iter().filter_map(|it| wanted_number(it)).fold(0.0, f64::max);
                lost(before, after, (id, *later)).or_else(|| grown(before, after, (id, *later), wanted)).or_else(|| {
                    let promised = findings.iter().filter_map(|it| Some((it.saves?, it.per)));
                    unsaved(before, after, (id, *later), &promised.collect::<Vec<_>>())
                })
            }
        };
        if let Some(why) = why {
            given_up.insert(before.identity(last), format!("fix withdrawn: {why}"));
        }
    }
    given_up
}

/// Returns what is unknown only after the edit: such a finding is gone because gpulint knows less.
fn lost(before: &JudgedTree, after: &JudgedTree, (old, new): (ResourceId, ResourceId)) -> Option<String> {
    let facts = |state: &JudgedTree, id: ResourceId| {
        let resource = state.analysis.inventory.resources.get(id.0);
        let known = |key: Key| resource.is_some_and(|it| it.fact(key).value().is_some());
        let count = resource.is_some_and(|it| it.count.value().is_some());
        [
            (count, "number"),
            (known(Key::Machine) || known(Key::Accelerator), "machine"),
            (state.analysis.bill.item(id).amount.is_some(), "cost"),
        ]
    };
    let lost = facts(before, old).into_iter().zip(facts(after, new)).find(|(old, new)| old.0 && !new.0);
    lost.map(|((_, what), _)| format!("after the edit, its {what} is unknown"))
}

/// Returns the number of machines or pods that a fix sets.
fn wanted_number(finding: &Finding) -> Option<f64> {
    let wishes = finding.fix.iter().flat_map(|fix| &fix.wishes);
    wishes.filter(|wish| wish.part == Part::Floor).find_map(|wish| wish.value.as_ref()?.as_number())
}

/// Returns a larger maximum number than the fix sets: an autoscaler that an edit enables may add machines.
fn grown(before: &JudgedTree, after: &JudgedTree, (old, new): (ResourceId, ResourceId), wanted: f64) -> Option<String> {
    let most = |state: &JudgedTree, id: ResourceId| {
        let resource = state.analysis.inventory.resources.get(id.0)?;
        resource.count.value().map(|count| count.ceiling)
    };
    let (was, is) = (most(before, old)?, most(after, new)?);
    (is > was.max(wanted)).then(|| format!("after the edit, its maximum number is {is} instead of {was}"))
}

/// The largest difference between a promised saving and the next run: rounding.
const TOLERANCE: f64 = 0.02;

/// Returns the reason why the cost does not fall as promised.
fn unsaved(
    before: &JudgedTree,
    after: &JudgedTree,
    (old, new): (ResourceId, ResourceId),
    promised: &[(MoneyRange, Period)],
) -> Option<String> {
    let (old, new) = (before.analysis.bill.item(old), after.analysis.bill.item(new));
    let (was, is) = (old.amount?, new.amount?);
    let most = promised.iter().filter(|(_, per)| *per == old.per).map(|(saves, _)| saves.expected).max()?;
    if most.usd() < 1.0 {
        return None;
    }
    let slack = was.expected.usd().abs() * TOLERANCE + 1.0;
    let currency = before.session.settings.pricing.currency;
    let amount = |usd: f64| currency.amount(Money::from_usd(usd));
    let falls = is.expected < was.expected || is.floor < was.floor || is.ceiling < was.ceiling;
    if old.per != new.per || !falls {
        return Some(format!("it promises to save {}, but the cost does not fall", amount(most.usd())));
    }
    // The cost may fall further than promised.
    let largest = was.expected.usd() - is.floor.usd();
    (most.usd() > largest + slack).then(|| {
        let saved = was.expected.usd() - is.expected.usd();
        format!("it promises to save {}, but the cost falls by {}", amount(most.usd()), amount(saved))
    })
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

/// A resource whose facts change although no fix requests it.
struct ChangedElsewhere {
    file: String,
    address: String,
    /// The pools of fixes on which it ran before.
    pools: BTreeSet<String>,
}

/// Returns the resources with unintended changes of facts.
fn changed_elsewhere(before: &JudgedTree, after: &JudgedTree, chosen: &[&Finding]) -> Vec<ChangedElsewhere> {
    let mut wished: BTreeSet<&str> =
        chosen.iter().flat_map(|it| before.resources(it)).map(|it| it.address.as_str()).collect();
    // A template costs nothing itself, and the writer edits it only for its one user.
    let edits: Vec<&Edit> = chosen.iter().flat_map(|it| &it.edits).collect();
    let resources = || before.analysis.inventory.resources.iter();
    let templates = resources().filter(|it| it.count.value().is_some_and(|count| count.ceiling == 0.0));
    let edited = templates.filter(|it| edits.iter().any(|edit| it.body.contains(edit.span)));
    wished.extend(edited.map(|it| it.address.as_str()));
    let pools = |it: &Resource| -> BTreeSet<String> {
        it.pools().filter(|pool| wished.contains(pool)).map(str::to_owned).collect()
    };
    let place = |state: &JudgedTree, it: &Resource| (state.session.sources.path(it.span.file), it.address.clone());
    let ran_on: BTreeMap<(String, String), BTreeSet<String>> =
        resources().map(|it| (place(before, it), pools(it))).filter(|(_, pools)| !pools.is_empty()).collect();
    let facts = |state: &JudgedTree| -> BTreeMap<(String, String), String> {
        let all = state.analysis.inventory.resources.iter();
        // A base is not deployed itself.
        let deployed = all.filter(|it| it.counted != CountedAs::Base);
        let others = deployed.filter(|it| !wished.contains(it.address.as_str()) && pools(it).is_empty());
        others.map(|it| (place(state, it), shown(it))).collect()
    };
    let (was, is) = (facts(before), facts(after));
    let gone = was.iter().filter(|(key, facts)| is.get(*key) != Some(*facts)).map(|(key, _)| key);
    let changed = gone.chain(is.keys().filter(|key| !was.contains_key(*key)));
    changed
        .map(|key| ChangedElsewhere {
            file: key.0.clone(),
            address: key.1.clone(),
            pools: ran_on.get(key).cloned().unwrap_or_default(),
        })
        .collect()
}

/// Returns the facts of a resource from its own file, without positions.
fn shown(resource: &Resource) -> String {
    let facts = resource.facts().map(|(key, fact)| format!("{}={:?};", key.name(), fact.value()));
    let labels = resource.labels.entries.iter().map(|(key, fact)| format!("{key}:{:?};", fact.value()));
    facts.chain(labels).collect::<String>() + &format!("{:?}", resource.count.value())
}
