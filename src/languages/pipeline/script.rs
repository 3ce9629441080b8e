//! Runs through the commands of a script and follows its variables and its folder.

use std::ops::Range;

use crate::languages::shell::{self, HOLE, ShellWord};
use crate::source::{FileId, Span};

use super::call::{CallContext, CalledTool, PipelineCall, PlacedWord, ROOM, ROOM_OF_CONTEXTS};

/// The limit on calls of one file.
const MOST_CALLS: usize = 2_000;
/// Commands that set variables.
const SETTERS: [&str; 5] = ["export", "local", "declare", "readonly", "typeset"];

/// Returns the commands of a script file.
pub(super) fn calls(file: FileId, text: &str) -> Vec<PipelineCall> {
    let mut reader = ScriptReader::default();
    let place = |word: &ShellWord| Span::new(file, word.start, word.end);
    reader.run(text, &mut CallContext::default(), &place);
    reader.found
}

/// Returns the words of a string that a shell would split.
pub(crate) fn words(text: &str, at: Span) -> Vec<PlacedWord> {
    let line = shell::cut_templates(text, false).replace('\n', " ");
    let all = shell::certain_commands(&format!("x {line}"), &mut ROOM.clone())
        .into_iter()
        .flat_map(|words| words.into_iter().skip(1));
    all.map(|word| PlacedWord { text: word.text, at }).collect()
}

/// Collects the calls of one file.
pub(super) struct ScriptReader {
    room: usize,
    /// The remaining bytes of variables of calls. Nothing more is read without any.
    pub(super) room_of_contexts: usize,
    pub(super) found: Vec<PipelineCall>,
}

impl Default for ScriptReader {
    fn default() -> Self {
        ScriptReader { room: ROOM, room_of_contexts: ROOM_OF_CONTEXTS, found: Vec::new() }
    }
}

impl ScriptReader {
    /// Adds the commands of a script, and leaves the context as the script leaves it. Returns the variables that the
    /// script gives to later steps of its job.
    pub(super) fn run(
        &mut self,
        script: &str,
        context: &mut CallContext,
        place: &dyn Fn(&ShellWord) -> Span,
    ) -> Vec<(String, PlacedWord)> {
        let around = context.variables.clone();
        let outer = |name: &str| around.get(name).map(|it| it.text.as_str()).filter(|it| !it.contains(HOLE));
        let all = shell::certain_script(script, &outer, &mut self.room);
        let is_sure = |name: &str| !all.unsure.contains(name);
        let mut brackets: Vec<(usize, String)> = Vec::new();
        let mut handed_on = Vec::new();
        for command in all.commands {
            let Some(first) = command.first() else { continue };
            if self.room_of_contexts == 0 || self.found.len() >= MOST_CALLS {
                break;
            }
            while let Some((_, folder)) = brackets.pop_if(|(end, _)| *end <= first.start) {
                context.folder = folder;
            }
            if let Some(end) = end_of_bracket(script, first.start) {
                brackets.push((end, context.folder.clone()));
            }
            handed_on.extend(self.command(&command, context, script, &is_sure, place));
        }
        if let Some((_, folder)) = brackets.into_iter().next() {
            context.folder = folder;
        }
        handed_on
    }

    /// Adds a command, or changes the context as the command does. Returns a variable for later steps.
    fn command(
        &mut self,
        words: &[ShellWord],
        context: &mut CallContext,
        script: &str,
        is_sure: &dyn Fn(&str) -> bool,
        place: &dyn Fn(&ShellWord) -> Span,
    ) -> Option<(String, PlacedWord)> {
        let placed = |word: &ShellWord| PlacedWord { at: place(word), text: word.text.clone() };
        match words.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().as_slice() {
            ["cd" | "pushd", options @ .., folder] if options.iter().all(|it| it.starts_with('-')) => {
                context.folder = entered(&context.folder, folder);
            }
            ["popd", ..] | ["cd"] => context.folder = HOLE.to_string(),
            ["echo", given] if script.contains("GITHUB_ENV") => {
                let (word, (name, value)) = words.get(1).zip(shell::assignment(given))?;
                return Some((name.to_owned(), PlacedWord { text: value.to_owned(), at: place(word) }));
            }
            [first, ..] if SETTERS.contains(first) => {
                words.iter().skip(1).for_each(|word| self.set(context, &placed(word), is_sure));
            }
            _ => {
                let count = words.iter().take_while(|word| shell::assignment(&word.text).is_some()).count();
                let (before, rest) = words.split_at(count);
                if rest.is_empty() {
                    before.iter().for_each(|word| self.set(context, &placed(word), is_sure));
                    return None;
                }
                let mut own = context.clone();
                before.iter().for_each(|word| self.set(&mut own, &placed(word), &|_| true));
                let tool = CalledTool::Command(rest.iter().map(placed).collect());
                self.found.push(PipelineCall { tool, context: own });
            }
        }
        None
    }

    /// Sets a variable from `NAME=value`.
    fn set(&mut self, context: &mut CallContext, word: &PlacedWord, is_sure: &dyn Fn(&str) -> bool) {
        if let Some((name, value)) = shell::assignment(&word.text) {
            let text = if is_sure(name) { value.to_owned() } else { HOLE.to_string() };
            context.set(name, PlacedWord { text, at: word.at }, &mut self.room_of_contexts);
        }
    }
}

/// Returns the folder after `cd`.
pub(crate) fn entered(folder: &str, next: &str) -> String {
    match next.trim_end_matches('/') {
        "-" => HOLE.to_string(),
        "" | "." => folder.to_owned(),
        next if folder.is_empty() || next.starts_with(['/', HOLE]) => next.to_owned(),
        next => format!("{folder}/{next}"),
    }
}

/// Returns the part of a line that a word with a value comes from: the word, its value after an option, or the word that
/// starts with its name.
pub(super) fn part_with(text: &str, word: &str) -> Option<Range<usize>> {
    let value = word.strip_prefix('-').and_then(|it| it.split_once('=')).map_or(word, |(_, value)| value);
    let whole = [word, value].into_iter().filter(|it| it.contains('='));
    let found = whole.filter_map(|it| text.find(it).map(|at| at..at + it.len())).next();
    found.or_else(|| {
        let name = &value[..=value.find('=')?];
        let start = text.find(name)?;
        let rest = text.get(start..)?;
        let end =
            rest.find(['"', '\'', ' ', '\n']).filter(|end| *end > name.len()).unwrap_or(rest.len().min(name.len()));
        Some(start..start + end)
    })
}

/// Returns the end of the subshell that starts directly before a command.
fn end_of_bracket(script: &str, start: usize) -> Option<usize> {
    let before = script.get(..start)?.trim_end_matches([' ', '\t', '\n']);
    if !before.ends_with('(') || before.ends_with("$(") {
        return None;
    }
    let mut depth = 1_usize;
    for (at, c) in script.get(start..)?.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(start + at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    Some(script.len())
}
