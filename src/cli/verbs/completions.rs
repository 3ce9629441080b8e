//! `gpulint completions`: completion scripts for shells.

use clap::CommandFactory;

use crate::cli::args::Arguments;
use crate::cli::world::output;
use crate::cli::{Failure, Outcome};

/// Prints the completion script for a shell.
pub(in crate::cli) fn run(shell: clap_complete::Shell) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "gpulint", &mut text);
    output::print_exact(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Passed)
}
