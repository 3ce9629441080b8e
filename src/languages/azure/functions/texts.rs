//! Implements functions of strings.

use serde_json::Value as Json;

use std::sync::Arc;

use crate::languages::document::{EvaluationState, PART_BYTES, as_json_text, joined, replaced};
use crate::languages::hcl::value::{HclData, HclNumber, HclValue, ObjectMembers};
use crate::source::{Span, from_base64, to_base64};

use super::{Made, is_list, shown};

pub(super) fn call_text(state: &EvaluationState, name: &str, arguments: &[HclValue], at: Span) -> Made {
    let text = |text: String| Some(HclValue::text(text, at));
    let given = |place: usize| arguments.get(place).and_then(plain);
    let number = |place: usize| arguments.get(place)?.as_number()?.as_usize();
    match name {
        "string" => as_string(state, arguments.first()?, at),
        "tolower" => text(given(0)?.to_lowercase()),
        "toupper" => text(given(0)?.to_uppercase()),
        "trim" => text(given(0)?.trim().to_owned()),
        "replace" => match given(1)? {
            "" => None,
            old => Some(replaced(state, given(0)?, old, given(2)?, at)),
        },
        "startswith" => Some(HclValue::bool(lower(given(0)?).starts_with(&lower(given(1)?)), at)),
        "endswith" => Some(HclValue::bool(lower(given(0)?).ends_with(&lower(given(1)?)), at)),
        "indexof" | "lastindexof" if !arguments.first().is_some_and(is_list) => {
            let (inside, what) = (lower(given(0)?), lower(given(1)?));
            let found = if name == "indexof" { inside.find(&what) } else { inside.rfind(&what) };
            Some(place_in(&inside, found, at))
        }
        "substring" => {
            let letters: Vec<char> = given(0)?.chars().collect();
            let start = number(1)?;
            let count = number(2).unwrap_or(letters.len().checked_sub(start)?);
            text(letters.get(start..start.checked_add(count)?)?.iter().collect())
        }
        "padleft" => {
            let (shown, width) = (arguments.first()?.as_text()?, number(1)?);
            let filler = given(2).and_then(|it| it.chars().next()).unwrap_or(' ');
            let missing = width.min(MOST_PADDING).saturating_sub(shown.chars().count());
            text(std::iter::repeat_n(filler, missing).chain(shown.chars()).collect())
        }
        "split" => split(state, given(0)?, arguments.get(1)?, at),
        "base64" => text(to_base64(given(0)?.as_bytes())),
        "base64tostring" => text(decoded(given(0)?)?),
        "base64tojson" => parsed(state, &decoded(given(0)?)?, at),
        "json" => parsed(state, given(0)?, at),
        "uricomponent" => text(escaped(given(0)?)),
        "uri" => text(address(given(0)?, given(1)?)),
        "contains" => match (&arguments.first()?.data, given(1)) {
            (HclData::Text(inside), Some(what)) => Some(HclValue::bool(inside.contains(what), at)),
            _ => None,
        },
        _ => None,
    }
}

fn as_string(state: &EvaluationState, value: &HclValue, at: Span) -> Made {
    Some(match &value.data {
        HclData::Text(_) => value.clone(),
        HclData::Bool(_) | HclData::Number(_) => shown(state, value.clone()),
        _ => match as_json_text(state, value, at) {
            Ok(text) => HclValue::text(text?, at),
            Err(unknown) => unknown,
        },
    })
}

/// Returns the number of characters before a place, or -1 without a place.
fn place_in(text: &str, found: Option<usize>, at: Span) -> HclValue {
    let before = found.and_then(|at| text.get(..at));
    HclValue::number(HclNumber::integer(before.map_or(-1, |it| it.encode_utf16().count() as i64)), at)
}

/// The limit on padding: no real name is longer.
const MOST_PADDING: usize = 10_000;

/// Returns the string, but not a value that can only be converted to one.
pub(super) fn plain(value: &HclValue) -> Option<&str> {
    match &value.data {
        HclData::Text(text) => Some(text),
        _ => None,
    }
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(from_base64(text.bytes())?).ok()
}

/// Splits by one string, or by each of several.
fn split(state: &EvaluationState, text: &str, by: &HclValue, at: Span) -> Made {
    let one = [by.clone()];
    let marks = if is_list(by) { by.items() } else { &one };
    let marks: Option<Vec<&str>> = marks.iter().map(plain).collect();
    let marks = marks?;
    let count = marks.iter().filter(|it| !it.is_empty()).map(|mark| text.matches(mark).count()).sum::<usize>();
    if let Err(unknown) = state.pay_text(count.saturating_mul(PART_BYTES), at) {
        return Some(unknown);
    }
    let mut parts = vec![text];
    for mark in marks.into_iter().filter(|it| !it.is_empty()) {
        parts = parts.into_iter().flat_map(|part| part.split(mark)).collect();
    }
    Some(HclValue::tuple(parts.into_iter().map(|part| HclValue::text(part, at)).collect(), at))
}

/// Escapes a URI component by RFC 3986, as .NET does.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Resolves a path against a URI.
fn address(base: &str, path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let host = base.find("://").map_or(0, |at| at + 3);
    let folder = match base.rfind('/').filter(|at| *at >= host) {
        Some(at) => base.get(..=at).unwrap_or(base).to_owned(),
        None => format!("{base}/"),
    };
    let mut path = path.trim_start_matches("./");
    let mut folder = folder.as_str();
    while let Some(rest) = path.strip_prefix("../") {
        path = rest;
        let outer = folder.trim_end_matches('/').rfind('/').filter(|at| *at >= host);
        folder = outer.and_then(|at| folder.get(..=at)).unwrap_or(folder);
    }
    format!("{folder}{}", path.trim_start_matches('/'))
}

/// Replaces `{0}`, also with a format such as `{0:D2}`.
pub(super) fn formatted(
    state: &EvaluationState,
    pattern: &HclValue,
    values: &[HclValue],
    at: Span,
) -> Option<HclValue> {
    let pattern = plain(pattern)?;
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = pattern;
    while let Some(place) = rest.find(['{', '}']) {
        literal.push_str(rest.get(..place)?);
        let (mark, behind) = (rest.get(place..=place)?, rest.get(place + 1..)?);
        if let Some(behind) = behind.strip_prefix(mark) {
            literal.push_str(mark);
            rest = behind;
            continue;
        }
        let (inside, behind) = behind.split_once('}').filter(|_| mark == "{")?;
        let (number, form) = inside.split_once(':').unwrap_or((inside, ""));
        parts.push(HclValue::text(std::mem::take(&mut literal), at));
        parts.push(in_form(state, values.get(number.split(',').next()?.trim().parse::<usize>().ok()?)?, form));
        rest = behind;
    }
    literal.push_str(rest);
    parts.push(HclValue::text(literal, at));
    Some(joined(state, &parts, "", at))
}

/// Formats a value in a form such as `D2`, which means at least two digits.
fn in_form(state: &EvaluationState, value: &HclValue, form: &str) -> HclValue {
    let width = form.strip_prefix(['D', 'd']).and_then(|it| it.parse::<usize>().ok());
    let zeros = (!form.is_empty() && form.bytes().all(|it| it == b'0')).then_some(form.len());
    match (width.or(zeros).map(|it| it.min(MOST_PADDING)), value.as_number()) {
        (Some(width), Some(number)) => value.with(HclData::Text(format!("{:0>width$}", number.to_string()).into())),
        _ => shown(state, value.clone()),
    }
}

/// Returns the value of JSON; `None` if it is invalid.
pub(super) fn parsed(state: &EvaluationState, text: &str, at: Span) -> Made {
    /// The memory that a byte of JSON may need as a value, measured with lists of single digits.
    const BYTES_PER_BYTE: usize = 50;
    if let Err(unknown) = state.pay_memory(text.len().saturating_mul(BYTES_PER_BYTE), at) {
        return Some(unknown);
    }
    Some(value_of(&serde_json::from_str(text).ok()?, at))
}

fn value_of(json: &Json, at: Span) -> HclValue {
    match json {
        Json::Null => HclValue::null(at),
        Json::Bool(flag) => HclValue::bool(*flag, at),
        Json::Number(number) => match HclNumber::parse(&number.to_string()) {
            Some(number) => HclValue::number(number, at),
            None => HclValue::refused("the number is too large", at),
        },
        Json::String(text) => HclValue::text(text.as_str(), at),
        Json::Array(items) => HclValue::tuple(items.iter().map(|it| value_of(it, at)).collect(), at),
        Json::Object(members) => {
            let known = members.iter().map(|(key, value)| (Arc::from(key.as_str()), value_of(value, at))).collect();
            HclValue::object(ObjectMembers { known, rest: None }, at)
        }
    }
}
