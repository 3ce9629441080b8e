//! Transforms names and namespaces.

use std::collections::HashMap;

use crate::languages::go;
use crate::source::{Span, sha256, to_hex};

use super::KustomizeError;
use super::fields::{FieldSpec, KnownFields, Make};
use super::id::Id;
use super::resource::{KustomizeResource, Resources};
use super::transform::put;
use super::value::{ObjectValue, ScalarKind};

/// Returns true if prefixes and suffixes leave names of this kind unchanged.
fn keeps_its_name(id: &Id) -> bool {
    match id.gvk.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => id.gvk.group == "apiregistration.k8s.io",
        _ => false,
    }
}

pub(super) fn add_prefix(
    resources: &mut Resources,
    prefix: &str,
    at: Span,
    specs: &[FieldSpec],
) -> Result<(), KustomizeError> {
    rename(resources, specs, at, |resource| resource.prefixes.push(prefix.to_owned()), |name| format!("{prefix}{name}"))
}

pub(super) fn add_suffix(
    resources: &mut Resources,
    suffix: &str,
    at: Span,
    specs: &[FieldSpec],
) -> Result<(), KustomizeError> {
    rename(resources, specs, at, |resource| resource.suffixes.push(suffix.to_owned()), |name| format!("{name}{suffix}"))
}

fn rename(
    resources: &mut Resources,
    specs: &[FieldSpec],
    at: Span,
    mark: impl Fn(&mut KustomizeResource),
    change: impl Fn(&str) -> String,
) -> Result<(), KustomizeError> {
    for resource in &mut resources.all {
        let id = resource.original_id();
        if keeps_its_name(&id) {
            continue;
        }
        for spec in specs.iter().filter(|spec| id.gvk.is_selected_by(&spec.gvk)) {
            if &*spec.path == "metadata/name" {
                mark(resource);
                resource.remember();
            }
            let mut set = |value: &mut ObjectValue| {
                let text = change(value.raw());
                // An edit changes the name itself, not its prefix or suffix.
                let place = if value.raw().is_empty() { at } else { value.at };
                put(value, text, place);
                Ok(())
            };
            spec.visit(&mut resource.value, Make::Scalar(at), &mut set)?;
        }
    }
    Ok(())
}

/// The settings for a namespace transformation.
pub(super) struct Namespacing<'f> {
    pub specs: &'f [FieldSpec],
    pub unset_only: bool,
    pub subjects: Subjects,
}

/// The subjects of role bindings whose namespaces change, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subjects {
    Default,
    Accounts,
    None,
}

impl<'f> Namespacing<'f> {
    pub(super) fn usual(fields: &'f KnownFields) -> Self {
        Namespacing { specs: fields.of("namespace"), unset_only: false, subjects: Subjects::Default }
    }
}

pub(super) fn set_namespace(
    resources: &mut Resources,
    namespace: &str,
    at: Span,
    how: &Namespacing<'_>,
) -> Result<(), KustomizeError> {
    let mut set = |value: &mut ObjectValue| {
        if value.is_map() || value.is_list() {
            return Err(KustomizeError::refused("a namespace cannot be in a list or a map", value.at));
        }
        if !(how.unset_only && value.text().is_some_and(|text| !text.is_empty())) {
            put(value, namespace.to_owned(), at);
        }
        Ok(())
    };
    for resource in resources.all.iter_mut().filter(|resource| !resource.of_chart) {
        resource.remember();
        let gvk = resource.id().gvk;
        if !gvk.is_cluster_scoped() {
            FieldSpec::at("metadata/namespace", true).visit(&mut resource.value, Make::Scalar(at), &mut set)?;
        }
        let is_binding = matches!(gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
        if is_binding {
            set_subjects(&mut resource.value, how.subjects, at, &mut set)?;
        }
        let api_version = gvk.api_version();
        for spec in how.specs {
            let unneeded = match &*spec.path {
                "metadata/namespace" => true,
                "metadata/name" => api_version != "v1",
                "subjects/namespace" => is_binding,
                _ => false,
            };
            if !unneeded {
                spec.visit(&mut resource.value, Make::Scalar(at), &mut set)?;
            }
        }
    }
    no_twins(resources, at)
}

fn set_subjects(
    value: &mut ObjectValue,
    which: Subjects,
    at: Span,
    set: &mut dyn FnMut(&mut ObjectValue) -> Result<(), KustomizeError>,
) -> Result<(), KustomizeError> {
    let Some(super::value::ObjectData::List(subjects)) = value.get_mut("subjects").map(|it| &mut it.data) else {
        return Ok(());
    };
    for subject in subjects {
        let follows = match which {
            Subjects::None => false,
            Subjects::Default => subject.get("name").is_some_and(|it| it.raw() == "default"),
            Subjects::Accounts => subject.get("kind").is_some_and(|it| it.raw() == "ServiceAccount"),
        };
        if follows {
            if subject.get("namespace").is_none_or(ObjectValue::is_null) {
                subject.set("namespace", ObjectValue::plain("", at));
            }
            subject.get_mut("namespace").map_or(Ok(()), &mut *set)?;
        }
    }
    Ok(())
}

fn no_twins(resources: &Resources, at: Span) -> Result<(), KustomizeError> {
    let mut known: HashMap<(super::id::Gvk, String, String), Span> = HashMap::new();
    for resource in &resources.all {
        let id = resource.id();
        let key = (id.gvk.clone(), id.name.clone(), id.effective_namespace().to_owned());
        if let Some(first) = known.insert(key, resource.head) {
            let message = format!("with this namespace, there are two {}", id.describe_id());
            return Err(KustomizeError::refused(message, at).with_note(first, "one is defined here"));
        }
    }
    Ok(())
}

/// Adds content hashes to the names of generated objects.
pub(super) fn add_hashes(resources: &mut Resources) {
    for resource in resources.all.iter_mut().filter(|resource| resource.is_hashed) {
        resource.remember();
        let name = format!("{}-{}", resource.name(), hash(resource));
        let at = resource.value.at_path(&["metadata", "name"]).map_or(resource.head, |name| name.at);
        resource.set_metadata("name", &name, at);
    }
}

/// Returns kustomize's ten-character hash of a content.
fn hash(resource: &KustomizeResource) -> String {
    let value = &resource.value;
    let pairs = |key: &str| value.get(key).map_or_else(|| "\"\"".to_owned(), json_of);
    // The hash contains an empty name, because kustomize reads the name from a field that does not exist.
    let name = "\"\"";
    let encoded = match resource.value.text_at("kind") {
        Some("Secret") => {
            let plain = value.get("stringData").filter(|it| it.is_map()).map(json_of);
            let plain = plain.map(|it| format!("\"stringData\":{it},")).unwrap_or_default();
            let kind = value.get("type").map_or_else(|| "\"\"".to_owned(), |it| json_text(it.raw()));
            format!("{{\"data\":{},\"kind\":\"Secret\",\"name\":{name},{plain}\"type\":{kind}}}", pairs("data"))
        }
        _ => {
            let binary = value.get("binaryData").filter(|it| it.is_map()).map(json_of);
            let binary = binary.map(|it| format!("\"binaryData\":{it},")).unwrap_or_default();
            format!("{{{binary}\"data\":{},\"kind\":\"ConfigMap\",\"name\":{name}}}", pairs("data"))
        }
    };
    let digits = to_hex(&sha256(encoded.as_bytes()));
    // Vowels and digits that look like letters are replaced, so that no word appears.
    let safe = |c: char| match c {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        c => c,
    };
    digits.chars().take(10).map(safe).collect()
}

fn json_text(text: &str) -> String {
    let mut json = String::new();
    go::json(text, true, &mut json);
    json
}

fn json_of(value: &ObjectValue) -> String {
    if value.is_map() {
        let mut fields: Vec<_> = value.fields().iter().collect();
        fields.sort_by(|a, b| a.key.cmp(&b.key));
        let all: Vec<String> =
            fields.iter().map(|it| format!("{}:{}", json_text(&it.key), json_of(&it.value))).collect();
        return format!("{{{}}}", all.join(","));
    }
    match value.kind() {
        ScalarKind::Null => "null".to_owned(),
        ScalarKind::Flag(flag) => flag.to_string(),
        ScalarKind::Integer(number) => number.to_string(),
        ScalarKind::Float(_) | ScalarKind::Text => json_text(value.raw()),
    }
}
