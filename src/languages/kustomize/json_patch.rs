//! JSON patches (RFC 6902), as the library of kustomize applies them.

use super::value::{Data, Value};
use super::{Budget, Trouble};

/// Applies the operations of a patch in their order.
pub(super) fn apply(object: &mut Value, patch: &Value, budget: &Budget) -> Result<(), Trouble> {
    let has_none = |object: &Value| object.at_path(&ANNOTATIONS).is_none();
    let is_bare = has_none(object);
    for operation in patch.items() {
        budget.spend(1)?;
        // Kustomize keeps notes of its own there while it works, so that something always is.
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

fn one(object: &mut Value, operation: &Value, budget: &Budget) -> Result<(), Trouble> {
    let wrong = |message: String| Trouble::refused(message, operation.at);
    let named = |key: &str| operation.get(key).map(Value::raw).filter(|text| text.is_empty() || text.starts_with('/'));
    let path = named("path").ok_or_else(|| wrong("the operation has no `path` that begins with a slash".into()))?;
    let value = || operation.get("value").cloned().unwrap_or_else(|| Value::plain("null", operation.at));
    let source = || named("from").ok_or_else(|| wrong("the operation has no `from`".into()));
    let missing = |path: &str| wrong(format!("there is nothing at `{path}`"));
    match operation.get("op").map(Value::raw).unwrap_or_default() {
        "add" => {
            let value = value();
            budget.copy(&value, keys(path).count())?;
            add(object, path, value).ok_or_else(|| missing(path))
        }
        "remove" => remove(object, path).map(drop).ok_or_else(|| missing(path)),
        "replace" => {
            let value = value();
            budget.copy(&value, keys(path).count())?;
            // The library sets fields that are not there, too; of lists only what is there.
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
            same.then_some(()).ok_or_else(|| wrong(format!("the test of `{path}` fails")))
        }
        other => Err(wrong(format!("`{other}` is no operation of a JSON patch"))),
    }
}

/// The keys of a pointer.
fn keys(path: &str) -> impl Iterator<Item = String> {
    path.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"))
}

fn find<'v>(object: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    keys(path).try_fold(object, |value, key| step(value, &key))
}

fn step<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    match &mut value.data {
        Data::Map(fields) => fields.iter_mut().find(|field| &*field.key == key).map(|field| &mut field.value),
        Data::List(items) => {
            let place = index(key, items.len())?;
            items.get_mut(place)
        }
        Data::Scalar { .. } => None,
    }
}

/// A place in a list; those below zero count from its end.
fn index(key: &str, length: usize) -> Option<usize> {
    let number: i64 = key.parse().ok()?;
    match usize::try_from(number) {
        Ok(place) => Some(place),
        Err(_) => length.checked_sub(usize::try_from(number.unsigned_abs()).ok()?),
    }
}

fn parent<'v>(object: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let (above, _) = path.rsplit_once('/')?;
    Some((find(object, above)?, keys(path).last()?))
}

fn add(object: &mut Value, path: &str, value: Value) -> Option<()> {
    let (parent, key) = parent(object, path)?;
    match &mut parent.data {
        Data::Map(_) => parent.set(&key, value),
        Data::List(items) if key == "-" => items.push(value),
        Data::List(items) => {
            // One behind the last is where it may be put.
            let place = index(&key, items.len() + 1).filter(|place| *place <= items.len())?;
            items.insert(place, value);
        }
        Data::Scalar { .. } => return None,
    }
    Some(())
}

fn remove(object: &mut Value, path: &str) -> Option<Value> {
    let (parent, key) = parent(object, path)?;
    match &mut parent.data {
        Data::Map(_) => parent.remove(&key),
        Data::List(items) => {
            let place = index(&key, items.len()).filter(|place| *place < items.len())?;
            Some(items.remove(place))
        }
        Data::Scalar { .. } => None,
    }
}
