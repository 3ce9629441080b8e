//! Deployments, and the files that belong to each.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::fact::Fact;
use super::key::FactValue;

/// One deployment: a Terraform root with one set of variable files, a chart with one stack of values, or a folder of
/// manifests.
#[derive(Debug, Clone)]
pub struct DeploymentRun {
    pub id: RunId,
    pub kind: RunKind,
    /// The name from the settings. Without one, the name consists of folder and variant.
    pub given_name: Option<Arc<str>>,
    /// The directory from which the files are applied.
    pub folder: Arc<str>,
    /// The files that it read, sorted and without duplicates.
    pub inputs: Vec<Arc<str>>,
    /// The difference from the other deployments of the folder: variable files, values, or a workspace.
    pub variant: Option<Arc<str>>,
    /// Deployments that it includes: a base, a module, a library chart.
    pub uses: Vec<RunId>,
    /// Deployments that include it, filled in after all are known.
    pub used_by: Vec<RunId>,
    /// Cluster or account to which it is applied.
    pub target: Fact<FactValue>,
    pub counted: CountedAs,
}

/// Stable identity of a deployment: it depends only on its own files and values, not on the rest of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(Arc<str>);

impl RunId {
    pub fn of(kind: RunKind, folder: &str, variant: Option<&str>) -> Self {
        let folder = if folder.is_empty() { "." } else { folder };
        RunId(match variant {
            Some(variant) => format!("{}:{folder} ({variant})", kind.name()).into(),
            None => format!("{}:{folder}", kind.name()).into(),
        })
    }

    /// Parses the ID from a saved report.
    pub fn named(text: &str) -> Self {
        RunId(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunKind {
    /// A Terraform root.
    Root,
    /// A Terragrunt unit.
    Unit,
    /// A Terraform plan or state.
    Plan,
    Chart,
    Kustomization,
    /// An Application of Argo CD, or its counterpart of Flux.
    Application,
    /// A folder of plain manifests.
    Manifests,
    /// A template with one set of parameters.
    Stack,
}

impl RunKind {
    pub const ALL: [RunKind; 8] = [
        RunKind::Root,
        RunKind::Unit,
        RunKind::Plan,
        RunKind::Chart,
        RunKind::Kustomization,
        RunKind::Application,
        RunKind::Manifests,
        RunKind::Stack,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RunKind::Root => "root",
            RunKind::Unit => "unit",
            RunKind::Plan => "plan",
            RunKind::Chart => "chart",
            RunKind::Kustomization => "kustomization",
            RunKind::Application => "application",
            RunKind::Manifests => "manifests",
            RunKind::Stack => "stack",
        }
    }
}

/// Whether totals count a deployment. Reports list excluded deployments separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum CountedAs {
    #[default]
    Deployed,
    /// Other deployments take its place: a root without the variable files of its environments, or the base of
    /// overlays.
    Base,
    /// The files are a module that no deployment calls.
    Module,
    /// The files are an example or a test.
    Example,
    /// The settings exclude it.
    Excluded,
    /// The tool that applies the folder leaves this file out: a kustomization does not list it, or an Application does
    /// not include it.
    Unlisted,
    /// A program keeps these files as a copy of others.
    Copy,
}

impl CountedAs {
    pub const ALL: [CountedAs; 7] = [
        CountedAs::Deployed,
        CountedAs::Base,
        CountedAs::Module,
        CountedAs::Example,
        CountedAs::Excluded,
        CountedAs::Unlisted,
        CountedAs::Copy,
    ];

    pub fn name(self) -> &'static str {
        match self {
            CountedAs::Deployed => "deployed",
            CountedAs::Base => "base",
            CountedAs::Module => "module",
            CountedAs::Example => "example",
            CountedAs::Excluded => "excluded",
            CountedAs::Unlisted => "unlisted",
            CountedAs::Copy => "copy",
        }
    }
}

/// Deployments from the settings. They replace those that gpulint would infer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenRun {
    /// Patterns of the directories that belong to the deployment.
    pub paths: Vec<String>,
    pub name: Option<String>,
    pub variable_files: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub workspace: Option<String>,
    pub modules_directory: Option<String>,
    /// Values files of a chart.
    pub values: Vec<String>,
}

impl DeploymentRun {
    pub fn new(kind: RunKind, folder: &str, variant: Option<&str>) -> Self {
        DeploymentRun {
            id: RunId::of(kind, folder, variant),
            kind,
            given_name: None,
            folder: folder.into(),
            inputs: Vec::new(),
            variant: variant.map(Into::into),
            uses: Vec::new(),
            used_by: Vec::new(),
            target: Fact::Absent,
            counted: CountedAs::Deployed,
        }
    }

    #[must_use]
    pub fn reading(mut self, inputs: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        self.inputs = inputs.into_iter().map(Into::into).collect();
        self.inputs.sort();
        self.inputs.dedup();
        self
    }

    /// Returns the readable name: `infra (env/prod.tfvars)`.
    pub fn name(&self) -> String {
        let folder = if self.folder.is_empty() { "." } else { &self.folder };
        match (&self.given_name, &self.variant) {
            (Some(name), _) => name.to_string(),
            (None, Some(variant)) => format!("{folder} ({variant})"),
            (None, None) => folder.to_owned(),
        }
    }

    pub fn reads(&self, path: &str) -> bool {
        self.inputs.binary_search_by(|it| (**it).cmp(path)).is_ok()
    }
}

/// Sorts deployments by name, merges duplicates, and records at each which others include it.
pub fn order_and_merge_runs(runs: &mut Vec<DeploymentRun>) {
    let mut by_id: BTreeMap<RunId, DeploymentRun> = BTreeMap::new();
    for run in runs.drain(..) {
        match by_id.get_mut(&run.id) {
            Some(known) => {
                known.inputs.extend(run.inputs);
                known.inputs.sort();
                known.inputs.dedup();
                known.uses.extend(run.uses);
            }
            None => drop(by_id.insert(run.id.clone(), run)),
        }
    }
    let uses: Vec<(RunId, RunId)> =
        by_id.values().flat_map(|run| run.uses.iter().map(|used| (used.clone(), run.id.clone()))).collect();
    for (used, by) in uses {
        if let Some(run) = by_id.get_mut(&used) {
            run.used_by.push(by);
        }
    }
    runs.extend(by_id.into_values());
    runs.sort_by(|a, b| (&a.folder, a.kind, &a.variant).cmp(&(&b.folder, b.kind, &b.variant)));
    for run in runs {
        run.used_by.sort();
        run.used_by.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_one_are_joined_and_know_who_uses_them() {
        let mut base = DeploymentRun::new(RunKind::Kustomization, "base", None).reading(["base/b.yaml"]);
        let again = DeploymentRun::new(RunKind::Kustomization, "base", None).reading(["base/a.yaml"]);
        base.counted = CountedAs::Base;
        let mut prod = DeploymentRun::new(RunKind::Kustomization, "prod", None);
        prod.uses = vec![base.id.clone()];
        let mut runs = vec![prod.clone(), base, again];
        order_and_merge_runs(&mut runs);
        let names: Vec<String> = runs.iter().map(DeploymentRun::name).collect();
        assert_eq!(names, ["base", "prod"]);
        assert_eq!(runs[0].inputs, ["base/a.yaml".into(), "base/b.yaml".into()]);
        assert_eq!(runs[0].used_by, [prod.id]);
        assert!(runs[0].reads("base/b.yaml") && !runs[0].reads("base/c.yaml"));
    }

    #[test]
    fn runs_are_called_by_folder_and_variant() {
        let run = DeploymentRun::new(RunKind::Root, "", Some("env/prod.tfvars"));
        assert_eq!((run.name().as_str(), run.id.as_str()), (". (env/prod.tfvars)", "root:. (env/prod.tfvars)"));
    }
}
