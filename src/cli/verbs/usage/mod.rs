//! `gpulint usage`: queries for metrics servers, and conversion of answers and bills into rows.

mod bill;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::args::{QueriesFormat, UsageFetch, UsageImport, UsageQueries, UsageShow, UsageVerb, Window};
use crate::cli::io::network::{self, SystemClock};
use crate::cli::io::{ci, clock, output};
use crate::cli::session::{Session, prices};
use crate::cli::{ExitStatus, Failure};
use crate::http::{Credential, HttpSettings, Secret};
use crate::measured::row;
use crate::report::{self, Format};
use crate::source::Date;
use crate::usage::{self, Metering, UsageReport, UsageWindow};

/// The largest saved answer. One day of a thousand accelerators has about 6 MiB.
const LONGEST_BYTES: u64 = 128 << 20;
/// The largest size of all saved answers together.
const MOST_BYTES: u64 = 1 << 30;
/// The longest token. A signed token with many groups has about ten thousand bytes.
const LONGEST_TOKEN: u64 = 64 << 10;
const MOST_FILES: usize = 20_000;

pub(in crate::cli) fn run(verb: &UsageVerb) -> Result<ExitStatus, Failure> {
    match verb {
        UsageVerb::Queries(arguments) => queries(arguments),
        UsageVerb::Import(arguments) => import(arguments),
        UsageVerb::Show(arguments) => show(arguments),
        UsageVerb::Fetch(arguments) => fetch(arguments),
        UsageVerb::Bill(arguments) => bill::run(arguments),
    }
}

fn show(arguments: &UsageShow) -> Result<ExitStatus, Failure> {
    if arguments.columns {
        output::print_exact(&report::usage_columns())?;
        return Ok(ExitStatus::Passed);
    }
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let found = session.report(&analysis, &[]);
    output::write(&arguments.output, Format::Text, |format, _| report::usage(format, &found))?;
    Ok(session.outcome(&analysis))
}

fn queries(arguments: &UsageQueries) -> Result<ExitStatus, Failure> {
    let requests = usage::queries(&window(&arguments.window)?, &arguments.exporters);
    output::print_exact(&match arguments.format {
        QueriesFormat::Text => usage::as_text(&requests),
        QueriesFormat::Json => usage::as_json(&requests),
    })?;
    Ok(ExitStatus::Passed)
}

fn window(window: &Window) -> Result<UsageWindow, Failure> {
    let to = window.to.map_or_else(clock::today, Ok)?;
    let from = Date::from_unix_days(to.unix_days() - i64::from(window.days));
    let from = from.ok_or_else(|| Failure::new("the first day is before the earliest date that gpulint supports"))?;
    Ok(UsageWindow { from, to, cluster: window.cluster_label.clone() })
}

fn import(arguments: &UsageImport) -> Result<ExitStatus, Failure> {
    let mut files = Vec::new();
    let mut left = MOST_BYTES;
    for path in files_of(&arguments.paths)? {
        let text = small_file(&path, left.min(LONGEST_BYTES))?;
        left -= text.len() as u64;
        files.push((path.display().to_string(), text));
    }
    let (catalog, _) = prices::catalog(None)?;
    let done = usage::import(&files, &catalog, arguments.cluster.as_deref()).map_err(Failure::new)?;
    for (what, count) in &done.taken {
        output::complain(&format!("{count} read as {what}"));
    }
    written(&done.report, &arguments.output, arguments.allow_partial)
}

/// The variable that holds a token.
const TOKEN: &str = "GPULINT_PROMETHEUS_TOKEN";

fn fetch(arguments: &UsageFetch) -> Result<ExitStatus, Failure> {
    let window = window(&arguments.window)?;
    let token = token(arguments)?;
    let http = HttpSettings {
        timeout: Duration::from_secs(arguments.timeout),
        max_reply_bytes: LONGEST_BYTES,
        max_total_bytes: MOST_BYTES,
        attempts: 3,
        // Without a token, plain http reveals no secret.
        allow_plain_http: arguments.allow_plain_http || token.is_none(),
        headers: arguments.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value.clone()))).collect(),
        ..network::settings(&ci::process_variable)
    };
    let metering = Metering {
        address: &arguments.prometheus,
        credential: token.map_or(Credential::Anonymous, Credential::Bearer),
        http,
        clock: &SystemClock,
    };
    let (catalog, _) = prices::catalog(None)?;
    let mut done = usage::fetch(&metering, &window, &catalog).map_err(|error| Failure::new(error.message))?;
    if let Some(cluster) = &arguments.cluster {
        done.report
            .rows
            .iter_mut()
            .filter(|row| row.cluster.is_empty())
            .for_each(|row| row.cluster.clone_from(cluster));
    }
    output::complain(&format!("{} requests, {:.1} MiB", done.requests, done.bytes as f64 / f64::from(1 << 20)));
    written(&done.report, &arguments.output, arguments.allow_partial)
}

fn token(arguments: &UsageFetch) -> Result<Option<Secret>, Failure> {
    let text = match &arguments.token_file {
        Some(path) => String::from_utf8_lossy(&small_file(path, LONGEST_TOKEN)?).into_owned(),
        None => ci::process_variable(TOKEN).unwrap_or_default(),
    };
    let line = text.lines().next().unwrap_or_default().trim();
    match (line.is_empty(), &arguments.token_file) {
        (true, Some(path)) => Err(Failure::new(format!("the first line of `{}` contains no token", path.display()))),
        (true, None) => Ok(None),
        (false, _) => Ok(Some(Secret::new(line))),
    }
}

/// Returns the files sorted by name.
fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let unreadable = |error: std::io::Error| Failure::new(format!("`{}` cannot be read: {error}", path.display()));
        if !fs::metadata(path).map_err(unreadable)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        for entry in fs::read_dir(path).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            if file.is_file() && file.extension().is_some_and(|it| it == "json") {
                files.push(file);
            }
            if files.len() > MOST_FILES {
                return Err(Failure::new(format!("the directories have more than {MOST_FILES} files"))
                    .with_help("import fewer files at a time"));
            }
        }
    }
    files.sort();
    files.dedup();
    match files.is_empty() {
        true => {
            Err(Failure::new("no saved answers found")
                .with_help("pass files, or a directory with files that end in .json"))
        }
        false => Ok(files),
    }
}

fn small_file(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let unreadable = |why: String| Failure::new(format!("`{}` cannot be read: {why}", path.display()));
    let file = fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    match bytes.len() as u64 > most {
        true => Err(unreadable(format!("this file, or all files together, have more than {} MiB", most >> 20))),
        false => Ok(bytes),
    }
}

/// Writes the rows and a summary. Writes nothing if there are no rows, or if measurements are missing.
fn written(report: &UsageReport, path: &Path, allow_partial: bool) -> Result<ExitStatus, Failure> {
    for note in &report.notes {
        output::complain(&format!("note: {note}"));
    }
    for what in &report.incomplete {
        output::complain(&format!("incomplete: {what}"));
    }
    if !report.has_measured() {
        output::complain("no measurements of accelerators found: no file written");
        return Ok(ExitStatus::Empty);
    }
    if !report.incomplete.is_empty() && !allow_partial {
        output::complain(
            "no file written; to write it anyway, add --allow-partial: the column `coverage` shows how many hours were measured",
        );
        return Ok(ExitStatus::Incomplete);
    }
    output::save(path, &row::write(&report.rows))?;
    let told = format!("{} rows in {}{}", report.rows.len(), path.display(), hours(report));
    output::complain(&told);
    Ok(ExitStatus::Passed)
}

fn hours(report: &UsageReport) -> String {
    let [all, held, nobody] = report.hours;
    match all > 0.0 {
        true => format!(": {all:.1} accelerator hours, {held:.1} allocated to workloads, {nobody:.1} unallocated"),
        false => String::new(),
    }
}
