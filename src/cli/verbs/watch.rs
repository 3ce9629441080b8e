//! `gpulint check --watch`: reports again when a file changes. Results that depend on no changed file are reused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cli::args::CheckArguments;
use crate::cli::io::{deadline, output};
use crate::cli::session::judged::JudgedTree;
use crate::cli::workspace::{Workspace, WorkspaceOptions};
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format, Report};

/// The pause between two checks for changed files.
const PAUSE: Duration = Duration::from_millis(300);

/// Checking for changes takes at most this fraction of the time (1 / PART).
const PART: u32 = 10;

pub(super) fn run(arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    if arguments.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("--watch cannot watch standard input").with_help("pass files or directories"));
    }
    deadline::none();
    let mut workspace = Workspace::new(WorkspaceOptions {
        input: arguments.input.clone(),
        selection: arguments.selection.clone(),
        threshold: arguments.threshold.clone(),
    })?;
    let mut last: Option<Arc<JudgedTree>> = None;
    let mut complaint = None;
    let mut is_unreported = true;
    loop {
        let began = Instant::now();
        is_unreported |= workspace.refresh();
        let looked = began.elapsed();
        if std::mem::take(&mut is_unreported) {
            // gpulint reports invalid settings once and keeps watching the files.
            match workspace.judge() {
                Ok(judged) if last.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &judged)) => {
                    print_state(arguments, &judged)?;
                    (last, complaint) = (Some(judged), None);
                }
                Ok(_) => {}
                Err(failure) => {
                    let told = Some(failure.to_string());
                    if complaint != told {
                        output::complain_of(&failure);
                        complaint = told;
                    }
                }
            }
        } else if workspace.has_drifted() {
            // Another program may make the settings invalid at this moment. The next check reports this.
            is_unreported = workspace.keep_as_base().unwrap_or(true);
        }
        std::thread::sleep(PAUSE.max(looked * PART));
    }
}

fn print_state(arguments: &CheckArguments, judged: &JudgedTree) -> Result<(), Failure> {
    let (session, analysis, findings) = (&judged.session, &judged.analysis, &judged.findings);
    let (verdict, _) = judged.gate.decide(findings, &analysis.inventory.unjudged);
    let report = Report { verdict, title: arguments.output.title.as_deref(), ..session.report(analysis, findings) };
    output::write(&arguments.output, Format::Text, |format, style| {
        report::render(format, &report, arguments.view.style(style))
    })?;
    if let Err(failure) = session.demand_whole_rules(analysis) {
        output::complain_of(&failure);
    }
    output::complain("watching for changes; press Ctrl+C to stop\n");
    Ok(())
}
