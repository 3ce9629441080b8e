//! Fields, keys and indices of what was evaluated.

use std::sync::Arc;

use super::super::map::Key;
use super::super::program::{Lookup, Node, What};
use super::super::value::Value;
use super::{Evaluated, Evaluator, Read, failed, text_of_key};

impl Evaluator<'_> {
    pub(super) fn field(&mut self, node: &Node, of: Value, field: usize) -> Evaluated {
        match of {
            Value::Record(record) => {
                if record.schema.has_facts {
                    self.reads.push(Read { record, field });
                }
                Ok(self.host.field(record, field))
            }
            Value::Absent => Ok(Value::Absent),
            Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
            other => Err(failed(node, format!("{} has no fields", other.kind()))),
        }
    }

    pub(super) fn select(&mut self, node: &Node, of: Value, name: &Arc<str>, lookup: Lookup) -> Evaluated {
        match of {
            Value::Optional(Some(inner)) => {
                let inner = self.select(node, Value::clone(&inner), name, Lookup::May)?;
                Ok(inner)
            }
            Value::Record(record) => match record.schema.field(name) {
                Some(field) => {
                    let value = self.field(node, of, field)?;
                    Ok(wrap(value, lookup))
                }
                None => Err(failed(node, format!("{} has no field `{name}`", record.schema.name))),
            },
            Value::Map(_) => self.index(node, of, &Value::Text(name.clone()), lookup),
            Value::Optional(None) => Ok(Value::Optional(None)),
            Value::Absent if lookup == Lookup::May => Ok(Value::Optional(None)),
            Value::Absent => Ok(Value::Absent),
            Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} has no field `{name}`", other.kind()))),
        }
    }

    pub(super) fn index(&mut self, node: &Node, of: Value, key: &Value, lookup: Lookup) -> Evaluated {
        if let Value::Unknown(unknown) = key {
            return Ok(Value::Unknown(unknown.derived()));
        }
        let missing = |what: String| match lookup {
            Lookup::May => Ok(Value::Optional(None)),
            Lookup::Must => Err(failed(node, what)),
        };
        match of {
            Value::Map(map) => {
                let Some(sort) = Key::of(key) else { return missing(format!("no such key: {}", key.kind())) };
                match (map.get(&sort), &map.open) {
                    (Some(value), _) => Ok(wrap(value.clone(), lookup)),
                    (None, Some(open)) => Ok(Value::Unknown(open.clone())),
                    (None, None) if map.lenient && lookup == Lookup::Must => Ok(Value::Absent),
                    (None, None) => missing(format!("no such key: {}", text_of_key(&sort))),
                }
            }
            Value::List(items) => {
                let Some(Key::Number(place)) = Key::of(key) else {
                    return missing(format!("no matching overload: list[{}]", key.kind()));
                };
                match usize::try_from(place).ok().and_then(|place| items.get(place)) {
                    Some(value) => Ok(wrap(value.clone(), lookup)),
                    None => missing(format!("index out of bounds: {place} of {}", items.len())),
                }
            }
            Value::Optional(Some(inner)) => self.index(node, Value::clone(&inner), key, Lookup::May),
            Value::Optional(None) => Ok(Value::Optional(None)),
            Value::Absent if lookup == Lookup::May => Ok(Value::Optional(None)),
            Value::Absent => Ok(Value::Absent),
            Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} cannot be indexed", other.kind()))),
        }
    }

    pub(super) fn has(&mut self, of: &Node) -> Evaluated {
        // whether a key is there does not depend on its value
        if let What::Select(inner, name, Lookup::Must) = &of.what {
            let container = self.eval(inner)?;
            if let Value::Map(map) = &container {
                let found = map.get(&Key::Text(name.clone()));
                return Ok(match (found, &map.open) {
                    (None, Some(open)) => Value::Unknown(open.clone()),
                    (found, _) => Value::Flag(found.is_some_and(|value| !matches!(value, Value::Absent))),
                });
            }
            let value = self.select(of, container, name, Lookup::Must)?;
            return Ok(is_there(value));
        }
        self.eval(of).map(is_there)
    }
}

pub(super) fn wrap(value: Value, lookup: Lookup) -> Value {
    match (lookup, value) {
        (Lookup::May, Value::Absent) => Value::Optional(None),
        (Lookup::May, value @ (Value::Unknown(_) | Value::Optional(_))) => value,
        (Lookup::May, value) => Value::Optional(Some(Arc::new(value))),
        (Lookup::Must, value) => value,
    }
}

fn is_there(value: Value) -> Value {
    match value {
        Value::Absent | Value::Optional(None) => Value::Flag(false),
        // whatever it is, the text says it
        Value::Unknown(unknown) if unknown.candidates.is_empty() => Value::Unknown(unknown),
        _ => Value::Flag(true),
    }
}
