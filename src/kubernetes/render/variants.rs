//! Finds the values with which a chart of the tree is deployed: those in the settings, or else each values file of the
//! chart, like the variable files of a Terraform root.

use std::sync::Arc;

use super::RenderRequest;
use super::installations::{self, ChartInstallation};
use super::names;
use super::plan::{at, document};
use crate::diagnostic::SkipKind;
use crate::inventory::{CountedAs, SkippedFile};
use crate::kubernetes::objects::chart::{is_values, nearest};
use crate::kubernetes::text::trail::ValuesStack;
use crate::languages::helm::Chart;
use crate::languages::yaml::Node;
use crate::source::{SourceFiles, is_example, matches};

/// The limit on values files. Real charts have fewer environments.
const MOST: usize = 100;
/// Folders in a chart with one values file for each environment.
const FOLDERS: [&str; 6] = ["values", "env", "envs", "environment", "environments", "ci"];
/// Words in the names of example files.
const SHOWN: [&str; 4] = ["template", "ci", "demo", "dummy"];

/// One list of values files.
#[derive(Default)]
pub(super) struct ValuesVariant {
    /// The name that distinguishes it from the others; `None` for the chart's default values.
    pub label: Option<Arc<str>>,
    pub name: Option<Arc<str>>,
    pub files: Vec<String>,
    /// Single values, which override those of the files.
    pub set: Vec<(String, Node)>,
    /// The file with the command that passes the values.
    pub by: Option<String>,
    pub release: Option<String>,
    pub namespace: Option<String>,
    pub counted: CountedAs,
}

/// Returns the deployments of a chart. Its default values count only if no other values replace them.
pub(super) fn of_chart(
    sources: &SourceFiles,
    chart: &Chart,
    asked: &RenderRequest<'_>,
    skipped: &mut Vec<SkippedFile>,
) -> Vec<ValuesVariant> {
    let given: Vec<ValuesVariant> = given(chart, asked);
    if !given.is_empty() {
        return given;
    }
    let mut files = offered(chart, asked);
    files.retain(|file| is_for(sources, chart, file, skipped));
    if files.len() > MOST {
        let reason = format!("it has {} values files; gpulint reads {MOST} of them", files.len());
        skipped.push(SkippedFile::new(SkipKind::Limit, super::charts::place(&chart.directory), reason));
        files.truncate(MOST);
    }
    let installations = installations(chart, asked);
    skipped.extend(installations.iter().filter(|it| !it.is_example).filter_map(|it| it.skipped()));
    // A command that installs the chart with a file and more values is the deployment of this file.
    let is_installed = |file: &String| installations.iter().any(|it| it.files.contains(file));
    let files = files.into_iter().filter(|file| !is_installed(file));
    let mut variants: Vec<ValuesVariant> = files.map(|file| ValuesVariant::of(chart, file)).collect();
    add_installed(chart, &installations, &mut variants);
    let is_default = |it: &&ChartInstallation| it.deploys && !it.is_example && !it.has_values();
    let counted = match variants.iter().any(|it| it.counted == CountedAs::Deployed) {
        true if !installations.iter().any(is_default) => CountedAs::Base,
        _ => CountedAs::Deployed,
    };
    variants.insert(0, ValuesVariant { counted, ..ValuesVariant::default() });
    variants
}

/// Returns the commands that install a chart, without repetitions. If some install it, those that only render it do
/// not count.
fn installations<'a>(chart: &Chart, asked: &RenderRequest<'a>) -> Vec<&'a ChartInstallation> {
    let of_chart = || asked.installations.iter().filter(|it| it.directory == chart.directory);
    let is_installed = of_chart().any(|it| it.deploys);
    of_chart().filter(|it| it.deploys || !is_installed).take(MOST).collect()
}

/// Adds the values of each command. Commands with equal values are one deployment.
fn add_installed(chart: &Chart, installations: &[&ChartInstallation], variants: &mut Vec<ValuesVariant>) {
    for it in installations.iter().filter(|it| it.has_values()) {
        let new = it.variant(chart, 1);
        if variants.iter().any(|known| known.has_values_of(&new)) {
            continue;
        }
        let same = |known: &ValuesVariant| known.label == new.label;
        let numbers = (1..=MOST).find(|number| {
            let label = it.variant(chart, *number).label;
            !variants.iter().any(|known| known.label == label)
        });
        let number = if variants.iter().any(same) { numbers.unwrap_or(MOST) } else { 1 };
        variants.push(it.variant(chart, number));
    }
}

impl ValuesVariant {
    /// Returns the origin for the documents of this variant.
    pub(super) fn trail(&self, chart: &Chart) -> Option<ValuesStack> {
        let label = self.label.clone()?;
        let folder = at(&chart.directory, &label.replace("..", "_")).into();
        Some(ValuesStack { label, folder })
    }

    fn of(chart: &Chart, file: &str) -> ValuesVariant {
        let label = inside(chart, file);
        let words = || label.split('/').flat_map(|part| part.split(['-', '_', '.']));
        let is_shown = label.split('/').chain(words()).any(|it| is_example(it) || SHOWN.contains(&it));
        let counted = if is_shown { CountedAs::Example } else { CountedAs::Deployed };
        ValuesVariant { label: Some(label.into()), files: vec![file.to_owned()], counted, ..ValuesVariant::default() }
    }

    /// Returns whether another choice has the same files and single values.
    fn has_values_of(&self, other: &ValuesVariant) -> bool {
        let set = |it: &ValuesVariant| -> Vec<(String, String)> {
            it.set.iter().map(|(path, node)| (path.clone(), format!("{:?}", node.data))).collect()
        };
        let release = |it: &ValuesVariant| (it.release.clone(), it.namespace.clone());
        self.by.is_some() && self.files == other.files && release(self) == release(other) && set(self) == set(other)
    }
}

/// Returns the variants that the settings define.
fn given(chart: &Chart, asked: &RenderRequest<'_>) -> Vec<ValuesVariant> {
    let is_meant = |pattern: &String| {
        let pattern = pattern.trim_end_matches("/**").trim_end_matches('/');
        matches(if pattern == "." { "" } else { pattern }, &chart.directory)
    };
    let runs = asked.given_runs.iter().filter(|run| !run.values.is_empty() && run.paths.iter().any(is_meant));
    let variant = |run: &crate::inventory::GivenRun| {
        let files = || run.values.iter().map(|file| inside(chart, file)).collect::<Vec<_>>().join(", ");
        ValuesVariant {
            label: Some(run.name.clone().unwrap_or_else(files).into()),
            name: run.name.as_deref().map(Into::into),
            files: run.values.clone(),
            ..ValuesVariant::default()
        }
    };
    runs.map(variant).collect()
}

/// Returns additional files that have the name of a values file, or that are in a folder for environments.
fn offered<'a>(chart: &Chart, asked: &RenderRequest<'a>) -> Vec<&'a String> {
    let own = at(&chart.directory, "values.yaml");
    let below = if chart.directory.is_empty() { String::new() } else { format!("{}/", chart.directory) };
    let first = asked.paths.partition_point(|it| ***it < *below);
    let all = asked.paths.iter().skip(first).take_while(|it| it.starts_with(&below)).copied();
    let is_offered = |file: &&String| {
        let inside = file.get(below.len()..).unwrap_or_default();
        let plain = inside.ends_with(".yaml") || inside.ends_with(".yml");
        let of_folder = || FOLDERS.contains(&inside.split('/').next().unwrap_or_default()) && inside.contains('/');
        plain
            && **file != own
            && !["charts/", "templates/", "crds/"].iter().any(|it| inside.starts_with(it))
            && (is_values(file) || of_folder())
    };
    all.filter(is_offered).collect()
}

/// 1. The chart is the nearest one above the file.
/// 2. The file is one unencrypted mapping without the keys of an object.
/// 3. One of its keys is a default value of the chart or a subchart of it, or a template uses the key.
fn is_for(sources: &SourceFiles, chart: &Chart, file: &str, skipped: &mut Vec<SkippedFile>) -> bool {
    if nearest(sources, file) != Some(chart.directory.as_str()) {
        return false;
    }
    let Some(root) = document(sources, file) else { return false };
    let keys: Vec<&str> = root.entries().iter().map(|entry| &*entry.key).collect();
    if keys.is_empty() || keys.contains(&"apiVersion") && keys.contains(&"kind") {
        return false;
    }
    let is_known = |key: &&str| *key == "global" || chart.takes(sources, key);
    if !keys.iter().any(is_known) {
        return false;
    }
    if keys.contains(&"sops") {
        // The keys of an encrypted file are readable, and keys of passwords are not relevant.
        if !root.entries().iter().any(|it| &*it.key != "sops" && decides(&it.key, &it.value)) {
            return false;
        }
        let reason = "an encrypted values file: its values are unknown";
        skipped.push(SkippedFile::new(SkipKind::MissingValues, file, reason));
        return false;
    }
    true
}

/// Returns whether a value with this key, or below it, may affect accelerators.
fn decides(key: &str, value: &Node) -> bool {
    names::may_decide(key)
        || value.entries().iter().any(|it| decides(&it.key, &it.value))
        || value.items().iter().any(|it| decides("", it))
}

/// Returns a path relative to the directory of the chart.
pub(super) fn inside(chart: &Chart, file: &str) -> String {
    let below = file.strip_prefix(&chart.directory).map(|rest| rest.trim_start_matches('/'));
    below.unwrap_or(file).to_owned()
}

/// Returns the values of each file of a variant, and reports missing files.
pub(super) fn layers(
    sources: &SourceFiles,
    chart: &Chart,
    variant: &ValuesVariant,
    skipped: &mut Vec<SkippedFile>,
) -> Vec<Node> {
    let read = variant.files.iter().filter_map(|file| {
        let there = document(sources, file);
        if there.is_none() && sources.tree().read(file).is_err() {
            let of = super::charts::place(&chart.directory);
            let reason = format!("a values file that `[[runs]]` sets for {of} does not exist");
            skipped.push(SkippedFile::new(SkipKind::MissingValues, file, reason));
        }
        there
    });
    installations::with_single_values(read.collect(), &variant.set)
}
