//! Options that choose what gpulint reads.

use std::path::PathBuf;

use clap::Args;

use crate::catalog::Money;
use crate::source::Date;

/// Options that choose what gpulint reads.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct InputArguments {
    /// Files, directories, a Terraform plan as JSON, or `-` for standard input [default: the current directory]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Treat standard input as this file: findings name it, and gpulint reads its directory, too
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) stdin_filename: Option<PathBuf>,
    /// Set a Terraform variable, such as gpu_count=2; repeatable
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(in crate::cli) variables: Vec<(String, String)>,
    /// Read Terraform variables from this file; a quoted pattern such as 'env/*.tfvars' makes one deployment per file
    #[arg(long = "var-file", value_name = "FILE")]
    pub(in crate::cli) variable_files: Vec<PathBuf>,
    /// Evaluate in this Terraform workspace
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) workspace: Option<String>,
    /// Leave these directories out of the total and list their cost separately; `*` matches anything
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(in crate::cli) exclude: Vec<String>,
    /// Read downloaded Terraform modules from here: a `.terraform/modules`, or a directory with one folder per module call
    #[arg(long = "modules-dir", value_name = "DIRECTORY")]
    pub(in crate::cli) modules_directory: Option<PathBuf>,
    /// Evaluate as of this day, for repeatable output [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(in crate::cli) today: Option<Date>,
    /// Read settings from this file [default: the nearest gpulint.toml, up to the root of the repository]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// File contents that replace those on disk, each with its path in the tree.
    #[arg(skip)]
    pub(in crate::cli) given: Vec<(String, Vec<u8>)>,
    /// Paths that the user named, but not to have them checked.
    #[arg(skip)]
    pub(in crate::cli) not_checked: Vec<PathBuf>,
    /// A directory to use instead of the current directory.
    #[arg(skip)]
    pub(in crate::cli) here: Option<PathBuf>,
    /// The most that a month may cost: the analysis then contains the limits that are missing or too high.
    #[arg(skip)]
    pub(in crate::cli) limit: Option<Money>,
    /// Forbids that settings of the repository start programs, because no user has agreed to it.
    #[arg(skip)]
    pub(in crate::cli) starts_nothing: bool,
    /// Ignore gpulint.toml
    #[arg(long, conflicts_with = "config")]
    pub(in crate::cli) no_config: bool,
    /// Use these prices: `embedded` in the program, `cached` (adds prices that `gpulint catalog update` fetched), or a CSV file [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
    /// Read settings, rules and prices from this commit instead of the work tree
    #[arg(long, value_name = "REF", conflicts_with = "no_config")]
    pub(in crate::cli) policy_ref: Option<String>,
    /// Render charts with helm, and kustomizations with kustomize or kubectl, instead of the built-in renderer
    #[arg(long)]
    pub(in crate::cli) render: bool,
    /// Render charts with their values files of this name; without a name, render once more with each values file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    pub(in crate::cli) values: Vec<String>,
    /// Exit with 0 instead of 3 if nothing was found to check
    #[arg(long)]
    pub(in crate::cli) allow_empty: bool,
}

impl InputArguments {
    /// Returns options that read the current directory with its settings.
    pub(in crate::cli) fn here() -> InputArguments {
        InputArguments { allow_empty: true, ..InputArguments::default() }
    }

    pub(in crate::cli) fn without_settings() -> InputArguments {
        InputArguments { no_config: true, ..InputArguments::here() }
    }
}

/// Treats a backslash as a slash, as in gpulint.toml.
#[expect(clippy::unnecessary_wraps, reason = "the parser of arguments wants it so")]
fn pattern(text: &str) -> Result<String, String> {
    Ok(text.replace('\\', "/"))
}

pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
