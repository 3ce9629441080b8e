//! Lists resources of unsupported types and kinds that name machines with accelerators.

use crate::catalog::Catalog;
use crate::diagnostic::SkipKind;
use crate::inventory::{FieldMeaning, Unjudged, UnlistedField, UnsupportedResource};

use super::named::is_one_name;

/// The limit on fields that an entry names.
const MOST_NAMED: usize = 3;

/// Returns the entry for a resource, at a path; none if the resource has nothing to do with accelerators.
pub(super) fn describe_unsupported(it: &UnsupportedResource, path: String, catalog: &Catalog) -> Option<Unjudged> {
    let named: Vec<&UnlistedField> = it.fields.iter().filter(|field| asks(field, catalog)).collect();
    if named.is_empty() && !it.is_by_type {
        return None;
    }
    let times = match it.count {
        Some(1.0) => String::new(),
        Some(count) => format!(" ({count} instances)"),
        None => " (unknown number of instances)".to_owned(),
    };
    let fields: Vec<String> = named.iter().take(MOST_NAMED).map(|field| written(field)).collect();
    let what = if fields.is_empty() {
        "has accelerators by its type".to_owned()
    } else {
        format!("names {}", fields.join(", "))
    };
    let reason = format!("{}{times} {what}: the type {} is not supported, so it has no price", it.address, it.kind);
    let known: Vec<String> = it.fields.iter().map(written).collect();
    let told = Unjudged {
        known: format!("{:?} {}", it.count, known.join(", ")),
        ..Unjudged::new(SkipKind::UnknownType, path, reason)
    };
    Some(told.about(&it.address).at(it.body))
}

/// Returns true if the field requests accelerators, by a name in the catalog or by a number.
fn asks(field: &UnlistedField, catalog: &Catalog) -> bool {
    let Some(value) = &field.value else { return field.says != FieldMeaning::Machine };
    let value = value.trim();
    match field.says {
        FieldMeaning::Machine => is_one_name(value, catalog),
        FieldMeaning::Number => value.parse::<u32>().is_ok_and(|number| number > 0) || is_model(value, catalog),
        FieldMeaning::Accelerator => is_model(value, catalog),
    }
}

/// Returns true if a value names an accelerator, or a machine with some.
fn is_model(value: &str, catalog: &Catalog) -> bool {
    catalog.accelerator(value).is_some() || catalog.provider_of(value).is_some()
}

fn written(field: &UnlistedField) -> String {
    match &field.value {
        Some(value) => format!("{} = {}", field.name, crate::diagnostic::shortened(value.clone())),
        None => format!("{} (value unknown)", field.name),
    }
}
