//! Arguments of `gpulint catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::refresh::PriceVendor;
use crate::source::Date;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CatalogVerb {
    /// Show the version and the age of the prices, and which of them are outdated
    Show(Show),
    /// Fetch newer prices: the signed file of the day, or the lists of providers (opens network connections)
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
    /// Ask these providers instead: aws, azure, gcp, lambda, runpod, vast, or `all` that need no key or for which a key is set
    #[arg(value_name = "PROVIDER", value_parser = vendor)]
    pub(in crate::cli) providers: Vec<AskedVendor>,
    /// Fetch prices of this region of aws, azure or gcp, or of `all`; repeatable [default: the base region of each cloud]
    #[arg(long = "region", value_name = "REGION", requires = "providers")]
    pub(in crate::cli) regions: Vec<String>,
    /// Accept prices that changed by more than a factor of three
    #[arg(long)]
    pub(in crate::cli) accept_changes: bool,
    /// Allow this many seconds for one answer, and four times as long for all answers of a provider
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub(in crate::cli) timeout: u64,
    /// Fetch from this mirror instead of the providers' own addresses
    #[arg(long, value_name = "URL", requires = "providers")]
    pub(in crate::cli) mirror: Option<String>,
    /// Read another signed file than that of the day; the signature has the same name plus `.sig`
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["providers", "regions", "mirror"])]
    pub(in crate::cli) from: Option<String>,
    /// Verify the signature with the public keys in this file, lines of 64 hexadecimal digits [default: gpulint's own]
    #[arg(long, value_name = "FILE", conflicts_with = "providers")]
    pub(in crate::cli) key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Verify {
    /// Check these prices: `embedded`, `cached`, or a CSV file [default: cached]
    #[arg(long, value_name = "embedded|cached|FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,
    /// Print the doubted rows as text or as a table
    #[arg(long, value_enum, default_value_t = DoubtFormat::Text)]
    pub(in crate::cli) format: DoubtFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum DoubtFormat {
    Text,
    Csv,
}

/// A provider to ask, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cli) enum AskedVendor {
    One(PriceVendor),
    All,
}

fn vendor(name: &str) -> Result<AskedVendor, String> {
    if name == "all" {
        return Ok(AskedVendor::All);
    }
    PriceVendor::from_name(name).map(AskedVendor::One).ok_or_else(|| {
        let names: Vec<_> = PriceVendor::ALL.iter().map(|vendor| vendor.name()).collect();
        format!("expected one of {}, or all", names.join(", "))
    })
}
