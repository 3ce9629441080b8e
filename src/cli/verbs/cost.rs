//! `gpulint cost`: the bill.

use crate::cli::args::Cost;
use crate::cli::session::Session;
use crate::cli::world::output;
use crate::cli::{Failure, Outcome};
use crate::report::{self, Format, Report};

pub(in crate::cli) fn run(arguments: &Cost) -> Result<Outcome, Failure> {
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let report = Report { title: arguments.output.title.as_deref(), ..session.report(&analysis, &[]) };
    output::write(&arguments.output, Format::Text, |format, style| {
        report::cost(format, &report, arguments.view.style(style))
    })?;
    // Rows have no place for what has no resource.
    let are_rows = |it: &Format| matches!(it, Format::Focus | Format::Ndjson | Format::Csv);
    if arguments.output.formats.iter().any(are_rows) {
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
