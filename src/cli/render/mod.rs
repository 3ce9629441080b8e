//! Runs the programs that render charts and kustomizations. Each program sees only copies of the files that it needs,
//! an empty environment and its own directory. gpulint changes no file of the tree and uses no shell.

mod process;
mod workspace;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rayon::prelude::*;

use super::io::deadline;
use crate::diagnostic::SkipKind;
use crate::inventory::SkippedFile;
use crate::kubernetes::{RenderPlan, RenderedOutput, RendererKind, plan};
use crate::source::SourceFiles;

use process::RenderProgram;
use workspace::RenderDirectory;

/// The largest rendered output. More is an attack or an error.
const MOST_BYTES: u64 = 32 << 20;

/// The rendering options.
#[derive(Debug, Clone, Default)]
pub(super) struct RenderArguments {
    /// Names of values files. `*` means each values file of a chart.
    pub(super) values: Vec<String>,
    /// The time limit for one chart or kustomization.
    pub(super) time: Duration,
    /// The checked repository. Programs in it are never started.
    pub(super) repository: PathBuf,
}

/// The result of rendering.
#[derive(Debug, Default)]
pub(super) struct RenderOutcome {
    pub(super) rendered: Vec<RenderedOutput>,
    pub(super) failed: Vec<SkippedFile>,
}

/// Renders the charts and kustomizations among the files at `paths`.
pub(super) fn run(sources: &SourceFiles, paths: &[String], request: &RenderArguments) -> RenderOutcome {
    let (plans, refused) = plan(sources, paths, &request.values);
    let (charts, kustomizations): (Vec<RenderPlan>, Vec<RenderPlan>) =
        plans.into_iter().partition(|it| it.by == RendererKind::Helm);
    let mut outcome = RenderOutcome::default();
    outcome.failed.extend(refused.iter().map(|no| failed(no.by, &no.directory, &no.why)));
    match (RenderProgram::find(&["helm"], &request.repository), charts.is_empty()) {
        (_, true) => {}
        (Some(helm), false) => outcome.build(sources, &helm, charts, request.time),
        (None, false) => {
            let reason = "gpulint renders charts with its built-in renderer, because helm is not installed";
            outcome.failed.push(SkippedFile::new(SkipKind::Renderer, ".", reason));
        }
    }
    match (RenderProgram::find(&["kustomize", "kubectl"], &request.repository), kustomizations.is_empty()) {
        (_, true) => {}
        (Some(program), false) => outcome.build(sources, &program, kustomizations, request.time),
        (None, false) => {
            let reason = "gpulint builds kustomizations with its built-in renderer, because neither kustomize nor kubectl is installed";
            outcome.failed.push(SkippedFile::new(SkipKind::Renderer, ".", reason));
        }
    }
    outcome.failed.sort();
    outcome
}

type Made = Result<RenderedOutput, SkippedFile>;

impl RenderOutcome {
    fn add(&mut self, all: Vec<Made>) {
        for made in all {
            match made {
                Ok(rendered) => self.rendered.push(rendered),
                Err(why) => self.failed.push(why),
            }
        }
    }

    /// Renders other charts and kustomizations that are parts of this one together with it, or separately if its
    /// output lacks them.
    fn build(&mut self, sources: &SourceFiles, program: &RenderProgram, mut waiting: Vec<RenderPlan>, time: Duration) {
        let mut built: BTreeSet<String> = BTreeSet::new();
        while !waiting.is_empty() {
            let is_part = |plan: &RenderPlan| waiting.iter().any(|other| other.parts.contains(&plan.directory));
            let (now, later): (Vec<RenderPlan>, Vec<RenderPlan>) =
                waiting.iter().cloned().partition(|plan| !is_part(plan));
            // Kustomizations that include each other cannot be built.
            let (now, later) = if now.is_empty() { (later, now) } else { (now, later) };
            let all: Vec<Made> = now.par_iter().map(|plan| one(sources, program, plan, time)).collect();
            for rendered in all.iter().flatten() {
                built.extend(rendered.plan.parts.iter().cloned());
            }
            self.add(all);
            waiting = later.into_iter().filter(|plan| !built.contains(&plan.directory)).collect();
        }
    }
}

fn one(sources: &SourceFiles, program: &RenderProgram, plan: &RenderPlan, time: Duration) -> Made {
    let made = || -> Result<String, String> {
        let workspace =
            RenderDirectory::new().map_err(|error| format!("no temporary directory can be created: {error}"))?;
        workspace.lay_out(sources, &plan.inputs)?;
        let text = program.run(&workspace, &arguments(program, plan), time.min(deadline::left()), MOST_BYTES)?;
        Ok(text.replace(&*workspace.tree().to_string_lossy(), ""))
    };
    match made() {
        Ok(text) => Ok(RenderedOutput::new(plan.clone(), text)),
        Err(why) => Err(failed(plan.by, &plan.directory, &why)),
    }
}

/// Returns the arguments. Directories are relative to the copy of the tree.
fn arguments(program: &RenderProgram, plan: &RenderPlan) -> Vec<String> {
    let inside = |path: &str| Path::new(".").join(path).to_string_lossy().into_owned();
    let directory = inside(&plan.directory);
    match plan.by {
        RendererKind::Helm => {
            let mut all = vec!["template".to_owned(), plan.release.clone(), directory, "--skip-tests".to_owned()];
            all.extend(plan.values.iter().flat_map(|file| ["--values".to_owned(), inside(file)]));
            all
        }
        RendererKind::Kustomize if program.is("kubectl") => vec!["kustomize".to_owned(), directory],
        RendererKind::Kustomize => vec!["build".to_owned(), directory],
    }
}

fn failed(by: RendererKind, directory: &str, why: &str) -> SkippedFile {
    let path = if directory.is_empty() { ".".to_owned() } else { directory.to_owned() };
    let instead = match by {
        RendererKind::Helm => "rendered by the built-in renderer instead of helm",
        RendererKind::Kustomize => "built by the built-in renderer instead of kustomize",
    };
    SkippedFile::new(SkipKind::Renderer, path, format!("{instead}: {why}"))
}
