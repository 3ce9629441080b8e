//! Fetches newer prices from providers. One file for each provider contains its requests and the parser of its answers.
//!
//! `guard` checks every fetched price. If a price is rejected, the older one stays.
//! Callers pass in files, the environment, the clock and the terminal. Checks of repositories never use this module.

mod access;
mod aws;
mod azure;
mod gcp;
mod guard;
mod lambda;
mod release;
mod row;
mod runpod;
mod spot;
mod spot_history;
mod tables;
mod vast;

use crate::catalog::{AWS, AZURE, Catalog, GCP};
use crate::http::{Error, HttpErrorKind};

pub use access::{Access, PriceSource};
use access::{MOST_ROWS, malformed};
pub use guard::Rejected;
pub use release::{
    DAILY_KEYS, DAILY_PRICES, LONGEST_RELEASE_BYTES, PriceRelease, day as release_day, fetch as fetch_release,
    lines as key_lines, take as take_release, verify as verify_release,
};
pub use row::PriceRow;
pub use tables::{MODELS, TableUpdate};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceVendor {
    Aws,
    Azure,
    Gcp,
    Lambda,
    Runpod,
    Vast,
}

impl PriceVendor {
    pub const ALL: [PriceVendor; 6] = [
        PriceVendor::Aws,
        PriceVendor::Azure,
        PriceVendor::Gcp,
        PriceVendor::Lambda,
        PriceVendor::Runpod,
        PriceVendor::Vast,
    ];

    /// Returns the name of the provider.
    pub fn name(self) -> &'static str {
        match self {
            PriceVendor::Aws => AWS,
            PriceVendor::Azure => AZURE,
            PriceVendor::Gcp => GCP,
            PriceVendor::Lambda => "lambda",
            PriceVendor::Runpod => "runpod",
            PriceVendor::Vast => "vast",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.name() == name)
    }

    /// Returns the environment variable for the key, and whether the provider requires one.
    pub fn key(self) -> Option<(&'static str, bool)> {
        match self {
            PriceVendor::Aws | PriceVendor::Azure => None,
            PriceVendor::Gcp => Some(("GCP_API_KEY", true)),
            PriceVendor::Lambda => Some(("LAMBDA_API_KEY", true)),
            PriceVendor::Runpod => Some(("RUNPOD_API_KEY", false)),
            PriceVendor::Vast => Some(("VAST_API_KEY", false)),
        }
    }
}

/// The result of an update.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    /// All valid rows: the new ones, and earlier ones that were not replaced.
    pub rows: Vec<PriceRow>,
    pub arrived: usize,
    pub rejected: Vec<Rejected>,
    /// Notes about optional sources that could not be read, such as a second source of spot prices.
    pub notes: Vec<String>,
}

impl Update {
    /// Returns the content of the cache file.
    pub fn text(&self) -> String {
        row::text(&self.rows)
    }
}

/// Requests the prices of a provider, checks them, and merges them with the rows of earlier updates. After an error,
/// the earlier rows stay valid.
pub fn update(vendor: PriceVendor, catalog: &Catalog, earlier: &str, access: &Access<'_>) -> Result<Update, Error> {
    if let (Some((variable, true)), None) = (vendor.key(), &access.key) {
        return Err(Error::new(HttpErrorKind::Unusable, format!("the provider requires a key: set {variable}")));
    }
    let fetched = match vendor {
        PriceVendor::Aws => aws::fetch(catalog, access)?,
        PriceVendor::Azure => azure::fetch(catalog, access)?,
        PriceVendor::Gcp => gcp::fetch(catalog, access)?,
        PriceVendor::Lambda => lambda::fetch(catalog, access)?,
        PriceVendor::Runpod => runpod::fetch(catalog, access)?,
        PriceVendor::Vast => vast::fetch(catalog, access)?,
    };
    if fetched.rows.len() > MOST_ROWS {
        return Err(malformed(format!("{} lists more than {MOST_ROWS} machines and regions", vendor.name())));
    }
    let earlier = row::read(earlier);
    let judged = guard::judge(vendor.name(), catalog, fetched.rows, access.accept_changes)
        .map_err(|why| Error::new(HttpErrorKind::Malformed, why))?;
    let mut rejected = fetched.rejected;
    rejected.extend(judged.rejected);
    let arrived = judged.kept.len();
    Ok(Update { rows: row::merge(earlier, judged.kept), arrived, rejected, notes: fetched.notes })
}
