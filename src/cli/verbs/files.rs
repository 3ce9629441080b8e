//! `gpulint files`: the relevant files, the deployments that read them, and the files that are not read.

use crate::cli::args::CostArguments;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format};

pub(in crate::cli) fn run(arguments: &CostArguments) -> Result<ExitStatus, Failure> {
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let report = session.report(&analysis, &[]);
    output::write(&arguments.output, Format::Text, |format, _style| report::files(format, &report))?;
    Ok(session.outcome(&analysis))
}
