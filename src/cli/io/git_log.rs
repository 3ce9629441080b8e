//! Reads the commits of a branch with their subjects and tags.

use std::collections::HashMap;
use std::path::Path;

use super::git_program::{answer, ask, first_line, is_commit, run};
use crate::cli::Failure;

/// The length to which subjects and names are cut.
pub(in crate::cli) const LONGEST_TEXT: usize = 400;

/// The length to which messages are cut. The part that code hosts write is shorter.
const LONGEST_MESSAGE: usize = 8_000;

/// The most commits in one command line.
const MOST_NAMED: usize = 500;

/// A commit in the chain of first parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct LoggedCommit {
    pub(in crate::cli) id: String,
    pub(in crate::cli) tree: String,
    pub(in crate::cli) parents: Vec<String>,
    /// The commit time in seconds since 1970, by the committer's clock.
    pub(in crate::cli) committed: i64,
    pub(in crate::cli) author: String,
    pub(in crate::cli) subject: String,
}

/// Fields end with a zero byte, which none of them can hold.
const FORMAT: &str = "--format=tformat:%H%x00%T%x00%P%x00%ct%x00%aN%x00%s";
const FIELDS: usize = 6;

/// The most commits that are read. Known infrastructure repositories have fewer.
pub(in crate::cli) const MOST_COMMITS: usize = 200_000;

/// Returns the commits by first parents, from oldest to newest: the states of the branch itself. If there are more than
/// the limit, returns the newest.
pub(in crate::cli) fn first_parents(repository: &Path, newest: &str) -> Result<Vec<LoggedCommit>, Failure> {
    let most = format!("--max-count={MOST_COMMITS}");
    let mut all = logged(repository, &["--first-parent", &most, newest])?;
    all.reverse();
    Ok(all)
}

/// Returns commits by their ids.
pub(in crate::cli) fn named(repository: &Path, ids: &[&str]) -> Result<Vec<LoggedCommit>, Failure> {
    let mut all = Vec::new();
    for some in ids.chunks(MOST_NAMED) {
        let arguments: Vec<&str> = std::iter::once("--no-walk").chain(some.iter().copied()).collect();
        all.extend(logged(repository, &arguments)?);
    }
    Ok(all)
}

/// Returns the commits of a branch by first parents that another commit does not contain, the oldest first.
pub(in crate::cli) fn of_branch(
    repository: &Path,
    tip: &str,
    without: &str,
    most: usize,
) -> Result<Vec<LoggedCommit>, Failure> {
    let most = format!("--max-count={most}");
    let mut all = logged(repository, &["--first-parent", &most, tip, &format!("^{without}")])?;
    all.reverse();
    Ok(all)
}

/// Returns the full messages of commits by id.
pub(in crate::cli) fn messages(repository: &Path, ids: &[&str]) -> Result<Vec<(String, String)>, Failure> {
    let mut all = Vec::new();
    for some in ids.chunks(MOST_NAMED) {
        let which: Vec<&str> = std::iter::once("--no-walk").chain(some.iter().copied()).collect();
        let fields = fields(repository, "--format=tformat:%H%x00%B", &which)?;
        let mut fields = fields.split('\0');
        while let (Some(id), Some(message)) = (fields.next(), fields.next()) {
            all.push((id.to_owned(), message.chars().take(LONGEST_MESSAGE).collect()));
        }
    }
    Ok(all)
}

fn logged(repository: &Path, which: &[&str]) -> Result<Vec<LoggedCommit>, Failure> {
    let text = fields(repository, FORMAT, which)?;
    let fields: Vec<&str> = text.split('\0').collect();
    let commits = fields.chunks_exact(FIELDS).map(commit).collect::<Option<Vec<LoggedCommit>>>();
    commits.ok_or_else(|| Failure::new("git did not print a list of commits"))
}

/// Returns the fields of a format for some commits.
fn fields(repository: &Path, format: &str, which: &[&str]) -> Result<String, Failure> {
    // A repository could configure a program that checks signatures, so this is disabled.
    let mut arguments = vec!["log", "-z", "--no-show-signature", "--no-color", "--encoding=UTF-8", "-s", format];
    arguments.extend(which);
    arguments.push("--");
    let output = run(repository, &arguments)?;
    if !output.status.success() {
        return Err(Failure::new(format!("git cannot list the commits: {}", first_line(&output.stderr))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn commit(fields: &[&str]) -> Option<LoggedCommit> {
    let [id, tree, parents, committed, author, subject] = fields else { return None };
    let cut = |text: &str| text.chars().take(LONGEST_TEXT).collect();
    (is_commit(id) && is_commit(tree)).then_some(())?;
    Some(LoggedCommit {
        id: (*id).to_owned(),
        tree: (*tree).to_owned(),
        parents: parents.split(' ').filter(|it| is_commit(it)).map(str::to_owned).collect(),
        committed: committed.parse().ok()?,
        author: cut(author),
        subject: cut(subject),
    })
}

/// Returns the sorted names of tags by commit.
pub(in crate::cli) fn tags(repository: &Path) -> Result<HashMap<String, Vec<String>>, Failure> {
    let format = "--format=%(objectname) %(*objectname) %(refname:lstrip=2)";
    let listed = answer(repository, &["for-each-ref", format, "refs/tags"])?.unwrap_or_default();
    let mut tags: HashMap<String, Vec<String>> = HashMap::new();
    for line in String::from_utf8_lossy(&listed).lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(own), Some(peeled), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
        let commit = if peeled.is_empty() { own } else { peeled };
        tags.entry(commit.to_owned()).or_default().push(name.chars().take(LONGEST_TEXT).collect());
    }
    tags.values_mut().for_each(|names| names.sort());
    Ok(tags)
}

/// Whether this clone is shallow.
pub(in crate::cli) fn is_shallow(repository: &Path) -> Result<bool, Failure> {
    Ok(ask(repository, &["rev-parse", "--is-shallow-repository"])?.as_deref() == Some("true"))
}

/// Returns the newest commit, or `None` if there is no commit yet.
pub(in crate::cli) fn newest(repository: &Path) -> Result<Option<String>, Failure> {
    let found = ask(repository, &["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"])?;
    Ok(found.filter(|id| is_commit(id)))
}
