//! Merges an included file with the file that includes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, Data, Entries, Value};

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
pub(super) fn join(parent: &Value, child: &Value, strategy: Strategy) -> Value {
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
    child.with(Data::Object(Arc::new(Entries { known, rest })))
}

fn field(name: &str, parent: &Value, child: &Value, strategy: Strategy) -> Value {
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
pub(super) fn over(parent: &Value, child: &Value) -> Value {
    let (above, own) = (opened(parent), opened(child));
    let mut known = hidden_by(above.known, own.rest.as_ref());
    known.extend(own.known);
    child.with(Data::Object(Arc::new(Entries { known, rest: own.rest.or(above.rest) })))
}

/// Returns the members of a value. An unknown value has unknown members.
fn opened(value: &Value) -> Entries {
    match (&value.data, value.entries()) {
        (_, Some(entries)) => entries.clone(),
        (Data::Unknown(cause), None) => Entries { known: BTreeMap::new(), rest: Some(cause.clone()) },
        _ => Entries::default(),
    }
}

/// Marks members as unknown if an unknown value may replace them.
fn hidden_by(mut known: BTreeMap<Arc<str>, Value>, by: Option<&Arc<Cause>>) -> BTreeMap<Arc<str>, Value> {
    if let Some(cause) = by {
        known.values_mut().for_each(|value| *value = Value::because(cause, value.span));
    }
    known
}

/// Merges maps by member and concatenates lists. For other values, uses the child's.
pub(super) fn joined(parent: &Value, child: &Value) -> Value {
    let data = match (&parent.data, &child.data) {
        (Data::Object(_) | Data::Map(_), Data::Object(_) | Data::Map(_)) => {
            let (above, own) = (opened(parent), opened(child));
            let mut known = hidden_by(above.known, own.rest.as_ref());
            for (name, value) in own.known {
                let value = known.get(&name).map_or_else(|| value.clone(), |other| joined(other, &value));
                known.insert(name, value);
            }
            Data::Object(Arc::new(Entries { known, rest: own.rest.or(above.rest) }))
        }
        (Data::List(a) | Data::Tuple(a), Data::List(b) | Data::Tuple(b)) => {
            Data::Tuple(Arc::new(a.iter().chain(b.iter()).cloned().collect()))
        }
        // The parent's members are known, but the additions of the child are not.
        (Data::Object(_) | Data::Map(_), Data::Unknown(cause)) => {
            let known = hidden_by(opened(parent).known, Some(cause));
            Data::Object(Arc::new(Entries { known, rest: Some(cause.clone()) }))
        }
        _ => return child.clone(),
    };
    child.with(data)
}

/// Merges each label deeply.
fn joined_labels(parent: &Value, child: &Value) -> Value {
    let (above, own) = (opened(parent), opened(child));
    let mut known = above.known;
    for (label, value) in own.known {
        let value = known.get(&label).map_or_else(|| value.clone(), |other| joined(other, &value));
        known.insert(label, value);
    }
    child.with(Data::Object(Arc::new(Entries { known, rest: own.rest.or(above.rest) })))
}

/// Merges attributes by name, and lists of named blocks by the names of the blocks.
fn terraform(parent: &Value, child: &Value) -> Value {
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
    child.with(Data::Object(Arc::new(Entries { known, rest: own.rest.or(above.rest) })))
}

/// Merges named blocks. A block replaces the parent's block with the same name, and other blocks are appended.
fn by_name(parent: &Value, child: &Value) -> Value {
    let name = |it: &Value| it.entries().and_then(|it| it.get("name")?.as_text().map(|it| it.into_owned()));
    let mut all = parent.items().to_vec();
    for item in child.items() {
        match all.iter_mut().find(|other| name(other) == name(item)) {
            Some(other) => *other = item.clone(),
            None => all.push(item.clone()),
        }
    }
    Value::tuple(all, child.span)
}

fn paths(parent: &Value, child: &Value) -> Value {
    let (above, own) = (opened(parent), opened(child));
    let both = [above, own].into_iter().filter_map(|it| it.get("paths").cloned());
    let mut all: Vec<Value> = Vec::new();
    for path in both.flat_map(|list| list.items().to_vec()) {
        if !all.iter().any(|it| it.as_text() == path.as_text()) {
            all.push(path);
        }
    }
    let entries = [(Arc::from("paths"), Value::tuple(all, child.span))].into_iter().collect();
    Value::object(entries, child.span)
}
