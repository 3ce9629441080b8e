//! Implements the functions that encode and decode: JSON, YAML, CSV, base64, URLs.

use std::fmt::Write;

use crate::languages::go;
use crate::languages::hcl::syntax::json::{Json, JsonKind, parse_json};
use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};
use crate::source::{from_base64, to_base64};
use crate::terraform::code::outline;

use super::yaml::DecodedPlace;
use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("base64decode", 1..=1, base64_decode),
    ("base64encode", 1..=1, |a| a.answer(to_base64(a.text(0)?.as_bytes()))),
    ("csvdecode", 1..=1, csv_decode),
    ("jsondecode", 1..=1, json_decode),
    ("jsonencode", 1..=1, json_encode),
    ("textdecodebase64", 2..=2, text_decode),
    ("textencodebase64", 2..=2, text_encode),
    ("urlencode", 1..=1, url_encode),
];

fn json_encode(a: &CallArguments<'_>) -> FunctionResult {
    let write = |value: &HclValue| {
        let mut text = String::new();
        write_json(value, &mut text).map(|()| text)
    };
    a.answer(encoded(a, write)?)
}

/// Encodes the first argument. For a partly known argument, returns the outline of the text.
pub(super) fn encoded(
    a: &CallArguments<'_>,
    write: impl Fn(&HclValue) -> Result<String, FunctionFailure>,
) -> Result<String, FunctionFailure> {
    let value = a.get(0)?;
    write(value).map_err(|failure| match failure {
        FunctionFailure::Unknown(cause) => {
            let filled = outline::filled(a.evaluator.sources, value);
            let text = filled.and_then(|filled| write(&filled).ok());
            FunctionFailure::Unknown(text.map_or(cause.clone(), |text| outline::outlined(&cause, text)))
        }
        refused => refused,
    })
}

/// Writes JSON like Go: keys sorted; `<`, `>` and `&` escaped.
pub(super) fn write_json(value: &HclValue, into: &mut String) -> Result<(), FunctionFailure> {
    match &value.data {
        HclData::Unknown(cause) => return Err(cause.clone().into()),
        HclData::Null => into.push_str("null"),
        HclData::Bool(flag) => into.push_str(if *flag { "true" } else { "false" }),
        HclData::Number(number) => {
            let _ = write!(into, "{number}");
        }
        HclData::Text(text) => go::json(text, true, into),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            into.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write_json(item, into)?;
            }
            into.push(']');
        }
        HclData::Map(entries) | HclData::Object(entries) => {
            if let Some(cause) = &entries.rest {
                return Err(cause.clone().into());
            }
            into.push('{');
            for (index, (key, member)) in entries.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                go::json(key, true, into);
                into.push(':');
                write_json(member, into)?;
            }
            into.push('}');
        }
    }
    Ok(())
}

fn json_decode(a: &CallArguments<'_>) -> FunctionResult {
    let text = a.text(0)?;
    a.evaluator.budget.spend_reading(text.len())?;
    let values = text.bytes().filter(|byte| b"[{,:".contains(byte)).count();
    a.evaluator.budget.spend_memory(values * size_of::<Json>() * 2)?;
    let json = parse_json(a.span.file, &text).map_err(|error| FunctionFailure::Refused(error.message))?;
    Ok(decoded(&json, a.verbatim(0).unwrap_or(DecodedPlace::Whole(a.span))))
}

fn decoded(json: &Json, place: DecodedPlace) -> HclValue {
    let span = place.span(json.span.start as usize, json.span.end as usize);
    match &json.kind {
        JsonKind::Null => HclValue::null(span),
        JsonKind::Bool(flag) => HclValue::bool(*flag, span),
        JsonKind::Number(number) => HclValue::number(number.clone(), span),
        JsonKind::Text(text, _) => HclValue::text(text.clone(), span),
        JsonKind::List(items) => HclValue::tuple(items.iter().map(|item| decoded(item, place)).collect(), span),
        JsonKind::Object(entries) => {
            let entries: ObjectMembers =
                entries.iter().map(|(name, value)| (name.text.clone(), decoded(value, place))).collect();
            HclValue::object(entries, span)
        }
    }
}

/// Decodes base64. Line breaks are allowed, and padding is required.
fn decoded_base64(text: &str) -> Result<Vec<u8>, FunctionFailure> {
    let text: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let data = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(&text);
    let bytes = text.len().is_multiple_of(4).then(|| from_base64(data.iter().copied())).flatten();
    bytes.ok_or_else(|| FunctionFailure::Refused("this is not valid base64".into()))
}

fn base64_decode(a: &CallArguments<'_>) -> FunctionResult {
    let bytes = decoded_base64(&a.text(0)?)?;
    a.answer(String::from_utf8(bytes).map_err(|_| "the bytes are not valid UTF-8")?)
}

/// The bytes per unit of an encoding, and their order.
#[derive(Clone, Copy)]
enum Charset {
    Utf8,
    Utf16 { big: bool },
    Latin1,
}

fn charset(name: &str, a: &CallArguments<'_>) -> Result<Charset, FunctionFailure> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "UTF-8" | "UTF8" => Charset::Utf8,
        "UTF-16LE" => Charset::Utf16 { big: false },
        "UTF-16BE" => Charset::Utf16 { big: true },
        "ISO-8859-1" | "ISO_8859-1" | "LATIN1" => Charset::Latin1,
        _ => {
            let why = format!("gpulint does not support the encoding {name}");
            return Err(FunctionFailure::Unknown(Cause::new(why, a.span).into()));
        }
    })
}

fn text_encode(a: &CallArguments<'_>) -> FunctionResult {
    let text = a.text(0)?;
    let bytes = match charset(&a.text(1)?, a)? {
        Charset::Utf8 => text.as_bytes().to_vec(),
        Charset::Utf16 { big } => {
            text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
        }
        Charset::Latin1 => {
            let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
            bytes.map_err(|_| "a character cannot be encoded")?
        }
    };
    a.answer(to_base64(&bytes))
}

fn text_decode(a: &CallArguments<'_>) -> FunctionResult {
    let bytes = decoded_base64(&a.text(0)?)?;
    let text = match charset(&a.text(1)?, a)? {
        Charset::Utf8 => String::from_utf8(bytes).map_err(|_| "the bytes are not valid UTF-8")?,
        Charset::Utf16 { big } => {
            let unit = |pair: &[u8]| {
                let pair = [pair[0], pair[1]];
                if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
            };
            String::from_utf16_lossy(&bytes.chunks_exact(2).map(unit).collect::<Vec<u16>>())
        }
        Charset::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    a.answer(text)
}

fn url_encode(a: &CallArguments<'_>) -> FunctionResult {
    let mut text = String::new();
    for byte in a.text(0)?.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => text.push(char::from(byte)),
            b' ' => text.push('+'),
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    a.answer(text)
}

/// Returns a list of objects. The first line names their attributes.
fn csv_decode(a: &CallArguments<'_>) -> FunctionResult {
    let text = a.text(0)?;
    a.evaluator.budget.spend_reading(text.len())?;
    let fields = memchr::memchr2_iter(b',', b'\n', text.as_bytes()).count();
    a.evaluator.budget.spend_memory(fields * size_of::<String>() * 2)?;
    let mut records = csv_records(&text)?.into_iter();
    let header = records.next().ok_or("there is no header")?;
    let mut unique = std::collections::BTreeSet::new();
    if !header.iter().all(|name| unique.insert(name.as_str())) {
        return Err("two columns have the same name".into());
    }
    let mut rows = Vec::new();
    for record in records {
        if record.len() != header.len() {
            return Err("a line does not have the same number of fields as the header".into());
        }
        let fields = header.iter().zip(record);
        let entries: ObjectMembers =
            fields.map(|(name, field)| (name.as_str().into(), HclValue::text(field, a.span))).collect();
        let row = HclValue::object(entries, a.span);
        a.evaluator.budget.spend_members(&row)?;
        rows.push(row);
    }
    a.answer_list(rows)
}

fn csv_records(text: &str) -> Result<Vec<Vec<String>>, FunctionFailure> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if record.is_empty() {
            let line = rest.trim_start_matches(['\r', '\n']);
            if line.is_empty() {
                break;
            }
            rest = line;
        }
        let field;
        (field, rest) = csv_field(rest)?;
        record.push(field);
        if let Some(after) = rest.strip_prefix(',') {
            rest = after;
            if rest.is_empty() {
                record.push(String::new());
            }
            continue;
        }
        rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        records.push(std::mem::take(&mut record));
    }
    if !record.is_empty() {
        records.push(record);
    }
    Ok(records)
}

/// Returns the next field and the rest, which starts with a comma or a line break, or is empty.
fn csv_field(text: &str) -> Result<(String, &str), FunctionFailure> {
    let Some(mut quoted) = text.strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        let end = if text[..end].ends_with('\r') && text[end..].starts_with('\n') { end - 1 } else { end };
        if text[..end].contains('"') {
            return Err("an unquoted field contains a quote".into());
        }
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let mut field = String::new();
    loop {
        let (part, after) = quoted.split_once('"').ok_or("a field has no closing quote")?;
        field.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                quoted = more;
            }
            None if after.is_empty() || after.starts_with([',', '\n']) || after.starts_with("\r\n") => {
                return Ok((field.replace("\r\n", "\n"), after));
            }
            None => return Err("there is text after a closing quote".into()),
        }
    }
}
