//! Applies both kinds of patches to their targets.

use crate::source::Span;

use super::kustomization::Kustomization;
use super::merge::Merger;
use super::resource::{KustomizeResource, Resources};
use super::select::PatchSelector;
use super::target::{Maker, objects};
use super::value::{ObjectData, ObjectValue};
use super::{KustomizeError, inline, json_patch};

enum Patch {
    Merged(Vec<KustomizeResource>),
    Operations(ObjectValue),
}

/// Applies `patchesStrategicMerge`: files or inline patches.
pub(super) fn merge_all(
    maker: &mut Maker<'_>,
    directory: &str,
    entries: &[ObjectValue],
    resources: &mut Resources,
) -> Result<(), KustomizeError> {
    let merge_all = |maker: &mut Maker<'_>, resources: &mut Resources, entry: &ObjectValue| {
        let text = entry.raw();
        let documents = match text.contains('\n') || text.trim_start().starts_with('{') {
            true => {
                let (file, text) = inline::derive(maker.sources, entry);
                maker.read(file, &text, entry.at)?
            }
            false => maker.documents(directory, entry)?,
        };
        for mut patch in objects(documents, entry.at)? {
            stringify(&mut patch.value);
            merge_into_namesake(maker, resources, patch, entry.at)?;
        }
        Ok(())
    };
    for entry in entries {
        maker.attempt(directory, entry, resources, |maker, resources| merge_all(maker, resources, entry))?;
    }
    Ok(())
}

/// Applies one entry of `patches`.
pub(super) fn apply(
    maker: &mut Maker<'_>,
    directory: &str,
    entry: &ObjectValue,
    resources: &mut Resources,
) -> Result<(), KustomizeError> {
    let target = entry.get("target").filter(|target| !target.is_null());
    match load(maker, directory, entry)? {
        Patch::Merged(mut patches) => {
            let options = entry.get("options");
            for patch in &mut patches {
                patch.renames = options.is_some_and(|it| it.flag_at("allowNameChange"));
                patch.changes_kind = options.is_some_and(|it| it.flag_at("allowKindChange"));
            }
            let Some(target) = target else {
                return patches.into_iter().try_for_each(|it| merge_into_namesake(maker, resources, it, entry.at));
            };
            let selector = PatchSelector::written(target)?;
            match <[KustomizeResource; 1]>::try_from(patches) {
                Ok([patch]) => merge_into_selected(maker, resources, patch, &selector),
                Err(many) if many.is_empty() => Ok(()),
                Err(_) => Err(KustomizeError::refused("a file with several patches must not have a target", target.at)),
            }
        }
        Patch::Operations(operations) => {
            let missing = || KustomizeError::refused("a JSON patch must have a target", entry.at);
            operate(maker, target.ok_or_else(missing)?, &operations, resources, true)
        }
    }
}

/// Applies one entry of `patchesJson6902`.
pub(super) fn apply_json(
    maker: &mut Maker<'_>,
    directory: &str,
    entry: &ObjectValue,
    resources: &mut Resources,
) -> Result<(), KustomizeError> {
    let target = entry.get("target").filter(|target| target.text_at("name").is_some());
    let target = target.ok_or_else(|| KustomizeError::refused("the patch does not name its target", entry.at))?;
    match load(maker, directory, entry)? {
        Patch::Operations(operations) => operate(maker, target, &operations, resources, false),
        Patch::Merged(_) => Err(KustomizeError::refused("this is not a JSON patch", entry.at)),
    }
}

fn load(maker: &mut Maker<'_>, directory: &str, entry: &ObjectValue) -> Result<Patch, KustomizeError> {
    let written = |keys: &[&str]| keys.iter().find_map(|key| entry.get(key).filter(|it| !it.raw().trim().is_empty()));
    let (path, text) = (written(&["path"]), written(&["patch", "jsonOp"]));
    let documents = match (path, text) {
        (Some(path), None) => maker.documents(directory, path)?,
        (None, Some(text)) => {
            let (file, read) = inline::derive(maker.sources, text);
            maker.read(file, &read, text.at)?
        }
        (Some(both), Some(_)) => {
            return Err(KustomizeError::refused("a patch must be inline or in a file, not both", both.at));
        }
        (None, None) => return Err(KustomizeError::refused("the patch is empty", entry.at)),
    };
    let at = path.or(text).map_or(entry.at, |it| it.at);
    match documents.first().map(|it| &it.data) {
        Some(ObjectData::List(_)) => {
            let mut operations = documents.into_iter().next().unwrap_or_else(|| ObjectValue::list(at));
            operations.read_old_flags();
            Ok(Patch::Operations(operations))
        }
        _ => objects(documents, at).map(Patch::Merged),
    }
}

fn operate(
    maker: &Maker<'_>,
    target: &ObjectValue,
    operations: &ObjectValue,
    resources: &mut Resources,
    remembers: bool,
) -> Result<(), KustomizeError> {
    let selector = PatchSelector::written(target)?;
    for resource in resources.all.iter_mut().filter(|resource| selector.selects(resource)) {
        if remembers {
            resource.remember();
        }
        json_patch::apply(&mut resource.value, operations, maker.budget)?;
    }
    Ok(())
}

/// Merges a patch into the object with the name and kind in the patch.
fn merge_into_namesake(
    maker: &Maker<'_>,
    resources: &mut Resources,
    patch: KustomizeResource,
    at: Span,
) -> Result<(), KustomizeError> {
    let place = resources.one(&patch.original_id()).map_err(|why| {
        KustomizeError::refused(format!("{why} for this patch to change"), patch.head)
            .with_note(at, "the patch is defined here")
    })?;
    if let Some(known) = resources.all.get_mut(place)
        && !merge(maker, known, patch)?
    {
        resources.all.remove(place);
    }
    Ok(())
}

fn merge_into_selected(
    maker: &Maker<'_>,
    resources: &mut Resources,
    patch: KustomizeResource,
    selector: &PatchSelector,
) -> Result<(), KustomizeError> {
    let mut patch = patch;
    stringify(&mut patch.value);
    let mut kept = Vec::with_capacity(resources.all.len());
    for mut resource in std::mem::take(&mut resources.all) {
        if selector.selects(&resource) {
            maker.budget.copy(&patch.value, 0)?;
            let mut own = patch.clone();
            let at = own.head;
            if let Some(version) = resource.value.text_at("apiVersion") {
                own.value.set("apiVersion", ObjectValue::string(version, at));
            }
            if !merge(maker, &mut resource, own)? {
                continue;
            }
        }
        kept.push(resource);
    }
    resources.append_all(kept)
}

/// Converts labels and annotations to strings, even `null`, in patches with a target and in `patchesStrategicMerge`.
fn stringify(patch: &mut ObjectValue) {
    let Some(metadata) = patch.get_mut("metadata") else { return };
    for key in ["labels", "annotations"] {
        let Some(pairs) = metadata.get_mut(key) else { continue };
        if pairs.fields().is_empty() {
            metadata.remove(key);
        } else if let ObjectData::Map(fields) = &mut pairs.data {
            for field in fields {
                if let ObjectData::Scalar { plain, .. } = &mut field.value.data {
                    *plain = false;
                }
            }
        }
    }
}

/// Returns whether the object still exists.
fn merge(
    maker: &Maker<'_>,
    resource: &mut KustomizeResource,
    patch: KustomizeResource,
) -> Result<bool, KustomizeError> {
    let before = resource.id();
    if patch.renames || patch.changes_kind {
        resource.remember();
    }
    let merger = Merger { schema: &maker.schema, budget: maker.budget };
    let (renames, changes_kind, at) = (patch.renames, patch.changes_kind, resource.head);
    let named = |value: &ObjectValue, key| value.at_path(&["metadata", key]).cloned();
    let (name, namespace) = (named(&resource.value, "name"), named(&resource.value, "namespace"));
    let own = std::mem::replace(&mut resource.value, ObjectValue::map(at));
    let kind = own.get("kind").cloned();
    let Some(value) = merger.merge(own, patch.value)? else { return Ok(false) };
    resource.value = value;
    if let Some(kind) = kind.filter(|_| !changes_kind) {
        resource.value.set("kind", kind);
    }
    let Some(metadata) = resource.value.map_at("metadata", at) else { return Ok(true) };
    if let Some(name) = name.filter(|_| !renames) {
        metadata.set("name", name);
    }
    match namespace.filter(|_| !before.namespace.is_empty()) {
        Some(namespace) => metadata.set("namespace", namespace),
        None => drop(metadata.remove("namespace")),
    }
    Ok(true)
}

/// Applies all patches of a kustomization that precede name changes.
pub(super) fn before_names(
    maker: &mut Maker<'_>,
    kustomization: &Kustomization,
    resources: &mut Resources,
) -> Result<(), KustomizeError> {
    let directory = &kustomization.directory;
    merge_all(maker, directory, &kustomization.list("patchesStrategicMerge"), resources)?;
    for entry in &kustomization.list("patches") {
        maker.attempt(directory, entry, resources, |maker, resources| apply(maker, directory, entry, resources))?;
    }
    Ok(())
}
