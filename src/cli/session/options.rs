//! Converts the command line and the settings into the options of the readers.

use std::path::PathBuf;

use super::bounds;
use super::variables::VariableFiles;
use crate::cli::Failure;
use crate::cli::args::InputArguments;
use crate::cli::io::place::WorkingTree;
use crate::cli::io::{output, serving};
use crate::cli::render;
use crate::config::{Config, setting};
use crate::inventory::GivenRun;
use crate::source::Span;
use crate::{kubernetes, terraform};

/// Returns the names of values files with which charts are rendered.
pub(super) fn chart_values(input: &InputArguments, config: &Config, files: &[String]) -> Result<Vec<String>, Failure> {
    if input.values.is_empty() {
        return Ok(config.texts(setting!("values")).iter().map(|(name, _)| name.clone()).collect());
    }
    let is_chart = |path: &&String| path.rsplit('/').next() == Some("Chart.yaml");
    let all: Vec<&str> = files.iter().filter(is_chart).map(|path| crate::source::parent(path)).collect();
    let is_inside =
        |chart: &str| all.iter().any(|other| chart.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')));
    let charts: Vec<&str> = all.iter().copied().filter(|chart| !is_inside(chart)).collect();
    for name in input.values.iter().filter(|name| *name != "*") {
        let wanted = name.trim_start_matches("./");
        let is_called =
            |file: &String| file.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let called: Vec<&String> = files.iter().filter(|file| is_called(file)).collect();
        if called.is_empty() {
            return Err(Failure::new(format!("no values file has the name `{name}`"))
                .with_help("pass the file's path relative to its chart"));
        }
        let in_chart =
            |file: &&&String| charts.iter().any(|chart| chart.is_empty() || file.starts_with(&format!("{chart}/")));
        if charts.len() != 1 && !called.iter().any(|file| in_chart(&file)) {
            return Err(Failure::new(format!(
                "`{name}` is not in the directory of a chart, and could belong to {} charts",
                charts.len()
            ))
            .with_help("pass the directory of one chart, or add the file to [[runs]] in gpulint.toml"));
        }
    }
    Ok(input.values.clone())
}

pub(super) fn render_request(
    input: &InputArguments,
    config: &Config,
    place: &WorkingTree,
    values: &[String],
) -> Option<render::RenderArguments> {
    let configured = config.flag(setting!("render")).unwrap_or(false);
    let is_asked = input.render || configured && !input.starts_nothing;
    if is_asked && serving::folder().is_some() {
        output::complain(
            "note: the server ignores `render` because it starts no programs: it renders charts and overlays with the built-in renderer",
        );
    }
    (is_asked && serving::folder().is_none()).then(|| render::RenderArguments {
        values: values.to_vec(),
        time: bounds::rendering_time(config),
        repository: place.root.clone(),
    })
}

/// Returns the patterns of the settings and of the command line.
pub(super) fn excluded(input: &InputArguments, config: &Config) -> Vec<String> {
    let configured = config.texts(setting!("exclude")).iter().map(|(pattern, _)| pattern.clone());
    configured.chain(input.exclude.iter().cloned()).collect()
}

pub(super) fn given_runs(config: &Config) -> Vec<GivenRun> {
    config.runs().into_iter().map(given_run).collect()
}

fn given_run(run: crate::config::RunSetting) -> GivenRun {
    GivenRun {
        paths: run.paths,
        name: run.name,
        variable_files: run.variable_files,
        variables: run.variables,
        workspace: run.workspace,
        modules_directory: run.modules_directory,
        values: run.values,
    }
}

pub(super) fn named_directories(place: &WorkingTree) -> Vec<String> {
    place.named.iter().filter(|path| path.is_dir()).filter_map(|path| place.in_tree(path)).collect()
}

pub(super) fn named_files(place: &WorkingTree) -> Vec<String> {
    place.named.iter().filter(|path| path.is_file()).filter_map(|path| place.in_tree(path)).collect()
}

pub(super) fn terraform_options(
    input: &InputArguments,
    config: &Config,
    place: &WorkingTree,
    files: &VariableFiles,
    piped: Option<&str>,
) -> Result<terraform::TerraformOptions, Failure> {
    let directories = place.named.iter().filter(|path| path.is_dir());
    let named_plans = named_files(place).into_iter().chain(piped.map(str::to_owned)).collect();
    let in_tree = |files: &[PathBuf]| files.iter().map(|file| place.named_file(file)).collect::<Result<_, _>>();
    Ok(terraform::TerraformOptions {
        variables: input.variables.clone(),
        variable_files: in_tree(&files.together)?,
        environments: in_tree(&files.each)?,
        given_runs: given_runs(config),
        environment: environment(),
        workspace: input.workspace.clone(),
        named_roots: directories.filter_map(|path| place.in_tree(path)).collect(),
        named_plans,
        plan_side: terraform::PlanSide::After,
        modules_directory: input.modules_directory.as_deref().map(|path| place.named_file(path)).transpose()?,
        raw: false,
    })
}

/// Returns the Terraform variables of the environment.
fn environment() -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix("TF_VAR_")?.to_owned();
            Some((name, value.into_string().ok()?))
        })
        .collect();
    variables.sort();
    variables
}

pub(super) fn kubernetes_options(config: &Config, values: &[String]) -> kubernetes::KubernetesOptions {
    kubernetes::KubernetesOptions {
        values: values.to_vec(),
        cluster: cluster(config),
        given_runs: given_runs(config),
        ..kubernetes::KubernetesOptions::default()
    }
}

/// Returns the cluster for which charts are rendered.
fn cluster(config: &Config) -> kubernetes::Cluster {
    let usual = kubernetes::Cluster::default();
    let whole = |(version, _): (&str, Span)| match version.trim_start_matches('v') {
        short if short.matches('.').count() < 2 => format!("v{short}.0"),
        whole => format!("v{whole}"),
    };
    kubernetes::Cluster {
        version: config.text(setting!("charts.kubernetes")).map_or(usual.version, whole),
        interfaces: config.texts(setting!("charts.api-versions")).iter().map(|(name, _)| name.clone()).collect(),
    }
}
