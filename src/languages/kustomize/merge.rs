//! Merges a patch into an object (strategic merge), with kustomize's own behavior. List elements that a patch names
//! come first, and `$patch: replace` has no effect in merged lists. Unknown directives (`$setElementOrder`,
//! `$retainKeys`) stay as fields.

use std::collections::BTreeSet;

use super::schema::{MergeSchema, SchemaPlace};
use super::value::{MapField, ObjectData, ObjectValue};
use super::{BuildBudget, KustomizeError};

const DIRECTIVE: &str = "$patch";
/// The limit on depth; parsed documents are less deep.
const DEEPEST: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Merge,
    Replace,
    Delete,
}

/// A merge result, and whether it is the object's own value with changes rather than a replacement.
struct Merged {
    value: Option<ObjectValue>,
    is_own: bool,
}

pub(super) struct Merger<'m> {
    pub schema: &'m MergeSchema,
    pub budget: &'m BuildBudget,
}

impl Merger<'_> {
    /// Merges a patch into an object; returns `None` if the patch deletes it.
    pub(super) fn merge(&self, own: ObjectValue, patch: ObjectValue) -> Result<Option<ObjectValue>, KustomizeError> {
        self.walk(Some(own), Some(patch), None, 0).map(|merged| merged.value)
    }

    fn walk(
        &self,
        own: Option<ObjectValue>,
        patch: Option<ObjectValue>,
        place: Option<SchemaPlace<'_>>,
        depth: usize,
    ) -> Result<Merged, KustomizeError> {
        self.budget.spend(1)?;
        if depth > DEEPEST {
            return Err(KustomizeError::beyond("the patch is nested too deeply"));
        }
        let place = place.or_else(|| [&own, &patch].into_iter().flatten().find_map(|it| self.schema.of_kind(it)));
        let given = [own.as_ref(), patch.as_ref()].into_iter().flatten().filter(|it| !it.is_null());
        let kinds: Vec<&ObjectValue> = given.collect();
        if let [a, b] = kinds.as_slice()
            && std::mem::discriminant(&a.data) != std::mem::discriminant(&b.data)
        {
            let message = "the patch sets a value of another type here";
            return Err(KustomizeError::refused(message, b.at).with_note(a.at, "the patched value is defined here"));
        }
        match kinds.first().map(|it| &it.data) {
            None | Some(ObjectData::Map(_)) => self.maps(own, patch, place, depth),
            Some(ObjectData::List(_)) => match place.and_then(SchemaPlace::merged_by) {
                Some(keys) => self.lists(own, patch, place, keys, depth),
                None => Ok(replaced(own, patch)),
            },
            Some(ObjectData::Scalar { .. }) => Ok(replaced(own, patch)),
        }
    }

    fn maps(
        &self,
        own: Option<ObjectValue>,
        patch: Option<ObjectValue>,
        place: Option<SchemaPlace<'_>>,
        depth: usize,
    ) -> Result<Merged, KustomizeError> {
        let (mut base, mut patch, is_own) = match (own, patch) {
            (None, None) => return Ok(Merged { value: None, is_own: true }),
            (Some(own), None) if own.is_null() => {
                // A null that is written as such stays, and an empty value does not.
                let value = Some(own).filter(|own| !own.raw().is_empty());
                return Ok(Merged { value, is_own: true });
            }
            (Some(own), None) => (own, None, true),
            (_, Some(patch)) if patch.is_null() => return Ok(Merged { value: None, is_own: false }),
            (own, Some(mut patch)) => match (take_directive(&mut patch)?, own.filter(|own| !own.is_null())) {
                (Strategy::Delete, _) => return Ok(Merged { value: None, is_own: false }),
                (Strategy::Merge, Some(own)) => (own, Some(patch), true),
                _ => (patch.clone(), Some(patch), false),
            },
        };
        let ObjectData::Map(fields) = &mut base.data else { return Ok(Merged { value: Some(base), is_own }) };
        let mut result: Vec<MapField> = Vec::with_capacity(fields.len());
        for MapField { key, key_at, value } in std::mem::take(fields) {
            let other = patch.as_mut().and_then(|patch| patch.remove(&key));
            let merged = self.walk(Some(value), other, place.and_then(|it| it.field(&key)), depth + 1)?.value;
            result.extend(merged.map(|value| MapField { key, key_at, value }));
        }
        if let Some(ObjectValue { data: ObjectData::Map(more), .. }) = patch {
            for MapField { key, key_at, value } in more {
                let merged = self.walk(None, Some(value), place.and_then(|it| it.field(&key)), depth + 1)?.value;
                result.extend(merged.map(|value| MapField { key, key_at, value }));
            }
        }
        base.data = ObjectData::Map(result);
        Ok(Merged { value: Some(base), is_own })
    }

    fn lists(
        &self,
        own: Option<ObjectValue>,
        patch: Option<ObjectValue>,
        place: Option<SchemaPlace<'_>>,
        keys: &[String],
        depth: usize,
    ) -> Result<Merged, KustomizeError> {
        let (base, patch, is_own) = match (own, patch) {
            (None, None) => return Ok(Merged { value: None, is_own: true }),
            (Some(own), None) => (own, None, true),
            (_, Some(patch)) if patch.is_null() => return Ok(Merged { value: None, is_own: false }),
            (own, Some(mut patch)) => match own.filter(|own| !own.is_null()) {
                None => (patch.clone(), Some(patch), false),
                Some(own) => match take_list_directive(&mut patch)? {
                    Strategy::Delete => return Ok(Merged { value: None, is_own: false }),
                    Strategy::Replace => (patch.clone(), Some(patch), false),
                    Strategy::Merge => (own, Some(patch), true),
                },
            },
        };
        let scalars = [String::new()];
        let keys = if keys.is_empty() { &scalars[..] } else { keys };
        let elements = place.and_then(SchemaPlace::elements);
        let items = Elements { merger: self, keys, place: elements, depth };
        let list = items.merged(base.items().to_vec(), patch.as_ref().map(ObjectValue::items))?;
        Ok(Merged { value: Some(ObjectValue { data: ObjectData::List(list), ..base }), is_own })
    }
}

/// Merges scalars and lists that are replaced as a whole.
fn replaced(own: Option<ObjectValue>, patch: Option<ObjectValue>) -> Merged {
    match patch {
        Some(patch) if patch.is_null() => Merged { value: None, is_own: false },
        Some(mut patch) => {
            // A quoted value stays quoted.
            if let (ObjectData::Scalar { plain, .. }, Some(ObjectData::Scalar { plain: false, .. })) =
                (&mut patch.data, own.map(|own| own.data))
            {
                *plain = false;
            }
            Merged { value: Some(patch), is_own: false }
        }
        None => Merged { value: own, is_own: true },
    }
}

/// Merges one list into another, element by element.
struct Elements<'m> {
    merger: &'m Merger<'m>,
    /// The merge keys; one empty key for scalar elements.
    keys: &'m [String],
    place: Option<SchemaPlace<'m>>,
    depth: usize,
}

impl Elements<'_> {
    fn merged(
        &self,
        mut own: Vec<ObjectValue>,
        patch: Option<&[ObjectValue]>,
    ) -> Result<Vec<ObjectValue>, KustomizeError> {
        let mut all: Vec<Vec<String>> = Vec::new();
        let mut seen = BTreeSet::new();
        for element in patch.unwrap_or_default().iter().chain(&own) {
            self.merger.budget.spend(1)?;
            let values: Vec<String> = self.keys.iter().map(|key| value_of(element, key)).collect();
            if seen.insert(values.clone()) {
                all.push(values);
            }
        }
        if self.keys.len() > 1 {
            self.merger.budget.spend(all.len().saturating_mul(all.len()))?;
            fill_in(&mut all);
        }
        let named: Vec<bool> =
            (0..self.keys.len()).map(|n| all.iter().any(|it| it.get(n).is_some_and(|v| !v.is_empty()))).collect();
        let mut merged: Vec<ObjectValue> = Vec::new();
        let mut used: Vec<String> = self.keys.to_vec();
        for values in &all {
            let (keys, values) = valid(&named, self.keys, values);
            self.merger.budget.spend(own.len() + merged.len())?;
            let (own_keys, own_values) = self.given(&keys, &values);
            let place = own.iter().position(|it| matches(it, &own_keys, &own_values));
            let before = place.and_then(|place| own.get(place)).cloned();
            let other = patch.unwrap_or_default().iter().find(|it| matches(it, &own_keys, &own_values)).cloned();
            let Merged { value, is_own } = self.merger.walk(before, other, self.place, self.depth + 1)?;
            used.clone_from(&keys);
            let nothing = |value: &ObjectValue| value.is_null() || (value.is_map() && value.fields().is_empty());
            let Some(mut value) = value.filter(|value| !nothing(value)) else {
                set(&mut own, None, &keys, &values);
                continue;
            };
            for (key, text) in keys.iter().zip(&values) {
                if value.is_map() && value.get(key).is_none() && !text.is_empty() {
                    value.set(key, ObjectValue::plain(text.as_str(), value.at));
                }
            }
            if let Some(known) = place.and_then(|place| own.get_mut(place)).filter(|_| is_own) {
                known.clone_from(&value);
            }
            set(&mut merged, Some(value), &keys, &values);
        }
        self.append(merged, own, &used)
    }

    /// Returns the keys that have values.
    fn given(&self, keys: &[String], values: &[String]) -> (Vec<String>, Vec<String>) {
        let pairs = keys.iter().zip(values).filter(|(_, value)| !value.is_empty());
        let (some_keys, some_values): (Vec<String>, Vec<String>) = pairs.map(|(k, v)| (k.clone(), v.clone())).unzip();
        match some_keys.is_empty() {
            true => (keys.to_vec(), values.to_vec()),
            false => (some_keys, some_values),
        }
    }

    /// Puts the object's own elements in the place of their merged results.
    fn append(
        &self,
        mut merged: Vec<ObjectValue>,
        own: Vec<ObjectValue>,
        keys: &[String],
    ) -> Result<Vec<ObjectValue>, KustomizeError> {
        for element in own {
            self.merger.budget.spend(merged.len() + 1)?;
            if keys.first().is_some_and(String::is_empty) {
                let values = [element.raw().to_owned()];
                set(&mut merged, Some(element), keys, &values);
                continue;
            }
            let mut values = Vec::new();
            for key in keys {
                match element.get(key).filter(|it| !it.is_null()) {
                    Some(value) => values.push(value.raw().to_owned()),
                    None => merged.push(element.clone()),
                }
            }
            if keys.len() > 1 {
                set(&mut merged, None, keys, &values);
            }
            set(&mut merged, Some(element), keys, &values);
        }
        Ok(merged)
    }
}

fn value_of(element: &ObjectValue, key: &str) -> String {
    if key.is_empty() {
        element.raw().to_owned()
    } else {
        element.get(key).and_then(ObjectValue::text).unwrap_or_default().to_owned()
    }
}

/// Completes missing keys, because an element without a key matches elements that agree in the other keys.
fn fill_in(all: &mut [Vec<String>]) {
    for one in 0..all.len() {
        for other in 0..all.len() {
            let (Some(a), Some(b)) = (all.get(one), all.get(other)) else { continue };
            if let Some(both) = agree(a, b) {
                if let Some(it) = all.get_mut(one) {
                    it.clone_from(&both);
                }
                if let Some(it) = all.get_mut(other) {
                    *it = both;
                }
            }
        }
    }
}

fn agree(a: &[String], b: &[String]) -> Option<Vec<String>> {
    let mut common = false;
    let mut both = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        if a == b {
            common = true;
        } else if !a.is_empty() && !b.is_empty() {
            return None;
        }
        both.push(if a.is_empty() { b.clone() } else { a.clone() });
    }
    common.then_some(both)
}

/// Returns the keys that at least one element has.
fn valid(named: &[bool], keys: &[String], values: &[String]) -> (Vec<String>, Vec<String>) {
    if !named.contains(&true) {
        return (keys.to_vec(), values.to_vec());
    }
    let kept = keys.iter().zip(values).zip(named).filter(|(_, named)| **named);
    kept.map(|((key, value), _)| (key.clone(), value.clone())).unzip()
}

/// Returns true if the keys of an element have these values; a key without a value only has to exist.
fn matches(element: &ObjectValue, keys: &[String], values: &[String]) -> bool {
    if keys.first().is_none_or(String::is_empty) {
        return values.first().is_some_and(|value| !is_collection(element) && element.raw() == value);
    }
    let has = |(key, value): (&String, &String)| {
        element.get(key).is_some_and(|found| value.is_empty() || (!is_collection(found) && found.raw() == value))
    };
    element.is_map() && keys.iter().zip(values).all(has)
}

fn is_collection(value: &ObjectValue) -> bool {
    value.is_map() || value.is_list()
}

/// Replaces the elements with the same keys, or appends; `None` removes them. As in kustomize, an element without any
/// of the keys removes all others.
fn set(list: &mut Vec<ObjectValue>, element: Option<ObjectValue>, keys: &[String], values: &[String]) {
    let of_maps = !keys.first().is_some_and(String::is_empty);
    let mut found = false;
    let mut kept = Vec::with_capacity(list.len() + 1);
    for known in std::mem::take(list) {
        if known.is_null() || (known.is_map() && known.fields().is_empty()) {
            continue;
        }
        if of_maps && !known.is_map() {
            kept.push(known);
        } else if !values.is_empty() && has_keys(&known, keys, values) {
            found = true;
            kept.extend(element.clone());
        } else if !values.is_empty() {
            kept.push(known);
        }
    }
    if !found {
        kept.extend(element.filter(|it| !it.is_null()));
    }
    *list = kept;
}

fn has_keys(element: &ObjectValue, keys: &[String], values: &[String]) -> bool {
    if keys.first().is_some_and(String::is_empty) {
        return values.first().is_some_and(|value| element.raw() == value);
    }
    // In kustomize, keys after the last value have the values of the previous element.
    keys.iter().zip(values).all(|(key, value)| {
        element.get(key).is_some_and(|found| value.is_empty() || (!is_collection(found) && found.raw() == value))
    })
}

fn take_directive(patch: &mut ObjectValue) -> Result<Strategy, KustomizeError> {
    match patch.is_map().then(|| patch.remove(DIRECTIVE)).flatten() {
        Some(value) => strategy(&value),
        None => Ok(Strategy::Merge),
    }
}

/// Removes the directive of a list, which is an element without other content.
fn take_list_directive(patch: &mut ObjectValue) -> Result<Strategy, KustomizeError> {
    let ObjectData::List(items) = &mut patch.data else { return Ok(Strategy::Merge) };
    let first = items.iter().find(|item| item.get(DIRECTIVE).is_some());
    let Some(directive) = first.filter(|item| item.fields().len() == 1).and_then(|item| item.get(DIRECTIVE)).cloned()
    else {
        return Ok(Strategy::Merge);
    };
    let strategy = strategy(&directive)?;
    items.retain(|item| item.get(DIRECTIVE).is_none_or(|it| it.raw() != directive.raw()));
    Ok(strategy)
}

fn strategy(value: &ObjectValue) -> Result<Strategy, KustomizeError> {
    match value.raw() {
        "delete" => Ok(Strategy::Delete),
        "replace" => Ok(Strategy::Replace),
        "merge" => Ok(Strategy::Merge),
        other => Err(KustomizeError::refused(format!("`{other}` is not a patch strategy"), value.at)),
    }
}
