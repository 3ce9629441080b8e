//! Decides which resources are deployed together, in a tree with many independent projects.
//!
//! A shared parent folder is not evidence. A pod and a pool belong together in three cases: one root, chart or
//! kustomization applies both; the pool is in a folder above the pod; or one subfolder has the pools and another one
//! the pods. If subfolders have both pools and pods, they are independent.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::catalog::{AWS, AZURE, GCP};
use crate::inventory::{BillingRole, Home, Inventory, LinkKind, Resource};
use crate::source::{SourceFiles, around, join, parent};

/// The limit on the kustomizations that gpulint follows from one folder. Real ones stay far below it.
const MOST_REACHED: usize = 10_000;

/// Sets for each resource the folder and the tools that deploy it.
pub(super) fn note_deployers(inventory: &mut Inventory, sources: &SourceFiles) {
    let paths: Vec<String> = inventory.resources.iter().map(|it| sources.path_of(it.span)).collect();
    for (resource, path) in inventory.resources.iter_mut().zip(&paths) {
        resource.home.path = path.as_str().into();
        resource.home.folder = resource.root.clone().unwrap_or_else(|| parent(path).into());
    }
    for raw in inventory.objects.iter_mut().chain(&mut inventory.blocks) {
        raw.path = sources.path_of(raw.span).into();
    }
    let has = |role: BillingRole| inventory.resources.iter().any(|it| it.role == role);
    if !has(BillingRole::Rented) || !has(BillingRole::Requested) {
        return;
    }
    let folders: BTreeSet<&str> = paths.iter().flat_map(|path| around(parent(path))).collect();
    let mut charts: HashMap<&str, Arc<str>> = HashMap::new();
    let mut reached: HashMap<String, Vec<Arc<str>>> = HashMap::new();
    for folder in folders {
        let files = sources.tree().list(folder);
        let has = |name: &str| files.iter().any(|entry| !entry.is_directory && entry.name == name);
        if has("Chart.yaml") {
            charts.insert(folder, format!("both are part of the chart `{folder}`").into());
        }
        if KUSTOMIZATIONS.iter().any(|name| has(name)) {
            let why: Arc<str> = format!("both are part of the kustomization `{folder}`").into();
            for path in reach(sources, folder) {
                reached.entry(path).or_default().push(why.clone());
            }
        }
    }
    let mut clouds: HashMap<&str, Arc<[String]>> = HashMap::new();
    for (resource, path) in inventory.resources.iter_mut().zip(&paths) {
        for folder in around(parent(path)) {
            let found = clouds.entry(folder).or_insert_with(|| clouds_in(sources, folder));
            if !found.is_empty() {
                resource.home.clouds = found.clone();
                break;
            }
        }
        let chart = around(parent(path)).filter_map(|folder| charts.get(folder));
        let kustomizations = reached.get(path).into_iter().flatten();
        let by = resource.links.iter().filter(|link| link.kind == LinkKind::Settings);
        let by: Vec<Arc<str>> = by.map(|link| format!("`{}` makes both", link.to).into()).collect();
        resource.home.parts = chart.chain(kustomizations).cloned().chain(by).collect();
    }
}

/// The limit on Terraform files per folder. Real roots have fewer.
const MOST_FILES: usize = 200;

/// Returns the clouds for which Terraform files in this folder configure a provider.
fn clouds_in(sources: &SourceFiles, folder: &str) -> Arc<[String]> {
    let entries = sources.tree().list(folder).into_iter();
    let files = entries.filter(|entry| !entry.is_directory && entry.name.ends_with(".tf")).take(MOST_FILES);
    let texts = files.filter_map(|entry| Some(sources.text(sources.open(&join(folder, &entry.name)?).ok()?)));
    let clouds: BTreeSet<String> =
        texts.flat_map(|text| text.lines().filter_map(cloud_of).collect::<Vec<_>>()).collect();
    clouds.into_iter().collect()
}

/// Returns the cloud of a line such as `provider "azurerm" {`.
fn cloud_of(line: &str) -> Option<String> {
    let name = line.strip_prefix("provider")?.trim_start().strip_prefix('"')?.split('"').next()?;
    Some(match name {
        "awscc" => AWS.to_owned(),
        "azurerm" | "azapi" => AZURE.to_owned(),
        "google" | "google-beta" => GCP.to_owned(),
        other => other.to_owned(),
    })
}

const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Returns the files that a kustomization names, directly or through other kustomizations.
fn reach(sources: &SourceFiles, folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut seen: HashSet<String> = HashSet::from([folder.to_owned()]);
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let at = |name: &&str| join(&folder, name).filter(|path| sources.open(path).is_ok());
        let Some(path) = KUSTOMIZATIONS.iter().find_map(at) else { continue };
        let Ok(file) = sources.open(&path) else { continue };
        let text = sources.text(file);
        for named in text.lines().filter_map(named).filter_map(|named| join(&folder, named)) {
            if seen.len() >= MOST_REACHED || !seen.insert(named.clone()) {
                continue;
            }
            let is_file = named.rsplit('/').next().is_some_and(|name| name.contains('.'));
            if is_file { files.push(named) } else { open.push(named) }
        }
    }
    files
}

/// Returns the path that a line of a kustomization names: `- ../base`, `- path: patch.yaml`, `path: patch.yaml`.
fn named(line: &str) -> Option<&str> {
    let line = line.trim();
    let item = line.strip_prefix("- ").map(str::trim_start);
    let path = item.unwrap_or(line).strip_prefix("path:").map(str::trim).or(item)?;
    let path = path.trim_matches(['"', '\'']);
    (!path.is_empty() && !path.contains([' ', ':'])).then_some(path)
}

/// Returns the innermost folder that contains both.
fn common<'f>(one: &'f str, other: &str) -> &'f str {
    around(one).find(|folder| is_within(other, folder)).unwrap_or_default()
}

pub(super) fn is_within(folder: &str, outer: &str) -> bool {
    outer.is_empty() || folder.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the subfolder of `folder` that contains `inner`, as a path. Returns `folder` itself if both are equal.
fn part_of<'f>(folder: &str, inner: &'f str) -> &'f str {
    let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
    let length = inner.get(start..).map_or(0, |rest| rest.find('/').unwrap_or(rest.len()));
    inner.get(..start + length).unwrap_or(inner)
}

/// The closeness of two homes. A greater value is closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nearness {
    applied_together: bool,
    depth: usize,
}

/// The subfolders with pools and pods, for each folder of a tree.
#[derive(Debug, Default)]
pub(super) struct HomeIndex {
    held: HashMap<String, FolderParts>,
}

/// The subfolders, by path, that contain pools and pods.
#[derive(Debug, Default)]
struct FolderParts {
    pools: BTreeSet<String>,
    pods: BTreeSet<String>,
}

impl HomeIndex {
    pub(super) fn new(resources: &[Resource]) -> Self {
        let mut homes_by_folder = HomeIndex::default();
        let mut known: HashSet<(&str, BillingRole)> = HashSet::new();
        for resource in resources.iter().filter(|it| known.insert((&it.home.folder, it.role))) {
            let folder = &*resource.home.folder;
            for outer in around(folder) {
                let held = homes_by_folder.held.entry(outer.to_owned()).or_default();
                let parts = if resource.role == BillingRole::Rented { &mut held.pools } else { &mut held.pods };
                parts.insert(part_of(outer, folder).to_owned());
            }
        }
        homes_by_folder
    }

    /// Returns the folder around a pool whose pods all belong to the pool. This is the innermost folder that has pods,
    /// provided that these pods have no other pools.
    pub(super) fn folder_of_pods<'h>(&self, pool: &'h Home) -> Option<&'h str> {
        let at = around(&pool.folder).find(|at| self.held.get(*at).is_some_and(|held| !held.pods.is_empty()))?;
        let held = self.held.get(at)?;
        let own = part_of(at, &pool.folder);
        let is_around = *pool.folder == *at;
        let apart = || held.pods.iter().all(|part| part == at || part != own && !held.pools.contains(part));
        (is_around || apart()).then_some(at)
    }

    /// Returns why a pool and a pod belong together, if they do. `named` is true if both contain a name that the user
    /// chose.
    pub(super) fn why(&self, pool: &Home, pod: &Home, named: bool) -> Option<(Nearness, Arc<str>)> {
        let at = common(&pod.folder, &pool.folder);
        let near = |applied_together| Nearness {
            applied_together,
            depth: if at.is_empty() { 0 } else { at.split('/').count() },
        };
        if let Some(shared) = pool.parts.iter().find(|part| pod.parts.contains(part)) {
            return Some((near(true), shared.clone()));
        }
        let why: String = if *pool.folder == *at && *pod.folder == *at {
            format!("both are in `{}`", shown(at))
        } else if *pool.folder == *at {
            format!("the pool is in `{}`, a folder above the pod", shown(at))
        } else {
            let held = self.held.get(at)?;
            let (pools, pods) = (part_of(at, &pool.folder), part_of(at, &pod.folder));
            if *pod.folder == *at && held.pools.len() == 1 {
                format!("`{pools}` is the only folder below the pod that has pools")
            } else if *pod.folder == *at {
                named.then(|| format!("the pod names a pool that is in `{pools}`, a folder below the pod"))?
            } else {
                let apart = !held.pods.contains(pools) && !held.pools.contains(pods);
                let is_clear = named || (held.pods.len() == 1 && held.pools.len() == 1);
                (apart && is_clear).then(|| format!("`{pools}` has only pools and `{pods}` has only pods"))?
            }
        };
        Some((near(false), why.into()))
    }
}

fn shown(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::ReadBy;
    use crate::source::{FileId, MemoryTree, Span};

    fn home(folder: &str) -> Home {
        Home { folder: folder.into(), ..Home::default() }
    }

    fn file() -> FileId {
        SourceFiles::new(MemoryTree::new().with("a", "")).open("a").unwrap()
    }

    /// Returns whether a pool and a pod match in a tree with pools and pods in these folders.
    fn joined(pools: &[&str], pods: &[&str], pool: &str, pod: &str, named: bool) -> bool {
        let span = Span::new(file(), 0, 0);
        let resource = |role: BillingRole, folder: &&str| {
            let mut it = Resource::new(ReadBy::Kubernetes, role, "kind", "name", span, span);
            it.home = home(folder);
            it
        };
        let pools = pools.iter().map(|folder| resource(BillingRole::Rented, folder));
        let all: Vec<Resource> =
            pools.chain(pods.iter().map(|folder| resource(BillingRole::Requested, folder))).collect();
        HomeIndex::new(&all).why(&home(pool), &home(pod), named).is_some()
    }

    #[test]
    fn parts_that_stand_alone_are_not_joined() {
        let pools = ["a/terraform", "c"];
        let pods = ["a/manifests", "b", "d/e"];
        assert!(joined(&pools, &pods, "a/terraform", "a/manifests", false), "halves of one thing");
        assert!(!joined(&pools, &pods, "a/terraform", "b", true), "a has pods of its own");
        assert!(!joined(&pools, &pods, "c", "b", false), "one of several that have no pool");
        assert!(joined(&pools, &pods, "c", "b", true), "and names it");
        assert!(!joined(&pools, &pods, "c", "a/manifests", true), "a has pools of its own");
        assert!(joined(&["a", ""], &["a/b/c"], "", "a/b/c", false), "a pool around it");
        assert!(joined(&["x/y"], &[""], "x/y", "", false), "a pool below it");
        assert!(!joined(&["x/y", "z"], &[""], "x/y", "", false), "pools below it");
        assert!(joined(&["x/y", "z"], &[""], "x/y", "", true), "one of which it names");
    }

    #[test]
    fn what_a_kustomization_names_belongs_together() {
        let tree = MemoryTree::new()
            .with("base/kustomization.yaml", "resources:\n- pod.yaml\n")
            .with("prod/kustomization.yaml", "resources:\n  - ../base\n  - \"pool.yaml\"\npatches:\n- path: p.yaml\n");
        assert_eq!(reach(&SourceFiles::new(tree), "prod"), ["prod/pool.yaml", "prod/p.yaml", "base/pod.yaml"]);
    }

    #[test]
    fn parts_of_folders_are_paths() {
        assert_eq!((part_of("", "a/b"), part_of("a", "a/b/c"), part_of("a", "a")), ("a", "a/b", "a"));
        assert_eq!((common("a/b/c", "a/bc"), common("a/b", "a/b/c"), common("a", "b")), ("a", "a/b", ""));
    }
}
