//! Merges an included file with the file that includes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};

/// The merge strategy for two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    None,
    Shallow,
    Deep,
}

/// Blocks that the child always replaces completely.
const WHOLE: [&str; 2] = ["remote_state", "engine"];
/// Blocks that are merged by label.
const LABELLED: [&str; 3] = ["generate", "dependency", "feature"];
/// Lists of blocks with names.
const NAMED: [&str; 4] = ["extra_arguments", "before_hook", "after_hook", "error_hook"];

/// Returns the settings of the parent, overridden by those of the child.
pub(super) fn join(parent: &HclValue, child: &HclValue, strategy: Strategy) -> HclValue {
    let (Some(above), Some(own)) = (parent.entries(), child.entries()) else { return child.clone() };
    if strategy == Strategy::None {
        return child.clone();
    }
    let mut known = above.known.clone();
    known.remove("locals");
    for (name, value) in own.iter() {
        let joined = match known.get(name) {
            Some(other) => field(name, other, value, strategy),
            None => value.clone(),
        };
        known.insert(name.clone(), joined);
    }
    let rest = own.rest.clone().or_else(|| above.rest.clone());
    child.with(HclData::Object(Arc::new(ObjectMembers { known, rest })))
}

fn field(name: &str, parent: &HclValue, child: &HclValue, strategy: Strategy) -> HclValue {
    let deep = strategy == Strategy::Deep;
    match name {
        "inputs" if deep => joined(parent, child),
        "inputs" => over(parent, child),
        "terraform" => terraform(parent, child),
        "dependencies" => paths(parent, child),
        _ if LABELLED.contains(&name) && deep && name != "generate" => joined_labels(parent, child),
        _ if LABELLED.contains(&name) => over(parent, child),
        _ if WHOLE.contains(&name) || !deep => child.clone(),
        _ => joined(parent, child),
    }
}

/// Merges two values. The keys of the child replace those of the parent.
pub(super) fn over(parent: &HclValue, child: &HclValue) -> HclValue {
    let (above, own) = (opened(parent), opened(child));
    let mut known = hidden_by(above.known, own.rest.as_ref());
    known.extend(own.known);
    child.with(HclData::Object(Arc::new(ObjectMembers { known, rest: own.rest.or(above.rest) })))
}

/// Returns the members of a value. An unknown value has unknown members.
fn opened(value: &HclValue) -> ObjectMembers {
    match (&value.data, value.entries()) {
        (_, Some(entries)) => entries.clone(),
        (HclData::Unknown(cause), None) => ObjectMembers { known: BTreeMap::new(), rest: Some(cause.clone()) },
        _ => ObjectMembers::default(),
    }
}

/// Marks members as unknown if an unknown value may replace them.
fn hidden_by(mut known: BTreeMap<Arc<str>, HclValue>, by: Option<&Arc<Cause>>) -> BTreeMap<Arc<str>, HclValue> {
    if let Some(cause) = by {
        known.values_mut().for_each(|value| *value = HclValue::because(cause, value.span));
    }
    known
}

/// Merges maps by member and concatenates lists. For other values, uses the child's.
pub(super) fn joined(parent: &HclValue, child: &HclValue) -> HclValue {
    let data = match (&parent.data, &child.data) {
        (HclData::Object(_) | HclData::Map(_), HclData::Object(_) | HclData::Map(_)) => {
            let (above, own) = (opened(parent), opened(child));
            let mut known = hidden_by(above.known, own.rest.as_ref());
            for (name, value) in own.known {
                let value = known.get(&name).map_or_else(|| value.clone(), |other| joined(other, &value));
                known.insert(name, value);
            }
            HclData::Object(Arc::new(ObjectMembers { known, rest: own.rest.or(above.rest) }))
        }
        (HclData::List(a) | HclData::Tuple(a), HclData::List(b) | HclData::Tuple(b)) => {
            HclData::Tuple(Arc::new(a.iter().chain(b.iter()).cloned().collect()))
        }
        // The parent's members are known, but the additions of the child are not.
        (HclData::Object(_) | HclData::Map(_), HclData::Unknown(cause)) => {
            let known = hidden_by(opened(parent).known, Some(cause));
            HclData::Object(Arc::new(ObjectMembers { known, rest: Some(cause.clone()) }))
        }
        _ => return child.clone(),
    };
    child.with(data)
}

/// Merges each label deeply.
fn joined_labels(parent: &HclValue, child: &HclValue) -> HclValue {
    let (above, own) = (opened(parent), opened(child));
    let mut known = above.known;
    for (label, value) in own.known {
        let value = known.get(&label).map_or_else(|| value.clone(), |other| joined(other, &value));
        known.insert(label, value);
    }
    child.with(HclData::Object(Arc::new(ObjectMembers { known, rest: own.rest.or(above.rest) })))
}

/// Merges attributes by name, and lists of named blocks by the names of the blocks.
fn terraform(parent: &HclValue, child: &HclValue) -> HclValue {
    let (above, own) = (opened(parent), opened(child));
    let mut known = above.known;
    for (name, value) in own.known {
        let value = match known.get(&name) {
            Some(other) if NAMED.contains(&&*name) && value.entries().is_none() => by_name(other, &value),
            Some(other) if NAMED.contains(&&*name) => over(other, &value),
            _ => value,
        };
        known.insert(name, value);
    }
    child.with(HclData::Object(Arc::new(ObjectMembers { known, rest: own.rest.or(above.rest) })))
}

/// Merges named blocks. A block replaces the parent's block with the same name, and other blocks are appended.
fn by_name(parent: &HclValue, child: &HclValue) -> HclValue {
    let name = |it: &HclValue| it.entries().and_then(|it| it.get("name")?.as_text().map(|it| it.into_owned()));
    let mut all = parent.items().to_vec();
    for item in child.items() {
        match all.iter_mut().find(|other| name(other) == name(item)) {
            Some(other) => *other = item.clone(),
            None => all.push(item.clone()),
        }
    }
    HclValue::tuple(all, child.span)
}

fn paths(parent: &HclValue, child: &HclValue) -> HclValue {
    let (above, own) = (opened(parent), opened(child));
    let both = [above, own].into_iter().filter_map(|it| it.get("paths").cloned());
    let mut all: Vec<HclValue> = Vec::new();
    for path in both.flat_map(|list| list.items().to_vec()) {
        if !all.iter().any(|it| it.as_text() == path.as_text()) {
            all.push(path);
        }
    }
    let entries = [(Arc::from("paths"), HclValue::tuple(all, child.span))].into_iter().collect();
    HclValue::object(entries, child.span)
}
