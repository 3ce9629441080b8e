//! Arguments of `gpulint comment`.

use std::path::PathBuf;

use clap::Args;

use super::output::page_url;
use crate::forge::{CodeHost, Mode, Tag};
use crate::report::ReviewCommit;

#[derive(Debug, Args)]
pub(in crate::cli) struct CommentArguments {
    /// Code host: github, gitlab, bitbucket, azure or gitea
    #[arg(value_parser = host)]
    pub(in crate::cli) host: CodeHost,
    /// Write the comment from this output of `gpulint diff --format json` or `gpulint check --format json`; `-` reads
    /// standard input
    #[arg(long, value_name = "FILE", required_unless_present = "body", conflicts_with = "body")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Post this Markdown file as the comment; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) body: Option<PathBuf>,
    /// Link the full report at this address at the end of the comment
    #[arg(long, value_name = "URL", value_parser = page_url)]
    pub(in crate::cli) page: Option<ReviewCommit>,
    /// Add a review note with a suggested edit to each changed line for which a finding has a fix
    #[arg(long, requires = "report")]
    pub(in crate::cli) review: bool,
    /// Resolve the report's paths from this directory of the repository [default: the current directory]
    #[arg(long, value_name = "DIR", requires = "report")]
    pub(in crate::cli) directory: Option<String>,
    /// Post to this repository: owner/name, on Azure project/repository [default: the repository of this build]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) repo: Option<String>,
    /// Post to the pull request with this number [default: the pull request of this build]
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) pull_request: Option<u64>,
    /// Name this commit as the one that the report evaluates [default: the head of the pull request]
    #[arg(long, value_name = "SHA")]
    pub(in crate::cli) commit: Option<String>,
    /// Use this address of the code host's API [default: the address of this build]
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) api: Option<String>,
    /// Mark the comment with this tag, so that several reports can comment on one pull request
    #[arg(long, default_value = "default", value_parser = Tag::new)]
    pub(in crate::cli) tag: Tag,
    /// Choose what happens to an earlier comment: update, new, delete-and-new or hide-and-new
    #[arg(long, default_value = "update", value_parser = mode)]
    pub(in crate::cli) mode: Mode,
    /// Update an earlier comment, but never create the first one
    #[arg(long)]
    pub(in crate::cli) only_if_present: bool,
    /// Read the token from this file [default: the token in the environment]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) token_file: Option<PathBuf>,
    /// Write the report to this file if the token may not comment [default: the summary of this job]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) summary: Option<PathBuf>,
    /// Allow sending the token over http:// to a host without https
    #[arg(long)]
    pub(in crate::cli) allow_plain_http: bool,
    /// Print the comment and its destination, and send nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

fn host(name: &str) -> Result<CodeHost, String> {
    CodeHost::from_name(name).ok_or_else(|| format!("expected one of {}", CodeHost::ALL.map(CodeHost::name).join(", ")))
}

fn mode(name: &str) -> Result<Mode, String> {
    Mode::from_name(name).ok_or_else(|| format!("expected one of {}", Mode::ALL.map(Mode::name).join(", ")))
}
