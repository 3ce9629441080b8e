//! Arguments of the subcommands that report on a repository: its waste, its cost, and the effect of a change on both.

use std::path::PathBuf;

use clap::Args;

use super::fixing::FixArguments;
use super::input::InputArguments;
use super::judging::{FailOnChoice, Selection};
use super::output::{Output, ViewArguments};
use crate::measured::paid::BillMonth;
use crate::report::ReviewCommit;

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckArguments {
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    /// Write a suppression comment with this reason into the files, for each finding; --select and PATHS choose findings
    #[arg(long, value_name = "REASON", conflicts_with_all = ["formats", "outputs", "policy_ref", "only", "address"])]
    pub(in crate::cli) add_ignore: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) fixing: FixArguments,
    /// Keep running, and report again when a file changes
    #[arg(long, conflicts_with_all = ["add_ignore", "fix", "diff", "policy_ref", "outputs"])]
    pub(in crate::cli) watch: bool,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) threshold: FailOnChoice,
    #[command(flatten)]
    pub(in crate::cli) view: ViewArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Diff {
    /// Compare with this branch, tag or commit; `diff main` is short for `diff --base main`. A single Terraform plan is
    /// compared with the state before the plan
    #[arg(long, value_name = "REF", conflicts_with_all = ["base_dir", "base_file"])]
    pub(in crate::cli) base: Option<String>,
    /// Compare the index, which the next commit will contain, instead of the files in the work tree [default for --base:
    /// HEAD]
    #[arg(long, conflicts_with_all = ["base_dir", "base_file"])]
    pub(in crate::cli) staged: bool,
    /// Compare with a directory instead of a commit
    #[arg(long, value_name = "DIR", conflicts_with = "base_file")]
    pub(in crate::cli) base_dir: Option<PathBuf>,
    /// Compare with a file of the same kind: a Terraform plan as JSON, a saved report, or a manifest
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) base_file: Option<PathBuf>,
    /// Link files below this address of the current directory, such as https://github.com/OWNER/NAME/blob/SHA
    #[arg(long, value_name = "URL", value_parser = files_url)]
    pub(in crate::cli) files_url: Option<ReviewCommit>,
    /// Link files below this address of the root of the repository
    #[arg(long, value_name = "URL", value_parser = files_url, conflicts_with = "files_url")]
    pub(in crate::cli) repository_url: Option<ReviewCommit>,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) threshold: FailOnChoice,
    /// Show only the change of the total, the number of findings, and what was not evaluated
    #[arg(long, short, help_heading = "Text for people")]
    pub(in crate::cli) quiet: bool,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

fn files_url(text: &str) -> Result<ReviewCommit, String> {
    ReviewCommit::new(text).ok_or_else(|| "expected https://HOST/PATH without spaces, brackets or quotes".to_owned())
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Reconcile {
    /// Compare this month; repeatable [default: the last complete month]
    #[arg(long = "month", value_name = "YYYY-MM")]
    pub(in crate::cli) months: Vec<BillMonth>,
    /// Compare all months of the bill, including the current one
    #[arg(long, conflicts_with = "months")]
    pub(in crate::cli) all_months: bool,
    /// Print `[prices]` discounts that the bill suggests instead, and write nothing
    #[arg(long)]
    pub(in crate::cli) print_discounts: bool,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CostArguments {
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) view: ViewArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Purchases {
    /// Consider commitments of up to this many years; 0 allows only blocks of days
    #[arg(long, value_name = "0|1|3", value_parser = years, default_value = "1")]
    pub(in crate::cli) years: u8,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

fn years(text: &str) -> Result<u8, String> {
    match text {
        "0" => Ok(0),
        "1" => Ok(1),
        "3" => Ok(3),
        _ => Err("expected 1 or 3 for commitments of that many years, or 0 for blocks of days only".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Inspect {
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    /// Print every evaluated Terraform block instead of the accelerator resources
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Print the directories that gpulint reads as Terraform roots
    #[arg(long, conflicts_with = "all")]
    pub(in crate::cli) roots: bool,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Explain {
    /// Address of a resource, such as aws_instance.train, or name of a rule, such as on-demand-batch
    #[arg(value_name = "ADDRESS|RULE")]
    pub(in crate::cli) what: String,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Render {
    /// Kustomizations, or directories of kustomizations; in a directory, gpulint renders those that no other kustomization uses [default: .]
    #[arg(value_name = "PATHS")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Add a comment to each line with the file and line that generates it
    #[arg(long)]
    pub(in crate::cli) origins: bool,
    /// Print each object as a line of JSON
    #[arg(long, conflicts_with = "origins")]
    pub(in crate::cli) json: bool,
}
