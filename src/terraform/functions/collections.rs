//! Implements the functions of lists, sets and maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::hcl::convert::equal;
use crate::languages::hcl::types::HclType;
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers};
use crate::terraform::evaluate::{EvaluationBudget, element};

use super::{
    Arity, CallArguments, Function, FunctionFailure, FunctionResult, MANY, heaviest, items, known, text, unified,
};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("alltrue", 1..=1, all_true),
    ("anytrue", 1..=1, any_true),
    ("chunklist", 2..=2, chunk_list),
    ("coalesce", 0..=MANY, coalesce),
    ("coalescelist", 0..=MANY, coalesce_list),
    ("compact", 1..=1, compact),
    ("concat", 0..=MANY, concat),
    ("contains", 2..=2, contains),
    ("distinct", 1..=1, distinct),
    ("element", 2..=2, element_of),
    ("ephemeralasnull", 1..=1, |a| a.get(0).cloned()),
    ("flatten", 1..=1, flatten),
    ("index", 2..=2, index),
    ("issensitive", 1..=1, |a| a.answer_bool(a.get(0)?.sensitive)),
    ("keys", 1..=1, keys),
    ("length", 1..=1, length),
    ("lookup", 2..=3, lookup),
    ("matchkeys", 3..=3, match_keys),
    ("merge", 0..=MANY, merge),
    ("nonsensitive", 1..=1, |a| Ok(a.get(0)?.clone().unmarked())),
    ("one", 1..=1, one),
    ("range", 1..=3, range),
    ("reverse", 1..=1, reverse),
    ("sensitive", 1..=1, |a| Ok(a.get(0)?.clone().marked(true))),
    ("slice", 3..=3, slice),
    ("sort", 1..=1, sort),
    ("transpose", 1..=1, transpose),
    ("values", 1..=1, values),
    ("zipmap", 2..=2, zip_map),
];

fn all_true(a: &CallArguments<'_>) -> FunctionResult {
    let mut unknown = None;
    for item in a.items(0)? {
        match (&item.data, item.as_bool()) {
            (HclData::Unknown(cause), _) => unknown = Some(cause.clone()),
            (_, Some(true)) => {}
            (HclData::Null, _) | (_, Some(false)) => return a.answer_bool(false),
            _ => return Err("an element is not a boolean".into()),
        }
    }
    unknown.map_or_else(|| a.answer_bool(true), |cause| Err(cause.into()))
}

fn any_true(a: &CallArguments<'_>) -> FunctionResult {
    let mut unknown = None;
    for item in a.items(0)? {
        match (&item.data, item.as_bool()) {
            (HclData::Unknown(cause), _) => unknown = Some(cause.clone()),
            (_, Some(true)) => return a.answer_bool(true),
            (HclData::Null, _) | (_, Some(false)) => {}
            _ => return Err("an element is not a boolean".into()),
        }
    }
    unknown.map_or_else(|| a.answer_bool(false), |cause| Err(cause.into()))
}

fn chunk_list(a: &CallArguments<'_>) -> FunctionResult {
    let items = unified(a.items(0)?.to_vec());
    let size = usize::try_from(a.whole_number(1)?).map_err(|_| "the size is negative")?;
    let size = if size == 0 { items.len().max(1) } else { size };
    a.answer_list(items.chunks(size).map(|chunk| HclValue::list(chunk.to_vec(), a.span)).collect())
}

fn coalesce(a: &CallArguments<'_>) -> FunctionResult {
    let common = HclType::common(a.values.iter().map(HclType::of)).ok_or("the arguments have no common type")?;
    for value in &a.values {
        let value = common.convert(value);
        match &value.data {
            HclData::Null => {}
            HclData::Text(text) if text.is_empty() => {}
            HclData::Unknown(cause) => return Err(cause.clone().into()),
            _ => return Ok(value),
        }
    }
    Err("all arguments are null or empty".into())
}

fn coalesce_list(a: &CallArguments<'_>) -> FunctionResult {
    for value in &a.values {
        if matches!(value.data, HclData::Set(_)) {
            return Err("an argument is not a list".into());
        }
        if !items(known(value)?)?.is_empty() {
            return Ok(value.clone());
        }
    }
    Err("all arguments are empty".into())
}

fn compact(a: &CallArguments<'_>) -> FunctionResult {
    let mut result = Vec::new();
    for item in a.items(0)? {
        if item.is_null() {
            continue;
        }
        let converted = HclType::Text.convert(item);
        if text(&converted)?.is_empty() {
            continue;
        }
        result.push(converted);
    }
    a.answer_list(result)
}

fn concat(a: &CallArguments<'_>) -> FunctionResult {
    a.get(0)?;
    let mut result = Vec::new();
    let mut tuples = false;
    for value in &a.values {
        let value = known(value)?;
        match &value.data {
            HclData::Tuple(_) => tuples = true,
            HclData::List(_) => {}
            _ => return Err("an argument is not a list".into()),
        }
        result.extend(items(value)?.iter().cloned());
    }
    if tuples { a.answer_tuple(result) } else { a.answer_list(unified(result)) }
}

fn contains(a: &CallArguments<'_>) -> FunctionResult {
    let wanted = a.get(1)?;
    if wanted.is_null() {
        return Err("an argument is null".into());
    }
    let mut undecided = wanted.any_cause().cloned();
    for item in a.items(0)? {
        match equal(item, wanted) {
            Some(true) => return a.answer_bool(true),
            Some(false) => {}
            None => undecided = undecided.or_else(|| item.any_cause().cloned()),
        }
    }
    match undecided {
        Some(cause) if !a.items(0)?.is_empty() => Err(cause.into()),
        _ => a.answer_bool(false),
    }
}

fn distinct(a: &CallArguments<'_>) -> FunctionResult {
    let items = unified(a.items(0)?.to_vec());
    let plain = items.iter().all(|item| matches!(item.data, HclData::Text(_)));
    if plain {
        let mut seen = std::collections::HashSet::new();
        let kept = items.iter().filter(|item| seen.insert(item.as_text().unwrap_or_default().into_owned()));
        return a.answer_list(kept.cloned().collect());
    }
    let mut result: Vec<HclValue> = Vec::new();
    for item in items {
        a.spend_comparisons(result.len(), 1, item.weight())?;
        if !result.iter().any(|seen| equal(seen, &item) == Some(true)) {
            result.push(item);
        }
    }
    a.answer_list(result)
}

fn element_of(a: &CallArguments<'_>) -> FunctionResult {
    let list = a.items(0)?;
    if matches!(a.get(0)?.data, HclData::Set(_)) {
        return Err("the elements of a set have no order".into());
    }
    let index = a.get(1)?;
    if let HclData::Unknown(_) = index.data {
        return Ok(element(a.get(0)?, index, a.span));
    }
    let size = i64::try_from(list.len()).unwrap_or(i64::MAX);
    if size == 0 {
        return Err("the list is empty".into());
    }
    let index = a.whole_number(1)? % size;
    usize::try_from(index).ok().and_then(|index| list.get(index)).cloned().ok_or_else(|| "no such element".into())
}

fn flatten(a: &CallArguments<'_>) -> FunctionResult {
    let mut result = Vec::new();
    flatten_into(a.items(0)?, &mut result)?;
    a.answer_tuple(result)
}

fn flatten_into(items: &[HclValue], into: &mut Vec<HclValue>) -> Result<(), FunctionFailure> {
    for item in items {
        match &item.data {
            HclData::List(inner) | HclData::Set(inner) | HclData::Tuple(inner) => flatten_into(inner, into)?,
            _ => into.push(item.clone()),
        }
    }
    Ok(())
}

fn index(a: &CallArguments<'_>) -> FunctionResult {
    let wanted = a.known(1)?;
    for (index, item) in a.items(0)?.iter().enumerate() {
        match equal(item, wanted) {
            Some(true) => return a.answer_number(Some(HclNumber::counted(index))),
            Some(false) => {}
            None => {
                return Err(item.any_cause().cloned().map_or("an element is unknown".into(), FunctionFailure::from));
            }
        }
    }
    Err("no element is equal".into())
}

fn keys(a: &CallArguments<'_>) -> FunctionResult {
    let entries = closed(a.entries(0)?)?;
    let keys = entries.iter().map(|(key, value)| HclValue::text(key.clone(), value.span)).collect();
    match a.get(0)?.data {
        HclData::Map(_) => a.answer_list(keys),
        _ => a.answer_tuple(keys),
    }
}

/// Returns a map whose members are all known.
fn closed(entries: &ObjectMembers) -> Result<&ObjectMembers, FunctionFailure> {
    match &entries.rest {
        Some(cause) => Err(FunctionFailure::Unknown(cause.clone())),
        None => Ok(entries),
    }
}

fn length(a: &CallArguments<'_>) -> FunctionResult {
    let value = a.known(0)?;
    let length = match &value.data {
        HclData::Text(text) => super::text::graphemes(text).count(),
        HclData::List(items) | HclData::Tuple(items) => items.len(),
        HclData::Set(items) => match items.iter().find_map(HclValue::any_cause) {
            Some(cause) if items.len() > 1 => return Err(cause.clone().into()),
            _ => items.len(),
        },
        HclData::Map(entries) | HclData::Object(entries) => closed(entries)?.len(),
        _ => return Err("the argument has no length".into()),
    };
    a.answer_number(Some(HclNumber::counted(length)))
}

fn lookup(a: &CallArguments<'_>) -> FunctionResult {
    let map = a.known(0)?;
    let entries = a.entries(0)?;
    let key = a.get(1)?;
    if let (HclData::Unknown(_), true) = (&key.data, entries.rest.is_none()) {
        return Ok(element(map, key, a.span));
    }
    let key = a.text(1)?;
    match (entries.get(&key), &entries.rest, a.values.get(2)) {
        (Some(value), _, _) => Ok(value.clone()),
        (None, Some(cause), _) => Err(cause.clone().into()),
        (None, None, Some(default)) if matches!(map.data, HclData::Map(_)) => {
            a.evaluator.budget.spend(EvaluationBudget::typing(map))?;
            match HclType::of(map) {
                HclType::Map(of) => Ok(of.convert(default)),
                _ => Ok(default.clone()),
            }
        }
        (None, None, Some(default)) => Ok(default.clone()),
        (None, None, None) => {
            let of_workspace = a.evaluator.of_some_workspace(map, a.get(1)?, a.span);
            of_workspace.ok_or_else(|| format!("there is no key `{key}`").into())
        }
    }
}

fn match_keys(a: &CallArguments<'_>) -> FunctionResult {
    let (values, keys, wanted) = (a.items(0)?, a.items(1)?, a.items(2)?);
    let all = unified([keys, wanted].concat());
    let (keys, wanted) = all.split_at(keys.len());
    if values.len() != keys.len() {
        return Err("the numbers of keys and values differ".into());
    }
    a.spend_comparisons(keys.len(), wanted.len(), heaviest(keys))?;
    let kept = values.iter().zip(keys).filter(|(_, key)| wanted.iter().any(|w| equal(key, w) == Some(true)));
    a.answer_list(kept.map(|(value, _)| value.clone()).collect())
}

/// Merges maps. If an unknown map may overwrite a known member, this member is unknown. Members of later maps are
/// known.
fn merge(a: &CallArguments<'_>) -> FunctionResult {
    let mut result = ObjectMembers::default();
    let mut maps = !a.values.is_empty();
    for value in a.values.iter().filter(|value| !value.is_null()) {
        let unknown = match &value.data {
            HclData::Unknown(cause) => Some(cause.clone()),
            _ => value.entries().and_then(|entries| entries.rest.clone()),
        };
        if let Some(cause) = unknown {
            let own = value.entries();
            for (key, earlier) in &mut result.known {
                if own.is_none_or(|own| own.get(key).is_none()) {
                    let cause = Cause { candidates: Vec::new(), ..Cause::clone(&cause) };
                    *earlier = HclValue::because(&Arc::new(cause), earlier.span);
                }
            }
            result.rest = Some(cause);
        }
        match &value.data {
            HclData::Unknown(_) => {}
            HclData::Map(entries) | HclData::Object(entries) => {
                maps &= matches!(value.data, HclData::Map(_));
                result.known.extend(entries.iter().map(|(key, member)| (key.clone(), member.clone())));
            }
            _ => return Err("an argument is not a map".into()),
        }
    }
    Ok(if maps { HclValue::map(result, a.span) } else { HclValue::object(result, a.span) })
}

fn one(a: &CallArguments<'_>) -> FunctionResult {
    match a.items(0)? {
        [] => Ok(HclValue::null(a.span)),
        [only] => Ok(only.clone()),
        _ => Err("there is more than one element".into()),
    }
}

fn range(a: &CallArguments<'_>) -> FunctionResult {
    const LIMIT: usize = 1024;
    let zero = HclNumber::integer(0);
    let (start, end) = if a.len() == 1 { (zero.clone(), a.number(0)?) } else { (a.number(0)?, a.number(1)?) };
    let step = match a.len() {
        3 => a.number(2)?,
        _ if end < start => HclNumber::integer(-1),
        _ => HclNumber::integer(1),
    };
    if step.is_zero() {
        return Err("the step is zero".into());
    }
    if start != end && (end < start) != step.is_negative() {
        return Err("the step leads away from the end".into());
    }
    let mut result = Vec::new();
    let mut next = start;
    while if step.is_negative() { next > end } else { next < end } {
        if result.len() >= LIMIT {
            return Err(format!("would create more than {LIMIT} elements").into());
        }
        result.push(HclValue::number(next.clone(), a.span));
        next = next.plus(&step).ok_or("a number is too large")?;
    }
    a.answer_list(result)
}

fn reverse(a: &CallArguments<'_>) -> FunctionResult {
    let reversed: Vec<HclValue> = a.items(0)?.iter().rev().cloned().collect();
    match a.get(0)?.data {
        HclData::Tuple(_) => a.answer_tuple(reversed),
        _ => a.answer_list(reversed),
    }
}

fn slice(a: &CallArguments<'_>) -> FunctionResult {
    let items = a.items(0)?;
    let index = |at: usize| -> Result<usize, FunctionFailure> {
        usize::try_from(a.whole_number(at)?).map_err(|_| "an index is negative".into())
    };
    let (start, end) = (index(1)?, index(2)?);
    let part = items.get(start..end).ok_or("the indexes are outside the list, or not in order")?.to_vec();
    match a.get(0)?.data {
        HclData::Tuple(_) => a.answer_tuple(part),
        HclData::List(_) => a.answer_list(part),
        _ => Err("a set cannot be sliced".into()),
    }
}

fn sort(a: &CallArguments<'_>) -> FunctionResult {
    let mut texts = Vec::new();
    for item in a.items(0)? {
        texts.push((text(item)?, item.span));
    }
    texts.sort_by(|a, b| a.0.cmp(&b.0));
    a.answer_list(texts.into_iter().map(|(text, span)| HclValue::text(text, span)).collect())
}

fn transpose(a: &CallArguments<'_>) -> FunctionResult {
    let mut result: BTreeMap<Arc<str>, Vec<HclValue>> = BTreeMap::new();
    for (key, value) in closed(a.entries(0)?)?.iter() {
        for item in items(known(value)?)? {
            result.entry(text(item)?).or_default().push(HclValue::text(key.clone(), a.span));
        }
    }
    let known = result.into_iter().map(|(key, values)| (key, HclValue::list(values, a.span))).collect();
    Ok(HclValue::map(ObjectMembers { known, rest: None }, a.span))
}

fn values(a: &CallArguments<'_>) -> FunctionResult {
    let values = closed(a.entries(0)?)?.known.values().cloned().collect();
    match a.get(0)?.data {
        HclData::Map(_) => a.answer_list(values),
        _ => a.answer_tuple(values),
    }
}

fn zip_map(a: &CallArguments<'_>) -> FunctionResult {
    let keys = a.texts(0)?;
    let values = a.items(1)?;
    if keys.len() != values.len() {
        return Err("the numbers of values and keys differ".into());
    }
    let entries: ObjectMembers = keys.into_iter().zip(values.iter().cloned()).collect();
    match a.get(1)?.data {
        HclData::Tuple(_) => Ok(HclValue::object(entries, a.span)),
        HclData::List(_) => Ok(HclValue::map(entries, a.span)),
        _ => Err("the values are not a list".into()),
    }
}
