use super::args::Inspect;
use super::session::Session;
use super::{Failure, Outcome, output};
use crate::report::{self, Format};

pub(super) fn run(arguments: &Inspect) -> Result<Outcome, Failure> {
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let report = session.report(&analysis, &[]);
    output::write(&arguments.output, Format::Json, |format, _style| {
        (format == Format::Json).then(|| report::inspect(&report))
    })?;
    Ok(session.outcome(&analysis))
}
