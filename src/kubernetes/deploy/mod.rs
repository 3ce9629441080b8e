//! What deployment tools make of the files of a tree before a cluster sees them: objects made of lists, variables filled
//! in, charts with the values of a release. Each takes the place of the text that it is made of.

mod deployers;
mod generate;
mod members;
mod namespaces;
mod not_applied;
mod release;
mod substitute;

use std::collections::BTreeSet;

use crate::diagnostic::SkipKind;
use crate::inventory::Skipped;
use crate::kubernetes::Cluster;
use crate::languages::yaml::Node;
use crate::source::Sources;

use super::Parsed;
use super::objects::index::ObjectIndex;
use super::objects::object::Object;
use super::pods::workload::identify;
use super::relations::chart::Used;
use super::rows::table::KindRow;

/// Files beyond these are read as they stand: a tree of many releases of large charts must not take all memory.
const MOST: usize = 4_000;

pub(super) use deployers::deployers;
pub(super) use not_applied::NotApplied;

/// Puts what deployment tools make beside the files that were read; returns the files of values that releases use, the files
/// that no Application takes, and what has to be said.
pub(super) fn apply(
    sources: &Sources,
    paths: &[String],
    cluster: &Cluster,
    parsed: &mut Vec<Parsed>,
) -> (Used, NotApplied, Vec<Skipped>) {
    let excluded = generate::apply(sources, paths, parsed);
    let not_applied = NotApplied::read(sources, parsed, excluded);
    let substituted = substitute::made(sources, parsed);
    add(parsed, substituted);
    let moved = namespaces::made(sources, parsed);
    add(parsed, moved);
    let mut used = Used::new();
    let mut released = release::made(sources, paths, cluster, parsed, &mut used);
    let skipped = std::mem::take(&mut released.skipped);
    add(parsed, released);
    (used, not_applied, skipped)
}

/// What is made of documents of files.
#[derive(Default)]
struct Made {
    files: Vec<Parsed>,
    /// The documents that it stands for: a file and the number of a document in it.
    instead: Vec<(usize, usize)>,
    /// What has to be said of it.
    skipped: Vec<Skipped>,
    /// Files of which not all was made.
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
            file.skipped.get_or_insert(Skipped::new(SkipKind::Limit, path, reason));
        }
    }
    parsed.extend(made.files);
}

/// All objects that are read, by name.
fn index(parsed: &[Parsed]) -> ObjectIndex<'_> {
    ObjectIndex::new(parsed.iter().map(|it| (it.file.id, it.place().clone(), it.roots().collect())))
}

/// The row of an object that says what it is, or of one that looks like it.
fn row(root: &Node) -> Option<(Object<'_>, &'static KindRow)> {
    let (object, row) = identify(root)?;
    Some((object, row?))
}
