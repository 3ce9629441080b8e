//! What the command line accepts: verbs, their flags, and the help of each.

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::diagnostic::Level;
use crate::report::{Choice, Detail, Format, GroupBy, Head, Most, Sort, Style};
use crate::rules::{Confidence, Profile};
use crate::source::Date;

/// Finds wasted GPU money in Terraform and Kubernetes before it is deployed.
#[derive(Debug, Parser)]
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
         gpulint diff --base main              what a change does to both\n  \
         gpulint explain on-demand-batch       what a rule is about\n  \
         gpulint fit meta-llama/Llama-3.1-8B   what a model needs\n\n\
         Formats:\n{}\n\n\
         Exit codes: 0 checked and nothing to fail on, 1 findings at or above --fail-on or a model that does not fit, 2 bad \
         usage or configuration, 3 nothing was checked.",
        formats.join("\n")
    )
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Findings and their money (the default verb)
    Check(Box<Check>),
    /// What a change does to cost and to findings: new, fixed, unchanged
    Diff(Box<Diff>),
    /// The bill: every accelerator resource with floor, expected and ceiling
    Cost(Box<Cost>),
    /// Every file that matters: by which run it is read, or why not
    Files(Box<Cost>),
    /// Every fact of every resource as JSON: what rules see
    Inspect(Box<Inspect>),
    /// Look a machine or an accelerator up in the catalog
    Price(Box<Price>),
    /// Version and age of prices; refresh them
    #[command(subcommand)]
    Catalog(super::verbs::catalog::Verb),
    /// How one price came to be, or what a rule is about
    Explain(Box<Explain>),
    /// Whether a model fits an accelerator, and the cheapest that does
    Fit(Box<Fit>),
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
    Init(super::verbs::init::Init),
    /// Post a finished report to a pull request
    Comment(Box<super::verbs::comment::Comment>),
    /// What overlays make, as it is read, without kustomize
    Render(super::verbs::render::Render),
    /// Completions for a shell
    Completions { shell: clap_complete::Shell },
    /// The documents that charts become, to be compared with those of helm
    #[command(hide = true)]
    Template(Box<Input>),
    /// Manual pages, written to a directory
    #[command(hide = true)]
    Manual { directory: PathBuf },
}

#[derive(Debug, Args)]
pub(super) struct Price {
    /// A machine type, or an accelerator
    #[arg(value_name = "MACHINE|ACCELERATOR", required_unless_present_any = ["memory", "run"])]
    pub(super) name: Option<String>,
    /// Only of these clouds: aws,gcp
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(super) provider: Vec<String>,
    /// In this region [default: each that lists the machine; the base region of each cloud for accelerators]
    #[arg(long)]
    pub(super) region: Option<String>,
    /// Machines with so many accelerators
    #[arg(long)]
    pub(super) count: Option<f64>,
    /// Machines whose accelerators have at least so many GiB each
    #[arg(long, value_name = "GIB")]
    pub(super) memory: Option<f64>,
    /// Machines with a spot price, sorted by it
    #[arg(long)]
    pub(super) spot: bool,
    /// `name`, or `price` of one accelerator
    #[arg(long, value_parser = ["name", "price"], default_value = "name")]
    pub(super) sort: String,
    /// The ways to buy a planned run: 8xA100-80GB
    #[arg(long, value_name = "ACCELERATORS", requires = "hours", conflicts_with_all = ["name", "count", "memory", "spot"])]
    pub(super) run: Option<String>,
    /// Hours of the planned run
    #[arg(long, requires = "run")]
    pub(super) hours: Option<f64>,
    /// The day to judge ages by, for repeatable runs [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) today: Option<Date>,
    /// `embedded`, `cached` (with what `gpulint catalog update` brought), or a CSV file of your own [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(super) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// The address of a resource as reports write it, or the name of a rule
    #[arg(value_name = "ADDRESS|RULE")]
    pub(super) what: String,
    #[command(flatten)]
    pub(super) input: Input,
}

#[derive(Debug, Args)]
pub(super) struct Fit {
    /// The model, as in meta-llama/Llama-3.1-8B-Instruct
    #[arg(required_unless_present_any = ["params", "cases"])]
    pub(super) model: Option<String>,
    /// The size of a model that is not listed, as in 7b
    #[arg(long, value_name = "SIZE")]
    pub(super) params: Option<String>,
    /// The accelerator to hold it, as in L4 or A100-80GB
    #[arg(long, visible_alias = "gpu", value_name = "NAME")]
    pub(super) accelerator: Option<String>,
    /// The machine to hold it, as in g5.2xlarge
    #[arg(long, value_name = "NAME", conflicts_with = "accelerator")]
    pub(super) machine: Option<String>,
    /// Accelerators [default: all of the machine, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(super) count: Option<u32>,
    /// Only this cloud's machines in the table
    #[arg(long)]
    pub(super) provider: Option<String>,
    #[arg(long)]
    pub(super) region: Option<String>,
    /// What is done with it
    #[arg(long, default_value = "serve", value_parser = ["serve", "embed", "diffusion", "speech", "train"])]
    pub(super) task: String,
    /// Precision of the weights: bf16, fp8, int8, awq, nf4, ... [default: the model's own]
    #[arg(long)]
    pub(super) precision: Option<String>,
    /// Precision of the KV cache: fp8, int8 or int4 [default: 16 bits]
    #[arg(long)]
    pub(super) cache_precision: Option<String>,
    /// Tokens of context, or of a training sequence, as in 32768 or 32k [serving: the model's whole window]
    #[arg(long, visible_alias = "sequence", value_name = "TOKENS")]
    pub(super) context: Option<String>,
    /// Sequences or samples at a time [default: 1]
    #[arg(long, visible_alias = "batch", value_name = "N")]
    pub(super) batch_size: Option<String>,
    /// Training: what is trained
    #[arg(long, value_parser = ["full", "lora", "qlora"])]
    pub(super) method: Option<String>,
    /// Training: adamw, adamw8bit, lion, adafactor, ...
    #[arg(long)]
    pub(super) optimizer: Option<String>,
    /// Training: how it is spread over accelerators
    #[arg(long, value_parser = ["none", "ddp", "fsdp", "zero1", "zero2", "zero3", "megatron"])]
    pub(super) sharding: Option<String>,
    /// Training: keep activations instead of computing them again
    #[arg(long)]
    pub(super) keep_activations: bool,
    /// A table of your own models, before the embedded one
    #[arg(long, value_name = "FILE.csv")]
    pub(super) models: Option<PathBuf>,
    /// A table of workloads; the answer is one JSON object a line
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["model", "params", "accelerator", "machine"])]
    pub(super) cases: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Debug, Subcommand)]
pub(super) enum RulesVerb {
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
        /// What it looks at: resource, object, block or repository
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
        /// What it looks at: resource, object, block or repository
        #[arg(long = "for", value_name = "SCOPE", default_value = "resource", value_parser = SCOPES)]
        scope: String,
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
        #[command(flatten)]
        input: Box<Input>,
        #[command(flatten)]
        selection: Box<Selection>,
    },
}

/// What an own rule may look at.
const SCOPES: [&str; 4] = ["resource", "object", "block", "repository"];

#[derive(Debug, Subcommand)]
pub(super) enum SuppressionsVerb {
    /// Every suppression, with its reason and its last day
    List {
        #[command(flatten)]
        input: Box<Input>,
        /// Only those that end within so many days: 14d
        #[arg(long, value_name = "DAYS", value_parser = days)]
        within: Option<i64>,
        #[command(flatten)]
        output: Box<Output>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum BaselineVerb {
    /// Write a baseline of everything that is found
    Create(Box<Accepting>),
    /// Write it anew; what was in it keeps its day
    Update(Box<Accepting>),
    /// Take out what is no longer found
    Prune(Box<Accepting>),
}

#[derive(Debug, Args)]
pub(super) struct Accepting {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) selection: Selection,
}

#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Each value in force and where it comes from
    Show(Box<Input>),
    /// What may stand in gpulint.toml, as a JSON schema
    Schema,
    /// Write a gpulint.toml to start from into the current directory
    Init,
}

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) input: Input,
    /// Write a comment into the files that suppresses each finding, with this reason
    #[arg(long, value_name = "REASON", conflicts_with_all = ["formats", "outputs", "policy_ref"])]
    pub(super) add_ignore: Option<String>,
    /// Write what fixes findings into the files, where that is safe: it cannot change what runs
    #[arg(long, conflicts_with_all = ["add_ignore", "policy_ref"])]
    pub(super) fix: bool,
    /// With --fix or --diff: also what changes how something runs, as spot or a smaller machine
    #[arg(long)]
    pub(super) unsafe_fixes: bool,
    /// Show what --fix would write as a patch, and write nothing
    #[arg(long, conflicts_with_all = ["add_ignore", "policy_ref", "formats", "outputs"])]
    pub(super) diff: bool,
    #[command(flatten)]
    pub(super) selection: Selection,
    #[command(flatten)]
    pub(super) threshold: Threshold,
    #[command(flatten)]
    pub(super) view: View,
    #[command(flatten)]
    pub(super) output: Output,
}

/// Which rules run.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Selection {
    /// Rules and groups to run beside those of the profile; only these where no profile is named
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(super) select: Vec<String>,
    /// Rules and groups to leave out
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
    /// The rules to start from: essential, standard or all
    #[arg(long, value_parser = profile)]
    pub(super) profile: Option<Profile>,
    /// A directory with pages of your own rules
    #[arg(long, value_name = "DIR")]
    pub(super) rules: Vec<PathBuf>,
    /// Labels on the pull request, as the code host tells them: names with commas between, or a list of JSON
    #[arg(long, value_name = "LABELS", value_parser = change_labels, default_value = "", hide_default_value = true)]
    pub(super) change_labels: ChangeLabels,
    /// Tell again what the baseline accepts
    #[arg(long)]
    pub(super) no_baseline: bool,
}

/// Labels of a pull request. Only its code host knows them: they are never read from the text that is checked.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeLabels(pub(super) Vec<String>);

fn change_labels(text: &str) -> Result<ChangeLabels, String> {
    let text = text.trim();
    if text.is_empty() || text == "null" {
        return Ok(ChangeLabels::default());
    }
    if text.starts_with('[') {
        let labels = serde_json::from_str(text).map_err(|_| "expected a list of texts as JSON".to_owned())?;
        return Ok(ChangeLabels(labels));
    }
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(ChangeLabels(names.map(str::to_owned).collect()))
}

/// What makes a run fail.
#[derive(Debug, Args)]
pub(super) struct Threshold {
    /// The lowest level of a finding that makes the run fail: note, warning or error
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub(super) fail_on: Option<Level>,
    /// The lowest confidence of a finding that makes the run fail: low, medium or high
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence)]
    pub(super) fail_confidence: Option<Confidence>,
    /// The lowest confidence of a finding that is shown: low, medium or high
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence)]
    pub(super) min_confidence: Option<Confidence>,
    /// Fail where something that matters was not judged: text that nobody read, numbers that are not known
    #[arg(long)]
    pub(super) fail_on_unread: bool,
}

#[derive(Debug, Args)]
pub(super) struct Diff {
    /// The commit that the change is compared with: a branch, a tag or an id, also as the first word: `diff main`. A plan
    /// that is named alone is compared with what was there before it
    #[arg(long, value_name = "REF", conflicts_with_all = ["base_dir", "base_file"])]
    pub(super) base: Option<String>,
    /// Compare what the next commit will hold, the index, instead of the files as they lie here; with HEAD, where --base
    /// names nothing else
    #[arg(long, conflicts_with_all = ["base_dir", "base_file"])]
    pub(super) staged: bool,
    /// Compare with a directory instead of a commit
    #[arg(long, value_name = "DIR", conflicts_with = "base_file")]
    pub(super) base_dir: Option<PathBuf>,
    /// Compare with a file: a plan as JSON with a plan, a saved report with a saved report, a manifest with a manifest
    #[arg(long, value_name = "FILE")]
    pub(super) base_file: Option<PathBuf>,
    /// Address of this directory at the commit under review, for links: https://github.com/OWNER/NAME/blob/SHA
    #[arg(long, value_name = "URL", value_parser = files_url)]
    pub(super) files_url: Option<Head>,
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) selection: Selection,
    #[command(flatten)]
    pub(super) threshold: Threshold,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Cost {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) view: View,
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Debug, Args)]
pub(super) struct Inspect {
    #[command(flatten)]
    pub(super) input: Input,
    /// Every evaluated Terraform block instead of accelerator resources
    #[arg(long)]
    pub(super) all: bool,
    /// The directories that are read as Terraform roots
    #[arg(long, conflicts_with = "all")]
    pub(super) roots: bool,
    #[command(flatten)]
    pub(super) output: Output,
}

/// What is read.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Input {
    /// Files, directories, a plan as JSON, or `-` for standard input [default: the current directory]
    pub(super) paths: Vec<PathBuf>,
    /// The file that standard input stands for: findings name it, and its directory is read with it
    #[arg(long, value_name = "NAME")]
    pub(super) stdin_filename: Option<PathBuf>,
    /// The value of a Terraform variable: NAME=VALUE
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(super) variables: Vec<(String, String)>,
    /// A file of Terraform variables; a pattern in quotes, as in 'env/*.tfvars', is one run with each of its files
    #[arg(long = "var-file", value_name = "FILE")]
    pub(super) variable_files: Vec<PathBuf>,
    /// The Terraform workspace
    #[arg(long, value_name = "NAME")]
    pub(super) workspace: Option<String>,
    /// Directories that nobody deploys: they are read, and told beside the bill; `*` stands for anything
    #[arg(long, value_name = "PATTERN")]
    pub(super) exclude: Vec<String>,
    /// Where downloaded Terraform modules lie: a `.terraform/modules`, or directories named like the calls
    #[arg(long = "modules-dir", value_name = "DIRECTORY")]
    pub(super) modules_directory: Option<PathBuf>,
    /// The day to judge dates by, for repeatable runs [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) today: Option<Date>,
    /// The file of settings [default: the nearest gpulint.toml up to the repository's root]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Text that stands at a path of the tree instead of what is there.
    #[arg(skip)]
    pub(super) given: Vec<(String, Vec<u8>)>,
    /// Paths that are named for another reason than to be checked.
    #[arg(skip)]
    pub(super) beside: Vec<PathBuf>,
    /// Read no gpulint.toml
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,
    /// `embedded`, `cached` (with what `gpulint catalog update` brought), or a CSV file of your own [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(super) prices: Option<PathBuf>,
    /// Take settings, rules and prices from this commit instead of the files at hand
    #[arg(long, value_name = "REF", conflicts_with = "no_config")]
    pub(super) policy_ref: Option<String>,
    /// Render charts with helm, and kustomizations with kustomize or kubectl, instead of by ourselves
    #[arg(long)]
    pub(super) render: bool,
    /// Render charts with their files of values of this name, or once more with each of them
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    pub(super) values: Vec<String>,
    /// Exit with 0 where nothing was there to check
    #[arg(long)]
    pub(super) allow_empty: bool,
}

/// How much of the report people see, and in which order. Only text depends on it.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct View {
    /// The first N only [default: what fits on a screen]
    #[arg(long, value_name = "N", conflicts_with = "all", help_heading = "Text for people")]
    pub(super) top: Option<usize>,
    /// Everything
    #[arg(long, help_heading = "Text for people")]
    pub(super) all: bool,
    /// By what it is sorted
    #[arg(long, value_parser = Sort::NAMES, default_value = Sort::NAMES[0], hide_default_value = true, help_heading = "Text for people")]
    pub(super) sort: String,
    /// In groups, those with the most money first
    #[arg(long, value_parser = GroupBy::NAMES, help_heading = "Text for people")]
    pub(super) group_by: Option<String>,
    /// Only sums, the count of findings, and what was not judged
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Text for people")]
    pub(super) quiet: bool,
    /// Also notes, and what stands behind the sums
    #[arg(long, short, help_heading = "Text for people")]
    pub(super) verbose: bool,
    /// No drawing characters, for readers of screens
    #[arg(long, help_heading = "Text for people")]
    pub(super) plain: bool,
}

impl View {
    /// What is chosen of it for text that is as it is otherwise.
    pub(super) fn style(&self, style: Style) -> Style {
        let most = match (self.top, self.all) {
            (Some(top), _) => Most::Top(top),
            (None, true) => Most::All,
            (None, false) => style.choice.most,
        };
        let detail = match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (_, true) => Detail::Verbose,
            _ => Detail::Usual,
        };
        let group = self.group_by.as_deref().and_then(GroupBy::named);
        Style { plain: self.plain, choice: Choice { sort: Sort::named(&self.sort), group, most, detail }, ..style }
    }
}

/// Where the report goes.
#[derive(Debug, Args)]
pub(super) struct Output {
    /// The format of the report; may be given several times, each followed by its --output
    #[arg(long = "format", short = 'f', value_name = "FORMAT")]
    pub(super) formats: Vec<Format>,
    /// The file for the format before it; standard output otherwise
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    pub(super) outputs: Vec<PathBuf>,
    /// Where each --format stands on the command line.
    #[arg(skip)]
    pub(super) format_places: Vec<usize>,
    /// Where each --output stands on the command line.
    #[arg(skip)]
    pub(super) output_places: Vec<usize>,
    /// Colors
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl Arguments {
    /// Parses what this process was started with.
    pub(super) fn of_process() -> Result<Arguments, clap::Error> {
        let matches = Arguments::command().try_get_matches()?;
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
            Some(Verb::Diff(diff)) => &mut diff.output,
            Some(Verb::Inspect(inspect)) => &mut inspect.output,
            Some(Verb::Price(price)) => &mut price.output,
            Some(Verb::Fit(fit)) => &mut fit.output,
            Some(
                Verb::Facts { output }
                | Verb::Rules(RulesVerb::List { output, .. } | RulesVerb::Test { output, .. })
                | Verb::Suppressions(SuppressionsVerb::List { output, .. }),
            ) => output,
            Some(
                Verb::Baseline(_)
                | Verb::Rules(_)
                | Verb::Explain(_)
                | Verb::Catalog(_)
                | Verb::Config(_)
                | Verb::Init(_)
                | Verb::Render(_)
                | Verb::Completions { .. }
                | Verb::Manual { .. }
                | Verb::Template(_)
                | Verb::Comment(_),
            ) => return None,
        })
    }
}

impl Input {
    /// The running directory, with its settings.
    pub(super) fn here() -> Input {
        Input { allow_empty: true, ..Input::default() }
    }

    pub(super) fn without_settings() -> Input {
        Input { no_config: true, ..Input::here() }
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn files_url(text: &str) -> Result<Head, String> {
    Head::new(text).ok_or_else(|| "expected https://HOST/PATH without spaces, brackets and quotes".to_owned())
}

/// `14d`, or `14`
fn days(text: &str) -> Result<i64, String> {
    let number = text.trim_end_matches('d').parse::<u32>();
    number.map(i64::from).map_err(|_| "write it as 14d".to_owned())
}

fn level(name: &str) -> Result<Level, String> {
    Level::from_name(name).ok_or_else(|| "the levels are note, warning and error".to_owned())
}

fn profile(name: &str) -> Result<Profile, String> {
    Profile::from_name(name).ok_or_else(|| "the profiles are essential, standard and all".to_owned())
}

fn confidence(name: &str) -> Result<Confidence, String> {
    let found = Confidence::ALL.into_iter().find(|confidence| confidence.name() == name);
    found.ok_or_else(|| "the confidences are low, medium and high".to_owned())
}
