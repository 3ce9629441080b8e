//! Splits shell scripts into commands of words with places: quotes, continuations, `&&`, assignments, variables,
//! here-documents.
//!
//! Follows the word processing of a POSIX shell and bash before they start a program, and `$(NAME)` as the kubelet
//! expands it. No branch is taken and no program is run. The result has the commands of all branches, and a value that
//! only a run determines is a hole in the word.
//!
//! It accepts scripts that a shell would refuse: an unclosed quote ends with the text. Words above 16 KiB, scripts
//! above 512 KiB and expansions beyond the caller's limit are cut.
//!
//! Its only tests are its own and the containers of `tests/kubernetes`.
//!
//! Crates that split shell words (shlex, shell-words) have no places, variables or commands. Crates that parse shells
//! return trees, refuse incomplete scripts, and expand nothing.

mod certain;
pub(crate) mod printed;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::source::file_name;

pub(crate) use certain::{certain_commands, certain_script};
pub(crate) use steps::{RunsWhen, Step, steps};

/// Represents an unknown part in a known text; front ends may use it too.
pub const HOLE: char = '\u{FFFC}';

/// The limit on words, which also stops variables that expand each other. No model name is longer.
const LONGEST_WORD: usize = 16 << 10;
/// The limit on scripts; the rest is ignored.
const LONGEST_SCRIPT: usize = 512 << 10;
const MOST_WORDS: usize = 20_000;

/// A word of a command: text with expanded variables, and its byte range in the script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShellWord {
    pub(crate) text: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The variable whose value is part of the text.
    pub(crate) variable: Option<Arc<str>>,
    /// Whether the word represents all arguments of the script: `"$@"`.
    pub(crate) arguments: bool,
}

/// Returns the commands of a script in order, each as its words. Variables come from `outer` and from assignments in
/// the script.
pub(crate) fn commands<'v>(
    script: &str,
    outer: &dyn Fn(&str) -> Option<&'v str>,
    room: &mut usize,
) -> Vec<Vec<ShellWord>> {
    let unsure = BTreeSet::new();
    let local = BTreeMap::new();
    let (has_defaults, keeps_assignments) = (true, false);
    expanded(script, Expansion { outer, local, unsure: &unsure, has_defaults, keeps_assignments, words: 0, room })
}

fn expanded(script: &str, mut expansion: Expansion<'_, '_>) -> Vec<Vec<ShellWord>> {
    let script = match script.char_indices().find(|(at, _)| *at >= LONGEST_SCRIPT) {
        Some((at, _)) => &script[..at],
        None => script,
    };
    let mut result = Vec::new();
    let mut lexer = Lexer { text: script, at: 0 };
    while let Some(raw) = lexer.command() {
        if let Some(command) = expansion.command(raw) {
            result.push(command);
        }
        if expansion.words > MOST_WORDS {
            break;
        }
    }
    result
}

/// Expands `$(NAME)` as the kubelet does; `$$` escapes. A name without a value is a hole. Also returns the name of the
/// variable.
pub(crate) fn expand_references<'v>(
    text: &str,
    variable: &dyn Fn(&str) -> Option<&'v str>,
    room: &mut usize,
) -> (String, Option<Arc<str>>) {
    let mut result = String::with_capacity(text.len());
    let mut used = None;
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        result.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$$") {
            result.push('$');
            rest = after;
            continue;
        }
        match rest.strip_prefix("$(").and_then(name_in_brackets) {
            Some(name) => {
                let fits = |value: &&str| result.len() + value.len() < LONGEST_WORD && spend(room, value.len());
                match variable(name).filter(fits) {
                    Some(value) => result.push_str(value),
                    None => result.push(HOLE),
                }
                used = Some(name.into());
                rest = &rest[name.len() + 3..];
            }
            None => {
                result.push('$');
                rest = &rest[1..];
            }
        }
    }
    result.push_str(rest);
    (result, used)
}

/// Returns the name before the closing bracket; the search stops at the end of the name.
fn name_in_brackets(text: &str) -> Option<&str> {
    let length = text.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
    let (name, rest) = text.split_at_checked(length)?;
    (rest.starts_with(')') && is_name(name)).then_some(name)
}

/// Replaces templates and variables that another program fills in by holes: `{{ .Values.model }}`, `${MODEL}`.
pub(crate) fn cut_templates(text: &str, variables: bool) -> String {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    // Each mark is searched again only after its last match is passed, and never after a search without a match.
    let pairs: &[(&str, &str)] = if variables { &[("{{", "}}"), ("${", "}")] } else { &[("{{", "}}")] };
    let mut opens: Vec<Option<usize>> = pairs.iter().map(|(open, _)| text.find(open)).collect();
    loop {
        for ((open, _), known) in pairs.iter().zip(&mut opens) {
            if known.is_some_and(|known| known < at) {
                *known = text[at..].find(open).map(|found| at + found);
            }
        }
        let next = opens.iter().zip(pairs).filter_map(|(open, (_, close))| Some(((*open)?, close)));
        let Some((open, close)) = next.min() else { break };
        result.push_str(&text[at..open]);
        result.push(HOLE);
        at = text[open..].find(close).map_or(text.len(), |end| open + end + close.len());
    }
    result.push_str(&text[at..]);
    result
}

pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[derive(Debug)]
enum Part {
    Text(String),
    Variable {
        name: String,
        default: Option<String>,
        quoted: bool,
    },
    /// Output of a command, arithmetic, or a positional parameter.
    Hole {
        quoted: bool,
    },
    /// The result of the last command: `$?`
    Status {
        quoted: bool,
    },
    /// All arguments: `$@`, `$*`
    Arguments,
}

#[derive(Debug)]
struct Raw {
    parts: Vec<Part>,
    start: usize,
    end: usize,
}

#[derive(Default)]
struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    /// Returns the next command; `None` at the end.
    fn command(&mut self) -> Option<Vec<Raw>> {
        let mut words = Vec::new();
        loop {
            match self.peek() {
                None => return (!words.is_empty()).then_some(words),
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.continuation() => {}
                Some('#') => self.comment(),
                Some('\n' | ';' | '|' | '&' | '(' | ')') => {
                    self.at += 1;
                    if !words.is_empty() {
                        return Some(words);
                    }
                }
                Some('<' | '>') => self.redirection(),
                Some(c) if c.is_ascii_digit() && self.descriptor() => self.redirection(),
                Some(_) => words.push(self.word()),
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Returns true if a line continues: a backslash before its end, also with spaces in between, which is a common
    /// mistake.
    fn continuation(&mut self) -> bool {
        let after = &self.rest()[1..];
        let blank = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
        match after.as_bytes().get(blank) {
            Some(b'\n') => {
                self.at += blank + 2;
                true
            }
            None => {
                self.at = self.text.len();
                true
            }
            _ => false,
        }
    }

    /// Skips the number before `>` in `2>&1`.
    fn descriptor(&mut self) -> bool {
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let redirects = self.rest()[digits..].starts_with(['<', '>']);
        if redirects {
            self.at += digits;
        }
        redirects
    }

    fn comment(&mut self) {
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        self.at += end;
    }

    /// Skips `> file`, `2>&1` and similar redirections. The text of a here-document is read as further commands,
    /// because unit files and compose files in scripts start programs too.
    fn redirection(&mut self) {
        while matches!(self.peek(), Some('<' | '>' | '&')) {
            self.at += 1;
        }
        while matches!(self.peek(), Some(' ' | '\t' | '-')) {
            self.at += 1;
        }
        if !matches!(self.peek(), None | Some('\n' | ';' | '|' | '(' | ')')) {
            self.word();
        }
    }

    fn word(&mut self) -> Raw {
        let start = self.at;
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    if self.continuation() {
                        break;
                    }
                    self.at += 1;
                    text.extend(self.bump());
                }
                '\'' => {
                    self.at += 1;
                    let end = self.rest().find('\'').unwrap_or(self.rest().len());
                    text.push_str(&self.text[self.at..self.at + end]);
                    self.at = (self.at + end + 1).min(self.text.len());
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts, &mut text);
                }
                '$' | '`' => self.dollar(&mut parts, &mut text, false),
                c => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if self.at == start {
            self.bump();
        }
        if !text.is_empty() || parts.is_empty() {
            parts.push(Part::Text(text));
        }
        Raw { parts, start, end: self.at }
    }

    fn double_quoted(&mut self, parts: &mut Vec<Part>, text: &mut String) {
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => self.at += 1,
                        Some(c @ ('"' | '\\' | '$' | '`')) => {
                            text.push(c);
                            self.at += 1;
                        }
                        _ => text.push('\\'),
                    }
                }
                '$' | '`' => self.dollar(parts, text, true),
                c => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn dollar(&mut self, parts: &mut Vec<Part>, text: &mut String, quoted: bool) {
        let flush = |parts: &mut Vec<Part>, text: &mut String| {
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(text)));
            }
        };
        if self.peek() == Some('`') {
            self.at += 1;
            let end = self.rest().find('`').unwrap_or(self.rest().len());
            self.at = (self.at + end + 1).min(self.text.len());
            flush(parts, text);
            parts.push(Part::Hole { quoted });
            return;
        }
        let after = &self.rest()[1..];
        if after.starts_with('(') {
            self.at += 1;
            self.skip_parentheses();
            flush(parts, text);
            parts.push(Part::Hole { quoted });
        } else if let Some(inner) = after.strip_prefix('{') {
            let end = inner.find('}').unwrap_or(inner.len());
            let part = braces(&inner[..end], quoted);
            self.at = (self.at + 2 + end + 1).min(self.text.len());
            flush(parts, text);
            parts.push(part);
        } else {
            let length = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            let name = after[..length].to_owned();
            if is_name(&name) {
                self.at += 1 + length;
                flush(parts, text);
                parts.push(Part::Variable { name, default: None, quoted });
            } else if after.starts_with(['@', '*']) {
                self.at += 2;
                flush(parts, text);
                parts.push(Part::Arguments);
            } else if after.starts_with(|c: char| c.is_ascii_digit() || "#?$!".contains(c)) {
                let is_status = after.starts_with('?');
                self.at += 2;
                flush(parts, text);
                parts.push(if is_status { Part::Status { quoted } } else { Part::Hole { quoted } });
            } else {
                self.at += 1;
                text.push('$');
            }
        }
    }

    fn skip_parentheses(&mut self) {
        let mut depth = 0usize;
        while let Some(c) = self.bump() {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}

/// Parses the content of `${…}`: a name, or a name with a default.
fn braces(inner: &str, quoted: bool) -> Part {
    let length = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
    let (name, operator) = inner.split_at(length);
    if !is_name(name) {
        return Part::Hole { quoted };
    }
    let default = operator.strip_prefix(":-").or(operator.strip_prefix('-')).or(operator.strip_prefix(":="));
    if operator.is_empty() || default.is_some() {
        let default = default.filter(|text| !text.contains('$')).map(|text| text.trim_matches('"').to_owned());
        Part::Variable { name: name.to_owned(), default, quoted }
    } else {
        Part::Hole { quoted }
    }
}

struct Expansion<'a, 'v> {
    outer: &'a dyn Fn(&str) -> Option<&'v str>,
    local: BTreeMap<String, String>,
    /// Variables that are holes although the script sets them.
    unsure: &'a BTreeSet<String>,
    /// Whether `${NAME:-default}` has its default if the variable has no value.
    has_defaults: bool,
    /// Whether a command that only sets variables is a command too.
    keeps_assignments: bool,
    words: usize,
    /// Remaining bytes for variables.
    room: &'a mut usize,
}

impl Expansion<'_, '_> {
    /// Expands the variables of a command; `None` if it only sets variables.
    fn command(&mut self, raw: Vec<Raw>) -> Option<Vec<ShellWord>> {
        let words: Vec<ShellWord> = raw.into_iter().flat_map(|word| self.word(word)).collect();
        let exported =
            words.first().is_some_and(|word| matches!(&*word.text, "export" | "local" | "declare" | "readonly"));
        let assignments = words.iter().skip(usize::from(exported)).take_while(|word| assignment(&word.text).is_some());
        let count = assignments.count();
        if count > 0 && (exported || count == words.len()) {
            for (name, value) in words.iter().filter_map(|word| assignment(&word.text)) {
                self.local.insert(name.to_owned(), value.to_owned());
            }
            return self.keeps_assignments.then_some(words);
        }
        self.words += words.len();
        (!words.is_empty()).then_some(words)
    }

    fn word(&mut self, raw: Raw) -> Vec<ShellWord> {
        let arguments = matches!(raw.parts.as_slice(), [Part::Arguments]);
        let blank = || ShellWord { text: String::new(), start: raw.start, end: raw.end, variable: None, arguments };
        let mut pieces = vec![blank()];
        // An unquoted `$EMPTY` is not a word, and `""` is one.
        let vanishes = raw.parts.iter().any(|part| matches!(part, Part::Variable { quoted: false, .. }));
        for part in raw.parts {
            let (text, quoted, name) = match part {
                Part::Text(text) => (text, true, None),
                Part::Hole { quoted } | Part::Status { quoted } => (HOLE.to_string(), quoted, None),
                Part::Arguments => (HOLE.to_string(), true, None),
                Part::Variable { name, default, quoted } => {
                    let default = default.filter(|_| self.has_defaults);
                    let local = self.local.get(&name).filter(|_| !self.unsure.contains(&name));
                    let value = local.map(String::as_str).or_else(|| (self.outer)(&name));
                    let value = value.filter(|value| !value.is_empty() || default.is_none());
                    let takes = |value: &str| {
                        (1 + value.split_ascii_whitespace().count()) * size_of::<ShellWord>() + value.len()
                    };
                    let value = match value {
                        Some(value) if *self.room == 0 || !spend(self.room, takes(value)) => None,
                        Some(value) => Some(value.to_owned()),
                        None => default,
                    };
                    (value.unwrap_or(HOLE.to_string()), quoted, Some(Arc::from(name)))
                }
            };
            let fields: Vec<&str> =
                if quoted { vec![&text] } else { text.split_ascii_whitespace().collect::<Vec<_>>() };
            for (index, field) in fields.into_iter().enumerate() {
                if index > 0 {
                    pieces.push(blank());
                }
                if let Some(piece) = pieces.last_mut() {
                    if piece.text.len() + field.len() > LONGEST_WORD {
                        piece.text.push(HOLE);
                    } else {
                        piece.text.push_str(field);
                    }
                    if name.is_some() {
                        piece.variable.clone_from(&name);
                    }
                }
            }
        }
        pieces.retain(|piece| !piece.text.is_empty() || !vanishes);
        pieces
    }
}

/// Spends bytes of the remaining ones. After too large a request, nothing remains.
pub(crate) fn spend(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(0);
    left.is_some()
}

/// Splits `NAME=value` into its two parts.
pub(crate) fn assignment(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, _)| is_name(name))
}

/// Words of a shell and programs that start another one. Each may precede the program of a command.
const BEFORE: [&str; 10] = ["sudo", "time", "exec", "env", "then", "do", "else", "if", "!", "command"];

/// Returns the place of the program among the words of a command. Assignments and `runners` may precede it, too.
pub(crate) fn program_at<'w>(words: impl IntoIterator<Item = &'w str>, runners: &[&str]) -> Option<usize> {
    let is_before = |word: &str| BEFORE.contains(&word) || runners.contains(&word) || assignment(word).is_some();
    words.into_iter().position(|word| !is_before(word))
}

/// Returns the name of a program without its folder and the marks of a recipe of make.
pub(crate) fn program_name(word: &str) -> &str {
    file_name(word.trim_start_matches(['@', '-', '+']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(script: &str) -> Vec<Vec<String>> {
        let outer = |name: &str| match name {
            "MODEL" => Some("org/name"),
            "EXTRA" => Some("--a 1  --b"),
            "EMPTY" => Some(""),
            _ => None,
        };
        let found = commands(script, &outer, &mut (1 << 20));
        found.into_iter().map(|words| words.into_iter().map(|word| word.text).collect()).collect()
    }

    #[test]
    fn quotes_and_continuations_make_words() {
        assert_eq!(
            split("vllm serve 'a b' \"c \\\" d\" \\\n  --x=\"1\"'2' \\ \n -y\nnext"),
            [vec!["vllm", "serve", "a b", "c \" d", "--x=12", "-y"], vec!["next"]]
        );
    }

    #[test]
    fn operators_end_commands_and_redirections_are_no_words() {
        assert_eq!(
            split("a 1 && b 2 || c; (d) | e >> log 2>&1 & f # g"),
            [vec!["a", "1"], vec!["b", "2"], vec!["c"], vec!["d"], vec!["e"], vec!["f"]]
        );
    }

    #[test]
    fn variables_come_from_around_and_from_the_script() {
        let hole = HOLE.to_string();
        assert_eq!(
            split("N=8; export M=$N\nrun $MODEL ${M}x \"$EXTRA\" $EXTRA ${NO:-d} $NO $EMPTY ${EMPTY:-e} $(x)"),
            [vec!["run", "org/name", "8x", "--a 1  --b", "--a", "1", "--b", "d", &hole, "e", &hole]]
        );
    }

    #[test]
    fn the_kubelet_expands_what_it_knows() {
        let variable = |name: &str| (name == "A").then_some("1");
        assert_eq!(expand_references("x$(A)y$(B)$$(A)$", &variable, &mut 8).0, format!("x1y{HOLE}$(A)$"));
        assert_eq!(cut_templates("a{{ x }}b${c}d{{", true), format!("a{HOLE}b{HOLE}d{HOLE}"));
    }

    #[test]
    fn hostile_text_ends() {
        for script in ["${", "\"", "'", "`", "$(", "\\", "<", "<<", "a=$a$a", "\u{FFFC}$", "<(", ">&"] {
            split(script);
        }
        let doubling: String = (0..64).map(|n| format!("v{}=$v{n}$v{n}\n", n + 1)).collect();
        assert!(split(&format!("v0=xxxxxxxx\n{doubling}run $v64"))[0][1].len() <= LONGEST_WORD + 64);
    }

    /// Marks without an end must not be searched repeatedly: that would read 400 GB.
    #[test]
    fn openings_without_an_end_are_passed_over_once() {
        const MANY: usize = 400_000;
        let mut room = usize::MAX;
        let open = "$(".repeat(MANY);
        assert_eq!(expand_references(&open, &|_| None, &mut room), (open.clone(), None));
        let (text, used) = expand_references("a$(B)$(c d)$(E", &|_| Some("x"), &mut room);
        assert_eq!((text.as_str(), used.as_deref()), ("ax$(c d)$(E", Some("B")));
        let holes = "{{a}}$".repeat(MANY);
        assert_eq!(cut_templates(&holes, true).chars().filter(|c| *c == HOLE).count(), MANY);
        assert_eq!(cut_templates("a{{b}}c${d}e{{f", true), "a\u{fffc}c\u{fffc}e\u{fffc}");
        assert_eq!(cut_templates("a${d}{{e}}", false), "a${d}\u{fffc}");
    }
}
