//! What is read.

use std::path::PathBuf;

use clap::Args;

use crate::source::Date;

/// What is read.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct Input {
    /// Files, directories, a plan as JSON, or `-` for standard input [default: the current directory]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// The file that standard input stands for: findings name it, and its directory is read with it
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) stdin_filename: Option<PathBuf>,
    /// The value of a Terraform variable: NAME=VALUE
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(in crate::cli) variables: Vec<(String, String)>,
    /// A file of Terraform variables; a pattern in quotes, as in 'env/*.tfvars', is one run with each of its files
    #[arg(long = "var-file", value_name = "FILE")]
    pub(in crate::cli) variable_files: Vec<PathBuf>,
    /// The Terraform workspace
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) workspace: Option<String>,
    /// Directories that nobody deploys: they are read, and told beside the bill; `*` stands for anything
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(in crate::cli) exclude: Vec<String>,
    /// Where downloaded Terraform modules lie: a `.terraform/modules`, or directories named like the calls
    #[arg(long = "modules-dir", value_name = "DIRECTORY")]
    pub(in crate::cli) modules_directory: Option<PathBuf>,
    /// The day to judge dates by, for repeatable runs [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(in crate::cli) today: Option<Date>,
    /// The file of settings [default: the nearest gpulint.toml up to the repository's root]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Text that stands at a path of the tree instead of what is there.
    #[arg(skip)]
    pub(in crate::cli) given: Vec<(String, Vec<u8>)>,
    /// Paths that are named for another reason than to be checked.
    #[arg(skip)]
    pub(in crate::cli) not_checked: Vec<PathBuf>,
    /// What stands for the running directory.
    #[arg(skip)]
    pub(in crate::cli) here: Option<PathBuf>,
    /// Nobody at hand agreed that the settings of the tree start programs.
    #[arg(skip)]
    pub(in crate::cli) starts_nothing: bool,
    /// Read no gpulint.toml
    #[arg(long, conflicts_with = "config")]
    pub(in crate::cli) no_config: bool,
    /// `embedded`, `cached` (with what `gpulint catalog update` brought), or a CSV file of your own [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
    /// Take settings, rules and prices from this commit instead of the files at hand
    #[arg(long, value_name = "REF", conflicts_with = "no_config")]
    pub(in crate::cli) policy_ref: Option<String>,
    /// Render charts with helm, and kustomizations with kustomize or kubectl, instead of by ourselves
    #[arg(long)]
    pub(in crate::cli) render: bool,
    /// Render charts with their files of values of this name, or once more with each of them
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    pub(in crate::cli) values: Vec<String>,
    /// Exit with 0 where nothing was there to check
    #[arg(long)]
    pub(in crate::cli) allow_empty: bool,
}

impl Input {
    /// The running directory, with its settings.
    pub(in crate::cli) fn here() -> Input {
        Input { allow_empty: true, ..Input::default() }
    }

    pub(in crate::cli) fn without_settings() -> Input {
        Input { no_config: true, ..Input::here() }
    }
}

/// As in gpulint.toml, where both kinds of slash are one.
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
