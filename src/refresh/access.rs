//! Sends requests to providers, and returns their unchecked answers.

use std::collections::BTreeMap;

use super::guard::Rejected;
use super::row::PriceRow;
use crate::catalog::Catalog;
use crate::http::{AwsKeys, Clock, Credential, Error, HttpClient, HttpErrorKind, HttpOrigin, HttpSettings, Secret};

/// The interfaces of the providers.
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

    /// Returns the documented address of the interface, 2026-11. `{region}` is a placeholder for the name of a region.
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

/// The access to the network, and the options of the update.
pub struct Access<'a> {
    pub http: HttpSettings,
    pub clock: &'a dyn Clock,
    /// The key of the provider, if there is one.
    pub key: Option<Secret>,
    /// The keys of an AWS account, because the spot prices of zones require signed requests.
    pub aws: Option<AwsKeys>,
    /// Replacements for the documented addresses, such as a mirror.
    pub addresses: BTreeMap<PriceSource, String>,
    /// The regions of the large clouds to read.
    pub regions: Vec<String>,
    /// The date, such as `2026-11-21`, for providers that do not date their prices.
    pub today: String,
    /// Whether to accept rows that differ from the known ones by more than the guard allows.
    pub accept_changes: bool,
    /// Receives the name of each source that is read.
    pub progress: &'a dyn Fn(&str),
}

/// The rows of a provider, not checked yet.
#[derive(Debug, Default)]
pub(super) struct FetchedPrices {
    pub(super) rows: Vec<PriceRow>,
    /// The rows with an unexpected currency or unit.
    pub(super) rejected: Vec<Rejected>,
    pub(super) notes: Vec<String>,
}

impl Access<'_> {
    pub(super) fn client(&self, place: PriceSource, credential: Credential) -> Result<HttpClient<'_>, Error> {
        self.client_at(place, "", credential)
    }

    /// Returns a client for an interface that has its own address in each region.
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

    /// Returns the requested regions, or the one in which the list of a provider is most complete.
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

/// The maximum number of rows. Every provider has fewer than ten thousand pairs of machine and region.
pub(super) const MOST_ROWS: usize = 50_000;

/// The maximum length of a link to the next page, which contains a marker of some hundred characters.
pub(super) const LONGEST_LINK: usize = 8 << 10;

pub(super) fn malformed(what: impl Into<String>) -> Error {
    Error::new(HttpErrorKind::Malformed, what)
}
