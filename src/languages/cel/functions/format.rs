//! `'%s costs %.2f'.format([name, price])`.

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, method, wrong};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::operators::Fault;
use crate::languages::cel::value::{CelValue, UnknownValue};
use crate::languages::go::{radix, scientific};
use crate::source::to_hex;

pub(super) fn functions() -> Vec<CelOverload> {
    vec![method("format", &[T::Text, T::List], G::Text, format, "replaces %s, %d, %f, %e, %b, %o and %x by the values")]
}

/// Default and maximum number of decimals.
const DIGITS: usize = 6;
const MOST_DIGITS: usize = 100;

fn format(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(pattern), CelValue::List(values)] = given else { return Err(wrong()) };
    let mut out = String::new();
    let mut values = values.iter().enumerate();
    let mut rest = &**pattern;
    let mut used = 0;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (digits, after) = precision(after)?;
        let Some(letter) = after.chars().next() else { return Err("the format string ends within a clause".into()) };
        rest = after.get(letter.len_utf8()..).unwrap_or_default();
        let Some((_, value)) = values.next() else { return Err(format!("index {used} is out of range").into()) };
        used += 1;
        if let CelValue::Unknown(unknown) = value {
            return Ok(CelValue::Unknown(unknown.clone()));
        }
        let before = out.len();
        if let Some(unknown) = clause(letter, digits, value, &mut out, budget)? {
            return Ok(unknown);
        }
        budget.build(out.len() - before)?;
    }
    out.push_str(rest);
    budget.build(out.len())?;
    Ok(CelValue::text(out))
}

/// Parses the precision of a clause, such as `.3`.
fn precision(text: &str) -> Result<(Option<usize>, &str), Fault> {
    let Some(rest) = text.strip_prefix('.') else { return Ok((None, text)) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, rest) = rest.split_at(end);
    match digits.parse() {
        Ok(digits) if digits <= MOST_DIGITS => Ok((Some(digits), rest)),
        _ => Err("the precision must be a number up to 100".into()),
    }
}

/// Formats a value; an unknown part makes the whole value unknown.
fn clause(
    letter: char,
    digits: Option<usize>,
    value: &CelValue,
    out: &mut String,
    budget: &mut CelBudget,
) -> Result<Option<CelValue>, Fault> {
    let refused = |what: &str| -> Fault { format!("`%{letter}` takes {what}, and this is {}", value.kind()).into() };
    match letter {
        's' => return written(value, out, budget).map(|unknown| unknown.map(CelValue::Unknown)),
        'd' => match value {
            CelValue::Integer(n) => out.push_str(&n.to_string()),
            CelValue::Unsigned(n) => out.push_str(&n.to_string()),
            CelValue::Double(n) => out.push_str(&double(*n)),
            _ => return Err(refused("a whole number")),
        },
        'f' | 'e' => {
            let Some(n) = value.as_number() else { return Err(refused("a number")) };
            let digits = digits.unwrap_or(DIGITS);
            out.push_str(&match letter {
                _ if !n.is_finite() => double(n),
                'f' => format!("{n:.digits$}"),
                _ => scientific(n, digits),
            });
        }
        'b' | 'o' | 'x' | 'X' => match in_base(letter, value) {
            Some(text) => out.push_str(&text),
            None if letter == 'b' => return Err(refused("a whole number or a bool")),
            None if letter == 'o' => return Err(refused("a whole number")),
            None => return Err(refused("a whole number, a string or bytes")),
        },
        _ => return Err(format!("there is no format clause `%{}`", letter.escape_default()).into()),
    }
    Ok(None)
}

fn in_base(letter: char, value: &CelValue) -> Option<String> {
    let hex = |bytes: &[u8]| if letter == 'X' { to_hex(bytes).to_uppercase() } else { to_hex(bytes) };
    match (value, letter) {
        (CelValue::Integer(n), _) => {
            Some(format!("{}{}", if *n < 0 { "-" } else { "" }, radix(letter, n.unsigned_abs())?))
        }
        (CelValue::Unsigned(n), _) => radix(letter, *n),
        (CelValue::Flag(flag), 'b') => Some(u8::from(*flag).to_string()),
        (CelValue::Text(text), 'x' | 'X') => Some(hex(text.as_bytes())),
        (CelValue::Bytes(bytes), 'x' | 'X') => Some(hex(bytes)),
        _ => None,
    }
}

fn double(n: f64) -> String {
    if n.is_nan() {
        "NaN".to_owned()
    } else if n.is_infinite() {
        if n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        n.to_string()
    }
}

type MayBeUnknown = Result<Option<std::sync::Arc<UnknownValue>>, Fault>;

fn written(value: &CelValue, out: &mut String, budget: &mut CelBudget) -> MayBeUnknown {
    budget.spend(1)?;
    match value {
        CelValue::Unknown(unknown) => return Ok(Some(unknown.clone())),
        CelValue::Perhaps(perhaps) => return Ok(Some(perhaps.1.clone())),
        CelValue::Null | CelValue::Absent => out.push_str("null"),
        CelValue::Flag(flag) => out.push_str(&flag.to_string()),
        CelValue::Integer(n) => out.push_str(&n.to_string()),
        CelValue::Unsigned(n) => out.push_str(&n.to_string()),
        CelValue::Double(n) => out.push_str(&double(*n)),
        CelValue::Text(text) => {
            budget.build(text.len())?;
            out.push_str(text);
        }
        CelValue::Bytes(bytes) => {
            budget.build(bytes.len())?;
            out.push_str(&String::from_utf8_lossy(bytes));
        }
        CelValue::Duration(it) => out.push_str(&it.to_string()),
        CelValue::Timestamp(it) => out.push_str(&it.to_string()),
        CelValue::Kind(name) => out.push_str(name),
        CelValue::Opaque(thing) => out.push_str(&thing.to_string()),
        CelValue::List(items) => return members(items.iter().map(|item| (None, item)), ('[', ']'), out, budget),
        CelValue::Map(map) => {
            let mut entries: Vec<(String, &CelValue)> = Vec::with_capacity(map.len());
            for (key, member) in map.iter() {
                let mut text = String::new();
                written(key, &mut text, budget)?;
                entries.push((text, member));
            }
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            return members(entries.iter().map(|(key, member)| (Some(key.as_str()), *member)), ('{', '}'), out, budget);
        }
        CelValue::Optional(_) | CelValue::Record(_) => {
            return Err(format!("`%s` does not take {}", value.kind()).into());
        }
    }
    Ok(None)
}

fn members<'a>(
    all: impl Iterator<Item = (Option<&'a str>, &'a CelValue)>,
    brackets: (char, char),
    out: &mut String,
    budget: &mut CelBudget,
) -> MayBeUnknown {
    out.push(brackets.0);
    for (place, (key, value)) in all.enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        if let Some(key) = key {
            out.push_str(key);
            out.push_str(": ");
        }
        if let Some(unknown) = written(value, out, budget)? {
            return Ok(Some(unknown));
        }
    }
    out.push(brackets.1);
    Ok(None)
}
