//! A server for assistants.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct Mcp {
    /// The folder to answer for: nothing outside of it is read, nothing is written, no program is started
    #[arg(value_name = "FOLDER", default_value = ".", hide_default_value = true)]
    pub(in crate::cli) folder: PathBuf,
    /// The seconds that one answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(in crate::cli) seconds: u64,
}
