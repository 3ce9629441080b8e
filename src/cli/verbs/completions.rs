//! `gpulint completions`: completion scripts for shells.

use clap::CommandFactory;

use crate::cli::args::CliArguments;
use crate::cli::io::output;
use crate::cli::{ExitStatus, Failure};

/// Prints the completion script for a shell.
pub(in crate::cli) fn run(shell: clap_complete::Shell) -> Result<ExitStatus, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CliArguments::command(), "gpulint", &mut text);
    output::print_exact(&String::from_utf8_lossy(&text))?;
    Ok(ExitStatus::Passed)
}
