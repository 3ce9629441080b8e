//! Verbs about rules and settings.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::input::Input;
use super::judging::Selection;
use super::output::Output;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RulesVerb {
    /// Every rule, and whether it runs here
    List {
        #[command(flatten)]
        input: Box<Input>,
        #[command(flatten)]
        selection: Box<Selection>,
        #[command(flatten)]
        output: Box<Output>,
    },
    /// Write a page for a rule of your own that passes its own test
    New {
        /// The name: small letters and dashes, naming what is wrong: public-notebook
        name: String,
        /// What it looks at: resource, object, block, repository or change
        #[arg(long = "for", value_name = "SCOPE", default_value = "resource", value_parser = SCOPES)]
        scope: String,
        /// Where to write it [default: the first rules-dir of gpulint.toml, else policy]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Execute the examples of pages: what is missing and what is unexpected both fail
    Test {
        /// Directories with pages [default: the rules-dir of gpulint.toml]
        dirs: Vec<PathBuf>,
        /// Every page must have an example that is reported, one that is clean and one that is undetermined
        #[arg(long)]
        require: bool,
        /// Tell of each example which part of the condition decided, and which part no example needs; with --require, such a
        /// part fails
        #[arg(long)]
        why: bool,
        /// Test again whenever a page changes
        #[arg(long)]
        watch: bool,
        #[command(flatten)]
        output: Box<Output>,
    },
    /// Evaluate an expression for every resource: true, false or unknown with the cause
    Try {
        /// The expression, as `when` has it: 'accelerator_count > 4'
        expression: String,
        /// What it looks at: resource, object, block, repository or change
        #[arg(long = "for", value_name = "SCOPE", default_value = "resource", value_parser = SCOPES)]
        scope: String,
        /// The commit that a change is compared with, for `--for change`
        #[arg(long, value_name = "REF", conflicts_with = "base_dir")]
        base: Option<String>,
        /// The directory that a change is compared with, for `--for change`
        #[arg(long, value_name = "DIR")]
        base_dir: Option<PathBuf>,
        #[command(flatten)]
        input: Box<Input>,
    },
    /// Copy the packs that come from git into the repository, and write gpulint.lock
    Vendor {
        /// Only tell whether the copies are what gpulint.toml says; fetch and write nothing
        #[arg(long)]
        check: bool,
        /// Replace copies that were changed by hand, too
        #[arg(long, conflicts_with = "check")]
        force: bool,
        /// The file of settings [default: the nearest gpulint.toml up to the repository's root]
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Write documentation of own rules: a Markdown file a rule, and one that lists them
    Docs {
        /// The directory that gets the files
        #[arg(long, short, value_name = "DIR", default_value = "docs/rules")]
        output: PathBuf,
        #[command(flatten)]
        input: Box<Input>,
        #[command(flatten)]
        selection: Box<Selection>,
    },
    /// Write own rules for another policy engine
    Export {
        /// The rules [default: all own rules]
        #[arg(long = "rule", value_name = "NAME")]
        names: Vec<String>,
        /// The engine; vap is a Kubernetes ValidatingAdmissionPolicy with its binding
        #[arg(long, value_name = "ENGINE", value_parser = ["vap"])]
        to: String,
        /// The oldest version of Kubernetes that must understand it
        #[arg(long, value_name = "VERSION", default_value = "1.30")]
        kubernetes: String,
        /// What the server does: `audit` warns and audits, `deny` refuses
        #[arg(long, value_name = "WHAT", value_parser = ["audit", "deny"], default_value = "audit")]
        enforce: String,
        #[command(flatten)]
        input: Box<Input>,
        #[command(flatten)]
        selection: Box<Selection>,
    },
}

/// What an own rule may look at.
const SCOPES: [&str; 5] = ["resource", "object", "block", "repository", "change"];

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Config {
    /// Each value in force and where it comes from
    Show(Box<Input>),
    /// What may stand in gpulint.toml, as a JSON schema
    Schema,
    /// Write a gpulint.toml to start from into the current directory
    Init,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Init {
    /// The directory that gets the settings: the repository, or a part of it [default: the current directory]
    pub(in crate::cli) directory: Option<PathBuf>,
    /// Accept what is found today, so that only what is new counts
    #[arg(long)]
    pub(in crate::cli) baseline: bool,
    /// Write nothing: compare the runs that gpulint.toml lists with those that are found now, and exit with 1 where they differ
    #[arg(long, conflicts_with = "baseline")]
    pub(in crate::cli) check: bool,
}
