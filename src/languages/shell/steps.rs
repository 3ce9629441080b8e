//! Splits a script into steps, each with the condition under which it runs.
//!
//! No branch is taken. A step after `||`, or in the branch of a failure, runs only on a failure. A step in a branch whose
//! test is unknown runs perhaps. A here-document is not a step: its step keeps it.

use std::ops::Range;

use super::{HOLE, Lexer, MOST_WORDS, Part, Raw};

/// When a step runs, from the surest to the least sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunsWhen {
    /// Whenever the script comes this far without a failure.
    Always,
    /// If an unknown test holds.
    Perhaps,
    OnFailure,
}

/// A command of a script.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The words. A variable remains as `$NAME`, and the output of a command is a hole.
    pub(crate) words: Vec<String>,
    pub(crate) when: RunsWhen,
    /// Whether a loop inside its function or script repeats it.
    pub(crate) repeats: bool,
    /// The function that contains it.
    pub(crate) function: Option<String>,
    /// A here-document of the command, and the files to which the command writes.
    pub(crate) document: Option<String>,
    pub(crate) targets: Vec<String>,
    /// The bytes of the step in the script.
    pub(crate) place: Range<usize>,
    /// The bytes of the commands whose output is part of its words: `$(…)`.
    pub(crate) substituted: Vec<Range<usize>>,
}

/// Returns the steps of a script in order.
pub(crate) fn steps(script: &str) -> Vec<Step> {
    let script = &script[..script.floor_char_boundary(super::LONGEST_SCRIPT)];
    let mut reader = StepReader { lexer: Lexer { text: script, at: 0 }, ..StepReader::default() };
    while reader.step() && reader.words_read < MOST_WORDS {}
    reader.steps
}

/// The operator before a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Joint {
    #[default]
    Next,
    IfSucceeded,
    IfFailed,
}

/// A construct that contains steps.
#[derive(Debug)]
enum Frame {
    Group(RunsWhen),
    Subshell(RunsWhen),
    Function(String),
    Loop(RunsWhen),
    Case,
    If {
        /// When the branch runs that is being read.
        branch: RunsWhen,
        /// When the first branch runs, and when the other one does.
        test: (RunsWhen, RunsWhen),
        reads_test: bool,
    },
}

#[derive(Default)]
struct StepReader<'a> {
    lexer: Lexer<'a>,
    steps: Vec<Step>,
    frames: Vec<Frame>,
    joint: Joint,
    /// The name of a function whose body follows.
    defines: Option<String>,
    /// The ends of here-documents whose text follows this line, with their steps.
    waiting: Vec<(String, usize)>,
    words_read: usize,
}

/// The words of a step while it is read.
#[derive(Default)]
struct OpenStep {
    words: Vec<String>,
    documents: Vec<String>,
    targets: Vec<String>,
    start: Option<usize>,
    end: usize,
    substituted: Vec<Range<usize>>,
}

impl StepReader<'_> {
    /// Reads one step. Returns false at the end of the script.
    fn step(&mut self) -> bool {
        let mut open = OpenStep::default();
        loop {
            let Some(c) = self.lexer.peek() else {
                self.close(open, Joint::Next);
                return false;
            };
            let follows = self.lexer.rest()[c.len_utf8()..].chars().next();
            match (c, follows) {
                (' ' | '\t' | '\r', _) => self.lexer.at += 1,
                ('\\', _) if self.lexer.continuation() => {}
                ('#', _) => self.lexer.comment(),
                ('&', Some('>')) | ('>', _) => self.redirection(&mut open),
                ('<', Some('<')) if !self.lexer.rest().starts_with("<<<") => self.here_document(&mut open),
                ('<', _) => self.redirection(&mut open),
                (c, _) if c.is_ascii_digit() && self.lexer.descriptor() => self.redirection(&mut open),
                ('(', _) if self.opens_bracket(&mut open) => {}
                ('\n' | ';' | '&' | '|' | '(' | ')', _) => {
                    self.separator(c, follows, open);
                    return true;
                }
                _ => self.word(&mut open),
            }
        }
    }

    fn word(&mut self, open: &mut OpenStep) {
        let raw = self.lexer.word();
        open.start.get_or_insert(raw.start);
        open.end = raw.end;
        if raw.parts.iter().any(|part| matches!(part, Part::Hole { .. })) {
            open.substituted.extend(substituted(self.lexer.text, raw.start..raw.end));
        }
        open.words.push(text_of(&raw));
        self.words_read += 1;
    }

    /// Ends a step at an operator.
    fn separator(&mut self, c: char, follows: Option<char>, open: OpenStep) {
        let is_double = follows == Some(c) && matches!(c, '&' | '|');
        self.lexer.at += if is_double { 2 } else { 1 };
        let joint = match c {
            '&' if is_double => Joint::IfSucceeded,
            '|' if is_double => Joint::IfFailed,
            _ => Joint::Next,
        };
        let is_pattern = c == ')' && !matches!(self.frames.last(), Some(Frame::Subshell(_)));
        if !is_pattern || open.words.first().is_some_and(|word| word == "case") {
            self.close(open, joint);
        }
        match c {
            '(' => {
                let when = self.joint_when();
                self.frames.push(Frame::Subshell(when));
                self.joint = Joint::Next;
            }
            ')' if !is_pattern => {
                self.frames.pop();
            }
            '\n' => self.documents(),
            _ => {}
        }
    }

    /// Skips the brackets of a function, a list or a calculation. False if the bracket opens a subshell.
    fn opens_bracket(&mut self, open: &mut OpenStep) -> bool {
        let inside = self.lexer.rest()[1..].trim_start_matches([' ', '\t']);
        if open.words.is_empty() && !inside.starts_with('(') {
            return false;
        }
        if open.words.len() == 1 && inside.starts_with(')') {
            self.defines = open.words.pop();
        }
        self.lexer.skip_parentheses();
        true
    }

    fn redirection(&mut self, open: &mut OpenStep) {
        let writes = self.lexer.peek() != Some('<');
        while matches!(self.lexer.peek(), Some('<' | '>' | '&')) {
            self.lexer.at += 1;
        }
        while matches!(self.lexer.peek(), Some(' ' | '\t')) {
            self.lexer.at += 1;
        }
        if !matches!(self.lexer.peek(), None | Some('\n' | ';' | '|' | '(' | ')' | '<' | '>' | '&')) {
            let target = text_of(&self.lexer.word());
            open.targets.extend(writes.then_some(target));
        }
    }

    fn here_document(&mut self, open: &mut OpenStep) {
        self.lexer.at += 2;
        while matches!(self.lexer.peek(), Some('-' | ' ' | '\t')) {
            self.lexer.at += 1;
        }
        open.documents.push(text_of(&self.lexer.word()));
    }

    /// Reads the here-documents of the line that ended.
    fn documents(&mut self) {
        for (end, step) in std::mem::take(&mut self.waiting) {
            let mut text = String::new();
            let script = self.lexer.text;
            while let Some(line) = script[self.lexer.at..].split_inclusive('\n').next() {
                self.lexer.at += line.len();
                if line.trim() == end {
                    break;
                }
                text.push_str(line);
            }
            if let Some(step) = self.steps.get_mut(step) {
                step.document = Some(text);
            }
        }
    }

    /// Adds a step, after its reserved words.
    fn close(&mut self, mut open: OpenStep, next: Joint) {
        if open.words.is_empty() {
            return;
        }
        self.reserved(&mut open.words);
        if !open.words.is_empty() {
            let when = self.when();
            let is_in = |frame: &&Frame| !matches!(frame, Frame::Function(_));
            let inside: Vec<&Frame> = self.frames.iter().rev().take_while(is_in).collect();
            let repeats = inside.iter().any(|frame| matches!(frame, Frame::Loop(_)));
            let function = self.frames.iter().rev().find_map(|frame| match frame {
                Frame::Function(name) => Some(name.clone()),
                _ => None,
            });
            let both = outcomes(&open.words);
            if let Some(Frame::If { test, reads_test: true, .. }) = self.frames.last_mut() {
                *test = (test.0.max(both.0), test.1.max(both.1));
            }
            let at = self.steps.len();
            self.waiting.extend(open.documents.into_iter().map(|end| (end, at)));
            let OpenStep { words, targets, start, end, substituted, .. } = open;
            let place = start.unwrap_or(end)..end;
            self.steps.push(Step { words, when, repeats, function, document: None, targets, place, substituted });
        }
        self.joint = next;
    }

    /// Returns when a step runs at this place of its function or script.
    fn when(&self) -> RunsWhen {
        let mut when = self.joint_when();
        for frame in self.frames.iter().rev() {
            when = when.max(match frame {
                Frame::Function(_) => break,
                Frame::Group(when) | Frame::Subshell(when) | Frame::Loop(when) => *when,
                Frame::Case => RunsWhen::Perhaps,
                Frame::If { branch, .. } => *branch,
            });
        }
        when
    }

    /// Returns when a step runs by its operator and the step before.
    fn joint_when(&self) -> RunsWhen {
        let Some(before) = self.steps.last() else { return RunsWhen::Always };
        let (then, otherwise) = outcomes(&before.words);
        match self.joint {
            Joint::Next => RunsWhen::Always,
            // In `test && a && b`, b runs perhaps. In `a || b && c`, c runs after a, too.
            Joint::IfSucceeded if before.when == RunsWhen::Perhaps => RunsWhen::Perhaps,
            Joint::IfSucceeded => then,
            Joint::IfFailed => otherwise,
        }
    }

    /// Opens and closes frames by the reserved words at the start of a step, and removes these.
    fn reserved(&mut self, words: &mut Vec<String>) {
        let unknown = (RunsWhen::Perhaps, RunsWhen::Perhaps);
        while let Some(first) = words.first().cloned() {
            let when = self.joint_when();
            match (&*first, self.frames.last_mut()) {
                ("if", _) => {
                    let (branch, test) = (RunsWhen::Always, (RunsWhen::Always, RunsWhen::Always));
                    self.frames.push(Frame::If { branch, test, reads_test: true });
                }
                ("elif", Some(Frame::If { branch, test, reads_test })) => {
                    (*branch, *test, *reads_test) = (RunsWhen::Always, unknown, true);
                }
                ("then", Some(Frame::If { branch, test, reads_test })) => {
                    (*branch, *reads_test) = (test.0, false);
                }
                ("else", Some(Frame::If { branch, test, .. })) => *branch = test.1,
                ("while" | "until", _) => self.frames.push(Frame::Loop(when)),
                ("for" | "select", _) => {
                    self.frames.push(Frame::Loop(when));
                    words.clear();
                }
                ("case", _) => {
                    self.frames.push(Frame::Case);
                    words.clear();
                }
                ("{", _) => {
                    let frame = self.defines.take().map_or(Frame::Group(when), Frame::Function);
                    self.frames.push(frame);
                }
                ("fi", Some(Frame::If { .. }))
                | ("done", Some(Frame::Loop(_)))
                | ("esac", Some(Frame::Case))
                | ("}", Some(Frame::Group(_) | Frame::Function(_))) => {
                    self.frames.pop();
                    words.clear();
                }
                ("function", _) if words.len() > 1 => self.defines = Some(words.remove(1)),
                ("do" | "time", _) => {}
                _ => return,
            }
            self.joint = Joint::Next;
            if !words.is_empty() {
                words.remove(0);
            }
        }
    }
}

/// Returns when a step runs that follows a success of this command, and one that follows its failure.
fn outcomes(words: &[String]) -> (RunsWhen, RunsWhen) {
    const TESTS: [&str; 10] = ["[", "[[", "((", "test", "grep", "pgrep", "command", "which", "id", "curl"];
    let is_negative = words.first().is_some_and(|word| word == "!");
    let words = words.get(usize::from(is_negative)..).unwrap_or_default();
    let is_test = words.first().is_some_and(|word| TESTS.contains(&word.as_str()));
    let has = |texts: &[&str]| words.iter().any(|word| texts.contains(&word.as_str()));
    let (then, otherwise) = match () {
        () if is_test && has(&["$?"]) && has(&["-eq", "=", "=="]) && has(&["0"]) => {
            (RunsWhen::Always, RunsWhen::OnFailure)
        }
        () if is_test && has(&["$?"]) && has(&["-ne", "-gt", "!="]) && has(&["0"]) => {
            (RunsWhen::OnFailure, RunsWhen::Always)
        }
        () if is_test => (RunsWhen::Perhaps, RunsWhen::Perhaps),
        () => (RunsWhen::Always, RunsWhen::OnFailure),
    };
    if is_negative { (otherwise, then) } else { (then, otherwise) }
}

/// Returns the bytes of each `$(…)` inside a word, without its brackets.
fn substituted(script: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let text = script.get(word.clone()).unwrap_or_default();
    let starts = text.match_indices("$(").map(|(at, _)| at + 2).filter(|at| !text[*at..].starts_with('('));
    let end = |start: usize| {
        let mut depth = 1_usize;
        text.bytes().enumerate().skip(start).find_map(|(at, byte)| {
            depth = match byte {
                b'(' => depth + 1,
                b')' => depth - 1,
                _ => depth,
            };
            (depth == 0).then_some(at)
        })
    };
    // The bytes of an inner substitution belong to the outer one.
    let mut all: Vec<Range<usize>> = Vec::new();
    for start in starts {
        if all.last().is_none_or(|last| last.end <= start + word.start)
            && let Some(end) = end(start)
        {
            all.push(word.start + start..word.start + end);
        }
    }
    all
}

/// Returns a word without the values of its variables.
fn text_of(raw: &Raw) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Variable { name, .. } => format!("${name}"),
        Part::Status { .. } => "$?".to_owned(),
        Part::Hole { .. } => HOLE.to_string(),
        Part::Arguments => "$@".to_owned(),
    };
    raw.parts.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns when the step `off` runs.
    fn off(script: &str) -> Vec<RunsWhen> {
        steps(script).iter().filter(|step| step.words.first().is_some_and(|it| it == "off")).map(|it| it.when).collect()
    }

    #[test]
    fn a_step_runs_by_its_operator_and_its_branch() {
        for script in [
            "train; off",
            "train && off",
            "train || true; off",
            "(train; off)",
            "{ train && off; } &",
            "if train; then off; fi",
            "if ! train; then echo no; else off; fi",
            "train\nif [ $? -eq 0 ]; then off; fi",
            "for i in 1 2; do train $i; done\noff",
            "while pgrep train; do sleep 9; done; off",
            "case $1 in a) x ;; (b|c) y ;; esac; off",
            "A=(1 2); off",
            "x=$((1 + 2))\noff",
            "exec > >(tee /var/log/a.log) 2>&1\noff",
        ] {
            assert_eq!(off(script), [RunsWhen::Always], "{script}");
        }
        for script in [
            "train || off",
            "train || { echo failed; off; }",
            "if ! train; then off; fi",
            "if train; then echo; else off; fi",
            "train\nif [[ $? -ne 0 ]]; then off; fi",
        ] {
            assert_eq!(off(script), [RunsWhen::OnFailure], "{script}");
        }
        for script in ["[ -n \"$OFF\" ] && off", "if [ $A = b ]; then off; fi", "case $1 in a) off ;; esac"] {
            assert_eq!(off(script), [RunsWhen::Perhaps], "{script}");
        }
        assert_eq!(off("echo 'a; off' # off\ncat <<E\noff\nE\n"), []);
    }

    #[test]
    fn steps_know_their_function_their_loop_and_their_document() {
        let all = steps("f() {\n off\n}\nfunction g { off; }\nwhile a; do b; done\ncat > /x/run.sh <<'E'\nc\nE\nd");
        let of = |name: &str| all.iter().find(|it| it.words == [name]).unwrap();
        assert_eq!(all.iter().filter_map(|it| it.function.as_deref()).collect::<Vec<_>>(), ["f", "g"]);
        assert!(of("b").repeats && !of("d").repeats);
        let cat = of("cat");
        assert_eq!((cat.document.as_deref(), cat.targets.as_slice()), (Some("c\n"), &["/x/run.sh".to_owned()][..]));
    }

    #[test]
    fn hostile_scripts_end() {
        for script in ["(", ")", "{", "}", "fi", "if", "case", "a() b", "((", "<<", "<<E", ">", "&>", "function", "é("]
        {
            steps(&script.repeat(1000));
        }
    }
}
