//! `gpulint check`: findings and their cost.

use super::{add_ignore, fix, watch};
use crate::cli::args::CheckArguments;
use crate::cli::io::{output, serving};
use crate::cli::session::Session;
use crate::cli::session::demand;
use crate::cli::session::gate::gate;
use crate::cli::session::undeclared_variables::demand_declared;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format, Report};

pub(in crate::cli) fn run(arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    if let Some(reason) = &arguments.add_ignore {
        return add_ignore::run(arguments, reason);
    }
    let fixing = &arguments.fixing;
    if fixing.fix || fixing.diff {
        return fix::run(arguments);
    }
    let idle = [
        (fixing.unsafe_fixes, "--unsafe-fixes"),
        (!fixing.only.is_empty(), "--only"),
        (!fixing.address.is_empty(), "--address"),
    ];
    if let Some((_, option)) = idle.into_iter().find(|(is_set, _)| *is_set) {
        return Err(Failure::new(format!("{option} needs --fix or --diff"))
            .with_help("add --fix to write the edits, or --diff to print them"));
    }
    if arguments.watch {
        return watch::run(arguments);
    }
    let session = Session::judging(&arguments.input, &arguments.selection)?;
    let (analysis, mut findings) = session.judge();
    demand_declared(&[(&session, &analysis)])?;
    let gate = gate(&arguments.threshold, &session.policy);
    let (verdict, failed) = gate.decide(&findings, &analysis.inventory.unjudged);
    findings.retain(|decided| gate.shows(decided));
    let report = Report { verdict, title: arguments.output.title.as_deref(), ..session.report(&analysis, &findings) };
    output::write(&arguments.output, Format::Text, |format, style| {
        report::render(format, &report, arguments.view.style(style))
    })?;
    for line in session.budgets_of_nobody(&analysis) {
        output::complain(&format!("note: {line}"));
    }
    session.demand_whole_rules(&analysis)?;
    let outcome = if failed { ExitStatus::Failed } else { session.outcome(&analysis) };
    if outcome == ExitStatus::Passed {
        demand::demand_read(&session, &analysis)?;
    }
    // Unless this process is a server, it ends now, and the system frees its memory faster than destructors do.
    if serving::folder().is_none() {
        std::mem::forget((session, analysis, findings));
    }
    Ok(outcome)
}
