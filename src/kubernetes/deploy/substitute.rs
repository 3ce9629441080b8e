//! Fills variables into the files of a directory, as Flux objects request: `${name}`, `${name:=default}`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use regex::Regex;

use crate::languages::yaml::{Node, NodeData, NodeEntry, YamlDocument, YamlStream};
use crate::source::{SourceFiles, Span, is_below, join, static_regex};

use super::namespaces::in_namespace;
use super::{MOST, Made, index, row};
use crate::kubernetes::Parsed;
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::render;
use crate::kubernetes::rows::table::Substitutes;

const DEEPEST: usize = 64;
/// The limit on files of all kustomizations that are searched for included files.
const MOST_FILES: usize = 1_000_000;
/// The annotation and label that exclude a document from substitution.
const ALONE: [&str; 2] = ["labels", "annotations"];

type Variables = BTreeMap<Arc<str>, Node>;
/// A variable with its value.
type LabelMeaning = (Arc<str>, Option<Arc<str>>);

/// One object that fills in variables.
struct Filler {
    path: Arc<str>,
    variables: Variables,
    /// The namespace into which all objects are deployed.
    namespace: Option<Node>,
    /// True if all sources of the variables are in this tree.
    is_whole: bool,
    /// The directory whose files contain the variables.
    directory: String,
}

pub(super) fn substituted_documents(sources: &SourceFiles, parsed: &[Parsed]) -> Made {
    let open = |file: &&Parsed| !file.file.joined_only && has_variables(&sources.text(file.file.id));
    if !parsed.iter().any(|file| open(&file)) {
        return Made::default();
    }
    let fillers = fillers(parsed);
    let mut made = Made::default();
    if fillers.is_empty() {
        return made;
    }
    let mut owners = Owners::new(sources, &fillers);
    for (at, file) in parsed.iter().enumerate().filter(|(_, file)| open(file)) {
        // The same objects must not count twice, so fillers with equal variables are used once. So are fillers of
        // files without variables.
        let mut seen: BTreeSet<(Option<&Arc<str>>, Vec<LabelMeaning>)> = BTreeSet::new();
        let directories = owners.of(&file.file.path);
        for filler in fillers.iter().filter(|filler| directories.contains(filler.directory.as_str())) {
            let said = filler.variables.iter().map(|(name, node)| (name.clone(), node.text().cloned())).collect();
            if made.files.len() >= MOST {
                made.too_much.insert(at);
                break;
            }
            if seen.insert((filler.namespace.as_ref().and_then(Node::text), said)) {
                made.files.push(filled(file, filler));
                made.instead.extend((0..file.stream.documents.len()).map(|number| (at, number)));
            }
        }
    }
    made
}

fn has_variables(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"${").is_some()
}

fn fillers(parsed: &[Parsed]) -> Vec<Filler> {
    let mut found: Vec<(&Parsed, &Node, &'static Substitutes)> = Vec::new();
    for file in parsed {
        for root in file.roots() {
            found.extend(row(root).and_then(|(_, row)| row.substitutes.as_ref()).map(|words| (file, root, words)));
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let index = index(parsed);
    let filler = |(file, root, words): (&Parsed, &Node, &'static Substitutes)| {
        let (variables, is_whole) = variables(root, words, &index)?;
        let directory = words.path.first(root).map_or(Some(String::new()), |path| join("", path.text()?))?;
        let namespace = words.namespace.as_ref().and_then(|path| path.first(root)).cloned();
        Some(Filler { path: file.place().clone(), variables, namespace, is_whole, directory })
    };
    found.into_iter().filter_map(filler).collect()
}

/// Returns the variables of the object; `None` if it has none.
fn variables(root: &Node, words: &Substitutes, index: &ObjectIndex<'_>) -> Option<(Variables, bool)> {
    let own = words.values.first(root);
    let from = words.from.first(root);
    if own.is_none() && from.is_none() {
        return None;
    }
    let mut variables = Variables::new();
    let mut is_whole = true;
    for reference in from.map(Node::items).unwrap_or_default() {
        let is_map = reference.text_at("kind").is_some_and(|kind| &**kind == "ConfigMap");
        let name = reference.text_at("name").filter(|_| is_map);
        let data =
            name.and_then(|name| index.find("/ConfigMap", name, NamePlace::of(reference.span))?.root.get("data"));
        is_whole &= data.is_some();
        variables
            .extend(data.map(Node::entries).unwrap_or_default().iter().map(|it| (it.key.clone(), it.value.clone())));
    }
    variables.extend(own.map(Node::entries).unwrap_or_default().iter().map(|it| (it.key.clone(), it.value.clone())));
    Some((variables, is_whole))
}

/// The directories that include a file, among those that fillers build.
struct Owners<'f, 's> {
    sources: &'s SourceFiles,
    directories: BTreeSet<&'f str>,
    /// The directories of kustomizations, with their files; `None` for other directories.
    kustomizations: HashMap<String, Option<BTreeSet<String>>>,
    /// The directories that include a file of a kustomization in another place.
    by_file: HashMap<String, BTreeSet<&'f str>>,
    /// For each directory, the parent directories whose filler also deploys this directory's filler. Parents leave
    /// these files to the child.
    parents: HashMap<&'f str, BTreeSet<&'f str>>,
    left: usize,
}

impl<'f, 's> Owners<'f, 's> {
    fn new(sources: &'s SourceFiles, fillers: &'f [Filler]) -> Self {
        let directories: BTreeSet<&str> = fillers.iter().map(|filler| filler.directory.as_str()).collect();
        let (kustomizations, by_file, parents) = Default::default();
        let mut owners =
            Owners { sources, directories: directories.clone(), kustomizations, by_file, parents, left: MOST_FILES };
        for directory in directories {
            let files = owners.kustomization(directory).cloned().unwrap_or_default();
            for file in files {
                owners.by_file.entry(file).or_default().insert(directory);
            }
        }
        for filler in fillers {
            let deployed_by = owners.taking(&filler.path);
            let around = |it: &&str| *it != filler.directory && is_below(&filler.directory, it);
            let parents = deployed_by.into_iter().filter(around);
            owners.parents.entry(&filler.directory).or_default().extend(parents);
        }
        owners
    }

    /// Returns the directories whose fillers own a file.
    fn of(&mut self, path: &str) -> BTreeSet<&'f str> {
        let all = self.taking(path);
        let parents: BTreeSet<&str> = all.iter().filter_map(|it| self.parents.get(it)).flatten().copied().collect();
        all.difference(&parents).copied().collect()
    }

    /// Returns the directories that include a file.
    fn taking(&mut self, path: &str) -> BTreeSet<&'f str> {
        let mut found = self.by_file.get(path).cloned().unwrap_or_default();
        let ends = path.match_indices('/').map(|(end, _)| end);
        let above: Vec<&str> = [""].into_iter().chain(ends.filter_map(|end| path.get(..end))).collect();
        // Searches upwards from the file: the outermost kustomization below a directory without one decides.
        let mut is_taken = true;
        for folder in above.into_iter().rev() {
            if let Some(files) = self.kustomization(folder) {
                is_taken = files.contains(path);
            } else if is_taken && let Some(directory) = self.directories.get(folder) {
                found.insert(directory);
            }
        }
        found
    }

    /// Returns the files of a directory's kustomization, if it has one.
    fn kustomization(&mut self, directory: &str) -> Option<&BTreeSet<String>> {
        if !self.kustomizations.contains_key(directory) {
            let files = if self.left > 0 { render::files_of(self.sources, directory) } else { None };
            self.left = self.left.saturating_sub(files.as_ref().map_or(0, BTreeSet::len));
            self.kustomizations.insert(directory.to_owned(), files);
        }
        self.kustomizations.get(directory)?.as_ref()
    }
}

impl Filler {
    fn fill(&self, node: &Node, depth: usize) -> Node {
        if depth > DEEPEST {
            return node.clone();
        }
        match &node.data {
            NodeData::Scalar { text, plain } if text.contains("${") => {
                let (text, span) = self.text(text, node.span);
                // A quoted variable stays a string. Numbers are parsed from strings, too.
                Node::scalar(span, text, *plain)
            }
            NodeData::Scalar { .. } => node.clone(),
            NodeData::List(items) => Node::list(node.span, items.iter().map(|item| self.fill(item, depth + 1))),
            NodeData::Map(entries) => Node::map(
                node.span,
                entries.iter().map(|entry| NodeEntry { value: self.fill(&entry.value, depth + 1), ..entry.clone() }),
            ),
        }
    }

    /// Returns the string with known variables filled in. If one variable is the whole string, returns the position of
    /// its value.
    fn text(&self, text: &str, span: Span) -> (Arc<str>, Span) {
        let mut place = span;
        let filled = VARIABLE.replace_all(text, |found: &regex::Captures<'_>| {
            let whole = found.get(0).map_or("", |all| all.as_str());
            let known = found.get(1).and_then(|name| self.variables.get(name.as_str()));
            match (known.and_then(|node| Some((node.span, node.text()?))), found.get(2)) {
                (Some((at, value)), _) => {
                    if whole == text {
                        place = at;
                    }
                    value.to_string()
                }
                (None, Some(default)) if self.is_whole => default.as_str().to_owned(),
                // A source outside this tree may set the variable, so its default does not apply.
                (None, Some(_)) => {
                    found.get(1).map_or_else(|| whole.to_owned(), |name| format!("${{{}}}", name.as_str()))
                }
                (None, _) => whole.to_owned(),
            }
        });
        (filled.into(), place)
    }
}

fn filled(file: &Parsed, filler: &Filler) -> Parsed {
    let documents = file.stream.documents.iter().map(|document| {
        let root = if is_alone(&document.root) { document.root.clone() } else { filler.fill(&document.root, 0) };
        let root = filler.namespace.as_ref().map_or(root.clone(), |it| in_namespace(&root, it));
        YamlDocument { root, span: document.span }
    });
    let stream = YamlStream { documents: documents.collect(), ..YamlStream::default() };
    let copy = Parsed {
        file: file.file.clone(),
        stream,
        branches: Vec::new(),
        skipped: None,
        inferred: file.inferred.clone(),
        written: 0,
        stood_for: file.stood_for.clone(),
        made_by: None,
    };
    copy.generated_by(filler.path.clone())
}

fn is_alone(root: &Node) -> bool {
    let says = |part: &&str| {
        let marks = root.get("metadata").and_then(|it| it.get(part)).map(Node::entries).unwrap_or_default();
        marks.iter().any(|it| it.key.ends_with("/substitute") && it.value.text().is_some_and(|it| &**it == "disabled"))
    };
    ALONE.iter().any(says)
}

static_regex!(static VARIABLE: Regex = r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?[=-]([^}]*))?\}");
