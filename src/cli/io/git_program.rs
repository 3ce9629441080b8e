//! Starts git and reads its answers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::started::{Started, read};
use super::{deadline, git_files, programs, serving};
use crate::cli::Failure;

/// The time limit of git. Listing the largest known repositories takes seconds.
const LONGEST: Duration = Duration::from_secs(120);
const MOMENT: Duration = Duration::from_secs(1);
/// The most bytes of git's error output that are read.
const MOST_COMPLAINTS: u64 = 64 << 10;

/// Settings that keep git from starting programs that a repository chooses. The command line overrides the
/// settings of the repository. A bare repository inside a checkout is treated as a folder.
const HARDENED: [&str; 5] = [
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=:",
    "log.showSignature=false",
];

/// The same protection as environment variables. They disable replace references and grafts, which change the
/// reviewed history.
const HARDENED_ENVIRONMENT: [(&str, &str); 8] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// Options that keep a fetch from doing anything else.
const ONLY_FETCHING: [&str; 5] = [
    "fetch.recurseSubmodules=false",
    "fetch.bundleURI=",
    "submodule.recurse=false",
    "maintenance.auto=false",
    "gc.auto=0",
];

/// Protocols that start no program that the server chooses.
const PROTOCOLS: &str = "https:ssh:file";

/// Returns a git command for an untrusted repository. It uses no network, prompts or locks, and starts no program of
/// its settings.
pub(super) fn git(repository: &Path) -> Result<Command, Failure> {
    let mut command = hardened(repository, &[])?;
    command.env("GIT_ALLOW_PROTOCOL", "none");
    Ok(command)
}

/// Returns a git command that fetches another repository into an empty one, with the user's credentials and proxies.
pub(in crate::cli) fn fetching(repository: &Path) -> Result<Command, Failure> {
    let mut command = hardened(repository, &ONLY_FETCHING)?;
    command.args(["-c", "fetch.fsckObjects=true"]);
    for name in ["GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"] {
        command.env_remove(name);
    }
    Ok(over_network(command))
}

/// Returns a git command that connects to the origin of an untrusted repository. The repository's settings choose the
/// address and the headers but start no program: credential helpers come from the user's settings, and ssh from
/// `GIT_SSH_COMMAND`.
pub(super) fn asking_origin(repository: &Path) -> Result<Command, Failure> {
    let mut command = hardened(repository, &ONLY_FETCHING)?;
    // An empty helper removes all earlier ones.
    command.args(["-c", "credential.helper="]);
    for setting in helpers_of_user(repository)? {
        command.arg("-c").arg(setting);
    }
    if std::env::var_os("GIT_SSH_COMMAND").is_none() && std::env::var_os("GIT_SSH").is_none() {
        command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
    }
    Ok(over_network(command))
}

/// Returns the user's credential helpers as command line settings.
fn helpers_of_user(repository: &Path) -> Result<Vec<String>, Failure> {
    let mut helpers = Vec::new();
    for scope in ["--system", "--global"] {
        let listed = run(repository, &["config", scope, "--null", "--get-regexp", r"^credential\..*helper$"])?;
        let settings = listed.stdout.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        // Each setting is the key, a line end, and the value.
        helpers.extend(settings.map(|it| String::from_utf8_lossy(it).replacen('\n', "=", 1)));
    }
    Ok(helpers)
}

fn over_network(mut command: Command) -> Command {
    for (name, value) in
        [("GIT_ALLOW_PROTOCOL", PROTOCOLS), ("GIT_HTTP_LOW_SPEED_LIMIT", "1000"), ("GIT_HTTP_LOW_SPEED_TIME", "60")]
    {
        command.env(name, value);
    }
    command
}

fn hardened(repository: &Path, settings: &[&str]) -> Result<Command, Failure> {
    let mut command = program(repository)?;
    // Git must not fall back from a broken repository to the one around it.
    if let Some(around) = repository.parent() {
        command.env("GIT_CEILING_DIRECTORIES", around);
    }
    command.arg("-C").arg(repository);
    for setting in HARDENED.iter().chain(settings) {
        command.args(["-c", setting]);
    }
    forget_repository(&mut command);
    command.envs(HARDENED_ENVIRONMENT);
    Ok(command)
}

fn program(repository: &Path) -> Result<Command, Failure> {
    if serving::folder().is_some() {
        return Err(Failure::new("a server does not start git"));
    }
    let program = programs::find("git", repository)
        .ok_or_else(|| not_started("no absolute directory of PATH outside this repository contains git"))?;
    Ok(Command::new(program))
}

/// Returns the index of a hook: `git commit FILE` gives its hooks a separate index in the directory of the repository.
pub(super) fn index_of_hook(repository: &Path) -> Option<PathBuf> {
    let index = repository.join(std::env::var_os("GIT_INDEX_FILE")?).canonicalize().ok()?;
    let directory = repository.join(".git").canonicalize().ok()?;
    (index.is_file() && index.starts_with(directory)).then_some(index)
}

/// Removes the variables with which a hook names its own repository.
fn forget_repository(command: &mut Command) {
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
        command.env_remove(name);
    }
}

pub(super) fn run(repository: &Path, arguments: &[&str]) -> Result<Output, Failure> {
    run_on(repository, arguments, None)
}

/// Uses another index than that of the repository, if one is given.
pub(super) fn run_on(repository: &Path, arguments: &[&str], index: Option<PathBuf>) -> Result<Output, Failure> {
    if let Some(odd) = git_files::odd(repository) {
        return Err(Failure::new(format!("gpulint does not start git: `{}` is not a regular file", odd.display())));
    }
    let mut command = git(repository)?;
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    command.args(arguments);
    finish(command, arguments)
}

/// Runs git within the time limit.
pub(super) fn finish(mut command: Command, arguments: &[&str]) -> Result<Output, Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
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

/// Returns the single line that git prints, if it succeeds.
pub(in crate::cli) fn ask(repository: &Path, arguments: &[&str]) -> Result<Option<String>, Failure> {
    let answer = answer(repository, arguments)?;
    Ok(answer.map(|answer| first_line(&answer)).filter(|line| !line.is_empty()))
}

/// Returns the output of git, if it succeeds.
pub(in crate::cli) fn answer(repository: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, Failure> {
    let output = run(repository, arguments)?;
    if !output.status.success() {
        return match first_line(&output.stderr) {
            refusal if refusal.contains("dubious ownership") || refusal.contains("not a git repository") => {
                Err(Failure::new(format!("git rejects this repository: {refusal}")))
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

/// Whether the string is a full commit id.
pub(in crate::cli) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
