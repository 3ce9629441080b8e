//! Adds labels to a resource: to a map, or to a list of keys and values.

use std::rc::Rc;
use std::sync::Arc;

use crate::inventory::{Declined, FactValue, Resource};
use crate::languages::yaml::AddedPiece;
use crate::source::Edit;
use crate::terraform::LabelPlace;

use super::document::{Pending, TemplateDocument};
use super::files::ParsedDocument;
use super::places;
use super::target::{TargetProperty, TargetType};

type Result<T> = std::result::Result<T, Declined>;

/// Returns the edits that add labels at a place.
pub(super) fn write(
    resource: &Resource,
    place: &LabelPlace,
    labels: &[(Arc<str>, FactValue)],
    file: Rc<ParsedDocument>,
) -> Result<Vec<Edit>> {
    let document = TemplateDocument::of(&resource.kind, place.block, file)?;
    let target = TargetType::of(&document.kind, &place.kind);
    let property = target.demand(&place.path)?;
    // Labels are a safe fix.
    if property.is_fixed {
        return Err("a change of its labels replaces the resource".into());
    }
    let is_list = property.steps.last().is_some_and(|step| step.is_list);
    let pieces: Vec<AddedPiece> = match is_list {
        true => items(&target, &property, labels)?,
        false => Vec::new(),
    };
    let members = || labels.iter().map(|(key, value)| (key.to_string(), AddedPiece::Text(value.to_string())));
    let found = places::follow(document.properties(), &property.steps, place.inside, document.is_any_case())?;
    let mut pending = Pending::new(None);
    match found.entry {
        None => {
            let all = if is_list { AddedPiece::List(pieces) } else { AddedPiece::Map(members().collect()) };
            pending.add(&document, &property.steps, place.inside, all)?;
        }
        Some(entry) if is_list && !entry.value.is_map() && entry.value.text().is_none() => {
            for piece in &pieces {
                pending.append(&document, entry.value.span, piece)?;
            }
        }
        Some(entry) if !is_list && entry.value.is_map() => {
            places::demand_plain(&entry.value)?;
            members().for_each(|member| pending.put(&entry.value, member));
        }
        Some(_) => return Err("its labels are computed".into()),
    }
    pending.edits(&document)
}

/// Returns a list item for each label, with the names that the language has for key and value.
fn items(target: &TargetType, list: &TargetProperty, labels: &[(Arc<str>, FactValue)]) -> Result<Vec<AddedPiece>> {
    let names: Vec<&str> =
        target.members(&list.steps).filter_map(|it| it.steps.last()).map(|it| it.name.as_str()).collect();
    let named = |wanted: &str| names.iter().find(|it| it.eq_ignore_ascii_case(wanted)).copied();
    let (Some(key), Some(value)) = (named("key").or_else(|| named("name")), named("value")) else {
        return Err(Declined::from("gpulint does not know the form of its labels"));
    };
    let launch = named("propagateAtLaunch");
    let item = |(label, text): &(Arc<str>, FactValue)| {
        let mut members = vec![
            (key.to_owned(), AddedPiece::Text(label.to_string())),
            (value.to_owned(), AddedPiece::Text(text.to_string())),
        ];
        members.extend(launch.map(|launch| (launch.to_owned(), AddedPiece::Number("true".to_owned()))));
        AddedPiece::Map(members)
    };
    Ok(labels.iter().map(item).collect())
}
