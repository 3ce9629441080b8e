//! Arguments of the subcommands about rules and settings.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::admission::PolicyTarget;

use super::input::InputArguments;
use super::judging::Selection;
use super::output::Output;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RulesVerb {
    /// List every rule and whether it runs here
    List {
        #[command(flatten)]
        input: Box<InputArguments>,
        #[command(flatten)]
        selection: Box<Selection>,
        #[command(flatten)]
        output: Box<Output>,
    },
    /// Write the rule file of a new custom rule, with examples that pass `gpulint rules test`
    New {
        /// Name of the rule in lower-case letters and dashes: what is wrong, such as public-notebook
        name: String,
        /// Apply the rule to each of these
        #[arg(long = "for", value_name = "SCOPE", default_value = "resource", value_parser = SCOPES)]
        scope: String,
        /// Write the file to this directory [default: the first `rules-dir` of gpulint.toml, or `policy`]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Run the examples of rule files; a missing finding and an unexpected finding both fail
    Test {
        /// Directories with rule files [default: `rules-dir` of gpulint.toml]
        dirs: Vec<PathBuf>,
        /// Require three examples in every rule file: reported, clean, and skipped because a value is unknown
        #[arg(long)]
        require: bool,
        /// Show which part of the condition decides each example, and which parts no example needs; with --require, such
        /// parts fail
        #[arg(long)]
        why: bool,
        /// Keep running, and test again when a rule file changes
        #[arg(long)]
        watch: bool,
        #[command(flatten)]
        output: Box<Output>,
    },
    /// Evaluate an expression for every resource, and print true, false, or unknown with the cause
    Try {
        /// Expression as in `when` of a rule file, such as 'accelerator_count > 4'
        expression: String,
        /// Evaluate the expression for each of these
        #[arg(long = "for", value_name = "SCOPE", default_value = "resource", value_parser = SCOPES)]
        scope: String,
        /// With --for change: compare with this commit
        #[arg(long, value_name = "REF", conflicts_with = "base_dir")]
        base: Option<String>,
        /// With --for change: compare with this directory
        #[arg(long, value_name = "DIR")]
        base_dir: Option<PathBuf>,
        #[command(flatten)]
        input: Box<InputArguments>,
    },
    /// Copy the rule packs that come from git into the repository, and write gpulint.lock
    Vendor {
        /// Only check that the copies match gpulint.toml; fetch and write nothing
        #[arg(long)]
        check: bool,
        /// Replace copies even if they were edited by hand
        #[arg(long, conflicts_with = "check")]
        force: bool,
        /// Read settings from this file [default: the nearest gpulint.toml, up to the root of the repository]
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Write documentation of custom rules: one Markdown file per rule, and one that lists them
    Docs {
        /// Write the files to this directory
        #[arg(long, short, value_name = "DIR", default_value = "docs/rules")]
        output: PathBuf,
        #[command(flatten)]
        input: Box<InputArguments>,
        #[command(flatten)]
        selection: Box<Selection>,
    },
    /// Convert custom rules for another policy engine, and print them
    Export {
        /// Convert this rule; repeatable [default: all custom rules]
        #[arg(long = "rule", value_name = "NAME")]
        names: Vec<String>,
        /// Convert for this engine: `vap` is a ValidatingAdmissionPolicy with its binding, `kyverno` a ValidatingPolicy, and
        /// `gatekeeper` a ConstraintTemplate with its constraint
        #[arg(long, value_name = "ENGINE", value_parser = PolicyTarget::NAMES)]
        to: String,
        /// Support Kubernetes from this version on
        #[arg(long, value_name = "VERSION", default_value = "1.30")]
        kubernetes: String,
        /// Choose what the API server does with a violation: `audit` warns and records it, `deny` refuses the object
        #[arg(long, value_name = "WHAT", value_parser = ["audit", "deny"], default_value = "audit")]
        enforce: String,
        #[command(flatten)]
        input: Box<InputArguments>,
        #[command(flatten)]
        selection: Box<Selection>,
    },
}

/// What a custom rule can apply to.
const SCOPES: [&str; 5] = ["resource", "object", "block", "repository", "change"];

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ConfigCommand {
    /// Show each setting in force and where it comes from
    Show(Box<InputArguments>),
    /// Print the JSON schema of gpulint.toml
    Schema,
    /// Write a first gpulint.toml into the current directory
    Init,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RulesInitArguments {
    /// Directory for gpulint.toml: the repository, or a part of it [default: the current directory]
    pub(in crate::cli) directory: Option<PathBuf>,
    /// Accept the findings of today in a baseline, so that only new or worse ones count
    #[arg(long)]
    pub(in crate::cli) baseline: bool,
    /// Write nothing; exit with 1 if the deployments listed in gpulint.toml differ from those that gpulint finds now
    #[arg(long, conflicts_with = "baseline")]
    pub(in crate::cli) check: bool,
}
