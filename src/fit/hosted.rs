//! The price of the same model at public hosting services.

use crate::catalog::{Catalog, Hosted};
use crate::inventory::{Key, Resource};

/// The median price of a model's hosts. The cheapest host often does not last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MiddleHost<'c> {
    pub host: Hosted<'c>,
    pub hosts: usize,
    /// Dollars per million generated tokens, including their prompts.
    pub per_million: f64,
}

/// The minimum number of hosts for a median.
const LEAST_HOSTS: usize = 3;

/// Returns `None` if fewer than three hosts serve exactly this model.
pub fn middle_host<'c>(catalog: &'c Catalog, model: &str, lengths: (f64, f64)) -> Option<MiddleHost<'c>> {
    let prompts = lengths.0 / lengths.1;
    let cost = |host: &Hosted<'_>| host.output + prompts * host.input;
    let mut hosts = catalog.hosted(model);
    if hosts.len() < LEAST_HOSTS {
        return None;
    }
    hosts.sort_by(|one, two| cost(one).total_cmp(&cost(two)).then_with(|| one.host.cmp(two.host)));
    let host = *hosts.get((hosts.len() - 1) / 2)?;
    let per_million = cost(&host);
    (per_million > 0.0).then_some(MiddleHost { host, hosts: hosts.len(), per_million })
}

/// Returns the hosts for the model of a resource. Returns `None` if its data is private, or could be.
pub fn host_of<'c>(resource: &Resource, lengths: (f64, f64), catalog: &'c Catalog) -> Option<MiddleHost<'c>> {
    let may_be_private = resource.fact(Key::PrivateData).is_unknown() || resource.flag(Key::PrivateData) == Some(true);
    let model = resource.text(Key::Model).filter(|_| !may_be_private)?;
    middle_host(catalog, model, lengths)
}
