//! Groups manifests that are applied together: a chart, a kustomization, the objects of Argo CD or Flux, or else the
//! files of one folder.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::inventory::{CountedAs, DeploymentRun, RunId, RunKind};
use crate::source::{SourceFiles, file_name, parent};

use super::Parsed;
use super::deploy::NotApplied;
use super::objects::chart;
use super::pods::workload::FoundResource;
use super::render::Kustomized;
use super::text::trail::RendererKind;

/// The deployments of files, and the deployment of the objects at each place.
pub(super) struct FileDeployments {
    all: BTreeMap<RunId, DeploymentRun>,
    by_place: HashMap<Arc<str>, RunId>,
}

impl FileDeployments {
    /// Groups files into deployments. `rendered` has the deployments of charts and kustomizations. Manifests inside
    /// Terraform belong to the deployment of their Terraform root.
    pub(super) fn of(
        sources: &SourceFiles,
        parsed: &[Parsed],
        mut rendered: Vec<DeploymentRun>,
        (kustomized, not_applied): (&Kustomized, &NotApplied),
    ) -> Self {
        for run in rendered.iter_mut().filter(|run| run.kind == RunKind::Kustomization) {
            if not_applied.excludes(&run.folder) {
                run.counted = CountedAs::Unlisted;
            }
        }
        let all = rendered.into_iter().map(|run| (run.id.clone(), run)).collect();
        let mut runs = FileDeployments { all, by_place: HashMap::new() };
        for file in parsed.iter().filter(|it| !it.file.embedded) {
            let place = file.place();
            let variant = file.file.rendered.as_ref().and_then(|trail| Some((trail, trail.variant.as_ref()?)));
            let run = match (file.is_made(), &file.file.rendered) {
                (true, _) if variant.is_some() => {
                    let (trail, label) = variant.map(|(trail, it)| (trail, &*it.label)).unzip();
                    let chart = trail.map(|it| sources.path(it.head.file)).unwrap_or_default();
                    DeploymentRun::new(RunKind::Chart, parent(&chart), label)
                }
                (true, _) => DeploymentRun::new(RunKind::Application, parent(place), None),
                (false, Some(trail)) => {
                    let kind = match trail.by {
                        RendererKind::Helm => RunKind::Chart,
                        RendererKind::Kustomize => RunKind::Kustomization,
                    };
                    DeploymentRun::new(kind, parent(&sources.path(trail.head.file)), None)
                }
                (false, None) => match chart::of_template(sources, place).filter(|_| file.file.of_chart) {
                    Some(chart) => DeploymentRun::new(RunKind::Chart, chart, None),
                    None if kustomized.leaves_out(place) || not_applied.has(place) => unlisted(place),
                    None => DeploymentRun::new(RunKind::Manifests, parent(place), None),
                },
            };
            runs.by_place.entry(place.clone()).or_insert_with(|| run.id.clone());
            runs.all.entry(run.id.clone()).or_insert(run).inputs.push(file.file.path.clone());
        }
        runs
    }

    pub(super) fn mark(&self, found: &mut [(Arc<str>, FoundResource)]) {
        for (place, found) in found {
            found.resource.run = self.by_place.get(place).cloned();
        }
    }

    /// Returns the deployment of the objects at a place.
    pub(super) fn at(&self, place: &Arc<str>) -> Option<&RunId> {
        self.by_place.get(place)
    }

    pub(super) fn finish(self) -> impl Iterator<Item = DeploymentRun> {
        self.all.into_values().map(|mut run| {
            let inputs = std::mem::take(&mut run.inputs);
            run.reading(inputs)
        })
    }
}

/// Returns the deployment of a file that the kustomization or Application of its folder does not include. Deploying
/// the folder does not apply this file, so each such file is a separate deployment.
fn unlisted(path: &str) -> DeploymentRun {
    let label = format!("{}, not listed", file_name(path));
    DeploymentRun { counted: CountedAs::Unlisted, ..DeploymentRun::new(RunKind::Manifests, parent(path), Some(&label)) }
}
