//! `gpulint diff`: what a change does to cost and to findings.

mod notes;

use std::fs;
use std::path::Path;

use notes::Remarks;

use crate::Analysis;
use crate::catalog::Currency;
use crate::cli::args::{Diff, Selection};
use crate::cli::io::git::Base;
use crate::cli::io::{output, place};
use crate::cli::session::alone::SeparateFiles;
use crate::cli::session::base_revision::{self, earlier};
use crate::cli::session::gate::gate_of_change;
use crate::cli::session::remembered::StagedFiles;
use crate::cli::session::undeclared_variables::demand_declared;
use crate::cli::session::{Session, demand};
use crate::cli::{ExitStatus, Failure};
use crate::compare::{self, Gate, Reconsidered, Touched};
use crate::decide::{Decided, Decision};
use crate::pricing::PricingSettings;
use crate::report::{self, Difference, EntryDetail, Format, Report, Saved};
use crate::rules::{Earlier, Finding, RuleContext};
use crate::source::{SourceFiles, drop_large};

/// The next step outside a git repository.
const WITHOUT_GIT: &str = "pass the state before the change with --base-dir DIR or --base-file FILE";

pub(in crate::cli) fn run(arguments: Diff) -> Result<ExitStatus, Failure> {
    diff(&with_base(arguments)?)
}

/// Takes the first path as the base, as git does, if it does not exist on the disk: `diff main` and `diff main infra/`.
fn with_base(mut arguments: Diff) -> Result<Diff, Failure> {
    let is_named = arguments.base.is_some() || arguments.base_dir.is_some() || arguments.base_file.is_some();
    let here = std::env::current_dir().and_then(|it| it.canonicalize()).unwrap_or_default();
    let repository = place::repository(&here);
    if let Some(root) = arguments.repository_url.take() {
        // If the directory's name cannot be part of an address, the report has no links.
        let below = repository.and_then(|it| here.strip_prefix(it).ok()?.to_str());
        arguments.files_url = below.and_then(|below| root.below(below));
    }
    if repository.is_none() && !is_named && !arguments.staged && arguments.input.paths.is_empty() {
        return Err(Failure::new("this is not a git repository").with_help(WITHOUT_GIT));
    }
    let first = arguments.input.paths.first().and_then(|path| path.to_str()).filter(|path| !is_named && *path != "-");
    let Some(first) = first.filter(|path| fs::symlink_metadata(path).is_err()).map(str::to_owned) else {
        return Ok(arguments);
    };
    let is_commit = repository.is_some_and(|repository| Base::find(repository, &first).is_ok());
    if !is_commit && repository.is_none() {
        return Err(Failure::new(format!("path `{first}` does not exist, and this is not a git repository"))
            .with_help(WITHOUT_GIT));
    }
    if !is_commit {
        return Err(Failure::new(format!("`{first}` is neither a path nor a commit of this clone")).with_help(format!(
            "pass `gpulint diff --base REF PATHS`; if {first} is a branch that the clone lacks, run `git fetch origin {first}`"
        )));
    }
    arguments.input.paths.remove(0);
    arguments.base = Some(first);
    Ok(arguments)
}

fn diff(arguments: &Diff) -> Result<ExitStatus, Failure> {
    if let Some((before, after)) = saved_reports(arguments)? {
        return compare_saved(arguments, &before, after);
    }
    let (mut head, staged) = later(arguments)?;
    let mut notes = Vec::new();
    let (base, touched) = earlier(arguments, &mut head, staged.as_ref(), &mut notes)?;
    notes.extend(notes::measured_otherwise(&head, &touched));
    let outcome = compared(arguments, (&base, &head), staged.as_ref(), &touched, notes);
    let files = base.sources.count() + head.sources.count();
    drop_large((base, head), files);
    outcome
}

/// Compares both states and writes the report.
fn compared(
    arguments: &Diff,
    (base, head): (&Session, &Session),
    staged: Option<&StagedFiles>,
    touched: &Touched,
    mut notes: Vec<String>,
) -> Result<ExitStatus, Failure> {
    let gate = gate_of_change(&arguments.threshold, &head.policy);
    let analyzed = head.analyze_head();
    if let Some(staged) = staged {
        analyzed.remember(staged);
    }
    let before = analyzed.analyze_base(base);
    let mut after = analyzed.analysis;
    demand_whole(base)?;
    demand_declared(&[(head, &after), (base, &before)])?;
    let (base_state, head_state) = (base.state(), head.state());
    let change = compare::compare(&base_state, &before, &head_state, &mut after, touched);
    notes.extend(note_hidden_growth((base, &before), (head, &mut after), touched));
    let mut remarks = Remarks::of_files((base, &before), (head, &after), touched, notes);
    let (before, earlier) = decided(base, before, &gate);
    let (mut after, mut later) = decided(head, after, &gate);
    let reconsidered =
        compare::reconsider(&change, &gate, (&base_state, &before, &earlier), (&head_state, &mut after, &mut later));
    remarks.notes.extend(notes::removed_suppressions(base, &reconsidered));
    remarks.notes.extend(notes::no_limit_on_growth(head, &change));
    let before_report = base.report(&before, &earlier.findings);
    let after_report = Report { title: arguments.output.title.as_deref(), ..head.report(&after, &later.findings) };
    let failed =
        write_difference(arguments, &gate, (before_report, after_report), reconsidered, &compare::text_of, remarks)?;
    head.demand_whole_rules(&after)?;
    let outcome = match failed {
        true => ExitStatus::Failed,
        false => {
            demand::demand_read(head, &after)?;
            // A change that removes the last file counts as checked.
            if base.was_anything_checked(&before) { ExitStatus::Passed } else { head.outcome(&after) }
        }
    };
    let parts = before.inventory.resources.len() + after.inventory.resources.len();
    drop_large((before, after), parts);
    Ok(outcome)
}

/// Adds an entry for each file whose growth another file of the change hides. Returns a note if not every file was
/// applied alone.
fn note_hidden_growth(
    (base, before): (&Session, &Analysis),
    (head, after): (&Session, &mut Analysis),
    touched: &Touched,
) -> Option<String> {
    let separate = SeparateFiles::of(base, head, touched)?;
    let hidden = separate.hidden(before, after);
    after.inventory.unjudged.extend(hidden);
    after.bill.set_unread(&after.inventory);
    separate.limit()
}

/// Returns the state after the change. With --staged, this is the index.
fn later(arguments: &Diff) -> Result<(Session, Option<StagedFiles>), Failure> {
    let selection = Selection { compares: true, ..arguments.selection.clone() };
    if !arguments.staged {
        return Ok((Session::judging(&arguments.input, &selection)?, None));
    }
    let settings = Session::of_index(&arguments.input, &selection)?;
    base_revision::staged(&settings).map(|(head, staged)| (head, Some(staged)))
}

/// Writes the comparison. Returns whether the change is blocked.
fn write_difference(
    arguments: &Diff,
    gate: &Gate,
    (before, mut after): (Report<'_>, Report<'_>),
    reconsidered: Reconsidered,
    text: &dyn Fn(&SourceFiles, &Finding) -> String,
    remarks: Remarks,
) -> Result<bool, Failure> {
    let compared = compare::findings(gate, &before.judged(), &after.judged(), reconsidered, text);
    after.verdict = compared.verdict;
    let (earlier, later) = (before.findings, after.findings);
    let difference = Difference {
        teams: report::teams(&before, &after),
        budgets: compared.budgets,
        new: chosen(later, &compared.new),
        grown: chosen(later, &compared.grown),
        unchanged: chosen(later, &compared.unchanged),
        accepted: chosen(later, &compared.accepted),
        fixed: chosen(earlier, &compared.fixed),
        before,
        after,
        delta: &compared.delta,
        base: base_revision::name(arguments).unwrap_or_else(|| "the state before the plan".to_owned()),
        head: arguments.files_url.clone(),
        notes: remarks.notes,
        removed_limits: remarks.removed_limits,
        not_read: remarks.not_read,
        gate: report::GateResult {
            blocked: compared.blocked,
            setting: gate.decided_by(compared.verdict, compared.blocked),
        },
    };
    output::write(&arguments.output, Format::Text, |format, mut style| {
        if arguments.quiet {
            style.choice.detail = EntryDetail::Quiet;
        }
        report::difference(format, &difference, style)
    })?;
    Ok(compared.blocked)
}

fn chosen<'a>(findings: &'a [Decided], places: &[usize]) -> Vec<&'a Decided> {
    places.iter().filter_map(|at| findings.get(*at)).collect()
}

/// Refuses an incomplete base, because everything in its missing parts would look new.
fn demand_whole(base: &Session) -> Result<(), Failure> {
    match base.missing() {
        None => Ok(()),
        Some(missing) => Err(Failure::new(format!("this partial clone does not contain `{missing}` of the base"))
            .with_help("fetch the complete base: git fetch --refetch --no-filter origin")),
    }
}

fn decided(session: &Session, analysis: Analysis, gate: &Gate) -> (Analysis, Decision) {
    let (analysis, mut decision) = session.decide(analysis);
    decision.findings.retain(|decided| gate.shows(decided));
    (analysis, decision)
}

/// Returns both sides, if they are saved reports.
fn saved_reports(arguments: &Diff) -> Result<Option<(report::SavedState, report::SavedState)>, Failure> {
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
        _ => Err(Failure::new("gpulint compares a saved report only with another saved report")
            .with_help("save both states with `gpulint check --format json --output FILE`")),
    }
}

/// Compares two saved reports. Only rules about a change run: the reports contain the results of the others.
fn compare_saved(
    arguments: &Diff,
    before: &report::SavedState,
    mut after: report::SavedState,
) -> Result<ExitStatus, Failure> {
    let session = Session::rules_only(&arguments.input, &arguments.selection)?;
    let gate = gate_of_change(&arguments.threshold, &session.policy);
    let rules = &session.settings.rules;
    let earlier = before.report(rules);
    compare::classify_unevaluated_saved(earlier.inventory, after.inventory_mut());
    let later = after.report(rules);
    let (was, is) = (earlier.judged(), later.judged());
    let change = compare::difference(was.side(), is.side());
    // Findings about the change use the currency of the later report.
    let pricing = PricingSettings { currency: later.currency, ..session.settings.pricing.clone() };
    let world = RuleContext {
        inventory: later.inventory,
        bill: later.bill,
        fit: &[],
        today: Some(session.policy.today),
        catalog: &session.settings.catalog,
        pricing: &pricing,
        delta: Some(&change),
        before: Some(Earlier { inventory: earlier.inventory, bill: earlier.bill }),
    };
    let judgement = rules.judge_change(&world);
    let mut unjudged = later.inventory.unjudged.clone();
    compare::mark_lost(&mut unjudged, &change, was.side(), is.side());
    after.inventory_mut().unjudged = unjudged;
    after.add(judgement.findings);
    // Saved reports contain no source lines.
    let text = |_: &SourceFiles, finding: &Finding| finding.message.clone();
    let reports = (before.report(rules), after.report(rules));
    let reconsidered = Reconsidered::without_text(&gate, &reports.0.judged(), &reports.1.judged());
    let remarks = Remarks {
        notes: in_two_currencies(&reports).into_iter().collect(),
        removed_limits: Vec::new(),
        not_read: Vec::new(),
    };
    let failed = write_difference(arguments, &gate, reports, reconsidered, &text, remarks)?;
    Ok(if failed { ExitStatus::Failed } else { ExitStatus::Passed })
}

/// Returns a note if the reports have different currencies. Messages keep the amounts of their own report.
fn in_two_currencies((before, after): &(Report, Report)) -> Option<String> {
    let [earlier, later] = [before, after].map(|report| report.currency);
    let rate = |it: Currency| format!("{} ({} for a dollar)", it.code(), it.per_usd);
    (earlier != later).then(|| {
        format!("the earlier report has amounts in {}; this comparison has amounts in {}", rate(earlier), rate(later))
    })
}
