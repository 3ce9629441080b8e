//! Writes YAML byte for byte as `sigs.k8s.io/yaml` does, because checksums in charts depend on it.

use crate::languages::go;
use crate::languages::yaml::{BlockWriter, Members, MembersOf, TextStyle, Written, is_long_key};

use super::failure::TemplateFailure;
use super::numbers;
use super::text::{Text, TextOrigin, TextWriter};
use super::value::{GoKind, GoValue, Heap};

const DEEPEST: usize = 64;
pub(crate) fn write(value: &GoValue, heap: &Heap) -> Result<Text, TemplateFailure> {
    let mut emitter = Emitter { writer: TextWriter::default(), heap };
    emitter.document(value)?;
    Ok(emitter.writer.finish())
}

struct Emitter<'h> {
    writer: TextWriter,
    heap: &'h Heap,
}

impl BlockWriter<GoValue> for Emitter<'_> {
    type Key = Text;
    type Failure = TemplateFailure;

    fn put(&mut self, text: &str) {
        self.writer.push(text, None);
    }

    fn members(&mut self, value: &GoValue, indent: usize, depth: usize) -> MembersOf<Self, GoValue> {
        let value = &self.simple(value);
        let members = match &value.kind {
            GoKind::Map(map) if !map.is_empty() => {
                let entries = map.borrow();
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by(|a, b| order(a.0, b.0));
                let key = |key: &str, at: Option<TextOrigin>| at.map_or_else(|| key.into(), |at| Text::at(key, at));
                Members::Map(entries.iter().map(|(name, it)| (key(name, it.key), it.value.clone())).collect())
            }
            GoKind::List(list) if !list.items().is_empty() => {
                self.heap.spend(list.items().len() * (indent + 2))?;
                Members::List(list.items().to_vec())
            }
            _ => return Ok(None),
        };
        match depth > DEEPEST {
            true => Err(TemplateFailure::Budget("values are nested too deeply")),
            false => Ok(Some(members)),
        }
    }

    fn is_long(&self, key: &Text) -> bool {
        is_long_key(key.as_str())
    }

    fn key(&mut self, key: &Text, indent: usize) -> Result<(), TemplateFailure> {
        self.heap.spend(key.len() + indent)?;
        self.text(key, indent, !self.is_long(key));
        Ok(())
    }

    fn scalar(&mut self, value: &GoValue, indent: usize) -> Result<(), TemplateFailure> {
        let value = &self.simple(value);
        let shown = match &value.kind {
            GoKind::Text(_) => {
                let text = value.text().unwrap_or_else(|| "".into());
                self.heap.spend(text.len())?;
                self.text(&text, indent, false);
                return Ok(());
            }
            GoKind::Unknown(cause) => {
                self.writer.push_hole(cause, value.origin);
                return Ok(());
            }
            GoKind::Nil | GoKind::NilInside => "null".to_owned(),
            GoKind::Flag(flag) => flag.to_string(),
            GoKind::Int(number) | GoKind::Int64(number) => number.to_string(),
            GoKind::Float(number) => float(*number),
            GoKind::Map(_) => "{}".to_owned(),
            GoKind::List(_) | GoKind::Object(_) => "[]".to_owned(),
        };
        let exact = value.origin.filter(|origin| origin.linear && origin.span.range().len() == shown.len());
        let origin = exact.or(value.origin.map(|origin| TextOrigin { linear: false, ..origin }));
        self.writer.push(&shown, origin);
        Ok(())
    }
}

impl Emitter<'_> {
    fn simple(&self, value: &GoValue) -> GoValue {
        match &value.kind {
            GoKind::Object(object) => object.plain(self.heap),
            _ => value.clone(),
        }
    }

    fn text(&mut self, text: &Text, indent: usize, is_key: bool) {
        let (all, has_holes) = (text.as_str(), !text.holes().is_empty());
        let style = if has_holes { TextStyle::with_holes(all, is_key) } else { TextStyle::of(all, is_key, true) };
        self.writer.push(style.quote(), text.origin_of_quotes());
        let line = self.writer.as_str().rsplit('\n').next().unwrap_or_default();
        let is_whole = is_key || has_holes && style == TextStyle::Plain;
        style.write(all, line.chars().count(), (!is_whole).then_some(indent + 2), &mut |written| match written {
            Written::Slice(from, to) => self.writer.push_slice(text, from, to, None),
            Written::Escape(at, escape) => {
                self.writer.push(escape, text.origin_at(at).map(|origin| TextOrigin { linear: false, ..origin }));
            }
            Written::Made(made) => self.writer.push(made, None),
        });
        self.writer.push(style.quote(), None);
    }
}

fn float(number: f64) -> String {
    let json = numbers::json(number);
    match json.parse::<i64>().is_ok() || json.parse::<u64>().is_ok() {
        true => json,
        false => numbers::general(number, 6),
    }
}

/// Compares keys: numbers in keys by value, letters after other characters.
fn order(a: &str, b: &str) -> std::cmp::Ordering {
    use std::cmp::Ordering;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
    let (Some(&first), Some(&second)) = (a.get(at), b.get(at)) else { return Ordering::Equal };
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => return first.cmp(&second),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let before = a.get(..at).unwrap_or_default().iter().rev().take_while(|letter| letter.is_ascii_digit());
    let inside = (first == '0' || second == '0') && before.into_iter().any(|digit| *digit != '0');
    let digits = |letters: &[char]| {
        let run = letters.get(at..).unwrap_or_default().iter().take_while(|letter| letter.is_ascii_digit());
        let start = i64::from(inside);
        run.fold((start, 0), |(sum, count), digit| {
            (sum.wrapping_mul(10).wrapping_add(i64::from(digit.to_digit(10).unwrap_or(0))), count + 1)
        })
    };
    let (x, y) = (digits(&a), digits(&b));
    x.0.cmp(&y.0).then(x.1.cmp(&y.1)).then(first.cmp(&second))
}

/// Writes values as JSON; `indent` is the indentation per level, or `None` for one line.
pub(super) fn json(
    value: &GoValue,
    indent: Option<&str>,
    for_pages: bool,
    heap: &Heap,
) -> Result<Text, TemplateFailure> {
    let mut writer = TextWriter::default();
    let format = Json { indent, for_pages, heap };
    format.value(value, 0, &mut writer)?;
    Ok(writer.finish())
}

struct Json<'f> {
    indent: Option<&'f str>,
    for_pages: bool,
    heap: &'f Heap,
}

impl Json<'_> {
    fn line(&self, depth: usize, writer: &mut TextWriter) {
        if let Some(indent) = self.indent {
            writer.push("\n", None);
            writer.push(&indent.repeat(depth), None);
        }
    }

    fn string(&self, text: &str, origin: Option<TextOrigin>, writer: &mut TextWriter) {
        let mut out = String::new();
        go::json(text, self.for_pages, &mut out);
        writer.push(&out, origin.map(|origin| TextOrigin { linear: false, ..origin }));
    }

    fn value(&self, value: &GoValue, depth: usize, writer: &mut TextWriter) -> Result<(), TemplateFailure> {
        if depth > DEEPEST {
            return Err(TemplateFailure::Budget("values are nested too deeply"));
        }
        self.heap.spend(2 * depth + 8)?;
        match &value.kind {
            GoKind::Nil | GoKind::NilInside => writer.push("null", value.origin),
            GoKind::Flag(flag) => writer.push(&flag.to_string(), value.origin),
            GoKind::Int(number) | GoKind::Int64(number) => writer.push(&number.to_string(), value.origin),
            GoKind::Float(number) => writer.push(&numbers::json(*number), value.origin),
            GoKind::Text(text) => {
                self.heap.spend(text.len())?;
                let whole = text.holes().iter().any(|hole| hole.start == 0 && hole.end == text.len());
                match (whole, text.hole()) {
                    (true, Some(cause)) => {
                        writer.push("\"", None);
                        writer.push_hole(cause, value.place());
                        writer.push("\"", None);
                    }
                    (false, Some(cause)) => return Err(TemplateFailure::Unknown(cause.clone())),
                    _ => self.string(text.as_str(), value.place(), writer),
                }
            }
            GoKind::Unknown(cause) => {
                writer.push("\"", None);
                writer.push_hole(cause, value.origin);
                writer.push("\"", None);
            }
            GoKind::Object(object) => self.value(&object.plain(self.heap), depth + 1, writer)?,
            GoKind::List(list) if list.items().is_empty() => writer.push("[]", value.origin),
            GoKind::List(list) => {
                writer.push("[", None);
                for (number, item) in list.items().iter().enumerate() {
                    writer.push(if number > 0 { "," } else { "" }, None);
                    self.line(depth + 1, writer);
                    self.value(item, depth + 1, writer)?;
                }
                self.line(depth, writer);
                writer.push("]", None);
            }
            GoKind::Map(map) if map.is_empty() => writer.push("{}", value.origin),
            GoKind::Map(map) => {
                writer.push("{", None);
                for (number, (key, entry)) in map.borrow().iter().enumerate() {
                    writer.push(if number > 0 { "," } else { "" }, None);
                    self.line(depth + 1, writer);
                    self.string(key, entry.key, writer);
                    writer.push(if self.indent.is_some() { ": " } else { ":" }, None);
                    self.value(&entry.value, depth + 1, writer)?;
                }
                self.line(depth, writer);
                writer.push("}", None);
            }
        }
        Ok(())
    }
}
