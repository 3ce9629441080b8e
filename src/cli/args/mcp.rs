//! Arguments of `gpulint mcp`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct Mcp {
    /// Folder to answer for; the server reads nothing outside it, writes nothing and starts no program [default: .]
    #[arg(value_name = "FOLDER", default_value = ".", hide_default_value = true)]
    pub(in crate::cli) folder: PathBuf,
    /// Allow this many seconds for one answer
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(in crate::cli) seconds: u64,
}
