//! Implements functions for sizes, conversions and types.

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, function, method, wrong};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::operators::Fault;
use crate::languages::cel::time::{CelDuration, Timestamp};
use crate::languages::cel::value::CelValue;

pub(super) fn functions() -> Vec<CelOverload> {
    let size_of = "number of members, keys, characters or bytes";
    vec![
        function("size", &[T::Text], G::Integer, size, size_of),
        function("size", &[T::Bytes], G::Integer, size, size_of),
        function("size", &[T::List], G::Integer, size, size_of),
        function("size", &[T::Map], G::Integer, size, size_of),
        method("size", &[T::Text], G::Integer, size, size_of),
        method("size", &[T::Bytes], G::Integer, size, size_of),
        method("size", &[T::List], G::Integer, size, size_of),
        method("size", &[T::Map], G::Integer, size, size_of),
        function("int", &[T::Number], G::Integer, to_integer, "converts to a whole number and cuts off the fraction"),
        function("int", &[T::Text], G::Integer, to_integer, "parses a whole number"),
        function("int", &[T::Timestamp], G::Integer, to_integer, "seconds since 1970"),
        function("int", &[T::Duration], G::Integer, to_integer, "whole seconds of a duration"),
        function("uint", &[T::Number], G::Unsigned, to_unsigned, "converts to a whole number that is not negative"),
        function("uint", &[T::Text], G::Unsigned, to_unsigned, "parses a whole number that is not negative"),
        function("double", &[T::Number], G::Double, to_double, "converts to a floating-point number"),
        function("double", &[T::Text], G::Double, to_double, "parses a floating-point number"),
        function("bool", &[T::Flag], G::Flag, to_flag, "returns its argument"),
        function("bool", &[T::Text], G::Flag, to_flag, "parses true, false, 1, 0, t or f"),
        function("string", &[T::Any], G::Text, to_text, "converts a value to a string"),
        function("bytes", &[T::Text], G::Bytes, to_bytes, "bytes of a string"),
        function("bytes", &[T::Bytes], G::Bytes, to_bytes, "returns its argument"),
        function("dyn", &[T::Any], G::Any, |_, given| first(given), "the value without a type check"),
        function("type", &[T::Any], G::Kind, |_, given| Ok(CelValue::Kind(first(given)?.kind())), "type of a value"),
        function("duration", &[T::Text], G::Duration, to_duration, "parses a duration: '1h30m'"),
        function("duration", &[T::Duration], G::Duration, to_duration, "returns its argument"),
        function("timestamp", &[T::Text], G::Timestamp, to_timestamp, "parses a point in time: '2026-11-21T10:00:00Z'"),
        function("timestamp", &[T::Integer], G::Timestamp, to_timestamp, "point in time from seconds since 1970"),
        function("timestamp", &[T::Timestamp], G::Timestamp, to_timestamp, "returns its argument"),
    ]
}

fn first(given: &[CelValue]) -> Result<CelValue, Fault> {
    given.first().cloned().ok_or_else(wrong)
}

fn size(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let size = match given {
        [CelValue::Text(text)] => {
            budget.spend(text.len() / 16)?;
            text.chars().count()
        }
        [CelValue::Bytes(bytes)] => bytes.len(),
        [CelValue::List(items)] => items.len(),
        [CelValue::Map(map)] => match &map.open {
            Some(open) => return Ok(CelValue::Unknown(open.clone())),
            None => map.len(),
        },
        _ => return Err(wrong()),
    };
    Ok(CelValue::Integer(size as i64))
}

fn to_integer(_: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let value = match given {
        [CelValue::Integer(n)] => Some(*n),
        [CelValue::Unsigned(n)] => i64::try_from(*n).ok(),
        // As doubles, the limits are equal to numbers beyond them, so they are excluded.
        [CelValue::Double(n)] if n.abs() < 9_223_372_036_854_775_808.0 => Some(*n as i64),
        [CelValue::Double(_)] => None,
        [CelValue::Text(text)] => {
            return match text.parse() {
                Ok(n) => Ok(CelValue::Integer(n)),
                Err(_) => Err(format!("`{}` is not an int", cut(text)).into()),
            };
        }
        [CelValue::Timestamp(time)] => Some(time.seconds),
        [CelValue::Duration(time)] => Some(time.seconds),
        _ => return Err(wrong()),
    };
    value.map(CelValue::Integer).ok_or_else(|| "the number is out of range for int".into())
}

fn to_unsigned(_: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let value = match given {
        [CelValue::Integer(n)] => u64::try_from(*n).ok(),
        [CelValue::Unsigned(n)] => Some(*n),
        [CelValue::Double(n)] if *n > -1.0 && *n < 18_446_744_073_709_551_616.0 && (*n >= 0.0) => Some(*n as u64),
        [CelValue::Double(_)] => None,
        [CelValue::Text(text)] => {
            return match text.parse() {
                Ok(n) => Ok(CelValue::Unsigned(n)),
                Err(_) => Err(format!("`{}` is not a uint", cut(text)).into()),
            };
        }
        _ => return Err(wrong()),
    };
    value.map(CelValue::Unsigned).ok_or_else(|| "the number is out of range for uint".into())
}

fn to_double(_: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Text(text)] => match text.parse() {
            Ok(n) => Ok(CelValue::Double(n)),
            Err(_) => Err(format!("`{}` is not a double", cut(text)).into()),
        },
        [number] => number.as_number().map(CelValue::Double).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

fn to_flag(_: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Flag(flag)] => Ok(CelValue::Flag(*flag)),
        [CelValue::Text(text)] => match &**text {
            "true" | "TRUE" | "True" | "t" | "T" | "1" => Ok(CelValue::Flag(true)),
            "false" | "FALSE" | "False" | "f" | "F" | "0" => Ok(CelValue::Flag(false)),
            _ => Err(format!("`{}` is not a bool", cut(text)).into()),
        },
        _ => Err(wrong()),
    }
}

fn to_text(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let text = match given {
        [CelValue::Text(text)] => return Ok(CelValue::Text(text.clone())),
        [CelValue::Bytes(bytes)] => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return Err("invalid UTF-8 in bytes, cannot convert to string".into()),
        },
        [CelValue::Flag(flag)] => flag.to_string(),
        [CelValue::Integer(n)] => n.to_string(),
        [CelValue::Unsigned(n)] => n.to_string(),
        [CelValue::Double(n)] => text_of_double(*n),
        [CelValue::Duration(time)] => time.to_string(),
        [CelValue::Timestamp(time)] => time.to_string(),
        [CelValue::Kind(kind)] => (*kind).to_owned(),
        [CelValue::Opaque(thing)] => thing.to_string(),
        [other] => return Err(format!("no matching overload: string({})", other.kind()).into()),
        _ => return Err(wrong()),
    };
    budget.build(text.len())?;
    Ok(CelValue::text(text))
}

/// Returns the shortest string that parses to the same number, with an exponent for very large or small numbers.
pub(super) fn text_of_double(n: f64) -> String {
    if n.is_nan() {
        return "NaN".to_owned();
    }
    if n.is_infinite() {
        return if n > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    if n != 0.0 && !(1e-4..1e21).contains(&n.abs()) {
        let text = format!("{n:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |digits| ("-", digits));
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    n.to_string()
}

fn to_bytes(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Text(text)] => {
            budget.build(text.len())?;
            Ok(CelValue::Bytes(text.as_bytes().into()))
        }
        [CelValue::Bytes(bytes)] => Ok(CelValue::Bytes(bytes.clone())),
        _ => Err(wrong()),
    }
}

fn to_duration(_: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Duration(time)] => Ok(CelValue::Duration(*time)),
        [CelValue::Text(text)] => match CelDuration::parse(text) {
            Some(time) => Ok(CelValue::Duration(time)),
            None => Err(format!("`{}` is not a duration of up to ten thousand years", cut(text)).into()),
        },
        _ => Err(wrong()),
    }
}

fn to_timestamp(_: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Timestamp(time)] => Ok(CelValue::Timestamp(*time)),
        [CelValue::Integer(seconds)] => match Timestamp::from_nanos(i128::from(*seconds) * 1_000_000_000) {
            Some(time) => Ok(CelValue::Timestamp(time)),
            None => Err("the timestamp is out of range".into()),
        },
        [CelValue::Text(text)] => match Timestamp::parse(text) {
            Some(time) => Ok(CelValue::Timestamp(time)),
            None => Err(format!("`{}` is not a timestamp between the years 1 and 9999", cut(text)).into()),
        },
        _ => Err(wrong()),
    }
}

/// Shortens a string for a message.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
