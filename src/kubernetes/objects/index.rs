//! Finds objects that other objects name: templates, claims, ConfigMaps. If several have the same name, the nearest in
//! the tree is used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::languages::yaml::Node;
use crate::source::{FileId, SourceFiles, Span, file_name, normalize, parent};

use super::object::KubernetesObject;
use crate::kubernetes::rows::table::{KINDS, KindRow, KnownKind};

/// Kinds that other objects take values from, in addition to those with `borrows` definitions.
const JOINED: [&str; 12] = [
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/ResourceClaimTemplate",
    "resource.k8s.io/DeviceClass",
    "kueue.x-k8s.io/LocalQueue",
    "kueue.x-k8s.io/ClusterQueue",
    "kueue.x-k8s.io/ResourceFlavor",
    "/ConfigMap",
    "/PersistentVolumeClaim",
    "/PersistentVolume",
    "storage.k8s.io/StorageClass",
    "scheduling.k8s.io/PriorityClass",
    "karpenter.k8s.aws/EC2NodeClass",
];

/// The limit on names with placeholders that are indexed.
const MOST_OPEN: usize = 1_000;

/// The place in which a name is used.
#[derive(Debug, Clone, Copy)]
pub(in crate::kubernetes) struct NamePlace {
    file: FileId,
}

impl NamePlace {
    pub(in crate::kubernetes) fn of(span: Span) -> Self {
        NamePlace { file: span.file }
    }
}

#[derive(Default)]
pub(in crate::kubernetes) struct ObjectIndex<'t> {
    paths: HashMap<FileId, Arc<str>>,
    objects: HashMap<(String, Arc<str>), Vec<KubernetesObject<'t>>>,
    /// Objects whose name contains a placeholder.
    open: Vec<(String, Arc<str>, KubernetesObject<'t>)>,
    /// Values files, which several objects may name.
    values: Mutex<HashMap<FileId, Option<Node>>>,
    tree: Option<TreeFiles<'t>>,
}

/// All files of the tree by name, indexed on the first request.
struct TreeFiles<'t> {
    sources: &'t SourceFiles,
    paths: &'t [String],
    by_name: OnceLock<HashMap<&'t str, Vec<&'t str>>>,
}

impl<'t> ObjectIndex<'t> {
    /// Indexes objects of several files. The order of files decides between equal matches.
    pub(in crate::kubernetes) fn new(files: impl IntoIterator<Item = (FileId, Arc<str>, Vec<&'t Node>)>) -> Self {
        let mut index = ObjectIndex::default();
        for (file, path, roots) in files {
            index.paths.insert(file, path);
            for root in roots {
                index.add(root, 0);
            }
        }
        index
    }

    /// Adds the files of the tree, which commands may name.
    #[must_use]
    pub(in crate::kubernetes) fn with_tree(mut self, sources: &'t SourceFiles, paths: &'t [String]) -> Self {
        self.tree = Some(TreeFiles { sources, paths, by_name: OnceLock::new() });
        self
    }

    pub(in crate::kubernetes) fn sources(&self) -> Option<&'t SourceFiles> {
        self.tree.as_ref().map(|tree| tree.sources)
    }

    /// Returns the only file in the tree whose path ends like this path of a container.
    pub(in crate::kubernetes) fn file(&self, path: &str) -> Option<FileId> {
        let tree = self.tree.as_ref()?;
        tree.sources.open(tree.ending_like(path)?).ok()
    }

    /// Returns the files with this name in the only folder whose path ends like this path of a container; empty if
    /// there are several such folders or too many files.
    pub(in crate::kubernetes) fn files_below(&self, path: &str, name: &str, most: usize) -> Vec<FileId> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let called = file_name(path.trim_end_matches('/'));
        let above = |path: &str| parent(parent(path)).to_owned();
        let all = tree.by_name().get(name).into_iter().flatten();
        let found: Vec<&&str> = all.filter(|path| !called.is_empty() && file_name(&above(path)) == called).collect();
        let is_one = found.iter().zip(found.iter().skip(1)).all(|(one, next)| above(one) == above(next));
        if !is_one || found.len() > most {
            return Vec::new();
        }
        found.into_iter().filter_map(|path| tree.sources.open(path).ok()).collect()
    }

    fn add(&mut self, root: &'t Node, depth: usize) {
        const DEEPEST: usize = 4;
        let Some(object) = KubernetesObject::new(root) else { return };
        let full = format!("{}/{}", object.group, object.kind);
        let carried = KINDS.named(&full).into_iter().flat_map(KindRow::carried);
        for found in carried.flat_map(|path| path.all(root)).filter(|_| depth < DEEPEST) {
            self.add(found.node, depth + 1);
        }
        if let (true, Some(name)) = (is_joined(&full), object.name.clone()) {
            if name.contains("${") && self.open.len() < MOST_OPEN {
                self.open.push((full.clone(), name.clone(), object.clone()));
            }
            self.objects.entry((full, name)).or_default().push(object);
        }
    }

    /// Returns the object with a kind (`group/Kind`) and a name that is nearest to a place.
    pub(in crate::kubernetes) fn find(
        &self,
        kind: &str,
        name: &Arc<str>,
        place: NamePlace,
    ) -> Option<&KubernetesObject<'t>> {
        let all = self.objects.get(&(kind.to_owned(), name.clone()))?;
        let from = self.paths.get(&place.file).map_or("", |path| path);
        let far = |object: &&KubernetesObject<'t>| distance(from, self.path(object.head));
        all.iter().min_by_key(far)
    }

    /// Returns the objects with a kind and a name that are nearest to a place; several if they are equally near.
    pub(in crate::kubernetes) fn nearest(
        &self,
        kind: &str,
        name: &Arc<str>,
        place: NamePlace,
    ) -> Vec<&KubernetesObject<'t>> {
        let all = self.objects.get(&(kind.to_owned(), name.clone())).map(Vec::as_slice).unwrap_or_default();
        let from = self.paths.get(&place.file).map_or("", |path| path);
        let far = |object: &&KubernetesObject<'t>| distance(from, self.path(object.head));
        let least = all.iter().map(|object| far(&object)).min();
        all.iter().filter(|object| Some(far(object)) == least).collect()
    }

    /// Returns the nearest object of a kind whose name may become this one: `${APP}-gpu`. Returns none if two are
    /// equally near.
    pub(in crate::kubernetes) fn filled_in(
        &self,
        kind: &str,
        name: &str,
        place: NamePlace,
    ) -> Option<&KubernetesObject<'t>> {
        let from = self.paths.get(&place.file).map_or("", |path| path);
        let fitting = self.open.iter().filter(|(of, open, _)| of == kind && becomes(open, name));
        let mut near: Vec<(usize, &KubernetesObject<'t>)> =
            fitting.map(|(.., object)| (distance(from, self.path(object.head)), object)).collect();
        near.sort_by_key(|(far, _)| *far);
        match near.as_slice() {
            [(one, _), (other, _), ..] if one == other => None,
            [(_, nearest), ..] => Some(nearest),
            [] => None,
        }
    }

    /// Returns a values file, read once.
    pub(in crate::kubernetes) fn values(&self, file: FileId, read: impl FnOnce() -> Option<Node>) -> Option<Node> {
        let mut known = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(file).or_insert_with(read).clone()
    }

    pub(in crate::kubernetes) fn path(&self, span: Span) -> &str {
        self.paths.get(&span.file).map_or("", |path| path)
    }
}

impl<'t> TreeFiles<'t> {
    fn by_name(&self) -> &HashMap<&'t str, Vec<&'t str>> {
        self.by_name.get_or_init(|| {
            let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
            for path in self.paths {
                by_name.entry(file_name(path)).or_default().push(path);
            }
            by_name
        })
    }

    /// Returns the file whose folder and name match the end of a container path. The start of the path may come from
    /// the image.
    fn ending_like(&self, path: &str) -> Option<&'t str> {
        let is_whole = path.starts_with('/');
        let path = normalize(path)?;
        let all = self.by_name().get(file_name(&path))?;
        let mut end = &*path;
        loop {
            let mut found =
                all.iter().filter(|it| it.strip_suffix(end).is_some_and(|b| b.is_empty() || b.ends_with('/')));
            match (found.next(), found.next()) {
                (Some(one), None) => return Some(one),
                (Some(_), Some(_)) => return None,
                _ => end = end.split_once('/').map(|(_, rest)| rest).filter(|rest| is_whole && rest.contains('/'))?,
            }
        }
    }
}

fn is_joined(kind: &str) -> bool {
    JOINED.contains(&kind) || KINDS.known().iter().flat_map(KnownKind::borrowed).any(|name| name == kind)
}

/// Returns true if the first name becomes the second one when a word replaces its only placeholder. A name that is
/// only a placeholder can become any name.
fn becomes(open: &str, name: &str) -> bool {
    let Some((before, rest)) = open.split_once("${") else { return false };
    let Some((_, after)) = rest.split_once('}') else { return false };
    let has_text = before.len() + after.len() > 1 && !after.contains("${");
    let filled = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    has_text && filled.is_some_and(|filled| !filled.is_empty())
}

/// Returns the number of steps in the tree from one file to another.
pub(in crate::kubernetes) fn distance(from: &str, to: &str) -> usize {
    if from == to {
        return 0;
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    a.len() + b.len() - 2 * shared
}
