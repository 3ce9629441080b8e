//! Finds resources, objects and blocks that belong together: by file, root, deployment, application or namespace.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::{FactContext, RuleContext, kinds, raw, text_of, unknown_fact, value_of};
use crate::inventory::{Raw, Resource, RunId};
use crate::languages::cel::{CelBudget, CelValue, Fault, Handle, UnknownValue, wrong};
use crate::source::parent;

/// Labels that name the application, the widest first.
pub const APPLICATION_LABELS: [&str; 6] = [
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/name",
    "application",
    "app",
    "Application",
];

/// A resource, object or block, which has a place in the files.
#[derive(Clone, Copy)]
pub(super) enum LocatedItem<'w> {
    Resource(&'w Resource),
    Object(&'w Raw),
    Block(&'w Raw),
}

impl<'w> LocatedItem<'w> {
    pub(super) fn of(world: &RuleContext<'w>, record: Handle) -> Option<LocatedItem<'w>> {
        let (inventory, id) = (world.inventory, record.id as usize);
        match record.schema.number_of_kind {
            kinds::RESOURCE => world.resource(record.id).map(LocatedItem::Resource),
            kinds::OBJECT => inventory.objects.get(id).map(LocatedItem::Object),
            kinds::BLOCK => inventory.blocks.get(id).map(LocatedItem::Block),
            _ => None,
        }
    }

    fn path(self) -> &'w Arc<str> {
        match self {
            LocatedItem::Resource(resource) => &resource.home.path,
            LocatedItem::Object(raw) | LocatedItem::Block(raw) => &raw.path,
        }
    }

    fn run(self) -> Option<&'w RunId> {
        match self {
            LocatedItem::Resource(resource) => resource.run.as_ref(),
            LocatedItem::Object(raw) | LocatedItem::Block(raw) => raw.run.as_ref(),
        }
    }

    /// Returns the application that its labels name.
    fn application(self) -> CelValue {
        let said = APPLICATION_LABELS.iter().map(|key| self.label(key));
        said.into_iter().find(|it| !matches!(it, CelValue::Absent | CelValue::Null)).unwrap_or(CelValue::Absent)
    }

    fn label(self, key: &str) -> CelValue {
        match self {
            LocatedItem::Resource(resource) => resource.labels.entries.get(key).map_or(CelValue::Absent, text_of),
            LocatedItem::Object(object) => raw::at(&object.tree, &["metadata", "labels", key]),
            LocatedItem::Block(block) => {
                let said = ["tags", "labels", "tags_all"].iter().map(|map| raw::at(&block.tree, &[map, key]));
                said.into_iter().find(|it| !matches!(it, CelValue::Absent)).unwrap_or(CelValue::Absent)
            }
        }
    }

    fn namespace(self) -> CelValue {
        match self {
            LocatedItem::Resource(resource) => value_of(&resource.declared.namespace),
            LocatedItem::Object(object) => raw::at(&object.tree, &["metadata", "namespace"]),
            LocatedItem::Block(_) => CelValue::Absent,
        }
    }
}

/// Returns the path of the file that contains a resource, object or block.
pub(super) fn path(asking: &FactContext<'_>, record: Handle) -> CelValue {
    of(asking, record, |it| CelValue::Text(it.path().clone()))
}

/// Returns the directory from which its deployment is applied.
pub(super) fn root(asking: &FactContext<'_>, record: Handle) -> CelValue {
    of(asking, record, |it| {
        let run = it.run().and_then(|id| asking.raws.run(asking.world.inventory, id));
        let folder = run.map_or(parent(it.path()), |run| &*run.folder);
        CelValue::text(if folder.is_empty() { "." } else { folder })
    })
}

pub(super) fn applied_in(asking: &FactContext<'_>, record: Handle) -> CelValue {
    of(asking, record, |it| match it.run().and_then(|id| asking.raws.run(asking.world.inventory, id)) {
        Some(run) => CelValue::text(run.name()),
        None => CelValue::Absent,
    })
}

pub(super) fn application(asking: &FactContext<'_>, record: Handle) -> CelValue {
    of(asking, record, LocatedItem::application)
}

pub(super) fn namespace(asking: &FactContext<'_>, record: Handle) -> CelValue {
    of(asking, record, LocatedItem::namespace)
}

fn of<'w>(asking: &FactContext<'w>, record: Handle, read: impl Fn(LocatedItem<'w>) -> CelValue) -> CelValue {
    LocatedItem::of(asking.world, record).map_or(CelValue::Absent, read)
}

/// A property that the selected members of a list share with the evaluated resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Shared {
    Run,
    Root,
    Application,
    Namespace,
}

/// Cached results, by list, property and value.
pub(super) type SharedLists = RefCell<HashMap<(usize, Shared, Arc<str>), CelValue>>;

impl Shared {
    fn by_name(function: &str) -> Option<Shared> {
        Some(match function {
            "here" => Shared::Run,
            "same_root" => Shared::Root,
            "same_application" => Shared::Application,
            "same_namespace" => Shared::Namespace,
            _ => return None,
        })
    }

    /// Returns the property as a string. Without a value, a thing belongs to no group.
    fn of(self, asking: &FactContext<'_>, record: Handle) -> CelValue {
        match self {
            Shared::Run => {
                let run = LocatedItem::of(asking.world, record).and_then(LocatedItem::run);
                run.map_or_else(|| root(asking, record), |run| CelValue::text(run.as_str()))
            }
            Shared::Root => root(asking, record),
            Shared::Application => application(asking, record),
            // A manifest without a namespace gets one when its deployment is applied.
            Shared::Namespace => match namespace(asking, record) {
                CelValue::Absent | CelValue::Null => match Shared::Run.of(asking, record) {
                    CelValue::Text(run) => CelValue::text(format!("\u{0}{run}")),
                    other => other,
                },
                namespace => namespace,
            },
        }
    }
}

/// Returns the members of a list that share a property with the evaluated resource.
pub(super) fn together(
    asking: &FactContext<'_>,
    function: &str,
    all: &CelValue,
    budget: &mut CelBudget,
) -> Result<CelValue, Fault> {
    let (Some(shared), CelValue::List(members)) = (Shared::by_name(function), all) else { return Err(wrong()) };
    let own = match shared.of(asking, asking.record()) {
        CelValue::Text(own) => own,
        CelValue::Unknown(unknown) => return Ok(CelValue::Unknown(unknown)),
        _ => return Ok(CelValue::list([])),
    };
    let key = (members.as_ptr() as usize, shared, own.clone());
    let is_kept = asking.raws.is_kept(members);
    if is_kept && let Some(known) = asking.raws.together.borrow().get(&key) {
        return Ok(known.clone());
    }
    budget.spend(members.len())?;
    budget.build(members.len() * size_of::<CelValue>())?;
    let mut found = Vec::new();
    for member in members.iter() {
        let Some(record) = record_of(member) else {
            return Err(format!("`{function}` needs resources, objects or blocks").into());
        };
        match shared.of(asking, record) {
            CelValue::Text(other) if other == own => found.push(member.clone()),
            CelValue::Unknown(why) => found.push(member.clone().perhaps(why)),
            _ => {}
        }
    }
    let found = CelValue::list(found);
    if is_kept {
        asking.raws.together.borrow_mut().insert(key, found.clone());
    }
    Ok(found)
}

/// Returns the resource, object or block of a list member.
pub(super) fn record_of(member: &CelValue) -> Option<Handle> {
    match member.if_there().0 {
        CelValue::Record(record) => Some(*record),
        CelValue::Map(map) => map.of,
        _ => None,
    }
}

/// Returns the reason why something may not exist.
pub(super) fn doubt(raw: &Raw) -> Option<Arc<UnknownValue>> {
    match unknown_fact(&raw.perhaps.as_ref()?.why, raw.perhaps.as_ref()?.span, Vec::new()) {
        CelValue::Unknown(unknown) => Some(unknown),
        _ => None,
    }
}
