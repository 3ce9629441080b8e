//! Collects all files of a kustomization. A kustomization that downloads files or runs programs is refused before it is
//! built.

use std::collections::{BTreeMap, BTreeSet};

use crate::languages::kustomize::{charts_of, is_remote};
use crate::languages::yaml::{Node, NodeData};
use crate::source::{ReadError, SourceFiles, join};

use super::plan::{RefusedRendering, RenderInput, RenderPlan, at, document};
use crate::kubernetes::text::trail::RendererKind;

pub(in crate::kubernetes) use crate::languages::kustomize::NAMES;

/// Fields that contain no paths.
const NO_PATHS: [&str; 17] = [
    "apiVersion",
    "kind",
    "metadata",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "nameprefix",
    "namesuffix",
    "commonLabels",
    "commonAnnotations",
    "labels",
    "images",
    "replicas",
    "vars",
    "generatorOptions",
    "buildMetadata",
    "sortOptions",
];
/// Members of generators and patches that contain no paths.
const NO_PATHS_INSIDE: [&str; 8] = ["literals", "target", "options", "name", "namespace", "type", "behavior", "op"];
/// Fields whose entries must all exist.
const NEEDED: [&str; 8] =
    ["resources", "bases", "components", "patchesStrategicMerge", "crds", "generators", "transformers", "validators"];
/// Fields whose files may name further files or programs.
const POWERFUL: [&str; 3] = ["generators", "transformers", "validators"];
/// Fields whose files are objects.
const OBJECTS: [&str; 4] = ["resources", "bases", "components", "crds"];
const DEEPEST: usize = 32;

/// Returns the plan; `None` if the file is not a kustomization, or is a component.
pub(super) fn plan(sources: &SourceFiles, directory: &str) -> Option<Result<RenderPlan, RefusedRendering>> {
    let root = NAMES.iter().find_map(|name| document(sources, &at(directory, name)))?;
    if is_component(&root) || is_foreign(&root) {
        return None;
    }
    let mut closure = Closure::new(sources, false, DEEPEST);
    let visited = closure.visit(directory, 0);
    let parts = closure.directories.iter().filter(|part| *part != directory).cloned().collect();
    Some(match visited {
        Ok(()) => {
            let inputs: Vec<String> = closure.files.into_iter().collect();
            Ok(RenderPlan {
                by: RendererKind::Kustomize,
                directory: directory.to_owned(),
                release: String::new(),
                values: Vec::new(),
                inputs: inputs.iter().cloned().map(RenderInput::of).collect(),
                replaces: inputs,
                parts,
                places: BTreeMap::new(),
            })
        }
        Err(why) => Err(RefusedRendering { by: RendererKind::Kustomize, directory: directory.to_owned(), why }),
    })
}

/// Returns the files of this tree that a kustomization uses; `None` if there is no kustomization.
pub(in crate::kubernetes) fn files_of(sources: &SourceFiles, directory: &str) -> Option<BTreeSet<String>> {
    NAMES.iter().find_map(|name| document(sources, &at(directory, name)))?;
    let mut closure = Closure::new(sources, true, DEEPEST);
    let _ = closure.visit(directory, 0);
    Some(closure.files)
}

/// The paths that one kustomization names itself.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The file that defines the kustomization.
    pub path: String,
    /// The files that it names, except those that only become data.
    pub files: BTreeSet<String>,
    /// The files that may change objects: patches and similar files.
    pub changing: BTreeSet<String>,
    /// The directories of other kustomizations.
    pub uses: BTreeSet<String>,
    /// The sources outside this tree.
    pub elsewhere: BTreeSet<String>,
    /// The files of generators and similar plugins that would run a program; the kustomization itself if they are
    /// inline.
    pub programs: BTreeSet<String>,
    /// The directories of the charts that it renders.
    pub charts: BTreeSet<String>,
    pub is_component: bool,
}

/// Returns the outline; `None` if the directory has no kustomization. `was_read` returns whether gpulint already read a
/// file of the tree.
pub(super) fn outline(sources: &SourceFiles, directory: &str, was_read: &dyn Fn(&str) -> bool) -> Option<Outline> {
    let (path, root) = find(sources, directory)?;
    if is_foreign(&root) {
        return None;
    }
    let mut closure = Closure { was_read, ..Closure::new(sources, true, 0) };
    closure.directories.insert(directory.to_owned());
    let _ = closure.enter(directory, path, &root, 0);
    let Closure { mut files, data, changing, mut directories, elsewhere, programs, charts, first, .. } = closure;
    let (path, is_component) = first?;
    directories.remove(directory);
    files.retain(|it| *it != path && !data.contains(it));
    Some(Outline { path, files, changing, uses: directories, elsewhere, programs, charts, is_component })
}

/// Returns the file of a directory's kustomization, with its content.
fn find(sources: &SourceFiles, directory: &str) -> Option<(String, Node)> {
    NAMES.iter().find_map(|name| {
        let path = at(directory, name);
        document(sources, &path).map(|root| (path, root))
    })
}

/// Returns whether the file is an object of Flux: Flux has its own kind Kustomization, and some users store such
/// objects in files with this name.
fn is_foreign(root: &Node) -> bool {
    root.text_at("apiVersion").is_some_and(|version| !version.starts_with("kustomize.config.k8s.io/"))
}

fn is_component(root: &Node) -> bool {
    root.text_at("kind").is_some_and(|kind| &**kind == "Component")
}

struct Closure<'s> {
    sources: &'s SourceFiles,
    /// Returns whether gpulint already read a file of the tree.
    was_read: &'s dyn Fn(&str) -> bool,
    /// True if missing and refused files are skipped.
    is_lenient: bool,
    /// Kustomizations below this depth are only recorded.
    deepest: usize,
    files: BTreeSet<String>,
    data: BTreeSet<String>,
    changing: BTreeSet<String>,
    directories: BTreeSet<String>,
    elsewhere: BTreeSet<String>,
    programs: BTreeSet<String>,
    charts: BTreeSet<String>,
    /// The file of the first kustomization, and whether it is a component.
    first: Option<(String, bool)>,
}

impl<'s> Closure<'s> {
    fn new(sources: &'s SourceFiles, is_lenient: bool, deepest: usize) -> Self {
        let (files, data, changing, directories, elsewhere, programs, charts) = Default::default();
        let was_read = &|_: &str| false;
        let first = None;
        Closure {
            sources,
            was_read,
            is_lenient,
            deepest,
            files,
            data,
            changing,
            directories,
            elsewhere,
            programs,
            charts,
            first,
        }
    }

    /// Returns whether a path is a file that was read without an error, so that the disk need not be asked again.
    fn is_known(&self, path: &str) -> bool {
        (self.was_read)(path) && (!self.sources.has(path) || self.sources.open(path).is_ok())
    }

    fn read_lossy(&self, path: &str) -> String {
        String::from_utf8_lossy(&self.sources.tree().read(path).unwrap_or_default()).into_owned()
    }

    fn read(&self, path: &str) -> Result<(), ReadError> {
        if self.is_known(path) { Ok(()) } else { self.sources.tree().read(path).map(drop) }
    }

    fn visit(&mut self, directory: &str, depth: usize) -> Result<(), String> {
        if !self.directories.insert(directory.to_owned()) || depth > self.deepest {
            return Ok(());
        }
        let found = find(self.sources, directory);
        let (path, root) = found.ok_or_else(|| format!("`{directory}` has no kustomization"))?;
        self.enter(directory, path, &root, depth)
    }

    fn enter(&mut self, directory: &str, path: String, root: &Node, depth: usize) -> Result<(), String> {
        self.first.get_or_insert_with(|| (path.clone(), is_component(root)));
        self.files.insert(path);
        self.charts.extend(charts_of(directory, root));
        for entry in root.entries() {
            let field = &*entry.key;
            if (field.starts_with("helmChart") || field == "helmGlobals") && !self.is_lenient {
                return Err(format!("its `{field}` would fetch charts"));
            }
            if !NO_PATHS.contains(&field) {
                self.field(directory, field, &entry.value, depth)?;
            }
        }
        Ok(())
    }

    fn field(&mut self, directory: &str, field: &str, node: &Node, depth: usize) -> Result<(), String> {
        match &node.data {
            NodeData::Scalar { text, .. } => match self.path(directory, field, text, depth) {
                Err(_) if self.is_lenient => Ok(()),
                visited => visited,
            },
            NodeData::List(items) => items.iter().try_for_each(|item| self.field(directory, field, item, depth)),
            NodeData::Map(entries) => entries
                .iter()
                .filter(|entry| !NO_PATHS_INSIDE.contains(&&*entry.key))
                .try_for_each(|entry| self.field(directory, field, &entry.value, depth)),
        }
    }

    fn path(&mut self, directory: &str, field: &str, text: &str, depth: usize) -> Result<(), String> {
        let powerful = POWERFUL.contains(&field);
        if text.trim().contains('\n') {
            let said = if powerful { harmless(text) } else { Ok(()) };
            if said.is_err() {
                self.programs.extend(self.first.iter().map(|(own, _)| own.clone()));
            }
            return said;
        }
        // Generators use the form `key=path`.
        let named =
            if field.ends_with("Generator") { text.split_once('=').map_or(text, |(_, path)| path) } else { text };
        if is_remote(named) {
            self.elsewhere.insert(named.to_owned());
            return Err(format!("its `{field}` would fetch `{named}`"));
        }
        let needed = NEEDED.contains(&field);
        let Some(path) = join(directory, named) else {
            return if needed { Err(format!("`{named}` is outside the repository")) } else { Ok(()) };
        };
        if !self.is_known(&path) && NAMES.iter().any(|name| self.read(&at(&path, name)).is_ok()) {
            let real = self.sources.real_path(&path).unwrap_or(path);
            return self.visit(&real, depth + 1);
        }
        match self.read(&path) {
            Ok(()) => {
                if powerful && let Some(root) = document(self.sources, &path) {
                    self.charts.extend(charts_of(directory, &root));
                }
                if powerful && let Err(why) = harmless(&self.read_lossy(&path)) {
                    self.programs.insert(path);
                    return Err(why);
                }
                if field.ends_with("Generator") {
                    self.data.insert(path.clone());
                } else if !OBJECTS.contains(&field) {
                    self.changing.insert(path.clone());
                }
                // Listing a link also lists its target.
                self.files.extend(self.sources.real_path(&path));
                self.files.insert(path);
                Ok(())
            }
            Err(error) if needed => Err(format!("`{named}` of its `{field}`: {error}")),
            Err(_) => Ok(()),
        }
    }
}

/// Checks the configuration of a plugin, which may name programs and addresses.
fn harmless(text: &str) -> Result<(), String> {
    const TELLING: [(&str, &str); 4] = [
        ("://", "would fetch something"),
        ("config.kubernetes.io/function", "would run a function"),
        ("ChartInflat", "would fetch charts"),
        ("exec:", "would run a program"),
    ];
    match TELLING.iter().find(|(word, _)| text.contains(word)) {
        Some((_, why)) => Err(format!("one of its plugins {why}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    fn planned(kustomization: &str) -> Result<Vec<String>, String> {
        let tree = MemoryTree::new()
            .with("o/kustomization.yaml", kustomization)
            .with("base/kustomization.yaml", "resources: [d.yaml]")
            .with("base/d.yaml", "kind: Deployment")
            .with("o/p.yaml", "kind: Deployment")
            .with("o/t.yaml", "kind: PatchTransformer\npath: https://example.com/p.yaml");
        let sources = SourceFiles::new(tree);
        plan(&sources, "o").unwrap().map(|plan| plan.replaces).map_err(|no| no.why)
    }

    #[test]
    fn all_files_of_a_kustomization_are_gathered() {
        let found =
            planned("resources: [../base]\npatches: [{path: p.yaml, target: {kind: X}}]\nimages: [{name: a.git}]");
        let all = ["base/d.yaml", "base/kustomization.yaml", "o/kustomization.yaml", "o/p.yaml"];
        assert_eq!(found.unwrap(), all);
    }

    #[test]
    fn what_would_be_fetched_or_run_is_refused() {
        for (text, why) in [
            ("resources: ['https://example.com/a.yaml']", "would fetch `https://example.com/a.yaml`"),
            ("bases: ['github.com/a/b?ref=v1']", "would fetch `github.com/a/b?ref=v1`"),
            ("components: ['git@example.com:a/b']", "would fetch"),
            ("openapi: {path: 'http://example.com/o.json'}", "would fetch"),
            ("configMapGenerator: [{name: a, files: ['k=https://example.com/k']}]", "would fetch"),
            ("helmCharts: [{name: a}]", "would fetch charts"),
            ("transformers: [t.yaml]", "one of its plugins would fetch something"),
            ("transformers: [\"a:\\n  exec: {path: ./x}\\n\"]", "one of its plugins would run a program"),
            ("resources: [missing.yaml]", "the file does not exist"),
            ("resources: [../../up.yaml]", "is outside the repository"),
        ] {
            let refused = planned(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
