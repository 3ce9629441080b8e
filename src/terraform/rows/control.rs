//! Blocks that rent nothing and decide about others: schedules, autoscalers, alarms.

use std::collections::HashMap;

use crate::inventory::{Fact, Key, Known, Link, LinkKind, Origin, Range, Type, Value};

use super::super::block::Block;
use super::build::Built;
use super::count::range;
use super::fact::Wanted;
use super::language::Row;
use super::links::{Index, Linked, follow_all};
use super::scope::{Scope, Truth};

/// The name of the link that leads from a control to what it decides about.
const TARGET: &str = "target";

/// Gives every resource what the controls that refer to it say.
pub(super) fn apply<'a>(controls: &[(&'a Block, &'static Row)], index: &Index<'a>, resources: &mut [Built]) {
    let by_block = positions(resources);
    for (block, row) in controls {
        let Some(word) = row.links.get(TARGET) else { continue };
        let mut scope = Scope::of(block);
        follow_all(index, &mut scope, &row.links);
        let Some(Linked::Blocks(targets)) = scope.links.get(TARGET).cloned() else { continue };
        if word.back || matches!(scope.holds(&row.when), Truth::No) {
            continue;
        }
        for (target, span) in targets {
            // What is switched off decides about what is switched off with it only.
            if block.is_none() && !target.is_none() {
                continue;
            }
            for &at in by_block.get(&target.address).into_iter().flatten() {
                let Some(built) = resources.get_mut(at) else { continue };
                decide(built, &scope, row);
                let kind = row.link.map_or(LinkKind::Settings, |link| link.kind());
                built.resource.links.push(Link::named(kind, block.address.clone(), span));
            }
        }
    }
}

fn positions(resources: &[Built]) -> HashMap<String, Vec<usize>> {
    let mut by_block: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, built) in resources.iter().enumerate() {
        by_block.entry(built.block.clone()).or_default().push(at);
    }
    by_block
}

/// A reservation is paid whether or not it is used. Counted beside the machines that use it, it has only the rest.
pub(super) fn settle_reservations(resources: &mut [Built]) {
    let by_block = positions(resources);
    for at in 0..resources.len() {
        let Some(user) = resources.get(at) else { continue };
        let (reservations, used) = (user.covered_by.clone(), user.resource.count.clone());
        for reservation in reservations.iter().filter_map(|address| by_block.get(address)).flatten() {
            let Some(Built { resource, .. }) = resources.get_mut(*reservation) else { continue };
            let users = resource.number(Key::Consumers).unwrap_or(0.0) + 1.0;
            resource.set(Key::Consumers, Fact::known(Value::Number(users), resource.span, Origin::Resolved));
            let Fact::Known(Known { value: reserved, span, defined, origin }) = resource.count.clone() else {
                continue;
            };
            if resource.fact(Key::Reserved).is_absent() {
                let all = Fact::Known(Known {
                    value: Value::Number(reserved.expected),
                    span,
                    defined,
                    origin: origin.clone(),
                });
                resource.set(Key::Reserved, all);
            }
            let value = match used.value() {
                Some(used) => Range {
                    floor: (reserved.floor - used.ceiling).max(0.0),
                    expected: (reserved.expected - used.expected).max(0.0),
                    ceiling: (reserved.ceiling - used.floor).max(0.0),
                },
                None => Range { floor: 0.0, ..reserved },
            };
            resource.count = Fact::Known(Known { value, span, defined, origin });
        }
    }
}

/// What two autoscalers of one thing look at.
fn both(one: Fact<Value>, other: Fact<Value>) -> Fact<Value> {
    let list = |value: Value| value.conform(Type::List);
    match (one, other) {
        (Fact::Known(mut one), Fact::Known(other)) => {
            let (Some(Value::List(mut all)), Some(Value::List(more))) = (list(one.value.clone()), list(other.value))
            else {
                return Fact::Known(one);
            };
            all.extend(more.into_iter().filter(|name| !all.contains(name)).collect::<Vec<_>>());
            one.value = Value::List(all);
            Fact::Known(one)
        }
        (Fact::Absent, other) => other,
        (one, Fact::Absent) => one,
        (unknown @ Fact::Unknown(_), _) | (_, unknown) => unknown,
    }
}

/// A control may set facts that the resource does not have, and the range of its number.
fn decide(built: &mut Built, scope: &Scope<'_>, row: &Row) {
    let resource = &mut built.resource;
    for (key, spec) in &row.keyed {
        let said = scope.fact(spec, Wanted::of(*key));
        if *key == Key::AutoscaledOn {
            resource.set(*key, both(resource.fact(*key).clone(), said));
        } else if resource.fact(*key).is_absent() || *key == Key::Autoscaled {
            resource.set(*key, said);
        }
    }
    for count in &row.count.0 {
        if matches!(scope.holds(&count.when), Truth::No) {
            continue;
        }
        let stated = resource.count.value().map(|range| range.expected);
        match range(scope, count) {
            Fact::Absent => continue,
            Fact::Known(Known { value, span, defined, origin }) => {
                let value = Range::between(value.floor, stated, value.ceiling);
                resource.count = Fact::Known(Known { value, span, defined, origin });
            }
            unknown @ Fact::Unknown(_) => resource.count = unknown,
        }
        break;
    }
}
