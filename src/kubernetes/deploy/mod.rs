//! Applies deployment tools to the files of a tree: generates objects from lists, fills in variables, and renders
//! charts with the values of each release. Each result replaces its source.

mod deployers;
mod generate;
mod members;
mod namespaces;
mod not_applied;
mod release;
mod substitute;

use std::collections::BTreeSet;

use crate::diagnostic::SkipKind;
use crate::inventory::SkippedFile;
use crate::kubernetes::Cluster;
use crate::languages::yaml::Node;
use crate::source::SourceFiles;

use super::Parsed;
use super::objects::index::ObjectIndex;
use super::objects::object::KubernetesObject;
use super::pods::workload::identify;
use super::relations::chart::Used;
use super::rows::table::KindRow;

/// The limit on generated files, to bound memory for trees with many releases of large charts. Files beyond it are read
/// as written.
const MOST: usize = 4_000;

pub(super) use deployers::deployers;
pub(super) use not_applied::NotApplied;

/// Adds the results of deployment tools to the parsed files. Returns the values files of releases, the files that no
/// Application includes, and the diagnostics.
pub(super) fn apply(
    sources: &SourceFiles,
    paths: &[String],
    cluster: &Cluster,
    parsed: &mut Vec<Parsed>,
) -> (Used, NotApplied, Vec<SkippedFile>) {
    let excluded = generate::apply(sources, paths, parsed);
    let not_applied = NotApplied::read(sources, parsed, excluded);
    let substituted = substitute::substituted_documents(sources, parsed);
    add(parsed, substituted);
    let moved = namespaces::namespace_documents(sources, parsed);
    add(parsed, moved);
    let mut used = Used::new();
    let mut released = release::release_documents(sources, paths, cluster, parsed, &mut used);
    let skipped = std::mem::take(&mut released.skipped);
    add(parsed, released);
    (used, not_applied, skipped)
}

/// The files that were generated from documents.
#[derive(Default)]
struct Made {
    files: Vec<Parsed>,
    /// The replaced documents: the number of the file, and the number of the document in the file.
    instead: Vec<(usize, usize)>,
    /// The skipped entries.
    skipped: Vec<SkippedFile>,
    /// Files whose results are incomplete because of the limit.
    too_much: BTreeSet<usize>,
}

fn add(parsed: &mut Vec<Parsed>, made: Made) {
    for (file, document) in made.instead {
        if let Some(file) = parsed.get_mut(file) {
            file.stood_for.insert(document);
        }
    }
    for place in made.too_much {
        if let Some(file) = parsed.get_mut(place) {
            let path = file.file.path.to_string();
            let reason = "this object generates more objects than gpulint reads: the others count as written";
            file.skipped.get_or_insert(SkippedFile::new(SkipKind::Limit, path, reason));
        }
    }
    parsed.extend(made.files);
}

/// Returns all objects, indexed by name.
fn index(parsed: &[Parsed]) -> ObjectIndex<'_> {
    ObjectIndex::new(parsed.iter().map(|it| (it.file.id, it.place().clone(), it.roots().collect())))
}

/// Returns an object with its definition, by its kind or by its shape.
fn row(root: &Node) -> Option<(KubernetesObject<'_>, &'static KindRow)> {
    let (object, row) = identify(root)?;
    Some((object, row?))
}
