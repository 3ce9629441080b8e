//! Implements functions of numbers.

use std::cmp::Ordering;

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, Plain, function, wrong};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::operators::{self, Fault};
use crate::languages::cel::value::CelValue;

pub(super) fn functions() -> Vec<CelOverload> {
    let mut all = vec![
        function("math.ceil", &[T::Double], G::Double, |_, v| rounded(v, f64::ceil), "rounds up"),
        function("math.floor", &[T::Double], G::Double, |_, v| rounded(v, f64::floor), "rounds down"),
        function(
            "math.round",
            &[T::Double],
            G::Double,
            |_, v| rounded(v, f64::round),
            "rounds to the nearest whole number",
        ),
        function("math.trunc", &[T::Double], G::Double, |_, v| rounded(v, f64::trunc), "cuts off the fraction"),
        function("math.sqrt", &[T::Number], G::Double, |_, v| root(v), "square root"),
        function("math.abs", &[T::Number], G::Same, |_, v| abs(v), "absolute value"),
        function("math.sign", &[T::Number], G::Same, |_, v| sign(v), "1, 0 or -1"),
    ];
    let of_two: [(&'static str, Plain, &'static str); 3] = [
        ("math.bitAnd", |_, v| bits(v, |a, b| a & b), "bits set in both numbers"),
        ("math.bitOr", |_, v| bits(v, |a, b| a | b), "bits set in either number"),
        ("math.bitXor", |_, v| bits(v, |a, b| a ^ b), "bits set in exactly one number"),
    ];
    for (name, run, meaning) in of_two {
        all.push(function(name, &[T::Integer, T::Integer], G::Integer, run, meaning));
        all.push(function(name, &[T::Unsigned, T::Unsigned], G::Unsigned, run, meaning));
    }
    all.extend([
        function("math.bitNot", &[T::Integer], G::Integer, |_, v| bits(v, |a, _| !a), "inverts all bits"),
        function("math.bitNot", &[T::Unsigned], G::Unsigned, |_, v| bits(v, |a, _| !a), "inverts all bits"),
    ]);
    let shifts: [(&'static str, Plain, &'static str); 2] = [
        ("math.bitShiftLeft", |_, v| shifted(v, true), "shifts the bits left"),
        ("math.bitShiftRight", |_, v| shifted(v, false), "shifts the bits right"),
    ];
    for (name, run, meaning) in shifts {
        all.push(function(name, &[T::Integer, T::Integer], G::Integer, run, meaning));
        all.push(function(name, &[T::Unsigned, T::Integer], G::Unsigned, run, meaning));
    }
    all.extend([
        function("math.isNaN", &[T::Double], G::Flag, |_, v| test(v, f64::is_nan), "true if the value is not a number"),
        function(
            "math.isInf",
            &[T::Double],
            G::Flag,
            |_, v| test(v, f64::is_infinite),
            "true if the value is infinite",
        ),
        function(
            "math.isFinite",
            &[T::Double],
            G::Flag,
            |_, v| test(v, f64::is_finite),
            "true if the value is neither infinite nor not-a-number",
        ),
    ]);
    for takes in
        [&[T::List] as &[T], &[T::Number], &NUMBERS[..2], &NUMBERS[..3], &NUMBERS[..4], &NUMBERS[..5], &NUMBERS]
    {
        let (greatest, least) = ("largest of several numbers", "smallest of several numbers");
        all.push(function("math.greatest", takes, G::Any, |b, v| extreme(b, v, Ordering::Greater), greatest));
        all.push(function("math.least", takes, G::Any, |b, v| extreme(b, v, Ordering::Less), least));
    }
    all
}

/// The types of up to six arguments, which are enough for real comparisons.
const NUMBERS: [T; 6] = [T::Number; 6];

fn extreme(budget: &mut CelBudget, given: &[CelValue], wanted: Ordering) -> Result<CelValue, Fault> {
    let items = match given {
        [CelValue::List(items)] => items,
        values => values,
    };
    let mut best: Option<&CelValue> = None;
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

fn rounded(given: &[CelValue], round: fn(f64) -> f64) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Double(n)] => Ok(CelValue::Double(round(*n))),
        _ => Err(wrong()),
    }
}

fn root(given: &[CelValue]) -> Result<CelValue, Fault> {
    let [value] = given else { return Err(wrong()) };
    value.as_number().map(|n| CelValue::Double(n.sqrt())).ok_or_else(wrong)
}

fn abs(given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Integer(n)] => {
            n.checked_abs().map(CelValue::Integer).ok_or_else(|| "the result does not fit 64 bits".into())
        }
        [CelValue::Double(n)] => Ok(CelValue::Double(n.abs())),
        [CelValue::Unsigned(n)] => Ok(CelValue::Unsigned(*n)),
        _ => Err(wrong()),
    }
}

fn sign(given: &[CelValue]) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Integer(n)] => Ok(CelValue::Integer(n.signum())),
        [CelValue::Double(n)] if n.is_nan() || *n == 0.0 => Ok(CelValue::Double(*n)),
        [CelValue::Double(n)] => Ok(CelValue::Double(n.signum())),
        [CelValue::Unsigned(n)] => Ok(CelValue::Unsigned((*n).min(1))),
        _ => Err(wrong()),
    }
}

fn test(given: &[CelValue], holds: fn(f64) -> bool) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Double(n)] => Ok(CelValue::Flag(holds(*n))),
        _ => Err(wrong()),
    }
}

/// Applies an operation to the bits of numbers, signed or unsigned.
fn bits(given: &[CelValue], change: fn(u64, u64) -> u64) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Integer(a), CelValue::Integer(b)] => Ok(CelValue::Integer(change(*a as u64, *b as u64) as i64)),
        [CelValue::Unsigned(a), CelValue::Unsigned(b)] => Ok(CelValue::Unsigned(change(*a, *b))),
        [CelValue::Integer(a)] => Ok(CelValue::Integer(change(*a as u64, 0) as i64)),
        [CelValue::Unsigned(a)] => Ok(CelValue::Unsigned(change(*a, 0))),
        _ => Err(wrong()),
    }
}

/// Shifts bits, with zeros at one end, and drops the bits beyond the other end.
fn shifted(given: &[CelValue], up: bool) -> Result<CelValue, Fault> {
    let [value, CelValue::Integer(by)] = given else { return Err(wrong()) };
    let Ok(by) = u32::try_from(*by) else { return Err("the offset is negative".into()) };
    let shift = |n: u64| if up { n.checked_shl(by) } else { n.checked_shr(by) }.unwrap_or(0);
    match value {
        CelValue::Integer(n) => Ok(CelValue::Integer(shift(*n as u64) as i64)),
        CelValue::Unsigned(n) => Ok(CelValue::Unsigned(shift(*n))),
        _ => Err(wrong()),
    }
}
