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
    Ok(session.outcome(&analysis))
}
