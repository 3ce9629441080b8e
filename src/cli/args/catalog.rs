//! `gpulint catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::refresh::Vendor;
use crate::source::Date;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CatalogVerb {
    /// Version and age of prices, and what is too old
    Show(Show),
    /// Fetch newer prices from those who sell (opens connections)
    Update(Box<Fetch>),
    /// Whether all prices can be true
    Verify(Verify),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Show {
    /// The day to judge ages by [default: today]
    #[arg(long, value_name = "DATE")]
    pub(in crate::cli) today: Option<Date>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Fetch {
    /// aws, azure, gcp, lambda, runpod or vast [default: all for which there is a key, or that need none]
    #[arg(value_parser = vendor)]
    pub(in crate::cli) providers: Vec<Vendor>,
    /// Region of a large cloud, or `all`; may be given several times [default: the base region of each]
    #[arg(long = "region", value_name = "REGION")]
    pub(in crate::cli) regions: Vec<String>,
    /// Believe prices that changed by more than a factor of three
    #[arg(long)]
    pub(in crate::cli) accept_changes: bool,
    /// Seconds that one answer may take; all answers of a provider together four times as long
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub(in crate::cli) timeout: u64,
    /// Ask this address instead of the vendors' own: a mirror
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) mirror: Option<String>,
    /// Take prices of all providers from one signed file instead; the signature lies beside it and ends in `.sig`
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["providers", "regions", "mirror"])]
    pub(in crate::cli) from: Option<String>,
    /// The public key of whom you let sign prices, 64 hexadecimal digits
    #[arg(long, value_name = "FILE", requires = "from")]
    pub(in crate::cli) key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Verify {
    /// `embedded`, `cached`, or a CSV file of your own [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
}

fn vendor(name: &str) -> Result<Vendor, String> {
    Vendor::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Vendor::ALL.iter().map(|vendor| vendor.name()).collect();
        format!("prices are fetched from {}", names.join(", "))
    })
}
