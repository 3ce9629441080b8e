//! Sends requests to providers, and returns their unchecked answers.

use std::collections::BTreeMap;

use super::guard::Rejected;
use super::row::PriceRow;
use crate::catalog::Catalog;
use crate::http::{AwsKeys, Clock, Credential, Error, HttpClient, HttpErrorKind, HttpOrigin, HttpSettings, Secret};

/// The interfaces that are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceSource {
    AwsPrices,
    AwsAdvisor,
    AwsSpot,
    AwsSpotHistory,
    Azure,
    Gcp,
    Lambda,
    Runpod,
    Vast,
}

impl PriceSource {
    pub const ALL: [PriceSource; 9] = [
        PriceSource::AwsPrices,
        PriceSource::AwsAdvisor,
        PriceSource::AwsSpot,
        PriceSource::AwsSpotHistory,
        PriceSource::Azure,
        PriceSource::Gcp,
        PriceSource::Lambda,
        PriceSource::Runpod,
        PriceSource::Vast,
    ];

    /// Where the vendor documents it, 2026-11; `{region}` stands for the name of a region.
    pub fn address(self) -> &'static str {
        match self {
            PriceSource::AwsPrices => "https://pricing.us-east-1.amazonaws.com",
            PriceSource::AwsAdvisor => "https://spot-bid-advisor.s3.amazonaws.com",
            PriceSource::AwsSpot => "https://website.spot.ec2.aws.a2z.com",
            PriceSource::AwsSpotHistory => "https://ec2.{region}.amazonaws.com",
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
    /// Of an account of AWS, which tells what spot costs in each zone only to those who sign what they ask.
    pub aws: Option<AwsKeys>,
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

/// Rows as a vendor states them, before they are judged.
#[derive(Debug, Default)]
pub(super) struct FetchedPrices {
    pub(super) rows: Vec<PriceRow>,
    /// Rows whose currency or unit is not what it must be.
    pub(super) rejected: Vec<Rejected>,
    pub(super) notes: Vec<String>,
}

impl Access<'_> {
    pub(super) fn client(&self, place: PriceSource, credential: Credential) -> Result<HttpClient<'_>, Error> {
        self.client_at(place, "", credential)
    }

    /// The same of an interface of which each region has its own.
    pub(super) fn client_at(
        &self,
        place: PriceSource,
        region: &str,
        credential: Credential,
    ) -> Result<HttpClient<'_>, Error> {
        let address = self.addresses.get(&place).map_or(place.address(), String::as_str).replace("{region}", region);
        let origin = HttpOrigin::parse(&address, self.http.allow_plain_http)?;
        HttpClient::new(origin, credential, self.http.clone(), self.clock)
    }

    pub(super) fn bearer(&self) -> Credential {
        self.key.clone().map_or(Credential::Anonymous, Credential::Bearer)
    }

    /// The regions that are asked for, or the one in which a provider's list is most complete.
    pub(super) fn regions_of(&self, provider: &str, catalog: &Catalog) -> Vec<String> {
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
pub(super) const MOST_ROWS: usize = 50_000;

/// What leads to the next page is an address with a mark of some hundred letters.
pub(super) const LONGEST_LINK: usize = 8 << 10;

pub(super) fn malformed(what: impl Into<String>) -> Error {
    Error::new(HttpErrorKind::Malformed, what)
}
