//! `gpulint mcp`: answers coding assistants about one folder, over the Model Context Protocol on standard input and
//! output.
//!
//! Modules: `protocol` (messages), `page` (shortens reports), `parameters` and
//! `tools` (the tools and their command lines), `answer` (runs a call in memory), `server` (schedules calls). The
//! subcommands do the work. Clients are not trusted: the limits of `world::serving` apply to the whole process.

mod answer;
mod page;
mod parameters;
mod protocol;
mod server;
mod tools;

use std::time::Duration;

use super::args::Mcp;
use super::io::failure::Failure;
use super::io::outcome::ExitStatus;
use super::io::{deadline, place, serving};

pub(super) fn run(arguments: &Mcp) -> Result<ExitStatus, Failure> {
    let folder = place::canonical(&arguments.folder)?;
    // Reports show paths relative to the current directory.
    std::env::set_current_dir(&folder)
        .map_err(|error| Failure::new(format!("gpulint cannot use the folder `{}`: {error}", folder.display())))?;
    serving::begin(folder);
    // Each answer has its own time limit instead.
    deadline::none();
    server::serve(Duration::from_secs(arguments.seconds));
    Ok(ExitStatus::Passed)
}
