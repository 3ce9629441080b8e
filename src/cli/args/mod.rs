//! The command line: its subcommands, their options, and the help of each.

mod accept;
mod ask;
mod base;
mod catalog;
mod check;
mod comment;
mod fixing;
mod help;
mod history;
mod input;
mod judging;
mod limit;
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

pub(super) use accept::{Accepting, BaselineVerb, SuppressionsVerb};
pub(super) use ask::{Fit, PriceArguments};
pub(super) use base::BaseCommit;
pub(super) use catalog::{AskedVendor, CatalogVerb, DoubtFormat, Fetch, Show, Verify};
pub(super) use check::{CheckArguments, CostArguments, Diff, Explain, Inspect, Purchases, Reconcile, Render};
pub(super) use comment::CommentArguments;
pub(super) use fixing::FixArguments;
pub(super) use help::{PAGES as HELP_PAGES, TOPICS as HELP_TOPICS, page as help_page};
pub(super) use history::{BlameArguments, Commits, HistoryArguments, ReviewArguments, Since};
pub(super) use input::InputArguments;
pub(super) use judging::{FailOnChoice, Selection};
pub(super) use limit::LimitArguments;
pub(super) use mcp::Mcp;
pub(super) use output::{ColorChoice, Output};
pub(super) use rules::{ConfigCommand, RulesInitArguments, RulesVerb};
pub(super) use server::ServerOptions;
pub(super) use usage::{
    BillSource, QueriesFormat, UsageBill, UsageFetch, UsageImport, UsageQueries, UsageShow, UsageVerb, Window,
};
pub(super) use what_if::WhatIf;

#[derive(Debug, Parser)]
#[command(about = format!("Finds wasted GPU money in {READ} before it is deployed"))]
#[command(name = "gpulint", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(override_help = help::screen())]
pub(super) struct CliArguments {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
    #[command(flatten)]
    pub(super) check: CheckArguments,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Report GPU waste and its cost per month (the default subcommand)
    Check(Box<CheckArguments>),
    /// Compare a change with its base: cost, and new, fixed and unchanged findings
    Diff(Box<Diff>),
    /// Print the commit that a pull request is compared with; fetch it from origin if the clone lacks it
    Base(BaseCommit),
    /// List every accelerator resource with its minimum, expected and maximum cost per month
    Cost(Box<CostArguments>),
    /// Show the most that a month can cost and what limits it, or write limits that keep it within an amount
    Limit(Box<LimitArguments>),
    /// Recommend commitments for machines that always run, and what to leave on spot and on demand
    Plan(Box<Purchases>),
    /// Show the cost at each commit, and which commits raised or lowered it
    History(Box<HistoryArguments>),
    /// Show which commit added each dollar of today's cost
    Blame(Box<BlameArguments>),
    /// Review one month: its cost, what changed it, the waste, and what to fix first
    Report(Box<ReviewArguments>),
    /// List relevant files: the deployment that reads each one, or why it is skipped
    Files(Box<CostArguments>),
    /// Print every fact of every resource as JSON, as rules see it
    Inspect(Box<Inspect>),
    /// Look up the price of a machine type or an accelerator
    Price(Box<PriceArguments>),
    /// Show the version and the age of prices, fetch newer ones, or verify them
    #[command(subcommand)]
    Catalog(CatalogVerb),
    /// Import usage metrics and bills into small CSV files that gpulint reads
    #[command(subcommand)]
    Usage(UsageVerb),
    /// Compare expected cost with measured usage and the bill: hours, rates, and charges that match no resource
    Reconcile(Box<Reconcile>),
    /// Explain how the price of a resource is calculated, or what a rule reports
    Explain(Box<Explain>),
    /// Check whether a model fits an accelerator, and find the cheapest machine that it fits
    Fit(Box<Fit>),
    /// Show cost, model fit and findings if a resource had another machine, region, purchase, count or model
    WhatIf(Box<WhatIf>),
    /// List, write, test and export rules
    #[command(subcommand)]
    Rules(RulesVerb),
    /// List the findings that are suppressed, by whom and until when
    #[command(subcommand)]
    Suppressions(SuppressionsVerb),
    /// Accept the findings of today, so that only new or worse ones count
    #[command(subcommand)]
    Baseline(BaselineVerb),
    /// List the fields and functions that rule conditions can use
    Facts {
        #[command(flatten)]
        output: Box<Output>,
    },
    /// Print the settings in force or their schema, or write a first gpulint.toml
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Write a first gpulint.toml, a pre-commit hook and a CI workflow; existing files stay as they are
    Init(RulesInitArguments),
    /// Post a finished report to a pull request
    Comment(Box<CommentArguments>),
    /// Print the objects that kustomizations build, without running kustomize
    Render(Render),
    /// Run an MCP server that answers coding assistants about one folder
    Mcp(Mcp),
    /// Run a language server on standard input and output, which shows findings and prices in editors
    Server(ServerOptions),
    /// Print completions for a shell: subcommands, options, rules, addresses, models and machine types
    Completions { shell: clap_complete::Shell },
    /// Print the help of a subcommand, or of a topic: commands, options, formats or exit-codes
    Help {
        #[arg(value_name = "SUBCOMMAND|TOPIC")]
        words: Vec<String>,
    },
    /// Print the manifests that gpulint renders from charts, to compare them with those of helm
    #[command(hide = true)]
    Template(Box<InputArguments>),
    /// Write manual pages to a directory
    #[command(hide = true)]
    Manual { directory: PathBuf },
}

impl CliArguments {
    /// Parses the arguments of this process.
    pub(super) fn parse_process() -> Result<CliArguments, clap::Error> {
        CliArguments::parse(std::env::args_os())
    }

    /// Parses a command line. Its first word is the name of the program.
    pub(super) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<CliArguments, clap::Error> {
        let words: Vec<OsString> = words.into_iter().collect();
        if let Some(arguments) = Self::parse_frequent(&words) {
            return Ok(arguments);
        }
        let matches = CliArguments::command().try_get_matches_from(words)?;
        let arguments = CliArguments::from_arg_matches(&matches)?;
        let mut matches = &matches;
        while let Some((_, inner)) = matches.subcommand() {
            matches = inner;
        }
        Ok(arguments.with_places(matches))
    }

    /// Parses a valid command line of `check` or `diff` without the definitions of the other subcommands, which take a
    /// tenth of a small run. `None` for all other command lines, also for those with mistakes.
    fn parse_frequent(words: &[OsString]) -> Option<CliArguments> {
        let rest = words.get(1..)?;
        let (arguments, matches) = match rest.split_first() {
            Some((verb, rest)) if verb == "diff" => {
                let (check, _) = parse_only::<CheckArguments>(&[])?;
                let (diff, matches) = parse_only(rest)?;
                (CliArguments { verb: Some(Verb::Diff(Box::new(diff))), check }, matches)
            }
            Some((verb, _)) if verb != "check" => return None,
            first => {
                let (check, matches) = parse_only(first.map_or(rest, |(_, rest)| rest))?;
                (CliArguments { verb: None, check }, matches)
            }
        };
        Some(arguments.with_places(&matches))
    }

    /// Keeps the order of formats and outputs on the command line.
    fn with_places(mut self, matches: &clap::ArgMatches) -> CliArguments {
        let places = |name: &str| match matches.try_contains_id(name) {
            Ok(true) => matches.indices_of(name).map(Iterator::collect).unwrap_or_default(),
            _ => Vec::new(),
        };
        if let Some(output) = self.output() {
            output.format_places = places("formats");
            output.output_places = places("outputs");
        }
        self
    }

    fn output(&mut self) -> Option<&mut Output> {
        Some(match &mut self.verb {
            None => &mut self.check.output,
            Some(Verb::Check(check)) => &mut check.output,
            Some(Verb::Cost(cost) | Verb::Files(cost)) => &mut cost.output,
            Some(Verb::Plan(plan)) => &mut plan.output,
            Some(Verb::Limit(limit)) => &mut limit.output,
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
                | Verb::Help { .. }
                | Verb::Manual { .. }
                | Verb::Server(_)
                | Verb::Template(_)
                | Verb::Comment(_),
            ) => return None,
        })
    }
}

/// Returns the names of the visible subcommands below these words.
pub(super) fn subcommand_names(words: &[&str]) -> Vec<String> {
    let all = CliArguments::command();
    let found = words.iter().try_fold(&all, |command, word| command.find_subcommand(word));
    let inner = found.into_iter().flat_map(clap::Command::get_subcommands);
    inner.filter(|it| !it.is_hide_set()).map(|it| it.get_name().to_owned()).collect()
}

/// Parses the arguments of one subcommand, without the name of the program and of the subcommand.
fn parse_only<T: clap::Args>(words: &[OsString]) -> Option<(T, clap::ArgMatches)> {
    let command = T::augment_args(clap::Command::new("gpulint").no_binary_name(true));
    let matches = command.try_get_matches_from(words).ok()?;
    Some((T::from_arg_matches(&matches).ok()?, matches))
}
