//! Formats values as text: `%v`, `print` and `printf` of Go.

use crate::languages::go::{PrintVerb, quoted, radix, scientific};
use crate::source::to_hex;

use super::failure::TemplateFailure;
use super::numbers;
use super::text::{TemplateCause, Text, TextWriter};
use super::value::{GoKind, GoValue};

/// The limit on depth, because mappings may contain themselves.
const DEEPEST: usize = 64;

/// Formats a value like `%v`. An unknown value becomes a hole, and strings keep their origins.
pub(crate) fn push(value: &GoValue, writer: &mut TextWriter) -> Result<(), TemplateFailure> {
    match &value.kind {
        GoKind::Text(text) => match value.text() {
            Some(text) => writer.push_text(&text, None),
            None => writer.push_text(text, None),
        },
        GoKind::Unknown(cause) => writer.push_hole(cause, value.origin),
        GoKind::List(_) | GoKind::Map(_) => inner(value, writer, 0)?,
        _ => writer.push(&plain(value), value.origin),
    }
    Ok(())
}

fn inner(value: &GoValue, writer: &mut TextWriter, depth: usize) -> Result<(), TemplateFailure> {
    if depth > DEEPEST {
        return Err(TemplateFailure::Budget("values are nested too deeply"));
    }
    match &value.kind {
        GoKind::List(list) => {
            writer.push("[", None);
            for (number, item) in list.items().iter().enumerate() {
                writer.push(if number > 0 { " " } else { "" }, None);
                inner(item, writer, depth + 1)?;
            }
            writer.push("]", None);
        }
        GoKind::Map(map) => {
            writer.push("map[", None);
            for (number, (key, entry)) in map.borrow().iter().enumerate() {
                writer.push(if number > 0 { " " } else { "" }, None);
                writer.push(key, entry.key);
                writer.push(":", None);
                inner(&entry.value, writer, depth + 1)?;
            }
            writer.push("]", None);
        }
        _ => push(value, writer)?,
    }
    Ok(())
}

fn plain(value: &GoValue) -> String {
    match &value.kind {
        GoKind::Nil | GoKind::NilInside => "<nil>".to_owned(),
        GoKind::Flag(flag) => flag.to_string(),
        GoKind::Int(number) | GoKind::Int64(number) => number.to_string(),
        GoKind::Float(number) => numbers::shown(*number),
        GoKind::Object(object) => object.shown(),
        GoKind::Text(_) | GoKind::List(_) | GoKind::Map(_) | GoKind::Unknown(_) => String::new(),
    }
}

/// Returns the text of a value, as `toString` does.
pub(crate) fn text(value: &GoValue) -> Result<Text, TemplateFailure> {
    if let Some(text) = value.text() {
        return Ok(text);
    }
    let mut writer = TextWriter::default();
    push(value, &mut writer)?;
    Ok(writer.finish())
}

/// Implements `print` and `println`. `print` writes a space between two values that are not strings. `println` writes
/// a space between all values, and a line end.
pub(crate) fn print(values: &[GoValue], line: bool) -> Result<Text, TemplateFailure> {
    let mut writer = TextWriter::default();
    for (number, value) in values.iter().enumerate() {
        let is_text = |value: &GoValue| matches!(value.kind, GoKind::Text(_));
        let before = number.checked_sub(1).and_then(|before| values.get(before));
        if before.is_some_and(|before| line || !is_text(before) && !is_text(value)) {
            writer.push(" ", None);
        }
        push(value, &mut writer)?;
    }
    if line {
        writer.push("\n", None);
    }
    Ok(writer.finish())
}

/// Implements `printf`.
pub(crate) fn format(pattern: &Text, values: &[GoValue]) -> Result<Text, TemplateFailure> {
    if let Some(cause) = pattern.hole() {
        return Err(TemplateFailure::Unknown(cause.clone()));
    }
    let text = pattern.as_str();
    let mut writer = TextWriter::default();
    let (mut at, mut next) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('%')) {
        writer.push_slice(pattern, at, at + found, None);
        let mut rest = text.get(at + found + 1..).unwrap_or_default();
        let verb = PrintVerb::read(&mut rest, || {
            next += 1;
            match values.get(next - 1)?.kind {
                GoKind::Int(number) | GoKind::Int64(number) => usize::try_from(number).ok(),
                _ => None,
            }
        });
        let letter = rest.chars().next();
        at = text.len() - rest.len() + letter.map_or(0, char::len_utf8);
        match (letter, values.get(next)) {
            (None, _) => {
                writer.push("%!(NOVERB)", None);
                break;
            }
            (Some('%'), _) => {
                writer.push("%", None);
                continue;
            }
            (Some(letter), Some(value)) => one(value, letter, verb, &mut writer)?,
            (Some(letter), None) => writer.push(&format!("%!{letter}(MISSING)"), None),
        }
        next += 1;
    }
    writer.push_slice(pattern, at, text.len(), None);
    if next < values.len() {
        extra(values.get(next..).unwrap_or_default(), &mut writer)?;
    }
    Ok(writer.finish())
}

fn extra(values: &[GoValue], writer: &mut TextWriter) -> Result<(), TemplateFailure> {
    writer.push("%!(EXTRA ", None);
    for (number, value) in values.iter().enumerate() {
        writer.push(if number > 0 { ", " } else { "" }, None);
        if value.is_nil() {
            writer.push("<nil>", None);
        } else {
            writer.push(&format!("{}=", value.type_name()), None);
            push(value, writer)?;
        }
    }
    writer.push(")", None);
    Ok(())
}

fn one(value: &GoValue, letter: char, verb: PrintVerb, writer: &mut TextWriter) -> Result<(), TemplateFailure> {
    let is_bare = verb.width.is_none() && verb.precision.is_none() && !verb.sharp && !verb.plus;
    if matches!(letter, 'v' | 's') && is_bare && matches!(value.kind, GoKind::Text(_) | GoKind::Unknown(_)) {
        return push(value, writer);
    }
    match letter {
        'T' => {
            let name = value.type_name();
            writer.push(&verb.pad(&name, name.chars().count()), None);
            return Ok(());
        }
        'v' if !verb.sharp => {
            let shown = text(value)?;
            return padded(&shown, verb, value, writer);
        }
        _ => {}
    }
    if let GoKind::Unknown(cause) = &value.kind {
        writer.push_hole(cause, value.origin);
        return Ok(());
    }
    if let (GoKind::List(list), 's' | 'd' | 'q' | 'f' | 'x') = (&value.kind, letter) {
        writer.push("[", None);
        for (number, item) in list.items().iter().enumerate() {
            writer.push(if number > 0 { " " } else { "" }, None);
            one(item, letter, verb, writer)?;
        }
        writer.push("]", None);
        return Ok(());
    }
    if let (GoKind::Text(_), 's') = (&value.kind, letter) {
        let shown = text(value)?;
        let end =
            verb.precision.and_then(|most| shown.as_str().char_indices().nth(most)).map_or(shown.len(), |(at, _)| at);
        return padded(&shown.slice(0, end), PrintVerb { precision: None, ..verb }, value, writer);
    }
    let shown = converted(value, letter, verb);
    match shown {
        Some(shown) => {
            let shown = match value.kind {
                GoKind::Int(_) | GoKind::Int64(_) | GoKind::Float(_) => verb.pad_number(shown),
                _ => verb.pad(&shown, shown.chars().count()),
            };
            writer.push(&shown, value.place().map(|it| super::text::TextOrigin { linear: false, ..it }));
        }
        None if value.is_nil() => writer.push(&format!("%!{letter}(<nil>)"), None),
        None => {
            writer.push(&format!("%!{letter}({}=", value.type_name()), None);
            push(value, writer)?;
            writer.push(")", None);
        }
    }
    Ok(())
}

fn padded(shown: &Text, verb: PrintVerb, value: &GoValue, writer: &mut TextWriter) -> Result<(), TemplateFailure> {
    let missing = verb.missing(shown.as_str().chars().count());
    let is_number = matches!(value.kind, GoKind::Int(_) | GoKind::Int64(_) | GoKind::Float(_));
    let (zero, plus) = (verb.zero && !verb.minus, verb.plus && is_number && !shown.as_str().starts_with('-'));
    if missing > 0 && !verb.minus {
        writer.push(&(if zero { "0" } else { " " }).repeat(missing), None);
    }
    if plus {
        writer.push("+", None);
    }
    writer.push_text(shown, None);
    if missing > 0 && verb.minus {
        writer.push(&" ".repeat(missing), None);
    }
    Ok(())
}

fn converted(value: &GoValue, letter: char, verb: PrintVerb) -> Option<String> {
    match (&value.kind, letter) {
        (GoKind::Int(number) | GoKind::Int64(number), _) => integer(*number, letter, verb),
        (GoKind::Float(number), 'f' | 'F') => Some(verb.signed(format!("{number:.*}", verb.precision.unwrap_or(6)))),
        (GoKind::Float(number), 'g' | 'v') => Some(verb.signed(significant(*number, verb.precision))),
        (GoKind::Float(number), 'e') => Some(verb.signed(scientific(*number, verb.precision.unwrap_or(6)))),
        (GoKind::Flag(flag), 't' | 'v') => Some(flag.to_string()),
        (GoKind::Text(text), 'q' | 'v') => Some(match verb.sharp && letter == 'q' && !text.as_str().contains('`') {
            true => format!("`{}`", text.as_str()),
            false => quoted(text.as_str()),
        }),
        (GoKind::Text(text), 'x') => Some(to_hex(text.as_str().as_bytes())),
        (GoKind::Text(text), 'X') => Some(to_hex(text.as_str().as_bytes()).to_uppercase()),
        (GoKind::Object(object), 's' | 'v') => Some(object.shown()),
        _ => None,
    }
}

fn significant(number: f64, precision: Option<usize>) -> String {
    let Some(precision) = precision else { return numbers::shown(number) };
    let rounded: f64 = format!("{number:.*e}", precision.max(1) - 1).parse().unwrap_or(number);
    numbers::general(rounded, i32::try_from(precision.max(1)).unwrap_or(21))
}

fn integer(number: i64, letter: char, verb: PrintVerb) -> Option<String> {
    let magnitude = number.unsigned_abs();
    let digits = match letter {
        'v' => magnitude.to_string(),
        'c' => return char::from_u32(u32::try_from(number).ok()?).map(String::from),
        'q' => return char::from_u32(u32::try_from(number).ok()?).map(|letter| format!("'{letter}'")),
        'U' => return Some(format!("U+{magnitude:04X}")),
        _ => radix(letter, magnitude)?,
    };
    let prefix = match letter {
        'x' if verb.sharp => "0x",
        'X' if verb.sharp => "0X",
        'o' if verb.sharp => "0",
        _ => "",
    };
    let (sign, least) = (if number < 0 { "-" } else { "" }, verb.precision.unwrap_or(0));
    Some(verb.signed(format!("{sign}{prefix}{digits:0>least$}")))
}

/// Writes the value of `{{ … }}` to the output.
pub(crate) fn output(
    value: &GoValue,
    writer: &mut TextWriter,
    action: Option<super::text::TextOrigin>,
) -> Result<(), TemplateFailure> {
    let mut own = TextWriter::default();
    match &value.kind {
        GoKind::Nil | GoKind::NilInside => own.push("<no value>", None),
        GoKind::Unknown(cause) => {
            writer.push_hole(cause, value.origin.or(action));
            return Ok(());
        }
        _ => push(value, &mut own)?,
    }
    writer.push_text(&own.finish(), action);
    Ok(())
}

/// Returns the cause if an argument is unknown, for functions whose text depends on all arguments.
pub(crate) fn unknown_among(values: &[GoValue]) -> Option<TemplateCause> {
    values.iter().find_map(|value| value.cause().cloned())
}
