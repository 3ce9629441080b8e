//! What the command line accepts: verbs, their flags, and the help of each.

mod accept;
mod ask;
mod base;
mod catalog;
mod check;
mod comment;
mod history;
mod input;
mod judging;
mod mcp;
mod output;
mod rules;
mod server;
mod usage;
mod what_if;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::languages::table::READ;
use crate::report::Format;

pub(super) use accept::{Accepting, BaselineVerb, SuppressionsVerb};
pub(super) use ask::{Fit, Price};
pub(super) use base::BaseCommit;
pub(super) use catalog::{CatalogVerb, Fetch, Show, Verify};
pub(super) use check::{Check, Cost, Diff, Explain, Inspect, Purchases, Reconcile, Render};
pub(super) use comment::Comment;
pub(super) use history::{Blame, Commits, History, Review, Since};
pub(super) use input::Input;
pub(super) use judging::{Selection, Threshold};
pub(super) use mcp::Mcp;
pub(super) use output::{Color, Output};
pub(super) use rules::{Config, Init, RulesVerb};
pub(super) use server::ServerOptions;
pub(super) use usage::{
    BillSource, QueriesFormat, UsageBill, UsageFetch, UsageImport, UsageQueries, UsageShow, UsageVerb, Window,
};
pub(super) use what_if::WhatIf;

#[derive(Debug, Parser)]
#[command(about = format!("Finds wasted GPU money in {READ} before it is deployed"))]
#[command(name = "gpulint", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = after_help())]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
    #[command(flatten)]
    pub(super) check: Check,
}

/// What people do first, what reports may be, and how a run ends.
fn after_help() -> String {
    let formats: Vec<String> = Format::ALL.iter().map(|it| format!("  {:<10}{}", it.name(), it.meaning())).collect();
    format!(
        "First steps:\n  gpulint                               what this repository wastes\n  \
         gpulint cost                          what it costs\n  \
         gpulint plan                          what of it to commit to\n  \
         gpulint diff --base main              what a change does to both\n  \
         gpulint explain on-demand-batch       what a rule is about\n  \
         gpulint fit meta-llama/Llama-3.1-8B   what a model needs\n\n\
         Formats:\n{}\n\n\
         Exit codes: 0 checked and nothing to fail on, 1 findings at or above --fail-on or a model that does not fit, 2 bad \
         usage or configuration, 3 nothing was checked, 4 (`usage`) \
         something is missing of what was measured or billed.",
        formats.join("\n")
    )
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Findings and their money (the default verb)
    Check(Box<Check>),
    /// What a change does to cost and to findings: new, fixed, unchanged
    Diff(Box<Diff>),
    /// Print the commit that a pull request is compared with; fetch it from origin if the clone lacks it
    Base(BaseCommit),
    /// The bill: every accelerator resource with floor, expected and ceiling
    Cost(Box<Cost>),
    /// How much of what always runs to commit to, for how long, and what to leave to spot and on demand
    Plan(Box<Purchases>),
    /// What it cost at each commit, and which commits made it more or less
    History(Box<History>),
    /// Which commit brought each dollar of today's bill
    Blame(Box<Blame>),
    /// A month in review: what it costs, what moved it, what is waste, what to do first
    Report(Box<Review>),
    /// Every file that matters: by which run it is read, or why not
    Files(Box<Cost>),
    /// Every fact of every resource as JSON: what rules see
    Inspect(Box<Inspect>),
    /// Look a machine or an accelerator up in the catalog
    Price(Box<Price>),
    /// Version and age of prices; refresh them
    #[command(subcommand)]
    Catalog(CatalogVerb),
    /// What was measured and paid: ask a server of metrics, read what others saved and bills, and write small files of it
    #[command(subcommand)]
    Usage(UsageVerb),
    /// What the text lets expect beside what was measured and paid: hours, rate, and money that found no resource
    Reconcile(Box<Reconcile>),
    /// How one price came to be, or what a rule is about
    Explain(Box<Explain>),
    /// Whether a model fits an accelerator, and the cheapest that does
    Fit(Box<Fit>),
    /// What another machine, region, provider, purchase, count, precision or model would cost, fit and bring up
    WhatIf(Box<WhatIf>),
    /// The rules
    #[command(subcommand)]
    Rules(RulesVerb),
    /// What is suppressed, by whom, until when
    #[command(subcommand)]
    Suppressions(SuppressionsVerb),
    /// Accept what is found today, so that only what is new counts
    #[command(subcommand)]
    Baseline(BaselineVerb),
    /// The words that a page of rules may use
    Facts {
        #[command(flatten)]
        output: Box<Output>,
    },
    /// The settings in force, what may be set, or a file to start from
    #[command(subcommand)]
    Config(Config),
    /// A first gpulint.toml, the hook and the workflow for this repository; nothing is overwritten
    Init(Init),
    /// Post a finished report to a pull request
    Comment(Box<Comment>),
    /// What overlays make, as it is read, without kustomize
    Render(Render),
    /// Answer coding assistants about one folder: a server of the Model Context Protocol
    Mcp(Mcp),
    /// Findings and prices while text is written: a language server on standard input and output, for editors
    Server(ServerOptions),
    /// Completions for a shell
    Completions { shell: clap_complete::Shell },
    /// The documents that charts become, to be compared with those of helm
    #[command(hide = true)]
    Template(Box<Input>),
    /// Manual pages, written to a directory
    #[command(hide = true)]
    Manual { directory: PathBuf },
}

impl Arguments {
    /// Parses what this process was started with.
    pub(super) fn parse_process() -> Result<Arguments, clap::Error> {
        Arguments::parse(std::env::args_os())
    }

    /// Parses a command line, which begins with the name of the program.
    pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
        let matches = Arguments::command().try_get_matches_from(words)?;
        let mut arguments = Arguments::from_arg_matches(&matches)?;
        let mut matches = &matches;
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        let places = |name: &str| match matches.try_contains_id(name) {
            Ok(true) => matches.indices_of(name).map(Iterator::collect).unwrap_or_default(),
            _ => Vec::new(),
        };
        if let Some(output) = arguments.output() {
            output.format_places = places("formats");
            output.output_places = places("outputs");
        }
        Ok(arguments)
    }

    fn output(&mut self) -> Option<&mut Output> {
        Some(match &mut self.verb {
            None => &mut self.check.output,
            Some(Verb::Check(check)) => &mut check.output,
            Some(Verb::Cost(cost) | Verb::Files(cost)) => &mut cost.output,
            Some(Verb::Plan(plan)) => &mut plan.output,
            Some(Verb::Diff(diff)) => &mut diff.output,
            Some(Verb::History(history)) => &mut history.output,
            Some(Verb::Blame(blame)) => &mut blame.output,
            Some(Verb::Report(review)) => &mut review.output,
            Some(Verb::Reconcile(reconcile)) => &mut reconcile.output,
            Some(Verb::Usage(UsageVerb::Show(show))) => &mut show.output,
            Some(Verb::Inspect(inspect)) => &mut inspect.output,
            Some(Verb::Price(price)) => &mut price.output,
            Some(Verb::Fit(fit)) => &mut fit.output,
            Some(Verb::WhatIf(what_if)) => &mut what_if.output,
            Some(
                Verb::Facts { output }
                | Verb::Rules(RulesVerb::List { output, .. } | RulesVerb::Test { output, .. })
                | Verb::Suppressions(SuppressionsVerb::List { output, .. }),
            ) => output,
            Some(
                Verb::Base(_)
                | Verb::Baseline(_)
                | Verb::Rules(_)
                | Verb::Explain(_)
                | Verb::Catalog(_)
                | Verb::Usage(_)
                | Verb::Config(_)
                | Verb::Init(_)
                | Verb::Render(_)
                | Verb::Mcp(_)
                | Verb::Completions { .. }
                | Verb::Manual { .. }
                | Verb::Server(_)
                | Verb::Template(_)
                | Verb::Comment(_),
            ) => return None,
        })
    }
}
