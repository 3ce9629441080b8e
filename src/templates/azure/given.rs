//! Finds parameter files and their templates.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::languages::azure::{GivenByFile, given_by_bicep, given_by_json, without_comments};
use crate::languages::hcl::value::HclValue;
use crate::languages::yaml;
use crate::source::{SourceFiles, is_below, parent, those};
use crate::templates::located::{meant, parameters_of};
use crate::templates::reading::TemplateReading;

use super::files::{AzureTemplates, DeploymentTemplates, PARAMETERS};

/// Values for the parameters of a template.
pub(super) struct DeploymentParameters {
    pub(super) path: String,
    pub(super) template: String,
    pub(super) values: BTreeMap<Arc<str>, HclValue>,
}

/// A string that every JSON parameter file contains.
const MARK: &[u8] = b"eploymentParameters.json";

/// Returns the parameter files in the folders of templates and their parents, sorted.
pub(super) fn find(
    sources: &SourceFiles,
    paths: &[String],
    templates: &AzureTemplates,
    reading: &mut TemplateReading,
) -> Vec<DeploymentParameters> {
    let folders: BTreeSet<&str> = templates.keys().map(|path| parent(parent(path))).collect();
    let is_near = |path: &str| folders.iter().any(|folder| folder.is_empty() || is_below(path, folder));
    let is_called_so = |path: &str| path.ends_with(PARAMETERS) || path.ends_with(".json");
    let mut files: Vec<&String> =
        paths.iter().filter(|path| is_called_so(path) && !templates.contains_key(*path) && is_near(path)).collect();
    files.sort();
    files.dedup();
    let is_one = |path: &&String| {
        let has_mark = |text: &[u8]| memchr::memmem::find(text, MARK).is_some();
        path.ends_with(PARAMETERS) || sources.glance(path, has_mark).unwrap_or(false)
    };
    let mut all = Vec::new();
    for path in those(files, is_one) {
        let Some(given) = given(sources, path, templates) else { continue };
        let template = match &given.template {
            Some(location) => meant(location, parent(path), templates),
            None => {
                let names = given.values.keys().map(|name| &**name).collect();
                let declared = templates.iter().map(|(path, it)| (path.as_str(), it.parameters().collect()));
                parameters_of(path, &names, declared)
            }
        };
        reading.comments.extend(given.comments);
        let Some(template) = template.map(str::to_owned) else { continue };
        reading.taken.insert(path.clone());
        all.push(DeploymentParameters { path: path.clone(), template, values: given.values });
    }
    all
}

fn given(sources: &SourceFiles, path: &str, templates: &AzureTemplates) -> Option<GivenByFile> {
    let file = sources.open(path).ok()?;
    let text = sources.text(file);
    if path.ends_with(PARAMETERS) {
        let shelf = DeploymentTemplates { sources, templates, outermost: path, taken: RefCell::default() };
        return Some(given_by_bicep(file, &text, &shelf, sources.limits().evaluation_steps));
    }
    let (text, _) = without_comments(file, &text);
    let stream = yaml::read_within(file, &text, sources.limits());
    given_by_json(&stream.documents.first()?.root)
}
