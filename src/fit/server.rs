//! Reads how a server must load a model, so that it needs the memory of the estimate.

use super::demand::FactReader;
use super::memory::{GIB, weight_bytes};
use crate::catalog::{Catalog, Precision};
use crate::inventory::{Fact, Key, Resource};

/// The settings with which a server needs the memory of the estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// The tokens that must fit.
    pub context: f64,
    /// The configured number of requests at a time.
    pub concurrent: Option<f64>,
    /// The precision of the weights in memory.
    pub precision: Precision,
    /// The precision of the weights as they are downloaded, or `None` if it is unknown.
    pub published: Option<Precision>,
    /// The declared precision of the cache, which has 16 bits by default.
    pub cache_precision: Option<String>,
    /// The size of the downloaded weights.
    pub download_gib: f64,
    /// Whether the size of a token's cache and the context window of the model are known.
    pub cache_known: bool,
}

/// Returns the settings of a server for a model; `None` if a required value is unknown.
pub fn server_settings(resource: &Resource, catalog: &Catalog) -> Option<ServerSettings> {
    let demand = FactReader::new(resource).demand(catalog).ok()?;
    let mut undeclared = resource.clone();
    undeclared.set(Key::Precision, Fact::Absent);
    let published = FactReader::new(&undeclared).demand(catalog).ok().map(|demand| demand.precision);
    Some(ServerSettings {
        context: demand.context,
        concurrent: demand.concurrent,
        precision: demand.precision,
        published,
        cache_precision: resource.text(Key::CachePrecision).map(str::to_owned),
        download_gib: weight_bytes(&demand.model, published.unwrap_or(demand.precision)) / GIB,
        cache_known: !demand.known_by_size && demand.model.max_context > 0.0,
    })
}
