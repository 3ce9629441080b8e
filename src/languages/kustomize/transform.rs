//! Applies the transformations of a kustomization to all its objects, in kustomize's order.

use std::sync::Arc;

use crate::source::Span;

use super::fields::{self, FieldSpec, KnownFields, Make};
use super::kustomization::{Kustomization, pairs};
use super::resource::Resources;
use super::target::{AccumulatedTarget, Maker};
use super::value::ObjectValue;
use super::{KustomizeError, images, names, patches, plugins, replace};

pub(super) fn all(
    maker: &mut Maker<'_>,
    kustomization: &Kustomization,
    gathered: &mut AccumulatedTarget,
) -> Result<(), KustomizeError> {
    let known = gathered.fields.clone();
    let AccumulatedTarget { resources, .. } = gathered;
    let directory = &kustomization.directory;
    patches::before_names(maker, kustomization, resources)?;
    if let Some((namespace, at)) = kustomization.text("namespace") {
        names::set_namespace(resources, &namespace, at, &names::Namespacing::usual(&known))?;
    }
    if let Some((prefix, at)) = kustomization.text("namePrefix") {
        names::add_prefix(resources, &prefix, at, known.of("namePrefix"))?;
    }
    if let Some((suffix, at)) = kustomization.text("nameSuffix") {
        names::add_suffix(resources, &suffix, at, known.of("nameSuffix"))?;
    }
    for entry in kustomization.list("labels") {
        label(resources, &pairs(entry.get("pairs")), &label_fields(&entry, &known)?)?;
    }
    label(resources, &kustomization.pairs("commonLabels"), known.of("commonLabels"))?;
    label(resources, &kustomization.pairs("commonAnnotations"), known.of("commonAnnotations"))?;
    for entry in &kustomization.list("patchesJson6902") {
        maker.attempt(directory, entry, resources, |maker, resources| {
            patches::apply_json(maker, directory, entry, resources)
        })?;
    }
    for entry in kustomization.list("replicas") {
        let set = set_replicas(resources, &entry, known.of("replicas"));
        maker.tolerate(set)?;
    }
    for entry in kustomization.list("images").iter().chain(&kustomization.list("imageTags")) {
        maker.budget.spend(resources.all.len() * 50)?;
        images::set(resources, entry, known.of("images"))?;
    }
    for entry in kustomization.list("replacements") {
        maker.attempt(directory, &entry, resources, |maker, resources| {
            replace::all(maker, directory, std::slice::from_ref(&entry), resources)
        })?;
    }
    let transformed = plugins::transform(maker, kustomization, gathered);
    maker.tolerate(transformed)
}

/// Returns the fields in which an entry of `labels` sets its pairs.
fn label_fields(entry: &ObjectValue, known: &KnownFields) -> Result<Vec<FieldSpec>, KustomizeError> {
    let own = entry.get("fields").map(ObjectValue::items).unwrap_or_default();
    let mut specs: Vec<FieldSpec> = own.iter().map(FieldSpec::written).collect();
    let mut add = |more: &[FieldSpec]| match more.iter().all(|spec| fields::add(&mut specs, spec.clone())) {
        true => Ok(()),
        false => Err(KustomizeError::refused("`create` is set in two places with different values", entry.at)),
    };
    add(known.of("labels"))?;
    if entry.flag_at("includeSelectors") {
        add(known.of("commonLabels"))?;
    } else {
        if entry.flag_at("includeTemplates") {
            add(known.of("templateLabels"))?;
        }
        if entry.flag_at("includeVolumeClaimTemplates") {
            add(known.of("volumeClaimTemplateLabels"))?;
        }
        add(&[FieldSpec::at("metadata/labels", true)])?;
    }
    Ok(specs)
}

/// Sets labels or annotations.
pub(super) fn label(
    resources: &mut Resources,
    pairs: &[(Arc<str>, ObjectValue)],
    specs: &[FieldSpec],
) -> Result<(), KustomizeError> {
    for resource in &mut resources.all {
        for (key, text) in pairs {
            for spec in specs {
                spec.visit(&mut resource.value, Make::Map(text.at), &mut |value| set_pair(value, key, text))?;
            }
        }
    }
    Ok(())
}

fn set_pair(value: &mut ObjectValue, key: &str, text: &ObjectValue) -> Result<(), KustomizeError> {
    if value.is_null() {
        return Ok(());
    }
    if !value.is_map() {
        return Err(KustomizeError::refused("labels cannot be set in a value that has no fields", value.at));
    }
    value.set(key, text.clone());
    Ok(())
}

pub(super) fn set_replicas(
    resources: &mut Resources,
    entry: &ObjectValue,
    specs: &[FieldSpec],
) -> Result<(), KustomizeError> {
    let name = entry.text_at("name").unwrap_or_default();
    let count = entry.get("count").cloned().unwrap_or_else(|| ObjectValue::plain("0", entry.at));
    let count = ObjectValue::plain(count.raw(), count.at);
    let mut found = false;
    for spec in specs {
        for resource in &mut resources.all {
            if resource.any_id(|id| id.name == name && id.gvk.is_selected_by(&spec.gvk)) {
                found = true;
                let mut set = |value: &mut ObjectValue| {
                    *value = count.clone();
                    Ok(())
                };
                spec.visit(&mut resource.value, Make::Scalar(count.at), &mut set)?;
            }
        }
    }
    let message = || format!("no object with a number of replicas has the name `{name}`");
    if found { Ok(()) } else { Err(KustomizeError::refused(message(), entry.at)) }
}

/// Replaces a string by one with its own place.
pub(super) fn put(value: &mut ObjectValue, text: String, at: Span) {
    *value = ObjectValue::string(text, at);
}
