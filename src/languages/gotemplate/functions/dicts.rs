//! Implements functions of mappings. As in Go, mappings are shared: a change is visible at every reference.

use std::sync::Arc;

use super::super::compare::truth;
use super::super::failure::TemplateFailure;
use super::super::print;
use super::super::value::{GoKind, GoMap, GoValue, Heap, MapEntries, MapEntry};
use super::How::Careful;
use super::{FunctionCall, FunctionOutcome, Reads, Row};

const DEEPEST: usize = 64;

pub(super) const TABLE: &[Row] = &[
    ("dict", "*a", Careful, dict),
    ("get", "ms", Careful, |c| {
        let key = c.known(1)?.to_owned();
        Ok(c.map(0)?.and_then(|map| map.get(&key)).unwrap_or_else(|| "".into()))
    }),
    ("set", "msa", Careful, set),
    ("unset", "ms", Careful, |c| {
        let key = c.known(1)?.to_owned();
        if let Some(map) = c.map(0)? {
            match c.evaluator.doubt() {
                Some(cause) if map.get(&key).is_some() => map.insert(key.into(), GoValue::unknown(cause.clone())),
                Some(_) => {}
                None => map.remove(&key),
            }
        }
        Ok(c.any(0))
    }),
    ("hasKey", "ms", Careful, |c| {
        let key = c.known(1)?.to_owned();
        if let GoKind::Object(object) = &c.any(0).kind {
            return Ok(object.entries().is_some_and(|all| all.iter().any(|(name, _)| **name == *key)).into());
        }
        Ok(c.map(0)?.is_some_and(|map| map.get(&key).is_some()).into())
    }),
    ("pluck", "s*m", Careful, |c| {
        let key = c.known(0)?.to_owned();
        let mut found = Vec::new();
        for number in 1..c.arguments.len() {
            found.extend(c.map(number)?.and_then(|map| map.get(&key)));
        }
        c.list(found)
    }),
    ("keys", "*m", Careful, |c| {
        let mut all = Vec::new();
        for number in 0..c.arguments.len() {
            if let Some(map) = c.map(number)? {
                c.spend(map.borrow().keys().map(|key| key.len()).sum())?;
                let key = |(key, entry): (&Arc<str>, &MapEntry)| GoValue {
                    kind: GoKind::Text((&**key).into()),
                    origin: entry.key,
                };
                all.extend(map.borrow().iter().map(key));
            }
        }
        c.list(all)
    }),
    ("values", "m", Careful, |c| {
        let all = c.map(0)?.map(|map| map.borrow().values().map(|entry| entry.value.clone()).collect());
        c.list(all.unwrap_or_default())
    }),
    ("pick", "m*s", Careful, |c| chosen(c, true)),
    ("omit", "m*s", Careful, |c| chosen(c, false)),
    ("merge", "m*m", Careful, |c| merge_all(c, false)),
    ("mustMerge", "m*m", Careful, |c| merge_all(c, false)),
    ("mergeOverwrite", "m*m", Careful, |c| merge_all(c, true)),
    ("mustMergeOverwrite", "m*m", Careful, |c| merge_all(c, true)),
    ("deepCopy", "a", Careful, |c| copied(&c.any(0), c.heap(), 0)),
    ("mustDeepCopy", "a", Careful, |c| copied(&c.any(0), c.heap(), 0)),
    ("dig", "*a", Careful, dig),
];

fn dict(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut entries = MapEntries::new();
    for pair in c.arguments.chunks(2) {
        let Some(key) = pair.first() else { continue };
        if let Some(cause) = key.cause() {
            return Err(cause.clone().into());
        }
        c.evaluator.read(std::slice::from_ref(key), Reads::All)?;
        let name: Arc<str> = print::text(key)?.as_str().into();
        c.spend(name.len())?;
        let value = pair.get(1).cloned().unwrap_or_else(|| "".into());
        entries.insert(name, MapEntry { key: key.place(), value });
    }
    Ok(c.heap().map(entries))
}

fn set(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let key: Arc<str> = c.known(1)?.into();
    let map = c.map(0)?.ok_or_else(|| TemplateFailure::from("assignment to entry in nil map"))?;
    c.spend(64 + key.len())?;
    let value = match c.evaluator.doubt() {
        Some(cause) => GoValue::unknown(cause.clone()),
        None => c.any(2),
    };
    let place = c.arguments.get(1).and_then(GoValue::place);
    map.insert(key, MapEntry { key: place, value });
    Ok(c.any(0))
}

fn chosen(c: &mut FunctionCall<'_, '_>, wanted: bool) -> FunctionOutcome {
    let mut names = Vec::new();
    for number in 1..c.arguments.len() {
        names.push(c.known(number)?);
    }
    let Some(map) = c.map(0)? else { return Ok(c.heap().map(MapEntries::new())) };
    let entries = map
        .borrow()
        .iter()
        .filter(|(key, _)| names.contains(&&***key) == wanted)
        .map(|(key, entry)| (key.clone(), entry.clone()))
        .collect();
    Ok(c.heap().map(entries))
}

fn merge_all(c: &mut FunctionCall<'_, '_>, overwrites: bool) -> FunctionOutcome {
    let given = c.map(0)?;
    // A missing destination becomes a new mapping.
    let first = given.clone().unwrap_or_else(|| c.heap().new_map(MapEntries::new()));
    let mut is_any = given.is_some();
    for number in 1..c.arguments.len() {
        if let Some(map) = c.map(number)? {
            is_any = true;
            merge(&first, &map, overwrites, c, 0)?;
        }
    }
    Ok(if given.is_none() && is_any { GoKind::Map(first).into() } else { c.any(0) })
}

fn merge(
    into: &GoMap,
    from: &GoMap,
    overwrites: bool,
    c: &FunctionCall<'_, '_>,
    depth: usize,
) -> Result<(), TemplateFailure> {
    if depth > DEEPEST {
        return Err(TemplateFailure::Budget("values are nested too deeply"));
    }
    if into.is_same(from) {
        return Ok(());
    }
    let entries: Vec<(Arc<str>, MapEntry)> =
        from.borrow().iter().map(|(key, entry)| (key.clone(), entry.clone())).collect();
    c.spend(entries.len() * 64)?;
    for (key, entry) in entries {
        let known = into.get(&key);
        if entry.value.is_nil() {
            if overwrites {
                into.insert(key, entry);
            }
            continue;
        }
        if let (Some(GoKind::Map(inner)), GoKind::Map(other)) = (known.as_ref().map(|it| &it.kind), &entry.value.kind) {
            merge(inner, other, overwrites, c, depth + 1)?;
            if !inner.is_empty() {
                continue;
            }
        }
        match known.as_ref().map(truth) {
            None | Some(Ok(false)) => into.insert(key, entry),
            Some(_) if overwrites => into.insert(key, entry),
            Some(Ok(true)) => {}
            Some(Err(cause)) => into.insert(key, GoValue::unknown(cause)),
        }
    }
    Ok(())
}

/// Returns a deep copy with its own mappings.
pub(crate) fn copied(value: &GoValue, heap: &Heap, depth: usize) -> FunctionOutcome {
    if depth > DEEPEST {
        return Err(TemplateFailure::Budget("values are nested too deeply"));
    }
    let copy = match &value.kind {
        GoKind::Map(map) => {
            let mut entries = MapEntries::new();
            for (key, entry) in map.borrow().iter() {
                let value = copied(&entry.value, heap, depth + 1)?;
                entries.insert(key.clone(), MapEntry { key: entry.key, value });
            }
            heap.spend(0)?;
            heap.map(entries)
        }
        GoKind::List(list) => {
            let items: Result<Vec<GoValue>, TemplateFailure> =
                list.items().iter().map(|item| copied(item, heap, depth + 1)).collect();
            heap.list(items?)?
        }
        _ => value.clone(),
    };
    Ok(GoValue { origin: value.origin, ..copy })
}

fn dig(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let [keys @ .., otherwise, map] = c.arguments else { return Err("dig needs at least three arguments".into()) };
    if keys.is_empty() {
        return Err("dig needs at least three arguments".into());
    }
    let mut value = map.clone();
    for key in keys {
        let map = match &value.kind {
            GoKind::Map(map) => map.clone(),
            GoKind::Unknown(cause) => return Err(cause.clone().into()),
            _ => {
                let why = format!(
                    "interface conversion: interface {{}} is {}, not map[string]interface {{}}",
                    value.type_name()
                );
                return Err(why.into());
            }
        };
        if let Some(cause) = key.cause() {
            return Err(cause.clone().into());
        }
        let Some(name) = key.as_str() else { return Err("a key of dig must be a string".into()) };
        match map.get(name) {
            Some(inner) => value = inner,
            None => return Ok(otherwise.clone()),
        }
    }
    Ok(value)
}
