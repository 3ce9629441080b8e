//! Compares many pairs of trees with one git process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::git_program::{git, index_of_hook, is_commit, not_started, run_on};
use crate::cli::Failure;
use crate::source::named;

/// A line that is not a pair of trees. Git echoes it, and flushes its output before.
const END: &str = "end";

/// A path that differs in the second of two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct ChangedPath {
    pub(in crate::cli) path: String,
    /// Whether the first tree contains the path, too.
    pub(in crate::cli) was_there: bool,
    /// Whether the path is or was a link.
    pub(in crate::cli) is_link: bool,
    /// Whether the path is or was a submodule.
    pub(in crate::cli) is_submodule: bool,
    /// Mode and id in the second tree, or `None` if the path was removed.
    pub(in crate::cli) now: Option<(String, String)>,
}

/// A running `git diff-tree --stdin`, which compares one pair of trees after the other.
pub(in crate::cli) struct GitChanges {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl GitChanges {
    pub(in crate::cli) fn start(repository: &Path) -> Result<GitChanges, Failure> {
        let mut command = git(repository)?;
        command.args(["diff-tree", "--stdin", "--raw", "-r", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff"]);
        command.args(["--no-textconv", "--ignore-submodules=none", "-O/dev/null"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(not_started)?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(questions), Some(answers)) => Ok(GitChanges { process, questions, answers: BufReader::new(answers) }),
            _ => Err(Failure::new("git could not be connected")),
        }
    }

    /// Returns the changes from one tree to another.
    pub(in crate::cli) fn between(&mut self, before: &str, after: &str) -> Result<Vec<ChangedPath>, Failure> {
        let broken = |error: std::io::Error| Failure::new(format!("git diff-tree: {error}"));
        let asked = writeln!(self.questions, "{before} {after}\n{END}").and_then(|()| self.questions.flush());
        asked.map_err(broken)?;
        let mut changes = Vec::new();
        loop {
            let first = self.answers.fill_buf().map_err(broken)?.first().copied();
            match first {
                Some(b':') => {
                    let (about, path) = (self.piece(b'\0')?, self.piece(b'\0')?);
                    let changed = change(&about, path);
                    changes.push(changed.ok_or_else(|| Failure::new("git diff-tree printed unexpected output"))?);
                }
                Some(_) if self.piece(b'\n')? == END => return Ok(changes),
                Some(_) => {}
                None => return Err(Failure::new("git diff-tree ended: this clone lacks the files of a commit")),
            }
        }
    }

    fn piece(&mut self, end: u8) -> Result<String, Failure> {
        let mut piece = Vec::new();
        let read = self.answers.read_until(end, &mut piece);
        read.map_err(|error| Failure::new(format!("git diff-tree: {error}")))?;
        piece.pop();
        Ok(named(&piece).into_owned())
    }
}

/// Returns the changes from the index to a commit. Returns `None` if the index contains a conflict, or the output of
/// git is unexpected. Then the caller lists the whole commit.
pub(super) fn of_index(repository: &Path, commit: &str) -> Result<Option<Vec<ChangedPath>>, Failure> {
    // An intent-to-add entry has a name but no content, in the index, too.
    let ask = ["diff-index", "--cached", "-R", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff"];
    let how = ["--no-textconv", "--ignore-submodules=none", "--ita-visible-in-index", "-O/dev/null", commit, "--"];
    let answer = run_on(repository, &[&ask[..], &how].concat(), index_of_hook(repository))?;
    if !answer.status.success() {
        return Ok(None);
    }
    let mut pieces = answer.stdout.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    let mut changes = Vec::new();
    while let Some(about) = pieces.next() {
        let about = String::from_utf8_lossy(about);
        let Some(path) = pieces.next().filter(|_| !about.ends_with('U')) else { return Ok(None) };
        let Some(change) = change(&about, named(path).into_owned()) else { return Ok(None) };
        changes.push(change);
    }
    Ok(Some(changes))
}

/// Parses a change such as `:100644 100644 <id> <id> M`.
fn change(about: &str, path: String) -> Option<ChangedPath> {
    let mut words = about.strip_prefix(':')?.split(' ');
    let (old_mode, mode, _, id) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_there = |mode: &str| mode != "000000";
    let now = is_there(mode).then(|| (mode.to_owned(), id.to_owned()));
    let any = |wanted: &str| [old_mode, mode].contains(&wanted);
    let (is_link, is_submodule) = (any("120000"), any("160000"));
    (is_commit(id) && !path.is_empty()).then_some(ChangedPath {
        path,
        was_there: is_there(old_mode),
        is_link,
        is_submodule,
        now,
    })
}

impl Drop for GitChanges {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
