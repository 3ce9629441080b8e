//! Options that choose the rules and decide what makes a check fail.

use std::path::PathBuf;

use clap::Args;

use crate::diagnostic::Level;
use crate::rules::{Confidence, Profile};

/// Options that choose the rules.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct Selection {
    /// Run these rules and groups in addition to --profile; without --profile, run only these
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(in crate::cli) select: Vec<String>,
    /// Leave out these rules and groups
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(in crate::cli) ignore: Vec<String>,
    /// Start from the rules of this profile: essential, standard or all [default: `profile` in gpulint.toml, or standard]
    #[arg(long, value_parser = profile)]
    pub(in crate::cli) profile: Option<Profile>,
    /// Add the custom rules in this directory; repeatable
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) rules: Vec<PathBuf>,
    /// Set the labels of the pull request: names separated by commas, or a JSON list; empty if it has none
    #[arg(long, value_name = "LABELS", value_parser = change_labels)]
    pub(in crate::cli) change_labels: Option<ChangeLabels>,
    /// Set who approved the newest commit of the pull request: users and @teams separated by commas, or a JSON list; empty
    /// if no person approved it
    #[arg(long, value_name = "NAMES", value_parser = change_labels)]
    pub(in crate::cli) approved_by: Option<ChangeLabels>,
    /// Read what other repositories use of the budgets of the organization from this file, which `gpulint-fleet use` writes
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) organization: Option<PathBuf>,
    /// Name this repository as the fleet does, such as github.com/acme/infra [default: the repository of the CI job]
    #[arg(long, value_name = "NAME", requires = "organization")]
    pub(in crate::cli) repository: Option<String>,
    /// Report the findings that the baseline accepts, too
    #[arg(long)]
    pub(in crate::cli) no_baseline: bool,
    /// Whether the run compares a change with its base.
    #[arg(skip)]
    pub(in crate::cli) compares: bool,
}

/// Labels or approvers of a pull request. Only the code host knows them: gpulint never reads them from the files that it
/// checks.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct ChangeLabels(pub(in crate::cli) Vec<String>);

fn change_labels(text: &str) -> Result<ChangeLabels, String> {
    let text = text.trim();
    if text.is_empty() || text == "null" {
        return Ok(ChangeLabels::default());
    }
    if text.starts_with('[') {
        let labels = serde_json::from_str(text).map_err(|_| "expected a JSON list of strings".to_owned())?;
        return Ok(ChangeLabels(labels));
    }
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(ChangeLabels(names.map(str::to_owned).collect()))
}

/// Options that decide what makes a check fail.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct FailOnChoice {
    /// Fail on findings of this level or higher: note, warning or error [default: `fail-on` in gpulint.toml, or warning]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub(in crate::cli) fail_on: Option<Level>,
    /// Fail only on findings of this confidence or higher: low, medium or high [default: `fail-confidence` in gpulint.toml, or medium]
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence)]
    pub(in crate::cli) fail_confidence: Option<Confidence>,
    /// Show only findings of this confidence or higher: low, medium or high [default: `min-confidence` in gpulint.toml, or low]
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence)]
    pub(in crate::cli) min_confidence: Option<Confidence>,
    /// Fail if a relevant file was not read or a value is unknown
    #[arg(long)]
    pub(in crate::cli) fail_on_unread: bool,
}

fn level(name: &str) -> Result<Level, String> {
    Level::from_name(name).ok_or_else(|| "expected note, warning or error".to_owned())
}

fn profile(name: &str) -> Result<Profile, String> {
    Profile::from_name(name).ok_or_else(|| "expected essential, standard or all".to_owned())
}

fn confidence(name: &str) -> Result<Confidence, String> {
    let found = Confidence::ALL.into_iter().find(|confidence| confidence.name() == name);
    found.ok_or_else(|| "expected low, medium or high".to_owned())
}
