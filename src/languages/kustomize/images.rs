//! Sets names, tags and digests of images.

use super::KustomizeError;
use super::fields::{FieldSpec, Make};
use super::resource::Resources;
use super::select::pattern;
use super::value::{ObjectData, ObjectValue};

/// Applies one entry of `images`.
pub(super) fn set(resources: &mut Resources, entry: &ObjectValue, specs: &[FieldSpec]) -> Result<(), KustomizeError> {
    let name = entry.text_at("name").unwrap_or_default();
    let text = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{{}}-]*)?$");
    // As in kustomize, a name that is not a valid pattern matches no image.
    let Ok(pattern) = pattern(&text, entry.at) else { return Ok(()) };
    let mut change = |value: &mut ObjectValue| {
        if value.is_map() || value.is_list() {
            return Err(KustomizeError::refused("an image must not be a list or a map", value.at));
        }
        if pattern.is_match(value.raw()) {
            let (text, at) = changed(value, entry);
            *value = ObjectValue::string(text, at);
        }
        Ok(())
    };
    for resource in &mut resources.all {
        if resource.value.text_at("kind") == Some("CustomResourceDefinition") {
            continue;
        }
        in_containers(&mut resource.value, &mut change)?;
        for spec in specs {
            spec.visit(&mut resource.value, Make::Nothing, &mut change)?;
        }
    }
    Ok(())
}

/// Applies the change to all containers. Every list with the name of a container list counts, at any depth.
fn in_containers(
    value: &mut ObjectValue,
    change: &mut dyn FnMut(&mut ObjectValue) -> Result<(), KustomizeError>,
) -> Result<(), KustomizeError> {
    match &mut value.data {
        ObjectData::List(items) => items.iter_mut().try_for_each(|item| in_containers(item, change)),
        ObjectData::Map(fields) => fields.iter_mut().try_for_each(|field| {
            in_containers(&mut field.value, change)?;
            let ObjectData::List(items) = &mut field.value.data else { return Ok(()) };
            if !matches!(&*field.key, "containers" | "initContainers") {
                return Ok(());
            }
            items.iter_mut().filter_map(|item| item.get_mut("image")).try_for_each(|image| match image.is_null() {
                true => Ok(()),
                false => change(image),
            })
        }),
        ObjectData::Scalar { .. } => Ok(()),
    }
}

/// Returns the changed image, and the place that sets most of it.
fn changed(image: &ObjectValue, entry: &ObjectValue) -> (String, crate::source::Span) {
    let (name, mut tag, mut digest) = split(image.raw());
    let said = |key: &str| entry.get(key).filter(|it| it.text().is_some_and(|text| !text.is_empty()));
    let name = said("newName").map_or(name, ObjectValue::raw);
    let mut text = name.to_owned();
    let suffixed;
    match (said("newTag"), said("digest"), said("tagSuffix")) {
        (Some(new), Some(exact), _) => (tag, digest) = (new.raw(), exact.raw()),
        (Some(new), None, _) => (tag, digest) = (new.raw(), ""),
        (None, Some(exact), _) => (tag, digest) = ("", exact.raw()),
        (None, None, Some(suffix)) => {
            suffixed = format!("{tag}{}", suffix.raw());
            (tag, digest) = (&suffixed, "");
        }
        (None, None, None) => {}
    }
    if !tag.is_empty() {
        text.push(':');
        text.push_str(tag);
    }
    if !digest.is_empty() {
        text.push('@');
        text.push_str(digest);
    }
    let at = said("newTag").or_else(|| said("digest")).or_else(|| said("newName")).or_else(|| said("tagSuffix"));
    (text, at.map_or(image.at, |it| it.at))
}

/// Splits into name, tag and digest. A port of the host is part of the name.
fn split(image: &str) -> (&str, &str, &str) {
    let from = image.find('/').unwrap_or(0);
    let rest = image.get(from..).unwrap_or_default();
    let cut = |at: usize| (image.get(..at).unwrap_or_default(), image.get(at + 1..).unwrap_or_default());
    match (rest.find(':').map(|at| at + from), rest.find('@').map(|at| at + from)) {
        (None, None) => (image, "", ""),
        (colon, Some(at)) if colon.is_none_or(|colon| at < colon) => {
            let (name, digest) = cut(at);
            (name, "", digest)
        }
        (Some(colon), Some(at)) => {
            let (name, _) = cut(colon);
            (name, image.get(colon + 1..at).unwrap_or_default(), cut(at).1)
        }
        (Some(colon), None) => {
            let (name, tag) = cut(colon);
            (name, tag, "")
        }
        (None, Some(at)) => {
            let (name, digest) = cut(at);
            (name, "", digest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_cut_at_tag_and_digest() {
        for (image, parts) in [
            ("a", ("a", "", "")),
            ("a:1", ("a", "1", "")),
            ("h:5000/a", ("h:5000/a", "", "")),
            ("h:5000/a:1", ("h:5000/a", "1", "")),
            ("a@sha256:0", ("a", "", "sha256:0")),
            ("h/a:1@sha256:0", ("h/a", "1", "sha256:0")),
        ] {
            assert_eq!(split(image), parts, "{image}");
        }
    }
}
