//! Finds the members of an ApplicationSet generator: list items, directories and files of this tree, and combinations
//! of generators.

use std::collections::{BTreeMap, BTreeSet};

use globset::{Glob, GlobBuilder};

use super::generate::filled;
use crate::kubernetes::rows::path::ManifestPath;
use crate::kubernetes::rows::table::Generates;
use crate::languages::yaml::{self, Node, NodeEntry};
use crate::source::{SourceFiles, Span};

/// The limit on members. Lists that people write are shorter.
pub(super) const MOST: usize = 200;
/// The limit on comparisons between files and patterns, for one tree.
const MOST_LOOKED: usize = 4_000_000;
/// The maximum depth of nested generators.
const DEEPEST: usize = 4;

/// The tree that generators search.
pub(super) struct Finder<'a> {
    sources: &'a SourceFiles,
    paths: &'a [String],
    /// All directories above these files, computed when a generator requests them.
    directories: Option<BTreeSet<&'a str>>,
    /// Directories that a generator finds and excludes.
    pub(super) excluded: BTreeSet<String>,
    looked: usize,
}

impl<'a> Finder<'a> {
    pub(super) fn new(sources: &'a SourceFiles, paths: &'a [String]) -> Finder<'a> {
        Finder { sources, paths, directories: None, excluded: BTreeSet::new(), looked: 0 }
    }

    /// Returns the members of one generator; `None` if something outside this tree determines them.
    pub(super) fn members(&mut self, generator: &Node, generates: &Generates, is_go: bool) -> Option<Vec<Node>> {
        self.members_of(generator, generates, is_go, 0)
    }

    fn members_of(&mut self, generator: &Node, generates: &Generates, is_go: bool, depth: usize) -> Option<Vec<Node>> {
        let [only] = generator.entries() else { return None };
        let frame = Node::map(generator.span, [only.clone()]);
        // A generator with other fields than these is not evaluated.
        let known = |paths: &[&ManifestPath]| {
            let keys: Vec<&str> = paths.iter().filter_map(|path| path.last_key()).collect();
            let is_known =
                |entry: &NodeEntry| keys.contains(&&*entry.key) || generates.aside.contains(&entry.key.to_string());
            paths.first()?.first(&frame).filter(|_| only.value.entries().iter().all(is_known))
        };
        let members = if let Some(list) = known(&[&generates.list]) {
            list.items().to_vec()
        } else if let Some(patterns) = known(&[&generates.directories, &generates.values]) {
            let found = self.directories_of(patterns)?;
            let members = found.iter().map(|path| member(patterns.span, path, None, is_go)).collect();
            added(members, generates.values.first(&frame))
        } else if let Some(patterns) = known(&[&generates.files, &generates.values]) {
            added(self.in_files(patterns, is_go)?, generates.values.first(&frame))
        } else if depth >= DEEPEST {
            return None;
        } else if let Some(both) = known(&[&generates.product]) {
            self.product(both, generates, is_go, depth)?
        } else if let Some(all) = known(&[&generates.merge, &generates.merge_keys]) {
            let keys = generates.merge_keys.first(&frame)?.items().iter().filter_map(Node::text);
            self.merged(all, &keys.map(ToString::to_string).collect::<Vec<_>>(), generates, is_go, depth)?
        } else {
            return None;
        };
        (members.len() <= MOST && members.iter().all(Node::is_map)).then_some(members)
    }

    fn product(&mut self, both: &Node, generates: &Generates, is_go: bool, depth: usize) -> Option<Vec<Node>> {
        let [first, second] = both.items() else { return None };
        let mut all = Vec::new();
        for one in self.members_of(first, generates, is_go, depth + 1)? {
            for other in self.members_of(&filled(second, &one, 0), generates, is_go, depth + 1)? {
                all.push(over(&one, &other));
                if all.len() > MOST {
                    return None;
                }
            }
        }
        Some(all)
    }

    /// Returns the members of the first generator, merged with the matching members of the others.
    fn merged(
        &mut self,
        all: &Node,
        keys: &[String],
        generates: &Generates,
        is_go: bool,
        depth: usize,
    ) -> Option<Vec<Node>> {
        let (first, others) = all.items().split_first()?;
        let identity = |node: &Node| -> Vec<Option<String>> {
            keys.iter().map(|key| node.text_at(key).map(ToString::to_string)).collect()
        };
        let mut members = self.members_of(first, generates, is_go, depth + 1)?;
        for other in others {
            let more: BTreeMap<_, Node> = self
                .members_of(other, generates, is_go, depth + 1)?
                .into_iter()
                .map(|it| (identity(&it), it))
                .collect();
            for member in &mut members {
                if let Some(above) = more.get(&identity(member)) {
                    *member = over(member, above);
                }
            }
        }
        Some(members)
    }

    /// Returns the directories that match the patterns; `None` if none match, because the patterns then refer to
    /// another repository.
    fn directories_of(&mut self, patterns: &Node) -> Option<BTreeSet<String>> {
        let paths = self.paths;
        let all = self.directories.get_or_insert_with(|| {
            paths
                .iter()
                .flat_map(|path| above(path))
                .filter(|it| !it.split('/').any(|name| name.starts_with('.')))
                .collect()
        });
        self.looked = self.looked.saturating_add(all.len().saturating_mul(patterns.items().len()));
        let (found, excluded) = chosen(patterns, all.iter().copied(), true)?;
        self.excluded.extend(excluded);
        Some(found).filter(|_| self.looked <= MOST_LOOKED)
    }

    fn in_files(&mut self, patterns: &Node, is_go: bool) -> Option<Vec<Node>> {
        self.looked = self.looked.saturating_add(self.paths.len().saturating_mul(patterns.items().len()));
        if self.looked > MOST_LOOKED {
            return None;
        }
        let mut members = Vec::new();
        for path in chosen(patterns, self.paths.iter().map(String::as_str), false)?.0 {
            let file = self.sources.open(&path).ok()?;
            let stream = yaml::read_within(file, &self.sources.text(file), self.sources.limits());
            if stream.broken() > 0 {
                return None;
            }
            let root = &stream.documents.first()?.root;
            let one = [root.clone()];
            let all = if root.is_map() { &one[..] } else { root.items() };
            self.looked = self.looked.saturating_add(root.weight as usize);
            for said in all {
                members.push(member(patterns.span, &path, Some(said), is_go));
            }
            if members.len() > MOST {
                return None;
            }
        }
        Some(members)
    }
}

/// Returns the directories above a path.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// Returns the paths that match a pattern and no excluding pattern, and the excluded paths.
fn chosen<'p>(
    patterns: &Node,
    all: impl Iterator<Item = &'p str>,
    strict: bool,
) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    for pattern in patterns.items() {
        let text = pattern.text_at("path")?.trim_start_matches("./").trim_matches('/');
        // In patterns for files, a star also matches a slash.
        let glob = if strict { GlobBuilder::new(text).literal_separator(true).build() } else { Glob::new(text) };
        let is_out = pattern.get("exclude").and_then(Node::flag) == Some(true);
        if is_out { &mut unwanted } else { &mut wanted }.push(glob.ok()?.compile_matcher());
    }
    let fits = all.filter(|path| wanted.iter().any(|it| it.is_match(path))).map(str::to_owned);
    let (excluded, found): (BTreeSet<_>, BTreeSet<_>) =
        fits.partition(|path| unwanted.iter().any(|it| it.is_match(path)));
    (!found.is_empty()).then_some((found, excluded))
}

/// Returns the member for a directory, or for a file with its content.
fn member(at: Span, path: &str, said: Option<&Node>, is_go: bool) -> Node {
    let text = |text: &str| Node::scalar(at, text, false);
    let entry = |key: &str, value: Node| NodeEntry { key: key.into(), key_span: at, value };
    let (directory, file) = match said {
        Some(_) => path.rsplit_once('/').unwrap_or(("", path)),
        None => (path, ""),
    };
    let last = directory.rsplit('/').next().unwrap_or(directory);
    let names = [
        ("basename", last.to_owned()),
        ("basenameNormalized", normalized(last)),
        ("filename", file.to_owned()),
        ("filenameNormalized", normalized(file)),
    ];
    let names = names.iter().filter(|(key, _)| said.is_some() || !key.starts_with("filename"));
    let segments: Vec<&str> = directory.split('/').collect();
    let mut entries: Vec<NodeEntry> = said.map(|it| it.entries().to_vec()).unwrap_or_default();
    entries.retain(|it| &*it.key != "path");
    if is_go {
        let mut parts = vec![entry("path", text(directory))];
        parts.extend(names.map(|(key, name)| entry(key, text(name))));
        parts.push(entry("segments", Node::list(at, segments.iter().map(|it| text(it)))));
        entries.push(entry("path", Node::map(at, parts)));
    } else {
        entries.push(entry("path", text(directory)));
        entries.extend(names.map(|(key, name)| entry(&format!("path.{key}"), text(name))));
        let numbered = segments.iter().enumerate();
        entries.extend(numbered.map(|(number, name)| entry(&format!("path[{number}]"), text(name))));
    }
    Node::map(at, entries)
}

/// Converts a string to a valid object name.
fn normalized(name: &str) -> String {
    const LONGEST: usize = 253;
    let name: String = name.to_lowercase();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    let name: String = name.chars().take(LONGEST).map(plain).collect();
    name.trim_matches(['-', '.']).to_owned()
}

/// Adds the generator's `values` to each member.
fn added(members: Vec<Node>, values: Option<&Node>) -> Vec<Node> {
    let Some(values) = values else { return members };
    let entry =
        |member: &Node| NodeEntry { key: "values".into(), key_span: values.span, value: filled(values, member, 0) };
    members.into_iter().map(|it| Node::map(it.span, it.entries().iter().cloned().chain([entry(&it)]))).collect()
}

/// Merges one member over another.
fn over(below: &Node, above: &Node) -> Node {
    let kept =
        below.entries().iter().filter(|it| above.get(&it.key).is_none_or(|other| other.is_map() && it.value.is_map()));
    let kept = kept.map(|it| match above.get(&it.key) {
        Some(other) => NodeEntry { value: over(&it.value, other), ..it.clone() },
        None => it.clone(),
    });
    let more = above
        .entries()
        .iter()
        .filter(|it| below.get(&it.key).is_none_or(|other| !(other.is_map() && it.value.is_map())));
    Node::map(below.span, kept.chain(more.cloned()).collect::<Vec<_>>())
}
