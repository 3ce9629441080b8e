//! The subcommands `gpulint baseline` and `gpulint suppressions`.

use clap::{Args, Subcommand};

use super::input::InputArguments;
use super::judging::Selection;
use super::output::Output;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BaselineVerb {
    /// Write a baseline with all findings of today
    Create(Box<Accepting>),
    /// Rewrite the baseline with all findings of today; findings that were in it keep their date
    Update(Box<Accepting>),
    /// Remove findings from the baseline that gpulint no longer reports
    Prune(Box<Accepting>),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Accepting {
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SuppressionsVerb {
    /// List every suppression with its reason and its last day
    List {
        #[command(flatten)]
        input: Box<InputArguments>,
        /// List only suppressions that end within this many days, such as 14d
        #[arg(long, value_name = "DAYS", value_parser = days)]
        within: Option<i64>,
        #[command(flatten)]
        output: Box<Output>,
    },
}

/// Parses `14d` or `14`.
fn days(text: &str) -> Result<i64, String> {
    let number = text.trim_end_matches('d').parse::<u32>();
    number.map(i64::from).map_err(|_| "expected a number of days, such as 14d".to_owned())
}
