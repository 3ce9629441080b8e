//! Types and kinds that no row describes: which of them name machines with accelerators.

use crate::catalog::Catalog;
use crate::diagnostic::SkipKind;
use crate::inventory::{FieldMeaning, Unjudged, Unlisted, UnlistedField};

use super::named::is_one_name;

/// Fields that are named in a sentence.
const MOST_NAMED: usize = 3;

/// What is said of it, at a path; nothing where it has nothing to do with accelerators.
pub(super) fn tell(it: &Unlisted, path: String, catalog: &Catalog) -> Option<Unjudged> {
    let named: Vec<&UnlistedField> = it.fields.iter().filter(|field| asks(field, catalog)).collect();
    if named.is_empty() && !it.is_by_type {
        return None;
    }
    let times = match it.count {
        Some(1.0) => String::new(),
        Some(count) => format!(", {count} of it,"),
        None => ", nobody knows how many of it,".to_owned(),
    };
    let fields: Vec<String> = named.iter().take(MOST_NAMED).map(|field| written(field)).collect();
    let what = if fields.is_empty() {
        "is about accelerators by its type".to_owned()
    } else {
        format!("names {}", fields.join(", "))
    };
    let reason =
        format!("{}{times} {what}: {} is no type that is known here, and nothing of it is priced", it.address, it.kind);
    let known: Vec<String> = it.fields.iter().map(written).collect();
    let told = Unjudged {
        known: format!("{:?} {}", it.count, known.join(", ")),
        ..Unjudged::new(SkipKind::UnknownType, path, reason)
    };
    Some(told.about(&it.address).at(it.body))
}

/// Whether the field asks for accelerators, by the names that the catalog has or by a number.
fn asks(field: &UnlistedField, catalog: &Catalog) -> bool {
    let Some(value) = &field.value else { return field.says != FieldMeaning::Machine };
    let value = value.trim();
    match field.says {
        FieldMeaning::Machine => is_one_name(value, catalog),
        FieldMeaning::Number => value.parse::<u32>().is_ok_and(|number| number > 0) || is_model(value, catalog),
        FieldMeaning::Accelerator => is_model(value, catalog),
    }
}

/// The name of an accelerator, or of a machine with some.
fn is_model(value: &str, catalog: &Catalog) -> bool {
    catalog.accelerator(value).is_some() || catalog.provider_of(value).is_some()
}

fn written(field: &UnlistedField) -> String {
    match &field.value {
        Some(value) => format!("{} = {}", field.name, crate::diagnostic::shortened(value.clone())),
        None => format!("{}, which is not known", field.name),
    }
}
