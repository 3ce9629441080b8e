//! Blocks that rent nothing and decide about others: schedules, autoscalers, alarms.

use std::collections::HashMap;

use crate::inventory::{Fact, Key, Known, Link, LinkKind, Range};

use super::super::block::Block;
use super::build::Built;
use super::count::range;
use super::fact::Wanted;
use super::language::Row;
use super::links::{Index, Linked};
use super::scope::{Scope, Truth};

/// The name of the link that leads from a control to what it decides about.
const TARGET: &str = "target";

/// Gives every resource what the controls that refer to it say.
pub(super) fn apply<'a>(controls: &[(&'a Block, &'static Row)], index: &Index<'a>, resources: &mut [Built]) {
    let mut by_block: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, built) in resources.iter().enumerate() {
        by_block.entry(built.block.clone()).or_default().push(at);
    }
    for (block, row) in controls {
        let Some(word) = row.links.get(TARGET) else { continue };
        let mut scope = Scope::of(block);
        for (name, link) in &row.links {
            if let Some(linked) = index.follow(&scope, link) {
                scope.links.insert(name, linked);
            }
        }
        let Some(Linked::Blocks(targets)) = scope.links.get(TARGET).cloned() else { continue };
        if word.back || matches!(scope.holds(&row.when), Truth::No) {
            continue;
        }
        for (target, span) in targets {
            for &at in by_block.get(&target.address).into_iter().flatten() {
                let Some(built) = resources.get_mut(at) else { continue };
                decide(built, &scope, row);
                let kind = row.link.map_or(LinkKind::Settings, |link| link.kind());
                built.resource.links.push(Link { kind, to: block.address.clone(), span });
            }
        }
    }
}

/// A control may set facts that the resource does not have, and the range of its number.
fn decide(built: &mut Built, scope: &Scope<'_>, row: &Row) {
    let resource = &mut built.resource;
    for (key, spec) in &row.keyed {
        if resource.fact(*key).is_absent() || *key == Key::Autoscaled {
            resource.set(*key, scope.fact(spec, Wanted::of(*key)));
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
