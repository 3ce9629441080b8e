//! Merges the values that an object passes to a chart, in the order of its controller.

use std::collections::HashMap;
use std::sync::Arc;

use crate::languages::yaml::{self, Node, NodeEntry};
use crate::source::{FileId, SourceFiles, Span, join, normalize, parent};

use super::index::{NamePlace, ObjectIndex};
use super::object::KubernetesObject;
use crate::kubernetes::rows::table::Layers;
use crate::kubernetes::text::nested;

/// The maximum depth of values.
const DEEPEST: usize = 32;
/// The limit on values that `set` sets one by one.
const MOST_SET: usize = 500;
/// The limit on values files.
const MOST_FILES: usize = 50;

/// All values that an object passes, with the files that they come from.
#[derive(Default)]
pub(in crate::kubernetes) struct Given {
    pub values: Option<Node>,
    pub files: Vec<FileId>,
    /// Values files that it names and that are not in this repository.
    pub missing: Vec<(Arc<str>, Span)>,
}

impl Given {
    fn lay_file(&mut self, named: &Node, place: &str, sources: &SourceFiles, index: &ObjectIndex<'_>) {
        let Some(name) = named.text() else { return };
        // A template of a values file has no values before it is rendered.
        match values_file(name, place, sources, index).filter(|_| !name.ends_with(".gotmpl")) {
            Some((file, root)) => {
                self.files.push(file);
                root.into_iter().for_each(|root| self.lay(root));
            }
            None => self.missing.push((name.clone(), named.span)),
        }
    }

    fn lay(&mut self, node: Node) {
        self.values = Some(match self.values.take() {
            Some(below) => over(&below, &node, 0),
            None => node,
        });
    }
}

/// Returns the directory of the tree that contains an object's chart.
pub(in crate::kubernetes) fn directory(layers: &Layers, at: &Node, sources: &SourceFiles) -> Option<String> {
    let path = layers.chart.as_ref()?.first(at)?.text()?;
    if layers.beside { join(&directory_of(at, sources), path) } else { normalize(path) }
}

/// Returns the directory of the file that contains a node.
fn directory_of(at: &Node, sources: &SourceFiles) -> String {
    parent(&sources.path_of(at.span)).to_owned()
}

/// Returns the name of an object's release.
pub(in crate::kubernetes) fn release_name(
    object: &KubernetesObject<'_>,
    layers: &Layers,
    at: &Node,
) -> Option<Arc<str>> {
    let said = layers.name.0.iter().find_map(|path| path.first(at)?.text().cloned());
    said.or_else(|| {
        let name = object.name.clone()?;
        let prefix = layers.name_prefix.as_ref().and_then(|path| path.first(at)?.text());
        Some(prefix.map_or(name.clone(), |prefix| format!("{prefix}-{name}").into()))
    })
}

/// Returns how many values must be merged.
pub(in crate::kubernetes) fn laid(layers: &Layers, at: &Node) -> u64 {
    let lists = [&layers.files, &layers.from, &layers.layers, &layers.set]
        .into_iter()
        .flatten()
        .filter_map(|path| path.first(at));
    let all: usize = lists.map(|list| list.items().len() + list.entries().len()).sum();
    all.min(MOST_SET) as u64 + 1
}

/// Merges all values over `below`, the chart's own values.
pub(in crate::kubernetes) fn given(
    layers: &Layers,
    at: &Node,
    below: Option<Node>,
    sources: &SourceFiles,
    index: &ObjectIndex<'_>,
) -> Given {
    let files = layers.files.as_ref().and_then(|path| path.first(at)).map(Node::items).unwrap_or_default();
    // If the chart is not in this tree, the files are those of a chart in another place.
    let files_replace = layers.files_replace && !files.is_empty() && below.is_some();
    let mut given = Given { values: below.filter(|_| !files_replace), ..Given::default() };
    let place = match directory(layers, at, sources) {
        _ if layers.beside => directory_of(at, sources),
        _ if files_replace => String::new(),
        directory => directory.unwrap_or_default(),
    };
    for name in files.iter().take(MOST_FILES) {
        given.lay_file(name, &place, sources, index);
    }
    for reference in layers.from.iter().filter_map(|path| path.first(at)).flat_map(Node::items) {
        if let Some(node) = referred(reference, sources, index) {
            given.lay(node);
        }
    }
    for layer in layers.layers.iter().filter_map(|path| path.first(at)).flat_map(Node::items).take(MOST_FILES) {
        if layer.is_map() {
            given.files.push(sources.origin(layer.span).file);
            given.lay(layer.clone());
        } else {
            given.lay_file(layer, &place, sources, index);
        }
    }
    if let Some(values) = layers.values.0.iter().find_map(|path| path.first(at)) {
        let text = nested::read(sources, values);
        text.or_else(|| values.is_map().then(|| values.clone())).into_iter().for_each(|node| given.lay(node));
    }
    if let Some(set) = layers.set.as_ref().and_then(|path| path.first(at)) {
        let listed = set.items().iter().filter_map(|it| Some((it.text_at("name")?, it.get("value")?)));
        let mapped = set.entries().iter().map(|entry| (&entry.key, &entry.value));
        for (name, value) in listed.chain(mapped).take(MOST_SET) {
            let Some(steps) = steps(name) else { continue };
            // A string from a list is parsed as YAML.
            let value = value.text().map_or_else(|| value.clone(), |text| Node::scalar(value.span, text.clone(), true));
            given.values = Some(put(given.values.as_ref(), &steps, &value));
        }
    }
    given
}

/// Returns a values file in this tree: in the chart's directory, or in another source that is this repository. It may
/// be empty.
fn values_file(
    name: &str,
    chart: &str,
    sources: &SourceFiles,
    index: &ObjectIndex<'_>,
) -> Option<(FileId, Option<Node>)> {
    let path = match name.strip_prefix('$') {
        Some(name) => normalize(name.split_once('/')?.1)?,
        None if name.starts_with('/') => normalize(name)?,
        None => join(chart, name)?,
    };
    let file = sources.open(&path).ok()?;
    let read = || yaml::read(file, &sources.text(file)).documents.into_iter().next().map(|document| document.root);
    Some((file, index.values(file, read)))
}

/// Returns the values in a ConfigMap of the same tree.
fn referred(reference: &Node, sources: &SourceFiles, index: &ObjectIndex<'_>) -> Option<Node> {
    if reference.text_at("kind").is_none_or(|kind| &**kind != "ConfigMap") {
        return None;
    }
    let data = index.find("/ConfigMap", reference.text_at("name")?, NamePlace::of(reference.span))?.root.get("data")?;
    let node = data.get(reference.text_at("valuesKey").map_or("values.yaml", |key| key))?;
    match reference.text_at("targetPath") {
        Some(target) => Some(put(None, &steps(target)?, &Node::scalar(node.span, node.text()?.clone(), true))),
        None => nested::read(sources, node),
    }
}

/// Merges one mapping over another. Mappings under the same key are merged, and null removes a key.
pub(in crate::kubernetes) fn over(below: &Node, above: &Node, depth: usize) -> Node {
    if !below.is_map() || !above.is_map() || depth > DEEPEST {
        return above.clone();
    }
    let mut upper: HashMap<&str, &NodeEntry> = above.entries().iter().map(|entry| (&*entry.key, entry)).collect();
    let mut entries: Vec<NodeEntry> = Vec::new();
    for entry in below.entries() {
        match upper.remove(&*entry.key) {
            None => entries.push(entry.clone()),
            Some(over) if over.value.is_null() => {}
            Some(top) => entries.push(NodeEntry { value: over(&entry.value, &top.value, depth + 1), ..top.clone() }),
        }
    }
    let added = above.entries().iter().filter(|entry| upper.contains_key(&*entry.key) && !entry.value.is_null());
    entries.extend(added.cloned());
    Node::map(above.span, entries)
}

#[derive(Debug, PartialEq)]
enum Step {
    Key(Arc<str>),
    Item(usize),
}

/// Parses the path syntax of `helm --set`: dots separate keys, a backslash escapes a dot, and brackets contain a list
/// index.
fn steps(name: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut key = String::new();
    let mut letters = name.chars();
    let push = |key: &mut String, steps: &mut Vec<Step>| {
        if !key.is_empty() {
            steps.push(Step::Key(std::mem::take(key).into()));
        }
    };
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => key.extend(letters.next()),
            '.' => push(&mut key, &mut steps),
            '[' => {
                push(&mut key, &mut steps);
                let number: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                steps.push(Step::Item(number.parse().ok()?));
            }
            other => key.push(other),
        }
    }
    push(&mut key, &mut steps);
    (1..=DEEPEST).contains(&steps.len()).then_some(steps)
}

/// Puts a value at a path in the syntax of `helm --set`; `None` for an invalid path.
pub(in crate::kubernetes) fn put_at(around: Option<&Node>, path: &str, value: &Node) -> Option<Node> {
    Some(put(around, &steps(path)?, value))
}

/// Puts a value at its path, and keeps everything around it.
fn put(around: Option<&Node>, steps: &[Step], value: &Node) -> Node {
    let Some((step, rest)) = steps.split_first() else { return value.clone() };
    match step {
        Step::Key(key) => {
            let mut entries: Vec<NodeEntry> = around.map(Node::entries).unwrap_or_default().to_vec();
            match entries.iter_mut().find(|entry| entry.key == *key) {
                Some(entry) => entry.value = put(Some(&entry.value), rest, value),
                None => {
                    let value = put(None, rest, value);
                    entries.push(NodeEntry { key: key.clone(), key_span: value.span, value });
                }
            }
            Node::map(around.map_or(value.span, |node| node.span), entries)
        }
        Step::Item(place) => {
            let mut items: Vec<Node> = around.map(Node::items).unwrap_or_default().to_vec();
            match items.get_mut(*place) {
                Some(item) => *item = put(Some(item), rest, value),
                // Helm fills gaps in a list with nulls. Only the next item is supported here.
                None => items.push(put(None, rest, value)),
            }
            Node::list(around.map_or(value.span, |node| node.span), items)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_single_values_are_read_as_helm_does() {
        let key = |text: &str| Step::Key(text.into());
        assert_eq!(steps("a.b"), Some(vec![key("a"), key("b")]));
        let escaped = steps(r"resources.limits.nvidia\.com/gpu");
        assert_eq!(escaped, Some(vec![key("resources"), key("limits"), key("nvidia.com/gpu")]));
        assert_eq!(steps("a[1].b"), Some(vec![key("a"), Step::Item(1), key("b")]));
        assert_eq!(steps("a[x]"), None);
        assert_eq!(steps(""), None);
        assert_eq!(steps(&"a.".repeat(100)), None);
    }
}
