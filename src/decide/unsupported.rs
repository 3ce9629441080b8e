//! Lists resources of unsupported types and kinds that name machines with accelerators.

use crate::catalog::Catalog;
use crate::diagnostic::SkipKind;
use crate::inventory::{FieldMeaning, Unjudged, UnlistedField, UnsupportedResource, accelerators};

use super::named::{is_known, is_one_name, named_machine};

/// The limit on fields that an entry names.
const MOST_NAMED: usize = 3;

/// Returns the entry for a resource, at a path; none if the resource has nothing to do with accelerators.
pub(super) fn describe_unsupported(it: &UnsupportedResource, path: String, catalog: &Catalog) -> Option<Unjudged> {
    let mut named: Vec<&UnlistedField> = it.fields.iter().filter(|field| asks(field, catalog)).collect();
    let is_by_name = named.is_empty() && !it.is_by_type && it.is_by_name;
    if is_by_name {
        named.extend(it.machine_types());
    }
    if named.is_empty() && !it.is_by_type {
        return None;
    }
    let times = match it.count {
        Some(1.0) => String::new(),
        Some(count) => format!(" ({count} instances)"),
        None => " (unknown number of instances)".to_owned(),
    };
    let shown = |field: &UnlistedField| {
        let inside = field.value.as_deref().filter(|_| field.says == FieldMeaning::Document);
        let machine = inside.and_then(|text| named_machine(text, catalog));
        machine.map_or_else(|| written(field), |machine| format!("{machine} in {}", field.name))
    };
    let fields: Vec<String> = named.iter().take(MOST_NAMED).map(|field| shown(field)).collect();
    let what = if fields.is_empty() {
        "has accelerators by its type".to_owned()
    } else if is_by_name {
        format!("is named for accelerators and sets {}", fields.join(", "))
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
    let Some(value) = &field.value else {
        return matches!(field.says, FieldMeaning::Number | FieldMeaning::Accelerator);
    };
    let value = value.trim();
    match field.says {
        FieldMeaning::Machine => is_one_name(value, catalog),
        FieldMeaning::MachineType => is_one_name(value, catalog) || has_chip(value, catalog),
        FieldMeaning::Number => value.parse::<f64>().is_ok_and(|number| number > 0.0) || is_model(value, catalog),
        FieldMeaning::Accelerator => is_model(value, catalog),
        FieldMeaning::Document => named_machine(value, catalog).is_some(),
    }
}

/// Returns true if a machine type that no catalog lists contains the name of an accelerator: `1x.h100.pcie`,
/// `8A100.22V`, `gpu-large`.
fn has_chip(value: &str, catalog: &Catalog) -> bool {
    const LONGEST: usize = 60;
    let parts = || value.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_chip = |part: &str| {
        let part = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let part = part.strip_prefix('x').unwrap_or(part).to_ascii_lowercase();
        accelerators::is_asking(&part) || accelerators::is_chip(&part) && part.len() > 2 || is_listed(&part, catalog)
    };
    value.len() <= LONGEST && parts().count() > 1 && parts().any(is_chip)
}

/// Returns true if a word is the name of an accelerator and cannot be a version or a size.
fn is_listed(word: &str, catalog: &Catalog) -> bool {
    const SHORT: usize = 3;
    word.len() > SHORT && is_known(word, catalog) && catalog.accelerator(word).is_some()
}

/// Returns true if a value names an accelerator, or a machine with some.
fn is_model(value: &str, catalog: &Catalog) -> bool {
    // `H100:8` is a name with a number.
    let name = value.split(':').next().unwrap_or(value);
    catalog.accelerator(name).is_some() || catalog.provider_of(name).is_some()
}

fn written(field: &UnlistedField) -> String {
    match &field.value {
        Some(value) => format!("{} = {}", field.name, crate::diagnostic::shortened(value.clone())),
        None => format!("{} (value unknown)", field.name),
    }
}
