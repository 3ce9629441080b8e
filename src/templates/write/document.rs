//! Defines the resource of a document that is edited, and collects its changes.

use std::rc::Rc;

use crate::inventory::Declined;
use crate::languages::yaml::{AddedPiece, EditedFile, Node, NodeEntry};
use crate::source::{Edit, Span};

use super::braces::BraceFile;
use super::files::{DocumentContent, ParsedDocument, is_of_azure, is_of_cloudformation};
use super::places::{self, OuterNode};
use super::target::TargetStep;

type Result<T> = std::result::Result<T, Declined>;

/// A resource as its document contains it.
pub(super) struct TemplateDocument {
    /// The type of the resource in its language.
    pub(super) kind: String,
    file: Rc<ParsedDocument>,
    /// The mapping in which the paths of properties begin.
    properties: Node,
    /// The resource, or the whole document: it shows the indentation.
    root: Node,
    any_case: bool,
    /// True if an anchor of the resource has an alias.
    is_shared: bool,
}

impl TemplateDocument {
    /// Finds a resource in its document. The type of another resource of the document shows the language.
    pub(super) fn of(kind: &str, at: Span, file: Rc<ParsedDocument>) -> Result<TemplateDocument> {
        let missing = "its text in the file was not found";
        let root = match &file.content {
            DocumentContent::Bicep(resources) => {
                let (kind, object) = resources.get(&at).ok_or(missing)?.clone();
                let (kind, root) = (kind.to_string(), object.clone());
                return Ok(TemplateDocument { kind, file, properties: object, root, any_case: true, is_shared: false });
            }
            DocumentContent::Tree(root) => root.clone(),
            DocumentContent::Nothing => return Err(missing.into()),
        };
        let (is_azure, is_cloudformation) = (is_of_azure(kind), is_of_cloudformation(kind));
        let resource = places::resource(&root, at).ok_or(missing)?.clone();
        let properties = match (is_azure, is_cloudformation) {
            (true, _) => Some(&resource),
            (false, true) => resource.get("Properties"),
            (false, false) => resource.get("properties"),
        };
        let properties = properties.filter(|it| it.is_map()).ok_or("the resource has no properties")?.clone();
        let own = if is_cloudformation { resource.text_at("Type") } else { resource.text_at("type") };
        // A nested resource of Azure names only the end of its type.
        let is_whole = |own: &str| !is_azure || own.split('/').next().is_some_and(|provider| provider.contains('.'));
        let kind = own.filter(|own| is_whole(own)).map_or_else(|| kind.to_owned(), |own| own.to_string());
        let is_shared = file.braces.is_none() && has_aliased_anchor(&file.text, resource.span);
        let root = if file.braces.is_some() { resource } else { root };
        Ok(TemplateDocument { kind, file, properties, root, any_case: is_azure, is_shared })
    }

    pub(super) fn properties(&self) -> &Node {
        &self.properties
    }

    pub(super) fn is_any_case(&self) -> bool {
        self.any_case
    }

    fn paper(&self) -> Paper<'_> {
        match &self.file.braces {
            Some((syntax, plain)) => Paper::Braces(BraceFile::new(*syntax, plain, &self.root)),
            None => Paper::Lines(EditedFile::new(&self.file.text, &self.file.text, &self.root)),
        }
    }
}

/// Returns true if a word at a place is an anchor, and the document has an alias of it.
fn has_aliased_anchor(text: &str, at: Span) -> bool {
    let own = text.get(at.range()).unwrap_or_default();
    let names = own.split([' ', '\n', '\t']).filter_map(|word| word.trim_end().strip_prefix('&'));
    let names = names.filter(|name| name.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    let names: Vec<&str> = names.take(MOST_ANCHORS + 1).collect();
    names.len() > MOST_ANCHORS || names.iter().any(|name| text.contains(&format!("*{name}")))
}

/// The limit on anchors of one resource that are searched. A resource with more of them counts as shared.
const MOST_ANCHORS: usize = 20;

/// The writer of a document.
enum Paper<'t> {
    Braces(BraceFile<'t>),
    Lines(EditedFile<'t>),
}

/// A mapping with its new members.
struct MapAdditions<'n> {
    map: &'n Node,
    members: Vec<(String, AddedPiece)>,
}

/// The changes of one resource, before they become edits.
pub(super) struct Pending<'n> {
    /// Places that new members are next to, the best first.
    near: Vec<Span>,
    machine: Option<Span>,
    replaced: Vec<(&'n Node, AddedPiece)>,
    added: Vec<MapAdditions<'n>>,
    /// Lists with new items.
    appended: Vec<(&'n Node, AddedPiece)>,
    /// Mappings and lists with the places of removed members.
    removed: Vec<(&'n Node, Vec<usize>)>,
    /// The ways to removed entries, the outermost member first.
    removals: Vec<Vec<OuterNode<'n>>>,
}

impl<'n> Pending<'n> {
    pub(super) fn new(machine: Option<Span>) -> Self {
        let (near, replaced, added, appended, removed, removals) = Default::default();
        Pending { near, machine, replaced, added, appended, removed, removals }
    }

    /// Replaces the scalar at a place.
    pub(super) fn replace(&mut self, document: &'n TemplateDocument, at: Span, to: &AddedPiece) -> Result<()> {
        self.replaced.push((places::node(&document.properties, at)?, to.clone()));
        self.near.push(at);
        Ok(())
    }

    /// Adds an item to the list at a place.
    pub(super) fn append(&mut self, document: &'n TemplateDocument, list: Span, item: &AddedPiece) -> Result<()> {
        self.appended.push((places::node(&document.properties, list)?, item.clone()));
        Ok(())
    }

    /// Removes the property or the item at a place.
    pub(super) fn remove(&mut self, document: &'n TemplateDocument, at: Span) -> Result<()> {
        self.removals.push(places::way_to(&document.properties, at)?);
        Ok(())
    }

    /// Adds a property at the end of a path, with all mappings that are missing. Returns the number of existing steps.
    pub(super) fn add(
        &mut self,
        document: &'n TemplateDocument,
        steps: &[TargetStep],
        inside: Span,
        to: AddedPiece,
    ) -> Result<usize> {
        let found = places::follow(&document.properties, steps, inside, document.any_case)?;
        let missing = steps.get(found.steps..).unwrap_or_default();
        let Some((first, rest)) = missing.split_first().filter(|_| found.entry.is_none()) else {
            return Err("the property is already set, to a value without effect".into());
        };
        if missing.iter().take(missing.len() - 1).any(|step| step.is_list) {
            return Err(format!("`{}` needs an item with more properties", first.name).as_str().into());
        }
        let names: Vec<&str> = rest.iter().map(|step| step.name.as_str()).collect();
        self.put(found.map, (first.name.clone(), to.below(&names)));
        Ok(found.steps)
    }

    /// Adds a member to a mapping; a mapping of the same name gets its members.
    pub(super) fn put(&mut self, map: &'n Node, member: (String, AddedPiece)) {
        let known = self.added.iter().position(|it| it.map.span == map.span);
        let known = known.unwrap_or_else(|| {
            self.added.push(MapAdditions { map, members: Vec::new() });
            self.added.len() - 1
        });
        if let Some(additions) = self.added.get_mut(known) {
            merge(&mut additions.members, member);
        }
    }

    /// Returns the edits of all changes.
    pub(super) fn edits(mut self, document: &TemplateDocument) -> Result<Vec<Edit>> {
        self.collect_removals()?;
        let adds = !self.added.is_empty() || !self.appended.is_empty() || !self.removed.is_empty();
        if document.is_shared && adds {
            return Err("a part of the resource has an anchor, so other resources share it".into());
        }
        self.near.extend(self.machine);
        let paper = document.paper();
        let mut edits = Vec::new();
        for (node, new) in &self.replaced {
            edits.push(match &paper {
                Paper::Braces(file) => file.replace(node, new)?,
                Paper::Lines(file) => file.replace(node, new)?,
            });
        }
        for MapAdditions { map, members } in &self.added {
            let gone = self.removed.iter().find(|(it, _)| it.span == map.span).map(|(_, gone)| gone.as_slice());
            let after = self.neighbor(map, gone.unwrap_or_default());
            if gone.is_some() && after.is_none_or(|at| at + 1 == map.entries().len()) {
                return Err("it adds and removes properties at the same place".into());
            }
            match &paper {
                Paper::Braces(file) => edits.extend(file.insert(map, after, members)?),
                Paper::Lines(file) => {
                    let after = after.or(map.entries().len().checked_sub(1)).and_then(|at| map.entries().get(at));
                    edits.push(file.insert_after(map, after, members)?);
                }
            }
        }
        for (list, item) in &self.appended {
            match &paper {
                Paper::Braces(file) => edits.extend(file.append(list, item)?),
                Paper::Lines(file) => edits.push(file.append(list, item)?),
            }
        }
        for (node, gone) in &self.removed {
            edits.extend(without(&paper, node, gone)?);
        }
        Ok(edits)
    }

    /// Returns the member of a mapping that new members are next to.
    fn neighbor(&self, map: &Node, gone: &[usize]) -> Option<usize> {
        let near = self.near.iter().filter_map(|near| {
            map.entries().iter().position(|entry| entry.span().contains(*near) || near.contains(entry.span()))
        });
        near.into_iter().find(|at| !gone.contains(at))
    }

    /// Sorts removals by mapping. A mapping that would be empty is removed itself.
    fn collect_removals(&mut self) -> Result<()> {
        let mut open = std::mem::take(&mut self.removals);
        while let Some(mut way) = open.pop() {
            let (map, at) = match way.pop() {
                Some(OuterNode::Entry(map, at) | OuterNode::Item(map, at)) => (map, at),
                None => return Err("nothing of the resource would be left".into()),
            };
            let known = self.removed.iter().position(|(it, _)| it.span == map.span);
            let known = known.unwrap_or_else(|| {
                self.removed.push((map, Vec::new()));
                self.removed.len() - 1
            });
            let Some((_, gone)) = self.removed.get_mut(known) else { continue };
            if !gone.contains(&at) {
                gone.push(at);
            }
            gone.sort_unstable();
            if gone.len() == map.inner().count() {
                self.removed.remove(known);
                if self.replaced.iter().any(|(node, _)| map.span.contains(node.span)) {
                    return Err("it changes a value that it removes".into());
                }
                open.push(way);
            }
        }
        Ok(())
    }
}

/// Removes members of a mapping or a list, but not all of them.
fn without(paper: &Paper<'_>, node: &Node, gone: &[usize]) -> Result<Vec<Edit>> {
    Ok(match paper {
        Paper::Braces(file) => {
            let keys = node.entries().iter().map(NodeEntry::span);
            let members: Vec<Span> = keys.chain(node.items().iter().map(|item| item.span)).collect();
            file.without(&members, gone)
        }
        Paper::Lines(file) if node.is_map() => file.without_keys(node, gone)?,
        Paper::Lines(file) => {
            let each = gone.iter().map(|at| file.without_items(node, *at..at + 1));
            each.collect::<std::result::Result<Vec<_>, _>>()?.into_iter().flatten().collect()
        }
    })
}

/// Adds a member to others.
fn merge(members: &mut Vec<(String, AddedPiece)>, (key, value): (String, AddedPiece)) {
    let known = members.iter_mut().find(|(known, _)| *known == key);
    match (known, value) {
        (Some((_, AddedPiece::Map(inner))), AddedPiece::Map(more)) => {
            more.into_iter().for_each(|member| merge(inner, member));
        }
        (Some((_, held)), value) => *held = value,
        (None, value) => members.push((key, value)),
    }
}
