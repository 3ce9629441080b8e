//! Numbers.

use std::cmp::Ordering;

use super::Gives as G;
use super::Takes as T;
use super::{Function, function, wrong};
use crate::languages::cel::budget::Budget;
use crate::languages::cel::operators::{self, Fault};
use crate::languages::cel::value::Value;

pub(super) fn functions() -> Vec<Function> {
    let mut all = vec![
        function("math.ceil", &[T::Double], G::Double, |_, v| rounded(v, f64::ceil), "the next whole number up"),
        function("math.floor", &[T::Double], G::Double, |_, v| rounded(v, f64::floor), "the next whole number down"),
        function("math.round", &[T::Double], G::Double, |_, v| rounded(v, f64::round), "the nearest whole number"),
        function("math.trunc", &[T::Double], G::Double, |_, v| rounded(v, f64::trunc), "without its fraction"),
        function("math.sqrt", &[T::Number], G::Double, |_, v| root(v), "its square root"),
        function("math.abs", &[T::Number], G::Same, |_, v| abs(v), "without its sign"),
        function("math.sign", &[T::Number], G::Same, |_, v| sign(v), "1, 0 or -1"),
        function("math.bitAnd", &[T::Integer, T::Integer], G::Integer, |_, v| bits(v, |a, b| a & b), "bits of both"),
        function("math.bitAnd", &[T::Unsigned, T::Unsigned], G::Unsigned, |_, v| bits(v, |a, b| a & b), "bits of both"),
        function("math.bitOr", &[T::Integer, T::Integer], G::Integer, |_, v| bits(v, |a, b| a | b), "bits of either"),
        function(
            "math.bitOr",
            &[T::Unsigned, T::Unsigned],
            G::Unsigned,
            |_, v| bits(v, |a, b| a | b),
            "bits of either",
        ),
        function("math.bitXor", &[T::Integer, T::Integer], G::Integer, |_, v| bits(v, |a, b| a ^ b), "bits of one"),
        function("math.bitXor", &[T::Unsigned, T::Unsigned], G::Unsigned, |_, v| bits(v, |a, b| a ^ b), "bits of one"),
        function("math.bitNot", &[T::Integer], G::Integer, |_, v| bits(v, |a, _| !a), "the other bits"),
        function("math.bitNot", &[T::Unsigned], G::Unsigned, |_, v| bits(v, |a, _| !a), "the other bits"),
        function("math.bitShiftLeft", &[T::Integer, T::Integer], G::Integer, |_, v| shifted(v, true), "bits moved up"),
        function(
            "math.bitShiftLeft",
            &[T::Unsigned, T::Integer],
            G::Unsigned,
            |_, v| shifted(v, true),
            "bits moved up",
        ),
        function(
            "math.bitShiftRight",
            &[T::Integer, T::Integer],
            G::Integer,
            |_, v| shifted(v, false),
            "bits moved down",
        ),
        function(
            "math.bitShiftRight",
            &[T::Unsigned, T::Integer],
            G::Unsigned,
            |_, v| shifted(v, false),
            "bits moved down",
        ),
        function("math.isNaN", &[T::Double], G::Flag, |_, v| test(v, f64::is_nan), "it is not a number"),
        function("math.isInf", &[T::Double], G::Flag, |_, v| test(v, f64::is_infinite), "it is infinite"),
        function("math.isFinite", &[T::Double], G::Flag, |_, v| test(v, f64::is_finite), "it is neither"),
    ];
    for takes in
        [&[T::List] as &[T], &[T::Number], &NUMBERS[..2], &NUMBERS[..3], &NUMBERS[..4], &NUMBERS[..5], &NUMBERS]
    {
        let (greatest, least) = ("the largest of some numbers", "the smallest of some numbers");
        all.push(function("math.greatest", takes, G::Any, |b, v| extreme(b, v, Ordering::Greater), greatest));
        all.push(function("math.least", takes, G::Any, |b, v| extreme(b, v, Ordering::Less), least));
    }
    all
}

/// As many as anybody compares.
const NUMBERS: [T; 6] = [T::Number; 6];

fn extreme(budget: &mut Budget, given: &[Value], wanted: Ordering) -> Result<Value, Fault> {
    let items = match given {
        [Value::List(items)] => items,
        values => values,
    };
    let mut best: Option<&Value> = None;
    for item in items {
        if item.as_number().is_none() {
            return Err(wrong());
        }
        best = Some(match best {
            Some(best) if operators::compare(item, best, budget)? != Some(wanted) => best,
            _ => item,
        });
    }
    best.cloned().ok_or_else(|| "the list is empty".into())
}

fn rounded(given: &[Value], round: fn(f64) -> f64) -> Result<Value, Fault> {
    match given {
        [Value::Double(n)] => Ok(Value::Double(round(*n))),
        _ => Err(wrong()),
    }
}

fn root(given: &[Value]) -> Result<Value, Fault> {
    let [value] = given else { return Err(wrong()) };
    value.as_number().map(|n| Value::Double(n.sqrt())).ok_or_else(wrong)
}

fn abs(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Integer(n)] => {
            n.checked_abs().map(Value::Integer).ok_or_else(|| "the result does not fit 64 bits".into())
        }
        [Value::Double(n)] => Ok(Value::Double(n.abs())),
        [Value::Unsigned(n)] => Ok(Value::Unsigned(*n)),
        _ => Err(wrong()),
    }
}

fn sign(given: &[Value]) -> Result<Value, Fault> {
    match given {
        [Value::Integer(n)] => Ok(Value::Integer(n.signum())),
        [Value::Double(n)] if n.is_nan() || *n == 0.0 => Ok(Value::Double(*n)),
        [Value::Double(n)] => Ok(Value::Double(n.signum())),
        [Value::Unsigned(n)] => Ok(Value::Unsigned((*n).min(1))),
        _ => Err(wrong()),
    }
}

fn test(given: &[Value], holds: fn(f64) -> bool) -> Result<Value, Fault> {
    match given {
        [Value::Double(n)] => Ok(Value::Flag(holds(*n))),
        _ => Err(wrong()),
    }
}

/// An operation on the bits of numbers, with or without a sign.
fn bits(given: &[Value], change: fn(u64, u64) -> u64) -> Result<Value, Fault> {
    match given {
        [Value::Integer(a), Value::Integer(b)] => Ok(Value::Integer(change(*a as u64, *b as u64) as i64)),
        [Value::Unsigned(a), Value::Unsigned(b)] => Ok(Value::Unsigned(change(*a, *b))),
        [Value::Integer(a)] => Ok(Value::Integer(change(*a as u64, 0) as i64)),
        [Value::Unsigned(a)] => Ok(Value::Unsigned(change(*a, 0))),
        _ => Err(wrong()),
    }
}

/// Bits that are moved out are lost, and those that come in are zero.
fn shifted(given: &[Value], up: bool) -> Result<Value, Fault> {
    let [value, Value::Integer(by)] = given else { return Err(wrong()) };
    let Ok(by) = u32::try_from(*by) else { return Err("a negative offset".into()) };
    let shift = |n: u64| if up { n.checked_shl(by) } else { n.checked_shr(by) }.unwrap_or(0);
    match value {
        Value::Integer(n) => Ok(Value::Integer(shift(*n as u64) as i64)),
        Value::Unsigned(n) => Ok(Value::Unsigned(shift(*n))),
        _ => Err(wrong()),
    }
}
