//! Writes a document as text, with the place to edit for every key and value.

use std::borrow::Cow;
use std::convert::Infallible;

use crate::languages::yaml::{self, BlockWriter, Members, MembersOf};
use crate::source::{Segment, SourceFiles, Span};

use super::value::{MapField, ObjectData, ObjectValue, ScalarKind, point_in_time};

/// The text of a document.
#[derive(Debug, Default)]
pub(super) struct Emitted {
    pub text: String,
    /// Start, length and origin of each piece, in the order of the text.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    start: usize,
    length: usize,
    at: Span,
}

impl Emitted {
    pub(super) fn of(value: &ObjectValue, head: Span) -> Emitted {
        let mut emitted = Emitted::default();
        emitted.pieces.push(Piece { start: 0, length: 0, at: head });
        match emitted.document(&value) {
            Ok(()) => emitted.text.push('\n'),
            Err(never) => match never {},
        }
        emitted
    }

    /// Returns the origins of the pieces. A piece that is written literally at its origin can be edited there.
    pub(super) fn segments(&self, sources: &SourceFiles) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let text = self.text.get(piece.start..piece.start + piece.length).unwrap_or_default();
            let linear = piece.length > 0
                && (piece.at.end - piece.at.start) as usize == piece.length
                && sources.snippet(piece.at) == text;
            let start = u32::try_from(piece.start).unwrap_or(u32::MAX);
            let segment = Segment { start, origin: piece.at, linear };
            match segments.last_mut() {
                // The place of the document's head stays at its first key.
                Some(last) if last.start == start && start > 0 => *last = segment,
                Some(last) if last.start == start => {}
                _ => segments.push(segment),
            }
        }
        segments
    }

    fn mark(&mut self, start: usize, at: Span) {
        self.pieces.push(Piece { start, length: self.text.len() - start, at });
    }
}

impl<'v> BlockWriter<&'v ObjectValue> for Emitted {
    type Key = &'v MapField;
    type Failure = Infallible;

    const LIST_INDENT: usize = 2;

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn members(&mut self, value: &&'v ObjectValue, _: usize, _: usize) -> MembersOf<Self, &'v ObjectValue> {
        Ok(match &value.data {
            ObjectData::Map(fields) if !fields.is_empty() => {
                Some(Members::Map(fields.iter().map(|field| (field, &field.value)).collect()))
            }
            ObjectData::List(items) if !items.is_empty() => Some(Members::List(items.iter().collect())),
            _ => None,
        })
    }

    fn key(&mut self, field: &&MapField, _: usize) -> Result<(), Infallible> {
        let start = self.text.len();
        self.text.push_str(&written(&field.key));
        let at = match is_collection(&field.value) {
            true => field.key_at,
            // A value from another file is edited in that file.
            false if field.key_at.file != field.value.at.file => field.value.at,
            false if field.value.at.start < field.key_at.start => field.value.at,
            false => field.key_at.to(field.value.at),
        };
        self.mark(start, at);
        Ok(())
    }

    fn scalar(&mut self, value: &&ObjectValue, _: usize) -> Result<(), Infallible> {
        let start = self.text.len();
        let shown = match &value.data {
            ObjectData::Map(_) => "{}".into(),
            ObjectData::List(_) => "[]".into(),
            ObjectData::Scalar { text, plain } => match value.kind() {
                ScalarKind::Null => "null".into(),
                ScalarKind::Flag(flag) => flag.to_string().into(),
                ScalarKind::Integer(number) => number.to_string().into(),
                ScalarKind::Float(number) => float(number).into(),
                ScalarKind::Text => match plain.then(|| point_in_time(text)).flatten() {
                    Some(time) => written(&time).into_owned().into(),
                    None => written(text),
                },
            },
        };
        self.text.push_str(&shown);
        self.mark(start, value.at);
        Ok(())
    }
}

/// Converts the document to JSON.
pub(super) fn json(value: &ObjectValue) -> serde_json::Value {
    match &value.data {
        ObjectData::Map(fields) => fields.iter().map(|field| (field.key.to_string(), json(&field.value))).collect(),
        ObjectData::List(items) => items.iter().map(json).collect(),
        ObjectData::Scalar { text, plain } => match value.kind() {
            ScalarKind::Null => serde_json::Value::Null,
            ScalarKind::Flag(flag) => flag.into(),
            ScalarKind::Integer(number) => match i64::try_from(number) {
                Ok(number) => number.into(),
                Err(_) => (number as f64).into(),
            },
            ScalarKind::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => (number as i64).into(),
            ScalarKind::Float(number) => number.into(),
            ScalarKind::Text => {
                plain.then(|| point_in_time(text)).flatten().map_or_else(|| (**text).into(), Into::into)
            }
        },
    }
}

/// Returns true if it is written over several lines.
fn is_collection(value: &ObjectValue) -> bool {
    match &value.data {
        ObjectData::Map(fields) => !fields.is_empty(),
        ObjectData::List(items) => !items.is_empty(),
        ObjectData::Scalar { .. } => false,
    }
}

fn float(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{number:.0}");
    }
    let text = format!("{number}");
    if text.len() > 24 { format!("{number:e}") } else { text }
}

/// Writes a string that every YAML parser reads as a string.
fn written(text: &str) -> Cow<'_, str> {
    if is_bare(text) { text.into() } else { yaml::quoted(text).into() }
}

fn is_bare(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+');
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '_');
    // A colon needs no quotes if no space follows and it is not the last character.
    let colon_free = |c: char| inner(c) || c == ':';
    text.starts_with(first)
        && text.chars().all(colon_free)
        && !text.ends_with(':')
        && yaml::scalar::boolean(text).is_none()
        && !yaml::scalar::is_null(text)
}
