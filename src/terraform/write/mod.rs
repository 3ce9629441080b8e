//! Converts requested fact edits to edits of the configuration of a resource.
//!
//! The definitions of `resources/` determine where a fact is read, and so where it is written. Edits replace bytes at
//! the positions of gpulint's own parser, and no syntax tree is printed.

mod align;
mod companion;
mod insert;
mod labels;
mod literal;
mod members;
mod origin;
pub(super) mod properties;
mod remove;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::inventory::{Declined, FactEdit, FactValue, Key, LinkKind, Part, ReadBy, Resource};
use crate::languages::hcl::syntax::{BlockNode, Body, HclKind, parse_expression};
use crate::languages::hcl::value::HclData;
use crate::source::{Edit, FileId, SourceFiles, Span};

use super::block::EvaluatedBlock;
use super::code::library::ModuleLibrary;
use super::code::module::ModuleTool;
use super::load::roots::RootOverview;
use super::rows::{BlockIndex, Literal, PlacedValue, PlannedEdit, Site, Spot, ValueNode};
use align::TextChange;
use insert::Addition;
use members::object_in;
use origin::EditLocation;

/// Writes facts to the places where the definitions of `resources/` read them.
pub struct TerraformWriter<'a> {
    sources: &'a SourceFiles,
    blocks: &'a [EvaluatedBlock],
    roots: &'a [RootOverview],
    library: ModuleLibrary<'a>,
    by_address: RefCell<Option<Rc<ByAddress<'a>>>>,
    /// The links between the blocks of each root that was used.
    indices: RefCell<BTreeMap<usize, Rc<BlockIndex<'a>>>>,
    /// The links between the blocks of each document of a language without roots, by its first block.
    documents: RefCell<BTreeMap<usize, Rc<BlockIndex<'a>>>>,
}

/// The maximum number of blocks that a link leads through.
const LONGEST_WAY: usize = 4;

/// The indexes of blocks, by address.
type ByAddress<'a> = HashMap<&'a str, Vec<usize>>;

type Result<T> = std::result::Result<T, Declined>;

fn left_alone<T>(why: impl Into<String>) -> Result<T> {
    Err(Declined::LeftAlone(why.into()))
}

impl<'a> TerraformWriter<'a> {
    pub fn new(sources: &'a SourceFiles, blocks: &'a [EvaluatedBlock], roots: &'a [RootOverview]) -> Self {
        let library = ModuleLibrary::new(sources, ModuleTool::OpenTofu);
        let (by_address, indices, documents) = Default::default();
        TerraformWriter { sources, blocks, roots, library, by_address, indices, documents }
    }

    /// Returns the edits that set the requested fact; empty if the configuration already sets it.
    pub fn write(&self, resource: &Resource, wish: &FactEdit) -> Result<Vec<Edit>> {
        debug_assert_eq!(resource.front_end, ReadBy::Terraform);
        let Some((site, index)) = self.site(resource) else {
            return left_alone("its block was not found");
        };
        self.in_site(&site, &index, resource, wish, 0)
    }

    /// Returns the edits that set several labels at once.
    pub fn label(&self, resource: &Resource, labels: &[(Arc<str>, FactValue)]) -> Result<Vec<Edit>> {
        let Some((site, _)) = self.site(resource) else { return left_alone("its block was not found") };
        let own = self.label_in(&site, labels);
        own.or_else(|declined| self.label_provider(&site, labels).unwrap_or(Err(declined)))
    }

    fn in_site(
        &self,
        site: &Site<'a>,
        index: &Rc<BlockIndex<'a>>,
        resource: &Resource,
        wish: &FactEdit,
        depth: usize,
    ) -> Result<Vec<Edit>> {
        if let (Part::Fact(Key::Schedule), Some(value)) = (&wish.part, &wish.value) {
            return self.by_companion(site, resource, Key::Schedule, value);
        }
        if let (Part::Label(key), Some(value)) = (&wish.part, &wish.value) {
            return self.label_in(site, &[(key.clone(), value.clone())]);
        }
        let ways = match (&wish.part, &wish.value) {
            (Part::Fact(key), value) => site.ways(*key, value.as_ref()),
            (Part::Floor, Some(value)) => site.ways_of_floor(value),
            (Part::Ceiling, Some(value)) => site.ways_of_ceiling(value),
            (Part::Label(_), None) => return left_alone("gpulint removes no labels"),
            _ => Vec::new(),
        };
        let mut declined = None;
        for way in ways {
            let written = match through_link(&way) {
                Some(link) => self.through(site, index, resource, &link, wish, depth),
                None => self.way(site, &way),
            };
            match written {
                Ok(edits) => return Ok(edits),
                Err(why) => declined = declined.or(Some(why)),
            }
        }
        if depth == 0
            && let Some(edits) = self.by_a_control(index, resource, wish)
        {
            return edits;
        }
        let kind = site.block().labels.first().map_or("this", String::as_str);
        Err(declined.unwrap_or_else(|| Declined::Inexpressible(format!("`{kind}` has no argument for {}", wish.part))))
    }

    /// Writes a fact into the block that a link leads to, if no other block uses it.
    fn through(
        &self,
        site: &Site<'a>,
        index: &Rc<BlockIndex<'a>>,
        resource: &Resource,
        link: &str,
        wish: &FactEdit,
        depth: usize,
    ) -> Result<Vec<Edit>> {
        let Some(block) = site.linked(link).filter(|_| depth < LONGEST_WAY) else {
            return left_alone(format!("its {link} is not a single block of this configuration"));
        };
        let users = index.users(&block.address);
        if users > 1 {
            return left_alone(format!("{users} blocks use {}", block.address));
        }
        match Site::whole(block, index) {
            Some(inner) => self.in_site(&inner, index, resource, wish, depth + 1),
            None => left_alone(format!("{} is unknown", block.address)),
        }
    }

    /// Autoscalers and schedules set some facts of their target.
    fn by_a_control(
        &self,
        index: &Rc<BlockIndex<'a>>,
        resource: &Resource,
        wish: &FactEdit,
    ) -> Option<Result<Vec<Edit>>> {
        let links = resource.links.iter().filter(|it| matches!(it.kind, LinkKind::Autoscaler | LinkKind::Stop));
        for link in links {
            let Some(block) = index.only(&link.to) else { continue };
            let Some(site) = Site::whole(block, index).filter(Site::is_control) else { continue };
            match self.in_site(&site, index, resource, wish, 1) {
                Err(Declined::Inexpressible(_)) => {}
                written => return Some(written),
            }
        }
        None
    }

    fn site(&self, resource: &Resource) -> Option<(Site<'a>, Rc<BlockIndex<'a>>)> {
        let by_address = self.by_address();
        let end = self.variant_of(resource);
        let mut address = resource.address.strip_suffix(&end).unwrap_or(&resource.address);
        let is_of = |root: &RootOverview| {
            let directory = resource.root.as_deref().is_none_or(|directory| *directory == *root.directory);
            directory && end_of_variant(root) == end
        };
        loop {
            for &at in by_address.get(address).into_iter().flatten() {
                let block = self.blocks.get(at)?;
                let is_it = block.span == resource.span || block.body.contains(resource.body);
                let root = self.roots.iter().position(|root| root.blocks.contains(&at) && is_of(root));
                let Some(root) = root else { continue };
                let index = self.index(root);
                if is_it && let Some(site) = Site::of(block, resource, &index) {
                    return Some((site, index));
                }
            }
            // The address of a part continues the address of its block.
            let cut = address.rfind(['.', '['])?;
            address = address.get(..cut)?;
        }
    }

    /// Returns the end of an address that names the variant of its root, as in `a.b (dev.tfvars)`.
    fn variant_of(&self, resource: &Resource) -> String {
        let roots = self.roots.iter().filter(|root| resource.root.as_deref().is_none_or(|it| *it == *root.directory));
        let ends = roots.map(end_of_variant).filter(|end| resource.address.ends_with(end.as_str()));
        ends.max_by_key(String::len).unwrap_or_default()
    }

    fn by_address(&self) -> Rc<ByAddress<'a>> {
        let make = || {
            let mut map = ByAddress::new();
            for (at, block) in self.blocks.iter().enumerate() {
                map.entry(block.address.as_str()).or_default().push(at);
            }
            Rc::new(map)
        };
        self.by_address.borrow_mut().get_or_insert_with(make).clone()
    }

    fn index(&self, root: usize) -> Rc<BlockIndex<'a>> {
        let make = || {
            let range = self.roots.get(root).map(|root| root.blocks.clone()).unwrap_or_default();
            Rc::new(BlockIndex::new(self.blocks.get(range).unwrap_or_default(), &[]))
        };
        self.indices.borrow_mut().entry(root).or_insert_with(make).clone()
    }

    /// Returns the edits for all places of one way to write a fact.
    fn way(&self, site: &Site<'a>, way: &[PlannedEdit<'a>]) -> Result<Vec<Edit>> {
        let mut pending = Pending::default();
        for PlannedEdit { spot, to, .. } in way {
            match (spot, to) {
                (Spot::Unclear(why), _) => return left_alone(why.clone()),
                (Spot::Linked(_), _) => return left_alone("it is in two blocks"),
                (Spot::There(ValueNode::Value(held)), Some(literal)) => {
                    self.replace(site, held, literal, &mut pending)?
                }
                (Spot::There(ValueNode::Value(held)), None) => self.remove(site, held, &mut pending)?,
                (Spot::There(ValueNode::Block(block)), None) => self.remove_block(block, &mut pending)?,
                (Spot::There(_), _) => return left_alone("there is a block in place of a value"),
                (Spot::Missing { .. }, None) => {}
                (Spot::Element { list, at: None, .. }, Some(element)) => {
                    self.put_element(site, list, element, &mut pending)?;
                }
                (Spot::Element { list, at: Some(at), .. }, None) => {
                    if let Spot::There(ValueNode::Value(held)) = &**list {
                        self.remove_member(site, held, *at, &mut pending)?;
                    }
                }
                (Spot::Element { .. }, _) => {}
                (Spot::Missing { container, rest, path }, Some(literal)) => {
                    self.put(site, container, rest, path, literal, &mut pending)?;
                }
            }
        }
        self.finish(site, pending)
    }

    fn replace(&self, site: &Site<'a>, held: &PlacedValue, literal: &Literal, pending: &mut Pending) -> Result<()> {
        let span = held.value.span;
        let text = self.sources.text(span.file);
        let old = text.get(span.range()).unwrap_or_default();
        if held.value.sensitive {
            return left_alone("the value is sensitive");
        }
        if !is_scalar(span.file, old) {
            return left_alone("the value is computed");
        }
        match self.way_to_change(site.block(), held.expression, span)? {
            EditLocation::Literal => {
                pending.change(span.file, TextChange { at: span.range(), text: literal::in_place_of(old, literal) });
            }
            EditLocation::Argument(call, name) => pending.addition(call).add(&[name], literal),
        }
        Ok(())
    }

    /// Records an addition to a body or an object.
    fn put(
        &self,
        site: &Site<'a>,
        container: &ValueNode<'a>,
        rest: &[String],
        path: &str,
        literal: &Literal,
        pending: &mut Pending,
    ) -> Result<()> {
        match container {
            ValueNode::Block(block) => {
                self.demand_addition(site, block, rest, path)?;
                let addition = pending.addition(block.body);
                addition.has_objects = site.block().keyword == "module";
                addition.add(rest, literal);
                Ok(())
            }
            ValueNode::Value(held) => match rest {
                [key] => self.put_keys(site, held, &[(key.clone(), literal::quoted(literal))], pending),
                [key, inner @ ..] if !pending.has_nested && site.may_create(&path_without_last(path)) => {
                    // A second one could need the same object.
                    pending.has_nested = true;
                    self.put_keys(site, held, &[(key.clone(), insert::nested(inner, literal))], pending)
                }
                _ => left_alone("it needs an object with more entries"),
            },
            ValueNode::Provider(_) => left_alone("the provider configuration sets it"),
        }
    }

    /// Adds keys to the object that is the value of an argument.
    fn put_keys(
        &self,
        site: &Site<'a>,
        held: &PlacedValue,
        entries: &[(String, String)],
        pending: &mut Pending,
    ) -> Result<()> {
        let span = held.value.span;
        if !matches!(held.value.data, HclData::Object(_) | HclData::Map(_)) {
            return left_alone("there is no block or object to write it into");
        }
        let text = self.sources.text(span.file);
        let Some(object) = object_in(span, &text).or_else(|| object_in(held.expression, &text)) else {
            return left_alone("the map that needs the new entry is computed");
        };
        if self.sources.path(span.file).ends_with(".json") {
            return left_alone("gpulint adds no arguments to JSON");
        }
        self.may_change(site.block(), held.expression, object.span)?;
        if let Some(change) = insert::into_object(&text, &object, entries) {
            pending.change(span.file, change);
        }
        Ok(())
    }

    /// Returns the edits, with those that keep the neighboring lines aligned.
    fn finish(&self, site: &Site<'a>, pending: Pending) -> Result<Vec<Edit>> {
        let Pending { mut changes, additions, .. } = pending;
        for (span, addition) in additions {
            let Some(body) = self.body(span) else {
                return left_alone("a `dynamic` block generates it, or it cannot be parsed");
            };
            let text = self.sources.text(span.file);
            let addition = without_nulls(&body, addition, changes.entry(span.file).or_default())?;
            let near = site.machine_argument();
            changes.entry(span.file).or_default().extend(insert::into_body(&text, &body, near, &addition));
        }
        let mut edits = Vec::new();
        for (file, changes) in changes {
            let text = self.sources.text(file);
            let changes =
                if self.sources.path(file).ends_with(".json") { changes } else { align::aligned(&text, changes) };
            edits.extend(changes.into_iter().map(|change| Edit {
                span: Span::new(file, change.at.start, change.at.end),
                replacement: change.text,
            }));
        }
        Ok(edits)
    }

    /// Returns the body as it is written, unless a `dynamic` block generates it.
    fn body(&self, span: Span) -> Option<Body> {
        let code = self.library.module(&self.directory_of(span.file));
        let mut blocks = code.resources.iter().chain(code.calls.iter());
        blocks.find_map(|block| within(block, span)).cloned()
    }
}

fn path_without_last(path: &str) -> String {
    path.rsplit_once('.').map_or_else(String::new, |(above, _)| above.to_owned())
}

fn end_of_variant(root: &RootOverview) -> String {
    root.variant.as_ref().map(|name| format!(" ({name})")).unwrap_or_default()
}

/// Replaces arguments that are set to `null` by the additions.
fn without_nulls(body: &Body, mut addition: Addition, changes: &mut Vec<TextChange>) -> Result<Addition> {
    let mut declined = None;
    addition.arguments.retain(|(name, value)| match body.attribute(name) {
        None => true,
        Some(written) => {
            match written.expression.kind {
                HclKind::Null => {
                    changes.push(TextChange { at: written.expression.span.range(), text: value.clone() });
                }
                _ => declined = Some(name.clone()),
            }
            false
        }
    });
    match declined {
        Some(name) => left_alone(format!("`{name}` is already set, to a value without effect")),
        None => Ok(addition),
    }
}

fn within(block: &BlockNode, span: Span) -> Option<&Body> {
    if block.span() == span || block.body.span == span {
        return (!block.body.incomplete).then_some(&block.body);
    }
    let inner = block.body.blocks.iter().find(|inner| inner.span().contains(span))?;
    (&*inner.keyword.text != "dynamic").then(|| within(inner, span)).flatten()
}

/// Returns the link through which all places are written.
fn through_link(way: &[PlannedEdit<'_>]) -> Option<String> {
    match way {
        [PlannedEdit { spot: Spot::Linked(link), .. }] => Some(link.clone()),
        _ => None,
    }
}

fn is_scalar(file: FileId, text: &str) -> bool {
    let kind = parse_expression(file, text).map(|expression| expression.kind);
    let heredoc = text.starts_with("<<");
    !heredoc && matches!(kind, Ok(HclKind::Text(_) | HclKind::Number(_) | HclKind::Bool(_)))
        || text.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok())
}

/// Changes that belong together, before they are sorted.
#[derive(Default)]
struct Pending {
    changes: BTreeMap<FileId, Vec<TextChange>>,
    additions: Vec<(Span, Addition)>,
    /// True if an object with a new object inside is written.
    has_nested: bool,
}

impl Pending {
    fn change(&mut self, file: FileId, change: TextChange) {
        self.changes.entry(file).or_default().push(change);
    }

    fn addition(&mut self, body: Span) -> &mut Addition {
        let place = self.additions.iter().position(|(span, _)| *span == body);
        let place = place.unwrap_or_else(|| {
            self.additions.push((body, Addition::default()));
            self.additions.len() - 1
        });
        &mut self.additions[place].1
    }
}
