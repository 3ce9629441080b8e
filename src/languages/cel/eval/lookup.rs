//! Evaluates fields, keys and indexes.

use std::sync::Arc;

use super::super::map::{CelMap, MapKey};
use super::super::program::{ExprNode, Lookup, ProgramNode};
use super::super::value::CelValue;
use super::{Evaluated, EvaluationFailure, Evaluator, Read, failed, text_of_key};

impl Evaluator<'_> {
    pub(super) fn field(&mut self, node: &ProgramNode, of: CelValue, field: usize) -> Evaluated {
        match of {
            CelValue::Record(record) => {
                if record.schema.has_facts {
                    self.reads.push(Read { record, field });
                }
                Ok(self.host.field(record, field))
            }
            CelValue::Absent => Ok(CelValue::Absent),
            CelValue::Unknown(unknown) => Ok(CelValue::Unknown(unknown.derived())),
            other => Err(failed(node, format!("{} has no fields", other.kind()))),
        }
    }

    pub(super) fn select(&mut self, node: &ProgramNode, of: CelValue, name: &Arc<str>, lookup: Lookup) -> Evaluated {
        match of {
            CelValue::Optional(Some(inner)) => {
                let inner = self.select(node, CelValue::clone(&inner), name, Lookup::May)?;
                Ok(inner)
            }
            CelValue::Record(record) => match record.schema.field(name) {
                Some(field) => {
                    let value = self.field(node, of, field)?;
                    Ok(wrap(value, lookup))
                }
                None => Err(failed(node, format!("{} has no field `{name}`", record.schema.name))),
            },
            CelValue::Map(map) => match self.fact_of(node, &map, name)? {
                Some(value) => Ok(wrap(value, lookup)),
                None => self.index(node, CelValue::Map(map), &CelValue::Text(name.clone()), lookup),
            },
            CelValue::Optional(None) => Ok(CelValue::Optional(None)),
            CelValue::Absent if lookup == Lookup::May => Ok(CelValue::Optional(None)),
            CelValue::Absent => Ok(CelValue::Absent),
            CelValue::Unknown(unknown) => Ok(CelValue::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} has no field `{name}`", other.kind()))),
        }
    }

    /// Returns the host's value for a name that is not a key of the map.
    fn fact_of(
        &mut self,
        node: &ProgramNode,
        map: &CelMap,
        name: &Arc<str>,
    ) -> Result<Option<CelValue>, EvaluationFailure> {
        let is_asked = map.has_facts && map.get(&MapKey::Text(name.clone())).is_none();
        let Some(record) = map.of.filter(|_| is_asked) else { return Ok(None) };
        record.schema.field(name).map(|field| self.field(node, CelValue::Record(record), field)).transpose()
    }

    pub(super) fn index(&mut self, node: &ProgramNode, of: CelValue, key: &CelValue, lookup: Lookup) -> Evaluated {
        if let CelValue::Unknown(unknown) = key {
            return Ok(CelValue::Unknown(unknown.derived()));
        }
        let missing = |what: String| match lookup {
            Lookup::May => Ok(CelValue::Optional(None)),
            Lookup::Must => Err(failed(node, what)),
        };
        match of {
            CelValue::Map(map) => {
                let Some(sort) = MapKey::of(key) else { return missing(format!("no such key: {}", key.kind())) };
                match (map.get(&sort), &map.open) {
                    (Some(value), _) => Ok(wrap(value.clone(), lookup)),
                    (None, Some(open)) => Ok(CelValue::Unknown(open.clone())),
                    (None, None) if map.lenient && lookup == Lookup::Must => Ok(CelValue::Absent),
                    (None, None) => missing(format!("no such key: {}", text_of_key(&sort))),
                }
            }
            CelValue::List(items) => {
                let Some(MapKey::Number(place)) = MapKey::of(key) else {
                    return missing(format!("no matching overload: list[{}]", key.kind()));
                };
                let up_to = items.iter().take(usize::try_from(place).map_or(0, |place| place.saturating_add(1)));
                if let Some(why) = up_to.into_iter().find_map(|item| item.if_there().1) {
                    return Ok(CelValue::Unknown(why.derived()));
                }
                match usize::try_from(place).ok().and_then(|place| items.get(place)) {
                    Some(value) => Ok(wrap(value.clone(), lookup)),
                    None => missing(format!("index out of bounds: {place} of {}", items.len())),
                }
            }
            CelValue::Optional(Some(inner)) => self.index(node, CelValue::clone(&inner), key, Lookup::May),
            CelValue::Optional(None) => Ok(CelValue::Optional(None)),
            CelValue::Absent if lookup == Lookup::May => Ok(CelValue::Optional(None)),
            CelValue::Absent => Ok(CelValue::Absent),
            CelValue::Unknown(unknown) => Ok(CelValue::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} cannot be indexed", other.kind()))),
        }
    }

    pub(super) fn has(&mut self, of: &ProgramNode) -> Evaluated {
        // A test for a key does not depend on the value of the key.
        if let ExprNode::Select(inner, name, Lookup::Must) = &of.what {
            let container = self.eval(inner)?;
            if let CelValue::Map(map) = &container
                && let Some(value) = self.fact_of(of, map, name)?
            {
                return Ok(is_there(value));
            }
            if let CelValue::Map(map) = &container {
                let found = map.get(&MapKey::Text(name.clone()));
                return Ok(match (found, &map.open) {
                    (None, Some(open)) => CelValue::Unknown(open.clone()),
                    (found, _) => CelValue::Flag(found.is_some_and(|value| !matches!(value, CelValue::Absent))),
                });
            }
            let value = self.select(of, container, name, Lookup::Must)?;
            return Ok(is_there(value));
        }
        self.eval(of).map(is_there)
    }
}

pub(super) fn wrap(value: CelValue, lookup: Lookup) -> CelValue {
    match (lookup, value) {
        (Lookup::May, CelValue::Absent) => CelValue::Optional(None),
        (Lookup::May, value @ (CelValue::Unknown(_) | CelValue::Optional(_))) => value,
        (Lookup::May, value) => CelValue::Optional(Some(Arc::new(value))),
        (Lookup::Must, value) => value,
    }
}

fn is_there(value: CelValue) -> CelValue {
    match value {
        CelValue::Absent | CelValue::Optional(None) => CelValue::Flag(false),
        // The value is unknown, but it is certainly set.
        CelValue::Unknown(unknown) if unknown.candidates.is_empty() => CelValue::Unknown(unknown),
        _ => CelValue::Flag(true),
    }
}
