//! Conversions between types, as in Terraform.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::number::HclNumber;
use super::types::{HclType, ObjectField};
use super::value::{HclData, HclValue, ObjectMembers};

impl HclType {
    /// Converts a value to this type. Members that cannot be converted become unknown, so that the others stay usable.
    pub(crate) fn convert(&self, value: &HclValue) -> HclValue {
        let data = match (self, &value.data) {
            (HclType::Any, _) | (_, HclData::Null | HclData::Unknown(_)) => return value.clone(),
            (HclType::Text, _) => match value.as_text() {
                Some(text) => HclData::Text(text.into()),
                None => return self.misfit(value),
            },
            (HclType::Number, HclData::Text(_) | HclData::Number(_)) => match value.as_number() {
                Some(number) => HclData::Number(number),
                None => return self.misfit(value),
            },
            (HclType::Bool, _) => match value.as_bool() {
                Some(flag) => HclData::Bool(flag),
                None => return self.misfit(value),
            },
            (HclType::List(of), HclData::List(items) | HclData::Set(items) | HclData::Tuple(items)) => {
                HclData::List(Arc::new(of.convert_members(items)))
            }
            (HclType::Set(of), HclData::List(items) | HclData::Set(items) | HclData::Tuple(items)) => {
                HclData::Set(Arc::new(set_of(of.convert_members(items))))
            }
            (HclType::Tuple(types), HclData::List(items) | HclData::Tuple(items)) if types.len() == items.len() => {
                HclData::Tuple(Arc::new(types.iter().zip(items.iter()).map(|(of, item)| of.convert(item)).collect()))
            }
            (HclType::Map(of), HclData::Map(entries) | HclData::Object(entries)) => {
                let values: Vec<HclValue> = entries.known.values().cloned().collect();
                let converted = of.convert_members(&values);
                let known = entries.known.keys().cloned().zip(converted).collect();
                HclData::Map(Arc::new(ObjectMembers { known, rest: entries.rest.clone() }))
            }
            (HclType::Object(fields), HclData::Map(entries) | HclData::Object(entries)) => {
                return convert_object(fields, entries, value);
            }
            _ => return self.misfit(value),
        };
        value.with(data)
    }

    fn misfit(&self, value: &HclValue) -> HclValue {
        let from = HclType::of(value).name();
        HclValue::refused(format!("a {from} is not a {}", self.name()), value.span)
    }

    /// Converts the members of a collection; `any` is their common type.
    fn convert_members(&self, items: &[HclValue]) -> Vec<HclValue> {
        match self {
            HclType::Any => match HclType::common(items.iter().map(HclType::of)) {
                Some(HclType::Any) | None => items.to_vec(),
                Some(common) => items.iter().map(|item| common.convert(item)).collect(),
            },
            _ => items.iter().map(|item| self.convert(item)).collect(),
        }
    }
}

fn convert_object(fields: &BTreeMap<Arc<str>, ObjectField>, entries: &ObjectMembers, value: &HclValue) -> HclValue {
    let mut known = BTreeMap::new();
    for (name, field) in fields {
        let given = entries.get(name).map(|given| field.of.convert(given));
        let result = match (given, &field.default, &entries.rest) {
            (Some(given), None, _) => given,
            (Some(given), Some(default), _) if given.is_null() => default.clone(),
            (Some(given), Some(_), _) => given,
            (None, _, Some(rest)) => HclValue::because(rest, value.span),
            (None, Some(default), None) => default.clone(),
            (None, None, None) if field.optional => HclValue::null(value.span),
            (None, None, None) => return HclValue::refused(format!("the attribute `{name}` is missing"), value.span),
        };
        known.insert(name.clone(), result);
    }
    value.with(HclData::Object(Arc::new(ObjectMembers { known, rest: None })))
}

/// Sorts and deduplicates, in the order in which Terraform iterates over sets.
pub(crate) fn set_of(mut items: Vec<HclValue>) -> Vec<HclValue> {
    let plain = items.iter().all(|item| matches!(item.data, HclData::Text(_) | HclData::Number(_) | HclData::Bool(_)));
    if plain {
        items.sort_by(compare_plain);
        items.dedup_by(|a, b| compare_plain(a, b) == Ordering::Equal);
        return items;
    }
    let mut keyed: Vec<(Order, HclValue)> = items.into_iter().map(|item| (Order::of(&item), item)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    // An unknown value may equal any other value, so two unknown values are never duplicates.
    keyed.dedup_by(|a, b| a.0 == b.0 && a.1.is_wholly_known() && b.1.is_wholly_known());
    keyed.into_iter().map(|(_, item)| item).collect()
}

fn compare_plain(a: &HclValue, b: &HclValue) -> Ordering {
    match (&a.data, &b.data) {
        (HclData::Text(a), HclData::Text(b)) => a.cmp(b),
        (HclData::Number(a), HclData::Number(b)) => a.cmp(b),
        (HclData::Bool(a), HclData::Bool(b)) => a.cmp(b),
        _ => Order::of(a).cmp(&Order::of(b)),
    }
}

/// Order of set members that are not primitive: known before null before unknown, then by their text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Order(u8, Option<HclNumber>, String);

impl Order {
    fn of(value: &HclValue) -> Self {
        let rank = match value.data {
            HclData::Unknown(_) => 2,
            HclData::Null => 1,
            _ => 0,
        };
        let number = match &value.data {
            HclData::Number(number) => Some(number.clone()),
            _ => None,
        };
        let mut spelling = String::new();
        match &value.data {
            HclData::Text(text) => spelling.push_str(text),
            _ => spell(value, &mut spelling),
        }
        Order(rank, number, spelling)
    }
}

fn spell(value: &HclValue, into: &mut String) {
    match &value.data {
        HclData::Unknown(_) => into.push('?'),
        HclData::Null => into.push('~'),
        HclData::Bool(flag) => into.push(if *flag { 'T' } else { 'F' }),
        HclData::Number(number) => {
            let _ = write!(into, "{number}");
        }
        HclData::Text(text) => {
            let _ = write!(into, "{text:?}");
        }
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            into.push(if matches!(value.data, HclData::Tuple(_)) { '<' } else { '[' });
            for item in items.iter() {
                spell(item, into);
                into.push(';');
            }
            into.push(if matches!(value.data, HclData::Tuple(_)) { '>' } else { ']' });
        }
        HclData::Map(entries) => {
            into.push('{');
            for (key, member) in entries.iter() {
                let _ = write!(into, "{key:?}:");
                spell(member, into);
                into.push(';');
            }
            into.push('}');
        }
        HclData::Object(entries) => {
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
pub(crate) fn equal(a: &HclValue, b: &HclValue) -> Option<bool> {
    match (&a.data, &b.data) {
        (HclData::Unknown(_), _) | (_, HclData::Unknown(_)) => None,
        (HclData::Null, HclData::Null) => Some(true),
        (HclData::Bool(a), HclData::Bool(b)) => Some(a == b),
        (HclData::Number(a), HclData::Number(b)) => Some(a == b),
        (HclData::Text(a), HclData::Text(b)) => Some(a == b),
        (HclData::List(a), HclData::List(b))
        | (HclData::Set(a), HclData::Set(b))
        | (HclData::Tuple(a), HclData::Tuple(b)) => {
            if a.len() != b.len() {
                return Some(false);
            }
            all_equal(a.iter().zip(b.iter()))
        }
        (HclData::Map(a), HclData::Map(b)) | (HclData::Object(a), HclData::Object(b)) => {
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

fn all_equal<'v>(pairs: impl Iterator<Item = (&'v HclValue, &'v HclValue)>) -> Option<bool> {
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
