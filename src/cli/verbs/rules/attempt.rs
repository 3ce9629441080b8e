//! `rules try`: what an expression comes to for everything that it could be asked about.

use std::fmt::Write;

use crate::cli::args::Input;
use crate::cli::session::Session;
use crate::cli::world::output;
use crate::cli::{Failure, Outcome};
use crate::report;
use crate::rules::{self, Attempt, LooksAt};

pub(super) fn run(expression: &str, scope: &str, input: &Input) -> Result<Outcome, Failure> {
    let looks_at = LooksAt::from_name(scope).unwrap_or(LooksAt::Resource);
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
    let analysis = session.analyze();
    let world = analysis.world(&session.settings);
    let answers = attempt.answers(&world, &rules::Settings::default());
    let mut text = String::new();
    for it in &answers {
        let place = it.span.map(|span| session.scope.paths.locate(&session.sources, span));
        let place = place.map(|at| format!("{}:{}", at.path, at.line)).unwrap_or_default();
        let cause = it.cause.as_ref().map(|cause| format!("  ({cause})")).unwrap_or_default();
        let line = format!("{:<8} {}  {place}{cause}", it.answer, it.address);
        let _ = writeln!(text, "{}", report::one_line(line.trim_end()));
    }
    if answers.is_empty() {
        let _ = writeln!(text, "there is no {scope} here");
    }
    output::print(&text)?;
    Ok(session.outcome(&analysis))
}
