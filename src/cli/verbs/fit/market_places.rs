//! The providers and regions that `gpulint fit` searches, and the options that it shows of each.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, Money};
use crate::cli::Failure;
use crate::cli::args::Fit;
use crate::diagnostic::nearest;
use crate::fit::{FitChoice, MarketPlace};

/// The most options that are shown for each large cloud, and for all other clouds together.
const MOST: usize = 4;

/// Returns the providers and regions to search.
pub(super) fn places<'c>(arguments: &'c Fit, catalog: &'c Catalog) -> Result<Vec<MarketPlace<'c>>, Failure> {
    let known = catalog.providers();
    let providers: Vec<&str> = match &arguments.provider {
        Some(wanted) => match known.iter().find(|provider| provider.eq_ignore_ascii_case(wanted)) {
            Some(provider) => vec![provider],
            None => {
                return Err(Failure::new(format!("unknown provider `{wanted}`"))
                    .with_help(format!("use one of {}", known.join(", "))));
            }
        },
        None => known.to_vec(),
    };
    let places: Vec<MarketPlace<'c>> =
        providers.iter().filter_map(|provider| place(arguments, catalog, provider)).collect();
    match &arguments.region {
        Some(wanted) if places.is_empty() => Err(unknown_region(wanted, &providers, catalog)),
        _ => Ok(places),
    }
}

/// Returns the place of a cloud; none if the cloud does not have the region. Only whole machines can be provisioned.
pub(super) fn place<'c>(arguments: &Fit, catalog: &'c Catalog, provider: &'c str) -> Option<MarketPlace<'c>> {
    let region = match &arguments.region {
        Some(wanted) => catalog.region(provider, wanted)?,
        None => catalog.base_region(provider),
    };
    Some(MarketPlace { provider, region, ..MarketPlace::default() })
}

fn unknown_region(wanted: &str, providers: &[&str], catalog: &Catalog) -> Failure {
    let known = providers.iter().flat_map(|provider| catalog.regions(provider));
    let of = if let [provider] = providers { format!(" of {provider}") } else { String::new() };
    let help = match nearest(wanted, known) {
        Some(near) => format!("did you mean {near}?"),
        None => "leave out --region to see the machines of each cloud's base region".to_owned(),
    };
    Failure::new(format!("the catalog lists no region `{wanted}`{of}")).with_help(help)
}

/// Returns the cheapest options of each large cloud, and one option of each of the cheapest other clouds, sorted by
/// price.
pub(super) fn by_provider<T>(
    options: impl Iterator<Item = T>,
    choice: impl Fn(&T) -> &FitChoice,
    price: impl Fn(&T) -> Money,
    clouds: &[&str],
    of_one: bool,
) -> Vec<T> {
    if of_one {
        return options.take(2 * MOST).collect();
    }
    let mut shown: BTreeMap<String, usize> = BTreeMap::new();
    let (mut of_clouds, mut of_others) = (Vec::new(), Vec::new());
    for option in options {
        let provider = &choice(&option).provider;
        let is_cloud = clouds.contains(&&**provider);
        let (list, most) = if is_cloud { (&mut of_clouds, MOST) } else { (&mut of_others, 1) };
        let count = shown.entry(provider.clone()).or_default();
        if *count < most && (is_cloud || list.len() < MOST) {
            *count += 1;
            list.push(option);
        }
    }
    let provider = |option: &T| choice(option).provider.clone();
    of_clouds.sort_by(|one, two| provider(one).cmp(&provider(two)).then(price(one).cmp(&price(two))));
    of_clouds.extend(of_others);
    of_clouds
}
