//! Finds changes whose effect on cost is unknown.
//!
//! Each changed file belongs to one of three groups. It is *explained* if gpulint read everything that changed in it,
//! *beside* if no deployment tool uses it, and *not explained* otherwise. This module reports the last group, and by
//! default it fails the run (setting `unexplained`):
//!
//! 1. `asks`: a new line requests accelerators, and gpulint read nothing there.
//! 2. `objects`: a number changed in an object or block of an unsupported kind that names a machine, refers to other
//!    files, or changes other objects.
//! 3. `handed`: a script, a pipeline or settings pass another number, file or command to a deploy tool.
//! 4. `fed`: an unread program uses the file.
//! 5. `inputs`: the inputs of an unchanged gap changed.
//! 6. A submodule is at another commit.

mod accelerator_lines;
mod change;
mod deploy_inputs;
mod inputs;
mod objects;
mod program_inputs;
mod shell;
mod states;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::links;
use super::state::Touched;
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::{ReadBy, Resource, Unjudged};
use crate::source::{FileId, Span, parent};
use change::{ChangedText, FileRole};
pub(in crate::compare) use states::ChangedStates;

const CURE: &str = "check the effect on cost; in gpulint.toml, add the file to `[[runs]]` if a deployment uses it, to `exclude` if none \
                    does, or set `unexplained = \"tell\"` to let such changes pass";

/// Returns all changes with an unknown cost effect that `unjudged` does not contain yet. Marks entries of `unjudged`
/// that the change affects.
pub(in crate::compare) fn not_explained(
    states: &ChangedStates,
    touched: &Touched,
    unjudged: &mut [Unjudged],
) -> Vec<Unjudged> {
    let files: Vec<ChangedText> =
        touched.files.iter().filter_map(|path| ChangedText::of(path, states.base, states.head)).collect();
    let speaking = speaking(states);
    inputs::reopen(states, &speaking, unjudged, &files, &touched.submodules);
    let mut told = UnexplainedFiles { states, explained: OnceCell::new(), of: BTreeMap::new() };
    told.ask(&files);
    told.look_at_objects(&files, &speaking);
    if !speaking.is_empty() {
        told.look_at_what_is_handed_over(&files, &speaking);
        told.look_at_lists_of_ignored_files(&files, &speaking);
        told.look_at_what_is_taken(&files, &speaking);
        told.look_at_submodules(touched);
    }
    let mut all: Vec<Unjudged> = told.of.into_values().collect();
    all.extend(links::moved(states.base, states.head, touched, &speaking));
    all
}

/// At most one entry for each file.
struct UnexplainedFiles<'s> {
    states: &'s ChangedStates<'s>,
    /// Computed once, when a line needs it.
    explained: OnceCell<Explained>,
    of: BTreeMap<String, Unjudged>,
}

impl UnexplainedFiles<'_> {
    fn at(&mut self, file: &ChangedText, line: Option<usize>, reason: String) {
        if self.of.contains_key(file.path) {
            return;
        }
        let span = line.and_then(|number| {
            let line = change::lines(&file.is).nth(number)?;
            let id = self.states.head.sources.open(file.path).ok()?;
            Some(Span::new(id, line.start, line.start + line.text.trim_end().len()))
        });
        let told = Unjudged { span, ..Unjudged::new(SkipKind::Change, file.path, reason).with_cure(CURE) };
        self.of.insert(file.path.to_owned(), told);
    }

    fn explained(&self) -> &Explained {
        self.explained.get_or_init(|| Explained::of(self.states))
    }

    fn ask(&mut self, files: &[ChangedText]) {
        let looked_at = files.iter().filter(|file| accelerator_lines::is_looked_at(self.states.head, file));
        for file in looked_at.filter(|file| !is_refused(self.states, file.path)) {
            let asking = accelerator_lines::AcceleratorSearch::of(self.states.head, file);
            let gone: BTreeSet<&str> = file.gone_lines().map(|line| line.text.trim()).collect();
            let mut new = file.new_lines().filter(|line| !gone.contains(line.text.trim()));
            let asked = new.find_map(|line| {
                let name = asking.asked(line)?;
                (!self.explained().has(file.path, line.number)).then_some((line.number, name))
            });
            if let Some((line, name)) = asked {
                let reason = format!("line {} names `{name}`, and its effect on cost is unknown", line + 1);
                self.at(file, Some(line), reason);
            }
        }
    }

    fn look_at_objects(&mut self, files: &[ChangedText], speaking: &BTreeSet<String>) {
        let references = OnceCell::new();
        for file in files.iter().filter(|file| !is_refused(self.states, file.path)) {
            let is_explained = |lines: Range<usize>| {
                let explained = self.explained().lines(file.path);
                explained.range(lines).next().is_some()
            };
            if let Some((line, why)) = objects::changed(self.states, file, is_explained, speaking, &references) {
                self.at(file, Some(line), format!("line {}: {why}", line + 1));
            }
        }
    }

    fn look_at_what_is_handed_over(&mut self, files: &[ChangedText], speaking: &BTreeSet<String>) {
        let states = self.states;
        let mut taken = None;
        for file in files.iter().filter(|file| deploy_inputs::may_hand_over(file)) {
            if is_explained_manifest(states, file) {
                continue;
            }
            let taken = taken.get_or_insert_with(|| deploy_inputs::ExternalNames::of(states, speaking, files));
            if let Some((line, why)) = taken.over(file, is_near(states, speaking, file)) {
                self.at(file, line, why);
            }
        }
    }

    /// Reports files that an ignore list no longer excludes, because they are deployed now.
    fn look_at_lists_of_ignored_files(&mut self, files: &[ChangedText], speaking: &BTreeSet<String>) {
        const LISTS: [&str; 3] = [".helmignore", ".terraformignore", ".sourceignore"];
        let is_list = |file: &&ChangedText| LISTS.iter().any(|name| file.path.ends_with(name));
        for file in files.iter().filter(is_list) {
            let is_below = |path: &String| path.starts_with(parent(file.path));
            let is_pattern = |line: &change::ChangedLine| !line.text.trim().is_empty() && !line.text.starts_with('#');
            let lets_in = file.gone_lines().any(|line| is_pattern(&line))
                || file.new_lines().any(|line| line.text.trim_start().starts_with('!'));
            if lets_in && speaking.iter().any(is_below) {
                self.at(file, None, "the list leaves out fewer files than before the change".to_owned());
            }
        }
    }

    /// Reports changed files that programs use. A file that gpulint opened was read, unless another program runs it.
    fn look_at_what_is_taken(&mut self, files: &[ChangedText], speaking: &BTreeSet<String>) {
        let is_unread = |file: &&ChangedText| file.role != FileRole::Read || !self.states.head.sources.has(file.path);
        let wanted: BTreeSet<String> = files.iter().filter(is_unread).map(|file| file.path.to_owned()).collect();
        if !files.iter().any(|file| is_unread(&file) || files::is_terraform(file.path)) {
            return;
        }
        let takers = program_inputs::takers(self.states, speaking, &wanted, files);
        for file in files {
            if let Some(taker) = takers.get(file.path) {
                self.at(file, None, format!("{taker} uses this file, and gpulint cannot read what it does with it"));
            }
        }
    }

    fn look_at_submodules(&mut self, touched: &Touched) {
        const DOCUMENTS: [&str; 5] = ["docs", "doc", "themes", "website", "site"];
        let is_beside = |path: &&String| path.split('/').any(|part| DOCUMENTS.contains(&part));
        for path in touched.submodules.iter().filter(|path| !is_beside(path)) {
            let reason = "the submodule is at another commit, and gpulint cannot read what that changes";
            self.of
                .entry(path.clone())
                .or_insert_with(|| Unjudged::new(SkipKind::Submodule, path.clone(), reason).with_cure(CURE));
        }
    }
}

/// Returns true if the whole file is already listed.
fn is_refused(states: &ChangedStates, path: &str) -> bool {
    states.after.inventory.unjudged.iter().any(|it| it.span.is_none() && it.path == path)
}

/// Returns the files that contain resources with accelerators in either state, or anything that was not evaluated.
fn speaking(states: &ChangedStates) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for (state, analysis) in [(states.base, states.before), (states.head, states.after)] {
        let sources = state.sources;
        let places = analysis.inventory.resources.iter().flat_map(Resource::places);
        files.extend(places.map(|span| sources.path(sources.origin(span).file)));
        files.extend(analysis.inventory.unjudged.iter().map(|it| it.path.clone()));
    }
    files
}

/// Returns true if a script may belong to resources with accelerators: it is in the same part of the tree, in a part
/// that deploys nothing, or it names the other part.
fn is_near(states: &ChangedStates, speaking: &BTreeSet<String>, file: &ChangedText) -> bool {
    let part = |path: &str| path.split_once('/').map_or(String::new(), |(first, _)| first.to_owned());
    let own = part(file.path);
    let speaks: BTreeSet<String> = speaking.iter().map(|path| part(path)).collect();
    let is_deployed = |path: &String| {
        part(path) == own && (files::is_terraform(path) || !files::is_script_alone(path) && path.contains(".yaml"))
    };
    let mut files = states.head.files.iter().chain(states.base.files);
    own.is_empty()
        || own.starts_with('.')
        || speaks.contains("")
        || speaks.contains(&own)
        || !files.any(is_deployed)
        || speaks.iter().any(|part| !part.is_empty() && file.is.contains(&format!("{part}/")))
}

/// Returns true for a manifest that was read, so that its numbers are known.
fn is_explained_manifest(states: &ChangedStates, file: &ChangedText) -> bool {
    let sources = states.head.sources;
    file.is_yaml()
        && !file.is.contains("script")
        && file.is.contains("apiVersion")
        && states.after.inventory.resources.iter().any(|it| sources.path(sources.origin(it.span).file) == file.path)
}

/// The lines with a fact of a resource or an unevaluated entry, by file.
struct Explained {
    lines: HashMap<String, BTreeSet<usize>>,
    none: BTreeSet<usize>,
}

impl Explained {
    fn of(states: &ChangedStates) -> Explained {
        let mut lines: HashMap<String, BTreeSet<usize>> = HashMap::new();
        let inventory = &states.after.inventory;
        let resources = inventory.resources.iter().flat_map(Resource::places);
        let unjudged = inventory.unjudged.iter().filter_map(|it| it.span);
        // A manifest repeats its requests: in requests and limits, or for a node and its machine.
        let is_manifest = |it: &&Resource| matches!(it.front_end, ReadBy::Kubernetes | ReadBy::Chart);
        let bodies = inventory.resources.iter().filter(is_manifest).map(|it| it.body);
        let sources = states.head.sources;
        let mut ends: HashMap<FileId, Vec<usize>> = HashMap::new();
        for span in resources.chain(unjudged).chain(bodies) {
            let span = sources.origin(span);
            let ends = ends.entry(span.file).or_insert_with(|| line_ends(&sources.text(span.file)));
            let line = |at: usize| ends.partition_point(|end| *end < at);
            let range = span.range();
            lines.entry(sources.path(span.file)).or_default().extend(line(range.start)..=line(range.end));
        }
        Explained { lines, none: BTreeSet::new() }
    }

    /// Returns the numbers of explained lines, from 0.
    fn lines(&self, path: &str) -> &BTreeSet<usize> {
        self.lines.get(path).unwrap_or(&self.none)
    }

    fn has(&self, path: &str, line: usize) -> bool {
        self.lines(path).contains(&line)
    }
}

/// Returns the ends of the lines of a file.
fn line_ends(text: &str) -> Vec<usize> {
    memchr::memchr_iter(b'\n', text.as_bytes()).collect()
}
