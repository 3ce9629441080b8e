//! Finds the properties to change for languages whose resources become blocks, such as cloud templates.

use crate::inventory::row_path::{RowPath, Start, StepName};
use crate::inventory::{Declined, FactEdit, Part, Resource};
use crate::languages::yaml::AddedPiece;
use crate::source::Span;
use crate::terraform::address::base;
use crate::terraform::block::EvaluatedBlock;
use crate::terraform::rows::{Literal, PlacedValue, PlannedEdit, Site, Spot, ValueNode};

use super::TerraformWriter;

/// The changes of one resource that belong together.
#[derive(Debug)]
pub(crate) struct PropertyChanges {
    /// The type in definitions.
    pub kind: String,
    /// The whole resource in its document.
    pub block: Span,
    /// The property that sets the machine. New properties are next to it.
    pub machine: Option<Span>,
    pub changes: Vec<PropertyChange>,
}

/// One change of a property. Names are those of resource definitions.
#[derive(Debug)]
pub(crate) enum PropertyChange {
    /// Replaces the scalar at a place.
    Replace {
        at: Span,
        to: AddedPiece,
    },
    Add(MissingProperty),
    /// Adds an item to the list at a place.
    Append {
        list: Span,
        item: AddedPiece,
    },
    /// Removes the property whose value or whose whole entry is at a place, or the item of a list.
    Remove {
        at: Span,
    },
}

/// A property that is not set, with its value.
#[derive(Debug)]
pub(crate) struct MissingProperty {
    /// The innermost block, list item or map that exists.
    pub inside: Span,
    /// The names from the resource down to the property.
    pub path: Vec<String>,
    pub to: AddedPiece,
}

/// A place for labels: a map, or a list of keys and values.
#[derive(Debug)]
pub(crate) struct LabelPlace {
    /// The type in definitions.
    pub kind: String,
    /// The whole resource in its document.
    pub block: Span,
    /// The part of the resource in which the path begins.
    pub inside: Span,
    /// The names from the resource down to the labels.
    pub path: Vec<String>,
}

type Result<T> = std::result::Result<T, Declined>;

fn left_alone<T>(why: impl Into<String>) -> Result<T> {
    Err(Declined::LeftAlone(why.into()))
}

impl<'a> TerraformWriter<'a> {
    /// Returns the changes of properties that set a fact of a resource in another language: the best way first.
    pub(crate) fn properties(&self, resource: &Resource, wish: &FactEdit) -> Result<Vec<PropertyChanges>> {
        let site = self.documented(resource)?;
        let ways = match (&wish.part, &wish.value) {
            (Part::Fact(key), value) => site.ways(*key, value.as_ref()),
            (Part::Floor, Some(value)) => site.ways_of_floor(value),
            _ => return left_alone("gpulint removes no labels"),
        };
        let mut declined = None;
        let mut all = Vec::new();
        for way in ways {
            match changes_of(&site, &way) {
                Ok(changes) => all.push(changes_in(&site, changes)),
                Err(why) => declined = declined.or(Some(why)),
            }
        }
        let none = || Declined::Inexpressible(format!("`{}` has no argument for {}", resource.kind, wish.part));
        if all.is_empty() { Err(declined.unwrap_or_else(none)) } else { Ok(all) }
    }

    /// Returns the places where a resource can have labels, the best first.
    pub(crate) fn label_places(&self, resource: &Resource) -> Result<Vec<LabelPlace>> {
        let site = self.documented(resource)?;
        let places = site.label_paths().into_iter().filter_map(|path| {
            let (inside, path) = (site.start(path)?, site.names_to(path)?);
            Some(LabelPlace { kind: kind_of(&site), block: site.block().body, inside, path })
        });
        let places: Vec<LabelPlace> = places.collect();
        if places.is_empty() {
            return Err(Declined::Inexpressible(format!("`{}` has no labels", resource.kind)));
        }
        Ok(places)
    }

    /// Returns the block of a resource in a document.
    fn documented(&self, resource: &Resource) -> Result<Site<'a>> {
        let is_near = |block: &&EvaluatedBlock| {
            block.body.file == resource.body.file
                && block.body.contains(resource.body)
                && *block.address == *resource.declared.block
        };
        let index = self.index_of_all();
        let block = index.instances(base(&resource.declared.block)).iter().copied().find(is_near);
        match block.and_then(|block| Site::of(block, resource, &index)) {
            Some(site) => Ok(site),
            None => left_alone("its text in the file was not found"),
        }
    }
}

fn changes_in(site: &Site<'_>, changes: Vec<PropertyChange>) -> PropertyChanges {
    PropertyChanges { kind: kind_of(site), block: site.block().body, machine: site.machine_argument(), changes }
}

fn kind_of(site: &Site<'_>) -> String {
    site.block().labels.first().cloned().unwrap_or_default()
}

/// Returns the changes of one way, if each is on the resource itself.
fn changes_of(site: &Site<'_>, way: &[PlannedEdit<'_>]) -> Result<Vec<PropertyChange>> {
    let mut changes = Vec::new();
    for PlannedEdit { spot, to, path } in way {
        changes.extend(change_of(site, spot, to.as_ref().map(piece), path.as_ref())?);
    }
    Ok(changes)
}

fn change_of(
    site: &Site<'_>,
    spot: &Spot<'_>,
    to: Option<AddedPiece>,
    path: Option<&RowPath>,
) -> Result<Option<PropertyChange>> {
    Ok(Some(match (spot, to) {
        (Spot::Linked(link), _) => return left_alone(format!("its {link} sets it")),
        (Spot::Unclear(why), _) => return left_alone(why.clone()),
        (Spot::Missing { .. }, None) | (Spot::Element { at: None, .. }, None) => return Ok(None),
        (Spot::Missing { container, .. }, Some(to)) => missing(site, container, path, to)?,
        (Spot::Element { at: Some(_), .. }, Some(_)) => return Ok(None),
        (Spot::Element { at: Some(at), .. }, None) if site.block().body.contains(*at) => {
            PropertyChange::Remove { at: *at }
        }
        (Spot::Element { list, .. }, Some(item)) => match &**list {
            Spot::Missing { container, .. } => missing(site, container, path, AddedPiece::List(vec![item]))?,
            Spot::There(ValueNode::Value(held)) => PropertyChange::Append { list: own_place(site, held)?, item },
            _ => return left_alone("there is no list to write it into"),
        },
        (Spot::Element { .. }, None) => return left_alone("the value is computed, or comes from a parameter"),
        (Spot::There(ValueNode::Value(held)), Some(to)) => PropertyChange::Replace { at: own_place(site, held)?, to },
        (Spot::There(ValueNode::Value(held)), None) => PropertyChange::Remove { at: own_place(site, held)? },
        (Spot::There(ValueNode::Block(block)), None) => PropertyChange::Remove { at: block.span },
        (Spot::There(_), _) => return left_alone("there is a block in place of a value"),
    }))
}

fn missing(
    site: &Site<'_>,
    container: &ValueNode<'_>,
    path: Option<&RowPath>,
    to: AddedPiece,
) -> Result<PropertyChange> {
    match path.and_then(|path| site.names_to(path)) {
        Some(path) => Ok(PropertyChange::Add(MissingProperty { inside: container.place(), path, to })),
        None => left_alone("its place depends on another value"),
    }
}

/// Returns the place of a value, if the resource itself contains it.
fn own_place(site: &Site<'_>, held: &PlacedValue) -> Result<Span> {
    if held.value.sensitive {
        return left_alone("the value is sensitive");
    }
    match held.is_written_here() && site.block().body.contains(held.value.span) {
        true => Ok(held.value.span),
        false => left_alone("the value is computed, or comes from a parameter"),
    }
}

fn piece(literal: &Literal) -> AddedPiece {
    match literal {
        Literal::Text(text) => AddedPiece::Text(text.clone()),
        Literal::Number(number) => AddedPiece::Number(number.clone()),
        Literal::Flag(flag) => AddedPiece::Number(flag.to_string()),
    }
}

impl Site<'_> {
    /// Returns the place where a path begins.
    fn start(&self, path: &RowPath) -> Option<Span> {
        match path.start {
            Start::Part => Some(self.part_extent()),
            Start::Block => Some(self.block().body),
            _ => None,
        }
    }

    /// Returns the names from the whole block to the end of a path.
    fn names_to(&self, path: &RowPath) -> Option<Vec<String>> {
        let around = match path.start {
            Start::Part => self.part_steps(),
            Start::Block => &[],
            _ => return None,
        };
        let steps = around.iter().chain(&path.steps);
        let named = steps.map(|step| match &step.name {
            StepName::Written(name) if step.read.is_none() => Some(name.clone()),
            _ => None,
        });
        named.collect()
    }
}
