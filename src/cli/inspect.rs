use super::args::Inspect;
use super::session::Session;
use super::{Failure, Outcome, blocks, output};
use crate::report::{self, Format};

pub(super) fn run(arguments: &Inspect) -> Result<Outcome, Failure> {
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let report = session.report(&analysis, &[]);
    output::write(&arguments.output, Format::Json, |format, _style| {
        (format == Format::Json).then(|| match (arguments.all, arguments.roots) {
            (true, _) => blocks::all(&session, &analysis.blocks),
            (_, true) => blocks::roots(&session, &analysis.roots),
            _ => report::inspect(&report),
        })
    })?;
    Ok(session.outcome(&analysis))
}
