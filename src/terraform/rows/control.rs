//! Reads blocks that provision nothing but control other blocks: schedules, autoscalers, alarms.

use std::collections::HashMap;

use crate::inventory::{
    Fact, FactValue, Key, KnownFact, Link, LinkKind, Range, ScheduleEntry, ScheduledSize, ValueType,
};
use crate::source::Span;

use super::super::block::EvaluatedBlock;
use super::build::BuiltResource;
use super::count::{CapacityUnits, range, times};
use super::fact::WantedType;
use super::language::TypeRow;
use super::links::{BlockIndex, Linked, follow_all};
use super::scope::{RowScope, Truth};
use super::shifts::shifts;

/// The name of the link from a control to the block that it controls.
const TARGET: &str = "target";

/// Applies the controls that refer to each resource.
pub(super) fn apply<'a>(
    controls: &[(&'a EvaluatedBlock, &'static TypeRow)],
    index: &BlockIndex<'a>,
    resources: &mut [BuiltResource],
) {
    let by_block = positions(resources);
    for (block, row) in controls {
        let Some(word) = row.links.get(TARGET) else { continue };
        let mut scope = RowScope::of(block);
        follow_all(index, &mut scope, &row.links);
        let Some(Linked::Blocks(targets)) = scope.links.get(TARGET).cloned() else { continue };
        if word.back || matches!(scope.holds(&row.when), Truth::No) {
            continue;
        }
        for (target, span) in targets {
            // A control with a count of 0 applies only to a target with a count of 0.
            if block.is_none() && !target.is_none() {
                continue;
            }
            for &at in by_block.get(&target.address).into_iter().flatten() {
                let Some(built) = resources.get_mut(at) else { continue };
                decide(built, &scope, row);
                let kind = row.link.map_or(LinkKind::Settings, |link| link.kind());
                let link = Link::named(kind, block.address.clone(), span);
                if !built.resource.links.iter().any(|it| (it.kind, &it.to) == (link.kind, &link.to)) {
                    built.resource.links.push(link);
                }
            }
        }
    }
}

pub(super) fn positions(resources: &[BuiltResource]) -> HashMap<String, Vec<usize>> {
    let mut by_block: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, built) in resources.iter().enumerate() {
        by_block.entry(built.block.clone()).or_default().push(at);
    }
    by_block
}

/// Combines the metrics of two autoscalers for one resource.
fn both(one: Fact<FactValue>, other: Fact<FactValue>) -> Fact<FactValue> {
    let list = |value: FactValue| value.conform(ValueType::List);
    match (one, other) {
        (Fact::Known(mut one), Fact::Known(other)) => {
            let (Some(FactValue::List(mut all)), Some(FactValue::List(more))) =
                (list(one.value.clone()), list(other.value))
            else {
                return Fact::Known(one);
            };
            all.extend(more.into_iter().filter(|name| !all.contains(name)).collect::<Vec<_>>());
            one.value = FactValue::List(all);
            Fact::Known(one)
        }
        (Fact::Absent, other) => other,
        (one, Fact::Absent) => one,
        (unknown @ Fact::Unknown(_), _) | (_, unknown) => unknown,
    }
}

/// Adds a number to the existing one.
fn sum(there: Fact<Range>, more: Fact<Range>) -> Fact<Range> {
    match (there, more) {
        (Fact::Known(there), Fact::Known(more)) => {
            let value = Range {
                floor: there.value.floor + more.value.floor,
                expected: there.value.expected + more.value.expected,
                ceiling: there.value.ceiling + more.value.ceiling,
            };
            let origin = there.origin.weakest(more.origin);
            Fact::Known(KnownFact { value, origin, span: more.span, defined: more.defined })
        }
        (Fact::Absent, more) | (_, more @ Fact::Unknown(_)) => more,
        (there, _) => there,
    }
}

/// Converts the numbers of a schedule from capacity units to machines, if machines have weights.
fn in_machines(shift: ScheduleEntry, units: Option<Result<CapacityUnits, Span>>) -> ScheduleEntry {
    let Some(units) = units else { return shift };
    let machines = |count: Fact<f64>| match units {
        Ok(units) => count.map(|count| units.machines(count)),
        Err(_) if count.is_absent() => count,
        Err(span) => Fact::unknown(CapacityUnits::NOT_KNOWN, span),
    };
    let change = match shift.change {
        ScheduledSize::Set { min, desired, max } => {
            ScheduledSize::Set { min: machines(min), desired: machines(desired), max: machines(max) }
        }
        ScheduledSize::AtLeast { count, until } => ScheduledSize::AtLeast { count: machines(count), until },
        same @ (ScheduledSize::Start | ScheduledSize::Stop) => same,
    };
    ScheduleEntry { change, ..shift }
}

/// Sets facts that the resource does not have yet, and limits its number.
fn decide(built: &mut BuiltResource, scope: &RowScope<'_>, row: &TypeRow) {
    let resource = &mut built.resource;
    for (key, spec) in &row.keyed {
        let said = scope.fact(spec, WantedType::of(*key));
        if *key == Key::AutoscaledOn {
            resource.set(*key, both(resource.fact(*key).clone(), said));
        } else if resource.fact(*key).is_absent() || *key == Key::Autoscaled {
            resource.set(*key, said);
        }
    }
    let units = built.units;
    resource.shifts.extend(shifts(scope, &row.shifts).into_iter().map(|shift| in_machines(shift, units)));
    for count in &row.count.0 {
        if matches!(scope.holds(&count.when), Truth::No) {
            continue;
        }
        if count.adds {
            let more = times(range(scope, count), scope.block.instances.clone());
            resource.count = sum(resource.count.clone(), more);
            break;
        }
        let stated = resource.count.value().map(|range| range.expected);
        match range(scope, count) {
            Fact::Absent => continue,
            Fact::Known(KnownFact { value, span, defined, origin }) => {
                let value = Range::between(value.floor, stated, value.ceiling);
                resource.count = Fact::Known(KnownFact { value, span, defined, origin });
            }
            unknown @ Fact::Unknown(_) => resource.count = unknown,
        }
        break;
    }
}
