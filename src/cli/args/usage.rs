//! `gpulint usage`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::input::Input;
use super::output::Output;
use crate::source::Date;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum UsageVerb {
    /// Print every request for a server of metrics, for curl, promtool or a proxy that signs
    Queries(UsageQueries),
    /// Write gpulint-usage.csv from saved answers of Prometheus, clouds and other tools
    Import(UsageImport),
    /// Ask a Prometheus API itself and write gpulint-usage.csv (opens connections)
    Fetch(Box<UsageFetch>),
    /// Rows of what was paid, out of a bill in the columns of FOCUS; or a query that makes them elsewhere
    Bill(UsageBill),
    /// What was measured of what, by which name, and what matched nothing, both ways
    Show(Box<UsageShow>),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UsageShow {
    /// The columns that a row may hold, instead
    #[arg(long)]
    pub(in crate::cli) columns: bool,
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

/// The days that are asked for.
#[derive(Debug, Args)]
pub(in crate::cli) struct Window {
    /// Whole days, in UTC
    #[arg(long, value_name = "DAYS", default_value_t = 14, value_parser = clap::value_parser!(u16).range(1..=92))]
    pub(in crate::cli) days: u16,
    /// The day behind the last one [default: today, so that yesterday is the last]
    #[arg(long, value_name = "DATE")]
    pub(in crate::cli) to: Option<Date>,
    /// The label that tells clusters apart, and the value of the one that is meant: cluster=prod
    #[arg(long, value_name = "LABEL=VALUE", value_parser = label)]
    pub(in crate::cli) cluster_label: Option<(String, String)>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UsageQueries {
    #[command(flatten)]
    pub(in crate::cli) window: Window,
    /// Only what these exporters say; may be given several times or with commas [default: all]
    #[arg(long = "only", value_name = "EXPORTER", value_delimiter = ',', value_parser = exporter)]
    pub(in crate::cli) exporters: Vec<String>,
    /// text: name, method, path and body between tabs; json: for programs
    #[arg(long, value_enum, default_value_t)]
    pub(in crate::cli) format: QueriesFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum QueriesFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 written, 2 bad usage or bad input, 3 nothing was measured, 4 something is missing."
)]
pub(in crate::cli) struct UsageImport {
    /// Saved answers, or directories of them
    #[arg(required = true, value_name = "DIR|FILE")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Where the rows go
    #[arg(short, long, value_name = "FILE", default_value = crate::measured::row::FILE_NAME)]
    pub(in crate::cli) output: PathBuf,
    /// What the cluster is called; where answers tell of several, the one that is meant
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) cluster: Option<String>,
    /// Write what there is although something is missing; coverage shows how much
    #[arg(long)]
    pub(in crate::cli) allow_partial: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 written, 2 bad usage, or a file that is no bill, 3 nothing was paid for accelerators, 4 rows could \
                        not be read.\n\nWhat is written holds negotiated prices: keep it out of public repositories."
)]
pub(in crate::cli) struct UsageBill {
    /// Bills in the columns of FOCUS 1.0 to 1.3, as CSV, also packed by gzip; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["sql", "columns"], conflicts_with = "sql")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Where the rows go, usually gpulint-paid.csv [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// A tag by which is kept what has no name; may be given several times [default: team, project]
    #[arg(long = "tag", value_name = "KEY")]
    pub(in crate::cli) tags: Vec<String>,
    /// Write what there is although rows could not be read
    #[arg(long)]
    pub(in crate::cli) allow_partial: bool,
    /// The day by which a month has ended [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(in crate::cli) today: Option<Date>,
    /// Print a query that makes the rows where the bill lies, instead
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(in crate::cli) sql: Option<BillSource>,
    /// The columns that a row may hold, instead
    #[arg(long, conflicts_with_all = ["paths", "sql"])]
    pub(in crate::cli) columns: bool,
}

/// Where a bill lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum BillSource {
    /// AWS's cost and usage report 2.0, in Athena
    Aws,
    /// Google's detailed export, in BigQuery
    Gcp,
    /// Azure's amortised cost export, by DuckDB
    Azure,
    /// FOCUS in Parquet, by DuckDB
    Duckdb,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 written, 2 bad usage or a server that refuses, 3 nothing was measured, 4 something is \
                        missing.\n\nA token comes from --token-file or GPULINT_PROMETHEUS_TOKEN, never from a flag."
)]
pub(in crate::cli) struct UsageFetch {
    /// Where the API is: https://HOST[/PREFIX], without /api/v1
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) prometheus: String,
    #[command(flatten)]
    pub(in crate::cli) window: Window,
    /// What the cluster is called, where the series of the server do not say it
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) cluster: Option<String>,
    /// A header for every request, such as X-Scope-OrgID=team; no secrets: they belong into the token
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = header)]
    pub(in crate::cli) headers: Vec<(String, String)>,
    /// A file whose first line is the bearer token
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) token_file: Option<PathBuf>,
    /// Where the rows go
    #[arg(short, long, value_name = "FILE", default_value = crate::measured::row::FILE_NAME)]
    pub(in crate::cli) output: PathBuf,
    /// Write what there is although something is missing; coverage shows how much
    #[arg(long)]
    pub(in crate::cli) allow_partial: bool,
    /// Send a token over http:// to another machine
    #[arg(long)]
    pub(in crate::cli) allow_plain_http: bool,
    /// Seconds that one answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 150)]
    pub(in crate::cli) timeout: u64,
}

fn header(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    let pair = text.split_once('=').filter(|(name, _)| is_name(name));
    // The value is not repeated: somebody may have put a secret there.
    let (name, value) = pair.ok_or_else(|| "expected NAME=VALUE".to_owned())?;
    match ["authorization", "cookie", "host"].contains(&name.to_ascii_lowercase().as_str()) {
        true => Err("a secret does not belong on the command line: use --token-file".to_owned()),
        false => Ok((name.to_owned(), value.to_owned())),
    }
}

fn exporter(name: &str) -> Result<String, String> {
    let known = crate::usage::exporters();
    match known.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("expected one of {}", known.join(", "))),
    }
}

fn label(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        let plain = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        plain && name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
    };
    let pair = text.split_once('=').filter(|(name, value)| is_name(name) && !value.is_empty());
    pair.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| "expected LABEL=VALUE".to_owned())
}
