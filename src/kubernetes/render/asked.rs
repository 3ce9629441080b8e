//! What is wanted of the charts and kustomizations of a tree, and what became of them.

use std::collections::BTreeSet;

use super::Rendered;
use super::missing_part::MissingPart;
use crate::inventory::{GivenRun, Run, Skipped};
use crate::kubernetes::Cluster;
use crate::kubernetes::text::file::File;
use crate::kubernetes::text::filter::Wanted;
use crate::kubernetes::text::trail::Renderer;
use crate::source::parent;

/// What may be rendered, and what is wanted of it.
pub(in crate::kubernetes) struct Asked<'a> {
    /// Sorted.
    pub paths: &'a [&'a String],
    /// The directories of the kustomizations among all files.
    pub kustomizations: BTreeSet<&'a str>,
    /// Those that ask for accelerators.
    pub asking: &'a BTreeSet<&'a String>,
    /// What objects of Flux and Argo CD deploy.
    pub deployers: &'a Deployers,
    pub wanted: &'a Wanted<'a>,
    /// Names of files of values.
    pub values: &'a [String],
    /// What the settings say of runs.
    pub given_runs: &'a [GivenRun],
    /// What charts are told of the cluster.
    pub cluster: &'a Cluster,
    /// What another program rendered already.
    pub rendered: &'a [Rendered],
}

impl Asked<'_> {
    /// Another program rendered what stands in this directory.
    pub(super) fn is_rendered(&self, by: Renderer, directory: &str) -> bool {
        let plans = self.rendered.iter().map(|it| &it.plan).filter(|plan| plan.by == by);
        plans.into_iter().any(|plan| plan.directory == directory || plan.parts.iter().any(|part| part == directory))
    }

    /// The file is one of those that are looked at by themselves.
    pub(super) fn is_looked_at(&self, path: &str) -> bool {
        self.paths.binary_search_by(|it| it.as_str().cmp(path)).is_ok()
    }

    /// Whether a template of some chart asks for something: then releases of charts matter.
    pub(super) fn charts_ask(&self) -> bool {
        self.asking.iter().any(|path| path.starts_with("templates/") || path.contains("/templates/"))
    }

    /// Whether a file below a directory asks for something.
    pub(super) fn asks_below(&self, directory: &str) -> bool {
        if directory.is_empty() {
            return !self.asking.is_empty();
        }
        let start = format!("{directory}/");
        self.asking.range::<String, _>(&start..).next().is_some_and(|path| path.starts_with(&start))
    }
}

/// What objects of Flux and Argo CD deploy of a tree, as their files say it.
#[derive(Debug, Default)]
pub(in crate::kubernetes) struct Deployers {
    /// The directories that they name.
    pub directories: BTreeSet<String>,
    /// The components that they add.
    pub components: BTreeSet<String>,
    /// The files of objects that may release a chart.
    pub releases: BTreeSet<String>,
}

/// What became of them.
#[derive(Default)]
pub(in crate::kubernetes) struct AskedDocuments {
    /// The documents that may matter.
    pub files: Vec<File>,
    /// What these stand for: nobody needs to read these files any more.
    pub replaced: BTreeSet<String>,
    pub runs: Vec<Run>,
    /// The directories of charts that are deployed as they are rendered here, and in no other way.
    pub charts: BTreeSet<String>,
    pub skipped: Vec<Skipped>,
    /// What kustomizations are built without.
    pub missing: BTreeSet<MissingPart>,
    pub kustomized: Kustomized,
}

/// Which files the kustomizations of the tree own.
#[derive(Debug, Default)]
pub(in crate::kubernetes) struct Kustomized {
    /// The directories of the kustomizations.
    pub directories: BTreeSet<String>,
    /// The files that some kustomization lists.
    pub listed: BTreeSet<String>,
}

impl Kustomized {
    /// Whether a file stands beside a kustomization and no kustomization lists the file.
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
