//! Charts rendered by our own engine: which of them matter, with which values, and what is told of those that it cannot
//! render.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::helm::{self, Chart, Document};
use crate::inventory::Skipped;
use crate::source::{Sources, each, parent};
use crate::yaml::Node;

use super::plan::{Plan, at, document, is_part, is_rendered, release_name, sets};
use super::{Rendered, Renderer, Trail, trace};
use crate::kubernetes::text::files::{File, Release};
use crate::kubernetes::text::filter::{self, Matter};

/// The version of Kubernetes that charts are told: the one most clusters of the large clouds run (November 2026).
const KUBERNETES: &str = "v1.34.0";
/// Where nobody says another.
const NAMESPACE: &str = "default";

/// What became of the charts of a tree.
#[derive(Default)]
pub(in crate::kubernetes) struct Made {
    pub rendered: Vec<Rendered>,
    pub skipped: Vec<Skipped>,
}

/// One chart with one stack of files of values.
struct Job {
    chart: Arc<Chart>,
    values: Vec<String>,
    layers: Vec<Node>,
    name: String,
}

/// Renders the charts among `paths` of which some file asks for accelerators.
pub(in crate::kubernetes) fn make(
    sources: &Sources,
    paths: &[&String],
    asking: &BTreeSet<&String>,
    values: &[String],
) -> Made {
    let is_chart = |path: &&&String| path.rsplit('/').next() == Some("Chart.yaml");
    let charts: BTreeSet<&str> = paths.iter().filter(is_chart).map(|path| parent(path)).collect();
    let mut made = Made::default();
    let mut jobs = Vec::new();
    for &directory in charts.iter().filter(|directory| !is_part(directory, &charts)) {
        if !may_matter(sources, directory, asking) {
            continue;
        }
        match helm::load(sources, directory) {
            Ok(chart) if chart.is_library => {}
            Ok(chart) if chart.inputs.iter().any(|input| asking.contains(input)) => {
                jobs.extend(jobs_of(sources, chart, values));
            }
            Ok(_) => {}
            Err(why) => made.skipped.push(told(directory, &why)),
        }
    }
    let done =
        each(jobs.iter().collect(), |job: &Job| (job, render(sources, &job.chart, &job.layers, &job.name, NAMESPACE)));
    let mut all: Vec<Rendered> = Vec::new();
    for (job, rendering) in done {
        match rendering {
            Ok(rendering) => all.push(finish(job, rendering, &mut made.skipped)),
            Err(why) => made.skipped.push(told(&job.chart.directory, &why)),
        }
    }
    // What is part of another chart is told with it, if that one shows it.
    let shown = |rendered: &Rendered| {
        let directory = &rendered.plan.directory;
        all.iter().any(|other| other.plan.directory != *directory && other.shows(sources, directory))
    };
    made.rendered = all.iter().filter(|rendered| !shown(rendered)).cloned().collect();
    made.skipped.sort();
    made.skipped.dedup();
    made
}

/// One of its files asks for something, or it depends on charts that stand elsewhere.
fn may_matter(sources: &Sources, directory: &str, asking: &BTreeSet<&String>) -> bool {
    let below =
        |path: &str| path.strip_prefix(directory).is_some_and(|rest| directory.is_empty() || rest.starts_with('/'));
    let lists = ["Chart.yaml", "requirements.yaml"].map(|name| at(directory, name));
    let beside =
        |path: &String| sources.tree().read(path).is_ok_and(|text| memchr::memmem::find(&text, b"file://").is_some());
    asking.iter().any(|path| below(path)) || lists.iter().any(beside)
}

fn jobs_of(sources: &Sources, chart: Chart, values: &[String]) -> Vec<Job> {
    let chart = Arc::new(chart);
    let mut files = chart.inputs.clone();
    files.sort();
    let job = |values: Vec<String>| Job {
        chart: chart.clone(),
        layers: values.iter().filter_map(|file| document(sources, file)).collect(),
        name: release_name(&chart.name),
        values,
    };
    sets(&chart.directory, &files, values).into_iter().map(job).collect()
}

/// What a release of a chart becomes.
fn render(
    sources: &Sources,
    chart: &Chart,
    layers: &[Node],
    name: &str,
    namespace: &str,
) -> Result<helm::Rendering, String> {
    let release = helm::Release {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        kubernetes: KUBERNETES.to_owned(),
        interfaces: Vec::new(),
    };
    helm::render(sources, chart, layers, &release)
}

/// What has to be said of a rendering that is not whole.
fn tell(directory: &str, rendering: &helm::Rendering, skipped: &mut Vec<Skipped>) {
    for (path, why) in &rendering.failed {
        skipped.push(told(path, why));
    }
    for why in &rendering.missing {
        skipped.push(Skipped { path: place(directory), reason: format!("rendered without a part: {why}") });
    }
    for wanted in &rendering.wanted {
        skipped.push(Skipped {
            path: place(directory),
            reason: format!("rendered without a value that it requires: {wanted}"),
        });
    }
}

fn finish(job: &Job, rendering: helm::Rendering, skipped: &mut Vec<Skipped>) -> Rendered {
    let directory = &job.chart.directory;
    tell(directory, &rendering, skipped);
    let is_whole = |file: &String| !rendering.failed.iter().any(|(path, _)| path == file);
    let homes: BTreeSet<&str> = job.chart.homes().into_iter().collect();
    let replaced = |file: &&String| homes.iter().any(|home| is_rendered(home, file)) && is_whole(file);
    let plan = Plan {
        by: Renderer::Helm,
        directory: directory.clone(),
        release: job.name.clone(),
        replaces: job.chart.inputs.iter().filter(replaced).chain(&job.values).cloned().collect(),
        values: job.values.clone(),
        inputs: Vec::new(),
        parts: Vec::new(),
        places: Default::default(),
    };
    Rendered { plan, text: String::new(), own: rendering.documents }
}

fn place(directory: &str) -> String {
    if directory.is_empty() { ".".to_owned() } else { directory.to_owned() }
}

fn told(path: &str, why: &str) -> Skipped {
    let why: String = why.chars().take(300).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    Skipped { path: place(path), reason: format!("read without rendering it: {why}") }
}

/// The documents of a rendering that may matter, as files.
pub(in crate::kubernetes) fn derive(sources: &Sources, plan: &Plan, documents: &[Document]) -> Vec<File> {
    let Some(head) = trace::first_line(sources, &at(&plan.directory, "Chart.yaml")) else { return Vec::new() };
    let trail = Trail { by: plan.by, command: plan.command().into(), head };
    documents.iter().filter_map(|document| file(sources, document, &trail)).collect()
}

fn file(sources: &Sources, document: &Document, trail: &Trail) -> Option<File> {
    let matter = filter::look(document.text.as_bytes());
    if matter == Matter::Nothing {
        return None;
    }
    let id = sources.derive("", document.text.clone(), document.segments.clone());
    let doubt = document.doubts.first().map(|why| format!("some of it depends on what is not known: {why}").into());
    let path = sources.path(document.file).into();
    let is_holed = document.holes > 0;
    Some(File { doubt, is_holed, ..File::rendered(id, path, matter != Matter::Asks, trail.clone()) })
}

impl Rendered {
    /// What our own engine made, by its templates.
    pub(in crate::kubernetes) fn documents(&self) -> impl Iterator<Item = (String, String)> {
        self.own.iter().map(|document| (document.template.clone(), document.text.clone()))
    }

    /// Some document of it came from a chart in this directory.
    fn shows(&self, sources: &Sources, directory: &str) -> bool {
        let within = |document: &Document| {
            let path = sources.path(document.file);
            path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
        };
        let around = self
            .plan
            .directory
            .strip_prefix(directory)
            .is_some_and(|rest| rest.starts_with('/') || directory.is_empty());
        !around && self.own.iter().any(within)
    }
}

/// What a release of a chart becomes, as files; nothing where it cannot be rendered. `values` are all that it gets, those
/// of the chart itself included.
pub(in crate::kubernetes) fn release(
    sources: &Sources,
    chart: &Chart,
    values: Option<Node>,
    release: &Release,
    skipped: &mut Vec<Skipped>,
) -> Option<Vec<File>> {
    let head = trace::first_line(sources, &at(&chart.directory, "Chart.yaml"))?;
    let name = release.name.as_ref().map_or_else(|| release_name(&chart.name), ToString::to_string);
    let namespace = release.namespace.as_deref().unwrap_or(NAMESPACE);
    let rendering = render(sources, &chart.with_values(values), &[], &name, namespace).ok()?;
    // Where a template fails, what it says is still to be had by reading it.
    if !rendering.failed.is_empty() {
        return None;
    }
    tell(&chart.directory, &rendering, skipped);
    let command = format!("helm template {}", place(&chart.directory));
    let trail = Trail { by: Renderer::Helm, command: command.into(), head };
    let files = rendering.documents.iter().filter_map(|document| file(sources, document, &trail));
    Some(files.map(|file| File { release: Some(release.clone()), ..file }).collect())
}
