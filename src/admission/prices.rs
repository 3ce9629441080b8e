//! Computes the prices of machine types as `gpulint check` computes them for a pool.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::AnalysisSettings;
use crate::analyze;
use crate::rules::End;
use crate::source::{MemoryTree, SourceFiles};

/// The clouds whose pools Karpenter creates, in order of their names.
const CLOUDS: [&str; 4] = ["alicloud", "aws", "azure", "gcp"];

/// Ways of buying, each with the values of the label by which a pool requires it.
const PURCHASES: [(&str, &str); 3] =
    [("on-demand", "[on-demand]"), ("spot", "[spot]"), ("spot-or-on-demand", "[spot, on-demand]")];

/// Returns the price per hour of each `machine|purchase` in the region of the settings, or in the base region of its
/// cloud. It is the price of a pool of Karpenter with this machine type.
pub(super) fn hourly_prices(settings: &AnalysisSettings, end: End) -> BTreeMap<String, f64> {
    let mut keys = Vec::new();
    let mut manifests = String::new();
    for machine in settings.catalog.machines().filter(|it| CLOUDS.contains(&&*it.provider)) {
        for (purchase, values) in PURCHASES {
            let _ = write!(
                manifests,
                "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p{}}}\nspec:\n  template:\n    spec:\n      \
                 requirements:\n        - {{key: node.kubernetes.io/instance-type, operator: In, values: [{:?}]}}\n        \
                 - {{key: karpenter.sh/capacity-type, operator: In, values: {values}}}\n",
                keys.len(),
                machine.name
            );
            keys.push(format!("{}|{purchase}", machine.name.to_ascii_lowercase()));
        }
    }
    let sources = SourceFiles::new(MemoryTree::new().with("pools.yaml", manifests));
    let of_prices = AnalysisSettings {
        catalog: settings.catalog.clone(),
        pricing: settings.pricing.clone(),
        today: settings.today,
        ..AnalysisSettings::default()
    };
    let analysis = analyze(&sources, &["pools.yaml".to_owned()], &of_prices);
    let priced = analysis.inventory.resources.iter().zip(&analysis.bill.items);
    let priced = priced.filter_map(|(resource, item)| {
        let place: usize = resource.address.strip_prefix("NodePool/p")?.parse().ok()?;
        let range = item.listed().hourly()?;
        let usd = match end {
            End::Floor => range.floor,
            End::Expected => range.expected,
            End::Ceiling => range.ceiling,
        };
        Some((keys.get(place)?.clone(), usd.usd()))
    });
    priced.collect()
}

/// Returns the region of the prices of each cloud.
pub(super) fn regions(settings: &AnalysisSettings) -> BTreeMap<String, String> {
    let given = settings.pricing.defaults.region.as_deref();
    let region = |cloud: &str| {
        let given = given.and_then(|region| settings.catalog.region(cloud, region));
        given.unwrap_or_else(|| settings.catalog.base_region(cloud)).to_owned()
    };
    CLOUDS.iter().map(|cloud| ((*cloud).to_owned(), region(cloud))).collect()
}
