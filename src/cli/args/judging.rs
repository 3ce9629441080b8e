//! Which rules run, and what makes a run fail.

use std::path::PathBuf;

use clap::Args;

use crate::diagnostic::Level;
use crate::rules::{Confidence, Profile};

/// Which rules run.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct Selection {
    /// Rules and groups to run beside those of the profile; only these where no profile is named
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(in crate::cli) select: Vec<String>,
    /// Rules and groups to leave out
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(in crate::cli) ignore: Vec<String>,
    /// The rules to start from: essential, standard or all
    #[arg(long, value_parser = profile)]
    pub(in crate::cli) profile: Option<Profile>,
    /// A directory with pages of your own rules
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) rules: Vec<PathBuf>,
    /// Labels on the pull request, as the code host tells them: names with commas between, or a list of JSON
    #[arg(long, value_name = "LABELS", value_parser = change_labels, default_value = "", hide_default_value = true)]
    pub(in crate::cli) change_labels: ChangeLabels,
    /// Tell again what the baseline accepts
    #[arg(long)]
    pub(in crate::cli) no_baseline: bool,
}

/// Labels of a pull request. Only its code host knows them: they are never read from the text that is checked.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct ChangeLabels(pub(in crate::cli) Vec<String>);

fn change_labels(text: &str) -> Result<ChangeLabels, String> {
    let text = text.trim();
    if text.is_empty() || text == "null" {
        return Ok(ChangeLabels::default());
    }
    if text.starts_with('[') {
        let labels = serde_json::from_str(text).map_err(|_| "expected a list of texts as JSON".to_owned())?;
        return Ok(ChangeLabels(labels));
    }
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(ChangeLabels(names.map(str::to_owned).collect()))
}

/// What makes a run fail.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::cli) struct Threshold {
    /// The lowest level of a finding that makes the run fail: note, warning or error
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub(in crate::cli) fail_on: Option<Level>,
    /// The lowest confidence of a finding that makes the run fail: low, medium or high
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence)]
    pub(in crate::cli) fail_confidence: Option<Confidence>,
    /// The lowest confidence of a finding that is shown: low, medium or high
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence)]
    pub(in crate::cli) min_confidence: Option<Confidence>,
    /// Fail where something that matters was not judged: text that nobody read, numbers that are not known
    #[arg(long)]
    pub(in crate::cli) fail_on_unread: bool,
}

fn level(name: &str) -> Result<Level, String> {
    Level::from_name(name).ok_or_else(|| "the levels are note, warning and error".to_owned())
}

fn profile(name: &str) -> Result<Profile, String> {
    Profile::from_name(name).ok_or_else(|| "the profiles are essential, standard and all".to_owned())
}

fn confidence(name: &str) -> Result<Confidence, String> {
    let found = Confidence::ALL.into_iter().find(|confidence| confidence.name() == name);
    found.ok_or_else(|| "the confidences are low, medium and high".to_owned())
}
