//! Writes what pages wish into the files, where `check --fix` asks for it, or shows it (`--diff`).
//!
//! Whether an edit does what it should is not guessed: the run is repeated on the changed text, in memory. What changes
//! anything else is given up, and files are written once, at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::catalog::{Currency, Money};
use crate::cli::args::{Check, Input};
use crate::cli::session::Session;
use crate::cli::session::gate::gate;
use crate::cli::world::output;
use crate::cli::{Failure, Outcome};
use crate::decide::Decided;
use crate::diagnostic::Level;
use crate::inventory::{LinkKind, Resource, Role};
use crate::report::{self, Format};
use crate::rules::{Finding, Safety};
use crate::source::unified;
use crate::source::{FileId, from_utf16, normalize};
use crate::{Analysis, fix};

/// A fix may make another one possible; more often than this in a row none does.
const MOST_ROUNDS: usize = 10;

/// Rule, file and address: what stays the same when lines move.
type Identity = (String, String, Option<String>);

type Texts = BTreeMap<String, Vec<u8>>;

pub(in crate::cli) fn run(arguments: &Check) -> Result<Outcome, Failure> {
    if arguments.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("fixes are written into files, and standard input is none"));
    }
    let first = State::judge(arguments, &Texts::new())?;
    first.session.demand_whole_rules(&first.analysis)?;
    let before = first.costs();
    let mut work = Work::default();
    let mut state = first;
    for _ in 0..MOST_ROUNDS {
        match work.round(arguments, &state)? {
            Some(after) => state = after,
            None => break,
        }
    }
    if arguments.diff {
        return show(&state, &work, &before);
    }
    let left_alone = work.save(&state.session)?;
    let gate = gate(&arguments.threshold, &state.session.policy);
    let report = state.session.report(&state.analysis, &state.findings);
    output::write(&arguments.output, Format::Text, |format, style| {
        report::render(format, &report, arguments.view.style(style))
    })?;
    work.tell("fixed", &state, &before);
    for (path, why) in &left_alone {
        output::complain(&format!("`{}` {why} and is left alone", state.session.scope.paths.show(path)));
    }
    let failed = !left_alone.is_empty() || state.findings.iter().any(|decided| gate.stops(decided));
    Ok(if failed { Outcome::Failed } else { state.session.outcome(&state.analysis) })
}

fn show(state: &State, work: &Work, before: &Costs) -> Result<Outcome, Failure> {
    let mut text = String::new();
    for (path, new) in &work.texts {
        let old = work.originals.get(path).map(Vec::as_slice).unwrap_or_default();
        let shown = state.session.scope.paths.show(path);
        text.push_str(&unified(&shown, &String::from_utf8_lossy(old), &String::from_utf8_lossy(new)));
    }
    output::print_exact(&text)?;
    work.tell("would be fixed", state, before);
    Ok(if work.texts.is_empty() { state.session.outcome(&state.analysis) } else { Outcome::Failed })
}

/// What each resource is expected to cost a month, by address.
struct Costs {
    by_address: BTreeMap<String, (Role, Money)>,
    currency: Currency,
}

impl Costs {
    fn new(analysis: &Analysis, currency: Currency) -> Costs {
        let mut by_address = BTreeMap::new();
        for (resource, item) in analysis.inventory.resources.iter().zip(&analysis.bill.items) {
            let Some(monthly) = item.monthly else { continue };
            by_address.entry(resource.address.clone()).or_insert((resource.role, Money::ZERO)).1 += monthly.expected;
        }
        Costs { by_address, currency }
    }

    /// By how much these resources became cheaper, as the end of a sentence. What machines cost and what is asked of them
    /// are never added: nobody pays both.
    fn saved(&self, after: &Costs, addresses: &BTreeSet<String>) -> String {
        let of = |role: Role| -> f64 {
            let both = addresses
                .iter()
                .filter_map(|address| Some((self.by_address.get(address)?, after.by_address.get(address)?)));
            both.filter(|(before, _)| before.0 == role).map(|(before, after)| before.1.usd() - after.1.usd()).sum()
        };
        let all = [(of(Role::Rented), "rented"), (of(Role::Requested), "requested")];
        let told = all
            .into_iter()
            .filter(|(saved, _)| *saved >= 0.5)
            .map(|(saved, what)| format!("{what} for {} a month less", self.currency.amount(Money::from_usd(saved))));
        match told.collect::<Vec<_>>().join(", ") {
            told if told.is_empty() => told,
            told => format!("; {told}"),
        }
    }
}

/// A run, before or after edits.
struct State {
    session: Session,
    analysis: Analysis,
    findings: Vec<Decided>,
}

impl State {
    fn costs(&self) -> Costs {
        Costs::new(&self.analysis, self.session.settings.pricing.currency)
    }

    fn judge(arguments: &Check, texts: &Texts) -> Result<State, Failure> {
        let given = texts.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
        let input = Input { given, ..arguments.input.clone() };
        let session = Session::judging(&input, &arguments.selection)?;
        let (analysis, mut findings) = session.judge();
        let gate = gate(&arguments.threshold, &session.policy);
        findings.retain(|decided| gate.shows(decided));
        Ok(State { session, analysis, findings })
    }

    fn identity(&self, finding: &Finding) -> Identity {
        let path = self.session.sources.path(self.session.sources.origin(finding.span).file);
        (finding.rule.clone(), path, finding.address(&self.analysis.inventory).map(str::to_owned))
    }

    /// What may be fixed: it counts, it is as safe as was asked for, and its text is among what was named.
    fn fixable<'s>(&'s self, arguments: &Check, given_up: &BTreeMap<Identity, String>) -> Vec<&'s Finding> {
        let limit = if arguments.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
        let safe = |it: &&Finding| it.safety().is_some_and(|safety| safety <= limit);
        let counting = self.findings.iter().filter(|decided| decided.counts()).map(|decided| &decided.finding);
        let named = |it: &&Finding| it.edits.iter().all(|edit| self.is_writable(edit.span.file));
        counting.filter(safe).filter(named).filter(|it| !given_up.contains_key(&self.identity(it))).collect()
    }

    /// The file was named, is no link to another one, and is read as it is: bytes that are no UTF-8 have no place in it, nor
    /// has a file in UTF-16.
    fn is_writable(&self, file: FileId) -> bool {
        let path = self.session.sources.path(file);
        let real = |path: &Path| path.canonicalize().ok();
        let is_itself = real(&self.session.scope.root)
            .is_some_and(|root| real(&root.join(&path)).is_some_and(|place| place == root.join(&path)));
        self.session.is_named(&path)
            && is_itself
            && !self.session.sources.text(file).contains('\u{fffd}')
            && !self.session.sources.tree().read(&path).is_ok_and(|bytes| from_utf16(&bytes).is_some())
    }

    /// Whatever a finding is about.
    fn resources(&self, finding: &Finding) -> impl Iterator<Item = &Resource> {
        let all = finding.resource.into_iter().chain(finding.also.iter().copied());
        all.filter_map(|id| self.analysis.inventory.resources.get(id.0))
    }
}

/// What was done so far.
#[derive(Default)]
struct Work {
    texts: Texts,
    /// The same files as they were read.
    originals: Texts,
    fixed: Vec<Identity>,
    /// The resources about which something was fixed that saves money.
    cheaper: BTreeSet<String>,
    /// What was given up, and why.
    given_up: BTreeMap<Identity, String>,
}

impl Work {
    /// Makes the edits that can be made together; nothing where there are none that do what they should.
    fn round(&mut self, arguments: &Check, state: &State) -> Result<Option<State>, Failure> {
        loop {
            let chosen = fix::compatible(state.fixable(arguments, &self.given_up));
            if chosen.is_empty() {
                return Ok(None);
            }
            let mut texts = self.texts.clone();
            let changed = fix::texts(&state.session.sources, &chosen);
            texts.extend(changed.into_iter().map(|(path, text)| (path, text.into_bytes())));
            let after = State::judge(arguments, &texts)?;
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
            // each turn gives something up, so that this ends
            self.given_up.extend(wrong);
        }
    }

    /// Writes the files, save those that nobody may write, and those that somebody changed since they were read.
    fn save(&self, session: &Session) -> Result<Vec<(String, &'static str)>, Failure> {
        let mut left_alone = Vec::new();
        for (path, text) in &self.texts {
            if normalize(path).is_none() {
                return Err(Failure::new(format!("`{}` lies outside", session.scope.paths.show(path))));
            }
            let place = session.scope.root.join(path);
            if fs::read(&place).ok().as_ref() != self.originals.get(path) {
                left_alone.push((path.clone(), "changed meanwhile"));
                continue;
            }
            if fs::metadata(&place).is_ok_and(|it| it.permissions().readonly()) {
                left_alone.push((path.clone(), "may not be written"));
                continue;
            }
            output::save(&place, &String::from_utf8_lossy(text))?;
        }
        Ok(left_alone)
    }

    fn tell(&self, verb: &str, state: &State, before: &Costs) {
        let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
        let left = state.findings.iter().filter(|decided| decided.counts()).count();
        let files = count(self.texts.len(), "file");
        let mut text = format!("{} {verb} in {files}, {left} left", count(self.fixed.len(), "finding"));
        text.push_str(&before.saved(&state.costs(), &self.cheaper));
        output::complain(&text);
        for decided in state.findings.iter().filter(|decided| decided.counts()) {
            let finding = &decided.finding;
            let given_up = self.given_up.get(&state.identity(finding)).map(String::as_str);
            let declined = || finding.fix.as_ref().and_then(|fix| fix.declined.as_deref());
            if let Some(why) = given_up.or_else(declined) {
                let address = finding.address(&state.analysis.inventory).unwrap_or_default();
                output::complain(&report::one_line(&format!("  {} {address}: {why}", finding.rule)));
            }
        }
    }
}

/// The fixes that did something else than they should, and what that was.
fn wrong(before: &State, after: &State, chosen: &[&Finding]) -> BTreeMap<Identity, String> {
    let mut wrong = BTreeMap::new();
    let left: BTreeSet<Identity> =
        after.findings.iter().filter(|it| !it.finding.edits.is_empty()).map(|it| after.identity(&it.finding)).collect();
    let undone = chosen.iter().map(|it| before.identity(it)).filter(|it| left.contains(it));
    wrong.extend(undone.map(|it| (it, "taken back: the finding stays with the edit".to_owned())));
    let changed = changed_elsewhere(before, after, chosen);
    let broken = after.analysis.inventory.diagnostics.len() > before.analysis.inventory.diagnostics.len();
    for finding in chosen {
        let files: BTreeSet<String> =
            finding.edits.iter().map(|edit| before.session.sources.path(edit.span.file)).collect();
        if broken || !files.is_disjoint(&changed) {
            wrong.insert(before.identity(finding), "taken back: the edit would change something else".to_owned());
        }
    }
    if wrong.is_empty() { brought(before, after, chosen) } else { wrong }
}

/// Fixes after which something about their resource is new or worse. Of several of one resource, the last is given up: the
/// others may be all right without it.
fn brought(before: &State, after: &State, chosen: &[&Finding]) -> BTreeMap<Identity, String> {
    let mut given_up: BTreeMap<&str, (Identity, String)> = BTreeMap::new();
    let worse = worse_findings(before, after);
    for finding in chosen {
        let Some(address) = finding.address(&before.analysis.inventory) else { continue };
        if let Some(news) = worse.get(address) {
            let why = format!("taken back: with the edit, {news}");
            given_up.insert(address, (before.identity(finding), why));
        }
    }
    given_up.into_values().collect()
}

/// By address, the first finding that the later state has and the earlier one has not, or of a lower level. What only tells of
/// further money to save is no harm: the next round may take it.
fn worse_findings<'s>(before: &'s State, after: &'s State) -> BTreeMap<&'s str, String> {
    let counting = |state: &'s State| {
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
            worse.entry(address).or_insert_with(|| format!("{}: {}", finding.rule, finding.message));
        }
    }
    worse
}

/// The files of resources whose facts changed though nobody wished it.
fn changed_elsewhere(before: &State, after: &State, chosen: &[&Finding]) -> BTreeSet<String> {
    let wished: BTreeSet<&str> =
        chosen.iter().flat_map(|it| before.resources(it)).map(|it| it.address.as_str()).collect();
    let linked = |it: &Resource| {
        let to = |link: &crate::inventory::Link| link.kind == LinkKind::Pool && wished.contains(link.to.as_str());
        it.links.iter().any(to)
    };
    let facts = |state: &State| -> BTreeMap<(String, String), String> {
        let all = state.analysis.inventory.resources.iter();
        let others = all.filter(|it| !wished.contains(it.address.as_str()) && !linked(it));
        others.map(|it| ((state.session.sources.path(it.span.file), it.address.clone()), shown(it))).collect()
    };
    let (before, after) = (facts(before), facts(after));
    let differs = |(key, facts): (&(String, String), &String)| (after.get(key) != Some(facts)).then(|| key.0.clone());
    let gone = before.iter().filter_map(differs);
    gone.chain(after.keys().filter(|key| !before.contains_key(*key)).map(|key| key.0.clone())).collect()
}

/// The facts of a resource that its own text says, without their places.
fn shown(resource: &Resource) -> String {
    let facts = resource.facts().map(|(key, fact)| format!("{}={:?};", key.name(), fact.value()));
    let labels = resource.labels.entries.iter().map(|(key, fact)| format!("{key}:{:?};", fact.value()));
    facts.chain(labels).collect::<String>() + &format!("{:?}", resource.count.value())
}
