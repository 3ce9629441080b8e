//! Conversions between types, as in Terraform.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::number::Number;
use super::types::{ObjectField, Type};
use super::value::{Data, Entries, Value};

impl Type {
    /// Converts a value to this type. Members that cannot be converted become unknown, so that the others stay usable.
    pub(crate) fn convert(&self, value: &Value) -> Value {
        let data = match (self, &value.data) {
            (Type::Any, _) | (_, Data::Null | Data::Unknown(_)) => return value.clone(),
            (Type::Text, _) => match value.as_text() {
                Some(text) => Data::Text(text.into()),
                None => return self.misfit(value),
            },
            (Type::Number, Data::Text(_) | Data::Number(_)) => match value.as_number() {
                Some(number) => Data::Number(number),
                None => return self.misfit(value),
            },
            (Type::Bool, _) => match value.as_bool() {
                Some(flag) => Data::Bool(flag),
                None => return self.misfit(value),
            },
            (Type::List(of), Data::List(items) | Data::Set(items) | Data::Tuple(items)) => {
                Data::List(Arc::new(of.convert_members(items)))
            }
            (Type::Set(of), Data::List(items) | Data::Set(items) | Data::Tuple(items)) => {
                Data::Set(Arc::new(set_of(of.convert_members(items))))
            }
            (Type::Tuple(types), Data::List(items) | Data::Tuple(items)) if types.len() == items.len() => {
                Data::Tuple(Arc::new(types.iter().zip(items.iter()).map(|(of, item)| of.convert(item)).collect()))
            }
            (Type::Map(of), Data::Map(entries) | Data::Object(entries)) => {
                let values: Vec<Value> = entries.known.values().cloned().collect();
                let converted = of.convert_members(&values);
                let known = entries.known.keys().cloned().zip(converted).collect();
                Data::Map(Arc::new(Entries { known, rest: entries.rest.clone() }))
            }
            (Type::Object(fields), Data::Map(entries) | Data::Object(entries)) => {
                return convert_object(fields, entries, value);
            }
            _ => return self.misfit(value),
        };
        value.with(data)
    }

    fn misfit(&self, value: &Value) -> Value {
        let from = Type::of(value).name();
        Value::refused(format!("a {from} is not a {}", self.name()), value.span)
    }

    /// Converts the members of a collection; `any` is their common type.
    fn convert_members(&self, items: &[Value]) -> Vec<Value> {
        match self {
            Type::Any => match Type::common(items.iter().map(Type::of)) {
                Some(Type::Any) | None => items.to_vec(),
                Some(common) => items.iter().map(|item| common.convert(item)).collect(),
            },
            _ => items.iter().map(|item| self.convert(item)).collect(),
        }
    }
}

fn convert_object(fields: &BTreeMap<Arc<str>, ObjectField>, entries: &Entries, value: &Value) -> Value {
    let mut known = BTreeMap::new();
    for (name, field) in fields {
        let given = entries.get(name).map(|given| field.of.convert(given));
        let result = match (given, &field.default, &entries.rest) {
            (Some(given), None, _) => given,
            (Some(given), Some(default), _) if given.is_null() => default.clone(),
            (Some(given), Some(_), _) => given,
            (None, _, Some(rest)) => Value::because(rest, value.span),
            (None, Some(default), None) => default.clone(),
            (None, None, None) if field.optional => Value::null(value.span),
            (None, None, None) => return Value::refused(format!("the attribute `{name}` is missing"), value.span),
        };
        known.insert(name.clone(), result);
    }
    value.with(Data::Object(Arc::new(Entries { known, rest: None })))
}

/// Sorts and deduplicates, in the order in which Terraform iterates over sets.
pub(crate) fn set_of(mut items: Vec<Value>) -> Vec<Value> {
    let plain = items.iter().all(|item| matches!(item.data, Data::Text(_) | Data::Number(_) | Data::Bool(_)));
    if plain {
        items.sort_by(compare_plain);
        items.dedup_by(|a, b| compare_plain(a, b) == Ordering::Equal);
        return items;
    }
    let mut keyed: Vec<(Order, Value)> = items.into_iter().map(|item| (Order::of(&item), item)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    // An unknown value may equal any other value, so two unknown values are never duplicates.
    keyed.dedup_by(|a, b| a.0 == b.0 && a.1.is_wholly_known() && b.1.is_wholly_known());
    keyed.into_iter().map(|(_, item)| item).collect()
}

fn compare_plain(a: &Value, b: &Value) -> Ordering {
    match (&a.data, &b.data) {
        (Data::Text(a), Data::Text(b)) => a.cmp(b),
        (Data::Number(a), Data::Number(b)) => a.cmp(b),
        (Data::Bool(a), Data::Bool(b)) => a.cmp(b),
        _ => Order::of(a).cmp(&Order::of(b)),
    }
}

/// Order of set members that are not primitive: known before null before unknown, then by their text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Order(u8, Option<Number>, String);

impl Order {
    fn of(value: &Value) -> Self {
        let rank = match value.data {
            Data::Unknown(_) => 2,
            Data::Null => 1,
            _ => 0,
        };
        let number = match &value.data {
            Data::Number(number) => Some(number.clone()),
            _ => None,
        };
        let mut spelling = String::new();
        match &value.data {
            Data::Text(text) => spelling.push_str(text),
            _ => spell(value, &mut spelling),
        }
        Order(rank, number, spelling)
    }
}

fn spell(value: &Value, into: &mut String) {
    match &value.data {
        Data::Unknown(_) => into.push('?'),
        Data::Null => into.push('~'),
        Data::Bool(flag) => into.push(if *flag { 'T' } else { 'F' }),
        Data::Number(number) => {
            let _ = write!(into, "{number}");
        }
        Data::Text(text) => {
            let _ = write!(into, "{text:?}");
        }
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
            into.push(if matches!(value.data, Data::Tuple(_)) { '<' } else { '[' });
            for item in items.iter() {
                spell(item, into);
                into.push(';');
            }
            into.push(if matches!(value.data, Data::Tuple(_)) { '>' } else { ']' });
        }
        Data::Map(entries) => {
            into.push('{');
            for (key, member) in entries.iter() {
                let _ = write!(into, "{key:?}:");
                spell(member, into);
                into.push(';');
            }
            into.push('}');
        }
        Data::Object(entries) => {
            into.push('<');
            for member in entries.known.values() {
                spell(member, into);
                into.push(';');
            }
            into.push('>');
        }
    }
}

/// Returns whether two values are equal, including their types; `None` if an unknown value decides.
pub(crate) fn equal(a: &Value, b: &Value) -> Option<bool> {
    match (&a.data, &b.data) {
        (Data::Unknown(_), _) | (_, Data::Unknown(_)) => None,
        (Data::Null, Data::Null) => Some(true),
        (Data::Bool(a), Data::Bool(b)) => Some(a == b),
        (Data::Number(a), Data::Number(b)) => Some(a == b),
        (Data::Text(a), Data::Text(b)) => Some(a == b),
        (Data::List(a), Data::List(b)) | (Data::Set(a), Data::Set(b)) | (Data::Tuple(a), Data::Tuple(b)) => {
            if a.len() != b.len() {
                return Some(false);
            }
            all_equal(a.iter().zip(b.iter()))
        }
        (Data::Map(a), Data::Map(b)) | (Data::Object(a), Data::Object(b)) => {
            if a.rest.is_none() && b.rest.is_none() && (a.len() != b.len() || !a.known.keys().eq(b.known.keys())) {
                return Some(false);
            }
            let common = a.iter().filter_map(|(key, value)| Some((value, b.get(key)?)));
            match all_equal(common) {
                Some(true) if a.rest.is_some() || b.rest.is_some() => None,
                other => other,
            }
        }
        _ => Some(false),
    }
}

fn all_equal<'v>(pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Option<bool> {
    let mut result = Some(true);
    for (a, b) in pairs {
        match equal(a, b) {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}
