//! A document → text, and for every key and value in it the place that a person would change.

use crate::source::{Segment, Sources, Span};

use super::value::{Field, ObjectData, ObjectValue, ScalarKind, point_in_time};

/// Text made of a document.
#[derive(Debug, Default)]
pub(super) struct Emitted {
    pub text: String,
    /// Where each piece starts, how long it is, and where it comes from, in the order of the text.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    start: usize,
    length: usize,
    at: Span,
}

impl Emitted {
    pub(super) fn document(value: &ObjectValue, head: Span) -> Emitted {
        let mut emitted = Emitted::default();
        emitted.pieces.push(Piece { start: 0, length: 0, at: head });
        emitted.value(value, 0, false);
        emitted
    }

    /// Where the pieces come from. Pieces that are written as they stand there can be changed there.
    pub(super) fn segments(&self, sources: &Sources) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let text = self.text.get(piece.start..piece.start + piece.length).unwrap_or_default();
            let linear = piece.length > 0
                && (piece.at.end - piece.at.start) as usize == piece.length
                && sources.snippet(piece.at) == text;
            let start = u32::try_from(piece.start).unwrap_or(u32::MAX);
            let segment = Segment { start, origin: piece.at, linear };
            match segments.last_mut() {
                // The head of the document stays where its first key is.
                Some(last) if last.start == start && start > 0 => *last = segment,
                Some(last) if last.start == start => {}
                _ => segments.push(segment),
            }
        }
        segments
    }

    fn value(&mut self, value: &ObjectValue, depth: usize, inline: bool) {
        match &value.data {
            ObjectData::Map(fields) if !fields.is_empty() => {
                for (number, field) in fields.iter().enumerate() {
                    if number > 0 || !inline {
                        self.indent(depth);
                    }
                    self.field(field, depth);
                }
            }
            ObjectData::List(items) if !items.is_empty() => {
                for (number, item) in items.iter().enumerate() {
                    if number > 0 || !inline {
                        self.indent(depth);
                    }
                    self.text.push_str("- ");
                    if is_collection(item) {
                        self.value(item, depth + 1, true);
                    } else {
                        self.scalar(item);
                        self.text.push('\n');
                    }
                }
            }
            _ => {
                self.scalar(value);
                self.text.push('\n');
            }
        }
    }

    fn field(&mut self, field: &Field, depth: usize) {
        let start = self.text.len();
        write_text(&field.key, &mut self.text);
        let length = self.text.len() - start;
        let at = match is_collection(&field.value) {
            true => field.key_at,
            // A value that came from elsewhere is changed there.
            false if field.key_at.file != field.value.at.file => field.value.at,
            false if field.value.at.start < field.key_at.start => field.value.at,
            false => field.key_at.to(field.value.at),
        };
        self.pieces.push(Piece { start, length, at });
        self.text.push(':');
        if is_collection(&field.value) {
            self.text.push('\n');
            self.value(&field.value, depth + 1, false);
        } else {
            self.text.push(' ');
            self.scalar(&field.value);
            self.text.push('\n');
        }
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    fn scalar(&mut self, value: &ObjectValue) {
        let start = self.text.len();
        match &value.data {
            ObjectData::Map(_) => self.text.push_str("{}"),
            ObjectData::List(_) => self.text.push_str("[]"),
            ObjectData::Scalar { text, plain } => match value.kind() {
                ScalarKind::Null => self.text.push_str("null"),
                ScalarKind::Flag(flag) => self.text.push_str(if flag { "true" } else { "false" }),
                ScalarKind::Integer(number) => self.text.push_str(&number.to_string()),
                ScalarKind::Float(number) => self.text.push_str(&float(number)),
                ScalarKind::Text => match plain.then(|| point_in_time(text)).flatten() {
                    Some(time) => write_text(&time, &mut self.text),
                    None => write_text(text, &mut self.text),
                },
            },
        }
        let length = self.text.len() - start;
        self.pieces.push(Piece { start, length, at: value.at });
    }
}

/// The document as JSON.
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

/// Written over several lines.
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

/// A text that every reader of YAML takes for a text.
fn write_text(text: &str, out: &mut String) {
    if is_bare(text) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{85}') => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn is_bare(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+');
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '_');
    // A colon is harmless where no blank follows and it is not the last.
    let colon_free = |c: char| inner(c) || c == ':';
    text.starts_with(first)
        && text.chars().all(colon_free)
        && !text.ends_with(':')
        && crate::languages::yaml::scalar::boolean(text).is_none()
        && !crate::languages::yaml::scalar::is_null(text)
}
