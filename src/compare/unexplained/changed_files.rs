//! The changed files of a comparison, and everything that more than one search for unknown effects reads.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use super::change::ChangedText;
use super::moves;
use crate::compare::state::{ComparedStates, TreeState};
use crate::front_ends::files;
use crate::inventory::{ReadBy, Resource};
use crate::kubernetes;
use crate::source::{FileId, Span};

/// The changed files, with lookup tables that are computed once.
pub(super) struct ChangedFiles<'c> {
    pub(super) states: &'c ComparedStates<'c>,
    pub(super) head: &'c TreeState<'c>,
    pub(super) texts: Vec<ChangedText<'c>>,
    /// The files that contain resources with accelerators in either state, or parts that were not evaluated before.
    pub(super) speaking: BTreeSet<String>,
    /// The earlier paths of files that moved, by their new paths.
    pub(super) moved: BTreeMap<String, String>,
    explained: OnceCell<HashMap<String, BTreeSet<usize>>>,
    references: OnceCell<Option<AhoCorasick>>,
    callers: OnceCell<Vec<(String, Arc<str>)>>,
}

impl<'c> ChangedFiles<'c> {
    pub(super) fn of(states: &'c ComparedStates<'c>) -> ChangedFiles<'c> {
        let moved = moves::of(states);
        let from: BTreeSet<&String> = moved.values().collect();
        let paths = states.touched.files.iter().filter(|path| !from.contains(path));
        let texts = paths.filter_map(|path| {
            let was = moved.get(path).map_or(path.as_str(), String::as_str);
            ChangedText::of(path, was, states.base, states.head)
        });
        ChangedFiles {
            states,
            head: states.head,
            texts: texts.collect(),
            moved,
            speaking: speaking(states),
            explained: OnceCell::new(),
            references: OnceCell::new(),
            callers: OnceCell::new(),
        }
    }

    /// Returns the resources of the later state.
    pub(super) fn resources(&self) -> &'c [Resource] {
        &self.states.after.inventory.resources
    }

    /// Returns true if a fact of a resource is on one of these lines. Lines count from 0.
    pub(super) fn is_explained(&self, path: &str, lines: Range<usize>) -> bool {
        let explained = self.explained.get_or_init(|| explained_lines(self)).get(path);
        explained.is_some_and(|explained| explained.range(lines).next().is_some())
    }

    /// Returns the addresses of resources with accelerators, as a search pattern.
    pub(super) fn references(&self) -> Option<&AhoCorasick> {
        let search = || {
            let all = self.resources().iter().flat_map(|it| &it.declared.references);
            AhoCorasick::new(all.map(|it| &**it).collect::<BTreeSet<&str>>()).ok()
        };
        self.references.get_or_init(search).as_ref()
    }

    /// Returns the scripts and pipelines of the later state, with their contents.
    pub(super) fn callers(&self) -> &[(String, Arc<str>)] {
        self.callers.get_or_init(|| {
            let paths = self.head.files.iter().filter(|path| files::may_call_deploy_tools(path));
            paths.filter_map(|path| Some((path.clone(), self.head.text(path)?))).collect()
        })
    }
}

fn speaking(states: &ComparedStates) -> BTreeSet<String> {
    let mut files: BTreeSet<String> = states.before.inventory.unjudged.iter().map(|it| it.path.clone()).collect();
    for side in [states.earlier(), states.later()] {
        let places = side.inventory.resources.iter().flat_map(Resource::places);
        files.extend(places.map(|span| side.sources.path_of(span)));
    }
    files
}

/// Returns the lines with a fact of a resource or with a limit, by file.
fn explained_lines(changed: &ChangedFiles) -> HashMap<String, BTreeSet<usize>> {
    let mut lines: HashMap<String, BTreeSet<usize>> = HashMap::new();
    let places = changed.resources().iter().flat_map(Resource::places);
    // A manifest repeats its requests: in requests and limits, or for a node and its machine.
    let is_manifest = |it: &&Resource| matches!(it.front_end, ReadBy::Kubernetes | ReadBy::Chart);
    let bodies = changed.resources().iter().filter(is_manifest).map(|it| it.body);
    let sources = changed.head.sources;
    let mut ends: HashMap<FileId, Vec<usize>> = HashMap::new();
    for span in places.chain(bodies).chain(changed.texts.iter().flat_map(|file| limits_of(changed.head, file))) {
        let span = sources.origin(span);
        let ends = ends.entry(span.file).or_insert_with(|| line_ends(&sources.text(span.file)));
        let line = |at: usize| ends.partition_point(|end| *end < at);
        let range = span.range();
        lines.entry(sources.path(span.file)).or_default().extend(line(range.start)..=line(range.end));
    }
    // In Terraform, the block is the body.
    for it in changed.resources().iter().filter(is_manifest) {
        let span = sources.origin(it.span);
        let path = sources.path(span.file);
        if files::is_terraform(&path) {
            let text = sources.text(span.file);
            let first = text.get(..span.range().start).map_or(0, |before| before.matches('\n').count());
            let length = text.lines().skip(first).take_while(|line| !line.starts_with('}')).count();
            lines.entry(path).or_default().extend(first..=first + length);
        }
    }
    lines
}

/// Returns the limits in a manifest. They request nothing; the report has a note about each.
fn limits_of(head: &TreeState, file: &ChangedText) -> Vec<Span> {
    let opened = head.sources.open(file.path).ok().filter(|_| file.is_yaml());
    let limits = opened.map(|id| kubernetes::limits(id, &file.is)).unwrap_or_default();
    limits.into_values().map(|limit| limit.span).collect()
}

/// Returns the ends of the lines of a file.
fn line_ends(text: &str) -> Vec<usize> {
    memchr::memchr_iter(b'\n', text.as_bytes()).collect()
}
