//! Reads the recipes of Makefiles. Each line of a recipe runs in its own shell.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::languages::shell::{self, HOLE, ShellWord};
use crate::source::{FileId, Span};

use super::call::{CallContext, PipelineCall, PlacedWord, ROOM};
use super::script::{ScriptReader, part_with};

/// How often values of variables may contain other variables.
const DEEPEST: usize = 8;

/// Returns the commands of the recipes of a Makefile.
pub(super) fn calls(file: FileId, text: &str) -> Vec<PipelineCall> {
    let lines = joined_lines(text);
    let known = variables(file, &lines);
    let context = CallContext { variables: Arc::new(known.clone()), folder: String::new() };
    let mut reader = ScriptReader::default();
    let mut room = ROOM;
    for (start, line) in lines.iter().filter(|(_, line)| line.starts_with('\t')) {
        let script =
            filled(line.trim_start().trim_start_matches(['@', '-', '+']), &known, &BTreeSet::new(), (1, &mut room));
        let place = |word: &ShellWord| place_of(file, *start, line, &word.text);
        reader.run(&script, &mut context.clone(), &place);
    }
    reader.found
}

/// Returns the place of a word in a line, or the line.
fn place_of(file: FileId, start: usize, line: &str, word: &str) -> Span {
    match part_with(line, word) {
        Some(part) => Span::new(file, start + part.start, start + part.end),
        None => Span::new(file, start, start + line.lines().next().map_or(0, str::len)),
    }
}

/// Returns the lines with their starts. A backslash at the end continues a line.
fn joined_lines(text: &str) -> Vec<(usize, &str)> {
    let (mut all, mut start, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            all.push((start, text[start..at].trim_end()));
            start = at;
        }
    }
    all.extend((start < at).then(|| (start, text[start..at].trim_end())));
    all
}

/// Returns the variables of a Makefile. A variable with a default (`?=`), a second value, or a value in a condition is a
/// hole.
fn variables(file: FileId, lines: &[(usize, &str)]) -> BTreeMap<String, PlacedWord> {
    let mut all: BTreeMap<String, PlacedWord> = BTreeMap::new();
    let (mut depth, mut unsure) = (0_usize, BTreeSet::new());
    for (start, line) in lines.iter().filter(|(_, line)| !line.starts_with(['\t', '#'])) {
        let words = line.trim();
        match words.split_ascii_whitespace().next() {
            Some("ifeq" | "ifneq" | "ifdef" | "ifndef") => depth += 1,
            Some("endif") => depth = depth.saturating_sub(1),
            _ => {}
        }
        let Some((name, operator, value)) = assignment(words) else { continue };
        let at = Span::new(file, *start, *start + line.lines().next().map_or(0, str::len));
        let is_sure = depth == 0 && matches!(operator, "=" | ":=" | "::=") && !words.contains("$(shell");
        if !is_sure || all.contains_key(name) {
            unsure.insert(name.to_owned());
        }
        all.insert(name.to_owned(), PlacedWord { text: value.to_owned(), at });
    }
    let (known, mut room) = (all.clone(), ROOM);
    for (name, word) in &mut all {
        word.text = if unsure.contains(name) {
            HOLE.to_string()
        } else {
            filled(&word.text, &known, &unsure, (DEEPEST, &mut room))
        };
    }
    all
}

/// Splits `NAME := value` and `target: NAME = value`, which sets the variable for one target only.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let equals = line.find('=')?;
    let left = line[..equals].trim_end_matches([':', '?', '+', '!']);
    let operator = &line[left.len()..=equals];
    let value = line[equals + 1..].split(" #").next().unwrap_or_default().trim();
    let mut words = left.split_ascii_whitespace().filter(|it| !["export", "override"].contains(it));
    let first = words.next()?;
    match words.next() {
        None => shell::is_name(first).then_some((first, operator, value)),
        // The value of one target is not that of the others.
        Some(name) => (first.ends_with(':') && shell::is_name(name)).then_some((name, "?=", value)),
    }
}

/// Returns a value with the values of other variables, within the remaining depth and bytes.
fn filled(
    text: &str,
    known: &BTreeMap<String, PlacedWord>,
    unsure: &BTreeSet<String>,
    (depth, room): (usize, &mut usize),
) -> String {
    if !shell::spend(room, text.len() + 1) {
        return HOLE.to_string();
    }
    let text = in_shell(text);
    let mut parts = text.split("${");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        match known.get(name).filter(|_| depth > 0 && !unsure.contains(name)) {
            Some(inner) if result.len() < ROOM / 64 => {
                result.push_str(&filled(&inner.text, known, unsure, (depth - 1, room)))
            }
            _ => result.push(HOLE),
        }
        result.push_str(rest);
    }
    result
}

/// Returns a value of make as a shell reads it: `$(NAME)` is `${NAME}`, and `$$NAME` is a variable of the shell, which is
/// unknown.
fn in_shell(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let is_of_shell = rest.starts_with('$');
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let closing = match rest.chars().next() {
            Some('(') => Some(')'),
            Some('{') => Some('}'),
            _ => None,
        };
        let inner = closing.and_then(|closing| rest[1..].split_once(closing));
        match inner.filter(|(name, _)| shell::is_name(name)) {
            Some((name, after)) if !is_of_shell => {
                result.extend(["${", name, "}"]);
                rest = after;
            }
            _ => {
                // `$(shell …)`, `$@` and variables of the shell.
                let end = closing.and_then(|closing| rest.find(closing)).map(|end| end + 1);
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let plain = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
                let one = rest.chars().next().map_or(0, char::len_utf8);
                rest = &rest[end.unwrap_or(plain.max(one))..];
                result.push(HOLE);
            }
        }
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    #[test]
    fn variables_of_make_become_values_if_they_are_sure() {
        let text =
            "A = p4d\nB := $(A).24xlarge\nC ?= x\nD = 1\nD = 2\nexport E = $(C)$(B)\nall: F = 3\nG=$(shell date)\n";
        let file = SourceFiles::new(MemoryTree::new().with("Makefile", text)).open("Makefile").unwrap();
        let all = variables(file, &joined_lines(text));
        let value = |name: &str| all.get(name).map(|it| it.text.clone());
        let hole = HOLE.to_string();
        assert_eq!(value("B").as_deref(), Some("p4d.24xlarge"));
        assert_eq!(value("E"), Some(format!("{hole}p4d.24xlarge")));
        for name in ["C", "D", "F", "G"] {
            assert_eq!(value(name).as_ref(), Some(&hole), "{name}");
        }
    }

    #[test]
    fn recipes_are_read_as_a_shell_does() {
        assert_eq!(
            in_shell("a $(B) $${C} $$D $@ $(shell x) ${E}"),
            format!("a ${{B}} {HOLE} {HOLE} {HOLE} {HOLE} ${{E}}")
        );
    }
}
