//! Handles `vars`: replaces `$(NAME)` in fields that may contain it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::source::Span;

use super::fields::Make;
use super::id::{Gvk, Id};
use super::kustomization::Kustomization;
use super::replace::{look, parts};
use super::target::AccumulatedTarget;
use super::value::{ObjectData, ObjectValue, ScalarKind};
use super::{BuildBudget, KustomizeError};

#[derive(Debug, Clone)]
pub(super) struct KustomizeVariable {
    name: String,
    path: String,
    at: Span,
}

/// Marks the objects that provide values of variables.
pub(super) fn gather(kustomization: &Kustomization, gathered: &mut AccumulatedTarget) -> Result<(), KustomizeError> {
    for entry in kustomization.list("vars") {
        let name = entry.text_at("name").unwrap_or_default().to_owned();
        let object = entry.get("objref").cloned().unwrap_or_else(|| ObjectValue::map(entry.at));
        let text = |key: &str| object.text_at(key).unwrap_or_default();
        let gvk = match object.text_at("apiVersion") {
            Some(version) => Gvk::new(version, text("kind")),
            None => Gvk::written(&object),
        };
        let id = Id { gvk, name: text("name").into(), namespace: text("namespace").into() };
        let exact = !id.namespace.is_empty() || id.gvk.is_cluster_scoped();
        let is_it = |other: &Id| if exact { other.same(&id) } else { other.same_name(&id) };
        let found = gathered.resources.indices(|resource| resource.any_id(is_it));
        match found.as_slice() {
            [one] => {
                if let Some(resource) = gathered.resources.all.get_mut(*one) {
                    resource.variables.push(name.clone());
                }
            }
            [] => {}
            many => {
                return Err(KustomizeError::refused(
                    format!("{} objects match {}", many.len(), id.describe_id()),
                    entry.at,
                ));
            }
        }
        let path = entry.get("fieldref").and_then(|it| it.text_at("fieldpath").or(it.text_at("fieldPath")));
        let path = path.unwrap_or("metadata.name").to_owned();
        merge(&mut gathered.variables, vec![KustomizeVariable { name, path, at: entry.at }])?;
    }
    Ok(())
}

pub(super) fn merge(known: &mut Vec<KustomizeVariable>, more: Vec<KustomizeVariable>) -> Result<(), KustomizeError> {
    for variable in more {
        if let Some(first) = known.iter().find(|it| it.name == variable.name) {
            let message = format!("the variable `{}` already exists", variable.name);
            return Err(KustomizeError::refused(message, variable.at).with_note(first.at, "it is also defined here"));
        }
        known.push(variable);
    }
    Ok(())
}

/// Replaces the variables by their values.
pub(super) fn resolve(gathered: &mut AccumulatedTarget, budget: &BuildBudget) -> Result<(), KustomizeError> {
    let mut values: HashMap<&str, ObjectValue> = HashMap::new();
    for variable in &gathered.variables {
        let holds = |name: &String| *name == variable.name;
        let object = gathered.resources.all.iter().find(|resource| resource.variables.iter().any(holds));
        let path: Vec<String> = parts(&variable.path).into_iter().flat_map(indexed).collect();
        let value = object.and_then(|object| look(&object.value, &path));
        let value = value.ok_or_else(|| {
            KustomizeError::refused(format!("no object sets the variable `{}`", variable.name), variable.at)
        })?;
        values.insert(&variable.name, value.clone());
    }
    if values.is_empty() {
        return Ok(());
    }
    let fields = gathered.fields.clone();
    for resource in &mut gathered.resources.all {
        for spec in fields.of("varReference") {
            budget.spend(4)?;
            spec.visit(&mut resource.value, Make::Nothing, &mut |value| fill(value, &values))?;
        }
    }
    Ok(())
}

/// Splits `containers[0]` into `containers` and `0`.
fn indexed(part: String) -> Vec<String> {
    match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
        Some((name, index)) if !name.is_empty() => vec![name.to_owned(), index.to_owned()],
        _ => vec![part],
    }
}

fn fill(value: &mut ObjectValue, values: &HashMap<&str, ObjectValue>) -> Result<(), KustomizeError> {
    match &mut value.data {
        ObjectData::Map(fields) => fields.iter_mut().for_each(|field| fill_text(&mut field.value, values)),
        ObjectData::List(items) => {
            if let Some(other) =
                items.iter().find(|item| item.is_map() || item.is_list() || item.kind() != ScalarKind::Text)
            {
                return Err(KustomizeError::refused("expected a string", other.at));
            }
            items.iter_mut().for_each(|item| fill_text(item, values));
        }
        ObjectData::Scalar { .. } => fill_text(value, values),
    }
    Ok(())
}

fn fill_text(value: &mut ObjectValue, values: &HashMap<&str, ObjectValue>) {
    if value.is_map() || value.is_list() || value.kind() != ScalarKind::Text || !value.raw().contains('$') {
        return;
    }
    let text = value.raw().to_owned();
    let whole = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).and_then(|name| values.get(name));
    *value = match whole.filter(|it| !it.is_map() && !it.is_list()) {
        Some(known) => known.clone(),
        None => ObjectValue::string(filled(&text, values), value.at),
    };
}

fn filled(text: &str, values: &HashMap<&str, ObjectValue>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let mut inside = after.chars();
        rest = match inside.next() {
            None => {
                out.push('$');
                after
            }
            Some('$') => {
                out.push('$');
                inside.as_str()
            }
            Some('(') => match inside.as_str().split_once(')') {
                Some((name, behind)) => {
                    let known = values.get(name).filter(|it| !it.is_map() && !it.is_list());
                    let text: Cow<'_, str> = known.map_or_else(|| format!("$({name})").into(), |it| it.raw().into());
                    out.push_str(&text);
                    behind
                }
                None => {
                    out.push_str("$(");
                    inside.as_str()
                }
            },
            Some(other) => {
                out.push('$');
                out.push(other);
                inside.as_str()
            }
        };
    }
    out.push_str(rest);
    out
}
