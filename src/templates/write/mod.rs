//! Edits a fact in a template: replaces, adds and removes properties of the resource itself.
//!
//! A parameter may also affect other resources, so it is not edited. A generated template must be changed in its
//! program.

mod braces;
mod document;
mod files;
mod labels;
mod places;
mod target;

use std::sync::Arc;

use crate::inventory::{Declined, FactEdit, FactValue, Resource};
use crate::languages::yaml::AddedPiece;
use crate::source::{Edit, SourceFiles};
use crate::terraform::{PropertyChange, PropertyChanges, TerraformWriter};

pub use files::EditedTemplates;

use document::{Pending, TemplateDocument};
use target::{TargetProperty, TargetType};

type Result<T> = std::result::Result<T, Declined>;

/// Returns the edits that set a fact. `writer` knows the blocks that resource definitions read.
pub fn write(
    resource: &Resource,
    wish: &FactEdit,
    sources: &SourceFiles,
    templates: &EditedTemplates,
    writer: &TerraformWriter<'_>,
) -> Result<Vec<Edit>> {
    demand_source(resource, sources)?;
    let ways = writer.properties(resource, wish)?;
    first_written(ways.iter().map(|way| one_way(resource, way, sources, templates)), "there is no way to write it")
}

/// Returns the edits that set several labels at once.
pub fn label(
    resource: &Resource,
    labels: &[(Arc<str>, FactValue)],
    sources: &SourceFiles,
    templates: &EditedTemplates,
    writer: &TerraformWriter<'_>,
) -> Result<Vec<Edit>> {
    demand_source(resource, sources)?;
    let places = writer.label_places(resource)?;
    let written = places.iter().map(|place| {
        labels::write(resource, place, labels, templates.document(sources, place.block.file, &resource.kind))
    });
    first_written(written, "there is no place for labels")
}

/// Returns the edits of the first way that can be written, or the first reason.
fn first_written(ways: impl Iterator<Item = Result<Vec<Edit>>>, none: &str) -> Result<Vec<Edit>> {
    let mut declined = None;
    for way in ways {
        match way {
            Ok(edits) => return Ok(edits),
            Err(why) => declined = declined.or(Some(why)),
        }
    }
    Err(declined.unwrap_or_else(|| none.into()))
}

fn demand_source(resource: &Resource, sources: &SourceFiles) -> Result<()> {
    match sources.editable(resource.span) == Some(resource.span) {
        true => Ok(()),
        false => Err("a program generates this template: change the program".into()),
    }
}

/// Returns the edits of all changes of one way.
fn one_way(
    resource: &Resource,
    way: &PropertyChanges,
    sources: &SourceFiles,
    templates: &EditedTemplates,
) -> Result<Vec<Edit>> {
    if sources.editable(way.block) != Some(way.block) {
        return Err("a program generates this template: change the program".into());
    }
    let file = templates.document(sources, way.block.file, &resource.kind);
    let document = TemplateDocument::of(&resource.kind, way.block, file)?;
    let target = TargetType::of(&document.kind, &way.kind);
    let mut pending = Pending::new(way.machine);
    let mut added: Vec<(TargetProperty, usize)> = Vec::new();
    for change in &way.changes {
        match change {
            PropertyChange::Replace { at, to } => pending.replace(&document, *at, to)?,
            PropertyChange::Append { list, item } => pending.append(&document, *list, item)?,
            PropertyChange::Remove { at } => pending.remove(&document, *at)?,
            PropertyChange::Add(missing) => {
                let property = target.demand(&missing.path)?;
                let to = typed(&missing.to, &property.kind);
                let existing = pending.add(&document, &property.steps, missing.inside, to)?;
                added.push((property, existing));
            }
        }
    }
    demand_members(&target, &added)?;
    pending.edits(&document)
}

/// Demands that new objects have all properties that they need. A property comes with the number of existing steps.
fn demand_members(target: &TargetType, added: &[(TargetProperty, usize)]) -> Result<()> {
    let all: Vec<TargetProperty> = added.iter().map(|(property, _)| property.clone()).collect();
    for (property, existing) in added {
        for length in existing + 1..property.steps.len() {
            let Some(object) = property.steps.get(..length) else { continue };
            if let (Some(name), Some(missing)) = (object.last(), target.missing_member(object, &all)) {
                let missing = missing.steps.last().map_or("", |it| &it.name);
                return Err(Declined::LeftAlone(format!("`{}` needs `{missing}`, too", name.name)));
            }
        }
    }
    Ok(())
}

/// Returns a scalar in the type that the property has.
fn typed(piece: &AddedPiece, kind: &str) -> AddedPiece {
    match piece {
        AddedPiece::Number(text) if kind == "string" => AddedPiece::Text(text.clone()),
        AddedPiece::Text(text) if matches!(kind, "number" | "integer") && text.parse::<f64>().is_ok() => {
            AddedPiece::Number(text.clone())
        }
        AddedPiece::Text(text) if kind == "bool" && matches!(text.as_str(), "true" | "false") => {
            AddedPiece::Number(text.clone())
        }
        other => other.clone(),
    }
}
