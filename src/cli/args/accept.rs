//! Verbs about what is accepted: the baseline and suppressions.

use clap::{Args, Subcommand};

use super::input::Input;
use super::judging::Selection;
use super::output::Output;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BaselineVerb {
    /// Write a baseline of everything that is found
    Create(Box<Accepting>),
    /// Write it anew; what was in it keeps its day
    Update(Box<Accepting>),
    /// Take out what is no longer found
    Prune(Box<Accepting>),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Accepting {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SuppressionsVerb {
    /// Every suppression, with its reason and its last day
    List {
        #[command(flatten)]
        input: Box<Input>,
        /// Only those that end within so many days: 14d
        #[arg(long, value_name = "DAYS", value_parser = days)]
        within: Option<i64>,
        #[command(flatten)]
        output: Box<Output>,
    },
}

/// `14d`, or `14`
fn days(text: &str) -> Result<i64, String> {
    let number = text.trim_end_matches('d').parse::<u32>();
    number.map(i64::from).map_err(|_| "write it as 14d".to_owned())
}
