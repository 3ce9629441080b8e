//! Finds files in folders of Argo CD that no Application includes: the Application names other files, or an
//! ApplicationSet excludes the folder.

use std::collections::{BTreeSet, HashMap};

use super::row;
use crate::kubernetes::Parsed;
use crate::kubernetes::objects::chart;
use crate::kubernetes::relations::unfollowed::{DeployedFiles, chosen};
use crate::kubernetes::render::KUSTOMIZATIONS;
use crate::kubernetes::rows::table::Layers;
use crate::languages::yaml::Node;
use crate::source::{SourceFiles, is_below, normalize, parent};

/// The files that the Applications of a tree leave out.
#[derive(Default)]
pub(in crate::kubernetes) struct NotApplied {
    /// Folders whose files an Application deploys as they are.
    folders: HashMap<String, Vec<TakenFolder>>,
    /// Directories that an ApplicationSet excludes.
    excluded: BTreeSet<String>,
    /// Directories that an object deploys.
    deployed: BTreeSet<String>,
    /// Directories that Flux deploys with all subdirectories.
    taken: BTreeSet<String>,
}

struct TakenFolder {
    /// The files that the Application includes; `None` if it includes all files.
    chosen: Option<DeployedFiles>,
    recurses: bool,
}

impl NotApplied {
    pub(super) fn read(sources: &SourceFiles, parsed: &[Parsed], excluded: BTreeSet<String>) -> NotApplied {
        let mut all = NotApplied { excluded, ..NotApplied::default() };
        for (object, row) in parsed.iter().flat_map(Parsed::roots).filter_map(row) {
            let path = row.substitutes.as_ref().and_then(|it| it.path.first(object.root)?.text());
            all.taken.extend(path.and_then(|path| normalize(path)));
            for layers in row.values.iter().filter(|layers| layers.chart.is_some()) {
                layers.places(object.root).into_iter().for_each(|at| all.add(sources, layers, at));
            }
        }
        all
    }

    fn add(&mut self, sources: &SourceFiles, layers: &Layers, at: &Node) {
        let path = layers.chart.as_ref().and_then(|path| path.first(at)?.text());
        let Some(directory) = path.filter(|_| !layers.beside).and_then(|path| normalize(path)) else { return };
        if layers.include.is_some() && !chart::is_at(sources, &directory) && !is_kustomization(sources, &directory) {
            let recurses = layers.recurse.as_ref().and_then(|path| path.first(at)?.flag()) == Some(true);
            let folder = TakenFolder { chosen: chosen(layers, at), recurses };
            self.folders.entry(directory.clone()).or_default().push(folder);
        }
        self.deployed.insert(directory);
    }

    /// Returns whether a file is left out when its folder is deployed.
    pub(in crate::kubernetes) fn has(&self, path: &str) -> bool {
        if self.folders.is_empty() && self.excluded.is_empty() || above(path).any(|it| self.taken.contains(it)) {
            return false;
        }
        let mut is_beside = false;
        for directory in above(path) {
            for folder in self.folders.get(directory).into_iter().flatten() {
                if !folder.recurses && parent(path) != directory {
                    continue;
                }
                let inside = path.get(directory.len()..).unwrap_or_default().trim_start_matches('/');
                if folder.chosen.as_ref().is_none_or(|it| it.takes(inside)) {
                    return false;
                }
                is_beside = true;
            }
        }
        is_beside || self.excludes(parent(path))
    }

    /// Returns whether an ApplicationSet excludes the directory or a parent, and no object deploys it.
    pub(in crate::kubernetes) fn excludes(&self, directory: &str) -> bool {
        let around = |it: &str| directory == it || is_below(directory, it);
        let Some(excluded) = self.excluded.iter().find(|it| around(it)) else { return false };
        let is_deployed = |it: &String| around(it) && (it == excluded || is_below(it, excluded));
        !self.taken.iter().any(|it| around(it)) && !self.deployed.iter().any(is_deployed)
    }
}

/// Returns the directories above a path, including the root.
fn above(path: &str) -> impl Iterator<Item = &str> {
    [""].into_iter().chain(path.match_indices('/').filter_map(|(at, _)| path.get(..at)))
}

fn is_kustomization(sources: &SourceFiles, directory: &str) -> bool {
    sources.tree().list(directory).iter().any(|entry| KUSTOMIZATIONS.contains(&entry.name.as_str()))
}
