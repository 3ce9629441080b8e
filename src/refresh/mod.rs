//! Newer prices from those who sell: one file a vendor says what to ask and how to read the answer.
//!
//! Everything that arrives is judged before it is believed (`guard`), and what is refused leaves the older row in place.
//! Files, the environment, the clock and the terminal are handed in; nothing that lints calls this room.

mod aws;
mod azure;
mod gcp;
mod guard;
mod lambda;
mod release;
mod row;
mod runpod;
mod spot;
mod vast;

use std::collections::BTreeMap;

use crate::catalog::{AWS, AZURE, Catalog, GCP};
use crate::http::{Client, Clock, Credential, Error, HttpErrorKind, HttpOrigin, HttpSettings, Secret};

pub use guard::Rejected;
pub use release::{
    LONGEST_RELEASE_BYTES, PriceRelease, fetch as fetch_release, take as take_release, verify as verify_release,
};
pub use row::PriceRow;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vendor {
    Aws,
    Azure,
    Gcp,
    Lambda,
    Runpod,
    Vast,
}

impl Vendor {
    pub const ALL: [Vendor; 6] =
        [Vendor::Aws, Vendor::Azure, Vendor::Gcp, Vendor::Lambda, Vendor::Runpod, Vendor::Vast];

    /// The provider whose prices these are.
    pub fn name(self) -> &'static str {
        match self {
            Vendor::Aws => AWS,
            Vendor::Azure => AZURE,
            Vendor::Gcp => GCP,
            Vendor::Lambda => "lambda",
            Vendor::Runpod => "runpod",
            Vendor::Vast => "vast",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.name() == name)
    }

    /// The environment variable that holds the key, and whether nothing can be asked without one.
    pub fn key(self) -> Option<(&'static str, bool)> {
        match self {
            Vendor::Aws | Vendor::Azure => None,
            Vendor::Gcp => Some(("GCP_API_KEY", true)),
            Vendor::Lambda => Some(("LAMBDA_API_KEY", true)),
            Vendor::Runpod => Some(("RUNPOD_API_KEY", false)),
            Vendor::Vast => Some(("VAST_API_KEY", false)),
        }
    }
}

/// The interfaces that are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceSource {
    AwsPrices,
    AwsAdvisor,
    AwsSpot,
    Azure,
    Gcp,
    Lambda,
    Runpod,
    Vast,
}

impl PriceSource {
    pub const ALL: [PriceSource; 8] = [
        PriceSource::AwsPrices,
        PriceSource::AwsAdvisor,
        PriceSource::AwsSpot,
        PriceSource::Azure,
        PriceSource::Gcp,
        PriceSource::Lambda,
        PriceSource::Runpod,
        PriceSource::Vast,
    ];

    /// Where the vendor documents it, 2026-11.
    pub fn address(self) -> &'static str {
        match self {
            PriceSource::AwsPrices => "https://pricing.us-east-1.amazonaws.com",
            PriceSource::AwsAdvisor => "https://spot-bid-advisor.s3.amazonaws.com",
            PriceSource::AwsSpot => "https://website.spot.ec2.aws.a2z.com",
            PriceSource::Azure => "https://prices.azure.com",
            PriceSource::Gcp => "https://cloudbilling.googleapis.com",
            PriceSource::Lambda => "https://cloud.lambda.ai",
            PriceSource::Runpod => "https://api.runpod.io",
            PriceSource::Vast => "https://console.vast.ai",
        }
    }
}

/// How the network is reached, and what is asked for.
pub struct Access<'a> {
    pub http: HttpSettings,
    pub clock: &'a dyn Clock,
    /// Of the vendor that is asked, if there is one.
    pub key: Option<Secret>,
    /// Other addresses than the documented ones, for a mirror.
    pub addresses: BTreeMap<PriceSource, String>,
    /// Regions of the large clouds.
    pub regions: Vec<String>,
    /// `2026-11-21`, for vendors that do not date their prices.
    pub today: String,
    /// Rows that differ from the known ones by more than the guard allows are believed.
    pub accept_changes: bool,
    /// Told what is being read.
    pub progress: &'a dyn Fn(&str),
}

/// What an update brought.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    /// Every row that holds now: those that arrived, and earlier ones that were not replaced.
    pub rows: Vec<PriceRow>,
    pub arrived: usize,
    pub rejected: Vec<Rejected>,
    /// What could not be read and is not needed: a second source of spot prices.
    pub notes: Vec<String>,
}

impl Update {
    /// The text of the file that the cache keeps.
    pub fn text(&self) -> String {
        row::text(&self.rows)
    }
}

/// Rows as a vendor states them, before they are judged.
#[derive(Debug, Default)]
struct Fetched {
    rows: Vec<PriceRow>,
    /// Rows whose currency or unit is not what it must be.
    rejected: Vec<Rejected>,
    notes: Vec<String>,
}

/// Asks a vendor for its prices, judges them, and merges them with what an earlier update brought. On an error the earlier
/// rows hold on.
pub fn update(vendor: Vendor, catalog: &Catalog, earlier: &str, access: &Access<'_>) -> Result<Update, Error> {
    if let (Some((variable, true)), None) = (vendor.key(), &access.key) {
        return Err(Error::new(HttpErrorKind::Unusable, format!("nothing can be asked without a key: set {variable}")));
    }
    let fetched = match vendor {
        Vendor::Aws => aws::fetch(catalog, access)?,
        Vendor::Azure => azure::fetch(catalog, access)?,
        Vendor::Gcp => gcp::fetch(catalog, access)?,
        Vendor::Lambda => lambda::fetch(catalog, access)?,
        Vendor::Runpod => runpod::fetch(catalog, access)?,
        Vendor::Vast => vast::fetch(catalog, access)?,
    };
    let earlier = row::read(earlier);
    let judged = guard::judge(vendor.name(), catalog, fetched.rows, access.accept_changes)
        .map_err(|why| Error::new(HttpErrorKind::Malformed, why))?;
    let mut rejected = fetched.rejected;
    rejected.extend(judged.rejected);
    let arrived = judged.kept.len();
    Ok(Update { rows: row::merge(earlier, judged.kept), arrived, rejected, notes: fetched.notes })
}

impl Access<'_> {
    fn client(&self, place: PriceSource, credential: Credential) -> Result<Client<'_>, Error> {
        let address = self.addresses.get(&place).map_or(place.address(), String::as_str);
        let origin = HttpOrigin::parse(address, self.http.allow_plain_http)?;
        Client::new(origin, credential, self.http.clone(), self.clock)
    }

    fn bearer(&self) -> Credential {
        self.key.clone().map_or(Credential::Anonymous, Credential::Bearer)
    }

    /// The regions that are asked for, or the one in which a provider's list is most complete.
    fn regions_of(&self, provider: &str, catalog: &Catalog) -> Vec<String> {
        match self.regions.as_slice() {
            [] => vec![catalog.base_region(provider).to_owned()],
            [all] if all == "all" => catalog.regions(provider).into_iter().map(str::to_owned).collect(),
            named => {
                let known = named.iter().map(|name| catalog.region(provider, name).unwrap_or(name).to_owned());
                known.collect()
            }
        }
    }
}

/// Machines with accelerators times regions are below ten thousand at every vendor.
const MOST_ROWS: usize = 50_000;
/// What leads to the next page is an address with a mark of some hundred letters.
const LONGEST_LINK: usize = 8 << 10;

fn malformed(what: impl Into<String>) -> Error {
    Error::new(HttpErrorKind::Malformed, what)
}
