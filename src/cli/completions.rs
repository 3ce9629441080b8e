use clap::CommandFactory;

use super::args::Arguments;
use super::{Failure, Outcome, output};

/// Prints what a shell needs to complete gpulint's arguments.
pub(super) fn run(shell: clap_complete::Shell) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "gpulint", &mut text);
    output::print_exact(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Passed)
}
