//! `gpulint facts`: the fields and functions of rule conditions.

use crate::cli::args::Output;
use crate::cli::io::output;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format};
use crate::rules;

/// Prints every field and function that a rule condition can use.
pub(in crate::cli) fn run(output: &Output) -> Result<ExitStatus, Failure> {
    let (facts, functions) = (rules::vocabulary(), rules::functions());
    output::write(output, Format::Text, |format, _style| report::vocabulary(format, &facts, &functions))?;
    Ok(ExitStatus::Passed)
}
