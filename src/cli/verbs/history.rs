//! `gpulint history`: the cost at each commit, and which commits raised or lowered it.

use std::path::PathBuf;

use crate::cli::args::{Commits, FailOnChoice, HistoryArguments, InputArguments, Selection};
use crate::cli::io::{git_log, output, place};
use crate::cli::session::Session;
use crate::cli::session::gate::gate;
use crate::cli::session::history::{HistoryRequest, digest_of, read};
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format};

pub(in crate::cli) fn run(arguments: &HistoryArguments) -> Result<ExitStatus, Failure> {
    let Some(history) = over_commits(&arguments.input, &arguments.selection, &arguments.commits)? else {
        return Ok(empty(&arguments.input));
    };
    let history = report::CostHistory { title: arguments.output.title.clone(), ..history };
    output::write(&arguments.output, Format::Text, |format, style| {
        report::history(format, &history, arguments.view.style(style))
    })?;
    Ok(ExitStatus::Passed)
}

/// Reports that the repository has no commit yet.
pub(in crate::cli) fn empty(input: &InputArguments) -> ExitStatus {
    output::complain("nothing was checked: the repository has no commit yet");
    if input.allow_empty { ExitStatus::Passed } else { ExitStatus::Empty }
}

/// Returns the history of the named paths, or `None` if the repository has no commit yet.
pub(in crate::cli) fn over_commits(
    input: &InputArguments,
    selection: &Selection,
    commits: &Commits,
) -> Result<Option<report::CostHistory>, Failure> {
    if input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(
            Failure::new("standard input has no history").with_help("pass files or directories of a git repository")
        );
    }
    let repository = repository(input)?;
    let Some(newest) = git_log::newest(&repository)? else { return Ok(None) };
    let with_policy = InputArguments { policy_ref: policy(input, &newest), ..input.clone() };
    let session = Session::rules_only(&with_policy, selection)?;
    if session.renders() {
        return Err(Failure::new("gpulint renders earlier commits only with its built-in renderer")
            .with_help("leave out --render, and remove `render` from gpulint.toml"));
    }
    if session.scope.root != repository {
        return Err(Failure::new("the given paths are not all in one git repository")
            .with_help("run the command in a git repository, and pass only paths inside it"));
    }
    session.demand_rules()?;
    let request = HistoryRequest {
        session: &session,
        gate: &gate(&FailOnChoice::default(), &session.policy),
        newest: &newest,
        since: commits.since.map(|since| since.day(session.policy.today)),
        every: commits.every,
        most: usize::try_from(commits.points).unwrap_or(usize::MAX),
        asked: asked(input, selection),
        settings_of: settings_of(input, with_policy.policy_ref.as_deref()),
    };
    read(&request).map(Some)
}

/// Returns the repository that contains all named paths.
fn repository(input: &InputArguments) -> Result<PathBuf, Failure> {
    let here = [PathBuf::from(".")];
    let named = if input.paths.is_empty() { &here[..] } else { &input.paths };
    let mut found: Option<PathBuf> = None;
    for path in named {
        let real = place::canonical(path)?;
        let around = place::repository(&real).map(std::path::Path::to_owned);
        let Some(around) = around.filter(|it| found.as_ref().is_none_or(|other| other == it)) else {
            return Err(Failure::new("the given paths are not all in one git repository")
                .with_help("run the command in a git repository, and pass only paths inside it"));
        };
        found = Some(around);
    }
    found.ok_or_else(|| Failure::new("this is not a git repository").with_help("run the command in a git repository"))
}

/// Returns the newest commit as the source of settings, rules and prices, unless the user chose another source.
fn policy(input: &InputArguments, newest: &str) -> Option<String> {
    let is_elsewhere = input.no_config || input.config.is_some();
    input.policy_ref.clone().or_else(|| (!is_elsewhere).then(|| newest.to_owned()))
}

fn settings_of(input: &InputArguments, policy: Option<&str>) -> String {
    match (policy, &input.config) {
        (Some(commit), _) => format!("those of {}", commit.get(..10).filter(|_| commit.len() >= 40).unwrap_or(commit)),
        (None, Some(file)) => format!("those of {}", file.display()),
        (None, None) => "none".to_owned(),
    }
}

/// Returns a key of the command line and the files that it names. Cached points apply only to the same key.
fn asked(input: &InputArguments, selection: &Selection) -> String {
    let InputArguments { config, prices, variable_files, .. } = input;
    let named = config.iter().chain(prices).chain(variable_files);
    let digests: Vec<String> = named.map(|path| digest_of(path)).collect();
    format!("{input:?} {selection:?} {digests:?}")
}
