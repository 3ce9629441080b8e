//! Arguments of `gpulint catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::refresh::PriceVendor;
use crate::source::Date;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CatalogVerb {
    /// Show the version and the age of the prices, and which of them are outdated
    Show(Show),
    /// Fetch newer prices from the providers (opens network connections)
    Update(Box<Fetch>),
    /// Check all prices for impossible or contradictory values
    Verify(Verify),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Show {
    /// Calculate the age of prices as of this day [default: today]
    #[arg(long, value_name = "DATE")]
    pub(in crate::cli) today: Option<Date>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Fetch {
    /// Providers to ask: aws, azure, gcp, lambda, runpod or vast [default: all that need no key or for which a key is set]
    #[arg(value_parser = vendor)]
    pub(in crate::cli) providers: Vec<PriceVendor>,
    /// Fetch prices of this region of aws, azure or gcp, or of `all`; repeatable [default: the base region of each cloud]
    #[arg(long = "region", value_name = "REGION")]
    pub(in crate::cli) regions: Vec<String>,
    /// Accept prices that changed by more than a factor of three
    #[arg(long)]
    pub(in crate::cli) accept_changes: bool,
    /// Allow this many seconds for one answer, and four times as long for all answers of a provider
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub(in crate::cli) timeout: u64,
    /// Fetch from this mirror instead of the providers' own addresses
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) mirror: Option<String>,
    /// Read the prices of all providers from one signed file instead; the signature has the same name plus `.sig`
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["providers", "regions", "mirror"])]
    pub(in crate::cli) from: Option<String>,
    /// Verify the signature with the public key in this file: 64 hexadecimal digits
    #[arg(long, value_name = "FILE", requires = "from")]
    pub(in crate::cli) key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Verify {
    /// Check these prices: `embedded`, `cached`, or a CSV file [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
}

fn vendor(name: &str) -> Result<PriceVendor, String> {
    PriceVendor::from_name(name).ok_or_else(|| {
        let names: Vec<_> = PriceVendor::ALL.iter().map(|vendor| vendor.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}
