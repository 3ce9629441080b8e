//! Handles merge keys of a kind's lists. Lists of unknown kinds are replaced.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::id::Gvk;
use super::value::ObjectValue;

#[derive(Debug, Default)]
pub(super) struct MergeSchema {
    types: HashMap<String, HashMap<String, Shape>>,
    /// The type for version and kind.
    kinds: HashMap<(String, String), String>,
}

/// The type of a field's content: lists (`[]`) and maps (`*`) of a type.
#[derive(Debug)]
struct Shape {
    way: String,
    to: String,
    /// Merge keys of the list; `None` for a list of scalars.
    merged_by: Option<Vec<String>>,
}

static BUILT_IN: LazyLock<Arc<MergeSchema>> =
    LazyLock::new(|| Arc::new(MergeSchema::parse(include_str!("tables/merge_keys.txt"))));

/// A place in a schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct SchemaPlace<'s> {
    schema: &'s MergeSchema,
    way: &'s str,
    to: &'s str,
    merged_by: Option<&'s [String]>,
}

impl<'s> SchemaPlace<'s> {
    pub(super) fn field(self, key: &str) -> Option<SchemaPlace<'s>> {
        if let Some(rest) = self.way.strip_prefix('*') {
            return Some(SchemaPlace { way: rest, merged_by: None, ..self });
        }
        if !self.way.is_empty() {
            return None;
        }
        let shape = self.schema.types.get(self.to)?.get(key)?;
        Some(SchemaPlace { way: &shape.way, to: &shape.to, merged_by: shape.merged_by.as_deref(), ..self })
    }

    pub(super) fn elements(self) -> Option<SchemaPlace<'s>> {
        let rest = self.way.strip_prefix("[]")?;
        Some(SchemaPlace { way: rest, merged_by: None, ..self })
    }

    pub(super) fn merged_by(self) -> Option<&'s [String]> {
        self.merged_by
    }
}

impl MergeSchema {
    pub(super) fn built_in() -> Arc<MergeSchema> {
        BUILT_IN.clone()
    }

    pub(super) fn of_kind(&self, value: &ObjectValue) -> Option<SchemaPlace<'_>> {
        let (version, kind) = (value.text_at("apiVersion")?, value.text_at("kind")?);
        let to = self.kinds.get(&(version.to_owned(), kind.to_owned()))?;
        Some(SchemaPlace { schema: self, way: "", to, merged_by: None })
    }

    fn parse(table: &str) -> MergeSchema {
        let mut schema = MergeSchema::default();
        let (mut name, mut kinds) = (String::new(), false);
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let Some(line) = line.strip_prefix("  ") else {
                kinds = line.starts_with('=');
                line.clone_into(&mut name);
                continue;
            };
            let mut words = line.split(' ');
            let (Some(first), Some(second), Some(third)) = (words.next(), words.next(), words.next()) else { continue };
            if kinds {
                schema.kinds.insert((first.to_owned(), second.to_owned()), third.to_owned());
                continue;
            }
            let keys = |keys: &str| keys.split(',').filter(|key| *key != "-").map(str::to_owned).collect();
            let shape = Shape {
                way: second.trim_start_matches('.').to_owned(),
                to: third.to_owned(),
                merged_by: words.next().map(keys),
            };
            schema.types.entry(name.clone()).or_default().insert(first.to_owned(), shape);
        }
        schema
    }

    /// Returns the schema of a kustomization's `openapi`, which replaces the built-in one.
    pub(super) fn described(root: &ObjectValue) -> MergeSchema {
        let mut schema = MergeSchema::default();
        for definition in root.get("definitions").map(ObjectValue::fields).unwrap_or_default() {
            let properties = definition.value.get("properties").map(ObjectValue::fields).unwrap_or_default();
            let mut shapes = HashMap::new();
            for property in properties {
                let at = format!("{}/{}", definition.key, property.key);
                let shape = schema.shape(&property.value, at, 0);
                shapes.insert(property.key.to_string(), shape);
            }
            schema.types.insert(definition.key.to_string(), shapes);
            let kinds =
                definition.value.get("x-kubernetes-group-version-kind").map(ObjectValue::items).unwrap_or_default();
            for gvk in kinds.iter().map(Gvk::written) {
                schema.kinds.insert((gvk.api_version(), gvk.kind), definition.key.to_string());
            }
        }
        schema
    }

    fn shape(&mut self, value: &ObjectValue, at: String, depth: usize) -> Shape {
        const DEEPEST: usize = 32;
        let text = |key: &str| value.text_at(key).unwrap_or_default();
        if let Some(reference) = value.text_at("$ref") {
            let to = reference.rsplit('/').next().unwrap_or(reference).to_owned();
            return Shape { way: String::new(), to, merged_by: None };
        }
        if depth > DEEPEST {
            return Shape { way: String::new(), to: String::new(), merged_by: None };
        }
        if text("type") == "array" {
            // The merge keys of a list apply whether or not its elements are described.
            let inner = match value.get("items") {
                Some(items) => self.shape(items, format!("{at}/[]"), depth + 1),
                None => Shape { way: String::new(), to: String::new(), merged_by: None },
            };
            let is_merged = text("x-kubernetes-patch-strategy").split(',').any(|it| it == "merge");
            let listed = value.get("x-kubernetes-list-map-keys").map(ObjectValue::items);
            let keys = || match listed {
                Some(keys) => keys.iter().map(|key| key.raw().to_owned()).collect(),
                None => value.text_at("x-kubernetes-patch-merge-key").into_iter().map(str::to_owned).collect(),
            };
            return Shape { way: format!("[]{}", inner.way), to: inner.to, merged_by: is_merged.then(keys) };
        }
        if let Some(inner) = value.get("additionalProperties").filter(|it| it.is_map()) {
            let inner = self.shape(inner, format!("{at}/*"), depth + 1);
            return Shape { way: format!("*{}", inner.way), to: inner.to, merged_by: None };
        }
        let mut shapes = HashMap::new();
        for property in value.get("properties").map(ObjectValue::fields).unwrap_or_default() {
            let shape = self.shape(&property.value, format!("{at}/{}", property.key), depth + 1);
            shapes.insert(property.key.to_string(), shape);
        }
        self.types.insert(at.clone(), shapes);
        Shape { way: String::new(), to: at, merged_by: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_merged_by_name_and_tolerations_are_not() {
        let schema = MergeSchema::built_in();
        let to = schema.kinds.get(&("apps/v1".to_owned(), "Deployment".to_owned())).unwrap();
        let place = SchemaPlace { schema: &schema, way: "", to, merged_by: None };
        let pod = ["spec", "template", "spec"].iter().try_fold(place, |place, key| place.field(key)).unwrap();
        let keys = |key: &str| pod.field(key).and_then(SchemaPlace::merged_by);
        assert_eq!(keys("containers").unwrap(), ["name"]);
        assert!(keys("tolerations").is_none());
        let container = pod.field("containers").and_then(SchemaPlace::elements).unwrap();
        assert_eq!(container.field("ports").and_then(SchemaPlace::merged_by).unwrap(), ["containerPort", "protocol"]);
    }
}
