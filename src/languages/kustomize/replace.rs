//! Handles `replacements`, which copy a value of one object to fields of others.

use std::sync::Arc;

use super::fields::split;
use super::id::{Gvk, Id};
use super::resource::{KustomizeResource, Resources};
use super::select::{PatchSelector, pattern};
use super::target::Maker;
use super::value::{ObjectData, ObjectValue, ScalarKind};
use super::{BuildBudget, KustomizeError};

pub(super) fn all(
    maker: &mut Maker<'_>,
    directory: &str,
    entries: &[ObjectValue],
    resources: &mut Resources,
) -> Result<(), KustomizeError> {
    let mut replacements = Vec::new();
    for entry in entries {
        match entry.get("path").filter(|it| it.text().is_some_and(|text| !text.is_empty())) {
            None => replacements.push(entry.clone()),
            Some(path) => {
                for document in maker.documents(directory, path)? {
                    match document.data {
                        ObjectData::List(items) => replacements.extend(items),
                        _ => replacements.push(document),
                    }
                }
            }
        }
    }
    for replacement in &replacements {
        let value = source(resources, replacement)?;
        let targets = replacement.get("targets").map(ObjectValue::items).unwrap_or_default();
        if targets.is_empty() && replacement.get("targets").is_none() {
            return Err(KustomizeError::refused("the replacement has no targets", replacement.at));
        }
        for target in targets {
            maker.budget.spend(resources.all.len())?;
            put(resources, target, &value, maker.budget)?;
        }
    }
    Ok(())
}

/// Returns the value to copy.
fn source(resources: &Resources, replacement: &ObjectValue) -> Result<ObjectValue, KustomizeError> {
    if let Some(value) = replacement.get("sourceValue").filter(|it| !it.is_null()) {
        return Ok(ObjectValue::plain(value.raw(), value.at));
    }
    let Some(source) = replacement.get("source").filter(|it| it.is_map()) else {
        return Err(KustomizeError::refused("the replacement has no source", replacement.at));
    };
    let text = |key: &str| source.text_at(key).unwrap_or_default();
    let wanted = Gvk::written(source);
    let probe = Id { gvk: wanted.clone(), name: text("name").into(), namespace: text("namespace").into() };
    let is_it = |id: &Id| {
        (probe.name.is_empty() || probe.name == id.name)
            && (probe.namespace.is_empty() || probe.same_namespace(id))
            && id.gvk.is_selected_by(&wanted)
    };
    let found: Vec<&KustomizeResource> = resources.all.iter().filter(|resource| resource.any_id(is_it)).collect();
    let found = match found.as_slice() {
        [one] => one,
        [] => return Err(KustomizeError::refused("no object matches this source", source.at)),
        many => return Err(KustomizeError::refused(format!("{} objects match this source", many.len()), source.at)),
    };
    let path = source.text_at("fieldPath").unwrap_or("metadata.name");
    let value = look(&found.value, &parts(path)).filter(|value| !is_nothing(value));
    let value = value.ok_or_else(|| KustomizeError::refused(format!("the source has no `{path}`"), source.at))?;
    refined(value, source)
}

fn is_nothing(value: &ObjectValue) -> bool {
    match &value.data {
        ObjectData::Scalar { .. } => value.is_null(),
        ObjectData::List(items) => items.is_empty(),
        ObjectData::Map(fields) => fields.is_empty(),
    }
}

/// Returns a part of the value, if the source selects one.
fn refined(value: &ObjectValue, source: &ObjectValue) -> Result<ObjectValue, KustomizeError> {
    let Some((mark, index)) = cutting(source.get("options")) else { return Ok(value.clone()) };
    let piece = usize::try_from(index).ok().and_then(|index| value.raw().split(mark).nth(index));
    match (&value.data, piece) {
        (ObjectData::Scalar { plain, .. }, Some(piece)) => {
            Ok(ObjectValue { at: value.at, data: ObjectData::Scalar { text: piece.into(), plain: *plain } })
        }
        _ => Err(KustomizeError::refused("the source has no part with this index", source.at)),
    }
}

fn cutting(options: Option<&ObjectValue>) -> Option<(&str, i64)> {
    let mark = options?.get("delimiter")?.text().filter(|mark| !mark.is_empty())?;
    let index = options?.get("index").and_then(|it| it.raw().parse().ok()).unwrap_or(0);
    Some((mark, index))
}

fn put(
    resources: &mut Resources,
    target: &ObjectValue,
    value: &ObjectValue,
    budget: &BuildBudget,
) -> Result<(), KustomizeError> {
    let Some(select) = target.get("select") else {
        return Err(KustomizeError::refused("the target matches no object", target.at));
    };
    let selector = PatchSelector::written(select)?;
    let rejected = target.get("reject").map(ObjectValue::items).unwrap_or_default();
    let rejected: Vec<PatchSelector> = rejected.iter().map(PatchSelector::written).collect::<Result<_, _>>()?;
    let usual = [ObjectValue::string("metadata.name", target.at)];
    let paths = target.get("fieldPaths").map(ObjectValue::items).filter(|it| !it.is_empty()).unwrap_or(&usual);
    for resource in &mut resources.all {
        let is_rejected = |it: &PatchSelector| {
            (it.is_by_labels() && it.fits_labels(resource)) || (it.is_by_id() && resource.any_id(|id| it.fits_id(id)))
        };
        let selected = selector.fits_labels(resource) && resource.any_id(|id| selector.fits_id(id));
        if !selected || rejected.iter().any(is_rejected) {
            continue;
        }
        for path in paths {
            let depth = parts(path.raw()).len();
            set_at(&mut resource.value, path, value, target.get("options"), &|| budget.copy(value, depth))?;
        }
    }
    Ok(())
}

/// Sets the value at a path. Calls `copying` before each copy.
fn set_at(
    object: &mut ObjectValue,
    path: &ObjectValue,
    value: &ObjectValue,
    options: Option<&ObjectValue>,
    copying: &dyn Fn() -> Result<(), KustomizeError>,
) -> Result<(), KustomizeError> {
    copying()?;
    let parts = parts(path.raw());
    if inside_of_text(object, &parts) {
        return Err(KustomizeError::not_at_hand("gpulint does not support a replacement within a string", path.at));
    }
    let create = options.is_some_and(|it| it.flag_at("create"));
    let mut set = |found: &mut ObjectValue, made: bool| {
        copying()?;
        set_one(found, value, options, made)
    };
    let walk = Walk { create: create.then_some(value), at: path };
    match walk.visit(object, &parts, false, &mut set)? {
        0 => Err(KustomizeError::refused(format!("the target has no `{}`", path.raw()), path.at)),
        _ => Ok(()),
    }
}

/// Returns true if the path continues inside a string.
fn inside_of_text(object: &ObjectValue, parts: &[String]) -> bool {
    (1..parts.len()).any(|length| {
        let found = parts.get(..length).and_then(|head| look(object, head));
        found.is_some_and(|it| !it.is_map() && !it.is_list() && !it.is_null())
    })
}

fn set_one(
    found: &mut ObjectValue,
    value: &ObjectValue,
    options: Option<&ObjectValue>,
    made: bool,
) -> Result<(), KustomizeError> {
    let mut text: Arc<str> = value.raw().into();
    if let Some((mark, index)) = cutting(options) {
        if found.is_map() || found.is_list() {
            return Err(KustomizeError::refused("only strings can be split into parts", found.at));
        }
        let mut pieces: Vec<&str> = found.raw().split(mark).collect();
        match usize::try_from(index) {
            Err(_) => pieces.insert(0, value.raw()),
            Ok(index) => match pieces.get_mut(index) {
                Some(piece) => *piece = value.raw(),
                None => pieces.push(value.raw()),
            },
        }
        text = pieces.join(mark).into();
    }
    match &mut found.data {
        // A scalar keeps its type: a number that replaces a string becomes a string.
        ObjectData::Scalar { .. } if !value.is_map() && !value.is_list() => {
            let plain = made || found.kind() != ScalarKind::Text;
            *found = ObjectValue { at: value.at, data: ObjectData::Scalar { text, plain } };
        }
        _ => *found = value.clone(),
    }
    Ok(())
}

/// A walk along a path that may branch, and that creates missing fields on request.
struct Walk<'w> {
    create: Option<&'w ObjectValue>,
    at: &'w ObjectValue,
}

type Set<'s> = &'s mut dyn FnMut(&mut ObjectValue, bool) -> Result<(), KustomizeError>;

impl Walk<'_> {
    /// Returns the number of visited places.
    fn visit(
        &self,
        value: &mut ObjectValue,
        parts: &[String],
        made: bool,
        set: Set<'_>,
    ) -> Result<usize, KustomizeError> {
        let Some((part, rest)) = parts.split_first() else {
            set(value, made)?;
            return Ok(1);
        };
        let next = || rest.first().map(String::as_str);
        if part == "*" {
            let ObjectData::List(items) = &mut value.data else { return Err(self.wrong("this is not a list")) };
            return items.iter_mut().try_fold(0, |sum, item| Ok(sum + self.visit(item, rest, false, set)?));
        }
        if let Ok(index) = part.parse::<usize>() {
            let ObjectData::List(items) = &mut value.data else { return Err(self.wrong("this is not a list")) };
            let is_new = items.len() == index && self.create.is_some();
            if is_new {
                items.push(self.empty(next()));
            }
            let length = items.len();
            let wrong = || self.wrong(&format!("the list has {length} entries"));
            return self.visit(items.get_mut(index).ok_or_else(wrong)?, rest, is_new, set);
        }
        if let Some((key, wanted)) = entry(part) {
            return self.visit_entries(value, key, wanted, rest, set);
        }
        if value.is_null() {
            return Ok(0);
        }
        if !value.is_map() {
            return Err(self.wrong("this value has no fields"));
        }
        let is_new = value.get(part).is_none() && self.create.is_some();
        if is_new {
            value.set(part, self.empty(next()));
        }
        match value.get_mut(part) {
            Some(inner) => self.visit(inner, rest, is_new, set),
            None => Ok(0),
        }
    }

    fn visit_entries(
        &self,
        value: &mut ObjectValue,
        key: &str,
        wanted: &str,
        rest: &[String],
        set: Set<'_>,
    ) -> Result<usize, KustomizeError> {
        let at = self.at.at;
        let ObjectData::List(items) = &mut value.data else { return Err(self.wrong("this is not a list")) };
        let fits = pattern(wanted, at)?;
        let is_it = |item: &ObjectValue| match key {
            "" => fits.is_match(item.raw()),
            key => item.get(key).is_some_and(|it| fits.is_match(it.raw())),
        };
        let mut count = 0;
        for item in items.iter_mut().filter(|item| is_it(item)) {
            count += self.visit(item, rest, false, set)?;
        }
        if count > 0 || self.create.is_none() {
            return Ok(count);
        }
        let mut made = ObjectValue::plain(wanted, at);
        if !key.is_empty() {
            made = ObjectValue::map(at);
            made.set(key, ObjectValue::plain(wanted, at));
        }
        items.push(made);
        items.last_mut().map_or(Ok(0), |item| self.visit(item, rest, false, set))
    }

    /// Returns the collection to create for the next part of the path.
    fn empty(&self, next: Option<&str>) -> ObjectValue {
        let at = self.at.at;
        match next {
            Some(part) if part.parse::<usize>().is_ok() || entry(part).is_some() => ObjectValue::list(at),
            Some(_) => ObjectValue::map(at),
            None => match self.create.map(|value| &value.data) {
                Some(ObjectData::Map(_)) => ObjectValue::map(at),
                Some(ObjectData::List(_)) => ObjectValue::list(at),
                _ => ObjectValue::plain("", at),
            },
        }
    }

    fn wrong(&self, why: &str) -> KustomizeError {
        KustomizeError::refused(format!("`{}`: {why}", self.at.raw()), self.at.at)
    }
}

/// Parses `[name=a]`.
fn entry(part: &str) -> Option<(&str, &str)> {
    part.strip_prefix('[')?.strip_suffix(']')?.split_once('=')
}

/// Splits a path into parts: `a.b.[name=c.d].e`, `a.[b.c]`.
pub(super) fn parts(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut pieces = split(path, '.').into_iter();
    while let Some(piece) = pieces.next() {
        if !piece.starts_with('[') || piece.ends_with(']') {
            parts.push(piece);
            continue;
        }
        let mut whole = piece;
        for more in pieces.by_ref() {
            whole.push('.');
            whole.push_str(&more);
            if more.ends_with(']') {
                break;
            }
        }
        parts.push(if whole.contains('=') { whole } else { whole.trim_matches(['[', ']']).to_owned() });
    }
    parts
}

/// Returns the single value at a path.
pub(super) fn look<'v>(value: &'v ObjectValue, parts: &[String]) -> Option<&'v ObjectValue> {
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.into_iter().try_fold(value, |value, part| {
        if let Ok(index) = part.parse::<usize>() {
            return value.items().get(index);
        }
        match (part, entry(part)) {
            ("-", _) => value.items().last(),
            (_, Some(("", wanted))) => value.items().iter().find(|it| it.raw() == wanted),
            (_, Some((key, wanted))) => {
                value.items().iter().find(|it| it.get(key).is_some_and(|found| found.raw() == wanted))
            }
            (key, None) => value.get(key),
        }
    })
}
