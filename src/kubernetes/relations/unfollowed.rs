//! Lists fields of deploying objects that change the deployed objects or their number and that gpulint does not
//! evaluate.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use globset::{Glob, GlobMatcher, GlobSet, GlobSetBuilder};
use regex::Regex;

use crate::diagnostic::SkipKind;
use crate::inventory::{Unjudged, accelerators};
use crate::source::{SourceFiles, Span, join, parent, static_regex};

use crate::kubernetes::objects::chart;
use crate::kubernetes::objects::layers;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::render;
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::{KindRow, Layers};
use crate::kubernetes::text::filter::{self, Matter};
use crate::languages::yaml::Node;

/// Strings in changes that affect numbers.
const NUMBERS: [&str; 5] = ["replicas", "instance", "parallelism", "count", "limits"];

/// Generators that read files of the repository, or contain others that do.
const READING: [&str; 3] = ["files", "matrix", "merge"];
/// The limit on files and directories that are searched for a generator.
const MOST_LISTED: usize = 20_000;
/// The limit on bytes that all generators of a tree read. Text beyond it is not compared.
const MOST_LOOKED: usize = 4 << 20;
const MOST_PATTERNS: usize = 20;
const DEEPEST: usize = 16;

/// The deploying objects so far, by directory and target namespace.
#[derive(Default)]
pub(in crate::kubernetes) struct DeployersByDirectory {
    first: HashMap<(String, String), String>,
    /// The objects that deploy only some files of a directory, by directory and file.
    parts: HashMap<(String, String), BTreeMap<String, String>>,
    /// The files of the tree, listed when a generator reads some.
    files: Option<Vec<String>>,
    /// The search effort for generators: one for each matched file, and one for each byte.
    looked: usize,
}

impl DeployersByDirectory {
    /// Returns the entries for an object. If nothing in the tree has accelerators, only the fields that name some are
    /// listed.
    pub(in crate::kubernetes) fn list_unfollowed(
        &mut self,
        sources: &SourceFiles,
        object: &KubernetesObject<'_>,
        row: &KindRow,
        has_accelerators: bool,
    ) -> Vec<Unjudged> {
        let address = object.address();
        let matters = |span: Span, what: &str| {
            let text = sources.snippet(span);
            let speaks = || {
                let text = text.to_ascii_lowercase();
                NUMBERS.iter().any(|word| text.contains(word)) || accelerators::are_mentioned(&text)
            };
            let is_open = || match what {
                // If the object takes one value of a Secret, the name of the value shows its possible effect.
                "targetPath" => render::may_decide(&text),
                "postRenderers" => speaks() && may_ask(sources, object, row),
                "components" | "patches" | "replicas" => speaks(),
                _ => true,
            };
            (has_accelerators && is_open()) || filter::look(text.as_bytes()) == Matter::Asks
        };
        let path_of = |span: Span| sources.path_of(span);
        let changes = row.unfollowed.iter().filter_map(|path| {
            let what = path.last_key().unwrap_or_default();
            let is_there =
                |node: &&Node| !(node.items().is_empty() && node.entries().is_empty() && node.text().is_none());
            let mut there = nodes(path.all(object.root)).into_iter().filter(is_there);
            let node = there.find(|node| matters(node.span, what))?;
            let reason = format!("{address} changes the deployed objects with `{what}`, which gpulint ignores");
            let known = if READING.contains(&what) { self.read_by(sources, node) } else { String::new() };
            Some(Unjudged {
                known,
                ..Unjudged::new(SkipKind::Unfollowed, path_of(node.span), reason).about(&address).at(node.span)
            })
        });
        let mut told: Vec<Unjudged> = changes.collect();
        if has_accelerators {
            told.extend(self.list_repeated(sources, object, row, &address));
        }
        told.truncate(3);
        told
    }

    /// Returns an entry for each directory that another object deploys, too.
    fn list_repeated(
        &mut self,
        sources: &SourceFiles,
        object: &KubernetesObject<'_>,
        row: &KindRow,
        address: &str,
    ) -> Vec<Unjudged> {
        let places = row.values.iter().flat_map(|layers| {
            let each = layers.each.as_ref().map_or_else(|| vec![object.root], |each| nodes(each.all(object.root)));
            each.into_iter().filter_map(|place| {
                let namespace =
                    layers.namespace.0.iter().find_map(|path| path.first(place).or(path.first(object.root)));
                Some((layers.chart.as_ref()?.first(place)?, namespace, chosen(layers, place)))
            })
        });
        let built = row.substitutes.iter().filter_map(|it| {
            let namespace = it.namespace.as_ref().and_then(|path| path.first(object.root));
            Some((it.path.first(object.root)?, namespace, None))
        });
        let mut told = Vec::new();
        for (node, namespace, chosen) in places.chain(built) {
            let Some(directory) =
                node.text().map(|path| path.trim_start_matches("./").trim_end_matches('/').to_owned())
            else {
                continue;
            };
            // A chart is rendered for each of its releases.
            if directory.is_empty() || directory.contains(['{', '$']) || chart::is_at(sources, &directory) {
                continue;
            }
            // Each namespace has its own objects, which count.
            let namespace = namespace.and_then(Node::text).map_or("", |it| it);
            let first = self.deploy(sources, (&directory, namespace), chosen.as_ref(), address);
            if let Some(first) = first.filter(|first| first != address) {
                let reason = format!("{address} deploys `{directory}`, which {first} deploys too: it is counted once");
                told.push(
                    Unjudged::new(SkipKind::Unfollowed, sources.path_of(node.span), reason)
                        .about(address)
                        .at(node.span),
                );
            }
        }
        told
    }
}

/// Returns whether the charts that an object deploys may request accelerators: the object mentions some, or a chart of
/// this tree does.
fn may_ask(sources: &SourceFiles, object: &KubernetesObject<'_>, row: &KindRow) -> bool {
    let places =
        row.values.iter().flat_map(|layers| layers.places(object.root).into_iter().map(move |at| (layers, at)));
    let charts = places.filter_map(|(layers, at)| layers::directory(layers, at, sources));
    render::in_values(object.root) || charts.into_iter().any(|directory| render::chart_may_ask(sources, &directory))
}

impl DeployersByDirectory {
    /// Records that an object deploys a directory, or chosen files of it. Returns the object that already deploys a
    /// part of it.
    fn deploy(
        &mut self,
        sources: &SourceFiles,
        (directory, namespace): (&str, &str),
        chosen: Option<&DeployedFiles>,
        address: &str,
    ) -> Option<String> {
        let entries = sources.tree().list(directory);
        let place = (directory.to_owned(), namespace.to_owned());
        let whole = self.first.get(&place).filter(|_| !entries.is_empty()).cloned();
        self.looked = self.looked.saturating_add(entries.len());
        match chosen.filter(|_| self.looked <= MOST_LOOKED) {
            Some(chosen) => {
                let parts = self.parts.entry(place).or_default();
                let mut first = None;
                for entry in entries.iter().filter(|entry| chosen.takes(&entry.name)) {
                    let by = parts.entry(entry.name.clone()).or_insert_with(|| address.to_owned());
                    first = first.or_else(|| (by != address).then(|| by.clone()));
                }
                whole.or(first)
            }
            None => {
                let part = self.parts.get(&place).and_then(|parts| parts.values().next().cloned());
                self.first.entry(place).or_insert_with(|| address.to_owned());
                whole.or(part)
            }
        }
    }

    /// Returns the text of the files that generators read, because a change in them changes the deployment.
    fn read_by(&mut self, sources: &SourceFiles, generators: &Node) -> String {
        let files = self.files.get_or_insert_with(|| listed(sources));
        let patterns = Patterns::of(generators);
        let mut said = String::new();
        self.looked = self.looked.saturating_add(files.len().saturating_mul(patterns.count()));
        if self.looked > MOST_LOOKED {
            return format!("{} files", files.len());
        }
        let directories: BTreeSet<&str> = files.iter().map(|path| parent(path)).collect();
        for directory in directories.into_iter().filter(|directory| patterns.directories.is_match(directory)) {
            said.push_str(directory);
            said.push('\n');
        }
        for path in files.iter().filter(|path| patterns.files.is_match(path)) {
            said.push_str(path);
            if self.looked <= MOST_LOOKED
                && let Ok(text) = sources.tree().read(path)
            {
                self.looked = self.looked.saturating_add(text.len());
                said.push_str(&String::from_utf8_lossy(&text));
            }
        }
        said
    }
}

/// The files of a directory that an object deploys.
pub(in crate::kubernetes) struct DeployedFiles {
    include: Option<GlobMatcher>,
    exclude: Option<GlobMatcher>,
}

impl DeployedFiles {
    pub(in crate::kubernetes) fn takes(&self, name: &str) -> bool {
        self.include.as_ref().is_none_or(|it| it.is_match(name))
            && !self.exclude.as_ref().is_some_and(|it| it.is_match(name))
    }
}

/// Returns the chosen files; `None` if all files are deployed, or if a pattern cannot be read.
pub(in crate::kubernetes) fn chosen(layers: &Layers, place: &Node) -> Option<DeployedFiles> {
    let text = |path: &Option<ManifestPath>| path.as_ref()?.first(place)?.text().cloned();
    let (include, exclude) = (text(&layers.include), text(&layers.exclude));
    if include.is_none() && exclude.is_none() {
        return None;
    }
    let pattern = |text: &str| Glob::new(text).map(|glob| glob.compile_matcher()).ok();
    let read = |text: Option<Arc<str>>| match text {
        Some(text) => pattern(&text).map(Some),
        None => Some(None),
    };
    Some(DeployedFiles { include: read(include)?, exclude: read(exclude)? })
}

fn nodes<'t>(found: Vec<crate::kubernetes::rows::path::PathMatch<'t>>) -> Vec<&'t Node> {
    found.into_iter().map(|it| it.node).collect()
}

/// The patterns of generators, for the text of files and for the names of directories.
#[derive(Default)]
struct Patterns {
    files: GlobSet,
    directories: GlobSet,
}

impl Patterns {
    fn of(generators: &Node) -> Patterns {
        let (mut files, mut directories) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let (mut open, mut left) = (vec![(generators, false)], MOST_PATTERNS);
        while let Some((node, of_directories)) = open.pop() {
            open.extend(node.items().iter().map(|item| (item, of_directories)));
            let inner = |key: &str| of_directories || key == "directories";
            open.extend(node.entries().iter().map(|entry| (&entry.value, inner(&entry.key))));
            let Some(path) = node.text_at("path") else { continue };
            // A value from another generator may be any text. A star also matches a slash, as in Argo CD.
            let path = FILLED_IN.replace_all(path, "*");
            // If there are too many files, all of them count as read.
            let path = if left == 0 { "**" } else { path.trim_start_matches("./").trim_start_matches('/') };
            if let Ok(pattern) = Glob::new(path) {
                if of_directories && left > 0 {
                    directories.add(pattern)
                } else {
                    files.add(pattern)
                };
            }
            if left == 0 {
                break;
            }
            left -= 1;
        }
        let built = |patterns: GlobSetBuilder| patterns.build().unwrap_or_default();
        Patterns { files: built(files), directories: built(directories) }
    }

    fn count(&self) -> usize {
        self.files.len() + self.directories.len()
    }
}

/// Returns all files of a tree, sorted.
fn listed(sources: &SourceFiles) -> Vec<String> {
    let (mut found, mut left) = (Vec::new(), MOST_LISTED);
    let mut open = vec![(String::new(), 0)];
    while let Some((directory, depth)) = open.pop() {
        // The `.git` directory is not part of a commit.
        let entries = sources.tree().list(&directory).into_iter().filter(|entry| entry.name != ".git");
        for entry in entries.take(left) {
            left -= 1;
            match join(&directory, &entry.name) {
                Some(path) if !entry.is_directory => found.push(path),
                Some(path) if depth < DEEPEST => open.push((path, depth + 1)),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

static_regex!(static FILLED_IN: Regex = r"\{\{[^{}]*\}\}");
