//! Generates the ConfigMaps and Secrets of a kustomization from files and literals.

use crate::source::{Span, to_base64};

use super::KustomizeError;
use super::kustomization::{Kustomization, pairs};
use super::resource::{Behavior, KustomizeResource, Resources};
use super::target::Maker;
use super::value::{MapField, ObjectData, ObjectValue};

/// Returns the objects of `configMapGenerator` and `secretGenerator`.
pub(super) fn all(
    maker: &mut Maker<'_>,
    kustomization: &Kustomization,
) -> Result<Vec<KustomizeResource>, KustomizeError> {
    let options = kustomization.get("generatorOptions");
    let mut made = Vec::new();
    for (field, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
        for entry in kustomization.list(field) {
            match one(maker, &kustomization.directory, &entry, options, kind) {
                Ok(one) => made.push(one),
                Err(trouble) => maker.tolerate(Err(trouble))?,
            }
        }
    }
    Ok(made)
}

/// Returns the object of one entry; `options` are those of the whole kustomization.
pub(super) fn one(
    maker: &mut Maker<'_>,
    directory: &str,
    entry: &ObjectValue,
    options: Option<&ObjectValue>,
    kind: &str,
) -> Result<KustomizeResource, KustomizeError> {
    let at = entry.at;
    let own = entry.get("options");
    let both = || options.into_iter().chain(own);
    let named = |key: &str| entry.get(key).filter(|it| it.text().is_some_and(|text| !text.is_empty()));
    let name = named("name").ok_or_else(|| KustomizeError::refused("the generator has no `name`", at))?;
    let mut value = ObjectValue::map(at);
    value.set("apiVersion", ObjectValue::string("v1", at));
    value.set("kind", ObjectValue::string(kind, at));
    let mut metadata = ObjectValue::map(at);
    metadata.set("name", ObjectValue::string(name.raw(), name.at));
    if let Some(namespace) = named("namespace") {
        metadata.set("namespace", ObjectValue::string(namespace.raw(), namespace.at));
    }
    for key in ["labels", "annotations"] {
        for (name, text) in both().flat_map(|options| pairs(options.get(key))) {
            if let Some(texts) = metadata.map_at(key, text.at) {
                texts.set(&name, text);
            }
        }
    }
    value.set("metadata", metadata);
    if kind == "Secret" {
        let kind =
            named("type").map_or_else(|| ObjectValue::string("Opaque", at), |it| ObjectValue::string(it.raw(), it.at));
        value.set("type", kind);
        value.set("data", ObjectValue::map(at));
    }
    fill(maker, directory, entry, kind == "Secret", &mut value)?;
    if both().any(|options| options.flag_at("immutable")) {
        value.set("immutable", ObjectValue::plain("true", at));
    }
    let mut resource = KustomizeResource::new(value);
    resource.head = at;
    resource.is_hashed = !both().any(|options| options.flag_at("disableNameSuffixHash"));
    resource.behavior = match entry.text_at("behavior") {
        Some("merge") => Behavior::Merge,
        Some("replace") => Behavior::Replace,
        _ => Behavior::Create,
    };
    Ok(resource)
}

/// A key with its content.
struct Pair {
    key: String,
    content: Vec<u8>,
    at: Span,
}

fn fill(
    maker: &mut Maker<'_>,
    directory: &str,
    entry: &ObjectValue,
    is_secret: bool,
    value: &mut ObjectValue,
) -> Result<(), KustomizeError> {
    let list = |key: &str| entry.get(key).map(|it| it.items().to_vec()).unwrap_or_default();
    let mut all = Vec::new();
    let single = entry.get("env").filter(|it| it.text().is_some());
    for file in list("envs").iter().chain(single) {
        let bytes = maker.bytes(directory, file.raw(), file.at)?;
        variables(&bytes, file.at, &mut all)?;
    }
    for literal in list("literals") {
        let (key, text) = literal
            .raw()
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| KustomizeError::refused("a literal must have the form key=value", literal.at))?;
        all.push(Pair { key: key.to_owned(), content: unquoted(text).as_bytes().to_vec(), at: literal.at });
    }
    for file in list("files") {
        let (key, path) = match file.raw().split_once('=') {
            None => (file.raw().rsplit('/').next().unwrap_or_default(), file.raw()),
            Some((key, path)) if !key.is_empty() && !path.is_empty() && !path.contains('=') => (key, path),
            Some(_) => return Err(KustomizeError::refused("a file must have the form path or key=path", file.at)),
        };
        let content = maker.bytes(directory, path, file.at)?;
        all.push(Pair { key: key.to_owned(), content, at: file.at });
    }
    for pair in all {
        put(value, pair, is_secret)?;
    }
    Ok(())
}

fn put(value: &mut ObjectValue, pair: Pair, is_secret: bool) -> Result<(), KustomizeError> {
    let Pair { key, content, at } = pair;
    let known = |field: &str| value.get(field).is_some_and(|data| data.get(&key).is_some());
    if known("data") || known("binaryData") {
        return Err(KustomizeError::refused(format!("the key `{key}` is set twice"), at));
    }
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if key.is_empty() || key.len() > 253 || !key.chars().all(valid) || matches!(key.as_str(), "." | "..") {
        return Err(KustomizeError::refused(format!("`{key}` is not a valid key"), at));
    }
    let (field, text) = match String::from_utf8(content) {
        Ok(text) if is_secret => ("data", in_lines(&to_base64(text.as_bytes()))),
        Ok(text) => ("data", text),
        Err(other) if is_secret => ("data", in_lines(&to_base64(other.as_bytes()))),
        Err(other) => ("binaryData", in_lines(&to_base64(other.as_bytes()))),
    };
    if let Some(data) = value.map_at(field, at) {
        data.set(&key, ObjectValue::string(text, at));
    }
    Ok(())
}

/// Writes base64 as kustomize does: in lines of 70 characters.
fn in_lines(digits: &str) -> String {
    const LINE: usize = 70;
    if digits.len() < LINE {
        return digits.to_owned();
    }
    let mut text = String::with_capacity(digits.len() + digits.len() / LINE + 1);
    for line in digits.as_bytes().chunks(LINE) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    text
}

/// Parses the lines of a file of variables.
fn variables(bytes: &[u8], at: Span, all: &mut Vec<Pair>) -> Result<(), KustomizeError> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| KustomizeError::refused("the file of variables is not text", at))?;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(KustomizeError::refused(format!("`{key}` is not a valid variable name"), at));
        }
        all.push(Pair { key: key.to_owned(), content: value.as_bytes().to_vec(), at });
    }
    Ok(())
}

fn unquoted(text: &str) -> &str {
    let inner = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Adds a generated object, merges it or replaces the one with the same name.
pub(super) fn absorb(resources: &mut Resources, resource: KustomizeResource) -> Result<(), KustomizeError> {
    let id = resource.id();
    let known = resources.indices(|it| it.any_id(|other| other.same(&id)));
    match (known.as_slice(), resource.behavior) {
        ([], Behavior::Create) => resources.append(resource)?,
        ([], _) => {
            let message = format!("there is no {} to merge or replace", id.describe_id());
            return Err(KustomizeError::refused(message, resource.head));
        }
        ([_], Behavior::Create) => {
            let message = format!("{} already exists: set `behavior: merge` or `replace`", id.describe_id());
            return Err(KustomizeError::refused(message, resource.head));
        }
        ([place], _) => {
            if let Some(old) = resources.all.get_mut(*place) {
                *old = joined(old, resource);
            }
        }
        _ => return Err(KustomizeError::refused(format!("several objects match {}", id.describe_id()), resource.head)),
    }
    Ok(())
}

fn joined(old: &KustomizeResource, new: KustomizeResource) -> KustomizeResource {
    let mut joined = KustomizeResource {
        earlier: old.earlier.clone(),
        prefixes: old.prefixes.clone(),
        suffixes: old.suffixes.clone(),
        behavior: old.behavior,
        is_hashed: old.is_hashed && new.is_hashed,
        variables: old.variables.clone(),
        ..new
    };
    let at = joined.head;
    for key in ["labels", "annotations"] {
        let before = old.value.at_path(&["metadata", key]).map(ObjectValue::fields).unwrap_or_default();
        if let Some(metadata) = joined.value.map_at("metadata", at) {
            merge_pairs(metadata, key, before, at);
        }
    }
    let (name, namespace) = (old.name().to_owned(), old.namespace().to_owned());
    let place = |key: &str| old.value.at_path(&["metadata", key]).map_or(at, |it| it.at);
    joined.set_metadata("name", &name, place("name"));
    joined.set_metadata("namespace", &namespace, place("namespace"));
    if new.behavior == Behavior::Merge {
        for key in ["data", "binaryData"] {
            let before = old.value.get(key).map(ObjectValue::fields).unwrap_or_default();
            merge_pairs(&mut joined.value, key, before, at);
        }
    }
    joined
}

/// Merges the entries of two objects. Earlier entries stay unless the new object sets them.
fn merge_pairs(value: &mut ObjectValue, key: &str, before: &[MapField], at: Span) {
    let mut all: Vec<MapField> = before.to_vec();
    let own = value.get(key).map(|it| it.fields().to_vec()).unwrap_or_default();
    for field in own {
        match all.iter_mut().find(|known| known.key == field.key) {
            Some(known) => *known = field,
            None => all.push(field),
        }
    }
    for field in &mut all {
        if let ObjectData::Scalar { plain, .. } = &mut field.value.data {
            *plain = false;
        }
    }
    match all.is_empty() && key != "data" {
        true => drop(value.remove(key)),
        false => value.set(key, ObjectValue { at, data: ObjectData::Map(all) }),
    }
}
