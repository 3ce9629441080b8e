//! Finds changes whose effect on cost is unknown.
//!
//! Each changed file belongs to one of three groups. It is *explained* if gpulint read everything that changed in it,
//! *beside* if no deployment tool uses it, and *not explained* otherwise. This module reports the last group, and by
//! default it fails the run (setting `unexplained`):
//!
//! 1. `ask`: a new line requests accelerators, and gpulint read nothing there. `launches` finds changes in programs and
//!    commands that launch machines.
//! 2. `objects`: a number changed in an object or block of an unsupported kind that names a machine, refers to other
//!    files, or changes other objects.
//! 3. `handed`: a script, a pipeline or settings pass another number, file or command to a deploy tool.
//! 4. `fed`: an unread program uses the file.
//! 5. `inputs`: the inputs of an unchanged gap changed.
//! 6. A submodule is at another commit.
//! 7. `unknown_values`: the file decides a value that was unknown before the change, too.

mod accelerator_lines;
mod amounts;
mod change;
mod changed_files;
mod commands;
mod deploy_inputs;
mod inputs;
mod launches;
mod moves;
mod objects;
mod own_variables;
mod parameters;
mod program_inputs;
mod requesting;
mod shell;
mod steering;
mod unknown_values;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use super::links;
use super::state::{ComparedStates, TreeState};
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::{ReadBy, Unjudged};
use crate::source::{Span, file_name, parent};
pub(in crate::compare) use accelerator_lines::chart_around;
pub(in crate::compare) use change::is_harmless;
use change::{ChangedText, FileRole};
use changed_files::ChangedFiles;
use commands::ChangedCommands;
use unknown_values::UnknownValues;
pub(in crate::compare) use words::{is_naming, speaks};

const CURE: &str = "check the effect on cost; in gpulint.toml, add the file to `[[runs]]` if a deployment uses it, to `exclude` if none \
                    does, or set `unexplained = \"tell\"` to let such changes pass";

/// Returns true if a text requests accelerators, in a command or in any other form.
pub(in crate::compare) fn requests_accelerators(text: &str, state: &TreeState) -> bool {
    accelerator_lines::of_text(text, &state.settings.catalog)
}

/// Returns all changes with an unknown cost effect that `unjudged` does not contain yet. Marks entries of `unjudged`
/// that the change affects.
pub(super) fn not_explained(states: &ComparedStates, unjudged: &mut [Unjudged]) -> Vec<Unjudged> {
    let changed = &ChangedFiles::of(states);
    moves::keep(states, &changed.moved, unjudged);
    inputs::reopen(changed, unjudged);
    let mut told = UnexplainedFiles { changed, of: BTreeMap::new() };
    let unknown = UnknownValues::of(changed.head, unjudged);
    told.ask();
    told.look_at_objects();
    if !changed.speaking.is_empty() {
        told.look_at_what_is_handed_over();
        told.look_at_lists_of_ignored_files();
        told.look_at_what_decides(&unknown);
        told.look_at_what_is_taken(&unknown);
        told.look_at_submodules();
    }
    let mut all: Vec<Unjudged> = told.of.into_values().collect();
    all.extend(links::moved(states, &changed.speaking));
    all
}

/// At most one entry for each file.
struct UnexplainedFiles<'s> {
    changed: &'s ChangedFiles<'s>,
    of: BTreeMap<String, Unjudged>,
}

impl UnexplainedFiles<'_> {
    fn at(&mut self, file: &ChangedText, line: Option<usize>, reason: String) {
        if self.of.contains_key(file.path) {
            return;
        }
        let span = line.and_then(|number| {
            let line = change::lines(&file.is).nth(number)?;
            let id = self.changed.head.sources.open(file.path).ok()?;
            Some(Span::new(id, line.start, line.start + line.text.trim_end().len()))
        });
        let told = Unjudged { span, ..Unjudged::new(SkipKind::Change, file.path, reason).with_cure(CURE) };
        self.of.insert(file.path.to_owned(), told);
    }

    fn ask(&mut self) {
        let changed = self.changed;
        for file in changed.texts.iter().filter(|file| accelerator_lines::is_looked_at(changed, file)) {
            let asking = accelerator_lines::AcceleratorSearch::of(changed.head, file);
            let passed = launches::passed_over(file);
            let mut new = file.added_lines().filter(|line| !passed.contains(&line.number));
            let launch = launches::changed(changed, file);
            if let Some((line, what)) = launch {
                self.at(file, Some(line), format!("line {} {what}, and its effect on cost is unknown", line + 1));
                continue;
            }
            // A program that is formatted differently requests the same.
            let is_code = file.role == FileRole::Code;
            let known: BTreeSet<String> =
                file.gone_lines().filter(|_| is_code).filter_map(|line| asking.asked(line)).collect();
            let mut idle = None;
            let asked = new.find_map(|line| {
                let name = asking.asked(line).filter(|name| !known.contains(name))?;
                let idle = idle.get_or_insert_with(|| requesting::idle_lines(changed, file));
                if idle.contains(&line.number) {
                    return None;
                }
                let lines = line.number..line.number + 1;
                (!changed.is_explained(file.path, lines)).then_some((line.number, name))
            });
            if let Some((line, name)) = asked {
                let reason = format!("line {} names `{name}`, and its effect on cost is unknown", line + 1);
                self.at(file, Some(line), reason);
            }
        }
    }

    fn look_at_objects(&mut self) {
        for file in &self.changed.texts {
            if let Some((line, why)) = objects::changed(self.changed, file) {
                self.at(file, Some(line), format!("line {}: {why}", line + 1));
            }
        }
    }

    fn look_at_what_is_handed_over(&mut self) {
        let changed = self.changed;
        let mut taken = None;
        for file in changed.texts.iter().filter(|file| deploy_inputs::may_hand_over(file)) {
            if is_explained_manifest(changed, file) || is_stack_file(changed, file) {
                continue;
            }
            let taken = taken.get_or_insert_with(|| deploy_inputs::ExternalNames::of(changed));
            if let Some((line, why)) = taken.over(file, is_near(changed, file)) {
                self.at(file, line, why);
            }
        }
    }

    /// Reports files that an ignore list no longer excludes, because they are deployed now.
    fn look_at_lists_of_ignored_files(&mut self) {
        const LISTS: [&str; 3] = [".helmignore", ".terraformignore", ".sourceignore"];
        let is_list = |file: &&ChangedText| LISTS.iter().any(|name| file.path.ends_with(name));
        for file in self.changed.texts.iter().filter(is_list) {
            let is_below = |path: &String| path.starts_with(parent(file.path));
            let is_pattern = |line: &change::ChangedLine| !line.text.trim().is_empty() && !line.text.starts_with('#');
            let lets_in = file.gone_lines().any(|line| is_pattern(&line))
                || file.new_lines().any(|line| line.text.trim_start().starts_with('!'));
            if lets_in && self.changed.speaking.iter().any(is_below) {
                self.at(file, None, "the list leaves out fewer files than before the change".to_owned());
            }
        }
    }

    /// Reports changed files that decide a value which gpulint does not know.
    fn look_at_what_decides(&mut self, unknown: &UnknownValues) {
        for file in self.changed.texts.iter().filter(|file| file.role != FileRole::Beside) {
            if let Some((line, why)) = unknown.decided_in(file) {
                self.at(file, Some(line), format!("line {}: {why}", line + 1));
            }
        }
    }

    /// Reports changed files that programs use. A file that gpulint opened was read, unless another program runs it.
    fn look_at_what_is_taken(&mut self, unknown: &UnknownValues) {
        let (changed, files) = (self.changed, &self.changed.texts);
        let is_unread = |file: &&ChangedText| file.role != FileRole::Read || !changed.head.sources.has(file.path);
        let inserted = program_inputs::inserted(changed);
        let wanted: BTreeSet<String> = files.iter().filter(is_unread).map(|file| file.path.to_owned()).collect();
        let is_relevant = |file: &ChangedText| is_unread(&file) || files::is_terraform(file.path);
        let mut takers = match files.iter().any(is_relevant) {
            true => program_inputs::takers(changed, &wanted, unknown.of_commands),
            false => BTreeMap::new(),
        };
        takers.extend(inserted);
        let is_other = |file: &&ChangedText| !(files::is_script_alone(file.path) && ChangedCommands::are_equal(file));
        for file in files.iter().filter(is_other) {
            if let Some(taker) = takers.get(file.path) {
                let line = file.new_lines().next().map(|line| line.number);
                self.at(file, line, format!("{taker} uses this file, and gpulint cannot read what it does with it"));
            }
        }
    }

    fn look_at_submodules(&mut self) {
        const DOCUMENTS: [&str; 5] = ["docs", "doc", "themes", "website", "site"];
        let is_beside = |path: &&String| path.split('/').any(|part| DOCUMENTS.contains(&part));
        for path in self.changed.states.touched.submodules.iter().filter(|path| !is_beside(path)) {
            let reason = "the submodule is at another commit, and gpulint cannot read what that changes";
            self.of
                .entry(path.clone())
                .or_insert_with(|| Unjudged::new(SkipKind::Submodule, path.clone(), reason).with_cure(CURE));
        }
    }
}

/// Returns true if a script may belong to resources with accelerators: it is in the same part of the tree, in a part
/// that deploys nothing, or it names the other part.
fn is_near(changed: &ChangedFiles, file: &ChangedText) -> bool {
    let part = |path: &str| path.split_once('/').map_or(String::new(), |(first, _)| first.to_owned());
    let own = part(file.path);
    let speaks: BTreeSet<String> = changed.speaking.iter().map(|path| part(path)).collect();
    let is_deployed = |path: &String| {
        part(path) == own && (files::is_terraform(path) || !files::is_script_alone(path) && path.contains(".yaml"))
    };
    let mut files = changed.head.files.iter().chain(changed.states.base.files);
    own.is_empty()
        || own.starts_with('.')
        || speaks.contains("")
        || speaks.contains(&own)
        || !files.any(is_deployed)
        || speaks.iter().any(|part| !part.is_empty() && file.is.contains(&format!("{part}/")))
}

/// Returns true for the settings of a Pulumi stack that gpulint evaluates.
fn is_stack_file(changed: &ChangedFiles, file: &ChangedText) -> bool {
    let runs = &changed.states.after.inventory.runs;
    let is_input = || runs.iter().any(|run| run.inputs.iter().any(|path| **path == *file.path));
    file_name(file.path).starts_with("Pulumi.")
        && changed.resources().iter().any(|it| it.front_end == ReadBy::Template)
        && is_input()
}

/// Returns true for a manifest that was read, so that its numbers are known.
fn is_explained_manifest(changed: &ChangedFiles, file: &ChangedText) -> bool {
    file.is_yaml()
        && !file.is.contains("script")
        && file.is.contains("apiVersion")
        && changed.resources().iter().any(|it| changed.head.sources.path_of(it.span) == file.path)
}
