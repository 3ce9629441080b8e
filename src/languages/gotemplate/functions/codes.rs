//! Implements functions for YAML, JSON, TOML, base64, base32 and checksums.

use crate::source::{from_base64, sha1, sha256, sha512, to_base64, to_hex};

use super::super::evaluate::{PARSED, entries};
use super::super::failure::TemplateFailure;
use super::super::value::{GoKind, GoValue, Heap};
use super::super::{read_yaml, write_yaml};
use super::How::{Careful, Form, Plain};
use super::{FunctionCall, FunctionOutcome, Row};

pub(super) const TABLE: &[Row] = &[
    ("toYaml", "a", Careful, yaml),
    ("mustToYaml", "a", Careful, yaml),
    ("toYamlPretty", "a", Careful, yaml),
    ("fromYaml", "s", Plain, |c| read_yaml::mapping(&c.text(0)?, c.heap())),
    ("fromYamlArray", "s", Plain, |c| read_yaml::list(&c.text(0)?, c.heap())),
    ("toJson", "a", Careful, |c| json(c, None, true)),
    ("mustToJson", "a", Careful, |c| json(c, None, true)),
    ("toPrettyJson", "a", Careful, |c| json(c, Some("  "), true)),
    ("mustToPrettyJson", "a", Careful, |c| json(c, Some("  "), true)),
    ("toRawJson", "a", Careful, |c| json(c, None, false)),
    ("mustToRawJson", "a", Careful, |c| json(c, None, false)),
    ("fromJson", "s", Plain, |c| match from_json(c.str(0), c.heap())? {
        Ok(value @ GoValue { kind: GoKind::Map(_), .. }) => Ok(value),
        Ok(value) if value.is_nil() => Ok(c.heap().map(entries([]))),
        Ok(value) => {
            let why =
                format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", value.json_name());
            Ok(c.heap().map(entries([("Error".to_owned(), why.into())])))
        }
        Err(why) => Ok(c.heap().map(entries([("Error".to_owned(), why.into())]))),
    }),
    ("fromJsonArray", "s", Plain, |c| match from_json(c.str(0), c.heap())? {
        Ok(value @ GoValue { kind: GoKind::List(_), .. }) => Ok(value),
        Ok(value) if value.is_nil() => c.list(Vec::new()),
        Ok(value) => {
            let why = format!("json: cannot unmarshal {} into Go value of type []interface {{}}", value.json_name());
            c.list(vec![why.into()])
        }
        Err(why) => c.list(vec![why.into()]),
    }),
    ("mustFromJson", "s", Plain, |c| from_json(c.str(0), c.heap())?.map_err(TemplateFailure::Refused)),
    ("toToml", "a", Plain, |c| {
        let value = plain_toml(&c.any(0), 0)?;
        c.text_result(toml::to_string(&value).unwrap_or_default())
    }),
    ("mustToToml", "a", Plain, |c| {
        let value = plain_toml(&c.any(0), 0)?;
        c.text_result(toml::to_string(&value).map_err(|error| error.to_string())?)
    }),
    ("fromToml", "s", Plain, |c| {
        c.may_make(c.str(0).len().saturating_mul(PARSED))?;
        match toml::from_str::<serde_json::Value>(c.str(0)) {
            Ok(value) => of_json(&value, c.heap()),
            Err(why) => Ok(c.heap().map(entries([("Error".to_owned(), why.message().into())]))),
        }
    }),
    ("b64enc", "s", Form, |c| c.text_result(to_base64(c.str(0).as_bytes()))),
    ("b64dec", "s", Form, |c| {
        let digits = c.str(0).replace(['\n', '\r'], "");
        let plain = digits.strip_suffix("==").or(digits.strip_suffix('=')).unwrap_or(&digits);
        match from_base64(plain.bytes()).filter(|_| digits.len().is_multiple_of(4)) {
            Some(bytes) => c.text_result(String::from_utf8_lossy(&bytes).into_owned()),
            None => Ok("illegal base64 data at input byte 0".into()),
        }
    }),
    ("b32enc", "s", Form, |c| c.text_result(to_base32(c.str(0).as_bytes()))),
    ("b32dec", "s", Form, |c| match from_base32(c.str(0)) {
        Some(bytes) => c.text_result(String::from_utf8_lossy(&bytes).into_owned()),
        None => Ok("illegal base32 data at input byte 0".into()),
    }),
    ("sha1sum", "s", Form, |c| c.text_result(to_hex(&sha1(c.str(0).as_bytes())))),
    ("sha256sum", "s", Form, |c| c.text_result(to_hex(&sha256(c.str(0).as_bytes())))),
    ("sha512sum", "s", Form, |c| c.text_result(to_hex(&sha512(c.str(0).as_bytes())))),
    ("adler32sum", "s", Form, |c| c.text_result(adler32(c.str(0).as_bytes()).to_string())),
];

fn yaml(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let value = c.any(0);
    if let GoKind::Unknown(_) = &value.kind {
        return Ok(value);
    }
    write_yaml::write(&value, c.heap()).map(|text| GoValue::from(text).or_at(value.origin))
}

fn json(c: &mut FunctionCall<'_, '_>, indent: Option<&str>, for_pages: bool) -> FunctionOutcome {
    let value = c.any(0);
    if let GoKind::Unknown(_) = &value.kind {
        return Ok(value);
    }
    write_yaml::json(&value, indent, for_pages, c.heap()).map(GoValue::from)
}

fn from_json(text: &str, heap: &Heap) -> Result<Result<GoValue, String>, TemplateFailure> {
    heap.fits(text.len().saturating_mul(PARSED))?;
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => of_json(&value, heap).map(Ok),
        Err(why) => Ok(Err(as_go_says(text, &why))),
    }
}

/// Returns the message of Go's JSON library for invalid JSON, if it is clear which one applies.
fn as_go_says(text: &str, why: &serde_json::Error) -> String {
    if why.is_eof() || text.trim().is_empty() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = text.split('\n').nth(why.line().saturating_sub(1)).unwrap_or_default();
    // Columns count bytes.
    let letter = line.get(why.column().saturating_sub(1)..).and_then(|rest| rest.chars().next());
    let said = why.to_string();
    let place = match said.split(" at line").next() {
        Some("expected value" | "expected ident") => "looking for beginning of value",
        Some("trailing characters") => "after top-level value",
        _ => return said,
    };
    match letter {
        Some('\'') => format!("invalid character '\\'' {place}"),
        Some(letter) => format!("invalid character '{letter}' {place}"),
        None => said,
    }
}

fn of_json(value: &serde_json::Value, heap: &Heap) -> FunctionOutcome {
    use serde_json::Value as Json;
    Ok(match value {
        Json::Null => GoValue::nil(),
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => number.as_f64().unwrap_or(0.0).into(),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => {
            let items: Result<Vec<GoValue>, TemplateFailure> = items.iter().map(|item| of_json(item, heap)).collect();
            heap.list(items?)?
        }
        Json::Object(all) => {
            let mut pairs = Vec::new();
            for (key, value) in all {
                pairs.push((key.clone(), of_json(value, heap)?));
            }
            heap.map(entries(pairs))
        }
    })
}

fn plain_toml(value: &GoValue, depth: usize) -> Result<serde_json::Value, TemplateFailure> {
    use serde_json::Value as Json;
    const DEEPEST: usize = 64;
    if depth > DEEPEST {
        return Err(TemplateFailure::Budget("values are nested too deeply"));
    }
    Ok(match &value.kind {
        GoKind::Flag(flag) => Json::Bool(*flag),
        GoKind::Int(number) | GoKind::Int64(number) => (*number).into(),
        GoKind::Float(number) => (*number).into(),
        GoKind::Text(text) => text.as_str().into(),
        GoKind::List(list) => {
            let items: Result<Vec<Json>, TemplateFailure> =
                list.items().iter().map(|item| plain_toml(item, depth + 1)).collect();
            Json::Array(items?)
        }
        GoKind::Map(map) => {
            let mut all = serde_json::Map::new();
            for (key, entry) in map.borrow().iter().filter(|(_, entry)| !entry.value.is_nil()) {
                all.insert(key.to_string(), plain_toml(&entry.value, depth + 1)?);
            }
            Json::Object(all)
        }
        GoKind::Unknown(cause) => return Err(cause.clone().into()),
        _ => Json::Null,
    })
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn to_base32(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(5) {
        let mut all = [0u8; 8];
        for (place, byte) in chunk.iter().enumerate() {
            if let Some(slot) = all.get_mut(place + 3) {
                *slot = *byte;
            }
        }
        let number = u64::from_be_bytes(all);
        let letters = (chunk.len() * 8).div_ceil(5);
        for place in 0..8 {
            let digit = (number >> (35 - 5 * place)) as usize & 31;
            out.push(if place < letters { char::from(BASE32.get(digit).copied().unwrap_or(b'=')) } else { '=' });
        }
    }
    out
}

fn from_base32(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut number, mut bits) = (0u64, 0);
    for letter in text.trim_end_matches('=').bytes().filter(|letter| !matches!(letter, b'\n' | b'\r')) {
        let digit = BASE32.iter().position(|it| *it == letter)?;
        number = (number << 5 | digit as u64) & 0xffff_ffff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            out.push((number >> bits) as u8);
        }
    }
    Some(out)
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    });
    b << 16 | a
}
