//! Handles generators, transformers and validators that are separate objects. Kustomize's built-in ones are
//! implemented here. Others are programs and are not run.

use super::fields::FieldSpec;
use super::generate;
use super::kustomization::{Kustomization, pairs};
use super::names::{self, Namespacing, Subjects};
use super::resource::KustomizeResource;
use super::target::{AccumulatedTarget, Maker, objects};
use super::value::ObjectValue;
use super::{KustomizeError, images, inflate, inline, patches, replace, transform};

/// Returns the objects of the entries in `generators`.
pub(super) fn generate(
    maker: &mut Maker<'_>,
    kustomization: &Kustomization,
) -> Result<Vec<KustomizeResource>, KustomizeError> {
    let mut made = Vec::new();
    for (plugin, directory) in load(maker, kustomization, "generators")? {
        let entry = flattened(&plugin);
        match plugin.value.text_at("kind") {
            Some("ConfigMapGenerator") => made.push(generate::one(maker, &directory, &entry, None, "ConfigMap")?),
            Some("SecretGenerator") => made.push(generate::one(maker, &directory, &entry, None, "Secret")?),
            Some(inflate::GENERATOR) => made.extend(inflate::one(maker, &directory, &entry, None)?),
            _ => return Err(foreign(&plugin)),
        }
    }
    Ok(made)
}

/// Applies the entries of `transformers`; validators do not change objects.
pub(super) fn transform(
    maker: &mut Maker<'_>,
    kustomization: &Kustomization,
    gathered: &mut AccumulatedTarget,
) -> Result<(), KustomizeError> {
    for (plugin, directory) in load(maker, kustomization, "transformers")? {
        one(maker, &directory, &plugin, gathered)?;
    }
    match load(maker, kustomization, "validators")?.first() {
        Some((plugin, _)) => Err(foreign(plugin)),
        None => Ok(()),
    }
}

fn foreign(plugin: &KustomizeResource) -> KustomizeError {
    let kind = plugin.value.text_at("kind").unwrap_or_default();
    KustomizeError::not_at_hand(format!("the plugin {kind} runs a program, which gpulint does not start"), plugin.head)
}

/// Returns the plugin's fields, including its name and namespace.
fn flattened(plugin: &KustomizeResource) -> ObjectValue {
    let mut entry = plugin.value.clone();
    for key in ["name", "namespace"] {
        if let Some(value) = plugin.value.at_path(&["metadata", key])
            && entry.get(key).is_none()
        {
            entry.set(key, value.clone());
        }
    }
    entry
}

/// Loads the plugins of a field: inline text, files and kustomizations. Their paths are relative to the naming file.
fn load(
    maker: &mut Maker<'_>,
    kustomization: &Kustomization,
    field: &str,
) -> Result<Vec<(KustomizeResource, String)>, KustomizeError> {
    let mut plugins = Vec::new();
    for entry in kustomization.list(field) {
        let found = if entry.raw().contains('\n') {
            let (file, text) = inline::derive(maker.sources, &entry);
            objects(maker.read(file, &text, entry.at)?, entry.at)?
        } else {
            maker.objects_at(&kustomization.directory, &entry)?
        };
        plugins.extend(found.into_iter().map(|it| (it, kustomization.directory.clone())));
    }
    Ok(plugins)
}

fn one(
    maker: &mut Maker<'_>,
    directory: &str,
    plugin: &KustomizeResource,
    gathered: &mut AccumulatedTarget,
) -> Result<(), KustomizeError> {
    let value = &plugin.value;
    let AccumulatedTarget { resources, .. } = gathered;
    let specs = |key: &str| -> Vec<FieldSpec> {
        value.get(key).map(ObjectValue::items).unwrap_or_default().iter().map(FieldSpec::written).collect()
    };
    let said = |key: &str| value.get(key).and_then(|it| it.text().map(|text| (text.to_owned(), it.at)));
    match value.text_at("kind").unwrap_or_default() {
        "PatchTransformer" => patches::apply(maker, directory, value, resources),
        "PatchJson6902Transformer" => patches::apply_json(maker, directory, value, resources),
        "PatchStrategicMergeTransformer" => {
            let mut entries = value.get("paths").map(|it| it.items().to_vec()).unwrap_or_default();
            entries.extend(value.get("patches").filter(|it| it.text().is_some()).cloned());
            patches::merge_all(maker, directory, &entries, resources)
        }
        "LabelTransformer" => transform::label(resources, &pairs(value.get("labels")), &specs("fieldSpecs")),
        "AnnotationsTransformer" => transform::label(resources, &pairs(value.get("annotations")), &specs("fieldSpecs")),
        "NamespaceTransformer" => {
            let namespace = value.at_path(&["metadata", "namespace"]);
            let Some(namespace) = namespace.filter(|it| it.text().is_some()) else { return Ok(()) };
            let subjects = match value.text_at("setRoleBindingSubjects") {
                Some("none") => Subjects::None,
                Some("allServiceAccounts") => Subjects::Accounts,
                _ => Subjects::Default,
            };
            let specs = specs("fieldSpecs");
            let how = Namespacing { specs: &specs, unset_only: value.flag_at("unsetOnly"), subjects };
            names::set_namespace(resources, namespace.raw(), namespace.at, &how)
        }
        "PrefixTransformer" => match said("prefix") {
            Some((prefix, at)) => names::add_prefix(resources, &prefix, at, &specs("fieldSpecs")),
            None => Ok(()),
        },
        "SuffixTransformer" => match said("suffix") {
            Some((suffix, at)) => names::add_suffix(resources, &suffix, at, &specs("fieldSpecs")),
            None => Ok(()),
        },
        "ImageTagTransformer" => match value.get("imageTag") {
            Some(image) => images::set(resources, image, &specs("fieldSpecs")),
            None => Ok(()),
        },
        "ReplicaCountTransformer" => match value.get("replica") {
            Some(replica) => transform::set_replicas(resources, replica, &specs("fieldSpecs")),
            None => Ok(()),
        },
        "ReplacementTransformer" => {
            let entries = value.get("replacements").map(|it| it.items().to_vec()).unwrap_or_default();
            replace::all(maker, directory, &entries, resources)
        }
        _ => Err(foreign(plugin)),
    }
}
