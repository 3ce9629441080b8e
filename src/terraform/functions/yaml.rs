//! Implements `yamldecode` and `yamlencode`.
//!
//! This code uses the same parser as the Kubernetes front end and the rule files. Numbers, repeated keys, merges and
//! errors differ in all three, so they share only the loop over events.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::languages::hcl::value::{HclData, HclNumber, HclValue, ObjectMembers};
use crate::languages::yaml::scalar::{boolean, is_null};
use crate::languages::yaml::{BlockWriter, Members, MembersOf, TextStyle, Written, is_long_key};
use crate::source::{GoLines, ParserText, Span};

use super::encoding::encoded;
use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[("yamldecode", 1..=1, decode), ("yamlencode", 1..=1, encode)];

const NESTING_LIMIT: usize = 150;

fn decode(a: &CallArguments<'_>) -> FunctionResult {
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
fn read(a: &CallArguments<'_>, text: &str, lines: Option<(&GoLines<'_>, &ParserText)>) -> FunctionResult {
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
    anchors: HashMap<usize, HclValue>,
    root: Option<HclValue>,
    /// True if the event ends at the end of the text, and the text has no final line break.
    at_open_end: bool,
}

enum Open {
    List { span: Span, anchor: usize, items: Vec<HclValue> },
    Map { span: Span, anchor: usize, known: BTreeMap<Arc<str>, HclValue>, key: Option<Arc<str>> },
}

impl Reader {
    fn take(&mut self, event: &Event<'_>, span: Span, a: &CallArguments<'_>) -> Result<(), FunctionFailure> {
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
                    self.finish(HclValue::tuple(items, from.to(span)), anchor, a)
                }
                Some(Open::Map { span: from, anchor, known, .. }) => {
                    self.finish(HclValue::object(ObjectMembers { known, rest: None }, from.to(span)), anchor, a)
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
    fn finish(&mut self, value: HclValue, anchor: usize, a: &CallArguments<'_>) -> Result<(), FunctionFailure> {
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
fn merge(known: &mut BTreeMap<Arc<str>, HclValue>, bases: &HclValue) {
    for base in std::slice::from_ref(bases).iter().chain(bases.items()) {
        for (key, value) in base.entries().into_iter().flat_map(ObjectMembers::iter) {
            known.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// Converts a scalar: a plain one may be null, a boolean, a number or a time.
fn scalar(text: &str, plain: bool, tag: Option<&str>, span: Span) -> Result<HclValue, FunctionFailure> {
    match tag {
        Some("str") => return Ok(HclValue::text(text, span)),
        Some("int" | "float") => {
            return HclNumber::parse(text)
                .map(|n| HclValue::number(n, span))
                .ok_or_else(|| "this is not a number".into());
        }
        Some("null" | "bool" | "timestamp" | "!") | None => {}
        Some(other) => return Err(format!("Terraform does not support the tag `{other}`").into()),
    }
    if !plain {
        return Ok(HclValue::text(text, span));
    }
    if let Some(flag) = boolean(text) {
        return Ok(HclValue::bool(flag, span));
    }
    Ok(match text {
        _ if is_null(text) => HclValue::null(span),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "-.inf" | ".nan" | ".NaN" | ".NAN" => {
            return Err("a number is infinite or not a number".into());
        }
        _ => match number(text) {
            Some(number) => HclValue::number(number, span),
            None => HclValue::text(super::time::normalized(text).unwrap_or_else(|| text.to_owned()), span),
        },
    })
}

fn number(text: &str) -> Option<HclNumber> {
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
        Some(radix) => HclNumber::integer(i64::from_str_radix(digits.get(2..)?, radix).ok()?),
        None => HclNumber::parse(digits)?,
    };
    Some(if negative { number.negated() } else { number })
}

fn encode(a: &CallArguments<'_>) -> FunctionResult {
    let write = |value: &HclValue| {
        let mut text = Encoded(String::new());
        text.document(&value)?;
        let is_open = matches!(value.data, HclData::Null | HclData::Bool(_) | HclData::Number(_));
        Ok(text.0 + if is_open { "\n...\n" } else { "\n" })
    };
    a.answer(encoded(a, write)?)
}

/// Writes YAML like Terraform's library: all strings in quotes, or as a block.
struct Encoded(String);

impl<'v> BlockWriter<&'v HclValue> for Encoded {
    type Key = &'v str;
    type Failure = FunctionFailure;

    fn put(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn members(&mut self, value: &&'v HclValue, _: usize, _: usize) -> MembersOf<Self, &'v HclValue> {
        Ok(match &value.data {
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) if !items.is_empty() => {
                Some(Members::List(items.iter().collect()))
            }
            HclData::Map(entries) | HclData::Object(entries) if !entries.known.is_empty() => {
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

    fn scalar(&mut self, value: &&HclValue, indent: usize) -> Result<(), FunctionFailure> {
        match &value.data {
            HclData::Unknown(cause) => return Err(cause.clone().into()),
            HclData::Null => self.put("null"),
            HclData::Bool(flag) => self.put(if *flag { "true" } else { "false" }),
            HclData::Number(number) => self.put(&number.to_string()),
            HclData::Text(text) => self.text(text, indent, false),
            HclData::List(_) | HclData::Set(_) | HclData::Tuple(_) => self.put("[]"),
            HclData::Map(_) | HclData::Object(_) => self.put("{}"),
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
