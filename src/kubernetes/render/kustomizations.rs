//! Builds kustomizations with the built-in engine. Each one that no other uses is a separate deployment, and bases are
//! read only through their users. A kustomization that cannot be built is reported and read as it is written.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::asked::Kustomized;
use super::charts::in_one_line;
use super::kustomization::{NAMES, Outline, outline};
use super::missing_part::MissingPart;
use super::{AskedDocuments, RenderRequest, matters, names, trace};
use crate::diagnostic::SkipKind;
use crate::inventory::{DeploymentRun, RunId, RunKind, SkippedFile};
use crate::kubernetes::text::file::File;
use crate::kubernetes::text::filter::{self, Matter};
use crate::kubernetes::text::trail::{RendererKind, Trail};
use crate::languages::helm;
use crate::languages::kustomize::{self, KustomizeError, KustomizeOutput, SharedDocuments};
use crate::source::{Segment, SourceFiles, each_large, is_example, parent};

/// The limit on steps for one kustomization. The largest public ones take half of it.
const MOST_EACH: u64 = 6_000_000;
/// The limit on steps for all kustomizations of a tree, about two seconds.
const MOST_STEPS: u64 = 60_000_000;
/// The limit on relevant text, because more would fill the memory after parsing.
const MOST_BYTES: usize = 32 << 20;
/// The number of kustomizations that are built before the limits are checked.
const AT_ONCE: usize = 8;
/// The limit on rounds. If a kustomization fails, its bases are built separately, and so on.
const MOST_ROUNDS: usize = 32;

/// Returns the directories of the kustomizations among files.
pub(in crate::kubernetes) fn among(paths: &[String]) -> BTreeSet<&str> {
    let is_one = |path: &&String| path.rsplit('/').next().is_some_and(|name| NAMES.contains(&name));
    paths.iter().filter(is_one).map(|path| parent(path)).collect()
}

/// Builds the kustomizations that may request accelerators in some part.
pub(super) fn make(sources: &SourceFiles, asked: &RenderRequest<'_>) -> AskedDocuments {
    let mut made = AskedDocuments::default();
    let graph = Graph::read(sources, asked);
    let mut waiting: BTreeSet<&str> = graph.wanted(asked).collect();
    graph.open(sources, waiting.iter().copied());
    let mut budget = BuildBudget { steps: MOST_STEPS, bytes: MOST_BYTES, shared: SharedDocuments::default() };
    for round in 0.. {
        if waiting.is_empty() {
            break;
        }
        let used: HashSet<&str> = waiting.iter().flat_map(|it| graph.uses(it)).collect();
        let tops: BTreeSet<&str> = waiting.difference(&used.into_iter().collect()).copied().collect();
        // Only kustomizations in a cycle are left, which kustomize refuses.
        let mut now = if tops.is_empty() || round >= MOST_ROUNDS { waiting.clone() } else { tops };
        // A kustomization that an object deploys is deployed, even if others use it.
        let is_deployed = |it: &str| asked.deployers.directories.contains(it);
        now.extend(waiting.iter().copied().filter(|it| is_deployed(it)));
        waiting.retain(|it| !now.contains(it));
        let all: Vec<(&str, Result<Done, KustomizeError>)> = build_all(sources, asked, &now, &mut budget);
        let parts: BTreeSet<String> =
            all.iter().filter_map(|(_, done)| done.as_ref().ok()).flat_map(|it| it.built.parts.clone()).collect();
        waiting.retain(|it| !parts.contains(*it));
        let stands_alone = |directory: &str| !parts.contains(directory) || is_deployed(directory);
        for (directory, done) in all.into_iter().filter(|(directory, _)| stands_alone(directory)) {
            let Some(outline) = graph.all.get(directory) else { continue };
            match done {
                Ok(done) => made.take_built(sources, asked, &graph, (directory, &outline.path), done),
                Err(trouble) => made.skipped.push(not_built(sources, &outline.path, &trouble)),
            }
        }
    }
    made.skipped.extend(MissingPart::skipped(&made.missing));
    made.skipped.sort();
    made.skipped.dedup();
    made.kustomized = graph.owned(&asked.deployers.components);
    made
}

/// All kustomizations, with the paths that each one names.
struct Graph {
    all: BTreeMap<String, Outline>,
    /// Kustomizations that may request accelerators in some part.
    mattering: HashSet<String>,
}

impl Graph {
    fn read(sources: &SourceFiles, asked: &RenderRequest<'_>) -> Graph {
        let mut all = BTreeMap::new();
        let was_read = |path: &str| asked.is_looked_at(path);
        let mut open: Vec<String> = asked.kustomizations.iter().rev().map(|it| (*it).to_owned()).collect();
        while let Some(directory) = open.pop() {
            if all.contains_key(&directory) {
                continue;
            }
            if let Some(outline) = outline(sources, &directory, &was_read) {
                open.extend(outline.uses.iter().filter(|it| !all.contains_key(*it)).cloned());
                all.insert(directory, outline);
            }
        }
        let mut graph = Graph { all, mattering: HashSet::new() };
        graph.find_mattering(sources, asked);
        graph
    }

    /// Returns the directories of the kustomizations, and the files that they list.
    fn owned(self, components: &BTreeSet<String>) -> Kustomized {
        let mut owned = Kustomized::default();
        // A component that no kustomization uses is not applied.
        let mut open: Vec<&str> = self.all.keys().map(String::as_str).collect();
        open.retain(|it| components.contains(*it) || self.all.get(*it).is_some_and(|it| !it.is_component));
        let mut used: HashSet<String> = open.iter().map(|it| (*it).to_owned()).collect();
        while let Some(directory) = open.pop() {
            open.extend(self.uses(directory).filter(|it| used.insert((*it).to_owned())));
        }
        for (directory, outline) in self.all {
            if used.contains(&directory) {
                owned.listed.extend(outline.files);
            }
            owned.listed.insert(outline.path);
            owned.directories.insert(directory);
        }
        owned
    }

    /// Finds the kustomizations that may request accelerators: those with a part that may.
    fn find_mattering(&mut self, sources: &SourceFiles, asked: &RenderRequest<'_>) {
        let mut used_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (directory, outline) in &self.all {
            for used in &outline.uses {
                used_by.entry(used).or_default().push(directory);
            }
        }
        let own = self.all.iter().filter(|(_, outline)| may_ask(sources, asked, outline));
        let mut open: Vec<&str> = own.map(|(directory, _)| directory.as_str()).collect();
        let mut mattering: HashSet<String> = open.iter().map(|it| (*it).to_owned()).collect();
        while let Some(directory) = open.pop() {
            for user in used_by.get(directory).into_iter().flatten() {
                if mattering.insert((*user).to_owned()) {
                    open.push(user);
                }
            }
        }
        self.mattering = mattering;
    }

    /// Returns the kustomizations to build, except those that others use.
    fn wanted<'g>(&'g self, asked: &'g RenderRequest<'_>) -> impl Iterator<Item = &'g str> {
        let all = self.all.iter().filter(|(directory, outline)| {
            asked.kustomizations.contains(directory.as_str())
                && self.mattering.contains(*directory)
                && !outline.is_component
                && !asked.is_rendered(RendererKind::Kustomize, directory)
        });
        all.map(|(directory, _)| directory.as_str())
    }

    /// Opens all their files in a fixed order, because file numbers must not depend on threads.
    fn open<'g>(&'g self, sources: &SourceFiles, wanted: impl Iterator<Item = &'g str>) {
        let mut open: Vec<&str> = wanted.collect();
        let mut seen: HashSet<&str> = HashSet::new();
        while let Some(directory) = open.pop() {
            let Some(outline) = self.all.get(directory).filter(|_| seen.insert(directory)) else { continue };
            open.extend(outline.uses.iter().map(String::as_str));
            outline.files.iter().for_each(|path| drop(sources.open(path)));
            let of_charts = outline.charts.iter().flat_map(|chart| chart_files(sources, chart));
            of_charts.for_each(|path| drop(sources.open(&path)));
        }
    }

    /// Returns the directories that another kustomization names, except itself.
    fn uses<'g>(&'g self, directory: &'g str) -> impl Iterator<Item = &'g str> {
        let uses = self.all.get(directory).into_iter().flat_map(|outline| &outline.uses);
        uses.map(String::as_str).filter(move |it| *it != directory)
    }
}

/// Returns whether a path that a kustomization names itself may request accelerators.
fn may_ask(sources: &SourceFiles, asked: &RenderRequest<'_>, outline: &Outline) -> bool {
    outline.elsewhere.iter().any(|name| names::may_ask(name))
        || programs_may_ask(sources, asked, outline)
        || outline.charts.iter().any(|chart| matters::may_matter(sources, chart, asked))
        || asked.charts_ask() && outline.files.iter().any(|path| asked.deployers.releases.contains(path))
        || outline.files.iter().chain([&outline.path]).any(|path| {
            let asks = |text: &[u8]| asked.wanted.look(text) == Matter::Asks;
            let changes = *path == outline.path || outline.changing.contains(path);
            asked.asking.contains(path)
                || !asked.is_looked_at(path) && sources.glance(path, asks).unwrap_or(true)
                || changes && sources.glance(path, points_at_asking).unwrap_or(true)
        })
}

/// Returns whether the settings of a generator may request accelerators, or a chart below the kustomization that it may
/// render.
fn programs_may_ask(sources: &SourceFiles, asked: &RenderRequest<'_>, outline: &Outline) -> bool {
    !outline.programs.is_empty()
        && (outline.programs.iter().any(|path| names::in_file(sources, path))
            || asked.asks_below(parent(&outline.path)))
}

/// Returns the files of a chart as they are written, if there is one.
fn chart_files(sources: &SourceFiles, chart: &str) -> Vec<String> {
    let files = helm::files(sources, chart);
    files.into_iter().filter(|path| !path.ends_with(".tgz")).collect()
}

/// Returns whether a JSON patch names accelerators. JSON patches write `nvidia.com~1gpu`.
fn points_at_asking(text: &[u8]) -> bool {
    const STROKE: &str = "~1";
    memchr::memmem::find(text, STROKE.as_bytes()).is_some()
        && filter::look(String::from_utf8_lossy(text).replace(STROKE, "/").as_bytes()) == Matter::Asks
}

/// The steps and bytes that remain for building kustomizations, and the documents that they share.
struct BuildBudget {
    steps: u64,
    bytes: usize,
    shared: SharedDocuments,
}

/// A built kustomization, with the relevance of its documents.
struct Done {
    built: KustomizeOutput,
    kept: Vec<(Matter, String, Vec<Segment>)>,
}

fn build_all<'d>(
    sources: &SourceFiles,
    asked: &RenderRequest<'_>,
    directories: &BTreeSet<&'d str>,
    left: &mut BuildBudget,
) -> Vec<(&'d str, Result<Done, KustomizeError>)> {
    let mut all = Vec::with_capacity(directories.len());
    let directories: Vec<&str> = directories.iter().copied().collect();
    for now in directories.chunks(AT_ONCE) {
        if left.steps == 0 || left.bytes == 0 {
            let why = "the repository's kustomizations exceed the total limit";
            all.extend(now.iter().map(|it| (*it, Err(KustomizeError::beyond(why)))));
            continue;
        }
        let steps = left.steps.min(MOST_EACH);
        let shared = &left.shared;
        let build = |directory: &'d str| {
            let built = kustomize::build_as_far_as_possible(sources, shared, directory, asked.cluster, steps);
            (directory, built.map(|built| Done::new(sources, asked, built)))
        };
        for (directory, done) in each_large(now.to_vec(), build) {
            left.steps = left.steps.saturating_sub(done.as_ref().map_or(steps, |it| it.built.steps));
            let bytes = done.as_ref().map_or(0, |it| it.kept.iter().map(|(_, text, _)| text.len()).sum());
            left.bytes = left.bytes.saturating_sub(bytes);
            all.push((directory, done));
        }
    }
    all
}

impl Done {
    /// Stores only the relevant documents.
    fn new(sources: &SourceFiles, asked: &RenderRequest<'_>, mut built: KustomizeOutput) -> Done {
        let documents = std::mem::take(&mut built.documents);
        let kept = documents.iter().filter_map(|document| match asked.wanted.look(document.text().as_bytes()) {
            Matter::Nothing => None,
            matter => Some((matter, document.text().to_owned(), document.segments(sources))),
        });
        Done { kept: kept.collect(), built }
    }
}

impl AskedDocuments {
    fn take_built(
        &mut self,
        sources: &SourceFiles,
        asked: &RenderRequest<'_>,
        graph: &Graph,
        (directory, path): (&str, &str),
        done: Done,
    ) {
        let Done { built, kept } = done;
        self.missing.extend(built.missing.iter().map(|trouble| MissingPart::new(sources, path, trouble)));
        let Some(head) = trace::first_line(sources, path) else { return };
        let shown = if directory.is_empty() { "." } else { directory };
        let trail = Trail {
            by: RendererKind::Kustomize,
            command: format!("kustomize build {shown}").into(),
            head,
            variant: None,
        };
        let outlines = built.parts.iter().filter_map(|part| graph.all.get(part));
        let mut inputs: BTreeSet<String> = outlines.map(|outline| outline.path.clone()).collect();
        inputs.insert(path.to_owned());
        inputs.extend(graph.all.get(directory).into_iter().flat_map(|outline| outline.files.iter().cloned()));
        inputs.extend(built.replaced.iter().filter(|it| asked.asking.contains(it)).cloned());
        for (matter, text, segments) in kept {
            let files: BTreeSet<_> = segments.iter().map(|segment| segment.origin.file).collect();
            inputs.extend(files.into_iter().map(|file| sources.path(file)));
            let id = sources.derive("", text, segments);
            self.files.push(File::rendered(id, path.into(), matter != Matter::Asks, trail.clone()));
        }
        let mut run = DeploymentRun::new(RunKind::Kustomization, directory, None).reading(inputs);
        // An example replaces nothing that is deployed.
        let shows = |path: &str| path.split('/').any(is_example);
        run.uses = built.parts.iter().map(|part| RunId::of(RunKind::Kustomization, part, None)).collect();
        self.runs.push(run);
        if !shows(directory) {
            self.charts.extend(built.charts);
        }
        let behind_links = built.replaced.iter().filter_map(|path| sources.real_path(path)).collect::<Vec<_>>();
        let replaced = built.replaced.into_iter().chain(behind_links);
        self.replaced.extend(replaced.filter(|path| !shows(directory) || shows(path)));
    }
}

fn not_built(sources: &SourceFiles, path: &str, trouble: &KustomizeError) -> SkippedFile {
    let why = format!("read without building: {}{}", trouble.message, elsewhere(sources, path, trouble));
    SkippedFile::new(SkipKind::Overlay, path, in_one_line(&why))
}

fn elsewhere(sources: &SourceFiles, path: &str, trouble: &KustomizeError) -> String {
    let place = trouble.at.map(|at| sources.locate(at));
    let place = place.filter(|place| place.path != path);
    place.map(|place| format!(" (`{}`, line {})", place.path, place.line)).unwrap_or_default()
}
