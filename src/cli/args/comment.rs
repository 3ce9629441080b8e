//! `gpulint comment`.

use std::path::PathBuf;

use clap::Args;

use super::output::page_url;
use crate::forge::{CodeHost, Mode, Tag};
use crate::report::Head;

#[derive(Debug, Args)]
pub(in crate::cli) struct Comment {
    /// The code host: github, gitlab, bitbucket, azure or gitea
    #[arg(value_parser = host)]
    pub(in crate::cli) host: CodeHost,
    /// What `gpulint diff --format json` or `check --format json` wrote: the comment is made for this host; `-` for standard
    /// input
    #[arg(long, value_name = "FILE", required_unless_present = "body", conflicts_with = "body")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// The comment itself, as Markdown; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) body: Option<PathBuf>,
    /// Where the whole report is as a page: a line at the end links it
    #[arg(long, value_name = "URL", value_parser = page_url)]
    pub(in crate::cli) page: Option<Head>,
    /// Put notes with a button on changed lines for which a finding knows what to write
    #[arg(long, requires = "report")]
    pub(in crate::cli) review: bool,
    /// Where the paths of the report start, from the root of the repository [default: the running directory]
    #[arg(long, value_name = "DIR", requires = "report")]
    pub(in crate::cli) directory: Option<String>,
    /// The repository: owner/name, project/repository on Azure [default: the one of this build]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) repo: Option<String>,
    /// The number of the pull request [default: the one of this build]
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) pull_request: Option<u64>,
    /// The commit that the report is about [default: the head of the pull request]
    #[arg(long, value_name = "SHA")]
    pub(in crate::cli) commit: Option<String>,
    /// Address of the host's interface [default: the one of this build]
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) api: Option<String>,
    /// Tells the comments of several reports on one pull request apart
    #[arg(long, default_value = "default", value_parser = Tag::new)]
    pub(in crate::cli) tag: Tag,
    /// What becomes of an earlier comment: update, new, delete-and-new or hide-and-new
    #[arg(long, default_value = "update", value_parser = mode)]
    pub(in crate::cli) mode: Mode,
    /// Bring an earlier comment up to date, but write no first one
    #[arg(long)]
    pub(in crate::cli) only_if_present: bool,
    /// A file that holds the token; otherwise it comes from the environment
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) token_file: Option<PathBuf>,
    /// The file that gets the report where the token may not comment [default: the summary of this job]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) summary: Option<PathBuf>,
    /// Send the token over http:// to a host that has no https
    #[arg(long)]
    pub(in crate::cli) allow_plain_http: bool,
    /// Print the comment and where it would go; send nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

fn host(name: &str) -> Result<CodeHost, String> {
    CodeHost::from_name(name).ok_or_else(|| format!("the hosts are {}", CodeHost::ALL.map(CodeHost::name).join(", ")))
}

fn mode(name: &str) -> Result<Mode, String> {
    Mode::from_name(name).ok_or_else(|| format!("the modes are {}", Mode::ALL.map(Mode::name).join(", ")))
}
