//! Verbs that report on a tree: what it wastes, what it costs, what a change does to both.

use std::path::PathBuf;

use clap::Args;

use super::input::Input;
use super::judging::{Selection, Threshold};
use super::output::{Output, View};
use crate::measured::paid::BillMonth;
use crate::report::Head;

#[derive(Debug, Args)]
pub(in crate::cli) struct Check {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    /// Write a comment into the files that suppresses each finding, with this reason
    #[arg(long, value_name = "REASON", conflicts_with_all = ["formats", "outputs", "policy_ref"])]
    pub(in crate::cli) add_ignore: Option<String>,
    /// Write what fixes findings into the files, where that is safe: it cannot change what runs
    #[arg(long, conflicts_with_all = ["add_ignore", "policy_ref"])]
    pub(in crate::cli) fix: bool,
    /// With --fix or --diff: also what changes how something runs, as spot or a smaller machine
    #[arg(long)]
    pub(in crate::cli) unsafe_fixes: bool,
    /// Show what --fix would write as a patch, and write nothing
    #[arg(long, conflicts_with_all = ["add_ignore", "policy_ref", "formats", "outputs"])]
    pub(in crate::cli) diff: bool,
    /// Go on, and report again whenever a file changes
    #[arg(long, conflicts_with_all = ["add_ignore", "fix", "diff", "policy_ref", "outputs"])]
    pub(in crate::cli) watch: bool,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) threshold: Threshold,
    #[command(flatten)]
    pub(in crate::cli) view: View,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Diff {
    /// The commit that the change is compared with: a branch, a tag or an id, also as the first word: `diff main`. A plan
    /// that is named alone is compared with what was there before it
    #[arg(long, value_name = "REF", conflicts_with_all = ["base_dir", "base_file"])]
    pub(in crate::cli) base: Option<String>,
    /// Compare what the next commit will hold, the index, instead of the files as they lie here; with HEAD, where --base
    /// names nothing else
    #[arg(long, conflicts_with_all = ["base_dir", "base_file"])]
    pub(in crate::cli) staged: bool,
    /// Compare with a directory instead of a commit
    #[arg(long, value_name = "DIR", conflicts_with = "base_file")]
    pub(in crate::cli) base_dir: Option<PathBuf>,
    /// Compare with a file: a plan as JSON with a plan, a saved report with a saved report, a manifest with a manifest
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) base_file: Option<PathBuf>,
    /// Address of this directory at the commit under review, for links: https://github.com/OWNER/NAME/blob/SHA
    #[arg(long, value_name = "URL", value_parser = files_url)]
    pub(in crate::cli) files_url: Option<Head>,
    /// The same of the repository's root; the links of a folder lead below it
    #[arg(long, value_name = "URL", value_parser = files_url, conflicts_with = "files_url")]
    pub(in crate::cli) repository_url: Option<Head>,
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) threshold: Threshold,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

fn files_url(text: &str) -> Result<Head, String> {
    Head::new(text).ok_or_else(|| "expected https://HOST/PATH without spaces, brackets and quotes".to_owned())
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Reconcile {
    /// The month; may be given several times [default: the last one that has ended]
    #[arg(long = "month", value_name = "YYYY-MM")]
    pub(in crate::cli) months: Vec<BillMonth>,
    /// All months of the bill, those too that have not ended
    #[arg(long, conflicts_with = "months")]
    pub(in crate::cli) all_months: bool,
    /// Propose `[prices]` discounts with what the bill says for them, instead; nothing is written
    #[arg(long)]
    pub(in crate::cli) print_discounts: bool,
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Cost {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) view: View,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Purchases {
    /// The longest commitment, in years: 0 (blocks of days alone), 1 or 3
    #[arg(long, value_name = "0|1|3", value_parser = years, default_value = "1")]
    pub(in crate::cli) years: u8,
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

fn years(text: &str) -> Result<u8, String> {
    match text {
        "0" => Ok(0),
        "1" => Ok(1),
        "3" => Ok(3),
        _ => Err("commitments are sold for 1 or 3 years, and blocks of days for 0".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Inspect {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    /// Every evaluated Terraform block instead of accelerator resources
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// The directories that are read as Terraform roots
    #[arg(long, conflicts_with = "all")]
    pub(in crate::cli) roots: bool,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Explain {
    /// The address of a resource as reports write it, or the name of a rule
    #[arg(value_name = "ADDRESS|RULE")]
    pub(in crate::cli) what: String,
    #[command(flatten)]
    pub(in crate::cli) input: Input,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Render {
    /// Kustomizations, or directories that hold some: of these, those that no other one uses [default: .]
    #[arg(value_name = "PATHS")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Say behind each line which line of which file makes it
    #[arg(long)]
    pub(in crate::cli) origins: bool,
    /// Each object as a line of JSON
    #[arg(long, conflicts_with = "origins")]
    pub(in crate::cli) json: bool,
}
