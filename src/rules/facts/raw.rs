//! Provides objects and blocks as written, for values that no fact contains.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::belonging::{self, SharedLists};
use super::pod::{self, POD, PodNumbers};
use super::resource::RESOURCE;
use super::table::{Records, rows};
use super::{FactContext, RuleContext, kinds};
use crate::inventory::{DeploymentRun, Inventory, Raw, RawData, RawTree, ReadBy, Resource, RunId};
use crate::languages::cel::{CelMap, CelType, CelValue, UnknownValue};
use crate::source::{FileId, Span};

pub(super) static OBJECT: LazyLock<Records> = LazyLock::new(|| {
    let mut records = Records::new(
        "object",
        kinds::OBJECT,
        None,
        rows! {
            object: CelType::Any, "The manifest as written." => |asking, id| asking.raws.object(asking.world, id as usize);
            kind: CelType::Text, "Kind of the object." => |asking, id| object(asking, id, |it| &it.kind);
            name: CelType::Text, "Name of the object." => |asking, id| object(asking, id, |it| &it.name);
            address: CelType::Text, "Address of the object in reports: Kind/namespace/name." => |asking, id| object(asking, id, |it| &it.address);
            pods: CelType::list(POD.holds()), "Pods that the object creates: those of its templates, or the object itself." => pod::of_object;
            path: CelType::Text, "File that contains the object." => |asking, id| belonging::path(asking, OBJECT.handle(id));
            root: CelType::Text, "Directory from which the object is applied: its chart, its kustomization, its folder, or the Terraform root around it." => |asking, id| belonging::root(asking, OBJECT.handle(id));
            applied_in: CelType::Text, "Deployment that applies the object, as reports name it: its root, with the values that distinguish it \
             from other deployments of the root." => |asking, id| belonging::applied_in(asking, OBJECT.handle(id));
            application: CelType::Text, "Application in its labels: app.kubernetes.io/part-of, else instance or name of these, else app." => |asking, id| belonging::application(asking, OBJECT.handle(id));
            in_namespace: CelType::Text, "Namespace of the object." => |asking, id| belonging::namespace(asking, OBJECT.handle(id));
        },
    );
    records.schema.has_facts = true;
    records
});

pub(super) static BLOCK: LazyLock<Records> = LazyLock::new(|| {
    let mut records = Records::new(
        "block",
        kinds::BLOCK,
        None,
        rows! {
            block: CelType::Any, "Evaluated attributes of the block. Nested blocks are lists, as in a plan." => |asking, id| asking.raws.block(asking.world, id as usize);
            kind: CelType::Text, "Type of the block, such as aws_instance. For a provider: its name. Empty for blocks without a type." => |asking, id| block(asking, id, |it| &it.kind);
            name: CelType::Text, "Name of the block. For a provider: its alias." => |asking, id| block(asking, id, |it| &it.name);
            keyword: CelType::Text, "Keyword of the block: resource, data, module, provider, variable, output or terraform." => |asking, id| block(asking, id, |it| &it.keyword);
            address: CelType::Text, "Address of the block in Terraform." => |asking, id| block(asking, id, |it| &it.address);
            path: CelType::Text, "File that contains the block." => |asking, id| belonging::path(asking, BLOCK.handle(id));
            root: CelType::Text, "Directory from which the block is applied." => |asking, id| belonging::root(asking, BLOCK.handle(id));
            applied_in: CelType::Text, "Deployment that applies the block, as reports name it: its root, with the variables that distinguish \
             it from other deployments of the root." => |asking, id| belonging::applied_in(asking, BLOCK.handle(id));
            application: CelType::Text, "Application in its tags or labels: application, app, or app.kubernetes.io/part-of." => |asking, id| belonging::application(asking, BLOCK.handle(id));
        },
    );
    records.schema.has_facts = true;
    records
});

fn object(asking: &FactContext<'_>, id: u32, read: impl Fn(&Raw) -> &Arc<str>) -> CelValue {
    text(asking.world.inventory.objects.get(id as usize), read)
}

fn block(asking: &FactContext<'_>, id: u32, read: impl Fn(&Raw) -> &Arc<str>) -> CelValue {
    text(asking.world.inventory.blocks.get(id as usize), read)
}

fn text(raw: Option<&Raw>, read: impl Fn(&Raw) -> &Arc<str>) -> CelValue {
    raw.map_or(CelValue::Absent, |raw| CelValue::Text(read(raw).clone()))
}

pub(super) fn all() -> [&'static Records; 2] {
    [&OBJECT, &BLOCK]
}

/// Raw values, each created when it is first used.
#[derive(Debug, Default)]
pub(in crate::rules) struct Raws {
    objects: Vec<OnceCell<CelValue>>,
    blocks: Vec<OnceCell<CelValue>>,
    resources: usize,
    all_objects: OnceCell<CelValue>,
    all_blocks: OnceCell<CelValue>,
    all_resources: OnceCell<CelValue>,
    places: OnceCell<Places>,
    edges: OnceCell<Edges>,
    pods: OnceCell<PodNumbers>,
    /// Deployments by name.
    runs: OnceCell<HashMap<RunId, usize>>,
    pub(super) together: SharedLists,
}

impl Raws {
    pub(in crate::rules) fn new(world: &RuleContext<'_>) -> Raws {
        let cells = |count| (0..count).map(|_| OnceCell::new()).collect();
        let Inventory { objects, blocks, resources, .. } = world.inventory;
        let (objects, blocks, resources) = (cells(objects.len()), cells(blocks.len()), resources.len());
        Raws { objects, blocks, resources, ..Raws::default() }
    }

    fn object(&self, world: &RuleContext<'_>, id: usize) -> CelValue {
        raw_value(&self.objects, &world.inventory.objects, id, &OBJECT)
    }

    fn block(&self, world: &RuleContext<'_>, id: usize) -> CelValue {
        raw_value(&self.blocks, &world.inventory.blocks, id, &BLOCK)
    }

    /// Returns all manifests.
    pub(super) fn all_objects(&self, world: &RuleContext<'_>) -> CelValue {
        let one = |(id, raw): (usize, &Raw)| {
            let value = match self.object(world, id) {
                CelValue::Map(map) => CelValue::Map(Arc::new(CelMap::clone(&map).with_facts())),
                other => other,
            };
            there(raw, value)
        };
        let all = || CelValue::list(world.inventory.objects.iter().enumerate().map(one));
        self.all_objects.get_or_init(all).clone()
    }

    pub(super) fn all_blocks(&self, world: &RuleContext<'_>) -> CelValue {
        let one = |(id, raw): (usize, &Raw)| there(raw, BLOCK.value(id as u32));
        self.all_blocks.get_or_init(|| CelValue::list(world.inventory.blocks.iter().enumerate().map(one))).clone()
    }

    pub(super) fn all_resources(&self) -> CelValue {
        let all = || CelValue::list((0..self.resources).map(|id| RESOURCE.value(id as u32)));
        self.all_resources.get_or_init(all).clone()
    }

    /// Returns true if this cache owns the list, which therefore lives as long as the cache.
    pub(super) fn is_kept(&self, members: &Arc<[CelValue]>) -> bool {
        let lists = [&self.all_objects, &self.all_blocks, &self.all_resources];
        lists.iter().any(|list| matches!(list.get(), Some(CelValue::List(all)) if Arc::ptr_eq(all, members)))
    }

    pub(super) fn pod_numbers(&self, inventory: &Inventory) -> &PodNumbers {
        self.pods.get_or_init(|| PodNumbers::new(inventory))
    }

    /// Returns the blocks that a block refers to, or that refer to it.
    pub(super) fn edges(&self, inventory: &Inventory, block: usize, back: bool) -> CelValue {
        let edges =
            self.edges.get_or_init(|| Edges::new(inventory, self.places.get_or_init(|| Places::new(inventory))));
        let all = if back { &edges.back } else { &edges.forth };
        let one = |id: &usize| match inventory.blocks.get(*id) {
            Some(raw) => there(raw, BLOCK.value(*id as u32)),
            None => CelValue::Absent,
        };
        CelValue::list(all.get(block).into_iter().flatten().map(one))
    }

    pub(super) fn run<'w>(&self, inventory: &'w Inventory, id: &RunId) -> Option<&'w DeploymentRun> {
        let named = || inventory.runs.iter().enumerate().map(|(place, run)| (run.id.clone(), place)).collect();
        inventory.runs.get(*self.runs.get_or_init(named).get(id)?)
    }

    /// Returns the manifest or block of a resource.
    pub(super) fn of_resource(&self, world: &RuleContext<'_>, resource: &Resource, wants_object: bool) -> CelValue {
        match self.raw_of(world.inventory, resource) {
            Some((true, id)) if wants_object => self.object(world, id),
            Some((false, id)) if !wants_object => self.block(world, id),
            _ => CelValue::Absent,
        }
    }

    /// Returns whether it is an object, and its index.
    pub(super) fn raw_of(&self, inventory: &Inventory, resource: &Resource) -> Option<(bool, usize)> {
        let places = self.places.get_or_init(|| Places::new(inventory));
        match resource.front_end {
            ReadBy::Terraform | ReadBy::Plan => Some((false, places.block(inventory, resource)?)),
            ReadBy::Kubernetes | ReadBy::Chart => Some((true, places.object(inventory, resource.span)?)),
            ReadBy::Template => None,
        }
    }
}

/// Returns an object or block as a list member, with the reason if it may not exist.
fn there(raw: &Raw, value: CelValue) -> CelValue {
    match belonging::doubt(raw) {
        Some(why) => value.perhaps(why),
        None => value,
    }
}

/// Returns the value at a path of keys, if the path is known.
pub(super) fn at(tree: &RawTree, keys: &[&str]) -> CelValue {
    let mut here = tree;
    for key in keys {
        match (&here.data, here.member(key)) {
            (_, Some(member)) => here = member,
            (RawData::Map(_, Some(open)) | RawData::Unknown(open) | RawData::Beginning(_, open), None) => {
                return CelValue::Unknown(unknown(open));
            }
            _ => return CelValue::Absent,
        }
    }
    value(here)
}

fn raw_value(cells: &[OnceCell<CelValue>], all: &[Raw], id: usize, records: &'static Records) -> CelValue {
    let make = |raw: &Raw| match value(&raw.tree) {
        CelValue::Map(map) => CelValue::Map(Arc::new(Arc::unwrap_or_clone(map).known_as(records.handle(id as u32)))),
        other => other,
    };
    match (cells.get(id), all.get(id)) {
        (Some(cell), Some(raw)) => cell.get_or_init(|| make(raw)).clone(),
        _ => CelValue::Absent,
    }
}

/// Places of objects and blocks, to find those of resources.
#[derive(Debug)]
struct Places {
    /// The objects of each file, sorted by start.
    objects: HashMap<FileId, Vec<usize>>,
    /// The blocks with each address. Several deployments may have the same address.
    blocks: HashMap<Arc<str>, Vec<usize>>,
}

impl Places {
    fn new(inventory: &Inventory) -> Places {
        let mut places = Places { objects: HashMap::new(), blocks: HashMap::new() };
        for (id, raw) in inventory.objects.iter().enumerate() {
            places.objects.entry(raw.span.file).or_default().push(id);
        }
        for ids in places.objects.values_mut() {
            ids.sort_by_key(|id| inventory.objects.get(*id).map(|raw| raw.span.start));
        }
        for (id, raw) in inventory.blocks.iter().enumerate() {
            places.blocks.entry(raw.address.clone()).or_default().push(id);
        }
        places
    }

    fn object(&self, inventory: &Inventory, span: Span) -> Option<usize> {
        let ids = self.objects.get(&span.file)?;
        let starts_before = |id: &usize| inventory.objects.get(*id).is_some_and(|raw| raw.span.start <= span.start);
        ids.get(ids.partition_point(starts_before).checked_sub(1)?).copied()
    }

    fn block(&self, inventory: &Inventory, resource: &Resource) -> Option<usize> {
        let ids = self.blocks.get(&resource.declared.address)?;
        let block = |id: &&usize| inventory.blocks.get(**id);
        let same_run = |id: &&usize| block(id).is_some_and(|raw| raw.run == resource.run);
        let same_file = |id: &&usize| block(id).is_some_and(|raw| raw.span.file == resource.span.file);
        ids.iter().find(same_run).or_else(|| ids.iter().find(same_file)).or(ids.first()).copied()
    }
}

/// References between blocks, in order of their indexes.
#[derive(Debug, Default)]
struct Edges {
    forth: Vec<Vec<usize>>,
    back: Vec<Vec<usize>>,
}

impl Edges {
    fn new(inventory: &Inventory, places: &Places) -> Edges {
        let blocks = &inventory.blocks;
        let mut edges = Edges { forth: vec![Vec::new(); blocks.len()], back: vec![Vec::new(); blocks.len()] };
        for (from, raw) in blocks.iter().enumerate() {
            for address in &raw.references {
                let same_run = |id: &&usize| blocks.get(**id).is_some_and(|other| other.run == raw.run);
                for to in places.blocks.get(address).into_iter().flatten().filter(same_run) {
                    edges.forth.get_mut(from).into_iter().for_each(|ends| ends.push(*to));
                    edges.back.get_mut(*to).into_iter().for_each(|ends| ends.push(from));
                }
            }
        }
        edges
    }
}

/// Converts a tree to a value. A missing key is absent, and an unknown one has its cause.
pub(super) fn value(tree: &RawTree) -> CelValue {
    match &tree.data {
        RawData::Null => CelValue::Null,
        RawData::Flag(flag) => CelValue::Flag(*flag),
        RawData::Integer(n) => CelValue::Integer(*n),
        RawData::Number(n) => CelValue::Double(*n),
        RawData::Text(text) => CelValue::Text(text.clone()),
        RawData::List(items) => CelValue::list(items.iter().map(value)),
        RawData::Map(entries, open) => {
            let mut map = CelMap::lenient(open.as_ref().map(|it| unknown(it)));
            for (key, member) in entries {
                map.set_shared(key, value(member));
            }
            CelValue::Map(Arc::new(map))
        }
        RawData::Unknown(it) => CelValue::Unknown(unknown(it)),
        RawData::Beginning(beginning, it) => {
            let beginning = Some(beginning.clone());
            CelValue::Unknown(Arc::new(UnknownValue { beginning, ..Arc::unwrap_or_clone(unknown(it)) }))
        }
    }
}

fn unknown(it: &crate::inventory::UnknownFact<RawTree>) -> Arc<UnknownValue> {
    let candidates = it.candidates.iter().map(value).collect();
    Arc::new(UnknownValue { candidates, ..UnknownValue::new(it.why.clone(), Some(it.span)) })
}

/// A path into an object or a block: `object.metadata.labels` as keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rules) struct RawPath {
    pub(in crate::rules) is_object: bool,
    pub(in crate::rules) keys: Vec<Arc<str>>,
}

impl RawPath {
    /// Parses names; `None` if they lead into neither an object nor a block.
    pub(in crate::rules) fn of(names: &[Arc<str>]) -> Option<RawPath> {
        let (first, keys) = names.split_first()?;
        let is_object = match &**first {
            "object" => true,
            "block" => false,
            _ => return None,
        };
        Some(RawPath { is_object, keys: keys.to_vec() })
    }

    pub(in crate::rules) fn name(&self) -> String {
        let root = if self.is_object { "object" } else { "block" };
        self.keys.iter().fold(root.to_owned(), |name, key| format!("{name}.{key}"))
    }
}

/// Returns the value at a path in the evaluated object or block.
pub(in crate::rules) fn part<'w>(asking: &FactContext<'w>, path: &RawPath) -> Option<&'w RawTree> {
    let inventory = asking.world.inventory;
    let raw = raw(asking, path.is_object)?;
    let _ = inventory;
    raw.tree.find(path.keys.iter().map(|key| &**key))
}

/// Returns the evaluated object or block, or that of the evaluated resource.
fn raw<'w>(asking: &FactContext<'w>, is_object: bool) -> Option<&'w Raw> {
    let inventory = asking.world.inventory;
    let id = match asking.about {
        super::Subject::Object => is_object.then_some(asking.resource)?,
        super::Subject::Block => (!is_object).then_some(asking.resource)?,
        super::Subject::Resource => {
            let resource = inventory.resources.get(asking.resource)?;
            let (found, id) = asking.raws.raw_of(inventory, resource)?;
            (found == is_object).then_some(id)?
        }
    };
    if is_object { inventory.objects.get(id) } else { inventory.blocks.get(id) }
}

/// Returns a value as a string for fingerprints, with sorted keys.
pub(in crate::rules) fn written(tree: Option<&RawTree>) -> String {
    const LONGEST: usize = 2000;
    let mut text = String::new();
    if let Some(tree) = tree {
        write(tree, &mut text, LONGEST);
    }
    text
}

fn write(tree: &RawTree, into: &mut String, longest: usize) {
    use std::fmt::Write as _;
    if into.len() > longest {
        return;
    }
    let _ = match &tree.data {
        RawData::Null => write!(into, "null"),
        RawData::Flag(flag) => write!(into, "{flag}"),
        RawData::Integer(n) => write!(into, "{n}"),
        RawData::Number(n) => write!(into, "{n}"),
        RawData::Text(text) => write!(into, "{text}"),
        RawData::Unknown(_) => write!(into, "unknown"),
        RawData::Beginning(beginning, _) => write!(into, "{beginning}…"),
        RawData::List(items) => {
            into.push('[');
            for item in items {
                write(item, into, longest);
                into.push(',');
            }
            write!(into, "]")
        }
        RawData::Map(entries, _) => {
            into.push('{');
            for (key, member) in entries {
                let _ = write!(into, "{key}:");
                write(member, into, longest);
                into.push(',');
            }
            write!(into, "}}")
        }
    };
}
