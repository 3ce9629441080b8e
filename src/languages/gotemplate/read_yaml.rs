//! Parses YAML as `sigs.k8s.io/yaml` does: numbers are floats, `yes` is true, keys are strings.

use std::sync::Arc;

use crate::languages::yaml::{self, Node, NodeData};
use crate::source::{FileId, SourceFiles, Span};

use super::evaluate::PARSED;
use super::failure::TemplateFailure;
use super::numbers;
use super::text::{TemplateCause, Text, TextOrigin};
use super::value::{GoKind, GoValue, Heap, MapEntries, MapEntry};

/// Maps a part of the text to its origin.
type Place<'p> = &'p dyn Fn(Span) -> Option<TextOrigin>;

struct Reader<'r> {
    text: &'r str,
    place: Place<'r>,
    heap: &'r Heap,
    /// The source files, if the text may contain parts of others.
    elsewhere: Option<(&'r SourceFiles, FileId)>,
}

/// Returns the value of a parsed file.
pub(crate) fn of_node(sources: &SourceFiles, node: &Node, heap: &Heap) -> Result<GoValue, TemplateFailure> {
    let text = sources.text(node.span.file);
    let linear = |span: Span| Some(TextOrigin { span, linear: true });
    Reader { text: &text, place: &linear, heap, elsewhere: Some((sources, node.span.file)) }.value(node, 0)
}

fn of_text(text: &Text, heap: &Heap) -> Result<GoValue, TemplateFailure> {
    heap.fits(text.len().saturating_mul(PARSED))?;
    heap.spend(text.len() * 2)?;
    let place = |span: Span| {
        text.origin_at(span.start as usize).map(|origin| match text.span_of(span.start as usize, span.end as usize) {
            Some(span) => TextOrigin { span, ..origin },
            None => origin,
        })
    };
    Reader { text: text.as_str(), place: &place, heap, elsewhere: None }.document(heap.file())
}

/// Implements `fromYaml`. If the text is invalid, the mapping contains the error message.
pub(super) fn mapping(text: &Text, heap: &Heap) -> Result<GoValue, TemplateFailure> {
    let wrong = |why: String| heap.map(super::evaluate::entries([("Error".to_owned(), why.into())]));
    Ok(match of_text(text, heap) {
        Ok(value @ GoValue { kind: GoKind::Map(_), .. }) => value,
        Ok(value) if value.is_nil() => heap.map(MapEntries::new()),
        Ok(value) => {
            let name = value.json_name();
            wrong(format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {name} into Go value of type map[string]interface {{}}"
            ))
        }
        Err(TemplateFailure::Refused(why)) => wrong(why),
        Err(other) => return Err(other),
    })
}

/// Implements `fromYamlArray`.
pub(super) fn list(text: &Text, heap: &Heap) -> Result<GoValue, TemplateFailure> {
    match of_text(text, heap) {
        Ok(value @ GoValue { kind: GoKind::List(_), .. }) => Ok(value),
        Ok(value) if value.is_nil() => heap.list(Vec::new()),
        Ok(other) => {
            let name = other.json_name();
            let why = format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {name} into Go value of type []interface {{}}"
            );
            heap.list(vec![why.into()])
        }
        Err(TemplateFailure::Refused(why)) => heap.list(vec![why.into()]),
        Err(other) => Err(other),
    }
}

impl Reader<'_> {
    fn document(&self, file: FileId) -> Result<GoValue, TemplateFailure> {
        let Some(range) = yaml::documents(self.text).into_iter().next() else { return Ok(GoValue::nil()) };
        let piece = self.text.get(range.clone()).unwrap_or_default();
        let stream = yaml::read(file, piece);
        if let Some(wrong) = stream.diagnostics.iter().find(|it| it.unreadable) {
            return Err(format!("error converting YAML to JSON: yaml: {}", wrong.message).into());
        }
        match stream.documents.first() {
            Some(document) => self.value(&document.root, u32::try_from(range.start).unwrap_or(0)),
            None => Ok(GoValue::nil()),
        }
    }

    /// Converts a node to a value. `by` is the start of the document.
    fn value(&self, node: &Node, by: u32) -> Result<GoValue, TemplateFailure> {
        if let Some((sources, file)) = self.elsewhere
            && node.span.file != file
        {
            return of_node(sources, node, self.heap);
        }
        let span =
            Span { start: node.span.start.saturating_add(by), end: node.span.end.saturating_add(by), ..node.span };
        let value: GoValue = match &node.data {
            NodeData::List(items) => {
                let items: Result<Vec<GoValue>, TemplateFailure> =
                    items.iter().map(|item| self.value(item, by)).collect();
                self.heap.list(items?)?
            }
            NodeData::Map(entries) => {
                let mut all = MapEntries::new();
                for entry in entries.iter() {
                    let at = Span { start: entry.key_span.start + by, end: entry.key_span.end + by, ..entry.key_span };
                    let key = self.key(&entry.key, at);
                    let place = self.exact(at, &key);
                    all.insert(key, MapEntry { key: place, value: self.value(&entry.value, by)? });
                }
                self.heap.spend(0)?;
                self.heap.map(all)
            }
            NodeData::Scalar { text, plain } => {
                if let Some((name, why)) = yaml::unknown(text) {
                    let kind = GoKind::Unknown(TemplateCause::new(name, why));
                    return Ok(GoValue { kind, origin: (self.place)(span).map(|it| TextOrigin::whole(it.span)) });
                }
                let kind = scalar(text, *plain);
                let shown: &str = text;
                return Ok(GoValue { kind, origin: self.exact(span, shown) });
            }
        };
        Ok(GoValue { origin: (self.place)(span).map(|origin| TextOrigin::whole(origin.span)), ..value })
    }

    /// Converts a key. Every key becomes a string.
    fn key(&self, text: &Arc<str>, span: Span) -> Arc<str> {
        let is_quoted = self.text.get(span.range()).is_some_and(|raw| raw.starts_with(['"', '\'']));
        if is_quoted {
            return text.clone();
        }
        match scalar(text, true) {
            GoKind::Flag(flag) => flag.to_string().into(),
            GoKind::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => (number as i64).to_string().into(),
            GoKind::Float(number) => numbers::general(number, 6).into(),
            _ => text.clone(),
        }
    }

    /// Returns the place of a scalar, byte by byte if it has no escapes.
    fn exact(&self, span: Span, text: &str) -> Option<TextOrigin> {
        let raw = self.text.get(span.range()).unwrap_or_default();
        let origin = (self.place)(span)?;
        if !origin.linear || raw == text {
            return Some(origin);
        }
        let inner =
            raw.get(1..raw.len().saturating_sub(1)).filter(|inner| raw.starts_with(['"', '\'']) && *inner == text);
        match inner {
            Some(_) if raw.len() == text.len() + 2 => {
                let (start, end) = (origin.span.start + 1, origin.span.end.saturating_sub(1));
                Some(TextOrigin { span: Span { start, end: end.max(start), ..origin.span }, linear: true })
            }
            _ => Some(TextOrigin::whole(origin.span)),
        }
    }
}

/// Returns the value of a scalar.
pub(crate) fn scalar(text: &str, plain: bool) -> GoKind {
    if !plain {
        return GoKind::Text(text.into());
    }
    if yaml::scalar::is_null(text) {
        return GoKind::Nil;
    }
    if let Some(flag) = yaml::scalar::boolean(text) {
        return GoKind::Flag(flag);
    }
    match yaml::scalar::number(text) {
        Some(number) => GoKind::Float(number),
        None => GoKind::Text(text.into()),
    }
}
