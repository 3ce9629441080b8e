//! Writes manual pages for packagers.

use std::path::Path;

use clap::CommandFactory;

use crate::cli::args::Arguments;
use crate::cli::{Failure, Outcome};

/// Writes a manual page for the program and one for each subcommand.
pub(in crate::cli) fn run(directory: &Path) -> Result<Outcome, Failure> {
    clap_mangen::generate_to(Arguments::command(), directory)
        .map_err(|error| Failure::new(format!("the manual cannot be written to `{}`: {error}", directory.display())))?;
    Ok(Outcome::Passed)
}
