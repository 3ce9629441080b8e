//! Front end for commands that install charts. A chart of the tree is rendered with the values of each command, and a
//! chart elsewhere is read by its values.

use std::collections::BTreeSet;

use crate::commands::helm::{self, HelmCommand};
use crate::inventory::{DeploymentRun, RunKind};
use crate::kubernetes::{CHART_COMMAND, ChartInstallation};
use crate::languages::shell::HOLE;
use crate::languages::table::scripts_with;
use crate::source::{around, file_name, has_mark, is_example, join, parent};

use super::front_end::{Carrier, FrontEnd, FrontEndInput, Reading};

pub(super) struct HelmCommands;

/// The limit on installations, and on values files that one unknown name may mean.
const MOST: usize = 500;
const MOST_FILES: usize = 20;
/// Parts of commands for clusters of one person or one test. Nothing deploys their installations elsewhere.
const TEST_CLUSTERS: [&[u8]; 5] =
    [b"kind create cluster", b"kind-action", b"minikube", b"k3d cluster create", b"microk8s"];

impl FrontEnd for HelmCommands {
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading) {
        let scripts = scripts_with(input.sources, input.paths, &helm::MARKS);
        if scripts.is_empty() {
            return;
        }
        let tree = ChartTree::of(input.paths);
        for path in scripts {
            let is_example = is_test(input, path);
            for command in helm::installations(input.sources, path) {
                if out.installations.len() >= MOST {
                    return;
                }
                match tree.chart(path, &command.chart) {
                    Some(directory) => tree.add(path, directory, &command, is_example, out),
                    None => add_remote(input, &tree, path, &command, is_example, out),
                }
            }
        }
    }
}

/// Returns whether a script only tests charts.
fn is_test(input: &FrontEndInput<'_>, path: &str) -> bool {
    let creates = |text: &[u8]| has_mark(text, &TEST_CLUSTERS);
    path.split(['/', '-', '_', '.']).any(is_example) || input.sources.glance(path, creates).unwrap_or(false)
}

/// Adds the values of a command for a chart elsewhere as a manifest.
fn add_remote(
    input: &FrontEndInput<'_>,
    tree: &ChartTree<'_>,
    path: &str,
    command: &HelmCommand,
    is_example: bool,
    out: &mut Reading,
) {
    let files: Vec<String> = command.files.iter().flat_map(|file| tree.files(path, file)).collect();
    if is_example || command.chart.contains(HOLE) || files.is_empty() && command.set.is_empty() {
        return;
    }
    let Some(object) = helm::object(input.sources, path, CHART_COMMAND, command, &files) else { return };
    let label = format!("{} {}", file_name(path), command.release.as_deref().unwrap_or(&command.chart));
    let run = DeploymentRun::new(RunKind::Application, parent(path), Some(&label));
    out.carriers.insert(object, Carrier::of_run(&run.id));
    if !out.inventory.runs.iter().any(|it| it.id == run.id) {
        let inputs = files.into_iter().chain([path.to_owned()]);
        out.inventory.runs.push(run.reading(inputs));
    }
    out.embedded.push((object, path.to_owned()));
}

/// The charts and files of a tree.
struct ChartTree<'t> {
    paths: BTreeSet<&'t str>,
    charts: BTreeSet<&'t str>,
}

impl<'t> ChartTree<'t> {
    fn of(paths: &'t [String]) -> Self {
        let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
        let charts = paths.iter().filter(|path| file_name(path) == "Chart.yaml").map(|path| parent(path)).collect();
        ChartTree { paths, charts }
    }

    /// Returns the directory of the chart that a command in a file names. The command runs in the directory of the file
    /// or in one above.
    fn chart(&self, path: &str, written: &str) -> Option<&'t str> {
        let written = below_unknown(written);
        if written.contains("://") {
            return None;
        }
        if !written.contains(HOLE) {
            let mut found = around(parent(path)).filter_map(|folder| join(folder, written));
            return found.find_map(|directory| self.charts.get(directory.as_str()).copied());
        }
        let mut found = self.charts.iter().filter(|directory| is_meant(written, directory));
        found.next().copied().filter(|_| found.next().is_none())
    }

    /// Returns the values files that a command may name.
    fn files(&self, path: &str, written: &str) -> Vec<String> {
        let written = below_unknown(written);
        if !written.contains(HOLE) {
            let mut found = around(parent(path)).filter_map(|folder| join(folder, written));
            return found.find(|file| self.paths.contains(file.as_str())).into_iter().collect();
        }
        let is_values = |file: &&&str| [".yaml", ".yml"].iter().any(|end| file.ends_with(end));
        let found = self.paths.iter().filter(is_values).filter(|file| is_meant(written, file));
        let found: Vec<String> = found.take(MOST_FILES + 1).map(|file| (*file).to_owned()).collect();
        if found.len() > MOST_FILES { Vec::new() } else { found }
    }

    /// Adds an installation of a chart; one for each values file that an unknown name may mean.
    fn add(&self, path: &str, directory: &str, command: &HelmCommand, is_example_script: bool, out: &mut Reading) {
        let set: Vec<_> = command.set.iter().map(|it| (it.path.clone(), it.value.clone(), it.at)).collect();
        let mut all = vec![ChartInstallation {
            directory: directory.to_owned(),
            path: path.to_owned(),
            release: command.release.clone(),
            namespace: command.namespace.clone(),
            files: Vec::new(),
            missing: command.is_open.then(|| "options of a variable".to_owned()).into_iter().collect(),
            set,
            deploys: command.deploys,
            is_example: is_example_script,
        }];
        for written in &command.files {
            let found = self.files(path, written);
            if found.is_empty() || all.len() > 1 && found.len() > 1 {
                all.iter_mut().for_each(|it| it.missing.push(written.replace(HOLE, "…")));
                continue;
            }
            let with = |it: &ChartInstallation, file: &String| ChartInstallation {
                files: it.files.iter().chain([file]).cloned().collect(),
                ..it.clone()
            };
            all = found.iter().flat_map(|file| all.iter().map(|it| with(it, file)).collect::<Vec<_>>()).collect();
        }
        let of_example = |file: &String| file.split('/').any(is_example);
        out.installations.extend(all.into_iter().map(|it| {
            let is_example = is_example_script || it.files.iter().any(of_example);
            ChartInstallation { is_example, ..it }
        }));
    }
}

/// Returns the rest of a path whose first directory is unknown, such as that of the checkout.
fn below_unknown(written: &str) -> &str {
    written.strip_prefix(HOLE).and_then(|rest| rest.strip_prefix('/')).unwrap_or(written)
}

/// Returns whether a written path with unknown parts may mean a path of the tree. An unknown part is within one name.
fn is_meant(written: &str, path: &str) -> bool {
    let written = written.trim_start_matches("./").trim_start_matches("../");
    let parts: Vec<&str> = written.split(HOLE).collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    let starts = path.match_indices(first).map(|(at, _)| at).filter(|at| *at == 0 || path[..*at].ends_with('/'));
    starts.into_iter().filter_map(|at| path.get(at + first.len()..)?.strip_suffix(last)).any(|middle| {
        let is_known = first.len() + last.len() > 1;
        is_known && !middle.is_empty() && !middle.contains('/') && parts.len() == 2
    })
}
