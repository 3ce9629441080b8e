//! Removes text that a script only prints: arguments of `echo` and `printf`, here-documents that `cat` shows to a
//! person, comments after commands.
//!
//! Lines keep their numbers. Nothing is removed from a part whose output goes to a file or another program, because
//! this part may be a script or a manifest.

use std::ops::Range;

use regex::Regex;

use crate::source::static_regex;

/// Words before the command of a line.
const BEFORE_COMMANDS: [&str; 10] = ["then", "do", "else", "{", ")", "if", "elif", "while", "!", "time"];
/// Commands that print their arguments.
const PRINTING: [&str; 2] = ["echo", "printf"];

/// Returns the script with spaces instead of text that it only prints.
pub(crate) fn without_printed(script: &str) -> String {
    let mut lexer = Lexer { text: script.as_bytes(), at: 0, printed: Vec::new(), waiting: Vec::new(), hands_on: false };
    lexer.run();
    if lexer.hands_on || functions_hand_on(script) {
        return script.to_owned();
    }
    let mut bytes = script.as_bytes().to_vec();
    for range in lexer.printed {
        for byte in bytes.get_mut(range).into_iter().flatten().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    }
    // Quotes and command borders are ASCII, so ranges end between characters.
    String::from_utf8(bytes).unwrap_or_else(|_| script.to_owned())
}

/// Returns true if something uses the output of a function in the script.
fn functions_hand_on(script: &str) -> bool {
    let names = FUNCTION.captures_iter(script).filter_map(|found| found.get(1));
    names.take(MOST_FUNCTIONS).any(|name| {
        script.match_indices(name.as_str()).any(|(at, _)| {
            let (before, behind) =
                (script.get(..at).unwrap_or_default(), script.get(at + name.len()..).unwrap_or_default());
            let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-')
                && !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '(');
            let line = behind.lines().next().unwrap_or_default();
            let is_taken = line.contains('|') && !line.contains("||") || is_redirected(line);
            is_word && (is_taken || before.trim_end().ends_with("$(") || before.ends_with('`'))
        })
    })
}

/// The limit on functions, above any real script.
const MOST_FUNCTIONS: usize = 200;

/// Returns true if a line writes to a file, which may be read again.
fn is_redirected(line: &str) -> bool {
    line.match_indices('>').any(|(at, _)| {
        let behind = line.get(at + 1..).unwrap_or_default().trim_start_matches('>').trim_start();
        !["&1", "&2", "/dev/null", "/dev/stderr", "/dev/tty"].iter().any(|it| behind.starts_with(it))
    })
}

static_regex!(static FUNCTION: Regex = r"(?m)^[ \t]*(?:function[ \t]+)?([A-Za-z_][\w-]*)[ \t]*\(\)");

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    printed: Vec<Range<usize>>,
    /// Here-documents whose text follows this line.
    waiting: Vec<HereDocument>,
    /// Whether the output of a group of commands, or of the whole script, goes elsewhere.
    hands_on: bool,
}

struct HereDocument {
    end: Vec<u8>,
    is_printed: bool,
}

/// A command up to its end.
#[derive(Default)]
struct Command {
    words: Vec<Vec<u8>>,
    /// Whether its output goes to a file.
    is_redirected: bool,
    /// Whether the command runs other commands for their output.
    substitutes: bool,
    /// Here-documents that it opens.
    documents: Vec<Vec<u8>>,
}

impl Command {
    /// Returns the program that it starts.
    fn program(&self) -> Option<&[u8]> {
        let is_before = |word: &&Vec<u8>| BEFORE_COMMANDS.iter().any(|it| it.as_bytes() == word.as_slice());
        self.words.iter().find(|word| !is_before(word)).map(Vec::as_slice)
    }

    fn prints(&self) -> bool {
        !self.is_redirected
            && !self.substitutes
            && self.program().is_some_and(|it| PRINTING.iter().any(|name| name.as_bytes() == it))
    }

    fn shows_documents(&self) -> bool {
        !self.is_redirected && self.program().is_some_and(|it| it == b"cat" || it == b":")
    }

    fn closes_group(&self) -> bool {
        let first = self.words.first().map_or(&b""[..], Vec::as_slice);
        [&b"}"[..], b"done", b"fi", b"esac", b")"].contains(&first)
    }
}

impl Lexer<'_> {
    fn run(&mut self) {
        while self.at < self.text.len() {
            self.command();
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn command(&mut self) {
        let start = self.at;
        let mut command = Command::default();
        let mut end;
        let is_piped = loop {
            end = self.at;
            match self.peek() {
                None => break false,
                Some(b'\n') => {
                    self.at += 1;
                    break false;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'#') => self.comment(),
                Some(b'|') if self.peek_at(1) == Some(b'|') => {
                    self.at += 2;
                    break false;
                }
                Some(b'|') => {
                    self.at += 1;
                    break true;
                }
                Some(b'&') if self.peek_at(1) == Some(b'>') => self.redirection(&mut command),
                Some(b';' | b'&' | b'(') => {
                    self.at += 1;
                    break false;
                }
                // The text after a closing bracket shows where the output of the group goes.
                Some(b')') => {
                    self.at += 1;
                    if command.words.is_empty() {
                        command.words.push(b")".to_vec());
                    } else {
                        self.at -= 1;
                        break false;
                    }
                }
                Some(b'<') if self.peek_at(1) == Some(b'<') && self.peek_at(2) != Some(b'<') => {
                    self.here_document(&mut command);
                }
                Some(b'<' | b'>') => self.redirection(&mut command),
                Some(digit) if digit.is_ascii_digit() && matches!(self.peek_at(1), Some(b'>')) => {
                    self.redirection(&mut command);
                }
                Some(_) => self.word(&mut command),
            }
        };
        let is_program = |name: &[u8]| command.program() == Some(name);
        if command.closes_group() && (is_piped || command.is_redirected) || is_program(b"exec") && command.is_redirected
        {
            self.hands_on = true;
        }
        if command.prints() && !is_piped {
            self.printed.push(start..end);
        }
        let is_printed = command.shows_documents() && !is_piped;
        let documents = std::mem::take(&mut command.documents);
        self.waiting.extend(documents.into_iter().map(|end| HereDocument { end, is_printed }));
        if self.at > 0 && self.text.get(self.at - 1) == Some(&b'\n') {
            self.documents();
        }
    }

    /// Skips a comment. Comments for Slurm at the start of a line count as commands.
    fn comment(&mut self) {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        if !rest.starts_with(b"#SBATCH") {
            self.printed.push(start..self.at);
        }
    }

    fn redirection(&mut self, command: &mut Command) {
        let is_of_errors = self.peek() == Some(b'2');
        let mut writes = false;
        while let Some(byte @ (b'<' | b'>' | b'&' | b'0'..=b'9')) = self.peek() {
            writes |= byte == b'>';
            self.at += 1;
        }
        let is_number = self.text.get(self.at - 1).is_some_and(u8::is_ascii_digit);
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut target = Command::default();
        if !is_number && !matches!(self.peek(), None | Some(b'\n' | b';' | b'|' | b'(' | b')')) {
            self.word(&mut target);
        }
        let name = target.words.first().map_or(&b""[..], Vec::as_slice);
        let is_shown = is_number || [&b"/dev/null"[..], b"/dev/stderr", b"/dev/tty"].contains(&name);
        command.is_redirected |= writes && !is_of_errors && !is_shown;
    }

    fn here_document(&mut self, command: &mut Command) {
        self.at += 2;
        while matches!(self.peek(), Some(b'-' | b' ' | b'\t')) {
            self.at += 1;
        }
        let mut end = Command::default();
        self.word(&mut end);
        command.documents.extend(end.words.pop());
    }

    fn documents(&mut self) {
        for document in std::mem::take(&mut self.waiting) {
            let start = self.at;
            let mut end = self.text.len();
            while self.at < self.text.len() {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let line = rest.get(..length).unwrap_or_default();
                let is_last = line.trim_ascii() == document.end.as_slice();
                let before = self.at;
                self.at = (self.at + length + 1).min(self.text.len());
                if is_last {
                    end = before;
                    break;
                }
            }
            let text = self.text.get(start..end).unwrap_or_default();
            if document.is_printed && !is_source(text) {
                self.printed.push(start..end);
            }
        }
    }

    fn word(&mut self, command: &mut Command) {
        let mut word = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b'(' | b')' | b'<' | b'>' => break,
                b'\\' => {
                    word.extend(self.peek_at(1));
                    self.at = (self.at + 2).min(self.text.len());
                }
                b'\'' => {
                    self.at += 1;
                    while let Some(inside) = self.peek().filter(|inside| *inside != b'\'') {
                        word.push(inside);
                        self.at += 1;
                    }
                    self.at = (self.at + 1).min(self.text.len());
                }
                b'"' => self.quoted(&mut word, command),
                b'`' => {
                    command.substitutes = true;
                    self.at += 1;
                }
                b'$' if self.peek_at(1) == Some(b'(') => self.substitution(command),
                other => {
                    word.push(other);
                    self.at += 1;
                }
            }
        }
        command.words.push(word);
    }

    fn quoted(&mut self, word: &mut Vec<u8>, command: &mut Command) {
        self.at += 1;
        while let Some(inside) = self.peek().filter(|inside| *inside != b'"') {
            match inside {
                b'\\' => {
                    word.extend(self.peek_at(1));
                    self.at = (self.at + 2).min(self.text.len());
                }
                b'$' if self.peek_at(1) == Some(b'(') => self.substitution(command),
                b'`' => {
                    command.substitutes = true;
                    self.at += 1;
                }
                other => {
                    word.push(other);
                    self.at += 1;
                }
            }
        }
        self.at = (self.at + 1).min(self.text.len());
    }

    /// Reads `$(…)`, whose commands run.
    fn substitution(&mut self, command: &mut Command) {
        command.substitutes = true;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' if depth <= 1 => return,
                b')' => depth -= 1,
                _ => {}
            }
        }
    }
}

/// Returns true if a text is a script or a manifest, whatever prints it.
fn is_source(text: &[u8]) -> bool {
    let is_start = |line: &[u8]| {
        let line = line.trim_ascii();
        [&b"#!"[..], b"#SBATCH", b"apiVersion:", b"{"].iter().any(|start| line.starts_with(start))
    };
    text.split(|byte| *byte == b'\n').any(is_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(script: &str) -> bool {
        without_printed(script).contains("srun")
    }

    #[test]
    fn what_a_script_prints_to_a_person_is_left_out() {
        for script in [
            "echo \"To test: srun --gres=gpu:1\"\n",
            "if true; then printf 'srun %s\\n' a >&2; fi\n",
            "cat <<EOF\n  srun --gres=gpu:1\nEOF\nls\n",
            "usage() {\n  cat >&2 <<-'END'\n\tsrun\n\tEND\n}\nusage\n",
            "ls # then srun\n",
            "echo first && echo 'a\nsrun\nb'\n",
            ": <<'NOTE'\nsrun\nNOTE\n",
            "x && echo srun || true\n",
            "case $1 in\n  -h) echo srun ;;\nesac\n",
        ] {
            assert!(!keeps(script), "{script}");
        }
    }

    #[test]
    fn what_runs_or_is_written_elsewhere_stays() {
        for script in [
            "srun --gres=gpu:1\n",
            "echo start; srun a\n",
            "echo \"$(srun a)\"\n",
            "echo `srun a`\n",
            "echo srun a | bash\n",
            "echo 'srun a' >> job.sh\n",
            "cat > job.sh <<EOF\nsrun a\nEOF\n",
            "cat <<EOF > job.sh\nsrun a\nEOF\n",
            "cat <<EOF | bash\nsrun a\nEOF\n",
            "bash <<EOF\nsrun a\nEOF\n",
            "cat <<EOF\n#!/bin/bash\nsrun a\nEOF\n",
            "{\n  echo srun a\n} > job.sh\n",
            "(echo srun a) | bash\n",
            "for i in 1 2; do\n echo srun $i\ndone | sh\n",
            "exec > job.sh\necho srun a\n",
            "job() {\n echo srun a\n}\njob | sbatch\n",
            "job() {\n echo srun a\n}\nX=$(job)\n",
            "eval \"srun a\"\n",
        ] {
            assert!(keeps(script), "{script}");
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let script = "echo 'a\nb'\ncat <<E\nü srun\nE\nsrun x\n";
        let rest = without_printed(script);
        assert_eq!(rest.lines().position(|line| line.contains("srun")), Some(5), "{rest:?}");
        assert_eq!(rest.len(), script.len());
    }
}
