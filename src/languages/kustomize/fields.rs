//! Finds and visits the fields that contain names, labels, images and others, by kind.

use std::sync::{Arc, LazyLock};

use crate::source::Span;

use super::KustomizeError;
use super::id::Gvk;
use super::value::{ObjectData, ObjectValue};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldSpec {
    pub gvk: Gvk,
    pub path: Arc<str>,
    pub create: bool,
}

/// Fields that refer to objects of a kind.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    pub to: Gvk,
    pub from: Vec<FieldSpec>,
}

/// Kustomize's own field specifications, with those of `configurations:`.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownFields {
    sections: Vec<(Arc<str>, Vec<FieldSpec>)>,
    pub references: Vec<Reference>,
}

static DEFAULTS: LazyLock<Arc<KnownFields>> = LazyLock::new(|| {
    let mut fields = KnownFields::default();
    for line in include_str!("tables/fields.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').map(|word| if word == "-" { "" } else { word }).collect();
        let gvk = |at: usize| {
            let word = |at: usize| words.get(at).copied().unwrap_or_default().to_owned();
            Gvk { group: word(at), version: word(at + 1), kind: word(at + 2) }
        };
        let (Some(section), Some(path)) = (words.first(), words.get(5)) else { continue };
        let spec = FieldSpec { gvk: gvk(2), path: (*path).into(), create: words.get(1) == Some(&"+") };
        if *section == "nameReference" {
            fields.add_reference(gvk(6), spec);
        } else {
            fields.add(section, spec);
        }
    }
    Arc::new(fields)
});

impl KnownFields {
    pub(super) fn defaults() -> Arc<KnownFields> {
        DEFAULTS.clone()
    }

    pub(super) fn of(&self, section: &str) -> &[FieldSpec] {
        self.sections.iter().find(|(name, _)| &**name == section).map_or(&[], |(_, specs)| specs)
    }

    fn add(&mut self, section: &str, spec: FieldSpec) -> bool {
        let place = match self.sections.iter().position(|(name, _)| &**name == section) {
            Some(place) => place,
            None => {
                self.sections.push((section.into(), Vec::new()));
                self.sections.len() - 1
            }
        };
        self.sections.get_mut(place).is_some_and(|(_, specs)| add(specs, spec))
    }

    fn add_reference(&mut self, to: Gvk, spec: FieldSpec) -> bool {
        match self.references.iter_mut().find(|it| it.to == to) {
            Some(known) => add(&mut known.from, spec),
            None => {
                self.references.push(Reference { to, from: vec![spec] });
                true
            }
        }
    }

    /// Adds the field specifications of a `configurations:` file.
    pub(super) fn configure(&mut self, root: &ObjectValue) -> Result<(), KustomizeError> {
        for section in root.fields() {
            for written in section.value.items() {
                let added = if &*section.key == "nameReference" {
                    let to = Gvk::written(written);
                    let specs = written.get("fieldSpecs").map(ObjectValue::items).unwrap_or_default();
                    specs.iter().all(|spec| self.add_reference(to.clone(), FieldSpec::written(spec)))
                } else {
                    self.add(&section.key, FieldSpec::written(written))
                };
                if !added {
                    let message = "`create` is set in two places with different values";
                    return Err(KustomizeError::refused(message, written.at));
                }
            }
        }
        Ok(())
    }

    pub(super) fn merge(&mut self, other: &KnownFields) {
        for (section, specs) in &other.sections {
            for spec in specs {
                self.add(section, spec.clone());
            }
        }
        for reference in &other.references {
            for spec in &reference.from {
                self.add_reference(reference.to.clone(), spec.clone());
            }
        }
    }
}

/// Adds a field that is not covered yet; returns false for contradicting settings.
pub(super) fn add(specs: &mut Vec<FieldSpec>, spec: FieldSpec) -> bool {
    match specs.iter().find(|known| known.gvk.is_selected_by(&spec.gvk) && known.path == spec.path) {
        Some(known) => known.create == spec.create,
        None => {
            specs.push(spec);
            true
        }
    }
}

/// The limit on path length, above the depth of any object.
const LONGEST_PATH: usize = 128;

/// The value to create for a missing field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Make {
    Nothing,
    Scalar(Span),
    Map(Span),
}

impl FieldSpec {
    pub(super) fn written(value: &ObjectValue) -> FieldSpec {
        FieldSpec {
            gvk: Gvk::written(value),
            path: value.text_at("path").unwrap_or_default().into(),
            create: value.flag_at("create"),
        }
    }

    pub(super) fn at(path: &str, create: bool) -> FieldSpec {
        FieldSpec { gvk: Gvk::default(), path: path.into(), create }
    }

    /// Calls a function with each value at the path.
    pub(super) fn visit(
        &self,
        object: &mut ObjectValue,
        make: Make,
        set: &mut dyn FnMut(&mut ObjectValue) -> Result<(), KustomizeError>,
    ) -> Result<(), KustomizeError> {
        if !Gvk::of(object).is_selected_by(&self.gvk) {
            return Ok(());
        }
        let path = split(&self.path, '/');
        if path.len() > LONGEST_PATH {
            return Err(KustomizeError::beyond(format!("a path has more than {LONGEST_PATH} parts")));
        }
        let make = if self.create { make } else { Make::Nothing };
        visit(object, &path, make, set)
    }
}

fn visit(
    value: &mut ObjectValue,
    path: &[String],
    make: Make,
    set: &mut dyn FnMut(&mut ObjectValue) -> Result<(), KustomizeError>,
) -> Result<(), KustomizeError> {
    let Some((first, rest)) = path.split_first() else { return set(value) };
    if value.is_null() {
        return Ok(());
    }
    let at = value.at;
    match &mut value.data {
        ObjectData::List(items) => items.iter_mut().try_for_each(|item| visit(item, path, make, set)),
        ObjectData::Map(_) => {
            let (name, is_list) = first.strip_suffix("[]").map_or((first.as_str(), false), |name| (name, true));
            let made = match make {
                Make::Nothing => None,
                _ if is_list => None,
                Make::Scalar(at) if rest.is_empty() => Some(ObjectValue::plain("", at)),
                Make::Scalar(at) | Make::Map(at) => Some(ObjectValue::map(at)),
            };
            if let Some(made) = made
                && value.get(name).is_none_or(|it| it.is_null())
            {
                value.set(name, made);
            }
            match value.get_mut(name) {
                Some(inner) => visit(inner, rest, make, set),
                None => Ok(()),
            }
        }
        ObjectData::Scalar { .. } => {
            Err(KustomizeError::refused(format!("`{first}` is looked up in a value that has no fields"), at))
        }
    }
}

/// Splits a path at a mark, unless a backslash precedes it.
pub(super) fn split(path: &str, mark: char) -> Vec<String> {
    let mut pieces = path.split(mark);
    let mut parts: Vec<String> = Vec::new();
    let first = pieces.next().unwrap_or_default();
    if !(first.is_empty() && path.len() > 1) {
        parts.push(first.to_owned());
    }
    for piece in pieces {
        match parts.last_mut().filter(|last| last.ends_with('\\')) {
            Some(last) => {
                last.pop();
                last.push(mark);
                last.push_str(piece);
            }
            None => parts.push(piece.to_owned()),
        }
    }
    parts
}
