//! `gpulint cost`: the cost of every resource per month.

use crate::cli::args::CostArguments;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::session::undeclared_variables::demand_declared;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format, Report};

pub(in crate::cli) fn run(arguments: &CostArguments) -> Result<ExitStatus, Failure> {
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    demand_declared(&[(&session, &analysis)])?;
    let report = Report { title: arguments.output.title.as_deref(), ..session.report(&analysis, &[]) };
    output::write(&arguments.output, Format::Text, |format, style| {
        report::cost(format, &report, arguments.view.style(style))
    })?;
    // Files that were not evaluated go to standard error.
    if arguments.output.formats.iter().any(|it| it.row().bills_resources_only) {
        output::complain_of_unjudged(&report);
    }
    let left_out = report::left_out_of_focus(&report);
    if arguments.output.formats.contains(&Format::Focus) && left_out > 0 {
        let (what, have) = if left_out == 1 { ("resource", "has") } else { ("resources", "have") };
        output::complain(&format!(
            "{left_out} {what} {have} no cost per month, and FOCUS output omits {}: use --format ndjson",
            if left_out == 1 { "it" } else { "them" }
        ));
    }
    Ok(session.outcome(&analysis))
}
