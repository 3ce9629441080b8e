//! Implements functions of strings.

use std::sync::Arc;

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, function, method, pattern, wrong};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::operators::Fault;
use crate::languages::cel::value::CelValue;

pub(super) fn functions() -> Vec<CelOverload> {
    vec![
        method(
            "contains",
            &[T::Text, T::Text],
            G::Flag,
            |b, v| test(b, v, |s, t| s.contains(t)),
            "true if it contains the other string",
        ),
        method(
            "startsWith",
            &[T::Text, T::Text],
            G::Flag,
            |b, v| test(b, v, |s, t| s.starts_with(t)),
            "true if it starts with the other string",
        ),
        method(
            "endsWith",
            &[T::Text, T::Text],
            G::Flag,
            |b, v| test(b, v, |s, t| s.ends_with(t)),
            "true if it ends with the other string",
        ),
        method(
            "matches",
            &[T::Text, T::Text],
            G::Flag,
            matches,
            "true if a regular expression (RE2) matches a part of it",
        ),
        function(
            "matches",
            &[T::Text, T::Text],
            G::Flag,
            matches,
            "true if a regular expression (RE2) matches a part of it",
        ),
        method("find", &[T::Text, T::Text], G::Text, find, "first part that matches a regular expression, or ''"),
        method("findAll", &[T::Text, T::Text], G::Texts, find_all, "all parts that match a regular expression"),
        method(
            "findAll",
            &[T::Text, T::Text, T::Integer],
            G::Texts,
            find_all,
            "parts that match, at most the given number",
        ),
        method("charAt", &[T::Text, T::Integer], G::Text, char_at, "character at an index that starts at 0"),
        method(
            "indexOf",
            &[T::Text, T::Text],
            G::Integer,
            index_of,
            "index of the first occurrence of the other string, or -1",
        ),
        method(
            "indexOf",
            &[T::Text, T::Text, T::Integer],
            G::Integer,
            index_of,
            "index of the first occurrence from the given index on, or -1",
        ),
        method(
            "lastIndexOf",
            &[T::Text, T::Text],
            G::Integer,
            last_index_of,
            "index of the last occurrence of the other string, or -1",
        ),
        method(
            "lastIndexOf",
            &[T::Text, T::Text, T::Integer],
            G::Integer,
            last_index_of,
            "index of the last occurrence up to the given index, or -1",
        ),
        method("lowerAscii", &[T::Text], G::Text, |b, v| change(b, v, |s| s.to_ascii_lowercase()), "lower-case string"),
        method("upperAscii", &[T::Text], G::Text, |b, v| change(b, v, |s| s.to_ascii_uppercase()), "upper-case string"),
        method(
            "trim",
            &[T::Text],
            G::Text,
            |b, v| change(b, v, |s| s.trim_matches(is_blank).to_owned()),
            "string without spaces at both ends",
        ),
        method(
            "reverse",
            &[T::Text],
            G::Text,
            |b, v| change(b, v, |s| s.chars().rev().collect()),
            "members or characters in reverse order",
        ),
        method(
            "replace",
            &[T::Text, T::Text, T::Text],
            G::Text,
            replace,
            "replaces all occurrences of the first string by the second",
        ),
        method(
            "replace",
            &[T::Text, T::Text, T::Text, T::Integer],
            G::Text,
            replace,
            "replaces at most the given number of occurrences",
        ),
        method("split", &[T::Text, T::Text], G::Texts, split, "parts between separators"),
        method(
            "split",
            &[T::Text, T::Text, T::Integer],
            G::Texts,
            split,
            "parts between separators, at most the given number",
        ),
        method("substring", &[T::Text, T::Integer], G::Text, substring, "part from an index to the end"),
        method(
            "substring",
            &[T::Text, T::Integer, T::Integer],
            G::Text,
            substring,
            "part from the first index up to the second, exclusive",
        ),
        method("join", &[T::Texts], G::Text, join, "joins the strings"),
        method("join", &[T::Texts, T::Text], G::Text, join, "joins the strings with a separator"),
        function("strings.quote", &[T::Text], G::Text, |b, v| change(b, v, quote), "string in quotes, with escapes"),
    ]
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\u{180e}' || c == '\u{85}'
}

fn test(budget: &mut CelBudget, given: &[CelValue], holds: fn(&str, &str) -> bool) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(other)] = given else { return Err(wrong()) };
    budget.spend(text.len() / 16)?;
    Ok(CelValue::Flag(holds(text, other)))
}

fn change(budget: &mut CelBudget, given: &[CelValue], change: impl Fn(&str) -> String) -> Result<CelValue, Fault> {
    let [CelValue::Text(text)] = given else { return Err(wrong()) };
    built(budget, change(text))
}

fn built(budget: &mut CelBudget, text: String) -> Result<CelValue, Fault> {
    budget.build(text.len())?;
    Ok(CelValue::text(text))
}

/// Compiling a pattern costs about as much as reading a few kilobytes.
const PATTERN_STEPS: usize = 2000;

fn matches(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(expression)] = given else { return Err(wrong()) };
    budget.spend(PATTERN_STEPS + text.len() / 8)?;
    Ok(CelValue::Flag(pattern(expression)?.is_match(text)))
}

fn find(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(expression)] = given else { return Err(wrong()) };
    budget.spend(PATTERN_STEPS + text.len() / 8)?;
    let found = pattern(expression)?.find(text).map_or("", |found| found.as_str()).to_owned();
    built(budget, found)
}

fn find_all(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(expression), rest @ ..] = given else { return Err(wrong()) };
    let limit = match rest {
        [CelValue::Integer(limit)] => usize::try_from(*limit).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    budget.spend(PATTERN_STEPS + text.len() / 8)?;
    let expression = pattern(expression)?;
    let mut parts = Vec::new();
    for found in expression.find_iter(text).take(limit) {
        parts.push(built(budget, found.as_str().to_owned())?);
    }
    list_of(budget, parts)
}

fn list_of(budget: &mut CelBudget, items: Vec<CelValue>) -> Result<CelValue, Fault> {
    budget.build(items.len() * size_of::<CelValue>())?;
    Ok(CelValue::List(items.into()))
}

/// Returns the byte at which a character starts, or the end for the index after the last one.
fn byte_of(text: &str, place: i64) -> Result<usize, Fault> {
    let out = || Fault::Failed(format!("index out of range: {place}"));
    let place = usize::try_from(place).map_err(|_| out())?;
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(place).ok_or_else(out)
}

fn char_at(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Integer(place)] = given else { return Err(wrong()) };
    budget.spend(text.len() / 16)?;
    let at = byte_of(text, *place)?;
    Ok(CelValue::text(text[at..].chars().next().map(String::from).unwrap_or_default()))
}

fn place_of(text: &str, byte: Option<usize>) -> CelValue {
    CelValue::Integer(byte.map_or(-1, |byte| text[..byte].chars().count() as i64))
}

fn index_of(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(part), rest @ ..] = given else { return Err(wrong()) };
    budget.spend(text.len() / 16)?;
    let from = match rest {
        [CelValue::Integer(place)] => byte_of(text, *place)?,
        _ => 0,
    };
    Ok(place_of(text, text[from..].find(&**part).map(|at| from + at)))
}

fn last_index_of(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(part), rest @ ..] = given else { return Err(wrong()) };
    budget.spend(text.len() / 16)?;
    let found = match rest {
        [CelValue::Integer(place)] => {
            // The match must start at or before this index, and may end after it.
            let last = byte_of(text, *place)?;
            let mut end = (last + part.len()).min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.get(..end).unwrap_or(text).rfind(&**part)
        }
        _ => text.rfind(&**part),
    };
    Ok(place_of(text, found))
}

fn limit_of(rest: &[CelValue]) -> Option<usize> {
    match rest {
        [CelValue::Integer(limit)] => usize::try_from(*limit).ok(),
        _ => None,
    }
}

fn replace(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(from), CelValue::Text(to), rest @ ..] = given else {
        return Err(wrong());
    };
    // The size is checked before the string is created.
    let at_most = if from.is_empty() { text.len() + 1 } else { text.len() / from.len() };
    let times = limit_of(rest).unwrap_or(at_most).min(at_most);
    budget.build(text.len() + times.saturating_mul(to.len()))?;
    Ok(CelValue::text(text.replacen(&**from, to, times)))
}

fn split(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Text(separator), rest @ ..] = given else { return Err(wrong()) };
    budget.build(text.len())?;
    let piece = |part: &str| CelValue::text(part);
    let limit = limit_of(rest).unwrap_or(usize::MAX);
    let parts: Vec<CelValue> = match (separator.is_empty(), limit) {
        (_, 0) => Vec::new(),
        (true, limit) => {
            let mut parts: Vec<CelValue> =
                text.chars().take(limit - 1).map(|c| CelValue::text(c.to_string())).collect();
            let rest: String = text.chars().skip(limit - 1).collect();
            if !rest.is_empty() {
                parts.push(CelValue::text(rest));
            }
            parts
        }
        (false, limit) => text.splitn(limit, &**separator).map(piece).collect(),
    };
    list_of(budget, parts)
}

fn substring(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text), CelValue::Integer(from), rest @ ..] = given else { return Err(wrong()) };
    budget.spend(text.len() / 16)?;
    let start = byte_of(text, *from)?;
    let end = match rest {
        [CelValue::Integer(to)] => byte_of(text, *to)?,
        _ => text.len(),
    };
    match text.get(start..end) {
        Some(part) => built(budget, part.to_owned()),
        None => Err("the substring ends before it starts".into()),
    }
}

fn join(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::List(items), rest @ ..] = given else { return Err(wrong()) };
    let separator = match rest {
        [CelValue::Text(separator)] => separator.clone(),
        _ => Arc::from(""),
    };
    let mut text = String::new();
    for (place, item) in items.iter().enumerate() {
        let CelValue::Text(item) = item else { return Err(wrong()) };
        budget.build(item.len() + separator.len())?;
        if place > 0 {
            text.push_str(&separator);
        }
        text.push_str(item);
    }
    Ok(CelValue::text(text))
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
