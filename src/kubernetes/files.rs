//! Which files are read: those that may ask for accelerators, and those that they may name.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Level};
use crate::source::{FileId, Sources};

use super::filter::{self, Matter, Names};

#[derive(Debug, Clone)]
pub(super) struct File {
    pub id: FileId,
    pub path: Arc<str>,
    /// Only here because other files may name its objects.
    pub joined_only: bool,
}

/// The files that matter, sorted by path; text inside Terraform comes last, in the order in which it was found.
pub(super) fn gather(
    sources: &Sources,
    paths: &[String],
    embedded: &[(FileId, String)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<File> {
    let paths: BTreeSet<&String> = paths.iter().filter(|path| filter::is_manifest(path)).collect();
    let paths: Vec<&String> = paths.into_iter().collect();
    let looked: Vec<(&String, Matter)> = paths
        .into_par_iter()
        .map(|path| (path, sources.tree().read(path).map_or(Matter::Asks, |text| filter::look(&text))))
        .collect();
    let asking = looked.iter().filter(|(_, matter)| *matter == Matter::Asks).map(|(path, _)| *path);
    let mut files = open(sources, asking, false, diagnostics);
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
        .collect();
    files.extend(open(sources, joined.into_iter(), true, diagnostics));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.extend(embedded.iter().map(|(id, _)| File { id: *id, path: sources.path(*id).into(), joined_only: false }));
    files
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
            Ok(id) => files.push(File { id, path: path.as_str().into(), joined_only }),
            Err(error) => {
                let message = format!("`{path}` cannot be read: {error}");
                diagnostics.push(Diagnostic::new(Level::Warning, message, None));
            }
        }
    }
    files
}
