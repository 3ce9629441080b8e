//! Lists the missing parts of kustomizations: one entry for each cause.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::SkipKind;
use crate::inventory::SkippedFile;
use crate::languages::kustomize::{KustomizeError, TroubleCause};
use crate::source::{SourceFiles, join, parent};

/// The number of missing parts that an entry names.
const MOST_NAMED: usize = 3;

/// A missing part of a kustomization.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::kubernetes) struct MissingPart {
    /// The kustomization that names the missing part.
    path: String,
    /// The outermost missing folder on the way to it.
    folder: Option<String>,
    why: String,
}

impl MissingPart {
    pub(super) fn new(sources: &SourceFiles, path: &str, trouble: &KustomizeError) -> MissingPart {
        let path = trouble.at.map_or_else(|| path.to_owned(), |at| sources.path_of(at));
        let absent = trouble.at.filter(|_| trouble.cause == TroubleCause::Absent).and_then(|at| {
            let named = sources.snippet(at);
            join(parent(&path), named.trim_matches(['"', '\'']))
        });
        let folder = absent.and_then(|absent| absent_folder(sources, &absent));
        MissingPart { path, folder, why: trouble.message.clone() }
    }

    /// Returns one entry for each folder that several kustomizations need, and one for each kustomization with another
    /// missing part.
    pub(super) fn skipped(all: &BTreeSet<MissingPart>) -> Vec<SkippedFile> {
        let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (folder, part) in all.iter().filter_map(|part| Some((part.folder.as_deref()?, part))) {
            users.entry(folder).or_default().insert(&part.path);
        }
        users.retain(|_, users| users.len() > 1);
        let of_folder = |(folder, users): (&&str, &BTreeSet<&str>)| {
            let reason = format!("this folder is not in the repository, and {} kustomizations need it", users.len());
            let skipped = SkippedFile::new(SkipKind::OverlayPart, *folder, one_line(&reason));
            SkippedFile { absent: Some((*folder).to_owned()), ..skipped }
        };
        let is_alone = |part: &&MissingPart| part.folder.as_deref().is_none_or(|folder| !users.contains_key(folder));
        let mut parts: BTreeMap<(&str, Option<&str>), Vec<&str>> = BTreeMap::new();
        for part in all.iter().filter(is_alone) {
            parts.entry((&part.path, part.folder.as_deref())).or_default().push(&part.why);
        }
        let of_parts = |((path, folder), parts): ((&str, Option<&str>), Vec<&str>)| {
            let named = parts.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join("; ");
            let reason = match (parts.len(), parts.len().saturating_sub(MOST_NAMED)) {
                (1, _) => format!("built without a missing part: {named}"),
                (count, 0) => format!("built without {count} missing parts: {named}"),
                (count, more) => format!("built without {count} missing parts: {named}; and {more} more"),
            };
            let skipped = SkippedFile::new(SkipKind::OverlayPart, path, one_line(&reason));
            SkippedFile { absent: folder.map(ToOwned::to_owned), ..skipped }
        };
        users.iter().map(of_folder).chain(parts.into_iter().map(of_parts)).collect()
    }
}

/// Returns the outermost folder on the way to a path that contains no files.
fn absent_folder(sources: &SourceFiles, path: &str) -> Option<String> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    let mut folders = ends.filter_map(|end| path.get(..end));
    folders.find(|folder| sources.tree().list(folder).is_empty()).map(ToOwned::to_owned)
}

/// Removes line breaks, because the names come from the repository.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 320;
    text.chars().take(LONGEST).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
