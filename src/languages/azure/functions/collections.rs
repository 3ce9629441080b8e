//! Implements functions of lists and objects.

use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers, PathTarget};
use crate::source::Span;

use super::super::deployment::AzureDeployment;
use super::super::evaluate::AzureNames;
use super::super::syntax::AzureExpr;
use super::texts::{parsed, plain};
use super::{MOST_CANDIDATES, Made, is_lambda, is_list, same, unknown};

/// Returns the member at a key, regardless of case; `None` if it does not exist.
pub(in super::super) fn member(of: &HclValue, key: &HclValue, at: Span) -> Option<HclValue> {
    if let Some(cause) = of.cause() {
        return Some(of_candidates(cause, &|of| member(of, key, at), at));
    }
    if let Some(cause) = key.cause() {
        if cause.candidates.is_empty()
            && let Some(entries) = of.entries().filter(|it| it.len() <= MOST_CANDIDATES)
        {
            let candidates = entries.iter().map(|(_, value)| value.clone()).collect();
            return Some(HclValue::because(&Arc::new(Cause { candidates, outline: None, ..Cause::clone(cause) }), at));
        }
        return Some(of_candidates(cause, &|key| member(of, key, at), at));
    }
    let text = key.as_text()?;
    match of.member(&text) {
        PathTarget::Value(value) => Some(value.clone()),
        PathTarget::Unknown(cause) => Some(HclValue::because(&cause, at)),
        PathTarget::Absent => {
            let entries = of.entries()?;
            entries.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text)).map(|(_, value)| value.clone())
        }
    }
}

/// Applies a function to each candidate of an unknown value.
fn of_candidates(cause: &Arc<Cause>, make: &dyn Fn(&HclValue) -> Option<HclValue>, at: Span) -> HclValue {
    let each = cause.candidates.iter().map(make).collect::<Option<Vec<_>>>();
    let mut candidates = each.filter(|it| it.len() <= MOST_CANDIDATES).unwrap_or_default();
    candidates.dedup_by(|a, b| same(a, b));
    let outline = None;
    HclValue::because(&Arc::new(Cause { candidates, outline, ..Cause::clone(cause) }), at)
}

/// Concatenates lists; `None` if one of them is unknown.
pub(super) fn concatenated(lists: &[HclValue], at: Span) -> Option<HclValue> {
    lists.iter().all(is_list).then(|| HclValue::tuple(lists.iter().flat_map(|it| it.items().to_vec()).collect(), at))
}

/// Evaluates functions whose result is partly known although members are unknown.
pub(super) fn in_part(name: &str, arguments: &[HclValue], at: Span) -> Option<HclValue> {
    let first = arguments.first();
    if first.is_some_and(HclValue::is_unknown) && !matches!(name, "createarray" | "createobject" | "union") {
        return None;
    }
    match name {
        "createarray" => Some(HclValue::tuple(arguments.to_vec(), at)),
        "array" => Some(match first? {
            list if is_list(list) => list.clone(),
            other => HclValue::tuple(vec![other.clone()], at),
        }),
        "createobject" => created(arguments, at),
        "union" => united(arguments, at, true),
        "shallowmerge" => united(first?.items(), at, false),
        "length" => Some(HclValue::number(HclNumber::counted(length(first?)?), at)),
        "empty" => match first? {
            it if it.is_null() => Some(HclValue::bool(true, at)),
            it => length(it).map(|it| HclValue::bool(it == 0, at)),
        },
        "first" | "last" if is_list(first?) => {
            let items = first?.items();
            let found = if name == "first" { items.first() } else { items.last() };
            Some(found.cloned().unwrap_or_else(|| HclValue::null(at)))
        }
        "first" | "last" => {
            let text = plain(first?)?;
            let letter = if name == "first" { text.chars().next() } else { text.chars().last() };
            Some(HclValue::text(letter.map(String::from).unwrap_or_default(), at))
        }
        "skip" | "take" => part_of(name, first?, arguments.get(1)?.as_number()?.as_i64()?, at),
        "items" => Some(items(first?.entries()?, at)),
        "objectkeys" => {
            let keys = sorted(first?.entries()?).into_iter().map(|(key, _)| HclValue::text(key.clone(), at));
            Some(HclValue::tuple(keys.collect(), at))
        }
        "flatten" => concatenated(first?.items(), at),
        "tryget" => {
            let keys = arguments.get(1..)?;
            let found = keys.iter().try_fold(first?.clone(), |of, key| member(&of, key, at));
            Some(found.unwrap_or_else(|| HclValue::null(at)))
        }
        "tryindexfromend" => Some(from_end(first?, arguments.get(1)?).unwrap_or_else(|| HclValue::null(at))),
        _ => None,
    }
}

pub(super) fn call_collection(name: &str, arguments: &[HclValue], at: Span) -> Made {
    let (one, two) = (arguments.first()?, arguments.get(1));
    match name {
        "contains" => Some(HclValue::bool(
            match one.entries() {
                Some(entries) => {
                    let key = two?.as_text()?;
                    entries.iter().any(|(name, _)| name.eq_ignore_ascii_case(&key))
                }
                None if is_list(one) => {
                    let two = two?;
                    one.items().iter().any(|it| same(it, two))
                }
                None => return None,
            },
            at,
        )),
        "indexof" | "lastindexof" => {
            let is_it = |it: &HclValue| two.is_some_and(|two| same(it, two));
            let items = one.items();
            let found = if name == "indexof" { items.iter().position(is_it) } else { items.iter().rposition(is_it) };
            let place = found.and_then(|it| i64::try_from(it).ok()).unwrap_or(-1);
            Some(HclValue::number(HclNumber::integer(place), at))
        }
        "indexfromend" => from_end(one, two?),
        "intersection" => intersection(arguments, at),
        _ => None,
    }
}

fn length(value: &HclValue) -> Option<usize> {
    match &value.data {
        HclData::Text(text) => Some(text.encode_utf16().count()),
        HclData::Map(entries) | HclData::Object(entries) => entries.rest.is_none().then(|| entries.len()),
        _ => is_list(value).then(|| value.members()),
    }
}

fn from_end(list: &HclValue, place: &HclValue) -> Option<HclValue> {
    let items = list.items();
    items.len().checked_sub(place.as_number()?.as_usize()?).and_then(|at| items.get(at)).cloned()
}

fn created(arguments: &[HclValue], at: Span) -> Option<HclValue> {
    let mut entries = ObjectMembers::default();
    for pair in arguments.chunks(2) {
        let [key, value] = pair else { return None };
        match key.as_text() {
            Some(key) => drop(entries.known.insert((*key).into(), value.clone())),
            None => entries.rest = entries.rest.take().or_else(|| key.cause().cloned()),
        }
    }
    Some(HclValue::object(entries, at))
}

/// Merges objects, where later members win, or lists without duplicates.
fn united(all: &[HclValue], at: Span, is_deep: bool) -> Option<HclValue> {
    if all.iter().all(is_list) {
        let mut items: Vec<HclValue> = Vec::new();
        for item in all.iter().flat_map(HclValue::items) {
            if !items.iter().any(|it| same(it, item)) {
                items.push(item.clone());
            }
        }
        return Some(HclValue::tuple(items, at));
    }
    let mut united = ObjectMembers::default();
    for value in all {
        match value.entries() {
            Some(entries) => {
                entries.iter().for_each(|(key, member)| put(&mut united, key, member, is_deep, at));
                united.rest = united.rest.take().or_else(|| entries.rest.clone());
            }
            // An unknown object may override any member, so known members become unknown.
            None => {
                let cause = value.cause()?.clone();
                united.known = std::mem::take(&mut united.known)
                    .into_iter()
                    .map(|(key, known)| {
                        let doubt = Cause { candidates: vec![known], outline: None, ..Cause::clone(&cause) };
                        (key, HclValue::because(&Arc::new(Cause { candidates: Vec::new(), ..doubt }), at))
                    })
                    .collect();
                united.rest = Some(cause);
            }
        }
    }
    Some(HclValue::object(united, at))
}

fn put(into: &mut ObjectMembers, key: &Arc<str>, member: &HclValue, is_deep: bool, at: Span) {
    let there = into.known.keys().find(|it| it.eq_ignore_ascii_case(key)).cloned();
    let key = there.unwrap_or_else(|| key.clone());
    let is_object = |value: &HclValue| value.entries().is_some();
    let member = match into.known.get(&key) {
        Some(known) if is_deep && is_object(known) && is_object(member) => {
            united(&[known.clone(), member.clone()], at, true).unwrap_or_else(|| member.clone())
        }
        _ => member.clone(),
    };
    into.known.insert(key, member);
}

fn part_of(name: &str, of: &HclValue, count: i64, at: Span) -> Option<HclValue> {
    let count = usize::try_from(count.max(0)).ok()?;
    if is_list(of) {
        let items = of.items().iter().cloned();
        let items = if name == "skip" { items.skip(count).collect() } else { items.take(count).collect() };
        return Some(HclValue::tuple(items, at));
    }
    let letters = plain(of)?.chars();
    let text: String = if name == "skip" { letters.skip(count).collect() } else { letters.take(count).collect() };
    Some(HclValue::text(text, at))
}

/// Sorts by name regardless of case, as Azure does.
fn sorted(entries: &ObjectMembers) -> Vec<(&Arc<str>, &HclValue)> {
    let mut all: Vec<_> = entries.iter().collect();
    all.sort_by_key(|(key, _)| key.to_lowercase());
    all
}

fn items(entries: &ObjectMembers, at: Span) -> HclValue {
    let each = sorted(entries).into_iter().map(|(key, value)| {
        let pair = [("key", HclValue::text(key.clone(), at)), ("value", value.clone())];
        HclValue::object(pair.into_iter().map(|(name, value)| (Arc::from(name), value)).collect(), value.span)
    });
    match &entries.rest {
        Some(cause) => HclValue::because(cause, at),
        None => HclValue::tuple(each.collect(), at),
    }
}

fn intersection(all: &[HclValue], at: Span) -> Option<HclValue> {
    let (first, others) = all.split_first()?;
    if let Some(entries) = first.entries() {
        let is_everywhere = |key: &str, value: &HclValue| {
            others.iter().all(|it| it.entries().and_then(|it| it.get(key)).is_some_and(|it| same(it, value)))
        };
        let known = entries.iter().filter(|(key, value)| is_everywhere(key, value));
        return Some(HclValue::object(known.map(|(key, value)| (key.clone(), value.clone())).collect(), at));
    }
    let is_everywhere = |value: &&HclValue| others.iter().all(|it| it.items().iter().any(|it| same(it, value)));
    Some(HclValue::tuple(first.items().iter().filter(is_everywhere).cloned().collect(), at))
}

impl AzureDeployment<'_> {
    /// Evaluates functions that take lambda functions.
    pub(super) fn of_function(&self, name: &str, arguments: &[AzureExpr], at: Span, names: &AzureNames) -> HclValue {
        let Some(first) = arguments.first().map(|it| self.value(it, names)) else { return unknown(&[], at) };
        if first.is_unknown() {
            let cause = first.cause().cloned();
            return cause.map_or_else(|| unknown(&[], at), |it| HclValue::because(&it, at)).at(at);
        }
        let lambdas: Vec<&AzureExpr> = arguments.iter().filter(|it| is_lambda(it)).collect();
        let Some(lambda) = lambdas.first() else { return unknown(std::slice::from_ref(&first), at) };
        let index = |place: usize| HclValue::number(HclNumber::counted(place), at);
        let each = || first.items().iter().enumerate();
        match name {
            "map" => {
                let made = each().map(|(place, item)| self.apply(lambda, &[item.clone(), index(place)], names));
                HclValue::tuple(made.collect(), at)
            }
            "filter" => {
                let mut kept = Vec::new();
                for (place, item) in each() {
                    let holds = self.apply(lambda, &[item.clone(), index(place)], names);
                    match (holds.as_bool(), holds.cause()) {
                        (Some(true), _) => kept.push(item.clone()),
                        (Some(false), _) => {}
                        (None, Some(cause)) => return HclValue::because(cause, at),
                        (None, None) => return unknown(&[], at),
                    }
                }
                HclValue::tuple(kept, at)
            }
            "reduce" => {
                let start = arguments.get(1).map_or_else(|| HclValue::null(at), |it| self.value(it, names));
                each().fold(start, |so_far, (place, item)| {
                    self.apply(lambda, &[so_far, item.clone(), index(place)], names)
                })
            }
            "sort" => self.sorted(&first, lambda, at, names),
            "mapvalues" => {
                let Some(entries) = first.entries() else { return unknown(std::slice::from_ref(&first), at) };
                let made = entries
                    .iter()
                    .map(|(key, value)| (key.clone(), self.apply(lambda, std::slice::from_ref(value), names)));
                HclValue::object(ObjectMembers { known: made.collect(), rest: entries.rest.clone() }, at)
            }
            _ => self.keyed(name, &first, &lambdas, at, names),
        }
    }

    /// Evaluates `toObject` and `groupBy`: the lambda function returns the key of each entry.
    fn keyed(&self, name: &str, list: &HclValue, lambdas: &[&AzureExpr], at: Span, names: &AzureNames) -> HclValue {
        let mut all = ObjectMembers::default();
        for item in list.items() {
            let given = std::slice::from_ref(item);
            let key = lambdas.first().map_or_else(|| HclValue::null(at), |it| self.apply(it, given, names));
            let value = lambdas.get(1).map_or_else(|| item.clone(), |it| self.apply(it, given, names));
            let Some(text) = key.as_text() else {
                all.rest = all.rest.take().or_else(|| key.cause().cloned());
                continue;
            };
            let value = match (name, all.known.get(&*text)) {
                ("groupby", there) => {
                    let mut group = there.map(HclValue::items).unwrap_or_default().to_vec();
                    if let Err(unknown) = self.state.pay_steps(group.len() as u64 / 8, at) {
                        return unknown;
                    }
                    group.push(value);
                    HclValue::tuple(group, at)
                }
                _ => value,
            };
            all.known.insert((*text).into(), value);
        }
        HclValue::object(all, at)
    }

    /// Sorts a list; the lambda function returns whether one entry comes before another.
    fn sorted(&self, list: &HclValue, lambda: &AzureExpr, at: Span, names: &AzureNames) -> HclValue {
        let mut sorted: Vec<HclValue> = Vec::new();
        for item in list.items() {
            let mut place = sorted.len();
            while let Some(before) = place.checked_sub(1).and_then(|it| sorted.get(it)) {
                let goes_first = self.apply(lambda, &[item.clone(), before.clone()], names);
                let stays = self.apply(lambda, &[before.clone(), item.clone()], names);
                match (goes_first.as_bool(), stays.as_bool()) {
                    (Some(true), Some(false)) => place -= 1,
                    (Some(_), Some(_)) => break,
                    _ => return unknown(&[goes_first, stays], at),
                }
            }
            sorted.insert(place, item.clone());
        }
        HclValue::tuple(sorted, at)
    }

    /// Returns the content of a file, relative to this one.
    pub(super) fn loaded(&self, name: &str, path: Option<HclValue>, within: Option<HclValue>, at: Span) -> HclValue {
        let Some(path) = path else { return unknown(&[], at) };
        let Some(text) = self.library.text(&path) else {
            let shown = path.as_text().unwrap_or_default().into_owned();
            return HclValue::unknown(format!("the file `{shown}` is not in this repository"), at);
        };
        if let Err(unknown) = self.state.pay_text(text.len().saturating_mul(2), at) {
            return unknown;
        }
        match name {
            "loadtextcontent" => HclValue::text(text, at),
            "loadfileasbase64" => HclValue::text(crate::source::to_base64(text.as_bytes()), at),
            "loadjsoncontent" => {
                let Some(loaded) = parsed(&self.state, &text, at) else {
                    return HclValue::refused("the loaded file is not valid JSON", at);
                };
                if loaded.is_unknown() {
                    return loaded;
                }
                let steps = within.as_ref().and_then(HclValue::as_text).unwrap_or_default().into_owned();
                let mut steps = steps.trim_start_matches('$').split('.').filter(|it| !it.is_empty());
                let found = steps.try_fold(loaded, |of, key| member(&of, &HclValue::text(key, at), at));
                found
                    .unwrap_or_else(|| HclValue::unknown("gpulint does not support this path into the loaded file", at))
            }
            _ => HclValue::unknown("the value is in a YAML file, which gpulint does not load here", at),
        }
    }
}
