//! `gpulint rules try`: evaluates an expression for every resource, object, block, repository or change.

use std::fmt::Write;
use std::path::PathBuf;

use crate::cli::args::InputArguments;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::session::base_revision::{BaseNamed, earlier_named};
use crate::cli::{ExitStatus, Failure};
use crate::compare;
use crate::report;
use crate::rules::{Attempt, LooksAt, RuleAnswer, RuleContext};

pub(super) fn run(
    expression: &str,
    scope: &str,
    (base, base_dir): (Option<String>, Option<PathBuf>),
    input: &InputArguments,
) -> Result<ExitStatus, Failure> {
    let looks_at = LooksAt::from_name(scope).unwrap_or(LooksAt::Resource);
    let named = BaseNamed { base: base.as_deref(), base_dir: base_dir.as_deref(), ..BaseNamed::default() };
    if (looks_at == LooksAt::Change) != (base.is_some() || base_dir.is_some()) {
        return Err(Failure::new("--base and --base-dir go together with --for change").with_help(
            "run, for example, gpulint rules try --for change --base main 'delta.rented.expected > 1000.0'",
        ));
    }
    let attempt = Attempt::new(expression, looks_at).map_err(|mistake| {
        let before = expression.get(..mistake.at.start).unwrap_or_default().chars().count();
        let width = expression.get(mistake.at.clone()).unwrap_or_default().chars().count().max(1);
        let details = format!("  {}\n  {}{}\n", report::one_line(expression), " ".repeat(before), "^".repeat(width));
        let failure = Failure::new(mistake.message).with_details(details);
        match mistake.help {
            Some(help) => failure.with_help(help),
            None => failure,
        }
    })?;
    let mut session = Session::open(input)?;
    session.settings.raw = attempt.raw();
    let chosen = session.rule_settings();
    let (analysis, delta) = match looks_at {
        LooksAt::Change => {
            let (base, touched) = earlier_named(&named, &mut session, &mut Vec::new())?;
            let analyzed = session.analyze_head();
            let before = analyzed.analyze_base(&base);
            let mut after = analyzed.analysis;
            let delta = compare::compare(&base.state(), &before, &session.state(), &mut after, &touched);
            (after, Some(delta))
        }
        _ => (session.analyze(), None),
    };
    let world = RuleContext { delta: delta.as_ref(), ..analysis.world(&session.settings) };
    let answers = attempt.answers(&world, &chosen);
    let mut text: String = answers.iter().map(|it| line(&session, it)).collect();
    if answers.is_empty() {
        let _ = writeln!(text, "no {scope} found");
    }
    output::print(&text)?;
    Ok(session.outcome(&analysis))
}

/// Formats an answer with its position and its facts, as `inspect` shows them.
fn line(session: &Session, it: &RuleAnswer) -> String {
    let place = it.span.map(|span| session.scope.paths.locate(&session.sources, span));
    let place = place.map(|at| format!("{}:{}", at.path, at.line)).unwrap_or_default();
    let cause = it.cause.as_ref().map(|cause| format!("  ({cause})")).unwrap_or_default();
    let facts: Vec<String> = it
        .facts
        .iter()
        .map(|fact| {
            let at = fact.span.map(|span| session.scope.paths.locate(&session.sources, span));
            let at = at.map(|at| format!("{}:{}", at.path, at.line));
            let origin: Vec<String> = fact.origin.map(str::to_owned).into_iter().chain(at).collect();
            let origin = if origin.is_empty() { String::new() } else { format!(" ({})", origin.join(", ")) };
            format!("{} = {}{origin}", fact.name, fact.value)
        })
        .collect();
    let facts = if facts.is_empty() { String::new() } else { format!("  # {}", facts.join("; ")) };
    let line = format!("{:<8} {}  {place}{cause}{facts}", it.answer, it.address);
    format!("{}\n", report::one_line(line.trim_end()))
}
