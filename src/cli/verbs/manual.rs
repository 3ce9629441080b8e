//! Writes manual pages for packagers.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::args::CliArguments;
use crate::cli::{ExitStatus, Failure};

/// Writes a manual page for the program and one for each subcommand.
pub(in crate::cli) fn run(directory: &Path) -> Result<ExitStatus, Failure> {
    clap_mangen::generate_to(CliArguments::command(), directory)
        .map_err(|error| Failure::new(format!("the manual cannot be written to `{}`: {error}", directory.display())))?;
    Ok(ExitStatus::Passed)
}
