//! Handles folders that Flux or Argo CD objects deploy into several namespaces. Each namespace has its own objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{MOST, Made, row};
use crate::kubernetes::Parsed;
use crate::kubernetes::objects::chart;
use crate::kubernetes::relations::unfollowed::{DeployedFiles, chosen};
use crate::kubernetes::text::trail::RendererKind;
use crate::languages::yaml::{Node, NodeEntry, YamlDocument, YamlStream};
use crate::source::{SourceFiles, is_below, normalize, parent};

/// One object that deploys a folder.
struct Deployment {
    place: Arc<str>,
    namespace: Option<Node>,
    /// True for Flux, which moves all objects into the namespace. Argo CD moves only objects without a namespace.
    moves_all: bool,
    /// True if the object also deploys the files of all subfolders.
    is_deep: bool,
    chosen: Option<DeployedFiles>,
}

pub(super) fn namespace_documents(sources: &SourceFiles, parsed: &[Parsed]) -> Made {
    let mut made = Made::default();
    let folders = folders(sources, parsed);
    for (at, file) in parsed.iter().enumerate().filter(|(_, it)| !it.is_made() && !it.file.embedded) {
        for (directory, all) in &folders {
            let takes: Vec<&Deployment> = all.iter().filter(|it| it.takes(sources, directory, file)).collect();
            if takes.len() < 2 {
                continue;
            }
            for (number, document) in file.stream.documents.iter().enumerate() {
                if file.stood_for.contains(&number) || deploys(&document.root) {
                    continue;
                }
                let copies = copies(&document.root, &takes);
                if copies.len() < 2 {
                    continue;
                }
                if made.files.len() + copies.len() > MOST {
                    made.too_much.insert(at);
                    return made;
                }
                let copy =
                    |(root, place): (Node, Arc<str>)| copy(file, YamlDocument { root, span: document.span }, place);
                made.files.extend(copies.into_iter().map(copy));
                made.instead.push((at, number));
            }
            break;
        }
    }
    made
}

/// Returns the folders that are deployed into more than one namespace.
fn folders(sources: &SourceFiles, parsed: &[Parsed]) -> BTreeMap<String, Vec<Deployment>> {
    let mut folders: BTreeMap<String, Vec<Deployment>> = BTreeMap::new();
    for file in parsed {
        for (object, row) in file.roots().filter_map(row) {
            let place = file.place();
            for layers in row.values.iter().filter(|layers| layers.include.is_some()) {
                for at in layers.places(object.root) {
                    let path = layers.chart.as_ref().and_then(|path| path.first(at)?.text());
                    let Some(directory) = path.and_then(|path| normalize(path)) else { continue };
                    if chart::is_at(sources, &directory) {
                        continue;
                    }
                    let namespace =
                        layers.namespace.0.iter().find_map(|path| path.first(at).or(path.first(object.root)));
                    let recurses = layers.recurse.as_ref().and_then(|path| path.first(at)?.flag()) == Some(true);
                    folders.entry(directory).or_default().push(Deployment {
                        place: place.clone(),
                        namespace: namespace.cloned(),
                        moves_all: false,
                        is_deep: recurses,
                        chosen: chosen(layers, at),
                    });
                }
            }
            let Some(words) = &row.substitutes else { continue };
            let Some(directory) = words.path.first(object.root).and_then(Node::text).and_then(|it| normalize(it))
            else {
                continue;
            };
            folders.entry(directory).or_default().push(Deployment {
                place: place.clone(),
                namespace: words.namespace.as_ref().and_then(|path| path.first(object.root)).cloned(),
                moves_all: true,
                is_deep: true,
                chosen: None,
            });
        }
    }
    folders.retain(|_, all| {
        let namespaces: BTreeSet<Option<&Arc<str>>> = all.iter().map(|it| it.namespace.as_ref()?.text()).collect();
        namespaces.len() > 1
    });
    folders
}

impl Deployment {
    fn takes(&self, sources: &SourceFiles, directory: &str, file: &Parsed) -> bool {
        let path = &*file.file.path;
        match &file.file.rendered {
            Some(trail) => trail.by == RendererKind::Kustomize && parent(&sources.path(trail.head.file)) == directory,
            None if parent(path) == directory || self.is_deep && is_below(path, directory) => {
                let inside = path.get(directory.len()..).unwrap_or_default().trim_start_matches('/');
                self.chosen.as_ref().is_none_or(|it| it.takes(inside))
            }
            None => false,
        }
    }
}

/// Objects that deploy others are in the namespace of their controller.
fn deploys(root: &Node) -> bool {
    row(root).is_some_and(|(_, row)| row.substitutes.is_some() || row.values.iter().any(|it| it.include.is_some()))
}

/// Returns a copy of an object for each target namespace, with the place of the first object that deploys it.
fn copies(root: &Node, all: &[&Deployment]) -> Vec<(Node, Arc<str>)> {
    let own = root.at("metadata.namespace");
    let mut copies: BTreeMap<Option<Arc<str>>, (Node, Arc<str>)> = BTreeMap::new();
    for it in all {
        let said = if it.moves_all { it.namespace.as_ref().or(own) } else { own.or(it.namespace.as_ref()) };
        let copy = || (said.map_or_else(|| root.clone(), |said| in_namespace(root, said)), it.place.clone());
        copies.entry(said.and_then(Node::text).cloned()).or_insert_with(copy);
    }
    copies.into_values().collect()
}

/// Returns an object in another namespace.
pub(super) fn in_namespace(root: &Node, namespace: &Node) -> Node {
    const METADATA: &str = "metadata";
    let is_there = root.get(METADATA).is_some_and(Node::is_map);
    if !is_there {
        return root.clone();
    }
    let entry = NodeEntry { key: "namespace".into(), key_span: namespace.span, value: namespace.clone() };
    Node::map(
        root.span,
        root.entries().iter().map(|it| match &*it.key {
            METADATA => {
                let others = it.value.entries().iter().filter(|it| it.key != entry.key).cloned();
                NodeEntry { value: Node::map(it.value.span, others.chain([entry.clone()])), ..it.clone() }
            }
            _ => it.clone(),
        }),
    )
}

fn copy(file: &Parsed, document: YamlDocument, place: Arc<str>) -> Parsed {
    let copy = Parsed {
        file: file.file.clone(),
        stream: YamlStream { documents: vec![document], ..YamlStream::default() },
        skipped: None,
        branches: Vec::new(),
        inferred: file.inferred.clone(),
        written: 0,
        stood_for: BTreeSet::new(),
        made_by: None,
    };
    copy.generated_by(place)
}
