//! Finds the properties to change for languages whose resources become blocks, such as cloud templates.

use std::collections::HashSet;
use std::rc::Rc;

use crate::inventory::row_path::{RowPath, Start, StepName};
use crate::inventory::{Declined, FactEdit, Key, Part, Resource};
use crate::languages::yaml::AddedPiece;
use crate::source::Span;
use crate::terraform::block::EvaluatedBlock;
use crate::terraform::rows::{BlockIndex, Literal, PlacedValue, PlannedEdit, Site, Spot, ValueNode};

use super::{LONGEST_WAY, TerraformWriter};

/// The changes of one resource that belong together.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
pub(crate) struct MissingProperty {
    /// The innermost block, list item or map that exists.
    pub inside: Span,
    /// The names from the resource down to the property.
    pub path: Vec<String>,
    pub to: AddedPiece,
}

/// A place for labels: a map, or a list of keys and values.
#[derive(Debug, Clone)]
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
        let (site, index) = self.documented(resource)?;
        let ways = self.ways_in(&site, &index, wish, 0)?;
        let all: Vec<PropertyChanges> = ways.iter().filter_map(|way| way.as_ref().ok()).cloned().collect();
        if all.is_empty() {
            let none = || Declined::Inexpressible(format!("`{}` has no argument for {}", resource.kind, wish.part));
            return Err(ways.into_iter().find_map(std::result::Result::err).unwrap_or_else(none));
        }
        Ok(all)
    }

    /// Returns each way to set a fact of a block, or the reason why it is none.
    fn ways_in(
        &self,
        site: &Site<'a>,
        index: &Rc<BlockIndex<'a>>,
        wish: &FactEdit,
        depth: usize,
    ) -> Result<Vec<Result<PropertyChanges>>> {
        let ways = match (&wish.part, &wish.value) {
            (Part::Fact(Key::Schedule), Some(_)) => Vec::new(),
            (Part::Fact(key), value) => site.ways(*key, value.as_ref()),
            (Part::Floor, Some(value)) => site.ways_of_floor(value),
            (Part::Ceiling, Some(value)) => site.ways_of_ceiling(value),
            _ => return left_alone("gpulint removes no labels"),
        };
        let mut all = Vec::new();
        for mut way in ways {
            // New properties are in the order of the way.
            if let Part::Fact(key) = &wish.part {
                way.sort_by_key(|edit| !site.is_own_place(*key, edit));
            }
            match way.as_slice() {
                [PlannedEdit { spot: Spot::Linked(link), .. }] => match self.linked_site(site, index, link, depth) {
                    Ok(inner) => all.extend(self.ways_in(&inner, index, wish, depth + 1)?),
                    Err(why) => all.push(Err(why)),
                },
                way => all.push(changes_of(site, way).map(|changes| changes_in(site, changes))),
            }
        }
        Ok(all)
    }

    /// Returns the block that a link leads to, if no other block uses it.
    fn linked_site(&self, site: &Site<'a>, index: &Rc<BlockIndex<'a>>, link: &str, depth: usize) -> Result<Site<'a>> {
        let Some(block) = site.linked(link).filter(|_| depth < LONGEST_WAY) else {
            return left_alone(format!("its {link} is not a single resource of this file"));
        };
        match index.users(&block.address) {
            0 | 1 => match Site::whole(block, index) {
                Some(inner) => Ok(inner),
                None => left_alone(format!("{} is unknown", block.address)),
            },
            users => left_alone(format!("{users} resources use {}", block.address)),
        }
    }

    /// Returns the places where a resource can have labels, the best first.
    pub(crate) fn label_places(&self, resource: &Resource) -> Result<Vec<LabelPlace>> {
        let (site, _) = self.documented(resource)?;
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

    /// Returns the block of a resource in a document, with the links between the blocks of the document.
    fn documented(&self, resource: &Resource) -> Result<(Site<'a>, Rc<BlockIndex<'a>>)> {
        let is_near =
            |block: &EvaluatedBlock| block.body.file == resource.body.file && block.body.contains(resource.body);
        let by_address = self.by_address();
        let places = by_address.get(&*resource.declared.address).into_iter().flatten();
        let place = places.copied().find(|at| self.blocks.get(*at).is_some_and(is_near));
        let found = place.and_then(|at| {
            let index = self.index_around(at);
            Some((Site::of(self.blocks.get(at)?, resource, &index)?, index))
        });
        match found {
            Some(found) => Ok(found),
            None => left_alone("its text in the file was not found"),
        }
    }

    /// Returns the links between the blocks of one deployment of a document, which are next to each other. Documents
    /// use the same names, so no link leads to a block of another document.
    fn index_around(&self, at: usize) -> Rc<BlockIndex<'a>> {
        let file = self.blocks.get(at).map(|block| block.body.file);
        let mut seen: HashSet<&str> = HashSet::new();
        let mut is_one = |block: &&'a EvaluatedBlock| Some(block.body.file) == file && seen.insert(&block.address);
        let (before, after) = self.blocks.split_at(at.min(self.blocks.len()));
        let after = after.iter().take_while(&mut is_one).count();
        let before = before.iter().rev().take_while(&mut is_one).count();
        let range = at - before..at + after;
        let make = || Rc::new(BlockIndex::new(self.blocks.get(range.clone()).unwrap_or_default(), &[]));
        self.documents.borrow_mut().entry(range.start).or_insert_with(make).clone()
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
        Literal::Number(code) | Literal::Code(code) => AddedPiece::Number(code.clone()),
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
