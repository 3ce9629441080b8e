//! git as a program: how it is started, and what it answers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::started::{Started, read};
use super::{deadline, git_files, programs, serving};
use crate::cli::Failure;

/// Listing the largest known repositories takes seconds.
const LONGEST: Duration = Duration::from_secs(120);
const MOMENT: Duration = Duration::from_secs(1);
/// How much of what git complains is read.
const MOST_COMPLAINTS: u64 = 64 << 10;

/// git as it may be run on a repository that is not trusted: no network, no prompt, no lock, no program of its settings.
pub(super) fn git(repository: &Path) -> Result<Command, Failure> {
    let mut command = program(repository)?;
    // A repository that is broken must not be taken for the one around it.
    if let Some(around) = repository.parent() {
        command.env("GIT_CEILING_DIRECTORIES", around);
    }
    command.arg("-C").arg(repository).args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath="]);
    forget_repository(&mut command);
    for (name, value) in [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("LC_ALL", "C"),
    ] {
        command.env(name, value);
    }
    Ok(command)
}

/// git as it fetches another repository into an empty one: with the user's own credentials and proxies, over protocols that
/// start no program of the other side's choice, without hooks and submodules.
pub(in crate::cli) fn fetching(repository: &Path) -> Result<Command, Failure> {
    let mut command = program(repository)?;
    command.arg("-C").arg(repository);
    for setting in [
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "fetch.fsckObjects=true",
        "fetch.recurseSubmodules=false",
        "fetch.bundleURI=",
        "submodule.recurse=false",
        "maintenance.auto=false",
        "gc.auto=0",
    ] {
        command.args(["-c", setting]);
    }
    forget_repository(&mut command);
    for name in ["GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"] {
        command.env_remove(name);
    }
    for (name, value) in [
        ("GIT_ALLOW_PROTOCOL", "https:ssh:file"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_HTTP_LOW_SPEED_LIMIT", "1000"),
        ("GIT_HTTP_LOW_SPEED_TIME", "60"),
        ("LC_ALL", "C"),
    ] {
        command.env(name, value);
    }
    Ok(command)
}

fn program(repository: &Path) -> Result<Command, Failure> {
    if serving::folder().is_some() {
        return Err(Failure::new("git is not started for whoever asks a server"));
    }
    let program = programs::find("git", repository).ok_or_else(|| {
        not_started("it is in no absolute directory of the search path that lies outside of this repository")
    })?;
    Ok(Command::new(program))
}

/// `git commit FILE` gives its hooks an index of their own, in the directory of the repository.
pub(super) fn index_of_hook(repository: &Path) -> Option<PathBuf> {
    let index = repository.join(std::env::var_os("GIT_INDEX_FILE")?).canonicalize().ok()?;
    let directory = repository.join(".git").canonicalize().ok()?;
    (index.is_file() && index.starts_with(directory)).then_some(index)
}

/// A hook tells its programs which repository it runs in; they must not take it for the one that is meant.
fn forget_repository(command: &mut Command) {
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
        command.env_remove(name);
    }
}

pub(super) fn run(repository: &Path, arguments: &[&str]) -> Result<Output, Failure> {
    run_on(repository, arguments, None)
}

/// With another index than the repository's own, where there is one.
pub(super) fn run_on(repository: &Path, arguments: &[&str], index: Option<PathBuf>) -> Result<Output, Failure> {
    if let Some(odd) = git_files::odd(repository) {
        return Err(Failure::new(format!("git is not asked: `{}` is no regular file", odd.display())));
    }
    let mut command = git(repository)?;
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = Started::start(&mut command).map_err(not_started)?;
    let printed = read(started.child.stdout.take(), u64::MAX);
    let complaints = read(started.child.stderr.take(), MOST_COMPLAINTS);
    let time = LONGEST.min(deadline::left());
    let end = Instant::now() + time;
    let stuck = || Failure::new(format!("git {} did not end within {} seconds", arguments.join(" "), time.as_secs()));
    let stdout = printed.recv_timeout(time).map_err(|_| stuck())?;
    let status = started.wait_until(end).map_err(not_started)?.ok_or_else(stuck)?;
    Ok(Output { status, stdout, stderr: complaints.recv_timeout(MOMENT).unwrap_or_default() })
}

/// The one line that git answers, if it has an answer.
pub(in crate::cli) fn ask(repository: &Path, arguments: &[&str]) -> Result<Option<String>, Failure> {
    let answer = answer(repository, arguments)?;
    Ok(answer.map(|answer| first_line(&answer)).filter(|line| !line.is_empty()))
}

/// What git answers, if it has an answer.
pub(in crate::cli) fn answer(repository: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, Failure> {
    let output = run(repository, arguments)?;
    if !output.status.success() {
        return match first_line(&output.stderr) {
            refusal if refusal.contains("dubious ownership") || refusal.contains("not a git repository") => {
                Err(Failure::new(format!("git refuses this repository: {refusal}")))
            }
            _ => Ok(None),
        };
    }
    Ok(Some(output.stdout))
}

pub(super) fn first_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned()
}

pub(super) fn not_started(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("git cannot be started: {error}"))
        .with_help("install git, or compare with a directory: --base-dir DIR")
}

/// The id of a commit in full.
pub(in crate::cli) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
