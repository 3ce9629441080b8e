//! `gpulint mcp`: answers coding assistants about one folder, over the Model Context Protocol on standard input and output.
//!
//! From the ground up: `protocol` (messages), `page` (as much of a report as an assistant has room for), `parameters` and
//! `tools` (what may be asked, and how it is said to a verb), `answer` (a question → an answer, in memory), `server` (who waits for what). The
//! verbs do the work, as on the command line. Whoever asks is not trusted: `world::serving` holds for the whole process.

mod answer;
mod page;
mod parameters;
mod protocol;
mod server;
mod tools;

use std::time::Duration;

use super::args::Mcp;
use super::world::failure::Failure;
use super::world::outcome::Outcome;
use super::world::{deadline, place, serving};

pub(super) fn run(arguments: &Mcp) -> Result<Outcome, Failure> {
    let folder = place::canonical(&arguments.folder)?;
    // What is shown is relative to where a process runs.
    std::env::set_current_dir(&folder)
        .map_err(|error| Failure::new(format!("gpulint cannot use the folder `{}`: {error}", folder.display())))?;
    serving::begin(folder);
    // It has a clock for each answer.
    deadline::none();
    server::serve(Duration::from_secs(arguments.seconds));
    Ok(Outcome::Passed)
}
