//! YAML as `yamldecode` and `yamlencode` read and write it.
//!
//! Takes the events of the parser that the Kubernetes front end and the rule pages use, and shares no more with them than
//! a few words: what a number is, what a repeated key or a merge does, and what a mistake leads to is another thing in
//! each of the three. What they have in common is a loop over events.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::languages::hcl::value::{Data, Entries, Number, Value};
use crate::languages::yaml::scalar::{boolean, is_null};
use crate::source::{GoLines, ParserText, Span};

use super::encoding::encoded;
use super::{Arguments, Arity, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[("yamldecode", 1..=1, decode), ("yamlencode", 1..=1, encode)];

const NESTING_LIMIT: usize = 150;
/// Where the YAML library of Terraform folds long text.
const BEST_WIDTH: usize = 80;
/// Longer keys are written in another form.
const LONGEST_KEY: usize = 120;

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

/// `lines`: what the text was before it had lines that every parser knows.
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
            step.map_err(|error| FunctionFailure::Refused(format!("this is no YAML: {}", error.info())))?;
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
        return Err("a line ends within quotes".into());
    }
    reader.root.ok_or_else(|| "there is no document".into())
}

/// Where decoded values stand.
#[derive(Clone, Copy)]
pub(super) enum DecodedPlace {
    /// Byte for byte in a file, from this offset on.
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
    /// The event ends where the text does, and the text does not end with a line break.
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
                // A block that ends with the text has a line break at its end only where the text has one.
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

    /// Puts a finished value where it belongs.
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
                None => *key = Some(value.as_text().ok_or("a key is no string")?.as_ref().into()),
                Some(key) if &*key == "<<" => merge(known, &value),
                Some(key) => drop(known.insert(key, value)),
            },
        }
        Ok(())
    }
}

/// `<<: *base`: what is written beside it counts more.
fn merge(known: &mut BTreeMap<Arc<str>, Value>, bases: &Value) {
    for base in std::slice::from_ref(bases).iter().chain(bases.items()) {
        for (key, value) in base.entries().into_iter().flat_map(Entries::iter) {
            known.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// What a scalar is: a plain one may be null, a boolean, a number or a time.
fn scalar(text: &str, plain: bool, tag: Option<&str>, span: Span) -> Result<Value, FunctionFailure> {
    match tag {
        Some("str") => return Ok(Value::text(text, span)),
        Some("int" | "float") => {
            return Number::parse(text).map(|n| Value::number(n, span)).ok_or_else(|| "this is no number".into());
        }
        Some("null" | "bool" | "timestamp" | "!") | None => {}
        Some(other) => return Err(format!("the tag `{other}` means nothing to Terraform").into()),
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
            return Err("a number is infinite or none".into());
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
        let mut text = String::new();
        write_node(value, 0, Position::Top, &mut text)?;
        if matches!(value.data, Data::Null | Data::Bool(_) | Data::Number(_)) {
            text.push_str("...\n");
        }
        Ok(text)
    };
    a.answer(encoded(a, write)?)
}

/// What stands before a node on its line.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Top,
    /// After `"key":`
    Value,
    /// After `-`
    Item,
}

/// Writes a node as the YAML library of Terraform does; `indent` counts blanks.
fn write_node(value: &Value, indent: usize, position: Position, into: &mut String) -> Result<(), FunctionFailure> {
    match &value.data {
        Data::List(items) | Data::Set(items) | Data::Tuple(items) if !items.is_empty() => {
            let indent = if position == Position::Item { indent + 2 } else { indent };
            for (index, item) in items.iter().enumerate() {
                begin_line(index, indent, position, into);
                into.push('-');
                write_node(item, indent, Position::Item, into)?;
            }
            Ok(())
        }
        Data::Map(entries) | Data::Object(entries) if !entries.known.is_empty() => {
            if let Some(cause) = &entries.rest {
                return Err(cause.clone().into());
            }
            let indent = match position {
                Position::Top => indent,
                Position::Value | Position::Item => indent + 2,
            };
            for (index, (key, member)) in entries.iter().enumerate() {
                begin_line(index, indent, position, into);
                if key.len() > LONGEST_KEY {
                    return Err("a key of YAML is too long to be written here".into());
                }
                write_quoted(key, None, into);
                into.push(':');
                write_node(member, indent, Position::Value, into)?;
            }
            Ok(())
        }
        _ => {
            if position != Position::Top {
                into.push(' ');
            }
            write_scalar(value, indent, position, into)
        }
    }
}

/// The first item of a list in a list, or of a map in a list, stands on the line that is begun.
fn begin_line(index: usize, indent: usize, position: Position, into: &mut String) {
    match (index, position) {
        (0, Position::Top) => {}
        (0, Position::Item) => into.push(' '),
        _ => {
            if !into.ends_with('\n') {
                into.push('\n');
            }
            into.extend(std::iter::repeat_n(' ', indent));
        }
    }
}

fn write_scalar(value: &Value, indent: usize, position: Position, into: &mut String) -> Result<(), FunctionFailure> {
    match &value.data {
        Data::Unknown(cause) => return Err(cause.clone().into()),
        Data::Null => into.push_str("null"),
        Data::Bool(flag) => into.push_str(if *flag { "true" } else { "false" }),
        Data::Number(number) => {
            let _ = write!(into, "{number}");
        }
        Data::Text(text) if is_block(text) => {
            let indent = if position == Position::Top { indent } else { indent + 2 };
            write_block(text, indent, into);
        }
        Data::Text(text) => {
            let indent = if position == Position::Top { indent } else { indent + 2 };
            write_quoted(text, Some(indent), into);
        }
        Data::List(_) | Data::Set(_) | Data::Tuple(_) => into.push_str("[]"),
        Data::Map(_) | Data::Object(_) => into.push_str("{}"),
    }
    if !into.ends_with('\n') {
        into.push('\n');
    }
    Ok(())
}

/// Text of several lines is written as it is where nothing in it needs an escape.
fn is_block(text: &str) -> bool {
    let printable = |c: char| c == '\n' || (c >= ' ' && c != '\u{7f}' && !('\u{80}'..'\u{a0}').contains(&c));
    text.contains('\n') && !text.contains(" \n") && !text.ends_with(' ') && text.chars().all(printable)
}

fn write_block(text: &str, indent: usize, into: &mut String) {
    into.push('|');
    if text.starts_with([' ', '\n']) {
        into.push('2');
    }
    if !text.ends_with('\n') {
        into.push('-');
    } else if text.ends_with("\n\n") || text == "\n" {
        into.push('+');
    }
    into.push('\n');
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            into.extend(std::iter::repeat_n(' ', indent.max(2)));
            into.push_str(line);
        }
        into.push('\n');
    }
}

/// Long text is folded at blanks, with this indentation; keys are not.
fn write_quoted(text: &str, fold: Option<usize>, into: &mut String) {
    into.push('"');
    let mut column = into.chars().rev().take_while(|c| *c != '\n').count();
    let mut after_blank = false;
    let mut chars = text.chars().peekable();
    let mut first = true;
    while let Some(c) = chars.next() {
        let before = into.len();
        match c {
            ' ' => match (fold, chars.peek()) {
                (Some(indent), Some(next)) if !after_blank && !first && column > BEST_WIDTH => {
                    into.push('\n');
                    into.extend(std::iter::repeat_n(' ', indent));
                    column = indent;
                    if *next == ' ' {
                        into.push('\\');
                        column += 1;
                    }
                    after_blank = true;
                    continue;
                }
                _ => into.push(' '),
            },
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '\0' => into.push_str("\\0"),
            '\u{7}' => into.push_str("\\a"),
            '\u{8}' => into.push_str("\\b"),
            '\u{b}' => into.push_str("\\v"),
            '\u{c}' => into.push_str("\\f"),
            '\u{1b}' => into.push_str("\\e"),
            '\u{85}' => into.push_str("\\N"),
            '\u{a0}' => into.push_str("\\_"),
            '\u{2028}' => into.push_str("\\L"),
            '\u{2029}' => into.push_str("\\P"),
            '\u{feff}' => into.push_str("\\uFEFF"),
            '\u{1}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                let _ = write!(into, "\\x{:02X}", u32::from(c));
            }
            c => into.push(c),
        }
        column += into[before..].chars().count();
        after_blank = c == ' ';
        first = false;
    }
    into.push('"');
}
