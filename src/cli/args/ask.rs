//! Verbs that ask the catalog and read no tree.

use std::path::PathBuf;

use clap::Args;

use super::output::Output;
use crate::source::Date;

#[derive(Debug, Args)]
pub(in crate::cli) struct Price {
    /// A machine type, or an accelerator
    #[arg(value_name = "MACHINE|ACCELERATOR", required_unless_present_any = ["memory", "run", "hours"])]
    pub(in crate::cli) name: Option<String>,
    /// Only of these clouds: aws,gcp
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(in crate::cli) provider: Vec<String>,
    /// In this region [default: each that lists the machine; the base region of each cloud for accelerators]
    #[arg(long)]
    pub(in crate::cli) region: Option<String>,
    /// Machines with so many accelerators; with --hours, so many machines or accelerators of that name [default: 1]
    #[arg(long)]
    pub(in crate::cli) count: Option<f64>,
    /// Machines whose accelerators have at least so many GiB each
    #[arg(long, value_name = "GIB")]
    pub(in crate::cli) memory: Option<f64>,
    /// Machines with a spot price, sorted by it
    #[arg(long)]
    pub(in crate::cli) spot: bool,
    /// `name`, or `price` of one accelerator
    #[arg(long, value_parser = ["name", "price"], default_value = "name")]
    pub(in crate::cli) sort: String,
    /// The ways to buy a planned run: 8xA100-80GB
    #[arg(long, value_name = "ACCELERATORS", requires = "hours", conflicts_with_all = ["name", "count", "memory", "spot"])]
    pub(in crate::cli) run: Option<String>,
    /// Hours of a planned run: the ways to buy them, of the machine or accelerators that are named or of --run
    #[arg(long, conflicts_with_all = ["memory", "spot"])]
    pub(in crate::cli) hours: Option<f64>,
    /// The file of settings whose `prices.file` and `[[hardware]]` are prices too [default: the nearest gpulint.toml up to the repository's root]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Read no gpulint.toml
    #[arg(long, conflicts_with = "config")]
    pub(in crate::cli) no_config: bool,
    /// The day to judge ages by, for repeatable runs [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(in crate::cli) today: Option<Date>,
    /// `embedded`, `cached` (with what `gpulint catalog update` brought), or a CSV file of your own [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Fit {
    /// The model, as in meta-llama/Llama-3.1-8B-Instruct
    #[arg(required_unless_present_any = ["params", "cases", "speed_cases"])]
    pub(in crate::cli) model: Option<String>,
    /// The size of a model that is not listed, as in 7b
    #[arg(long, value_name = "SIZE")]
    pub(in crate::cli) params: Option<String>,
    /// The accelerator to hold it, as in L4 or A100-80GB
    #[arg(long, visible_alias = "gpu", value_name = "NAME")]
    pub(in crate::cli) accelerator: Option<String>,
    /// The machine to hold it, as in g5.2xlarge
    #[arg(long, value_name = "NAME", conflicts_with = "accelerator")]
    pub(in crate::cli) machine: Option<String>,
    /// Accelerators [default: all of the machine, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(in crate::cli) count: Option<u32>,
    /// Only this cloud's machines in the table
    #[arg(long)]
    pub(in crate::cli) provider: Option<String>,
    #[arg(long)]
    pub(in crate::cli) region: Option<String>,
    /// What is done with it
    #[arg(long, default_value = "serve", value_parser = ["serve", "embed", "diffusion", "speech", "train"])]
    pub(in crate::cli) task: String,
    /// Precision of the weights: bf16, fp8, int8, awq, nf4, ... [default: the model's own]
    #[arg(long)]
    pub(in crate::cli) precision: Option<String>,
    /// Precision of the KV cache: fp8, int8 or int4 [default: 16 bits]
    #[arg(long)]
    pub(in crate::cli) cache_precision: Option<String>,
    /// Tokens of context, or of a training sequence, as in 32768 or 32k [serving: the model's whole window]
    #[arg(long, visible_alias = "sequence", value_name = "TOKENS")]
    pub(in crate::cli) context: Option<String>,
    /// Sequences or samples at a time [default: 1]
    #[arg(long, visible_alias = "batch", value_name = "N")]
    pub(in crate::cli) batch_size: Option<String>,
    /// What is to be cheap: an hour of the machine, or each token that it writes
    #[arg(long, default_value = "hour", value_parser = ["hour", "token"])]
    pub(in crate::cli) by: String,
    /// By token: the most milliseconds between two tokens of an answer
    #[arg(long, value_name = "MS")]
    pub(in crate::cli) ms_per_token: Option<f64>,
    /// By token: what is written on a usual day, as in 5M
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) tokens_per_day: Option<String>,
    /// By token: tokens of a usual prompt [default: 1024]
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) input_tokens: Option<String>,
    /// By token: tokens of a usual answer [default: 256]
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) output_tokens: Option<String>,
    /// By token: requests at a time [default: as many as the server takes]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) concurrency: Option<f64>,
    /// Training: the tokens that the run reads, as in 15B: how many days, and what they cost
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) train_tokens: Option<String>,
    /// Training: so many of the machine train together
    #[arg(long, value_name = "N", requires = "machine", conflicts_with = "count", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(in crate::cli) machines: Option<u32>,
    /// Training: what is trained
    #[arg(long, value_parser = ["full", "lora", "qlora"])]
    pub(in crate::cli) method: Option<String>,
    /// Training: adamw, adamw8bit, lion, adafactor, ...
    #[arg(long)]
    pub(in crate::cli) optimizer: Option<String>,
    /// Training: how it is spread over accelerators
    #[arg(long, value_parser = ["none", "ddp", "fsdp", "zero1", "zero2", "zero3", "megatron"])]
    pub(in crate::cli) sharding: Option<String>,
    /// Training: keep activations instead of computing them again
    #[arg(long)]
    pub(in crate::cli) keep_activations: bool,
    /// A table of your own models, before the embedded one; or the config.json of the model that is asked for
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) models: Option<PathBuf>,
    /// A table of workloads; the answer is one JSON object a line
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["model", "params", "accelerator", "machine"])]
    pub(in crate::cli) cases: Option<PathBuf>,
    /// A table of servers; the answer is how fast each is, one JSON object a line
    #[arg(
        long,
        value_name = "FILE.csv",
        conflicts_with_all = ["model", "params", "accelerator", "machine", "cases"]
    )]
    pub(in crate::cli) speed_cases: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}
