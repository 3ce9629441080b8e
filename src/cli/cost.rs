use super::args::Cost;
use super::session::Session;
use super::{Failure, Outcome, output};
use crate::report::{self, Format};

pub(super) fn run(arguments: &Cost) -> Result<Outcome, Failure> {
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let report = session.report(&analysis, &[]);
    output::write(&arguments.output, Format::Text, |format, _style| report::cost(format, &report))?;
    Ok(session.outcome(&analysis))
}
