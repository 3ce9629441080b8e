//! Plans the renderings of a tree, with the inputs of each.

use std::collections::{BTreeMap, BTreeSet};

use crate::kubernetes::objects::chart;
use crate::languages::helm::Release;
use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, join, parent};

use super::{dependencies, kustomization};
use crate::kubernetes::text::trail::RendererKind;

/// The limit on files of a chart. Charts that people write have fewer.
pub(super) const MOST_FILES: usize = 5_000;
/// The maximum depth of directories.
const DEEPEST: usize = 16;

/// One rendering: of a chart with some of its values files, or of a kustomization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderPlan {
    pub by: RendererKind,
    /// The directory of the chart or the kustomization.
    pub directory: String,
    /// The name of the release.
    pub release: String,
    /// Additional values files, the highest precedence last.
    pub values: Vec<String>,
    /// All files that the program needs.
    pub inputs: Vec<RenderInput>,
    /// The files that the rendered text replaces. They are not read any more.
    pub replaces: Vec<String>,
    /// Directories of charts or kustomizations that are part of this one.
    pub parts: Vec<String>,
    /// The real directories of subcharts, by the path that Helm uses, if both differ.
    pub places: BTreeMap<String, String>,
}

/// An input file of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderInput {
    /// The path that the program uses.
    pub path: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The content of a file of the tree.
    File(String),
    Text(String),
}

impl RenderInput {
    pub(super) fn of(path: String) -> RenderInput {
        RenderInput { content: Content::File(path.clone()), path }
    }

    pub(super) fn file(&self) -> Option<&String> {
        match &self.content {
            Content::File(path) => Some(path),
            Content::Text(_) => None,
        }
    }
}

/// A chart or kustomization that is not rendered, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRendering {
    pub by: RendererKind,
    pub directory: String,
    pub why: String,
}

impl RenderPlan {
    /// Returns the command as a user would type it.
    pub fn command(&self) -> String {
        let directory = if self.directory.is_empty() { "." } else { &self.directory };
        match self.by {
            RendererKind::Helm => {
                let values: String = self.values.iter().map(|file| format!(" --values {file}")).collect();
                format!("helm template {directory}{values}")
            }
            RendererKind::Kustomize => format!("kustomize build {directory}"),
        }
    }
}

/// The place of a template that Helm names.
pub(super) struct NamedTemplate {
    pub path: String,
    /// The directory of its chart.
    pub chart: String,
    /// The same directory in the form that Helm uses.
    pub called: String,
}

impl RenderPlan {
    /// Returns the template for Helm's name `name/charts/inside/templates/x.yaml`.
    pub(super) fn template(&self, source: &str) -> Option<NamedTemplate> {
        let (_, inside) = source.trim().split_once('/')?;
        let path = at(&self.directory, inside);
        let called = path.rfind("templates/").and_then(|at| path.get(..at))?.trim_end_matches('/').to_owned();
        let chart = self.real(&called);
        let rest = path.get(called.len()..)?.trim_start_matches('/');
        Some(NamedTemplate { path: at(&chart, rest), chart, called })
    }

    /// Returns the real directory of the chart for a path that Helm uses.
    fn real(&self, called: &str) -> String {
        let mut above = called;
        while !above.is_empty() {
            if let Some(real) = self.places.get(above) {
                return at(real, called.get(above.len()..).unwrap_or_default());
            }
            above = parent(above);
        }
        called.to_owned()
    }
}

/// Returns the renderings of charts and kustomizations among the files at `paths`. `values` contains names of values
/// files: each chart is rendered with those that it has, and `*` renders it again with each of its files.
pub fn plan(sources: &SourceFiles, paths: &[String], values: &[String]) -> (Vec<RenderPlan>, Vec<RefusedRendering>) {
    let mut plans = Vec::new();
    let mut refused = Vec::new();
    let named = |path: &&String, names: &[&str]| names.iter().any(|name| path.rsplit('/').next() == Some(*name));
    let charts: BTreeSet<&str> =
        paths.iter().filter(|path| named(path, &["Chart.yaml"])).map(|path| parent(path)).collect();
    for &directory in charts.iter().filter(|directory| !is_part(directory, &charts)) {
        match of_chart(sources, directory, values) {
            Ok(of_chart) => {
                for plan in of_chart {
                    match plan {
                        Ok(plan) => plans.push(plan),
                        Err(why) => {
                            refused.push(RefusedRendering { by: RendererKind::Helm, directory: directory.into(), why })
                        }
                    }
                }
            }
            Err(why) => refused.push(RefusedRendering { by: RendererKind::Helm, directory: directory.into(), why }),
        }
    }
    refused.dedup();
    let directories: BTreeSet<&str> =
        paths.iter().filter(|path| named(path, &kustomization::NAMES)).map(|path| parent(path)).collect();
    for directory in directories {
        match kustomization::plan(sources, directory) {
            Some(Ok(plan)) => plans.push(plan),
            Some(Err(no)) => refused.push(no),
            None => {}
        }
    }
    (plans, refused)
}

/// Returns whether a chart is below `charts/` of another one, which renders it, or below `templates/`, where it is not
/// a chart.
pub(super) fn is_part(directory: &str, charts: &BTreeSet<&str>) -> bool {
    let within = |marker: &str| {
        let ends = directory.match_indices(marker).map(|(at, _)| at);
        ends.filter_map(|at| directory.get(..at)).any(|above| charts.contains(above.trim_end_matches('/')))
    };
    within("charts/") || within("templates/")
}

fn of_chart(
    sources: &SourceFiles,
    directory: &str,
    values: &[String],
) -> Result<Vec<Result<RenderPlan, String>>, String> {
    let about = document(sources, &at(directory, "Chart.yaml")).ok_or("its Chart.yaml cannot be read")?;
    if about.text_at("type").is_some_and(|kind| &**kind == "library") {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    below(sources, directory, 0, &mut files)?;
    let own = at(directory, "values.yaml");
    let sets = sets(directory, &files, values);
    let release = Release::usual_name(about.text_at("name").map_or("release", |name| name));
    let plan = |values: Vec<String>| -> Result<RenderPlan, String> {
        let layers = values.iter().rev().chain([&own]).filter_map(|file| document(sources, file)).collect();
        let dependencies = dependencies::gather(sources, directory, &files, layers)?;
        let parts: BTreeSet<&String> = dependencies.places.values().collect();
        Ok(RenderPlan {
            by: RendererKind::Helm,
            directory: directory.to_owned(),
            release: release.clone(),
            replaces: files.iter().filter(|file| is_rendered(directory, file)).chain(&values).cloned().collect(),
            parts: parts.into_iter().cloned().collect(),
            inputs: files.iter().cloned().map(RenderInput::of).chain(dependencies.inputs).collect(),
            places: dependencies.places,
            values,
        })
    };
    Ok(sets.into_iter().map(plan).collect())
}

/// Returns the values files of each rendering of a chart, the highest precedence last.
pub(super) fn sets(directory: &str, files: &[String], values: &[String]) -> Vec<Vec<String>> {
    let own = at(directory, "values.yaml");
    let mut offered: Vec<&String> = files.iter().filter(|file| offers(directory, file) && **file != own).collect();
    offered.sort();
    let wanted = values.iter().filter(|name| *name != "*");
    // A file that the command line names counts as a values file, regardless of its name.
    let chosen = wanted.flat_map(|name| offered.iter().filter(move |file| is_called(file, name)));
    let mut sets: Vec<Vec<String>> = vec![chosen.map(|file| (*file).clone()).collect()];
    if values.iter().any(|name| name == "*") {
        let usual = offered.iter().filter(|file| chart::is_values(file));
        sets.extend(usual.map(|file| vec![(*file).clone()]));
    }
    sets
}

/// Returns whether the rendered text of a chart replaces a file.
pub(super) fn is_rendered(directory: &str, file: &str) -> bool {
    let parts = [at(directory, "templates/"), at(directory, "charts/")];
    parts.iter().any(|part| file.starts_with(&format!("{part}/"))) || *file == at(directory, "values.yaml")
}

/// Returns whether a file is a values file of the chart, by its name, and not of a subchart.
fn offers(directory: &str, file: &str) -> bool {
    let inside = file.strip_prefix(directory).unwrap_or(file).trim_start_matches('/');
    let plain = file.ends_with(".yaml") || file.ends_with(".yml");
    plain && inside != "Chart.yaml" && !inside.starts_with("charts/") && !inside.starts_with("templates/")
}

pub(super) fn is_called(file: &str, name: &str) -> bool {
    let name = name.trim_start_matches("./");
    file.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Adds all files below a directory.
pub(super) fn below(sources: &SourceFiles, directory: &str, depth: usize, out: &mut Vec<String>) -> Result<(), String> {
    for entry in sources.tree().list(directory) {
        let path = at(directory, &entry.name);
        if entry.is_directory && depth < DEEPEST {
            below(sources, &path, depth + 1, out)?;
        } else if !entry.is_directory {
            out.push(path);
        }
        if out.len() > MOST_FILES {
            return Err(format!("it has more than {MOST_FILES} files"));
        }
    }
    Ok(())
}

pub(super) fn at(directory: &str, name: &str) -> String {
    join(directory, name).unwrap_or_else(|| name.to_owned())
}

/// Returns the first document of a file.
pub(in crate::kubernetes) fn document(sources: &SourceFiles, path: &str) -> Option<Node> {
    let file = sources.open(path).ok()?;
    yaml::read(file, &sources.text(file)).documents.into_iter().next().map(|document| document.root)
}
