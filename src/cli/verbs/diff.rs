//! `gpulint diff`: what a change does to cost and to findings.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::Analysis;
use crate::catalog::Money;
use crate::cli::args::Diff;
use crate::cli::session::Session;
use crate::cli::session::base_revision::{self, earlier};
use crate::cli::session::gate::Gate;
use crate::cli::session::outgrown::{self, Outgrown, States};
use crate::cli::session::{aside, lost, unexplained, unjudged};
use crate::cli::world::git::Base;
use crate::cli::world::{output, place};
use crate::cli::{Failure, Outcome};
use crate::decide::{self, Decided, Decision, Growth};
use crate::inventory::{ResourceId, Standing};
use crate::pricing::{ChangeKind, Delta, Side, delta};
use crate::report::{self, Difference, Format, Report, Saved, Spent};
use crate::rules::{Finding, World};
use crate::source::Sources;

pub(in crate::cli) fn run(arguments: Diff) -> Result<Outcome, Failure> {
    compare(&with_base(arguments)?)
}

/// As git has it: `diff main` and `diff main infra/` name a commit first, where nothing on the disk is called so.
fn with_base(mut arguments: Diff) -> Result<Diff, Failure> {
    let is_named = arguments.base.is_some() || arguments.base_dir.is_some() || arguments.base_file.is_some();
    let first = arguments.input.paths.first().and_then(|path| path.to_str()).filter(|path| !is_named && *path != "-");
    let Some(first) = first.filter(|path| fs::symlink_metadata(path).is_err()).map(str::to_owned) else {
        return Ok(arguments);
    };
    let here = std::env::current_dir().unwrap_or_default();
    let is_commit = place::repository(&here).is_some_and(|repository| Base::find(repository, &first).is_ok());
    if !is_commit {
        return Err(Failure::new(format!("`{first}` is neither a path nor a commit that git knows here")).with_help(
            format!("gpulint diff --base REF PATHS; a branch that was not fetched: git fetch origin {first}"),
        ));
    }
    arguments.input.paths.remove(0);
    arguments.base = Some(first);
    Ok(arguments)
}

fn compare(arguments: &Diff) -> Result<Outcome, Failure> {
    if let Some((before, after)) = saved_reports(arguments)? {
        return compare_saved(arguments, &before, after);
    }
    let mut head = Session::judging(&arguments.input, &arguments.selection)?;
    if arguments.staged {
        head = base_revision::staged(&head)?;
    }
    let mut notes = Vec::new();
    let (base, touched) = earlier(arguments, &mut head, &mut notes)?;
    let gate = Gate::of_change(&arguments.threshold, &head.config);
    let mut after = head.analyze_all();
    after.let_go();
    let before = base.analyze_before(&head);
    demand_whole(&base)?;
    lost::settle(&base, &before, &head, &mut after);
    let change = difference(before.side(&base.sources), after.side(&head.sources));
    judge_change(&head, &mut after, &change);
    let gone = lost::gone(&change, before.side(&base.sources), after.side(&head.sources));
    lost::mark(&mut after.inventory.unjudged, &gone, &head.sources);
    let aside = aside::grown(&base, &before, &head, &after, &change);
    after.inventory.unjudged.extend(aside);
    let mut unjudged = std::mem::take(&mut after.inventory.unjudged);
    let states = unexplained::States { base: &base, before: &before, head: &head, after: &after };
    let not_explained = unexplained::not_explained(&states, &touched, &mut unjudged);
    let said: HashSet<String> =
        unjudged.iter().filter(|it| it.standing != Standing::AsBefore).map(|it| it.path.clone()).collect();
    unjudged.extend(not_explained.into_iter().filter(|it| !said.contains(&it.path)));
    after.inventory.unjudged = unjudged;
    let (before, earlier) = decided(&base, before, &gate);
    let (mut after, mut later) = decided(&head, after, &gate);
    let stopped = earlier.findings.iter().filter(|it| gate.stops(it)).map(|it| &it.finding);
    let undecided = lost::undecided(stopped, &change, &head.sources, &after);
    after.inventory.unjudged.extend(undecided);
    let outgrown = reopen(
        gate.growth,
        base.report(&before, &earlier.findings),
        &earlier,
        head.report(&after, &later.findings),
        &later,
        &mut notes,
    );
    for at in &outgrown.reopened {
        later.findings.get_mut(*at).into_iter().for_each(outgrown::reopen);
    }
    let added = tell_what_is_added(&base.report(&before, &earlier.findings), &head.report(&after, &later.findings));
    for (decided, added) in later.findings.iter_mut().zip(added) {
        added.into_iter().for_each(|added| decided.finding.message.push_str(&format!("; {added}")));
    }
    let moved: HashSet<ResourceId> = change.visible().filter_map(|change| change.after).collect();
    let touched = later.findings.iter_mut().filter(|it| it.finding.resource.is_some_and(|id| moved.contains(&id)));
    decide::point_at_change(touched, &base.sources, &head.sources);
    let compared = Compared {
        before: base.report(&before, &earlier.findings),
        after: head.report(&after, &later.findings),
        outgrown: &outgrown,
        text: &lost::text_of,
    };
    let failed = tell(arguments, &gate, compared, notes)?;
    head.demand_whole_rules(&after)?;
    if failed {
        return Ok(Outcome::Failed);
    }
    unjudged::demand_read(&head, &after)?;
    // A change that removes the last file was checked too.
    if base.was_anything_checked(&before) { Ok(Outcome::Passed) } else { Ok(head.outcome(&after)) }
}

/// The findings of which a suppression covers more than before; `notes` tell which suppressions were removed.
fn reopen(
    growth: Growth,
    before: Report,
    earlier: &Decision,
    after: Report,
    later: &Decision,
    notes: &mut Vec<String>,
) -> Outgrown {
    let delta = difference(side_of(&before), side_of(&after));
    let grown = grown(&delta, growth, &before, &after);
    let (earlier, later) = (&earlier.suppressions, &later.suppressions);
    let states = States { before: &before, earlier, after: &after, later, delta: &delta, grown: &grown };
    notes.extend(states.removed());
    states.outgrown()
}

/// Both states, as far as anything was decided about them.
struct Compared<'a> {
    before: Report<'a>,
    after: Report<'a>,
    outgrown: &'a Outgrown,
    /// What a finding without a resource is about.
    text: &'a dyn Fn(&Sources, &Finding) -> String,
}

/// What became of the resources, and what of them went out of sight.
fn difference(before: Side, after: Side) -> Delta {
    let mut delta = delta(before, after);
    lost::lose(&mut delta, before, after);
    delta
}

/// Writes what lies between the two states; whether the gate is closed.
fn tell(arguments: &Diff, gate: &Gate, states: Compared<'_>, notes: Vec<String>) -> Result<bool, Failure> {
    let Compared { before, mut after, outgrown, text } = states;
    let delta = difference(side_of(&before), side_of(&after));
    let selves = earlier_selves(&delta);
    let earlier = identities(&before, text, Some);
    let later = identities(&after, text, |id| selves.get(&id).copied());
    let accepted = newly_accepted(&before, &earlier, &after, &later, &outgrown.renewed);
    let compared = decide::compare(&earlier, &later);
    let grown = grown(&delta, gate.growth, &before, &after);
    let budgets = report::budgets(&before, &after);
    let is_worse = |at: &usize| {
        outgrown.reopened.contains(at)
            || after.findings.get(*at).is_some_and(|it| has_grown(&it.finding, &budgets))
            || after
                .findings
                .get(*at)
                .and_then(|decided| decided.finding.resource)
                .is_some_and(|id| grown.contains(&id))
    };
    let (worse, unchanged): (Vec<usize>, Vec<usize>) = compared.unchanged.iter().partition(|at| is_worse(at));
    let (new, grown) = apart_from_known_text(&after, compared.new, &compared.unchanged);
    let (new, grown) = (chosen(&after, &new), chosen(&after, &[worse, grown].concat()));
    let undecided: HashSet<(&str, ResourceId)> = {
        let all = after.undetermined.iter();
        all.filter_map(|it| Some((it.rule.as_str(), *selves.get(&it.resource?)?))).collect()
    };
    // What nobody can say any more is not cured.
    let is_undecided = |at: &usize| {
        let finding = before.findings.get(*at).map(|it| &it.finding);
        finding.is_some_and(|it| it.resource.is_some_and(|id| undecided.contains(&(it.rule.as_str(), id))))
    };
    let (verdict, blocked) = gate.decide(new.iter().chain(&grown).copied(), &after.inventory.unjudged);
    after.verdict = verdict;
    let difference = Difference {
        teams: report::teams(&before, &after),
        budgets,
        unchanged: chosen(&after, &unchanged),
        accepted,
        fixed: chosen(&before, &compared.fixed.into_iter().filter(|at| !is_undecided(at)).collect::<Vec<_>>()),
        before,
        after,
        delta: &delta,
        new,
        grown,
        base: base_revision::name(arguments).unwrap_or_else(|| "the state before the plan".to_owned()),
        head: arguments.files_url.clone(),
        notes,
        gate: report::Gate { blocked, setting: gate.decided_by(verdict, blocked) },
    };
    output::write(&arguments.output, Format::Text, |format, style| report::difference(format, &difference, style))?;
    Ok(blocked)
}

fn side_of<'a>(report: &Report<'a>) -> Side<'a> {
    Side { sources: report.sources, inventory: report.inventory, bill: report.bill }
}

/// What rules say about the change as a whole, as findings of its later state.
fn judge_change(head: &Session, after: &mut Analysis, delta: &Delta) {
    let world = World { delta: Some(delta), ..after.world(&head.settings) };
    let judgement = head.settings.rules.judge_change(&world);
    after.findings.extend(judgement.findings);
    after.undetermined.extend(judgement.undetermined);
    after.broken_rules.extend(judgement.failures);
}

/// A base of which parts are missing would make everything in them look new.
fn demand_whole(base: &Session) -> Result<(), Failure> {
    match base.missing() {
        None => Ok(()),
        Some(missing) => Err(Failure::new(format!("this partial clone does not hold `{missing}` of the base"))
            .with_help("fetch the base as a whole: git fetch --refetch --no-filter origin")),
    }
}

fn decided(session: &Session, analysis: Analysis, gate: &Gate) -> (Analysis, Decision) {
    let (analysis, mut decision) = session.decide(analysis);
    decision.findings.retain(|decided| gate.shows(decided));
    (analysis, decision)
}

/// Those that nobody has accepted.
fn chosen<'a>(report: &Report<'a>, places: &[usize]) -> Vec<&'a Decided> {
    places.iter().filter_map(|at| report.findings.get(*at)).filter(|decided| decided.counts()).collect()
}

/// Findings that are new, and those of more instances of a text of which the same was said before.
fn apart_from_known_text(report: &Report<'_>, new: Vec<usize>, unchanged: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let text =
        |at: &usize| {
            let finding = &report.findings.get(*at)?.finding;
            Some((
                finding.rule.clone(),
                report.sources.origin(finding.resource.map_or(finding.span, |id| {
                    report.inventory.resources.get(id.0).map_or(finding.span, |it| it.span)
                })),
            ))
        };
    let known: HashSet<_> = unchanged.iter().filter_map(text).collect();
    new.into_iter().partition(|at| text(at).is_none_or(|text| !known.contains(&text)))
}

/// What makes a finding the same in both states: its rule and its resource, or its file and its text where it has none.
fn identities(
    report: &Report<'_>,
    text: &dyn Fn(&Sources, &Finding) -> String,
    resource: impl Fn(ResourceId) -> Option<ResourceId>,
) -> Vec<(String, String)> {
    let mut unpaired: HashMap<ResourceId, usize> = HashMap::new();
    let identity = |decided: &Decided| {
        let finding = &decided.finding;
        let about = match finding.resource {
            Some(id) => match resource(id) {
                Some(earlier) => format!("resource {}", earlier.0),
                None => {
                    let next = unpaired.len();
                    format!("new {}", unpaired.entry(id).or_insert(next))
                }
            },
            None => match (&finding.total, &finding.piece) {
                (Some(total), _) => format!("total {}", total.name),
                (None, Some(piece)) => format!("{} {}", report.sources.path(finding.span.file), piece.address),
                (None, None) => format!("{} {}", report.sources.path(finding.span.file), text(report.sources, finding)),
            },
        };
        (finding.rule.clone(), about)
    };
    report.findings.iter().map(identity).collect()
}

/// The earlier self of each resource.
fn earlier_selves(delta: &Delta) -> HashMap<ResourceId, ResourceId> {
    delta.changes.iter().filter_map(|change| change.after.zip(change.before)).collect()
}

/// The budget that it is about pays more than before.
fn has_grown(finding: &Finding, budgets: &[Spent]) -> bool {
    let own = finding.total.as_ref().and_then(|total| budgets.iter().find(|it| it.is_of(&finding.rule, total)));
    own.is_some_and(|it| it.before.is_some_and(|before| it.after > before))
}

/// Says of each budget that is spoken of what the change adds to it.
fn tell_what_is_added(before: &Report<'_>, after: &Report<'_>) -> Vec<Option<String>> {
    let budgets = report::budgets(before, after);
    let added = |decided: &Decided| {
        let finding = &decided.finding;
        let total = finding.total.as_ref()?;
        let spent = budgets.iter().find(|it| it.is_of(&finding.rule, total))?;
        let added = spent.after - spent.before.unwrap_or_default();
        (added > Money::ZERO).then(|| format!("this change adds {}/month", report::usd(added)))
    };
    after.findings.iter().map(added).collect()
}

/// Resources that the change made clearly dearer: what was said about them before is worse now.
fn grown(delta: &Delta, growth: Growth, before: &Report<'_>, after: &Report<'_>) -> HashSet<ResourceId> {
    let cost = |report: &Report<'_>, id: ResourceId| {
        report.bill.items.get(id.0).and_then(|item| Some((item.per, item.amount?)))
    };
    let changed = delta.changes.iter().filter(|change| change.kind == ChangeKind::Changed);
    let grown = changed.filter_map(|change| {
        let (earlier, later) = (change.before?, change.after?);
        let ((per, before), (per_after, after)) = (cost(before, earlier)?, cost(after, later)?);
        if per != per_after {
            return Some(later);
        }
        let is_dearer = |before: Money, after: Money| growth.is_dearer(before.usd(), after.usd());
        (is_dearer(before.expected, after.expected) || is_dearer(before.ceiling, after.ceiling)).then_some(later)
    });
    grown.collect()
}

/// Findings that are suppressed and were not before: a reviewer should know who accepts what.
fn newly_accepted<'a>(
    before: &Report<'a>,
    earlier: &[(String, String)],
    after: &Report<'a>,
    later: &[(String, String)],
    renewed: &[usize],
) -> Vec<&'a Decided> {
    let suppressed = |report: &Report<'a>| report.findings.iter().map(|decided| decided.suppressed.is_some());
    let known: HashSet<&(String, String)> =
        earlier.iter().zip(suppressed(before)).filter(|(_, is)| *is).map(|(identity, _)| identity).collect();
    let of_after = after.findings.iter().zip(later).enumerate();
    let is_news = |at: usize, identity| renewed.contains(&at) || !known.contains(identity);
    let accepted = of_after.filter(|(at, (it, identity))| it.suppressed.is_some() && is_news(*at, *identity));
    accepted.map(|(_, (it, _))| it).collect()
}

/// Both sides, if they are reports that were saved.
fn saved_reports(arguments: &Diff) -> Result<Option<(report::State, report::State)>, Failure> {
    let ([after], Some(base)) = (arguments.input.paths.as_slice(), &arguments.base_file) else { return Ok(None) };
    let read = |path: &Path| {
        let text = fs::read_to_string(path).ok().filter(|_| path.is_file())?;
        match report::saved(&text) {
            Ok(Saved::Check(state)) => Some(*state),
            _ => None,
        }
    };
    match (read(base), read(after)) {
        (Some(before), Some(after)) => Ok(Some((before, after))),
        (None, None) => Ok(None),
        _ => Err(Failure::new("a saved report is compared with another saved report")
            .with_help("save both with: gpulint check --format json --output FILE")),
    }
}

/// Two saved reports. Of rules, only those about a change are asked: the others have spoken.
fn compare_saved(arguments: &Diff, before: &report::State, mut after: report::State) -> Result<Outcome, Failure> {
    let session = Session::rules_only(&arguments.input, &arguments.selection)?;
    let gate = Gate::of_change(&arguments.threshold, &session.config);
    let rules = &session.settings.rules;
    let earlier = before.report(rules);
    lost::settle_saved(earlier.inventory, after.inventory_mut());
    let later = after.report(rules);
    let change = difference(side_of(&earlier), side_of(&later));
    let world = World {
        inventory: later.inventory,
        bill: later.bill,
        fit: &[],
        today: Some(session.today),
        catalog: &session.settings.catalog,
        pricing: &session.settings.pricing,
        delta: Some(&change),
    };
    let judgement = rules.judge_change(&world);
    let mut unjudged = after.report(rules).inventory.unjudged.clone();
    lost::mark(&mut unjudged, &lost::gone(&change, side_of(&earlier), side_of(&later)), later.sources);
    after.inventory_mut().unjudged = unjudged;
    after.add(judgement.findings);
    // No text is at hand.
    let text = |_: &Sources, finding: &Finding| finding.message.clone();
    let (before, after) = (before.report(rules), after.report(rules));
    let compared = Compared { before, after, outgrown: &Outgrown::default(), text: &text };
    let failed = tell(arguments, &gate, compared, Vec::new())?;
    Ok(if failed { Outcome::Failed } else { Outcome::Passed })
}
