//! The command line and all input and output: arguments, files, git, network, reports, exit codes.
//!
//! Each subcommand has one file in `verbs`. It reads its input through a `session`, calls `lib.rs` and passes a report
//! to `output`. No module outside `cli` prints.

mod args;
mod io;
mod mcp;
mod verbs;

mod edits;
mod render;
mod session;
mod workspace;

use std::panic::catch_unwind;
use std::process::ExitCode;

pub use session::known::all as known_names;
pub use session::prices::settings as pricing_settings;
pub use session::settings::{paid as paid_options, rule_settings};
pub use verbs::rules::prove_built_in;

use args::{CliArguments, Verb};
use io::failure::Failure;
use io::outcome::ExitStatus;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    io::deadline::own_process();
    if let Some(done) = verbs::completions::answer_shell() {
        return done;
    }
    let arguments = match CliArguments::parse_process() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Printing help or the version is not a failure.
            let code = if error.use_stderr() { 2 } else { 0 };
            return match error.print() {
                // The reader of a pipe may stop reading.
                Err(failed) if failed.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(2),
                _ => ExitCode::from(code),
            };
        }
    };
    let done = catch_unwind(|| run(arguments)).unwrap_or_else(|panic| Err(Failure::from_panic(&*panic)));
    match done {
        Ok(ExitStatus::Passed) => ExitCode::SUCCESS,
        Ok(ExitStatus::Failed) => ExitCode::from(1),
        Ok(ExitStatus::Empty) => ExitCode::from(3),
        Ok(ExitStatus::Incomplete) => ExitCode::from(4),
        Err(failure) => {
            io::output::complain_of(&failure);
            ExitCode::from(2)
        }
    }
}

fn run(arguments: CliArguments) -> Result<ExitStatus, Failure> {
    match arguments.verb {
        None => verbs::check::run(&arguments.check),
        Some(Verb::Check(check)) => verbs::check::run(&check),
        Some(Verb::Base(base)) => verbs::base::run(&base),
        Some(Verb::Cost(cost)) => verbs::cost::run(&cost),
        Some(Verb::Files(files)) => verbs::files::run(&files),
        Some(Verb::Limit(limit)) => verbs::fix::limit::run(&limit),
        Some(Verb::Plan(plan)) => verbs::plan::run(&plan),
        Some(Verb::Diff(diff)) => verbs::diff::run(*diff),
        Some(Verb::History(history)) => verbs::history::run(&history),
        Some(Verb::Blame(blame)) => verbs::blame::run(&blame),
        Some(Verb::Report(review)) => verbs::report::run(&review),
        Some(Verb::Inspect(inspect)) => verbs::inspect::run(&inspect),
        Some(Verb::Comment(comment)) => verbs::comment::run(&comment),
        Some(Verb::Price(price)) => verbs::price::run(&price),
        Some(Verb::Catalog(verb)) => verbs::catalog::run(&verb),
        Some(Verb::Usage(verb)) => verbs::usage::run(&verb),
        Some(Verb::Reconcile(reconcile)) => verbs::reconcile::run(&reconcile),
        Some(Verb::Explain(explain)) => verbs::explain::run(&explain),
        Some(Verb::Fit(fit)) => verbs::fit::run(&fit),
        Some(Verb::WhatIf(what_if)) => verbs::what_if::run(&what_if),
        Some(Verb::Rules(verb)) => verbs::rules::run(&verb),
        Some(Verb::Suppressions(verb)) => verbs::suppressions::run(&verb),
        Some(Verb::Baseline(verb)) => verbs::baseline::run(&verb),
        Some(Verb::Facts { output }) => verbs::facts::run(&output),
        Some(Verb::Config(verb)) => verbs::config::run(&verb),
        Some(Verb::Init(init)) => verbs::init::run(&init),
        Some(Verb::Render(render)) => verbs::render::run(&render),
        Some(Verb::Mcp(mcp)) => mcp::run(&mcp),
        Some(Verb::Completions { shell }) => verbs::completions::run(shell),
        Some(Verb::Help { words }) => verbs::help::run(&words),
        Some(Verb::Server(_)) => verbs::server::run(),
        Some(Verb::Template(input)) => verbs::template::run(&input),
        Some(Verb::Manual { directory }) => verbs::manual::run(&directory),
    }
}
