//! Defines a document that a kustomization changes: an editable tree in which every key and value has the place that a
//! person would edit.

use std::borrow::Cow;
use std::sync::Arc;

use crate::languages::yaml::{self, Node, scalar};
use crate::source::{SourceFiles, Span};

#[derive(Debug, Clone)]
pub(super) struct ObjectValue {
    pub at: Span,
    pub data: ObjectData,
}

#[derive(Debug, Clone)]
pub(super) enum ObjectData {
    Scalar { text: Arc<str>, plain: bool },
    List(Vec<ObjectValue>),
    Map(Vec<MapField>),
}

#[derive(Debug, Clone)]
pub(super) struct MapField {
    pub key: Arc<str>,
    pub key_at: Span,
    pub value: ObjectValue,
}

/// The type of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScalarKind {
    Null,
    Flag(bool),
    Integer(i128),
    Float(f64),
    Text,
}

impl ObjectValue {
    pub(super) fn from_node(node: &Node, sources: &SourceFiles) -> ObjectValue {
        let data = match &node.data {
            // Kustomize distinguishes an empty value from a written null.
            yaml::NodeData::Scalar { plain: true, .. } if node.span.start == node.span.end => {
                ObjectData::Scalar { text: "".into(), plain: true }
            }
            yaml::NodeData::Scalar { text, plain: false } if text.contains('\n') => {
                ObjectData::Scalar { text: as_it_is_printed(text, node.span, sources), plain: false }
            }
            yaml::NodeData::Scalar { text, plain } => ObjectData::Scalar { text: text.clone(), plain: *plain },
            yaml::NodeData::List(items) => {
                ObjectData::List(items.iter().map(|it| ObjectValue::from_node(it, sources)).collect())
            }
            yaml::NodeData::Map(entries) => ObjectData::Map(
                entries
                    .iter()
                    .map(|entry| MapField {
                        key: key(entry, sources),
                        key_at: entry.key_span,
                        value: ObjectValue::from_node(&entry.value, sources),
                    })
                    .collect(),
            ),
        };
        ObjectValue { at: node.span, data }
    }

    /// Returns the document as parsed from kustomize's output. A key that looks like a boolean is a string there.
    pub(super) fn to_node(&self) -> Node {
        match &self.data {
            ObjectData::Scalar { text, plain } => Node::scalar(self.at, text.clone(), *plain),
            ObjectData::List(items) => Node::list(self.at, items.iter().map(ObjectValue::to_node)),
            ObjectData::Map(fields) => Node::map(
                self.at,
                fields.iter().map(|field| yaml::NodeEntry {
                    key: field.key.clone(),
                    key_span: field.key_at,
                    value: field.value.to_node(),
                }),
            ),
        }
    }

    pub(super) fn string(text: impl Into<Arc<str>>, at: Span) -> ObjectValue {
        ObjectValue { at, data: ObjectData::Scalar { text: text.into(), plain: false } }
    }

    pub(super) fn plain(text: impl Into<Arc<str>>, at: Span) -> ObjectValue {
        ObjectValue { at, data: ObjectData::Scalar { text: text.into(), plain: true } }
    }

    pub(super) fn map(at: Span) -> ObjectValue {
        ObjectValue { at, data: ObjectData::Map(Vec::new()) }
    }

    pub(super) fn list(at: Span) -> ObjectValue {
        ObjectValue { at, data: ObjectData::List(Vec::new()) }
    }

    pub(super) fn fields(&self) -> &[MapField] {
        match &self.data {
            ObjectData::Map(fields) => fields,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[ObjectValue] {
        match &self.data {
            ObjectData::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn field(&self, key: &str) -> Option<&MapField> {
        self.fields().iter().find(|field| &*field.key == key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&ObjectValue> {
        self.field(key).map(|field| &field.value)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut ObjectValue> {
        match &mut self.data {
            ObjectData::Map(fields) => fields.iter_mut().find(|it| &*it.key == key).map(|it| &mut it.value),
            _ => None,
        }
    }

    /// Returns the value at a path of keys.
    pub(super) fn at_path(&self, path: &[&str]) -> Option<&ObjectValue> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub(super) fn set(&mut self, key: &str, value: ObjectValue) {
        let ObjectData::Map(fields) = &mut self.data else { return };
        match fields.iter_mut().find(|field| &*field.key == key) {
            Some(known) => known.value = value,
            None => fields.push(MapField { key: key.into(), key_at: value.at, value }),
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<ObjectValue> {
        let ObjectData::Map(fields) = &mut self.data else { return None };
        let place = fields.iter().position(|field| &*field.key == key)?;
        Some(fields.remove(place).value)
    }

    /// Returns the mapping at a key, and creates a missing one.
    pub(super) fn map_at(&mut self, key: &str, at: Span) -> Option<&mut ObjectValue> {
        if !self.get(key).is_some_and(ObjectValue::is_map) {
            self.set(key, ObjectValue::map(at));
        }
        self.get_mut(key)
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self.data, ObjectData::Map(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.data, ObjectData::List(_))
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.data, ObjectData::Scalar { text, plain: true } if scalar::is_null(text))
    }

    /// Returns the text of a scalar as written; empty for null.
    pub(super) fn raw(&self) -> &str {
        match &self.data {
            ObjectData::Scalar { text, .. } => text,
            _ => "",
        }
    }

    /// Returns the text of a scalar that is not null.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.data {
            ObjectData::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    pub(super) fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(ObjectValue::text).filter(|text| !text.is_empty())
    }

    pub(super) fn flag_at(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.kind() == ScalarKind::Flag(true))
    }

    /// Returns the number of values in it, including itself.
    pub(super) fn weight(&self) -> usize {
        match &self.data {
            ObjectData::Scalar { .. } => 1,
            ObjectData::List(items) => 1 + items.iter().map(ObjectValue::weight).sum::<usize>(),
            ObjectData::Map(fields) => 1 + fields.iter().map(|field| field.value.weight()).sum::<usize>(),
        }
    }

    pub(super) fn depth(&self) -> usize {
        let inner = self.items().iter().chain(self.fields().iter().map(|field| &field.value));
        1 + inner.map(ObjectValue::depth).max().unwrap_or(0)
    }

    pub(super) fn kind(&self) -> ScalarKind {
        match &self.data {
            ObjectData::Scalar { text, plain: true } => kind_of(text),
            _ => ScalarKind::Text,
        }
    }

    /// Converts `y`, `on` and similar words to booleans, because JSON patches are parsed as YAML 1.1.
    pub(super) fn read_old_flags(&mut self) {
        match &mut self.data {
            ObjectData::Scalar { text, plain: true } => {
                if let Some(flag) = scalar::boolean(text) {
                    *text = if flag { "true".into() } else { "false".into() };
                }
            }
            ObjectData::Scalar { .. } => {}
            ObjectData::List(items) => items.iter_mut().for_each(ObjectValue::read_old_flags),
            ObjectData::Map(fields) => fields.iter_mut().for_each(|field| field.value.read_old_flags()),
        }
    }

    /// Returns true if both are equal, regardless of their places.
    pub(super) fn equals(&self, other: &ObjectValue) -> bool {
        match (&self.data, &other.data) {
            (ObjectData::Scalar { text, .. }, ObjectData::Scalar { text: other_text, .. }) => {
                let (kind, other_kind) = (self.kind(), other.kind());
                kind == other_kind && (kind != ScalarKind::Text || text == other_text)
            }
            (ObjectData::List(items), ObjectData::List(others)) => {
                items.len() == others.len() && items.iter().zip(others).all(|(a, b)| a.equals(b))
            }
            (ObjectData::Map(fields), ObjectData::Map(others)) => {
                fields.len() == others.len()
                    && fields.iter().all(|it| other.get(&it.key).is_some_and(|value| it.value.equals(value)))
            }
            _ => false,
        }
    }
}

/// Returns multi-line text as kustomize prints it:
///
/// 1. A block at the end of a file without a line break has no line break.
/// 2. A folded block (`>`) gets one more line break before a more indented line. Its library writes this, unless the
///    block begins with a space.
fn as_it_is_printed(text: &Arc<str>, at: Span, sources: &SourceFiles) -> Arc<str> {
    let whole = sources.text(at.file);
    let ends_the_file = at.end as usize >= whole.len() && !whole.ends_with('\n');
    let text: &str = text.strip_suffix('\n').filter(|_| ends_the_file).unwrap_or(text);
    // The place of a block is that of its text, after the line with the block's mark.
    let above = whole.get(..at.start as usize).unwrap_or_default().trim_end().rsplit('\n').next().unwrap_or_default();
    let above = above.split(" #").next().unwrap_or_default();
    let is_folded = above.split_whitespace().next_back().is_some_and(|mark| mark.starts_with('>'));
    if !is_folded || text.starts_with([' ', '\t', '\n']) {
        return text.into();
    }
    let is_in = |line: &str| line.starts_with([' ', '\t']);
    let mut out = String::with_capacity(text.len() + 8);
    let mut before: Option<&str> = None;
    for line in text.split('\n') {
        if let Some(before) = before {
            out.push('\n');
            if !before.is_empty() && !is_in(before) && is_in(line) {
                out.push('\n');
            }
        }
        out.push_str(line);
        before = Some(line);
    }
    out.into()
}

/// Returns the key as kustomize does, by YAML 1.2: `on` is not a boolean.
fn key(entry: &yaml::NodeEntry, sources: &SourceFiles) -> Arc<str> {
    match &*entry.key {
        "true" | "false" => {
            let written = sources.snippet(entry.key_span);
            let written = written.trim();
            if scalar::boolean(written).is_some() { written.into() } else { entry.key.clone() }
        }
        _ => entry.key.clone(),
    }
}

/// Returns the type of a plain scalar in kustomize's YAML library.
fn kind_of(text: &str) -> ScalarKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return ScalarKind::Null,
        "true" | "True" | "TRUE" => return ScalarKind::Flag(true),
        "false" | "False" | "FALSE" => return ScalarKind::Flag(false),
        _ => {}
    }
    let Some(first) = text.bytes().next() else { return ScalarKind::Null };
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return ScalarKind::Text;
    }
    let bare: Cow<'_, str> = if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    if let Some(integer) = scalar::integer(&bare) {
        return ScalarKind::Integer(integer);
    }
    let shape = bare.strip_prefix(['+', '-']).unwrap_or(&bare);
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if shape.chars().all(digits)
        && shape.contains(|c: char| c.is_ascii_digit())
        && !shape.starts_with(['e', 'E'])
        && let Ok(number) = bare.parse::<f64>()
    {
        return ScalarKind::Float(number);
    }
    ScalarKind::Text
}

/// Returns a plain timestamp as kustomize writes it.
pub(super) fn point_in_time(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|it| it.iter().all(u8::is_ascii_digit));
    let date =
        digits(0..4) && bytes.get(4) == Some(&b'-') && digits(5..7) && bytes.get(7) == Some(&b'-') && digits(8..10);
    if !date {
        return None;
    }
    match bytes.len() {
        10 => Some(format!("{text}T00:00:00Z")),
        20 if bytes.last() == Some(&b'Z') => Some(text.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are the output of `kustomize build`.
    #[test]
    fn plain_scalars_are_read_as_kustomize_reads_them() {
        for (text, kind) in [
            ("0777", ScalarKind::Integer(511)),
            ("0o17", ScalarKind::Integer(15)),
            ("0x1F", ScalarKind::Integer(31)),
            ("1_000", ScalarKind::Integer(1000)),
            ("yes", ScalarKind::Text),
            ("1e3", ScalarKind::Float(1000.0)),
            (".5", ScalarKind::Float(0.5)),
            ("1:30", ScalarKind::Text),
            ("08", ScalarKind::Float(8.0)),
            ("+5", ScalarKind::Integer(5)),
            ("1.", ScalarKind::Float(1.0)),
            ("=", ScalarKind::Text),
            ("~", ScalarKind::Null),
            ("8Gi", ScalarKind::Text),
            ("-", ScalarKind::Text),
        ] {
            assert_eq!(kind_of(text), kind, "{text}");
        }
    }
}
