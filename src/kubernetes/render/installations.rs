//! Defines how a command outside of manifests installs a chart of the tree.

use crate::diagnostic::SkipKind;
use crate::inventory::{CountedAs, SkippedFile};
use crate::kubernetes::objects::layers;
use crate::languages::helm::Chart;
use crate::languages::yaml::{self, Node};
use crate::source::Span;

use super::variants::{ValuesVariant, inside};

/// A command that installs a chart of the tree. All paths are relative to the root of the tree.
#[derive(Debug, Clone)]
pub struct ChartInstallation {
    /// The directory of the chart.
    pub(crate) directory: String,
    /// The file with the command.
    pub(crate) path: String,
    pub(crate) release: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) files: Vec<String>,
    /// Values files as written that are not in this tree.
    pub(crate) missing: Vec<String>,
    /// Single values with their paths in the syntax of `--set`; `None` for a value that only a run knows.
    pub(crate) set: Vec<(String, Option<Node>, Span)>,
    /// Whether it installs the chart, and does not only render it.
    pub(crate) deploys: bool,
    pub(crate) is_example: bool,
}

impl ChartInstallation {
    /// Returns whether it passes values of its own.
    pub(super) fn has_values(&self) -> bool {
        !(self.files.is_empty() && self.set.is_empty())
    }

    /// Returns its values as a choice for the chart.
    pub(super) fn variant(&self, chart: &Chart, number: usize) -> ValuesVariant {
        let release = self.release.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        let number = if number > 1 { format!(" {number}") } else { String::new() };
        let file = self.files.last().map(|file| format!(", {}", inside(chart, file))).unwrap_or_default();
        let label = format!("{}{release}{number}{file}", inside(chart, &self.path));
        ValuesVariant {
            label: Some(label.into()),
            name: None,
            files: self.files.clone(),
            set: self
                .set
                .iter()
                .map(|(path, value, at)| (path.clone(), self.node(path, value.as_ref(), *at)))
                .collect(),
            by: Some(self.path.clone()),
            release: self.release.clone(),
            namespace: self.namespace.clone(),
            counted: if self.is_example { CountedAs::Example } else { CountedAs::Deployed },
        }
    }

    /// Returns a value, or the mark of a value that is unknown.
    fn node(&self, path: &str, value: Option<&Node>, at: Span) -> Node {
        let why = || format!("{} sets `{path}` to a value that is not in the file", self.path);
        value.cloned().unwrap_or_else(|| Node::scalar(at, yaml::unknown_mark(path, &why()), false))
    }

    /// Returns the entry for values files that are not in this tree.
    pub(super) fn skipped(&self) -> Option<SkippedFile> {
        let first = self.missing.first()?;
        let others = match self.missing.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        };
        let chart = super::charts::place(&self.directory);
        let reason = format!(
            "it installs {chart} with the values file `{first}`{others}, which is not in this tree: \
             the values of this deployment are incomplete"
        );
        Some(SkippedFile::new(SkipKind::MissingValues, self.path.as_str(), super::in_one_line(&reason)))
    }
}

/// Returns the layers of a choice with single values, which override its files.
pub(super) fn with_single_values(layers: Vec<Node>, set: &[(String, Node)]) -> Vec<Node> {
    if set.is_empty() {
        return layers;
    }
    let below = layers.into_iter().reduce(|below, above| layers::over(&below, &above, 0));
    set.iter()
        .fold(below, |values, (path, value)| layers::put_at(values.as_ref(), path, value).or(values))
        .into_iter()
        .collect()
}
