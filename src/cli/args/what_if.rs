//! Arguments of `gpulint what-if`.

use clap::Args;

use super::input::{InputArguments, assignment};
use super::judging::Selection;
use super::output::Output;

#[derive(Debug, Args)]
pub(in crate::cli) struct WhatIf {
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    /// Change the resource with this address, as `gpulint cost` prints it; `*` matches anything; repeatable
    #[arg(long, value_name = "ADDRESS", required = true)]
    pub(in crate::cli) on: Vec<String>,
    /// Set a value of the resource: machine, region, provider (on-prem uses `[[hardware]]` of the settings), purchase
    /// (spot, reserved-1y, ...), count (4, or 1..8), hours per month, accelerator, accelerators, model, precision, context,
    /// tensor-parallel, ...; with --case, the value applies to every case
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = assignment, required_unless_present = "cases")]
    pub(in crate::cli) sets: Vec<(String, String)>,
    /// Add a named case to compare, such as cheap:machine=g6e.xlarge,purchase=spot; repeatable
    #[arg(long = "case", value_name = "NAME:KEY=VALUE,...", value_parser = case)]
    pub(in crate::cli) cases: Vec<NamedCase>,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

/// A named set of changes.
#[derive(Debug, Clone)]
pub(in crate::cli) struct NamedCase {
    pub(in crate::cli) name: String,
    pub(in crate::cli) sets: Vec<(String, String)>,
}

fn case(text: &str) -> Result<NamedCase, String> {
    let expected = || "expected NAME:KEY=VALUE,KEY=VALUE".to_owned();
    let (name, sets) = text.split_once(':').ok_or_else(expected)?;
    let name = name.trim().to_owned();
    if name.is_empty() || name.contains('=') || name == "today" {
        return Err(expected());
    }
    let sets = sets.split(',').map(assignment).collect::<Result<Vec<_>, _>>().map_err(|_| expected())?;
    Ok(NamedCase { name, sets })
}
