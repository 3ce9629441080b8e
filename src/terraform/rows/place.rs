//! Determines the region of a resource.

use crate::inventory::{Fact, FactOrigin, FactValue};

use super::fact::WantedType;
use super::language::{ProviderRow, TypeRow};
use super::scope::RowScope;

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
