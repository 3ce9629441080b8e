//! `gpulint blame`: which commit added each dollar of today's cost.

use std::path::Path;

use super::history::{empty, over_commits};
use crate::cli::args::BlameArguments;
use crate::cli::io::output;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Blamed, Format};

pub(in crate::cli) fn run(arguments: &BlameArguments) -> Result<ExitStatus, Failure> {
    let Some(history) = over_commits(&arguments.input, &arguments.selection, &arguments.commits)? else {
        return Ok(empty(&arguments.input));
    };
    let what = arguments.what.as_deref();
    let wanted = match what {
        None | Some(".") => Blamed::All,
        Some(path) if Path::new(path).exists() => Blamed::Below(path.trim_start_matches("./").trim_end_matches('/')),
        Some(address) => Blamed::Address(address),
    };
    if !history.newest().is_some_and(|(_, newest)| newest.added().any(|it| wanted.covers(it)))
        && let Some(what) = what.filter(|_| !matches!(wanted, Blamed::All))
    {
        return Err(Failure::new(format!("no resource with a cost has the address or the path `{what}`"))
            .with_help("run `gpulint cost` to list all addresses and files"));
    }
    output::write(&arguments.output, Format::Text, |format, style| {
        report::blamed(format, &history, wanted, arguments.view.style(style))
    })?;
    Ok(ExitStatus::Passed)
}
