//! Implements `yamldecode` and `yamlencode`.
//!
//! This code uses the same parser as the Kubernetes front end and the rule files. Numbers, repeated keys, merges and
//! errors differ in all three, so they share only the loop over events.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::languages::hcl::value::{Data, Entries, Number, Value};
use crate::languages::yaml::scalar::{boolean, is_null};
use crate::languages::yaml::{BlockWriter, Members, MembersOf, TextStyle, Written, is_long_key};
use crate::source::{GoLines, ParserText, Span};

use super::encoding::encoded;
use super::{Arguments, Arity, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[("yamldecode", 1..=1, decode), ("yamlencode", 1..=1, encode)];

const NESTING_LIMIT: usize = 150;

fn decode(a: &Arguments<'_>) -> FunctionResult {
    let text = a.text(0)?;
    a.evaluator.budget.spend_reading(text.len())?;
    let Some(lines) = GoLines::of(&text) else { return read(a, &text, None) };
    let mut done = Err("there is no document".into());
    for reading in lines.readings() {
        done = read(a, &reading.text, Some((&lines, &reading)));
        if done.is_ok() {
            break;
        }
    }
    done
}

/// Parses a text. `lines` contains the original text, before its line breaks were converted for the parser.
fn read(a: &Arguments<'_>, text: &str, lines: Option<(&GoLines<'_>, &ParserText)>) -> FunctionResult {
    let mut kept = 0;
    let mut reader = Reader {
        place: a.verbatim(0).unwrap_or(DecodedPlace::Whole(a.span)),
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
        at_open_end: false,
    };
    let options = granit_parser::options! {
        block_nesting_limit: NESTING_LIMIT,
        flow_nesting_limit: NESTING_LIMIT,
    };
    for step in Parser::new_from_str_with_options(text, options) {
        let (event, at) =
            step.map_err(|error| FunctionFailure::Refused(format!("this is not valid YAML: {}", error.info())))?;
        let (start, end) = at.byte_range().map_or((0, 0), |range| (range.start, range.end));
        let event = match (event, lines) {
            (Event::Scalar(text, style, anchor, tag), Some((lines, reading))) => {
                if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
                    kept += reading.kept_in(start, end);
                }
                Event::Scalar(lines.meant(text, style, start, end), style, anchor, tag)
            }
            (event, _) => event,
        };
        reader.at_open_end = end == text.len() && !text.ends_with('\n');
        reader.take(&event, reader.place.span(start, end), a)?;
    }
    if lines.is_some_and(|(_, reading)| reading.kept() != kept) {
        return Err("a line ends inside quotes".into());
    }
    reader.root.ok_or_else(|| "there is no document".into())
}

/// The positions of decoded values.
#[derive(Clone, Copy)]
pub(super) enum DecodedPlace {
    /// The text is unchanged in a file, from this offset on.
    Verbatim(crate::source::FileId, usize),
    Whole(Span),
}

impl DecodedPlace {
    pub(super) fn span(self, start: usize, end: usize) -> Span {
        match self {
            DecodedPlace::Verbatim(file, base) => Span::new(file, base + start, base + end),
            DecodedPlace::Whole(span) => span,
        }
    }
}

struct Reader {
    place: DecodedPlace,
    open: Vec<Open>,
    anchors: HashMap<usize, Value>,
    root: Option<Value>,
    /// True if the event ends at the end of the text, and the text has no final line break.
    at_open_end: bool,
}

enum Open {
    List { span: Span, anchor: usize, items: Vec<Value> },
    Map { span: Span, anchor: usize, known: BTreeMap<Arc<str>, Value>, key: Option<Arc<str>> },
}

impl Reader {
    fn take(&mut self, event: &Event<'_>, span: Span, a: &Arguments<'_>) -> Result<(), FunctionFailure> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => Err("there is more than one document".into()),
            Event::Scalar(text, style, anchor, tag) => {
                let tagged = tag.as_ref().map(|tag| tag.suffix().to_string());
                let plain = *style == ScalarStyle::Plain;
                // A block at the end of the text ends with a line break only if the text ends with one.
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let text = if block && self.at_open_end { text.strip_suffix('\n').unwrap_or(text) } else { text };
                self.finish(scalar(text, plain, tagged.as_deref(), span)?, *anchor, a)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open.push(Open::List { span, anchor: *anchor, items: Vec::new() });
                Ok(())
            }
            Event::MappingStart(_, anchor, _) => {
                self.open.push(Open::Map { span, anchor: *anchor, known: BTreeMap::new(), key: None });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { span: from, anchor, items }) => {
                    self.finish(Value::tuple(items, from.to(span)), anchor, a)
                }
                Some(Open::Map { span: from, anchor, known, .. }) => {
                    self.finish(Value::object(Entries { known, rest: None }, from.to(span)), anchor, a)
                }
                None => Ok(()),
            },
            Event::Alias(id) => match self.anchors.get(id).cloned() {
                Some(value) => self.finish(value, 0, a),
                None => Err("an alias has no anchor".into()),
            },
            _ => Ok(()),
        }
    }

    /// Adds a finished value to its container.
    fn finish(&mut self, value: Value, anchor: usize, a: &Arguments<'_>) -> Result<(), FunctionFailure> {
        a.evaluator.budget.spend(1)?;
        a.evaluator.budget.spend_members(&value)?;
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Map { known, key, .. }) => match key.take() {
                None => *key = Some(value.as_text().ok_or("a key is not a string")?.as_ref().into()),
                Some(key) if &*key == "<<" => merge(known, &value),
                Some(key) => drop(known.insert(key, value)),
            },
        }
        Ok(())
    }
}

/// Merges `<<: *base`. Keys that are written next to it override the base.
fn merge(known: &mut BTreeMap<Arc<str>, Value>, bases: &Value) {
    for base in std::slice::from_ref(bases).iter().chain(bases.items()) {
        for (key, value) in base.entries().into_iter().flat_map(Entries::iter) {
            known.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// Converts a scalar: a plain one may be null, a boolean, a number or a time.
fn scalar(text: &str, plain: bool, tag: Option<&str>, span: Span) -> Result<Value, FunctionFailure> {
    match tag {
        Some("str") => return Ok(Value::text(text, span)),
        Some("int" | "float") => {
            return Number::parse(text).map(|n| Value::number(n, span)).ok_or_else(|| "this is not a number".into());
        }
        Some("null" | "bool" | "timestamp" | "!") | None => {}
        Some(other) => return Err(format!("Terraform does not support the tag `{other}`").into()),
    }
    if !plain {
        return Ok(Value::text(text, span));
    }
    if let Some(flag) = boolean(text) {
        return Ok(Value::bool(flag, span));
    }
    Ok(match text {
        _ if is_null(text) => Value::null(span),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "-.inf" | ".nan" | ".NaN" | ".NAN" => {
            return Err("a number is infinite or not a number".into());
        }
        _ => match number(text) {
            Some(number) => Value::number(number, span),
            None => Value::text(super::time::normalized(text).unwrap_or_else(|| text.to_owned()), span),
        },
    })
}

fn number(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let radix = match digits.get(..2) {
        Some("0x") => Some(16),
        Some("0o") => Some(8),
        _ => None,
    };
    let number = match radix {
        Some(radix) => Number::integer(i64::from_str_radix(digits.get(2..)?, radix).ok()?),
        None => Number::parse(digits)?,
    };
    Some(if negative { number.negated() } else { number })
}

fn encode(a: &Arguments<'_>) -> FunctionResult {
    let write = |value: &Value| {
        let mut text = Encoded(String::new());
        text.document(&value)?;
        let is_open = matches!(value.data, Data::Null | Data::Bool(_) | Data::Number(_));
        Ok(text.0 + if is_open { "\n...\n" } else { "\n" })
    };
    a.answer(encoded(a, write)?)
}

/// Writes YAML like Terraform's library: all strings in quotes, or as a block.
struct Encoded(String);

impl<'v> BlockWriter<&'v Value> for Encoded {
    type Key = &'v str;
    type Failure = FunctionFailure;

    fn put(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn members(&mut self, value: &&'v Value, _: usize, _: usize) -> MembersOf<Self, &'v Value> {
        Ok(match &value.data {
            Data::List(items) | Data::Set(items) | Data::Tuple(items) if !items.is_empty() => {
                Some(Members::List(items.iter().collect()))
            }
            Data::Map(entries) | Data::Object(entries) if !entries.known.is_empty() => {
                if let Some(cause) = &entries.rest {
                    return Err(cause.clone().into());
                }
                Some(Members::Map(entries.iter().map(|(key, member)| (&**key, member)).collect()))
            }
            _ => None,
        })
    }

    fn is_long(&self, key: &&str) -> bool {
        is_long_key(key)
    }

    fn key(&mut self, key: &&str, indent: usize) -> Result<(), FunctionFailure> {
        self.text(key, indent, !is_long_key(key));
        Ok(())
    }

    fn scalar(&mut self, value: &&Value, indent: usize) -> Result<(), FunctionFailure> {
        match &value.data {
            Data::Unknown(cause) => return Err(cause.clone().into()),
            Data::Null => self.put("null"),
            Data::Bool(flag) => self.put(if *flag { "true" } else { "false" }),
            Data::Number(number) => self.put(&number.to_string()),
            Data::Text(text) => self.text(text, indent, false),
            Data::List(_) | Data::Set(_) | Data::Tuple(_) => self.put("[]"),
            Data::Map(_) | Data::Object(_) => self.put("{}"),
        }
        Ok(())
    }
}

impl Encoded {
    fn text(&mut self, text: &str, indent: usize, is_key: bool) {
        let style = TextStyle::of(text, is_key, false);
        self.0.push_str(style.quote());
        let column = self.0.rsplit('\n').next().unwrap_or_default().chars().count();
        style.write(text, column, (!is_key).then_some(indent + 2), &mut |written| match written {
            Written::Slice(from, to) => self.0.push_str(&text[from..to]),
            Written::Escape(_, made) | Written::Made(made) => self.0.push_str(made),
        });
        self.0.push_str(style.quote());
    }
}
