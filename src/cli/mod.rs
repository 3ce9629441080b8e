//! Arguments, files, git, network, output, exit code: everything that touches the world.
//!
//! One file a verb. A verb reads its input through a `session`, asks the spine in `lib.rs` and hands a report to
//! `output`. Nothing below this room prints.

mod add_ignore;
mod args;
mod baseline;
mod blocks;
mod bounds;
mod cache;
mod catalog;
mod check;
mod ci;
mod clock;
mod comment;
mod completions;
mod config;
mod cost;
mod deadline;
mod diff;
mod discover;
mod disk;
mod earlier;
mod explain;
mod facts;
mod failure;
mod fit;
mod fix;
mod gate;
mod git;
mod inspect;
mod lost;

mod manual;
mod network;
mod outgrown;
mod output;
mod packs;
mod place;
mod policy;
mod price;
mod prices;
mod progress;
mod render;
mod replace;
mod rules;
mod secrets;
mod session;
mod settings;
mod suppressions;
mod unified;
mod unjudged;
mod variables;
mod verdicts;

use std::panic::catch_unwind;
use std::process::ExitCode;

pub use prices::settings as pricing_settings;
pub use settings::of_rules as rule_settings;

use args::{Arguments, Verb};
use failure::Failure;

/// How a run ended; the codes are the same for every verb and format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Something was checked and there is nothing to fail on.
    Passed,
    /// A finding that counts.
    Failed,
    /// Nothing was there to check.
    Empty,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments = match Arguments::of_process() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are printed on purpose and are no failure.
            let code = if error.use_stderr() { 2 } else { 0 };
            return if error.print().is_ok() { ExitCode::from(code) } else { ExitCode::from(2) };
        }
    };
    let done = catch_unwind(|| run(arguments)).unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)));
    match done {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Empty) => ExitCode::from(3),
        Err(failure) => {
            output::complain(&failure.to_string());
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<Outcome, Failure> {
    match arguments.verb {
        None => check::run(&arguments.check),
        Some(Verb::Check(check)) => check::run(&check),
        Some(Verb::Cost(cost)) => cost::run(&cost),
        Some(Verb::Diff(diff)) => diff::run(&diff),
        Some(Verb::Inspect(inspect)) => inspect::run(&inspect),
        Some(Verb::Comment(comment)) => comment::run(&comment),
        Some(Verb::Price(price)) => price::run(&price),
        Some(Verb::Catalog(verb)) => catalog::run(&verb),
        Some(Verb::Explain(explain)) => explain::run(&explain),
        Some(Verb::Fit(fit)) => fit::run(&fit),
        Some(Verb::Rules(verb)) => rules::run(&verb),
        Some(Verb::Suppressions(verb)) => suppressions::run(&verb),
        Some(Verb::Baseline(verb)) => baseline::run(&verb),
        Some(Verb::Facts { output }) => facts::run(&output),
        Some(Verb::Config(verb)) => config::run(&verb),
        Some(Verb::Completions { shell }) => completions::run(shell),
        Some(Verb::Manual { directory }) => manual::run(&directory),
    }
}
