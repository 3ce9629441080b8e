//! Determines the region of a resource.

use std::collections::BTreeMap;

use crate::inventory::row_path::{Start, StepName};
use crate::inventory::{Fact, FactOrigin, FactValue};
use crate::languages::hcl::value::HclData;
use crate::terraform::block::Provider;
use crate::terraform::code::clouds::CLOUDS;

use super::fact::WantedType;
use super::language::{ProviderRow, TypeRow};
use super::load;
use super::scope::RowScope;

/// Returns the region that each of these configurations of clouds sets, for objects that have none of their own.
pub(in crate::terraform) fn regions<'p>(
    configurations: impl Iterator<Item = &'p Provider>,
) -> BTreeMap<&'static str, Fact<FactValue>> {
    let region = |it: &Provider| {
        let cloud = CLOUDS.iter().find(|cloud| cloud.terraform == it.name && it.alias.is_none())?;
        let row = load::table().providers.get(cloud.provider)?;
        let paths = row.region.0.iter().filter_map(|it| it.at.as_ref()).filter(|at| at.start == Start::Provider);
        let names = paths.filter_map(|path| match &path.steps.first()?.name {
            StepName::Written(name) => Some(name),
            StepName::At(_) => None,
        });
        let attribute = names.filter_map(|name| it.attributes.get(name)).find(|it| !it.value.is_null())?;
        let fact = match &attribute.value.data {
            HclData::Unknown(cause) => Fact::unknown(cause.why.clone(), attribute.span),
            _ => {
                let region = region_of(&attribute.value.as_text()?, Some(row));
                Fact::known(FactValue::text(region), attribute.span, FactOrigin::Resolved)
            }
        };
        Some((cloud.provider, fact))
    };
    configurations.filter_map(region).collect()
}

/// Returns the region from the resource, or else from its provider configuration. Zones lose their letter.
pub(super) fn region(scope: &RowScope<'_>, row: &TypeRow, provider: Option<&ProviderRow>) -> Fact<FactValue> {
    let own = scope.fact(&row.region, WantedType::TEXT);
    let fact = own.or(|| provider.map_or(Fact::Absent, |it| scope.fact(&it.region, WantedType::TEXT)));
    the_same(fact.map(|value| FactValue::text(region_of(&value.to_string(), provider))))
}

/// Returns a known region if all possible regions are equal, as for several zones of one region.
fn the_same(region: Fact<FactValue>) -> Fact<FactValue> {
    match &region {
        Fact::Unknown(unknown) => match unknown.candidates.as_slice() {
            [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|it| it == first) => {
                Fact::known(first.clone(), unknown.span, FactOrigin::Resolved)
            }
            _ => region,
        },
        _ => region,
    }
}

/// Returns a zone without its letter, and a region in the form of the price catalog.
pub(super) fn region_of(text: &str, provider: Option<&ProviderRow>) -> String {
    // Azure also has display names for regions: `West Europe`.
    let text = text.rsplit('/').next().unwrap_or(text).replace(' ', "").to_lowercase();
    let zone = provider.and_then(|it| it.zone.as_ref());
    zone.and_then(|zone| zone.first_group(&text)).unwrap_or(text)
}
