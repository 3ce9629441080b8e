//! `gpulint comment`: posts a finished report to a pull request.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::args::CommentArguments;
use crate::cli::io::ci;
use crate::cli::io::ci::{CiVariables, Surroundings};
use crate::cli::io::network;
use crate::cli::io::network::SystemClock;
use crate::cli::io::{output, place, secrets};
use crate::cli::{ExitStatus, Failure};
use crate::forge::{self, CodeHost, CommentTarget, LineNote, Reviewed, Wire};
use crate::http::{Credential, HttpSettings, Secret};
use crate::report::{self, CommentLimits, Note, Saved};
use crate::rules::Rules;
use crate::source::normalize;

/// The longest comment that is read. Every code host accepts less.
const LONGEST_BODY_BYTES: u64 = 4 << 20;

/// The longest report that is read. A report with tens of thousands of resources fits.
const LONGEST_REPORT_BYTES: u64 = 256 << 20;

pub(in crate::cli) fn run(arguments: &CommentArguments) -> Result<ExitStatus, Failure> {
    let environment: CiVariables = &ci::process_variable;
    let PreparedComment { body, is_quiet, notes } = prepare(arguments)?;
    let found = ci::surroundings(arguments.host, environment, event(environment).as_ref());
    let mut comment = forge::ForgeComment {
        body,
        tag: arguments.tag.clone(),
        mode: arguments.mode,
        only_if_present: arguments.only_if_present || is_quiet,
    };
    let settings = HttpSettings { allow_plain_http: arguments.allow_plain_http, ..network::settings(environment) };
    let wire = Wire { settings, clock: &SystemClock };
    let addressee = target(arguments, found, &wire)?;
    if let Addressee::Known(target) = &addressee {
        comment.body = secrets::hidden(comment.body, &target.credential);
    }
    let outcome = match &addressee {
        Addressee::Known(target) if arguments.dry_run => return preview(target, &comment),
        Addressee::Known(target) => forge::upsert(target, &comment, &wire).map_err(failed)?,
        Addressee::Unreachable { reason } => forge::CommentOutcome::JobSummary { reason: reason.clone() },
    };
    let summary = arguments.summary.clone().or_else(|| environment("GITHUB_STEP_SUMMARY").map(PathBuf::from));
    report_comment(&outcome, &comment.body, summary.as_deref())?;
    if let Addressee::Known(target) = &addressee
        && arguments.review
        && !matches!(outcome, forge::CommentOutcome::JobSummary { .. } | forge::CommentOutcome::Superseded { .. })
    {
        let notes: Vec<LineNote> = notes.into_iter().map(|it| line_note(it, arguments, &target.credential)).collect();
        report_review(&forge::review(target, &arguments.tag, &notes, &wire).map_err(failed)?);
    }
    Ok(ExitStatus::Passed)
}

/// The comment in the form that the code host accepts.
struct PreparedComment {
    body: String,
    /// Whether the report contains nothing that justifies a first comment.
    is_quiet: bool,
    notes: Vec<Note>,
}

fn prepare(arguments: &CommentArguments) -> Result<PreparedComment, Failure> {
    let page = arguments.page.as_ref().map(report::page_link);
    let page_characters = page.as_ref().map_or(0, |page| page.chars().count() + 2);
    let mut prepared = match &arguments.report {
        Some(file) => of_report(arguments, file, page_characters)?,
        None => {
            let file = arguments.body.as_deref().unwrap_or(Path::new("-"));
            PreparedComment { body: text(file, LONGEST_BODY_BYTES)?, is_quiet: false, notes: Vec::new() }
        }
    };
    if let Some(page) = page {
        prepared.body = format!("{}\n\n{page}", prepared.body.trim_end());
    }
    Ok(prepared)
}

/// Returns the comment of a report, with space for the lines that are added to it.
fn of_report(arguments: &CommentArguments, file: &Path, taken: usize) -> Result<PreparedComment, Failure> {
    let text = text(file, LONGEST_REPORT_BYTES)?;
    let saved = report::saved(&text)
        .map_err(|why| Failure::new(format!("the report `{}` cannot be used: {why}", file.display())))?;
    let room = CommentLimits::new(arguments.host.longest_body(), arguments.host.has_folds()).without(taken);
    let rules = Rules::default();
    Ok(match saved {
        Saved::Check(state) => {
            let body = report::comment(&state.report(&rules), room);
            PreparedComment { body, is_quiet: false, notes: Vec::new() }
        }
        Saved::Difference(compared) => {
            let difference = compared.difference(&rules);
            PreparedComment {
                body: report::comment_on_change(&difference, room),
                is_quiet: difference.is_quiet(),
                notes: report::notes(&difference),
            }
        }
    })
}

fn line_note(note: Note, arguments: &CommentArguments, credential: &Credential) -> LineNote {
    let Note { suggestion, body, key } = note;
    let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let directory = arguments.directory.clone().unwrap_or_else(running_directory);
    let path = format!("{directory}/{}", suggestion.path);
    LineNote {
        path: normalize(&path).unwrap_or(suggestion.path),
        first_line: line(suggestion.first_line),
        last_line: line(suggestion.last_line),
        body: secrets::hidden(body, credential),
        replacement: Some(suggestion.replacement).filter(|text| is_presentable(text, credential)),
        key,
    }
}

/// Returns true if a suggestion contains no token, and no character that hides a part of a line from a reviewer.
fn is_presentable(text: &str, credential: &Credential) -> bool {
    report::harmless(text) == text && secrets::hidden(text.to_owned(), credential) == text
}

/// Returns the current directory relative to the root of its repository.
fn running_directory() -> String {
    let here = std::env::current_dir().and_then(|it| it.canonicalize()).unwrap_or_default();
    let below = place::repository(&here).and_then(|it| here.strip_prefix(it).ok());
    below.map(place::names_of).unwrap_or_default()
}

fn report_review(reviewed: &Reviewed) {
    let mut parts = vec![format!("{} review notes posted", reviewed.posted)];
    for (count, what) in [
        (reviewed.standing, "already exist"),
        (reviewed.elsewhere, "are for lines outside the change"),
        (reviewed.beyond_limit, "exceed the limit and are only in the comment"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if let Some(why) = &reviewed.refused {
        parts.push(format!("refused: {why}"));
    }
    output::complain(&parts.join("; "));
}

/// Whether the comment can be posted.
enum Addressee {
    Known(Box<CommentTarget>),
    Unreachable { reason: String },
}

fn target(arguments: &CommentArguments, found: Surroundings, wire: &Wire) -> Result<Addressee, Failure> {
    let host = arguments.host;
    let missing = |what: &str, option: &str| {
        Failure::new(format!("the environment does not name {what}")).with_help(format!("pass {option}"))
    };
    let credential = match (&arguments.token_file, found.credential) {
        (Some(file), _) => token_of(host, file)?,
        (None, Some(credential)) => credential,
        (None, None) if arguments.dry_run => Credential::Anonymous,
        (None, None) if found.from_fork => {
            return Ok(Addressee::Unreachable { reason: "a pull request from a fork gets no token".to_owned() });
        }
        (None, None) => {
            let message = format!("no token for {} is set", host.name());
            let help = format!("set {}, or pass --token-file FILE", ci::token_variables(host));
            return Err(Failure::new(message).with_help(help));
        }
    };
    let named = found.api.filter(|_| arguments.api.is_none());
    if let Some(why) = named.as_deref().and_then(|api| ci::stray_interface(host, &ci::process_variable, api)) {
        return Err(Failure::new(why).with_help("if this address is correct, pass it with --api"));
    }
    let mut target = CommentTarget {
        host,
        api: arguments.api.clone().or(named).ok_or_else(|| missing("the address of the host's API", "--api URL"))?,
        repository: arguments
            .repo
            .clone()
            .or(found.repository)
            .ok_or_else(|| missing("the repository", "--repo NAME"))?,
        number: 0,
        head: arguments.commit.clone().or(found.head),
        credential,
    };
    let number = match (arguments.pull_request.or(found.number), &found.source) {
        (Some(number), _) => Some(number),
        (None, Some((owner, branch))) if !arguments.dry_run => {
            forge::pull_request_from(&target, owner, branch, wire).map_err(failed)?
        }
        _ => None,
    };
    target.number = number.ok_or_else(|| missing("the pull request", "--pull-request NUMBER"))?;
    Ok(Addressee::Known(Box::new(target)))
}

fn failed(error: crate::http::Error) -> Failure {
    let failure = Failure::new(error.message.clone());
    match error.status() {
        Some(401) => failure.with_help("check that the token has not expired and belongs to this host"),
        Some(404) => failure.with_help("check --repo and --pull-request, and that the token can read the repository"),
        _ => failure,
    }
}

fn preview(target: &CommentTarget, comment: &forge::ForgeComment) -> Result<ExitStatus, Failure> {
    let mode = comment.mode.name();
    output::complain(&format!(
        "dry run: would {mode} the comment `{}` on {} {} #{}",
        comment.tag,
        target.host.name(),
        target.repository,
        target.number
    ));
    output::print_exact(&forge::preview(target, comment))?;
    Ok(ExitStatus::Passed)
}

fn report_comment(outcome: &forge::CommentOutcome, body: &str, summary: Option<&Path>) -> Result<(), Failure> {
    use forge::CommentOutcome as It;
    let place = |url: &Option<String>| url.as_ref().map(|url| format!(": {url}")).unwrap_or_default();
    let line = match outcome {
        It::Created { url } => format!("comment created{}", place(url)),
        It::Updated { url } => format!("comment updated{}", place(url)),
        It::Unchanged { url } => format!("comment unchanged{}", place(url)),
        It::NotNeeded => "no comment needed: nothing new to report".to_owned(),
        It::Superseded { head } => format!("comment unchanged: it reports on the newer commit {head}"),
        It::JobSummary { reason } => match summary {
            Some(file) => {
                append(file, body)?;
                format!("no comment: {reason}; the job summary has the report")
            }
            None => format!("no comment: {reason}"),
        },
    };
    output::complain(&line);
    Ok(())
}

fn append(file: &Path, body: &str) -> Result<(), Failure> {
    let failure = |error| Failure::new(format!("`{}` cannot be written: {error}", file.display()));
    let mut summary = OpenOptions::new().append(true).create(true).open(file).map_err(failure)?;
    summary.write_all(format!("{}\n", body.trim_end()).as_bytes()).map_err(failure)
}

fn text(path: &Path, most_bytes: u64) -> Result<String, Failure> {
    let failure =
        |error: std::io::Error| Failure::new(format!("the report `{}` cannot be read: {error}", path.display()));
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failure)?)
    };
    let mut text = String::new();
    source.take(most_bytes + 1).read_to_string(&mut text).map_err(failure)?;
    if text.len() as u64 > most_bytes {
        return Err(Failure::new(format!("the report `{}` is longer than {most_bytes} bytes", path.display())));
    }
    if text.trim().is_empty() {
        return Err(Failure::new(format!("the report `{}` is empty", path.display())));
    }
    Ok(text)
}

/// Reads the token from a file. No error message contains the file's content.
fn token_of(host: CodeHost, file: &Path) -> Result<Credential, Failure> {
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("the token file `{}` cannot be read: {error}", file.display())))?;
    let token = text.trim();
    if token.is_empty() {
        return Err(Failure::new(format!("the token file `{}` is empty", file.display())));
    }
    Ok(ci::credential(host, Secret::new(token), None, token.contains('.')))
}

/// Reads the event that started the build, from the file of the GitHub runner.
fn event(environment: CiVariables) -> Option<Value> {
    let text = fs::read(environment("GITHUB_EVENT_PATH")?).ok()?;
    serde_json::from_slice(&text).ok()
}
