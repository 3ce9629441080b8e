//! Where a resource runs.

use crate::inventory::{Fact, Value};

use super::fact::Wanted;
use super::language::{ProviderRow, TypeRow};
use super::scope::RowScope;

/// The region by the resource's own text, else by its provider's configuration; zones lose their letter.
pub(super) fn region(scope: &RowScope<'_>, row: &TypeRow, provider: Option<&ProviderRow>) -> Fact<Value> {
    let own = scope.fact(&row.region, Wanted::TEXT);
    let fact = own.or(|| provider.map_or(Fact::Absent, |it| scope.fact(&it.region, Wanted::TEXT)));
    fact.map(|value| Value::text(region_of(&value.to_string(), provider)))
}

/// A zone without its letter, and a region as prices name it.
pub(super) fn region_of(text: &str, provider: Option<&ProviderRow>) -> String {
    // Azure names a region for people, too: `West Europe`.
    let text = text.rsplit('/').next().unwrap_or(text).replace(' ', "").to_lowercase();
    let zone = provider.and_then(|it| it.zone.as_ref());
    zone.and_then(|zone| zone.first_group(&text)).unwrap_or(text)
}
