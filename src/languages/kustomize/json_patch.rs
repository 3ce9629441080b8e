//! Applies JSON patches (RFC 6902) as kustomize's library does.

use super::value::{ObjectData, ObjectValue};
use super::{BuildBudget, KustomizeError};

/// Applies the operations of a patch in order.
pub(super) fn apply(object: &mut ObjectValue, patch: &ObjectValue, budget: &BuildBudget) -> Result<(), KustomizeError> {
    let has_none = |object: &ObjectValue| object.at_path(&ANNOTATIONS).is_none();
    let is_bare = has_none(object);
    for operation in patch.items() {
        budget.spend(1)?;
        // Kustomize stores its own annotations there while it works, so this field always exists.
        if has_none(object)
            && let Some(metadata) = object.get_mut("metadata")
        {
            metadata.map_at("annotations", operation.at);
        }
        one(object, operation, budget).map_err(|trouble| trouble.or_at(operation.at))?;
    }
    if is_bare
        && object.at_path(&ANNOTATIONS).is_some_and(|it| it.is_map() && it.fields().is_empty())
        && let Some(metadata) = object.get_mut("metadata")
    {
        metadata.remove("annotations");
    }
    Ok(())
}

const ANNOTATIONS: [&str; 2] = ["metadata", "annotations"];

fn one(object: &mut ObjectValue, operation: &ObjectValue, budget: &BuildBudget) -> Result<(), KustomizeError> {
    let wrong = |message: String| KustomizeError::refused(message, operation.at);
    let named =
        |key: &str| operation.get(key).map(ObjectValue::raw).filter(|text| text.is_empty() || text.starts_with('/'));
    let path = named("path").ok_or_else(|| wrong("the operation has no `path` that begins with a slash".into()))?;
    let value = || operation.get("value").cloned().unwrap_or_else(|| ObjectValue::plain("null", operation.at));
    let source = || named("from").ok_or_else(|| wrong("the operation has no `from`".into()));
    let missing = |path: &str| wrong(format!("the object has nothing at `{path}`"));
    match operation.get("op").map(ObjectValue::raw).unwrap_or_default() {
        "add" => {
            let value = value();
            budget.copy(&value, keys(path).count())?;
            add(object, path, value).ok_or_else(|| missing(path))
        }
        "remove" => remove(object, path).map(drop).ok_or_else(|| missing(path)),
        "replace" => {
            let value = value();
            budget.copy(&value, keys(path).count())?;
            // The library also sets missing fields, but only existing list entries.
            let (parent, key) = parent(object, path).ok_or_else(|| missing(path))?;
            if parent.is_map() {
                parent.set(&key, value);
                return Ok(());
            }
            let known = step(parent, &key).ok_or_else(|| missing(path))?;
            *known = value;
            Ok(())
        }
        "move" => {
            let from = source()?;
            let moved = remove(object, from).ok_or_else(|| missing(from))?;
            budget.copy(&moved, keys(path).count())?;
            add(object, path, moved).ok_or_else(|| missing(path))
        }
        "copy" => {
            let from = source()?;
            let known = find(object, from).ok_or_else(|| missing(from))?;
            budget.copy(known, keys(path).count())?;
            let copied = known.clone();
            add(object, path, copied).ok_or_else(|| missing(path))
        }
        "test" => {
            let wanted = value();
            let same = match find(object, path) {
                Some(found) => found.equals(&wanted),
                None => wanted.is_null(),
            };
            same.then_some(()).ok_or_else(|| wrong(format!("the JSON patch's test of `{path}` fails")))
        }
        other => Err(wrong(format!("`{other}` is not an operation of a JSON patch"))),
    }
}

/// Returns the keys of a pointer.
fn keys(path: &str) -> impl Iterator<Item = String> {
    path.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"))
}

fn find<'v>(object: &'v mut ObjectValue, path: &str) -> Option<&'v mut ObjectValue> {
    keys(path).try_fold(object, |value, key| step(value, &key))
}

fn step<'v>(value: &'v mut ObjectValue, key: &str) -> Option<&'v mut ObjectValue> {
    match &mut value.data {
        ObjectData::Map(fields) => fields.iter_mut().find(|field| &*field.key == key).map(|field| &mut field.value),
        ObjectData::List(items) => {
            let place = index(key, items.len())?;
            items.get_mut(place)
        }
        ObjectData::Scalar { .. } => None,
    }
}

/// Returns an index of a list; negative ones count from its end.
fn index(key: &str, length: usize) -> Option<usize> {
    let number: i64 = key.parse().ok()?;
    match usize::try_from(number) {
        Ok(place) => Some(place),
        Err(_) => length.checked_sub(usize::try_from(number.unsigned_abs()).ok()?),
    }
}

fn parent<'v>(object: &'v mut ObjectValue, path: &str) -> Option<(&'v mut ObjectValue, String)> {
    let (above, _) = path.rsplit_once('/')?;
    Some((find(object, above)?, keys(path).last()?))
}

fn add(object: &mut ObjectValue, path: &str, value: ObjectValue) -> Option<()> {
    let (parent, key) = parent(object, path)?;
    match &mut parent.data {
        ObjectData::Map(_) => parent.set(&key, value),
        ObjectData::List(items) if key == "-" => items.push(value),
        ObjectData::List(items) => {
            // A new value may be added after the last one.
            let place = index(&key, items.len() + 1).filter(|place| *place <= items.len())?;
            items.insert(place, value);
        }
        ObjectData::Scalar { .. } => return None,
    }
    Some(())
}

fn remove(object: &mut ObjectValue, path: &str) -> Option<ObjectValue> {
    let (parent, key) = parent(object, path)?;
    match &mut parent.data {
        ObjectData::Map(_) => parent.remove(&key),
        ObjectData::List(items) => {
            let place = index(&key, items.len()).filter(|place| *place < items.len())?;
            Some(items.remove(place))
        }
        ObjectData::Scalar { .. } => None,
    }
}
