//! Arguments of `gpulint usage`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::input::InputArguments;
use super::output::Output;
use crate::source::Date;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum UsageVerb {
    /// Print every request to a metrics server, for curl, promtool or a signing proxy
    Queries(UsageQueries),
    /// Write gpulint-usage.csv from saved answers of Prometheus, clouds and other tools
    Import(UsageImport),
    /// Query a Prometheus API and write gpulint-usage.csv (opens network connections)
    Fetch(Box<UsageFetch>),
    /// Extract accelerator charges from a FOCUS bill, or print a query that does so
    Bill(UsageBill),
    /// Show which measurement matches which resource, and what matches nothing on either side
    Show(Box<UsageShow>),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UsageShow {
    /// Print the columns of gpulint-usage.csv instead
    #[arg(long)]
    pub(in crate::cli) columns: bool,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

/// The days to query.
#[derive(Debug, Args)]
pub(in crate::cli) struct Window {
    /// Query this many whole days, in UTC
    #[arg(long, value_name = "DAYS", default_value_t = 14, value_parser = clap::value_parser!(u16).range(1..=92))]
    pub(in crate::cli) days: u16,
    /// End date, exclusive [default: today, so that yesterday is the last day]
    #[arg(long, value_name = "DATE")]
    pub(in crate::cli) to: Option<Date>,
    /// Query only the cluster with this label and value, such as cluster=prod
    #[arg(long, value_name = "LABEL=VALUE", value_parser = label)]
    pub(in crate::cli) cluster_label: Option<(String, String)>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UsageQueries {
    #[command(flatten)]
    pub(in crate::cli) window: Window,
    /// Query only the metrics of these exporters; repeatable, or separated by commas [default: all]
    #[arg(long = "only", value_name = "EXPORTER", value_delimiter = ',', value_parser = exporter)]
    pub(in crate::cli) exporters: Vec<String>,
    /// Print name, method, path and body separated by tabs (text), or JSON (json)
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
    after_help = "Exit codes: 0 written, 2 wrong usage or input, 3 no measurements found, 4 measurements are missing."
)]
pub(in crate::cli) struct UsageImport {
    /// Saved answers, or directories with saved answers
    #[arg(required = true, value_name = "DIR|FILE")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Write the rows to this file
    #[arg(short, long, value_name = "FILE", default_value = crate::measured::row::FILE_NAME)]
    pub(in crate::cli) output: PathBuf,
    /// Set the name of the cluster; if the answers contain several clusters, use only this one
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) cluster: Option<String>,
    /// Write the file even if measurements are missing; the column `coverage` shows how many hours were measured
    #[arg(long)]
    pub(in crate::cli) allow_partial: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 written, 2 wrong usage or a file that is not a bill, 3 no charges for accelerators found, 4 some rows \
                        could not be read.\n\nThe output contains negotiated prices: keep it out of public repositories."
)]
pub(in crate::cli) struct UsageBill {
    /// Bills with the columns of FOCUS 1.0 to 1.3, as CSV, plain or gzip; `-` reads standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["sql", "columns"], conflicts_with = "sql")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Write the rows to this file, usually gpulint-paid.csv [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Keep this tag of resources without a name; repeatable [default: team, project]
    #[arg(long = "tag", value_name = "KEY")]
    pub(in crate::cli) tags: Vec<String>,
    /// Write the rows even if some rows of the bill could not be read
    #[arg(long)]
    pub(in crate::cli) allow_partial: bool,
    /// Decide as of this day which months have ended [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(in crate::cli) today: Option<Date>,
    /// Print a query instead that extracts the rows where the bill is stored
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(in crate::cli) sql: Option<BillSource>,
    /// Print the columns of gpulint-paid.csv instead
    #[arg(long, conflicts_with_all = ["paths", "sql"])]
    pub(in crate::cli) columns: bool,
}

/// The place where a bill is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum BillSource {
    /// AWS Cost and Usage Report 2.0, in Athena
    Aws,
    /// Google Cloud's detailed billing export, in BigQuery
    Gcp,
    /// Azure's amortized cost export, with DuckDB
    Azure,
    /// FOCUS in Parquet, with DuckDB
    Duckdb,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 written, 2 wrong usage or the server refuses, 3 no measurements found, 4 measurements are \
                        missing.\n\nPass a token with --token-file or in GPULINT_PROMETHEUS_TOKEN; no option accepts the token itself."
)]
pub(in crate::cli) struct UsageFetch {
    /// Query the API at this address: https://HOST[/PREFIX], without /api/v1
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) prometheus: String,
    #[command(flatten)]
    pub(in crate::cli) window: Window,
    /// Set the name of the cluster, if the server's series do not contain it
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) cluster: Option<String>,
    /// Send this header with every request, such as X-Scope-OrgID=team; pass secrets in the token instead
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = header)]
    pub(in crate::cli) headers: Vec<(String, String)>,
    /// Read the bearer token from the first line of this file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) token_file: Option<PathBuf>,
    /// Write the rows to this file
    #[arg(short, long, value_name = "FILE", default_value = crate::measured::row::FILE_NAME)]
    pub(in crate::cli) output: PathBuf,
    /// Write the file even if measurements are missing; the column `coverage` shows how many hours were measured
    #[arg(long)]
    pub(in crate::cli) allow_partial: bool,
    /// Allow sending the token over http:// to another machine
    #[arg(long)]
    pub(in crate::cli) allow_plain_http: bool,
    /// Allow this many seconds for one answer
    #[arg(long, value_name = "SECONDS", default_value_t = 150)]
    pub(in crate::cli) timeout: u64,
}

fn header(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    let pair = text.split_once('=').filter(|(name, _)| is_name(name));
    // The message does not repeat the value, because it may be a secret.
    let (name, value) = pair.ok_or_else(|| "expected NAME=VALUE".to_owned())?;
    match ["authorization", "cookie", "host"].contains(&name.to_ascii_lowercase().as_str()) {
        true => {
            Err("this header can contain a secret, and secrets do not belong on the command line: use --token-file"
                .to_owned())
        }
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
