//! The subcommands `gpulint price` and `gpulint fit`, which answer from the catalog and read no repository.

use std::path::PathBuf;

use clap::Args;

use super::output::Output;
use crate::report::CodeTarget;
use crate::source::Date;

#[derive(Debug, Args)]
pub(in crate::cli) struct PriceArguments {
    /// Machine type or accelerator, such as g5.2xlarge or L4
    #[arg(value_name = "MACHINE|ACCELERATOR", required_unless_present_any = ["memory", "run", "hours"])]
    pub(in crate::cli) name: Option<String>,
    /// List only prices of these clouds, such as aws,gcp
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(in crate::cli) provider: Vec<String>,
    /// List only prices of this region [default: all regions that have the machine; the base region of each cloud for an accelerator]
    #[arg(long)]
    pub(in crate::cli) region: Option<String>,
    /// List only machines with this many accelerators; with --hours, buy this many of the named machine or accelerator [default with --hours: 1]
    #[arg(long)]
    pub(in crate::cli) count: Option<f64>,
    /// List only machines whose accelerators have at least this much memory each, in GiB
    #[arg(long, value_name = "GIB")]
    pub(in crate::cli) memory: Option<f64>,
    /// List only machines with a spot price, the cheapest first
    #[arg(long)]
    pub(in crate::cli) spot: bool,
    /// Sort by machine name, or by the price of one accelerator
    #[arg(long, value_parser = ["name", "price"], default_value = "name")]
    pub(in crate::cli) sort: String,
    /// Compare the ways to buy these accelerators for --hours, such as 8xA100-80GB
    #[arg(long, value_name = "ACCELERATORS", requires = "hours", conflicts_with_all = ["name", "count", "memory", "spot"])]
    pub(in crate::cli) run: Option<String>,
    /// Compare the ways to buy this many hours of the named machine or accelerator, or of --run
    #[arg(long, conflicts_with_all = ["memory", "spot"])]
    pub(in crate::cli) hours: Option<f64>,
    /// Add the prices of `prices.file` and `[[hardware]]` in this settings file [default: the nearest gpulint.toml, up to the root of the repository]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Ignore gpulint.toml
    #[arg(long, conflicts_with = "config")]
    pub(in crate::cli) no_config: bool,
    /// Calculate the age of prices as of this day, for repeatable output [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(in crate::cli) today: Option<Date>,
    /// Use these prices: `embedded` in the program, `cached` (adds prices that `gpulint catalog update` fetched), or a CSV file [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Fit {
    /// Model name, such as meta-llama/Llama-3.1-8B-Instruct
    #[arg(required_unless_present_any = ["params", "cases", "speed_cases"])]
    pub(in crate::cli) model: Option<String>,
    /// Set the number of parameters of a model that gpulint does not list, such as 7b
    #[arg(long, value_name = "SIZE")]
    pub(in crate::cli) params: Option<String>,
    /// Check this accelerator, such as L4 or A100-80GB
    #[arg(long, visible_alias = "gpu", value_name = "NAME")]
    pub(in crate::cli) accelerator: Option<String>,
    /// Check this machine type, such as g5.2xlarge
    #[arg(long, value_name = "NAME", conflicts_with = "accelerator")]
    pub(in crate::cli) machine: Option<String>,
    /// Use this many accelerators [default: all of the machine, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(in crate::cli) count: Option<u32>,
    /// List only machines of this cloud, such as aws
    #[arg(long)]
    pub(in crate::cli) provider: Option<String>,
    /// List only machines of this region, such as us-east-1
    #[arg(long)]
    pub(in crate::cli) region: Option<String>,
    /// Set what the model is used for
    #[arg(long, default_value = "serve", value_parser = ["serve", "embed", "diffusion", "speech", "train"])]
    pub(in crate::cli) task: String,
    /// Set the precision of the weights: bf16, fp8, int8, awq, nf4, ... [default: the precision that the model is published in]
    #[arg(long)]
    pub(in crate::cli) precision: Option<String>,
    /// Set the precision of the KV cache: fp8, int8 or int4 [default: 16 bits]
    #[arg(long)]
    pub(in crate::cli) cache_precision: Option<String>,
    /// Set the context length, or the length of a training sequence, in tokens, such as 32768 or 32k [default for serving: the model's maximum]
    #[arg(long, visible_alias = "sequence", value_name = "TOKENS")]
    pub(in crate::cli) context: Option<String>,
    /// Process this many sequences or samples at a time [default: 1]
    #[arg(long, visible_alias = "batch", value_name = "N")]
    pub(in crate::cli) batch_size: Option<String>,
    /// Minimize the price per machine hour or per generated token
    #[arg(long, default_value = "hour", value_parser = ["hour", "token"])]
    pub(in crate::cli) by: String,
    /// Limit the mean time to the first token, such as 500ms or 0.5s
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) ttft: Option<String>,
    /// Limit the time between two tokens of an answer, such as 30ms
    #[arg(long, visible_alias = "tpot", value_name = "TIME")]
    pub(in crate::cli) ms_per_token: Option<String>,
    /// Set the load: requests per second, such as 20rps, or generated tokens per second, such as 4000tps
    #[arg(long, value_name = "RATE")]
    pub(in crate::cli) load: Option<String>,
    /// With --by token: set the tokens generated on a usual day, such as 5M
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) tokens_per_day: Option<String>,
    /// Set the tokens of a usual prompt [default: 1024]
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) input_tokens: Option<String>,
    /// Set the tokens of a usual answer [default: 256]
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) output_tokens: Option<String>,
    /// Set the number of requests at a time [default: as many as the server accepts]
    #[arg(long, value_name = "N", value_parser = requests)]
    pub(in crate::cli) concurrency: Option<f64>,
    /// With --task train: estimate the days and the cost of training on this many tokens, such as 15B
    #[arg(long, value_name = "TOKENS")]
    pub(in crate::cli) train_tokens: Option<String>,
    /// With --task train: train on this many machines together
    #[arg(long, value_name = "N", requires = "machine", conflicts_with = "count", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(in crate::cli) machines: Option<u32>,
    /// With --task train: set the training method
    #[arg(long, value_parser = ["full", "lora", "qlora"])]
    pub(in crate::cli) method: Option<String>,
    /// With --task train: set the optimizer: adamw, adamw8bit, lion, adafactor, ...
    #[arg(long)]
    pub(in crate::cli) optimizer: Option<String>,
    /// With --task train: set how the model is distributed over accelerators
    #[arg(long, value_parser = ["none", "ddp", "fsdp", "zero1", "zero2", "zero3", "megatron"])]
    pub(in crate::cli) sharding: Option<String>,
    /// With --task train: keep activations in memory instead of computing them again
    #[arg(long)]
    pub(in crate::cli) keep_activations: bool,
    /// Read models from this CSV file before the embedded table, or read this config.json of the named model
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) models: Option<PathBuf>,
    /// Write code that runs the model on the cheapest machine to standard output: a Kubernetes Deployment, a SkyPilot task or Terraform
    #[arg(long, value_name = "CODE", value_parser = CodeTarget::NAMES, conflicts_with_all = ["accelerator", "machine", "count", "formats", "outputs", "cases", "speed_cases"])]
    pub(in crate::cli) emit: Option<String>,
    /// Check each workload of this CSV file and print one JSON object per line
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["model", "params", "accelerator", "machine"])]
    pub(in crate::cli) cases: Option<PathBuf>,
    /// Estimate the speed of each server of this CSV file and print one JSON object per line
    #[arg(
        long,
        value_name = "FILE.csv",
        conflicts_with_all = ["model", "params", "accelerator", "machine", "cases"]
    )]
    pub(in crate::cli) speed_cases: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

fn requests(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| (1.0..=1e9).contains(number));
    number.ok_or_else(|| "expected a number of requests of at least 1".to_owned())
}
