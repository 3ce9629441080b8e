//! Provides the effects of a change for rules: on accelerators, on each resource, and on owners.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::resource::RESOURCE;
use super::table::{Records, rows};
use super::{FactContext, kinds, text_of, unknown_fact};
use crate::inventory::{Fact, Key, Resource, ResourceId};
use crate::languages::cel::{CelBudget, CelMap, CelType, CelValue, Fault, Handle, wrong};
use crate::pricing::{ChangeKind, ResourceCostChange};

/// Record of one changed resource, by its index among the changes.
pub(super) static CHANGED: LazyLock<Records> = LazyLock::new(|| {
    Records::new(
        "changed",
        kinds::CHANGED,
        None,
        rows! {
            what: CelType::Text, "Kind of change: added, removed, changed or moved." => |asking, id| of(asking, id, |it| CelValue::text(it.kind.name()));
            address: CelType::Text, "Address after the change. If the resource is removed: its address before the change." => |asking, id| of(asking, id, |it| {
                let resource = now(asking, it).or_else(|| was(asking, it));
                resource.map_or(CelValue::Absent, |it| CelValue::text(it.address.as_str()))
            });
            now: RESOURCE.holds(), "The resource after the change. Not set if the change removes it." => |asking, id| of(asking, id, |it| it.after.map_or(CelValue::Absent, |id| RESOURCE.value(id.0 as u32)));
            was: RESOURCE.holds(), "The resource before the change. Not set if the change adds it. Its `object`, `block` and `pod` are unknown." => |asking, id| of(asking, id, |it| it.before.map_or(CelValue::Absent, |id| RESOURCE.value(earlier(asking, id))));
            accelerators: CelType::Double, "Number of accelerators that the change adds. Negative if the change removes some." => |asking, id| of(asking, id, |it| more(asking, it));
            monthly: CelType::Double, "Cost that the change adds, in dollars per month, as far as prices are known." => |asking, id| of(asking, id, |it| CelValue::Double(it.increase.usd()));
        },
    )
});

/// Indexes of resources before the change follow those of resources after it.
fn earlier(asking: &FactContext<'_>, id: ResourceId) -> u32 {
    (asking.world.inventory.resources.len() + id.0) as u32
}

fn of(asking: &FactContext<'_>, id: u32, read: impl Fn(&ResourceCostChange) -> CelValue) -> CelValue {
    let change = asking.world.delta.and_then(|delta| delta.changes.get(id as usize));
    change.map_or(CelValue::Absent, read)
}

fn now<'w>(asking: &FactContext<'w>, change: &ResourceCostChange) -> Option<&'w Resource> {
    asking.world.inventory.resources.get(change.after?.0)
}

fn was<'w>(asking: &FactContext<'w>, change: &ResourceCostChange) -> Option<&'w Resource> {
    asking.world.before?.inventory.resources.get(change.before?.0)
}

/// Returns the added, removed, moved and changed resources.
pub(super) fn resources(asking: &FactContext<'_>) -> CelValue {
    let changes = asking.world.delta.iter().flat_map(|delta| delta.changes.iter().enumerate());
    let seen = changes.filter(|(_, change)| change.kind != ChangeKind::Same);
    CelValue::list(seen.map(|(place, _)| CHANGED.value(place as u32)))
}

/// Returns the resource after the change, if the value is a changed resource.
pub(in crate::rules) fn resource_of(record: Handle, changes: &[ResourceCostChange]) -> Option<ResourceId> {
    match record.schema.number_of_kind {
        kinds::CHANGED => changes.get(record.id as usize)?.after,
        kinds::RESOURCE => Some(ResourceId(record.id as usize)),
        _ => None,
    }
}

/// Returns all accelerators that are paid for, each once: of machines, and of pods on no machine of the files.
fn accelerators(asking: &FactContext<'_>, id: u32, resource: &Resource) -> CelValue {
    let is_counted = resource.is_added() && !asking.item(id).is_some_and(|item| item.is_within);
    if !is_counted {
        return CelValue::Double(0.0);
    }
    match (&resource.count, resource.fact(Key::AcceleratorCount)) {
        (Fact::Known(count), Fact::Known(_)) => {
            CelValue::Double(count.value.expected * resource.number(Key::AcceleratorCount).unwrap_or_default())
        }
        (Fact::Unknown(unknown), _) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        (_, Fact::Unknown(unknown)) => unknown_fact(&unknown.why, unknown.span, Vec::new()),
        _ => CelValue::Double(0.0),
    }
}

/// Returns the number of accelerators that one resource gained. A value that is unknown before and after for the same
/// reason is not a change.
fn more(asking: &FactContext<'_>, change: &ResourceCostChange) -> CelValue {
    let none = CelValue::Double(0.0);
    let after = change.after.zip(now(asking, change));
    let after = after.map_or(none.clone(), |(id, it)| accelerators(asking, id.0 as u32, it));
    let before = change.before.zip(was(asking, change));
    let before = before.map_or(none, |(id, it)| accelerators(asking, earlier(asking, id), it));
    difference(after, before)
}

fn difference(after: CelValue, before: CelValue) -> CelValue {
    match (after, before) {
        (CelValue::Unknown(unknown), _) | (_, CelValue::Unknown(unknown)) => CelValue::Unknown(unknown),
        (after, before) => {
            CelValue::Double(after.as_number().unwrap_or_default() - before.as_number().unwrap_or_default())
        }
    }
}

/// Returns the number of accelerators that all resources gained together.
pub(super) fn all_accelerators(asking: &FactContext<'_>) -> CelValue {
    let changes = asking.world.delta.iter().flat_map(|delta| &delta.changes);
    let mut sum = 0.0;
    for change in changes.filter(|change| change.kind != ChangeKind::Same) {
        match more(asking, change) {
            CelValue::Double(more) => sum += more,
            unknown => return unknown,
        }
    }
    CelValue::Double(sum)
}

/// Returns the maximum monthly cost that the change adds.
pub(super) fn most_more(asking: &FactContext<'_>) -> CelValue {
    let Some(delta) = asking.world.delta else { return CelValue::Absent };
    let is_unlimited = |it: Option<&Resource>| it.is_some_and(|it| it.is_added() && it.is_unlimited());
    let loses_limit = |it: &ResourceCostChange| is_unlimited(now(asking, it)) && !is_unlimited(was(asking, it));
    let most = delta.combined.difference.ceiling.usd();
    CelValue::Double(if delta.changes.iter().any(loses_limit) { f64::INFINITY } else { most })
}

/// The increase for one owner.
#[derive(Default)]
struct Share {
    accelerators: f64,
    unknown: Option<CelValue>,
    monthly: f64,
    changes: Vec<CelValue>,
}

/// Returns the effect of a change for each value of a label: a list of `{name, accelerators, monthly, resources}`.
pub(super) fn by(
    asking: &FactContext<'_>,
    of: &CelValue,
    label: &str,
    budget: &mut CelBudget,
) -> Result<CelValue, Fault> {
    if !matches!(of, CelValue::Record(record) if record.schema.number_of_kind == kinds::DELTA) {
        return Err(wrong());
    }
    let changes = asking.world.delta.map_or(&[][..], |delta| &delta.changes);
    budget.spend(changes.len())?;
    budget.build(changes.len() * size_of::<CelValue>())?;
    let mut shares: BTreeMap<Option<Arc<str>>, Share> = BTreeMap::new();
    let mut open = None;
    for (place, change) in changes.iter().enumerate().filter(|(_, change)| change.kind != ChangeKind::Same) {
        let after = change.after.zip(now(asking, change)).map(|(id, it)| (id.0 as u32, it, 1.0));
        let before = change.before.zip(was(asking, change)).map(|(id, it)| (earlier(asking, id), it, -1.0));
        for (id, resource, sign) in [after, before].into_iter().flatten() {
            let owner = match resource.labels.entries.get(label).map(text_of) {
                Some(CelValue::Text(owner)) => Some(owner),
                Some(unknown @ CelValue::Unknown(_)) => {
                    open = Some(unknown);
                    continue;
                }
                _ => None,
            };
            shares.entry(owner).or_default().add(asking, (id, resource, sign), place);
        }
    }
    Ok(CelValue::list(shares.into_iter().map(|(owner, share)| share.shown(owner)).chain(open)))
}

impl Share {
    fn add(&mut self, asking: &FactContext<'_>, (id, resource, sign): (u32, &Resource, f64), place: usize) {
        match accelerators(asking, id, resource) {
            CelValue::Double(accelerators) => self.accelerators += sign * accelerators,
            unknown => self.unknown = self.unknown.take().or(Some(unknown)),
        }
        let item = asking.item(id).filter(|item| resource.is_added() && !item.is_within);
        self.monthly += sign * item.and_then(|item| item.monthly).map_or(0.0, |it| it.expected.usd());
        let change = CHANGED.handle(place as u32);
        let is_known = self.changes.iter().any(|it| matches!(it, CelValue::Record(known) if *known == change));
        if !is_known {
            self.changes.push(CelValue::Record(change));
        }
    }

    fn shown(self, owner: Option<Arc<str>>) -> CelValue {
        let mut map = CelMap::lenient(None);
        if let Some(owner) = owner {
            map.set("name", CelValue::Text(owner));
        }
        map.set("accelerators", self.unknown.unwrap_or(CelValue::Double(self.accelerators)));
        map.set("monthly", CelValue::Double(self.monthly));
        map.set("resources", CelValue::list(self.changes));
        CelValue::Map(Arc::new(map))
    }
}
