//! Defines the input and the result of rendering charts and kustomizations.

use std::collections::BTreeSet;

use super::RenderedOutput;
use super::installations::ChartInstallation;
use super::missing_part::MissingPart;
use super::names;
use crate::inventory::{DeploymentRun, GivenRun, SkippedFile};
use crate::kubernetes::Cluster;
use crate::kubernetes::text::file::File;
use crate::kubernetes::text::filter::WantedKinds;
use crate::kubernetes::text::trail::RendererKind;
use crate::languages::yaml::Node;
use crate::source::{Span, parent};

/// The files that may be rendered, and the options.
pub(in crate::kubernetes) struct RenderRequest<'a> {
    /// The paths of all files, sorted.
    pub paths: &'a [&'a String],
    /// The directories of all kustomizations.
    pub kustomizations: BTreeSet<&'a str>,
    /// The files that request accelerators.
    pub asking: &'a BTreeSet<&'a String>,
    /// The directories and charts that Flux and Argo CD objects deploy.
    pub deployers: &'a Deployers,
    pub wanted: &'a WantedKinds<'a>,
    /// The names of values files.
    pub values: &'a [String],
    /// The deployments that the settings define.
    pub given_runs: &'a [GivenRun],
    /// The commands that install charts of the tree.
    pub installations: &'a [ChartInstallation],
    /// The cluster properties that charts can query.
    pub cluster: &'a Cluster,
    /// The files that another program already rendered.
    pub rendered: &'a [RenderedOutput],
}

impl RenderRequest<'_> {
    /// Returns whether another program rendered this directory.
    pub(super) fn is_rendered(&self, by: RendererKind, directory: &str) -> bool {
        let plans = self.rendered.iter().map(|it| &it.plan).filter(|plan| plan.by == by);
        plans.into_iter().any(|plan| plan.directory == directory || plan.parts.iter().any(|part| part == directory))
    }

    /// Returns whether a command installs a chart with values that mention accelerators.
    pub(super) fn is_installed_with_accelerators(&self, directory: &str) -> bool {
        let mentions = |(path, value, _): &(String, Option<Node>, Span)| {
            names::may_decide(path) || value.as_ref().is_some_and(names::in_values)
        };
        let is_asking = |file: &String| self.asking.contains(file);
        let of_chart = self.installations.iter().filter(|it| it.directory == directory);
        of_chart.into_iter().any(|it| it.set.iter().any(mentions) || it.files.iter().any(is_asking))
    }

    /// Returns whether the file belongs to the files of this run.
    pub(super) fn is_looked_at(&self, path: &str) -> bool {
        self.paths.binary_search_by(|it| it.as_str().cmp(path)).is_ok()
    }

    /// Returns whether a chart template requests accelerators, so that releases of charts are relevant.
    pub(super) fn charts_ask(&self) -> bool {
        self.asking.iter().any(|path| path.starts_with("templates/") || path.contains("/templates/"))
    }

    /// Returns whether a file below a directory requests accelerators.
    pub(super) fn asks_below(&self, directory: &str) -> bool {
        if directory.is_empty() {
            return !self.asking.is_empty();
        }
        let start = format!("{directory}/");
        self.asking.range::<String, _>(&start..).next().is_some_and(|path| path.starts_with(&start))
    }
}

/// The parts of a tree that Flux and Argo CD objects deploy.
#[derive(Debug, Default)]
pub(in crate::kubernetes) struct Deployers {
    /// The directories that they name.
    pub directories: BTreeSet<String>,
    /// The components that they add.
    pub components: BTreeSet<String>,
    /// The files of objects that may release a chart.
    pub releases: BTreeSet<String>,
}

/// The result of rendering.
#[derive(Default)]
pub(in crate::kubernetes) struct AskedDocuments {
    /// The documents that may be relevant.
    pub files: Vec<File>,
    /// The files that the documents replace. They are not read any more.
    pub replaced: BTreeSet<String>,
    pub runs: Vec<DeploymentRun>,
    /// The directories of charts that are deployed only as they are rendered here.
    pub charts: BTreeSet<String>,
    pub skipped: Vec<SkippedFile>,
    /// The missing parts of kustomizations.
    pub missing: BTreeSet<MissingPart>,
    pub kustomized: Kustomized,
}

/// The files that kustomizations own.
#[derive(Debug, Default)]
pub(in crate::kubernetes) struct Kustomized {
    /// The directories of the kustomizations.
    pub directories: BTreeSet<String>,
    /// The files that some kustomization lists.
    pub listed: BTreeSet<String>,
}

impl Kustomized {
    /// Returns whether a file is in the directory of a kustomization and no kustomization lists it.
    pub(in crate::kubernetes) fn leaves_out(&self, path: &str) -> bool {
        self.directories.contains(parent(path)) && !self.listed.contains(path)
    }
}

impl AskedDocuments {
    pub(super) fn add(&mut self, other: AskedDocuments) {
        self.files.extend(other.files);
        self.replaced.extend(other.replaced);
        self.runs.extend(other.runs);
        self.charts.extend(other.charts);
        self.skipped.extend(other.skipped);
    }
}
