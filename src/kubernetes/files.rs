//! Which files are read: those that may ask for accelerators, and those that they may name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Level};
use crate::inventory::WantedObjects;
use crate::source::{FileId, Sources};

use super::chart;
use super::filter::{self, Matter, Names};
use super::render::{self, Rendered, Trail};
use super::tree::Node;

#[derive(Debug, Clone)]
pub(super) struct File {
    pub id: FileId,
    pub path: Arc<str>,
    /// Only here because other files may name its objects.
    pub joined_only: bool,
    /// It is a template of a chart.
    pub of_chart: bool,
    /// The values that its chart has by default.
    pub values: Option<Node>,
    /// Another program made it.
    pub rendered: Option<Trail>,
}

/// The files that matter, sorted by path; text inside Terraform comes last, in the order in which it was found.
pub(super) fn gather(
    sources: &Sources,
    paths: &[String],
    embedded: &[(FileId, String)],
    rendered: &[Rendered],
    wanted: &WantedObjects,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<File> {
    let replaced: BTreeSet<&String> = rendered.iter().flat_map(|it| &it.plan.replaces).collect();
    let mut paths: Vec<&String> =
        paths.iter().filter(|path| filter::is_manifest(path) && !replaced.contains(path)).collect();
    paths.sort();
    paths.dedup();
    let wanted = filter::Wanted::new(wanted);
    let looked: Vec<(&String, Matter)> = paths
        .par_iter()
        .map(|&path| (path, sources.tree().read(path).map_or(Matter::Asks, |text| wanted.look(&text))))
        .collect();
    let mut asking: BTreeSet<&String> =
        looked.iter().filter(|(_, matter)| *matter == Matter::Asks).map(|(path, _)| *path).collect();
    asking.extend(chart::templates(&asking.iter().copied().collect::<Vec<_>>(), &paths));
    let mut files = open(sources, asking.iter().copied(), false, diagnostics);
    files.extend(rendered.iter().flat_map(|it| render::derive(sources, it)));
    if files.is_empty() && embedded.is_empty() {
        return files;
    }
    let texts = files.iter().map(|file| file.id).chain(embedded.iter().map(|(id, _)| *id)).map(|id| sources.text(id));
    let names = Names::used(texts);
    let joined: Vec<&String> = looked
        .par_iter()
        .filter(|(path, matter)| match matter {
            Matter::Scales => true,
            Matter::Configures => sources.tree().read(path).is_ok_and(|text| names.any_in(&text)),
            Matter::Asks | Matter::Nothing => false,
        })
        .map(|(path, _)| *path)
        .filter(|path| !asking.contains(path))
        .collect();
    files.extend(open(sources, joined.into_iter(), true, diagnostics));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    with_values(sources, &mut files);
    files.extend(embedded.iter().map(|(id, _)| File::new(*id, sources.path(*id).into(), false)));
    files
}

impl File {
    fn new(id: FileId, path: Arc<str>, joined_only: bool) -> Self {
        File { id, path, joined_only, of_chart: false, values: None, rendered: None }
    }

    pub(super) fn rendered(id: FileId, path: Arc<str>, joined_only: bool, trail: Trail) -> Self {
        File { rendered: Some(trail), ..File::new(id, path, joined_only) }
    }
}

/// Gives templates of charts the values of their charts.
fn with_values(sources: &Sources, files: &mut [File]) {
    let mut charts: BTreeMap<String, Option<Node>> = BTreeMap::new();
    for file in files {
        let Some(directory) = chart::of_template(sources, &file.path) else { continue };
        file.of_chart = true;
        let values = charts.entry(directory.to_owned()).or_insert_with(|| chart::values(sources, directory));
        file.values.clone_from(values);
    }
}

fn open<'p>(
    sources: &Sources,
    paths: impl Iterator<Item = &'p String>,
    joined_only: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<File> {
    let mut files = Vec::new();
    for path in paths {
        match sources.open(path) {
            Ok(id) => files.push(File::new(id, path.as_str().into(), joined_only)),
            Err(error) => {
                let message = format!("`{path}` cannot be read: {error}");
                diagnostics.push(Diagnostic::new(Level::Warning, message, None));
            }
        }
    }
    files
}
